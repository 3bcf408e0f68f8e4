"""A body and a motion in, an animation out: in memory (`animate_body`), and from files to a file.

Every way to an animation (command line, studio, Python) goes through `animate_body`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.animation import Animation
from corporeal.body.body import Body
from corporeal.body.controls import ControlValue
from corporeal.body.deformer import Deformer
from corporeal.body.layered_body import LayeredBody
from corporeal.body.layers import Layers
from corporeal.body.motion import Motion
from corporeal.dynamics.dmpl.model import DmplSkinning
from corporeal.dynamics.neural.deformer import NeuralSkinning
from corporeal.errors import InputError
from corporeal.formats.native import read_body
from corporeal.formats.registry import format_to_read
from corporeal.models.enveloping.model import EnvelopingSkinning
from corporeal.pipelines.controls import read_controls
from corporeal.pipelines.custom_mesh import CustomBody, custom_body_again, load_custom_body
from corporeal.pipelines.deformer_options import deformer_for, painted_map
from corporeal.pipelines.deformers import deformer_class, require_place
from corporeal.pipelines.exaggeration import exaggerated, require_offsets
from corporeal.pipelines.layered_body import layers_for, stored_layers
from corporeal.pipelines.live_character import (
    require_character,
    require_live,
    write_live_character,
)
from corporeal.pipelines.live_enveloping import write_live_enveloping
from corporeal.pipelines.make_body import shaped_body
from corporeal.pipelines.motion_source import is_motion_file, motion_for, motion_for_skeleton
from corporeal.pipelines.options import AnimateOptions
from corporeal.pipelines.results import require_animation_output, write_animation_result
from corporeal.pipelines.smpl_models import ModelPerson, model_person
from corporeal.runtime.manifest import Run, finish_run, is_current, manifest_path, start_run
from corporeal.scene.casting import is_default_body


@dataclass(frozen=True, kw_only=True)
class AnimateConfig(AnimateOptions):
    """One body, one motion, one deformer, one file."""

    out: Path
    """File to write; its suffix decides what."""
    motion: str
    """Name of an authored motion, or path of a motion file."""
    body: Path | None = None
    """A body or animation file; None for the default body."""
    controls: Mapping[str, ControlValue] = field(default_factory=dict)
    """What the deformer is told, by the names of its controls; SI units."""


@dataclass(frozen=True)
class Animated:
    """What came of it; small enough to travel between processes."""

    out: Path
    """The file that was written."""
    manifest: Path
    """Its manifest."""
    frames: int
    """Number of frames."""
    fps: float
    """Frames a second."""
    deformer: str
    """Name of the deformer."""
    report: dict[str, Any]
    """What the run has to say in numbers; JSON values."""


NOTES = ("mesh_notes", "body_notes", "motion_notes", "cut_notes")
"""What a report has to tell in words, in the order of telling: how mesh, body and motion came, and
where the motion jumps."""

Subject = Body | LayeredBody | CustomBody | ModelPerson
"""Who is moved: a body, one with its layers, a custom mesh with a skeleton, a model's person."""


@dataclass(frozen=True)
class Moved:
    """What moving a body gives."""

    animation: Animation
    """With the body's measurements, and with notes on how body and motion came."""
    body: Body
    """The body that was moved, at rest."""
    report: dict[str, Any]
    """What there is to tell, for a manifest: notes by what they are about, figures by name."""
    deformer: Deformer
    """What moved it."""


def animate_body(
    subject: Subject,
    motion: str | Motion,
    options: AnimateOptions,
    controls: Mapping[str, ControlValue],
    deformer: Deformer | None = None,
) -> Moved:
    """Move a body through a motion, in memory.

    `motion` is an authored motion's name, a motion file, or a motion. `controls` are the
    deformer's, by name, SI units. A `deformer` object takes the place of the one
    that `options` names.
    """
    if deformer is None:
        _require(options, controls)
    if isinstance(subject, ModelPerson):
        moved = _model_animation(subject, motion, options, controls, deformer)
    elif isinstance(subject, CustomBody):
        moved = _custom_animation(subject, motion, options, controls, deformer)
    else:
        moved = _body_animation(subject, motion, options, controls, deformer)
    if moved.animation.notes:
        moved.report["cut_notes"] = list(moved.animation.notes)
    notes = tuple(note for kind in NOTES for note in moved.report.get(kind, ()))
    known = replace(moved.animation, measurements=dict(moved.body.measurements), notes=notes)
    return replace(moved, animation=known)


def animate(config: AnimateConfig) -> Animated:
    """Move a body and write the result, with its manifest.

    The body is read wholly before anything is written, so `out` may be the body's own file: an
    animation file holds its body and can be animated again.
    """
    run = _run(config)
    require_animation_output(config.out, config.frame)
    config.require_engine_file(config.out)
    _require(config, config.controls)
    presentation = config.presentation()
    moved = animate_body(load_subject(config), config.motion, config, config.controls)
    animation, report, deformer = moved.animation, moved.report, moved.deformer
    if config.live:
        if isinstance(deformer, EnvelopingSkinning):
            require_character(config.out)
            report |= write_live_enveloping(config.out, deformer, animation, dict(config.controls))
            finish_run(run, [config.out], report)
            return _animated(config, animation, deformer, report)
        live = require_live(config.out, deformer)
        soft = deformer if isinstance(deformer, DmplSkinning | NeuralSkinning) else None
        report |= write_live_character(
            config.out, live, animation, presentation, soft, dict(config.controls)
        )
    else:
        report |= write_animation_result(
            config.out,
            animation,
            moved.body.measurements,
            config.frame,
            config,
            presentation=presentation,
        )
    finish_run(run, [config.out], report)
    return _animated(config, animation, deformer, report)


