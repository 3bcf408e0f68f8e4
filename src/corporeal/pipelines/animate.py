"""A body and a motion in, an animation out."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.native import Body, read_body
from corporeal.formats.registry import format_to_read
from corporeal.motions.own_skeleton import OwnMotion, by_way_of_a_person, motion_from_file
from corporeal.pipelines.controls import as_arrays, require_controls
from corporeal.pipelines.deformers import require_place
from corporeal.pipelines.flesh_options import deformer_for, layered_deformer
from corporeal.pipelines.layered_body import LAYERED, layers_for
from corporeal.pipelines.options import AnimateOptions
from corporeal.pipelines.own_mesh import OwnBody, again_own, load_own_body
from corporeal.pipelines.results import require_animation_output, write_animation_result
from corporeal.runtime.manifest import Run, finish_run, is_current, manifest_path, start_run


@dataclass(frozen=True, kw_only=True)
class AnimateConfig(AnimateOptions):
    """One body, one motion, one deformer, one file."""

    out: Path
    motion: str
    """Name of an authored motion, or path of a motion file."""
    body: Path | None = None
    """A body or animation file; None for the default body."""
    controls: Mapping[str, float] = field(default_factory=dict)
    """What the deformer is told, by the names in its table; SI units."""


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
    require_controls(config.deformer, config.controls)
    require_place(config.deformer, config.device)
    animation, body, report = _animation(config)
    written = write_animation_result(config.out, animation, body.measurements, config.frame)
    report = report | written
    finish_run(run, [config.out], report)
    return Animated(
        out=config.out,
        manifest=manifest_path(config.out),
        frames=animation.motion.frame_count,
        fps=animation.motion.fps,
        deformer=config.deformer,
        report=report,
    )


def _animation(config: AnimateConfig) -> tuple[Animation, Body, dict[str, Any]]:
    if config.mesh is not None:
        return _own_animation(config, load_own_body(config))
    body = load_body(config.body)
    if (own := again_own(body, config.component)) is not None:
        return _own_animation(config, own)
    motion, came = load_motion(config, body)
    if config.deformer == LAYERED:
        layers, notes = layers_for(config.body, body, config.controls.get("age"))
        deformer = layered_deformer(config, body.template, layers)
        moved = deformer.animate(body.identity, motion, as_arrays(config.controls))
        return moved, body, came | {"body_notes": notes}
    return _deformed(config, body, motion), body, came


def _own_animation(config: AnimateConfig, own: OwnBody) -> tuple[Animation, Body, dict[str, Any]]:
    motion, notes = _own_motion(config, own)
    animation = own.whole(_deformed(config, own.skin, motion, own))
    report = {"mesh_notes": list(own.notes), "motion_notes": list(notes)}
    return animation, own.body, report


def _deformed(
    config: AnimateConfig, body: Body, motion: Motion, own: OwnBody | None = None
) -> Animation:
    deformer = deformer_for(config, body.template, own)
    return deformer.animate(body.identity, motion, as_arrays(config.controls))


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


def _own_motion(config: AnimateConfig, own: OwnBody) -> tuple[Motion, tuple[str, ...]]:
    """The motion for a skeleton of the user's own, and how it came."""
    from corporeal.assets.default_body import load_default_body

    template, skeleton = load_default_body().template, own.skin.template.skeleton

    def author(form: Skeleton) -> OwnMotion:
        identity = Identity(template.mesh.vertices, form.joints, {})
        return OwnMotion(_authored(config, Body(template, identity, {})), ())

    if is_motion_file(config.motion):
        format_to_read(config.motion, "motion")
        made = motion_from_file(config.motion, skeleton, template.skeleton, config.incoming())
    else:
        made = by_way_of_a_person(skeleton, template.skeleton, author)
    return replace(made.motion, skeleton=skeleton), made.notes
