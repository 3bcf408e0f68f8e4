"""Joints that a capture throws about: jumps faster than any joint turns, and back again.

Where markers are lost, a solver can turn a limb by up to half a turn within one frame and return a
moment later, sometimes again and again. From the frame before the first such jump to the frame
after the last, the joint is carried over smoothly instead.

A jump that never returns is a flip: from that frame on the joint is turned back by it. If a joint
below jumps in the same frame, it made up for the flip; it keeps its orientation in the world. Where
more than half of all joints jump at once, the clip is cut there, and nothing is turned.
"""

from dataclasses import replace
from typing import Final

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.motion import Motion
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
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


FLIPPED: Final = 1.0
"""A single jump by more than this, radians, is a flip."""


def mended(motion: Motion) -> tuple[Motion, tuple[str, ...]]:
    """The motion with its glitches mended, and a note for every joint that had some."""
    rotations, notes = _carried_over(motion)
    rotations, flips = _turned_back(rotations, motion)
    notes = (*notes, *flips)
    return (replace(motion, joint_rotations=rotations), notes) if notes else (motion, ())


def _carried_over(motion: Motion) -> tuple[Float[NumpyArray, "N J 3"], list[str]]:
    """Rotations without jumps that return."""
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
    return rotations, notes


def _turned_back(
    rotations: Float[NumpyArray, "N J 3"], motion: Motion
) -> tuple[Float[NumpyArray, "N J 3"], list[str]]:
    """Rotations without flips: R_j C from the jump on, with C = R_j(after)ᵀ R_j(before)."""
    matrices = matrix_from_axis_angle(rotations)
    fastest = max(FASTEST / motion.fps, FLIPPED)
    steps = geodesic_angle(matrices[:-1], matrices[1:])
    cut = (steps > fastest).mean(axis=1) > 0.5
    cut[:1] = True  # a T-pose put before the capture
    notes = []
    for joint, name in enumerate(motion.skeleton.names):
        steps = geodesic_angle(matrices[:-1, joint], matrices[1:, joint])
        for before in np.flatnonzero((steps > fastest) & ~cut):
            back = matrices[before + 1, joint].T @ matrices[before, joint]
            for child, parent in enumerate(motion.skeleton.parents):
                if parent == joint and _jumps(matrices[:, child], int(before), fastest):
                    matrices[before + 1 :, child] = back.T @ matrices[before + 1 :, child]
            matrices[before + 1 :, joint] = matrices[before + 1 :, joint] @ back
            notes.append(
                f"{name} flips by {np.rad2deg(steps[before]):.0f}° after frame {before} and never "
                f"returns; turned back from there on"
            )
    return (axis_angle_from_matrix(matrices) if notes else rotations), notes


def _jumps(turns: Float[NumpyArray, "N 3 3"], before: int, fastest: float) -> bool:
    return float(geodesic_angle(turns[before], turns[before + 1])) > fastest


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
