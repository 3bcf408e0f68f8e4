"""The motion that a body is moved through: authored by name, read from a file, or given."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.formats.registry import format_to_read
from corporeal.motions.custom_skeleton import (
    CustomMotion,
    by_way_of_a_person,
    motion_from_file,
    motion_from_memory,
)
from corporeal.pipelines.options import MotionOptions


def is_motion_file(motion: str) -> bool:
    """Whether `motion` is a path rather than a name: names have no suffix."""
    return bool(Path(motion).suffix)


def motion_for(
    motion: str | Motion, options: MotionOptions, body: Body
) -> tuple[Motion, dict[str, Any]]:
    """The motion of a body, and what a report should tell about a captured one.

    A name is authored for the body. A BVH or AMASS file is retargeted to it. A given motion, or a
    native file, whose joints have the body's names is taken as it is; a given one of another
    skeleton is retargeted.
    """
    from corporeal.motions.incoming import fitted_to_body, motion_for_body

    if isinstance(motion, Motion):
        if motion.skeleton.names == body.template.skeleton.names:
            return motion, {}
        came = fitted_to_body(motion, body.template, body.identity, options.incoming())
    elif not is_motion_file(motion):
        return _authored(motion, options, body), {}
    else:
        format_to_read(motion, "motion")
        came = motion_for_body(motion, body.template, body.identity, options.incoming())
    if came.retargeted is None:
        return came.motion, {}
    return came.motion, {"motion": dict(came.facts), "motion_notes": list(came.notes)}


def motion_for_skeleton(
    motion: str | Motion, options: MotionOptions, skeleton: Skeleton
) -> tuple[Motion, tuple[str, ...]]:
    """The motion of a skeleton that is not the default body's, and how it came, in words."""
    from corporeal.assets.default_body import load_default_body

    template = load_default_body().template
    if isinstance(motion, Motion):
        if motion.skeleton.names == skeleton.names:
            return motion, ()
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


def _sized_like(template: Template, form: Skeleton) -> Float[NumpyArray, "V 3"]:
    """The template's surface about a form of its skeleton: in the ratio of their bone lengths, with
    the root in the same place (metres)."""
    own, other = (np.asarray(s.joints, np.float64) for s in (template.skeleton, form))
    above = list(form.parents[1:])
    lengths = [np.linalg.norm(joints[1:] - joints[above], axis=1).sum() for joints in (own, other)]
    vertices = np.asarray(template.mesh.vertices, np.float64)
    return other[0] + lengths[1] / lengths[0] * (vertices - own[0])


def _authored(name: str, options: MotionOptions, body: Body) -> Motion:
    from corporeal.motions.library import make_motion

    return make_motion(
        name,
        body.identity,
        body.template,
        seed=options.seed,
        fps=options.fps,
        duration=options.duration,
        a_pose=options.a_pose,
        girdle=options.girdle,
    )
