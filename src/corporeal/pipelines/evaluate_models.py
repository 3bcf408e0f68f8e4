"""Body models and test registrations in, a report of how well they generalise out."""

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import Pose
from corporeal.body.registrations import Registrations
from corporeal.body.topology import topology_hash
from corporeal.errors import InputError
from corporeal.evaluation.fitted_smpl import FittedSmpl
from corporeal.evaluation.generalisation import Generalisation, generalisation
from corporeal.models.smpl.model import SmplModel
from corporeal.models.smpl.train import require_finite
from corporeal.pipelines.dataset import read_dataset
from corporeal.pipelines.models_page import ModelScores, write_page
from corporeal.pipelines.smpl_models import load_model, model_file
from corporeal.runtime.files import make_folder, require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, read_manifest, start_run

PAGE = "index.html"
_USUAL_COUNTS = (1, 2, 5, 10, 20, 50, 100)
_TIMED = 5
"""Runs of which the quickest counts."""

ProgressCallback = Callable[[str], None]


@dataclass(frozen=True, kw_only=True)
class EvaluateModelsConfig:
    """Models, test data, and where the report goes."""

    models: tuple[Path, ...]
    """Model files (.npz or .pkl with SMPL's keys), or smpl and smpl-sparse, which ship."""
    test: Path
    """Registrations of people in several poses: Zarr store, .hdf5 file, folder of .ply files."""
    report: Path
    """Folder to write the report into."""
    counts: tuple[int, ...] = ()
    """Numbers of shape coefficients to try; a few up to all by default."""
    most: int = 20
    """Registrations a person at most."""


@dataclass(frozen=True)
class EvaluatedModels:
    """What came of it."""

    page: Path
    """The report, one HTML file."""
    manifest: Path
    """Its manifest."""
    notes: tuple[str, ...]
    """What was left out or assumed, in words."""
    report: dict[str, Any]
    """All figures; JSON values, lengths in millimetres."""


def evaluate_models(
    config: EvaluateModelsConfig, callback: ProgressCallback | None = None
) -> EvaluatedModels:
    """Fit every model to the test registrations, and write the report.

    The first model is also tried without its pose blend shapes, blended linearly (LBS) and by dual
    quaternions (DQS).
    """
    if not config.models:
        raise InputError("no models came; expected at least one file with SMPL's keys.")
    page = require_writable(make_folder(config.report) / PAGE)
    files = [file for which in config.models if (file := model_file(which)) is not None]
    run = start_run("evaluate models", config, files)
    named = _named(config.models)
    models = {name: load_model(which) for name, which in named.items()}
    notes: list[str] = []
    test = HeldOutSet(str(config.test), read_dataset(config.test), config.counts, config.most)
    people = _test_people(test, notes)
    for which in config.models:
        notes += _seen_before(which, tuple(people))
    explained = {name: _explained(named[name], model) for name, model in models.items()}
    scores = _scores(models, test, people, explained, callback)
    write_page(page, scores, people, tuple(notes))
    report = {score.name: _numbers(score.found) for score in scores}
    finish_run(run, [page], {"models": report, "notes": notes})
    return EvaluatedModels(page, manifest_path(page), tuple(notes), report)


@dataclass(frozen=True)
class HeldOutSet:
    """Registrations that models are tried on, what messages call them, and how they are tried."""

    name: str
    """What messages call the set."""
    held: Registrations
    """The registrations."""
    counts: tuple[int, ...] = ()
    """Numbers of shape coefficients to try; a few up to all by default."""
    most: int = 20
    """Registrations a person at most."""