def _animated(
    config: AnimateConfig, animation: Animation, deformer: Deformer, report: dict[str, Any]
) -> Animated:
    return Animated(
        out=config.out,
        manifest=manifest_path(config.out),
        frames=animation.motion.frame_count,
        fps=animation.motion.fps,
        deformer=deformer.name,
        report=report,
    )


def is_animated(config: AnimateConfig) -> bool:
    """Whether the very same animation lies there already, whole."""
    try:
        return is_current(config.out, _run(config))
    except InputError:  # an input is missing or damaged: `animate` says which
        return False


def load_subject(config: AnimateConfig) -> Subject:
    """Who is to be moved, from the files that a run names."""
    if config.model is not None:
        return model_person(config.model, config.shape)
    if config.mesh is not None:
        return load_custom_body(config)
    body = load_body(config.body)
    layers = stored_layers(config.body) if deformer_class(config.deformer).needs_layers else None
    return body if layers is None else LayeredBody(body, layers)


def load_body(path: Path | None) -> Body:
    """The body in a file, or the average adult."""
    if path is not None:
        format_to_read(path, "body")
        return read_body(path)
    return shaped_body()


def load_motion(config: AnimateConfig, body: Body) -> tuple[Motion, dict[str, Any]]:
    """The motion that a run names, and what a report should tell about a captured one."""
    return motion_for(config.motion, config, body)


def _require(options: AnimateOptions, controls: Mapping[str, ControlValue]) -> None:
    """Refuse what can be told before anything is read or computed."""
    read_controls(options.deformer, controls)
    require_place(options.deformer, options.device)
    require_offsets(options)


def _run(config: AnimateConfig) -> Run:
    motion = Path(config.motion) if is_motion_file(config.motion) else None
    files = (config.body, motion, *config.input_files())
    return start_run("animate", config, [file for file in files if file is not None])


def _body_animation(
    subject: Body | LayeredBody,
    motion: str | Motion,
    options: AnimateOptions,
    controls: Mapping[str, ControlValue],
    deformer: Deformer | None,
) -> Moved:
    body = subject.body if isinstance(subject, LayeredBody) else subject
    if (own := custom_body_again(body, options.component)) is not None:
        return _custom_animation(own, motion, options, controls, deformer)
    played, came = motion_for(motion, options, body)
    if deformer is None and deformer_class(options.deformer).needs_layers:
        age = controls.get("age")
        layers, notes = _layers(subject, None if age is None else float(age))
        deformer = deformer_for(options, body.template, layers=layers)
        came |= {"body_notes": notes}
    elif deformer is None:
        deformer = deformer_for(options, body.template)
    moved = _deformed(options, controls, deformer, body, played)
    return Moved(moved, body, came, deformer)


def _layers(subject: Body | LayeredBody, age: float | None) -> tuple[Layers, list[str]]:
    """The subject's layers, or fitted ones with a note that they are; age in years."""
    if isinstance(subject, LayeredBody):
        return subject.layers, []
    return layers_for(None, subject, age)


def _model_animation(
    person: ModelPerson,
    motion: str | Motion,
    options: AnimateOptions,
    controls: Mapping[str, ControlValue],
    deformer: Deformer | None,
) -> Moved:
    """A model's person, moved by the model itself unless another deformer is named."""
    body = person.body
    if is_default_body(body.template):
        played, came = motion_for(motion, options, body)
    else:
        joints = np.asarray(body.identity.joints, np.float64)
        skeleton = replace(body.template.skeleton, joints=joints)
        played, notes = motion_for_skeleton(motion, options, skeleton)
        came = {"motion_notes": list(notes)}
    if deformer is None:
        own = options.deformer == AnimateOptions.deformer
        deformer = person.model if own else deformer_for(options, body.template)
    came |= {"deformers": [deformer.name]}
    return Moved(_deformed(options, controls, deformer, body, played), body, came, deformer)


def _custom_animation(
    own: CustomBody,
    motion: str | Motion,
    options: AnimateOptions,
    controls: Mapping[str, ControlValue],
    deformer: Deformer | None,
) -> Moved:
    played, notes = motion_for_skeleton(motion, options, own.skin.template.skeleton)
    if deformer is None:
        deformer = deformer_for(options, own.skin.template, own)
    animation = own.whole(_deformed(options, controls, deformer, own.skin, played, own))
    report = {"mesh_notes": list(own.notes), "motion_notes": list(notes)}
    return Moved(animation, own.body, report, deformer)


def _deformed(
    options: AnimateOptions,
    controls: Mapping[str, ControlValue],
    deformer: Deformer,
    body: Body,
    motion: Motion,
    own: CustomBody | None = None,
) -> Animation:
    moved = deformer.animate(body.identity, motion, controls or None)
    if deformer.accepts_local_weights:  # painted factors are in the deformer
        return moved
    factors = painted_map(options.exaggeration_map, body.template, own)
    return moved if factors is None else exaggerated(moved, factors)
