"""Joints that a capture throws about: jumps faster than any joint turns, and back again.

Where markers are lost, a solver can turn a limb by up to half a turn within one frame and return a
moment later, sometimes again and again. From the frame before the first such jump to the frame
after the last, the joint is carried over smoothly instead.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.motion import Motion
from corporeal.geometry.rotations import (
    axis_angle_from_quaternion,
    geodesic_angle,
    matrix_from_axis_angle,
    quaternion_from_axis_angle,
    slerp,
)

FASTEST: Final = 60.0
"""A joint that turns faster than this has jumped, rad/s; a captured boxer's wrist reaches 43."""
LONGEST: Final = 0.3
"""Jumps this close together, seconds, belong to one glitch."""


def mended(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """The motion with its glitches carried over, and a note for every joint that had some."""
    rotations = np.array(motion.joint_rotations, np.float64)
    matrices = matrix_from_axis_angle(rotations)
    steps = geodesic_angle(matrices[:-1], matrices[1:])
    notes = []
    for joint, name in enumerate(motion.skeleton.names):
        glitches = _glitches(np.flatnonzero(steps[:, joint] * motion.fps > FASTEST), motion.fps)
        for first, last in glitches:
            rotations[first : last + 1, joint] = _carried(
                rotations[[first, last], joint], last - first
            )
        if glitches:
            spans = ", ".join(f"{first + 1}–{last - 1}" for first, last in glitches)
            notes.append(f"{name} jumps by over {FASTEST:g} rad/s; carried over in frames {spans}")
    return (replace(motion, joint_rotations=rotations), tuple(notes)) if notes else (motion, ())


def _glitches(jumps: Int[NumpyArray, "n"], fps: float) -> list[tuple[int, int]]:
    """Frames before and after every run of at least two jumps; a single jump is no return."""
    runs = np.split(jumps, np.flatnonzero(np.diff(jumps) > LONGEST * fps) + 1)
    return [(int(run[0]), int(run[-1]) + 1) for run in runs if len(run) > 1]


def _carried(ends: Float[NumpyArray, "2 3"], steps: int) -> Float[NumpyArray, "n 3"]:
    """Axis-angle vectors from the first to the second of `ends` in equal steps, ends included."""
    start, end = quaternion_from_axis_angle(ends)
    share = np.linspace(0.0, 1.0, steps + 1)
    between = slerp(np.tile(start, (steps + 1, 1)), np.tile(end, (steps + 1, 1)), share)
    return axis_angle_from_quaternion(between)
