"""Joints that a capture throws about: jumps faster than any joint turns, and back again.

Where markers are lost, a solver can turn a limb by up to half a turn within one frame and return a
moment later, sometimes again and again. From the frame before the first such jump to the frame
after the last, the joint is carried over smoothly instead.

Feet may also stay turned over: a solver that loses the toes' markers finds a foot with its sole up
as good as one with its sole down, for most of a clip (CMU 05_06). No ankle turns by more than a
quarter about the length of its foot; where one does, half a turn is taken back.

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
    multiply_quaternions,
    quaternion_from_axis_angle,
    slerp,
)

FASTEST: Final = 60.0
"""A joint that turns faster than this has jumped, rad/s; a captured boxer's wrist reaches 43."""
UPRIGHT: Final = 0.05
"""Share of a clip in which a foot must have its sole down for half turns to be taken back: else its
skeleton may rest in another pose."""
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


def turned_over(motion: Motion, joints: tuple[int, ...]) -> tuple[Motion, tuple[str, ...]]:
    """The motion with these ankles turned back by half a turn wherever they have their soles up,
    and a note for every one that had.

    The twist of a quaternion (w, v) about the foot's unit vector a is 2 atan2(v · a, w): beyond a
    quarter where |v · a| > |w|.
    """
    rotations, rest = (
        np.array(motion.joint_rotations, np.float64),
        np.asarray(motion.skeleton.joints, np.float64),
    )
    notes = []
    for joint in joints:
        children = [k for k, parent in enumerate(motion.skeleton.parents) if parent == joint]
        if not children:
            continue
        along = rest[children[0]] - rest[joint]
        along = along / max(float(np.linalg.norm(along)), 1e-12)
        turns = quaternion_from_axis_angle(rotations[:, joint])
        over = np.flatnonzero(np.abs(turns[:, 1:] @ along) > np.abs(turns[:, 0]))
        if not 0 < len(over) <= (1.0 - UPRIGHT) * len(turns):
            continue
        half = np.broadcast_to(np.append(0.0, along), (len(over), 4))
        back = multiply_quaternions(turns[over], half)
        rotations[over, joint] = axis_angle_from_quaternion(back)
        name = motion.skeleton.names[joint]
        notes.append(f"{name} has its sole up in {len(over)} frames; turned back by half a turn")
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
