"""Packed movements in, how well learned dynamics generalise out: one split for all models.

See `evaluation.dynamics_cases` for the four cases. Errors are root mean squares over vertices of
what dynamics add to the quasi-static twin, in the mean over frames and takes; and, of every tenth
frame, mean distances of the posed skin to the take, once on the twin and once on SMPL.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.dynamics import ControlKind
from corporeal.body.pose import Pose
from corporeal.dynamics.autoregression import Fitted, Ridge, teacher_forced
from corporeal.dynamics.blend_shapes import carried_offsets
from corporeal.dynamics.control_vector import driving_names
from corporeal.dynamics.free_running import CodedTake
from corporeal.dynamics.mirror import mirrored_controls
from corporeal.dynamics.mixture import predictor_for
from corporeal.dynamics.training import (
    DynamicsTraining,
    Fitting,
    Risk,
    learn_predictors,
    take_controls,
)
from corporeal.errors import InputError
from corporeal.evaluation.dynamics_cases import CASES, chosen_settings, predicted
from corporeal.formats.packed_registrations import SUFFIX
from corporeal.pipelines.dynamics_bench import Bench, Predictions
from corporeal.pipelines.vertical_motion import vertical_matches
from corporeal.runtime.files import make_folder, write_bytes
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

REPORT = "dynamics.json"
ProgressCallback = Callable[[str], None]
ROWS: tuple[tuple[str, ControlKind, Fitting, int], ...] = (
    ("AR(2) of the paper", "joints", "one-ahead", 2),
    ("AR(0)", "bones", "free-run", 0),
    ("AR(1)", "bones", "free-run", 1),
    ("AR(2)", "bones", "free-run", 2),
)
"""Autoregressions that are compared."""
RISKS: tuple[Risk, ...] = ("single", "pooled", "weighted")


@dataclass(frozen=True, kw_only=True)
class EvaluateDynamicsConfig:
    """Movements, what is held out, and where the report goes."""

    test: Path
    """Packed movements with twins (.packed.npz)."""
    report: Path
    """Folder to write the report into."""
    learn: Path | None = None
    """Packed movements of the training people; those of `test` that are not held out if None."""
    people: tuple[str, ...] = ()
    """Test people of one set; the second of each sex if left out."""
    motions: tuple[str, ...] = ("one-leg-jump", "shake-hips")
    """Test motions."""
    count: int = 60
    """Dynamic coefficients."""
    steps: int = 0
    """Updates of the neural network; 0 leaves it out."""
    seed: int = 0
    """Of the network."""
    skin: bool = True
    """Also measure the posed skin."""


@dataclass(frozen=True)
class EvaluatedDynamics:
    """What came of it."""

    page: Path
    """The report (JSON)."""
    manifest: Path
    """Its manifest."""
    notes: tuple[str, ...]
    """What was assumed, in words."""
    report: dict[str, Any]
    """All figures; JSON values, lengths in millimetres."""


def evaluate_dynamics(
    config: EvaluateDynamicsConfig, callback: ProgressCallback | None = None
) -> EvaluatedDynamics:
    """Learn from what is not held out, predict the rest, and write the report."""
    tell = callback or (lambda _words: None)
    page = make_folder(config.report) / REPORT
    sources = [config.test] if config.learn is None else [config.learn, config.test]
    for path in sources:
        _require_packed(path)
    run = start_run("evaluate dynamics", config, sources)
    bench = Bench.read(config.test, config.learn, config.people, config.motions, config.count)
    tell(f"{len(bench.cases)} takes: " + ", ".join(
        f"{bench.cases.count(c)} {name}" for c, name in enumerate(CASES)))  # fmt: skip
    models: dict[str, Predictions] = {"static": {}}
    chosen: dict[str, Any] = {}
    for name, controls, fitting, order in ROWS:
        settings = DynamicsTraining(
            count=config.count, ridge=Ridge(order), controls=controls, fitting=fitting
        )
        models[name], chosen[name] = autoregression(bench, settings)
        tell(f"{name}: {bench.closed(models[name])} {chosen[name]['chosen']}")
    forced, mixtures = _variants(bench, config, chosen["AR(2)"]["chosen"])
    if config.steps:
        from corporeal.pipelines.evaluate_neural import predicted_by_network

        found, chosen["neural"] = predicted_by_network(bench, config, tell)
        models |= found
        for name in found:
            tell(f"{name}: {bench.closed(models[name])}")
    report = {
        "takes": len(bench.cases),
        "cases": {name: bench.cases.count(c) for c, name in enumerate(CASES)},
        "test_people": {name: round(bench.people.indices[name], 1) for name in bench.test_people},
        "test_motions": list(config.motions),
        "coefficients": config.count,
        "explained": round(bench.explained, 4),
        "chosen": chosen,
        "models": {name: bench.summary(found) for name, found in models.items()},
        "teacher_forced": {name: bench.summary(found) for name, found in forced.items()},
        "mixtures": mixtures,
        "vertical": {name: vertical_matches(bench, models[name])
                     for name in models if name not in ("static", "AR(2) of the paper")},
    }  # fmt: skip
    if "neural" in models:
        report["paired"] = {name: paired(bench, models[name], models["AR(2)"])
                            for name in models if name.startswith("neural")}  # fmt: skip
    if config.skin:
        tell("posed skins of every tenth frame")
        report["skin"] = posed_errors(bench, models)
    write_bytes(page, (json.dumps(report, indent=1) + "\n").encode(), inside=config.report)
    finish_run(run, [page], report)
    return EvaluatedDynamics(page, manifest_path(page), (), report)


def _require_packed(path: Path) -> None:
    if path.is_dir():
        packed = path.with_suffix(SUFFIX).name
        raise InputError(
            f"{path} is a folder; expected a packed set. Pack it first: "
            f"corporeal dataset pack {path} --out {packed}"
        )


def coded(bench: Bench, settings: DynamicsTraining) -> list[CodedTake]:
    """Every take as control vectors and true coefficients."""
    skeleton = bench.static.template.skeleton
    return [
        CodedTake(
            take.subject,
            take.sequence,
            take_controls(take, skeleton, bench.bodies[take.subject], settings),
            bench.deltas(n),
        )
        for n, take in enumerate(bench.takes)
    ]


def with_mirrored(bench: Bench, takes: list[CodedTake], settings: DynamicsTraining) -> list:
    """Takes and, where bones drive, their mirror images."""
    if settings.controls != "bones":
        return takes
    turn = mirrored_controls(driving_names(bench.static.template.skeleton, settings.controls))
    images = [
        replace(take, controls=turn.of(take.controls), deltas=take.deltas * bench.parity)
        for take in takes
    ]
    return [*takes, *images]


def autoregression(bench: Bench, settings: DynamicsTraining) -> tuple[Predictions, dict[str, Any]]:
    """Free-running predictions of all test takes, with ridge and width chosen in training."""
    takes = coded(bench, settings)
    names = driving_names(bench.static.template.skeleton, settings.controls)
    training = with_mirrored(bench, [takes[n] for n in bench.learned], settings)
    best, tried = chosen_settings(training, names, bench.people, settings)
    found = learn_predictors(training, names, bench.people.indices, best, bench.people.genders)
    known = list(dict.fromkeys(take.subject for take in training))
    runs = predicted(found, known, [takes[n] for n in bench.tested], bench.people)
    told = {"ridge": best.ridge.strength, "kernel_width": best.kernel_width,
            "amplitude": round(found.amplitude, 4)}  # fmt: skip
    return dict(zip(bench.tested, runs, strict=True)), {
        "chosen": told,
        "left_out_people": tried,
        "settings": asdict(best),
    }


def _variants(
    bench: Bench, config: EvaluateDynamicsConfig, chosen: Mapping[str, float]
) -> tuple[dict[str, Predictions], dict[str, Any]]:
    """AR(2) one frame ahead of the truth; and single, pooled and weighted risk with every width."""
    settings = DynamicsTraining(
        count=config.count, ridge=Ridge(2, chosen["ridge"]), kernel_width=chosen["kernel_width"]
    )
    takes, people = coded(bench, settings), bench.people
    names = driving_names(bench.static.template.skeleton, settings.controls)
    training = with_mirrored(bench, [takes[n] for n in bench.learned], settings)
    known = list(dict.fromkeys(take.subject for take in training))
    forced: Predictions = {}
    table: dict[str, Any] = {}
    for risk in RISKS:
        found = learn_predictors(
            training, names, people.indices, replace(settings, risk=risk), people.genders
        )
        for tau in (1e-6, 2.0, chosen["kernel_width"], 1e6):
            runs = predicted(found, known, [takes[n] for n in bench.tested], people, tau)
            table[f"{risk}, τ {tau:g}"] = bench.closed(dict(zip(bench.tested, runs, strict=True)))
        if risk != settings.risk:
            continue
        for n in bench.tested:
            take = takes[n]
            model = predictor_for(
                found, people.indices[take.subject],
                gender=None if people.genders is None else people.genders[take.subject],
            )  # fmt: skip
            if take.subject in known:
                k = known.index(take.subject)
                model = Fitted(found.inputs[k], found.history[k], found.constants[k])
            controls = np.clip(take.controls, -found.limits, found.limits)
            forced[n] = teacher_forced(model, controls, take.deltas)
    return {"AR(2)": forced}, table


def paired(bench: Bench, found: Predictions, other: Predictions) -> dict[str, Any]:
    """Errors of one model over those of another take by take: mean ratio, takes that are better,
    and the ratio of means, of every case."""
    made = {}
    for case in range(1, len(CASES)):
        which = [n for n in bench.tested if bench.cases[n] == case]
        if not which:
            continue
        one, two = (np.array([bench.errors(n, m.get(n))[2] for n in which]) for m in (found, other))
        ratio = one / two
        made[str(case)] = {
            "takes": len(which),
            "better_in": int((ratio < 1).sum()),
            "mean_ratio": round(float(ratio.mean()), 4),
            "ratio_standard_error": round(float(ratio.std(ddof=1) / np.sqrt(len(ratio))), 4)
            if len(ratio) > 1
            else None,
            "ratio_of_means": round(float(one.mean() / two.mean()), 4),
        }
    return made


def posed_errors(
    bench: Bench, models: Mapping[str, Predictions], every: int = 10
) -> dict[str, Any]:
    """Mean distance of posed vertices to the take, millimetres: dynamics of every model and of
    the oracle added to the twin, and to SMPL."""
    flat = bench.shapes.reshape(len(bench.shapes), -1)
    sums: dict[str, dict[str, list[NumpyArray]]] = {}
    for n in bench.tested:
        take = bench.takes[n]
        assert take.truth is not None
        assert take.twin is not None
        frames = slice(every // 2, None, every)
        who = bench.bodies[take.subject]
        pose = Pose(take.truth.joint_rotations[frames], take.truth.root_translation[frames])
        seen = np.asarray(take.vertices[frames], np.float32)
        on = {
            "twin": np.asarray(take.twin.vertices[frames], np.float32),
            "smpl": np.asarray(bench.static.vertices(who, pose), np.float32),
        }
        for name, found in [*models.items(), ("oracle", {n: bench.deltas(n)})]:
            moved = 0.0
            if n in found:
                rows = found[n][frames].astype(np.float32) @ flat
                moved = carried_offsets(bench.static, who, pose, rows.reshape(len(rows), -1, 3))
            apart = [np.linalg.norm(seen - (skin + moved), axis=-1).mean() for skin in on.values()]
            case = sums.setdefault(str(bench.cases[n]), {})
            case.setdefault(name, []).append(np.array(apart))
    return {
        case: {
            name: {
                key: round(1e3 * float(value), 3)
                for key, value in zip(
                    ("on_twin_mm", "on_smpl_mm"), np.mean(rows, axis=0), strict=True
                )
            }
            for name, rows in found.items()
        }
        for case, found in sums.items()
    }  # fmt: skip
