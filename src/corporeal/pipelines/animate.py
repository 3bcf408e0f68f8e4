"""A body and a motion in, an animation out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.body.animation import Animation
from corporeal.body.controls import ControlValue
from corporeal.body.deformer import Deformer
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.native import Body, read_body
from corporeal.formats.registry import format_to_read
from corporeal.motions.custom_skeleton import CustomMotion, by_way_of_a_person, motion_from_file
from corporeal.pipelines.controls import read_controls
from corporeal.pipelines.custom_mesh import CustomBody, custom_body_again, load_custom_body
from corporeal.pipelines.deformer_options import deformer_for, painted_map
from corporeal.pipelines.deformers import deformer_class, require_place
from corporeal.pipelines.exaggeration import exaggerated, require_offsets
from corporeal.pipelines.layered_body import layers_for
from corporeal.pipelines.live_character import require_live, write_live_character
from corporeal.pipelines.options import AnimateOptions
from corporeal.pipelines.results import (
    attachments_of,
    require_animation_output,
    write_animation_result,
)
from corporeal.pipelines.smpl_models import ModelPerson, model_person
from corporeal.runtime.manifest import Run, finish_run, is_current, manifest_path, start_run
from corporeal.scene.casting import is_default_body


@dataclass(frozen=True, kw_only=True)
class AnimateConfig(AnimateOptions):
    """One body, one motion, one deformer, one file."""

    out: Path
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
    manifest: Path
    frames: int
    fps: float
    deformer: str
    report: dict[str, Any]


def animate(config: AnimateConfig) -> Animated:
    """Move a body and write the result, with its manifest.

    The body is read wholly before anything is written, so `out` may be the body's own file: an
    animation file holds its body and can be animated again.
    """
    run = _run(config)
    require_animation_output(config.out, config.frame)
    read_controls(config.deformer, config.controls)
    require_place(config.deformer, config.device)
    require_offsets(config)
    animation, body, report, deformer = _animation(config)
    if config.live:
        parts = attachments_of(animation.template, animation.identity)
        live = require_live(config.out, deformer)
        report |= write_live_character(config.out, live, animation, parts)
    else:
        report |= write_animation_result(config.out, animation, body.measurements, config.frame)
    finish_run(run, [config.out], report)
    return Animated(
        out=config.out,
        manifest=manifest_path(config.out),
        frames=animation.motion.frame_count,
        fps=animation.motion.fps,
        deformer=deformer.name,
        report=report,
    )


Moved = tuple[Animation, Body, dict[str, Any], Deformer]
"""An animation, whose body it is, what there is to tell, and what moved it."""


def _animation(config: AnimateConfig) -> Moved:
    if config.model is not None:
        return _model_animation(config, model_person(config.model, config.shape))
    if config.mesh is not None:
        return _custom_animation(config, load_custom_body(config))
    body = load_body(config.body)
    if (own := custom_body_again(body, config.component)) is not None:
        return _custom_animation(config, own)
    motion, came = load_motion(config, body)
    if deformer_class(config.deformer).needs_layers:
        age = config.controls.get("age")
        layers, notes = layers_for(config.body, body, None if age is None else float(age))
        deformer = deformer_for(config, body.template, layers=layers)
        moved = _deformed(config, deformer, body, motion)
        return moved, body, came | {"body_notes": notes}, deformer
    deformer = deformer_for(config, body.template)
    return _deformed(config, deformer, body, motion), body, came, deformer


def _model_animation(config: AnimateConfig, person: ModelPerson) -> Moved:
    """A model's person, moved by the model itself unless another deformer is named."""
    body = person.body
    if is_default_body(body.template):
        motion, came = load_motion(config, body)
    else:
        joints = np.asarray(body.identity.joints, np.float64)
        motion, notes = _custom_motion(config, replace(body.template.skeleton, joints=joints))
        came = {"motion_notes": list(notes)}
    own = config.deformer == AnimateOptions.deformer
    deformer = person.model if own else deformer_for(config, body.template)
    came |= {"deformers": [deformer.name]}
    return _deformed(config, deformer, body, motion), body, came, deformer


def _custom_animation(config: AnimateConfig, own: CustomBody) -> Moved:
    motion, notes = _custom_motion(config, own.skin.template.skeleton)
    deformer = deformer_for(config, own.skin.template, own)
    animation = own.whole(_deformed(config, deformer, own.skin, motion, own))
    report = {"mesh_notes": list(own.notes), "motion_notes": list(notes)}
    return animation, own.body, report, deformer


def _deformed(
    config: AnimateConfig,
    deformer: Deformer,
    body: Body,
    motion: Motion,
    own: CustomBody | None = None,
) -> Animation:
    moved = deformer.animate(body.identity, motion, config.controls or None)
    factors = painted_map(config.exaggeration_map, body.template, own)
    return moved if factors is None else exaggerated(moved, factors)


def is_animated(config: AnimateConfig) -> bool:
    """Whether the very same animation lies there already, whole."""
    try:
        return is_current(config.out, _run(config))
    except InputError:  # an input is missing or damaged: `animate` says which
        return False


def load_body(path: Path | None) -> Body:
    """The body in a file, or the average adult."""
    if path is not None:
        format_to_read(path, "body")
        return read_body(path)
    from corporeal.anthropometry.measure import measure
    from corporeal.models.phenotype.model import PhenotypeModel

    model = PhenotypeModel()
    identity = model.prepare()
    return Body(model.template, identity, measure(identity).values)


def is_motion_file(motion: str) -> bool:
    """Whether `motion` is a path rather than a name: names have no suffix."""
    return bool(Path(motion).suffix)


def _run(config: AnimateConfig) -> Run:
    motion = Path(config.motion) if is_motion_file(config.motion) else None
    files = (config.body, motion, *config.input_files())
    return start_run("animate", config, [file for file in files if file is not None])


def load_motion(config: AnimateConfig, body: Body) -> tuple[Motion, dict[str, Any]]:
    """The motion, and what a report should tell about a captured one."""
    if not is_motion_file(config.motion):
        return _authored(config, body), {}
    from corporeal.motions.incoming import motion_for_body

    format_to_read(config.motion, "motion")
    came = motion_for_body(config.motion, body.template, body.identity, config.incoming())
    if came.retargeted is None:
        return came.motion, {}
    return came.motion, {"motion": dict(came.facts), "motion_notes": list(came.notes)}


def _authored(config: AnimateConfig, body: Body) -> Motion:
    from corporeal.motions.library import make_motion

    return make_motion(
        config.motion,
        body.identity,
        body.template,
        seed=config.seed,
        fps=config.fps,
        duration=config.duration,
        a_pose=config.a_pose,
    )


def _custom_motion(config: AnimateConfig, skeleton: Skeleton) -> tuple[Motion, tuple[str, ...]]:
    """The motion for a skeleton that is not the default body's, and how it came."""
    from corporeal.assets.default_body import load_default_body

    template = load_default_body().template

    def author(form: Skeleton) -> CustomMotion:
        identity = Identity(template.mesh.vertices, form.joints, {})
        return CustomMotion(_authored(config, Body(template, identity, {})), ())

    if is_motion_file(config.motion):
        format_to_read(config.motion, "motion")
        made = motion_from_file(config.motion, skeleton, template.skeleton, config.incoming())
    else:
        made = by_way_of_a_person(skeleton, template.skeleton, author)
    return replace(made.motion, skeleton=skeleton), made.notes
