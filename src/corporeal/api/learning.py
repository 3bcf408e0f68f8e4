"""Registrations: recorded by the virtual 4D scanner, learned from, tested on; skeletons fitted."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from corporeal.api.numbers import Number
from corporeal.body.linear_model import Blending, LinearBodyModel
from corporeal.body.mesh import Mesh
from corporeal.body.registrations import Registrations
from corporeal.capture.flesh import DeformerName, Touch
from corporeal.capture.scanner.scanner import ScannerSettings
from corporeal.errors import InputError
from corporeal.models.smpl.model import SmplModel
from corporeal.pipelines.capture import CaptureConfig, CaptureOptions, Halves, ProtocolName
from corporeal.pipelines.capture import capture as record
from corporeal.pipelines.dataset import read_dataset
from corporeal.pipelines.evaluate_models import (
    EvaluateModelsConfig,
    HeldOutSet,
    score_models,
)
from corporeal.pipelines.evaluate_models import evaluate_models as evaluate_files
from corporeal.pipelines.smpl_models import load_model, smpl_model
from corporeal.pipelines.train_smpl import (
    RegistrationSet,
    Sex,
    TrainSmplOptions,
    train_smpl_model,
)
from corporeal.population.people_store import People, write_people
from corporeal.registration.skeleton_fit import SkeletonFit
from corporeal.registration.skeleton_fit import fit_skeleton as fit_skeleton_to

Model = SmplModel | LinearBodyModel | str | Path
"""A body model, its file (.npz or .pkl with SMPL's keys), or smpl or smpl-sparse, which ship."""


def capture_people(
    people: People | str | Path,
    out: str | Path,
    protocol: ProtocolName,
    *,
    split: Halves = CaptureOptions.split,
    women: int | None = None,
    men: int | None = None,
    poses: int = CaptureOptions.poses,
    fps: Number = CaptureOptions.fps,
    duration: Number = CaptureOptions.duration,
    motions: Sequence[str] = CaptureOptions.motions,
    clips: Sequence[str | Path] = (),
    deformer: DeformerName = CaptureOptions.deformer,
    touch: Touch = CaptureOptions.touch,
    twin: bool = CaptureOptions.twin,
    device: str = CaptureOptions.device,
    turned: float = CaptureOptions.turned,
    tissue_spread: float = CaptureOptions.tissue_spread,
    seed: int = CaptureOptions.seed,
    scans: bool = False,
    points: int = ScannerSettings.points,
    landmarks: bool = False,
    scan_every: int = CaptureOptions.scan_every,
    jobs: int | None = 1,
    scheduler: str | None = None,
) -> Registrations:
    """Record people with the virtual 4D scanner into the store `out` (.zarr), and open it.

    `protocol` is "shapes" (one standing scan a person), "poses" (`poses` poses, each in static
    balance), "dyna" (`motions`, `duration` seconds at `fps` frames a second) or "mocap" (`clips`,
    motion files). `split` keeps to the people for training or for tests; `women` and `men` choose
    so many, evenly over the body mass index. `deformer` ("layered" or "projective") moves the
    flesh, `touch` says where skin meets skin; `twin` adds the quasi-static twin of every movement.
    `device` ("cpu", "gpu" or "gpu:N") simulates both; held poses need the CPU. In a share `turned`
    of the movements of "dyna" the body lies or is upside down; `tissue_spread` is the standard
    deviation of ln(modulus) between people of one composition.
    A take whose flesh is beyond the limits of health after two attempts is left out; the store
    lists it. `scans` adds raw scans of about `points` points, of
    every `scan_every`-th frame, with `landmarks` on demand.

    People in memory are first written beside `out`, as NAME-people.zarr. A stopped run takes up
    where it stopped. `jobs` and `scheduler` are those of `sample_people`.
    """
    out = Path(out)
    config = CaptureConfig(
        people=_stored(people, out),
        out=out,
        protocol=protocol,
        split=split,
        women=women,
        men=men,
        poses=poses,
        fps=float(fps),
        duration=float(duration),
        motions=tuple(motions),
        clips=tuple(map(Path, clips)),
        deformer=deformer,
        touch=touch,
        twin=twin,
        device=device,
        turned=turned,
        tissue_spread=tissue_spread,
        seed=seed,
        scan_every=scan_every,
        scans=ScannerSettings(points=points, landmarks=landmarks) if scans else None,
    )
    if (error := record(config, jobs, scheduler, in_process=jobs == 1).error()) is not None:
        raise error
    return read_dataset(out)


def _stored(people: People | str | Path, out: Path) -> Path:
    """Where the people lie, so that worker processes can open them."""
    if not isinstance(people, People):
        return Path(people)
    if people.path is not None:
        return people.path
    place = out.with_name(f"{out.stem}-people.zarr")
    write_people(place, people)
    return place


def train_smpl(
    poses: Registrations | str | Path,
    shapes: Registrations | str | Path,
    *,
    skinning: Blending = TrainSmplOptions.skinning,
    sparse: bool = TrainSmplOptions.sparse,
    shape_count: int = TrainSmplOptions.shape_count,
    sex: Sex = TrainSmplOptions.sex,
    test_too: bool = TrainSmplOptions.test_too,
    template: str | Path | None = None,
    callback: Callable[[str, float], None] | None = None,
    checkpoint: str | Path | None = None,
) -> tuple[SmplModel, dict[str, Any]]:
    """Learn an SMPL from `poses` (many poses of some people) and `shapes` (one scan each of many).

    Gives back the model and a report: settings, data, mean distances after every stage (metres),
    share of shape explained. `skinning` is "lbs" or "dqbs"; `sparse` lets only the joints that move
    a vertex correct it; `shape_count` coefficients are kept; `sex` chooses whose registrations;
    `test_too` also learns from takes that are kept for tests. `template` is a model or body file
    for registrations of another surface than the default body's.

    `callback` is called after every stage with its name and the mean distance, metres. A
    `checkpoint` (.npz) lets a stopped run go on.
    """
    options = TrainSmplOptions(
        template=None if template is None else Path(template),
        skinning=skinning,
        sparse=sparse,
        shape_count=shape_count,
        sex=sex,
        test_too=test_too,
    )
    kept = None if checkpoint is None else Path(checkpoint)
    made, notes = train_smpl_model(
        _set("poses", poses), _set("shapes", shapes), options, callback, kept
    )
    return smpl_model(made.model), {**made.report, "notes": list(notes)}


def _set(name: str, given: Registrations | str | Path) -> RegistrationSet:
    if isinstance(given, Registrations):
        return RegistrationSet(name, given)
    return RegistrationSet(str(given), read_dataset(Path(given)))


def evaluate_models(
    models: Mapping[str, Model] | Sequence[str | Path],
    test: Registrations | str | Path,
    *,
    counts: Sequence[int] = (),
    most: int = HeldOutSet.most,
    report: str | Path | None = None,
    callback: Callable[[str], None] | None = None,
) -> dict[str, Any]:
    """Compare body models on people and poses that they have not seen: mean errors, millimetres.

    `models` are models or their files by name, or files alone. Pose and shape are fitted to every
    registration of `test` (at most `most` a person) with `counts` shape coefficients, and the shape
    of one is tried on all others of the same person. By model come `shape_counts`, `model_mm` and
    `pose_mm`; the first model is also tried without pose blend shapes, as LBS and DQS.

    `report` is a folder to write the HTML report into; it needs files on both sides. `callback` is
    told in words what is being fitted.
    """
    if report is not None:
        files = models.values() if isinstance(models, Mapping) else models
        if not isinstance(test, str | Path) or not all(isinstance(f, str | Path) for f in files):
            raise InputError(
                "report came with models or registrations in memory; it cites files. Save them "
                "first, or leave report out."
            )
        config = EvaluateModelsConfig(
            models=tuple(Path(f) for f in files if isinstance(f, str | Path)),
            test=Path(test),
            report=Path(report),
            counts=tuple(counts),
            most=most,
        )
        return evaluate_files(config, callback).report
    named = models if isinstance(models, Mapping) else {Path(f).stem: f for f in models}
    given = _set("test", test)
    chosen = HeldOutSet(given.name, given.held, tuple(counts), most)
    return score_models({n: _data(model) for n, model in named.items()}, chosen, callback)[0]


def _data(model: Model) -> LinearBodyModel:
    if isinstance(model, SmplModel):
        return model.data
    return model if isinstance(model, LinearBodyModel) else load_model(Path(model))


def fit_skeleton(mesh: Mesh, *, up: str = "auto") -> SkeletonFit:
    """Fit the default skeleton to a human surface in roughly T- or A-pose, of any unit and heading.

    The joints, and all lengths of the result, are in the mesh's own unit and axes; `confidence` (0
    to 1) is the share of surface and fitted body that lie on each other. `up` is the mesh's upward
    axis, such as "+z"; +y and +z are tried unless given. What is no person is refused.
    """
    return fit_skeleton_to(mesh, up)
