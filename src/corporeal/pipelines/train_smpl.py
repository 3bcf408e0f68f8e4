"""Registrations in, a trained body model out."""

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from corporeal.assets.default_body import load_default_body
from corporeal.assets.smpl_view import smpl_template
from corporeal.body.linear_model import Blending
from corporeal.body.registrations import Registrations, Take
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.errors import FormatError, InputError
from corporeal.formats.native import read_body
from corporeal.formats.npz import open_npz
from corporeal.formats.smpl import read_smpl, write_smpl
from corporeal.models.smpl.model import SmplModel
from corporeal.models.smpl.train import SmplTrainer, TrainedSmpl, few_registrations
from corporeal.models.smpl.training.pose_training import PoseTraining
from corporeal.models.smpl.training.shape_training import ShapeTraining
from corporeal.pipelines.dataset import read_dataset
from corporeal.runtime.files import require_writable
from corporeal.runtime.manifest import finish_run, manifest_path, start_run

ProgressCallback = Callable[[str, float], None]
"""Is told what was done, and the mean distance of vertices after it, metres."""
Sex = Literal["female", "male", "both"]
DEPENDENCE = 3
"""Shape coefficients that pose blend shapes depend on, where they do."""


@dataclass(frozen=True, kw_only=True)
class TrainSmplOptions:
    """What a training may be told."""

    template: Path | None = None
    """Rig to start from where registrations have another surface than the default body: a model
    (.npz or .pkl with SMPL's keys) or a body (.npz)."""
    skinning: Blending = PoseTraining.blending
    """How joints move the skin: lbs (linear) or dqs (dual quaternions)."""
    sparse: bool = PoseTraining.sparse
    """Let only the joints that move a vertex correct it."""
    shape_count: int = ShapeTraining.count
    """Shape coefficients."""
    shape_dependent: bool = False
    """Let pose blend shapes depend on the first shape coefficients: people bend differently."""
    sex: Sex = "both"
    """Whose registrations; both make one model of all."""
    test_too: bool = False
    """Also learn from takes that are kept for tests."""


@dataclass(frozen=True, kw_only=True)
class TrainSmplConfig(TrainSmplOptions):
    """Two sets of registrations, one file."""

    poses: Path
    """Many poses of some people: a Zarr store, an .hdf5 file or a folder of .ply files."""
    shapes: Path
    """One scan each of many people, likewise."""
    out: Path
    """Model to write (.npz, or .pkl)."""


@dataclass(frozen=True)
class TrainedFile:
    """What came of it."""

    out: Path
    """The model file."""
    manifest: Path
    """Its manifest."""
    notes: tuple[str, ...]
    """What was left out or assumed, in words."""
    report: dict[str, Any]
    """Losses and figures of the training; JSON values."""


def train_smpl(config: TrainSmplConfig, callback: ProgressCallback | None = None) -> TrainedFile:
    """Train a model and write it, with its manifest.

    Every stage is kept in a checkpoint beside the result until that is written: a run that was
    stopped goes on when it is started again.
    """
    if config.out.suffix.lower() not in (".npz", ".pkl"):
        raise InputError(f"cannot write a model as {config.out}; expected .npz or .pkl.")
    if config.shape_dependent and config.out.suffix.lower() != ".npz":
        raise InputError(
            f"cannot write shape-dependent pose blend shapes as {config.out}; expected .npz."
        )
    require_writable(config.out)
    files = () if config.template is None else (config.template,)
    run = start_run("train smpl", config, files)
    poses = RegistrationSet(str(config.poses), read_dataset(config.poses))
    shapes = RegistrationSet(str(config.shapes), read_dataset(config.shapes))
    checkpoint = config.out.with_name(config.out.name + ".checkpoint.npz")
    made, notes = train_smpl_model(poses, shapes, config, callback, checkpoint)
    write_smpl(config.out, made.model, made.dependent)
    finish_run(run, [config.out], made.report)
    checkpoint.unlink(missing_ok=True)
    return TrainedFile(config.out, manifest_path(config.out), notes, dict(made.report))


