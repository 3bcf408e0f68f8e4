"""A packed set of movements in, how well learned dynamics generalise out: one split for all models.

See `evaluation.dynamics_cases` for the four cases. Errors are root mean squares over vertices of
what dynamics add to the quasi-static twin, in the mean over frames and takes; and, of every tenth
frame, mean distances of the posed skin to the take, once on the twin and once on SMPL.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.dynamics import ControlKind
from corporeal.body.pose import Pose
from corporeal.dynamics.autoregression import Ridge
from corporeal.dynamics.blend_shapes import carried_offsets
from corporeal.dynamics.body_mass import body_mass_index
from corporeal.dynamics.control_vector import driving_names
from corporeal.dynamics.dmpl.train import known_genders, known_people
from corporeal.dynamics.free_running import CodedTake
from corporeal.dynamics.training import DynamicsTraining, Fitting, learn_predictors, take_controls
from corporeal.evaluation.dynamics_cases import (
    CASES,
    People,
    case_of_takes,
    chosen_settings,
    predicted,
)
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.pipelines.packed_dataset import read_packed_dataset
from corporeal.pipelines.packed_offsets import PackedOffsets, packed_offsets, principal_directions
from corporeal.runtime.files import make_folder, write_bytes
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

REPORT = "dynamics.json"
SOFT = ("belly", "left_breast", "right_breast", "left_buttock", "right_buttock", "left_thigh",
        "right_thigh")  # fmt: skip
"""Parts of the body that swing most."""
ProgressCallback = Callable[[str], None]
Predictions = dict[int, Float64[NumpyArray, "N D"]]
"""δ̂ of takes, by their number."""


@dataclass(frozen=True, kw_only=True)
class EvaluateDynamicsConfig:
    """Movements, what is held out, and where the report goes."""

    test: Path
    """Packed movements with twins (.packed.npz)."""
    report: Path
    """Folder to write the report into."""
    people: tuple[str, ...] = ()
    """Test people; the second of each sex if left out."""
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
    run = start_run("evaluate dynamics", config, [config.test])
    bench = Bench.read(config)
    tell(f"{len(bench.cases)} takes: " + ", ".join(
        f"{bench.cases.count(c)} {name}" for c, name in enumerate(CASES)))  # fmt: skip
    models: dict[str, Predictions] = {"static": {}}
    chosen: dict[str, Any] = {}
    rows: tuple[tuple[str, ControlKind, Fitting, int], ...] = (
        ("AR(2) of the paper", "joints", "one-ahead", 2),
        ("AR(0)", "bones", "free-run", 0),
        ("AR(1)", "bones", "free-run", 1),
        ("AR(2)", "bones", "free-run", 2),
    )
    for name, controls, fitting, order in rows:
        settings = DynamicsTraining(
            count=config.count, ridge=Ridge(order), controls=controls, fitting=fitting
        )
        models[name], chosen[name] = bench.autoregression(settings)
        tell(f"{name}: {bench.closed(models[name])} {chosen[name]['chosen']}")
    if config.steps:
        from corporeal.pipelines.evaluate_neural import predicted_by_network

        models["neural"], chosen["neural"] = predicted_by_network(bench, config, tell)
        tell(f"neural: {bench.closed(models['neural'])}")
        both = {n: 0.5 * (models["AR(2)"][n] + row) for n, row in models["neural"].items()}
        models["mean of AR(2) and neural"] = both
        tell(f"mean of both: {bench.closed(both)}")
    report = {
        "takes": len(bench.cases),
        "cases": {name: bench.cases.count(c) for c, name in enumerate(CASES)},
        "test_people": list(bench.test_people),
        "test_motions": list(config.motions),
        "coefficients": config.count,
        "explained": round(bench.explained, 4),
        "chosen": chosen,
        "models": {name: bench.summary(found) for name, found in models.items()},
    }
    if config.skin:
        tell("posed skins of every tenth frame")
        report["skin"] = bench.skin(models)
    write_bytes(page, (json.dumps(report, indent=1) + "\n").encode(), inside=config.report)
    finish_run(run, [page], report)
    return EvaluatedDynamics(page, manifest_path(page), (), report)


@dataclass(frozen=True, eq=False)
class Bench:
    """One split of a set, with components of what is learned from."""

    offsets: PackedOffsets
    """Of all takes."""
    cases: list[int]
    """Of every take."""
    test_people: tuple[str, ...]
    """Whom nothing has seen."""
    basis: Float64[NumpyArray, "m D"]
    """Components, in coordinates."""
    explained: float
    """Their share of the training's variance."""
    held: Any
    """The set."""
    static: SmplSkinning
    """What dynamics are added to."""
    people: People
    """Who they are."""
    soft: Float64[NumpyArray, "m m"]
    """Gram matrix of the soft regions' vertices."""
    soft_count: int
    """Their number."""

    @staticmethod
    def read(config: EvaluateDynamicsConfig) -> "Bench":
        """Read the set and find components of what is not held out."""
        held = read_packed_dataset(config.test)
        offsets = packed_offsets(held)
        static = SmplSkinning(load_default_body().template)
        bodies, genders = known_people(held), known_genders(held)
        triangles = np.asarray(static.template.mesh.triangles)
        indices = {name: body_mass_index(who, triangles) for name, who in bodies.items()}
        names = [(take.subject, take.sequence) for take in offsets.takes]
        tests = config.people or _second_of_each(indices, genders)
        cases = case_of_takes(names, tests, config.motions)
        learned = [y for y, c in zip(offsets.coordinates, cases, strict=True) if c == 0]
        basis, share = principal_directions(learned, config.count)
        labels, parts = np.asarray(static.template.part_labels), static.template.part_names
        soft = np.isin(labels, [parts.index(part) for part in SOFT])
        return Bench(
            offsets, cases, tuple(tests), basis, share, held, static, People(indices, genders),
            offsets.gram(soft), int(soft.sum()),
        )  # fmt: skip

    def deltas(self, n: int) -> Float64[NumpyArray, "N D"]:
        """True coefficients of a take."""
        return self.offsets.coordinates[n].astype(np.float64) @ self.basis

    def autoregression(self, settings: DynamicsTraining) -> tuple[Predictions, dict[str, Any]]:
        """Free-running predictions of all test takes, with ridge and width chosen in training."""
        skeleton = self.static.template.skeleton
        coded = [
            CodedTake(
                take.subject,
                take.sequence,
                take_controls(take, skeleton, self.held.subjects[take.subject].identity, settings),
                self.deltas(n),
            )
            for n, take in enumerate(self.offsets.takes)
        ]
        names = driving_names(skeleton, settings.controls)
        training = [take for take, c in zip(coded, self.cases, strict=True) if c == 0]
        best, tried = chosen_settings(training, names, self.people, settings)
        found = learn_predictors(training, names, self.people.indices, best, self.people.genders)
        known = list(dict.fromkeys(take.subject for take in training))
        tested = [n for n, c in enumerate(self.cases) if c]
        runs = predicted(found, known, [coded[n] for n in tested], self.people)
        told = {"ridge": best.ridge.strength, "kernel_width": best.kernel_width,
                "amplitude": round(found.amplitude, 4)}  # fmt: skip
        return dict(zip(tested, runs, strict=True)), {
            "chosen": told,
            "left_out_people": tried,
            "settings": asdict(best),
        }

    def errors(self, n: int, found: NumpyArray | None) -> Float64[NumpyArray, "2 3"]:
        """Static, oracle and model error of a take, all vertices and soft ones, millimetres."""
        true = self.offsets.coordinates[n].astype(np.float64)
        inside = true @ self.basis
        shown = np.zeros_like(inside) if found is None else found
        lacks = (true, true - inside @ self.basis.T, true - shown @ self.basis.T)
        whole = [np.sqrt(np.sum(rest**2, axis=1) / self.offsets.vertex_count) for rest in lacks]
        soft = [
            np.sqrt(np.maximum(np.sum((rest @ self.soft) * rest, axis=1), 0) / self.soft_count)
            for rest in lacks
        ]
        return 1e3 * np.array([[part.mean() for part in whole], [part.mean() for part in soft]])

    def summary(self, found: Mapping[int, NumpyArray]) -> dict[str, Any]:
        """Errors of every case, and of every take."""
        made: dict[str, Any] = {}
        for case in range(1, len(CASES)):
            which = [n for n, c in enumerate(self.cases) if c == case]
            if not which:
                continue
            rows = np.array([self.errors(n, found.get(n)) for n in which])
            mean = rows.mean(axis=0)
            made[str(case)] = {
                "takes": len(which),
                **{
                    name: {
                        "static_mm": round(float(one[0]), 3),
                        "oracle_mm": round(float(one[1]), 3),
                        "model_mm": round(float(one[2]), 3),
                        "closed": round(float((one[0] - one[2]) / (one[0] - one[1])), 4),
                    }
                    for name, one in zip(("all", "soft"), mean, strict=True)
                },
                "by_take_mm": {self._name(n): round(float(r[0, 2]), 3)
                               for n, r in zip(which, rows, strict=True)},
            }  # fmt: skip
        return made

    def closed(self, found: Mapping[int, NumpyArray]) -> str:
        """Share of the way from static to oracle of every case, in words."""
        rows = self.summary(found)
        return ", ".join(
            f"{case}: {100 * row['all']['closed']:.0f} %" for case, row in rows.items()
        )

    def skin(self, models: Mapping[str, Predictions], every: int = 10) -> dict[str, Any]:
        """Mean distance of posed vertices to the take, millimetres: dynamics of every model and of
        the oracle added to the twin, and to SMPL."""
        shapes = self.offsets.directions(self.basis)
        flat = shapes.reshape(len(shapes), -1)
        sums: dict[str, dict[str, list[NumpyArray]]] = {}
        for n, case in enumerate(self.cases):
            if not case:
                continue
            take = self.offsets.takes[n]
            assert take.truth is not None
            assert take.twin is not None
            frames = slice(every // 2, None, every)
            who = self.held.subjects[take.subject].identity
            pose = Pose(take.truth.joint_rotations[frames], take.truth.root_translation[frames])
            seen = np.asarray(take.vertices[frames], np.float32)
            on = {
                "twin": np.asarray(take.twin.vertices[frames], np.float32),
                "smpl": np.asarray(self.static.vertices(who, pose), np.float32),
            }
            for name, found in [*models.items(), ("oracle", {n: self.deltas(n)})]:
                moved = 0.0
                if n in found:
                    rows = found[n][frames].astype(np.float32) @ flat
                    moved = carried_offsets(self.static, who, pose, rows.reshape(len(rows), -1, 3))
                apart = [np.linalg.norm(seen - (skin + moved), axis=-1).mean()
                         for skin in on.values()]  # fmt: skip
                sums.setdefault(str(case), {}).setdefault(name, []).append(np.array(apart))
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

    def _name(self, n: int) -> str:
        return f"{self.offsets.takes[n].subject} {self.offsets.takes[n].sequence}"


def _second_of_each(
    indices: Mapping[str, float], genders: Mapping[str, float] | None
) -> Sequence[str]:
    """Of the women and of the men the one next above the middle by body mass."""
    groups = [list(indices)]
    if genders is not None:
        groups = [[p for p in indices if genders[p] == g] for g in (0.0, 1.0)]
    ordered = [sorted(group, key=lambda p: indices[p]) for group in groups if len(group) > 2]
    return tuple(group[len(group) // 2 if len(group) % 2 else len(group) // 2 - 1]
                 for group in ordered)  # fmt: skip


__all__ = ["Bench", "EvaluateDynamicsConfig", "EvaluatedDynamics", "evaluate_dynamics"]