def score_models(
    models: Mapping[str, LinearBodyModel],
    test: HeldOutSet,
    callback: ProgressCallback | None = None,
) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Fit models to test registrations, in memory: mean errors in millimetres, and notes.

    The first model is also tried without its pose blend shapes, as LBS and as DQS.
    """
    if not models:
        raise InputError("no models came; expected at least one.")
    notes: list[str] = []
    people = _test_people(test, notes)
    scores = _scores(models, test, people, {}, callback)
    return {score.name: _numbers(score.found) for score in scores}, tuple(notes)


def _scores(
    models: Mapping[str, LinearBodyModel],
    test: HeldOutSet,
    people: dict[str, NumpyArray],
    explained: Mapping[str, Float64[NumpyArray, "S"] | None],
    callback: ProgressCallback | None,
) -> list[ModelScores]:
    scores = []
    for name, model in _with_baselines(models).items():
        _require_topology(name, model, test.held)
        if callback is not None:
            callback(f"fitting {name} to {sum(map(len, people.values()))} registrations")
        counts = _counts(test, model)
        found = generalisation(FittedSmpl(model), people, counts)
        times = _milliseconds(model, counts)
        scores.append(ModelScores(name, model, found, explained.get(name), times))
    return scores


def _named(models: tuple[Path, ...]) -> dict[str, Path]:
    """Models by the names that tell them apart."""
    stems = [which.stem for which in models]
    if len(set(stems)) < len(stems):
        stems = [str(which) for which in models]
    return dict(zip(stems, models, strict=True))


def _with_baselines(models: Mapping[str, LinearBodyModel]) -> dict[str, LinearBodyModel]:
    first = next(iter(models.values()))
    bare = replace(first, pose_offsets=np.zeros_like(first.pose_offsets))
    plain = {"LBS": replace(bare, blending="lbs"), "DQS": replace(bare, blending="dqs")}
    return plain | dict(models)


def _test_people(test: HeldOutSet, notes: list[str]) -> dict[str, NumpyArray]:
    """Frames of everybody who is kept for tests, by name; all people where nobody has said."""
    held = test.held
    if any(take.split == "train" for take in held.takes):
        left = sum(take.split == "train" for take in held.takes)
        held = held.where(lambda take: take.split != "train")
        notes.append(f"{test.name}: {left} takes are marked for training and left out")
    if not held.takes:
        raise InputError(f"{test.name} has no takes for tests; expected people in several poses.")
    if test.most < 2:
        raise InputError(f"--most is {test.most}; expected at least 2 registrations a person.")
    people: dict[str, list[NumpyArray]] = {}
    for take in held.takes:
        frames = np.asarray(take.vertices[0 : take.frame_count], np.float32)
        require_finite(frames, f"{take.subject} {take.sequence}")
        people.setdefault(take.subject, []).append(frames)
    chosen = {name: np.concatenate(frames) for name, frames in people.items()}
    return {name: _spread(frames, test.most) for name, frames in chosen.items()}


def _spread(frames: NumpyArray, most: int) -> NumpyArray:
    """At most so many frames, evenly over all; the first is among them."""
    if len(frames) <= most:
        return frames
    return frames[np.linspace(0, len(frames) - 1, most).round().astype(int)]


def _seen_before(which: Path, people: tuple[str, ...]) -> list[str]:
    """A warning where a model has learned from people who are to test it."""
    file = model_file(which)
    if file is None or not manifest_path(file).is_file():
        return []
    data = read_manifest(manifest_path(file)).get("report", {}).get("data", {})
    both = sorted(set(data.get("subjects", ())) & set(people))
    if not both:
        return []
    some = ", ".join(both[:5]) + (", …" if len(both) > 5 else "")
    return [
        f"warning: {which} has learned from {len(both)} of the test people ({some}), if these "
        f"names mean the same people: its errors are too small"
    ]


def _require_topology(name: str, model: LinearBodyModel, held: Registrations) -> None:
    if topology_hash(model.triangles, model.vertex_count) != held.topology_hash:
        raise InputError(
            f"model {name} has {model.vertex_count} vertices and {len(model.triangles)} triangles; "
            f"the test registrations have {held.vertex_count} and {len(held.triangles)}, or the "
            f"same ones in another order. Expected one topology."
        )


def _counts(test: HeldOutSet, model: LinearBodyModel) -> tuple[int, ...]:
    most = model.shape_count
    asked = test.counts or tuple(n for n in (*_USUAL_COUNTS, most))
    counts = tuple(sorted({n for n in asked if 0 <= n <= most}))
    if not counts:
        raise InputError(f"--counts {asked}; the model has {most} shape coefficients.")
    return counts


def _explained(which: Path | None, model: LinearBodyModel) -> Float64[NumpyArray, "S"] | None:
    """Cumulative share of the training people's variance, as training has told it."""
    file = model_file(which)
    if file is None or not manifest_path(file).is_file():
        return None
    callback = read_manifest(manifest_path(file)).get("report", {}).get("explained", [])
    return np.asarray(callback, np.float64) if len(callback) == model.shape_count else None


def _milliseconds(model: LinearBodyModel, counts: tuple[int, ...]) -> tuple[float, ...]:
    """Time to make a person and pose it, by the number of coefficients; the quickest of a few."""
    posed = SmplModel(model)
    random = np.random.default_rng(0)
    rotations = random.normal(0, 0.3, (model.joint_count, 3)).astype(np.float32)
    pose, times = Pose(rotations, np.zeros(3, np.float32)), []
    for count in counts:
        betas = random.normal(size=count).astype(np.float32)
        posed.vertices(posed.prepare(betas), pose)
        best = np.inf
        for _ in range(_TIMED):
            started = time.perf_counter()
            posed.vertices(posed.prepare(betas), pose)
            best = min(best, time.perf_counter() - started)
        times.append(1e3 * best)
    return tuple(times)


def _numbers(found: Generalisation) -> dict[str, Any]:
    """Errors in millimetres."""
    return {
        "shape_counts": list(found.shape_counts),
        "model_mm": (1e3 * found.mean_model).round(4).tolist(),
        "pose_mm": (1e3 * found.mean_pose).round(4).tolist(),
    }