@dataclass(frozen=True)
class RegistrationSet:
    """Registrations, and what messages call them."""

    name: str
    """What messages call the set."""
    held: Registrations
    """The registrations."""


def train_smpl_model(
    poses: RegistrationSet,
    shapes: RegistrationSet,
    options: TrainSmplOptions,
    callback: ProgressCallback | None = None,
    checkpoint: Path | None = None,
) -> tuple[TrainedSmpl, tuple[str, ...]]:
    """Train a model, in memory; gives it with its report, and notes on what was left out.

    `checkpoint` (.npz) keeps every stage, so that a run that was stopped goes on.
    """
    notes: list[str] = []
    posed = RegistrationSet(poses.name, _chosen(options, poses, notes))
    shaped = RegistrationSet(shapes.name, _chosen(options, shapes, notes))
    template = _template(options, posed)
    trainer = SmplTrainer(
        replace(PoseTraining(), blending=options.skinning, sparse=options.sparse),
        replace(ShapeTraining(), count=(count := _count(options, posed, shaped))),
        min(DEPENDENCE, count) if options.shape_dependent else 0,
    )
    few = few_registrations(posed.held.frame_count, template)
    if few is not None:
        notes.append(few)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", r".* registrations came for")  # said by the notes
        made = trainer.fit(
            posed.held, shaped.held, template, callback=callback, checkpoints=checkpoint
        )
    return made, tuple(notes)


def _chosen(config: TrainSmplOptions, given: RegistrationSet, notes: list[str]) -> Registrations:
    """The takes to learn from: none that is kept for tests, of the sex that was asked for."""
    path, held = given.name, given.held

    def wanted(take: Take) -> bool:
        if take.split == "test" and not config.test_too:
            return False
        if config.sex == "both":
            return True
        facts = held.subjects[take.subject].facts if take.subject in held.subjects else {}
        return facts.get("sex") == config.sex

    kept = held.where(wanted)
    tests = sum(take.split == "test" for take in held.takes)
    if tests and not config.test_too:
        notes.append(f"{path}: {tests} takes are kept for tests and left out")
    if not kept.takes:
        whose = "" if config.sex == "both" else f" of {config.sex} people"
        raise InputError(
            f"{path} has no take{whose} to learn from ({len(held.takes)} takes, {tests} of them "
            f"kept for tests). Give another set, or --test-too."
        )
    return kept


def _count(config: TrainSmplOptions, poses: RegistrationSet, shapes: RegistrationSet) -> int:
    people = len({take.subject for given in (poses, shapes) for take in given.held.takes})
    if not 1 <= config.shape_count < people:
        raise InputError(
            f"{config.shape_count} shape coefficients were asked for; {poses.name} and "
            f"{shapes.name} have {people} people, which allow 1 to {people - 1}. Give "
            f"--shape-count, or more people."
        )
    return config.shape_count


def _template(config: TrainSmplOptions, poses: RegistrationSet) -> Template:
    if config.template is not None:
        return read_rig(config.template)
    view = load_default_body().smpl_view()
    own = topology_hash(view.mesh.triangles, view.mesh.vertex_count)
    if poses.held.topology_hash != own:
        raise InputError(
            f"{poses.name} has {poses.held.vertex_count} vertices a frame ({poses.held.template}), "
            f"which is not the default body's surface. Give --template: a model or body of that "
            f"surface, whose joints and weights training starts from."
        )
    return view


def read_rig(path: Path) -> Template:
    """A rigged surface from a model or a body file; SMPL-H's joints become SMPL's."""
    if path.suffix.lower() == ".npz":
        with open_npz(path, object_arrays="skip") as file:
            is_own = "format" in file.headers
        if is_own:
            template = read_body(path).template
            fingers = template.skeleton.joint_count == 52
            return smpl_template(template) if fingers else template
    try:
        return SmplModel(read_smpl(path)).template
    except FormatError as error:
        raise InputError(f"--template: {error}") from error
