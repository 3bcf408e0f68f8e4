"""A body and a motion in, an animation out."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.formats.native import Body, read_body
from corporeal.formats.registry import format_to_read
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.results import require_animation_output, write_animation_result
from corporeal.runtime.manifest import Run, finish_run, is_current, manifest_path, start_run


@dataclass(frozen=True)
class AnimateConfig:
    """One body, one motion, one deformer, one file."""

    out: Path
    motion: str
    """Name of an authored motion, or path of a motion file."""
    body: Path | None = None
    """A body or animation file; None for the default body."""
    deformer: str = "lbs"
    fps: float = 60.0
    """Frames a second of an authored motion."""
    duration: float = 4.0
    """Seconds of an authored motion."""
    seed: int = 0
    frame: int | None = None
    """The one frame to write, for files that hold a single surface."""
    raw: bool = False
    """Leave a captured motion untouched: no scaling, no planted feet, no ground."""
    name_map: Path | None = None
    """JSON map from the body's joints to those of a captured motion; None finds one."""
    unit: str = "auto"
    """Unit of a BVH file."""
    up: str = "+y"
    """Upward axis of a BVH file."""
    front: str = "+z"
    """Axis that the body of a BVH file faces at rest."""
    first_frame: Literal["auto", "keep", "drop"] = "auto"
    """What to do with the first frame of a BVH file, which is often an added T-pose."""
    a_pose: bool = False
    """Start an authored motion in an A-pose."""


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
    body = load_body(config.body)
    motion, came = load_motion(config, body)
    animation = make_deformer(config.deformer, body.template).animate(body.identity, motion)
    report = came | write_animation_result(config.out, animation, body.measurements, config.frame)
    finish_run(run, [config.out], report)
    return Animated(
        out=config.out,
        manifest=manifest_path(config.out),
        frames=motion.frame_count,
        fps=motion.fps,
        deformer=config.deformer,
        report=report,
    )


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
    files = [config.body] if config.body is not None else []
    if is_motion_file(config.motion):
        files.append(Path(config.motion))
    if config.name_map is not None:
        files.append(config.name_map)
    return start_run("animate", config, files)


def load_motion(config: AnimateConfig, body: Body) -> tuple[Motion, dict[str, Any]]:
    """The motion, and what a report should tell about a captured one."""
    if not is_motion_file(config.motion):
        from corporeal.motions.library import make_motion

        authored = make_motion(
            config.motion,
            body.identity,
            body.template,
            seed=config.seed,
            fps=config.fps,
            duration=config.duration,
            a_pose=config.a_pose,
        )
        return authored, {}
    from corporeal.motions.incoming import IncomingOptions, motion_for_body

    format_to_read(config.motion, "motion")
    options = IncomingOptions(
        raw=config.raw,
        name_map=config.name_map,
        unit=config.unit,
        up=config.up,
        front=config.front,
        first_frame=config.first_frame,
    )
    came = motion_for_body(config.motion, body.template, body.identity, options)
    if came.retargeted is None:
        return came.motion, {}
    return came.motion, {"motion": dict(came.facts), "motion_notes": list(came.notes)}
