"""The motion that a body is moved through: authored by name, read from a file, or given."""

import glob
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.formats.registry import format_to_read

if TYPE_CHECKING:
    from corporeal.pipelines.options import MotionOptions

AUTHORED_FPS: Final = 60.0
"""Frames a second of an authored motion, unless told."""
AUTHORED_SECONDS: Final = 4.0
"""Seconds of an authored motion, unless told."""


def is_motion_file(motion: str) -> bool:
    """Whether `motion` is a path rather than a name: names have no suffix."""
    return bool(Path(motion).suffix)


def motions_named(motion: str) -> list[str]:
    """What a `--motion` names: itself, all motion files of a folder, or those of a pattern."""
    from corporeal.formats.registry import suffixes_read

    folder = Path(motion)
    if any(sign in motion for sign in "*?["):
        found = [Path(name) for name in glob.glob(motion, recursive=True)]  # noqa: PTH207
    elif folder.is_dir():
        found = list(folder.iterdir())
    else:
        return [motion]
    known = suffixes_read("motion")
    files = sorted(str(path) for path in found if path.suffix.lower() in known and path.is_file())
    if not files:
        raise InputError(
            f"{motion} names no motion file; expected some with the suffix {', '.join(known)}."
        )
    return files


def motion_for(
    motion: str | Motion, options: "MotionOptions", body: Body
) -> tuple[Motion, dict[str, Any]]:
    """The motion of a body, and what a report should tell about a captured one.

    A name is authored for the body. A BVH or AMASS file is retargeted to it. A given motion, or a
    native file, whose joints have the body's names is taken as it is; a given one of another
    skeleton is retargeted.
    """
    from corporeal.motions.incoming import fitted_to_body, motion_for_body

    require_timing(motion, options)
    if isinstance(motion, Motion):
        if motion.skeleton.names == body.template.skeleton.names:
            return timed(motion, options), {}
        came = fitted_to_body(motion, body.template, body.identity, options.incoming())
    elif not is_motion_file(motion):
        return _authored(motion, options, body), {}
    else:
        format_to_read(motion, "motion")
        came = motion_for_body(motion, body.template, body.identity, options.incoming())
    played = timed(came.motion, options)
    if came.retargeted is None:
        return played, {}
    return played, {"motion": dict(came.facts), "motion_notes": list(came.notes)}


def motion_for_skeleton(
    motion: str | Motion, options: "MotionOptions", skeleton: Skeleton
) -> tuple[Motion, tuple[str, ...]]:
    """The motion of a skeleton that is not the default body's, and how it came, in words."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.motions.custom_skeleton import (
        CustomMotion,
        by_way_of_a_person,
        motion_from_file,
        motion_from_memory,
    )

    require_timing(motion, options)
    template = load_default_body().template
    if isinstance(motion, Motion):
        if motion.skeleton.names == skeleton.names:
            return timed(motion, options), ()
        made = motion_from_memory(motion, skeleton, template.skeleton, options.incoming())
    elif is_motion_file(motion):
        format_to_read(motion, "motion")
        made = motion_from_file(motion, skeleton, template.skeleton, options.incoming())
    else:
        name = motion

        def author(form: Skeleton) -> CustomMotion:
            identity = Identity(_sized_like(template, form), form.joints, {})
            return CustomMotion(_authored(name, options, Body(template, identity, {})), ())

        made = by_way_of_a_person(skeleton, template.skeleton, author)
        return replace(made.motion, skeleton=skeleton), made.notes
    return timed(replace(made.motion, skeleton=skeleton), options), made.notes


def require_timing(motion: str | Motion, options: "MotionOptions") -> None:
    """Refuse what cannot be meant: two ends, or what only authored motions have of a capture."""
    if options.end is not None and options.duration is not None:
        raise InputError("--end and --duration came together; expected one of them.")
    if isinstance(motion, str) and not is_motion_file(motion):
        return
    name = motion.name if isinstance(motion, Motion) else motion
    for flag, given in (("--seed", options.seed is not None), ("--a-pose", options.a_pose)):
        if given:
            raise InputError(
                f"{flag} came with {name}, which is captured; only authored motions have it (see "
                f"corporeal motion list). Leave it out."
            )


def timed(motion: Motion, options: "MotionOptions") -> Motion:
    """The part of a motion that is asked for, at the rate that is asked for."""
    from corporeal.motions.edit import cut
    from corporeal.motions.resample import resample

    if not (options.start is None and options.end is None and options.duration is None):
        start = 0.0 if options.start is None else options.start
        end = motion.duration if options.end is None else options.end
        if options.duration is not None:
            end = start + options.duration
        motion = cut(motion, start, end)
    if options.fps is not None and options.fps != motion.fps:
        motion = resample(motion, options.fps)
    return motion


def _sized_like(template: Template, form: Skeleton) -> Float[NumpyArray, "V 3"]:
    """The template's surface about a form of its skeleton: in the ratio of their bone lengths, with
    the root in the same place (metres)."""
    own, other = (np.asarray(s.joints, np.float64) for s in (template.skeleton, form))
    above = list(form.parents[1:])
    lengths = [np.linalg.norm(joints[1:] - joints[above], axis=1).sum() for joints in (own, other)]
    vertices = np.asarray(template.mesh.vertices, np.float64)
    return other[0] + lengths[1] / lengths[0] * (vertices - own[0])


def _authored(name: str, options: "MotionOptions", body: Body) -> Motion:
    from corporeal.motions.edit import cut
    from corporeal.motions.library import SHORTEST_S, make_motion

    start = 0.0 if options.start is None else options.start
    length = AUTHORED_SECONDS if options.duration is None else options.duration
    end = start + length if options.end is None else options.end
    is_part = options.start is not None or options.end is not None
    if is_part and not 0.0 <= start < end:
        raise InputError(f"motion from {start} s to {end} s; expected 0 ≤ start < end.")
    motion = make_motion(
        name,
        body.identity,
        body.template,
        seed=options.seed or 0,
        fps=AUTHORED_FPS if options.fps is None else options.fps,
        duration=max(end, SHORTEST_S) if is_part else end,
        a_pose=options.a_pose,
        girdle=options.girdle,
    )
    return cut(motion, start, min(end, motion.duration)) if is_part else motion
