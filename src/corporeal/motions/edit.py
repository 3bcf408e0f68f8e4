"""Cutting, joining, blending and looping motions.

Joining moves the later motion over the ground (a shift along it and a turn about the vertical) so
that it goes on where the earlier one ends; heights are left alone, so feet stay on the ground.
"""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    axis_angle_from_quaternion,
    matrix_from_axis_angle,
    quaternion_from_axis_angle,
    slerp,
)
from corporeal.motions.timing import smooth_step


def cut(motion: Motion, start: float, end: float) -> Motion:
    """The frames from `start` to `end` seconds, both included, at the nearest frames."""
    if not 0.0 <= start <= end <= motion.duration + 0.5 / motion.fps:
        raise InputError(
            f"cut from {start} s to {end} s of a motion of {motion.duration:.3f} s; expected "
            f"0 ≤ start ≤ end ≤ its duration."
        )
    first, last = round(start * motion.fps), round(end * motion.fps)
    return _with_frames(
        motion,
        np.asarray(motion.joint_rotations)[first : last + 1],
        np.asarray(motion.root_translation)[first : last + 1],
    )


def blend(first: Motion, second: Motion, seconds: float) -> Motion:
    """`first`, then `second`, with the last and first `seconds` of them laid over each other.

    Over the overlap the rotations go from one motion to the other by slerp with a minimum-jerk
    weight, and so does the root's path.
    """
    _require_alike(first, second)
    overlap = round(seconds * first.fps)
    shortest = min(first.frame_count, second.frame_count)
    if not 1 <= overlap < shortest:
        raise InputError(
            f"blend over {seconds} s is {overlap} frames; expected 1 to {shortest - 1}, less than "
            f"the shorter motion has."
        )
    at = first.frame_count - overlap
    second = moved_on_ground(second, onto=first, frame=0, onto_frame=at)
    weight = smooth_step((np.arange(overlap) + 1.0) / (overlap + 1.0))
    tails = np.asarray(first.joint_rotations)[at:], np.asarray(second.joint_rotations)[:overlap]
    start, end = (quaternion_from_axis_angle(np.asarray(t, np.float64)) for t in tails)
    middle = axis_angle_from_quaternion(slerp(start, end, weight[:, None]))
    way = weight[:, None]
    path = (1 - way) * first.root_translation[at:] + way * second.root_translation[:overlap]
    return _with_frames(
        first,
        np.concatenate([first.joint_rotations[:at], middle, second.joint_rotations[overlap:]]),
        np.concatenate([first.root_translation[:at], path, second.root_translation[overlap:]]),
    )


def loop(motion: Motion, count: int, seconds: float) -> Motion:
    """The motion `count` times in a row, each time blended into the next over `seconds`.

    Every repetition starts where the one before ends: a walk walks on.
    """
    if count < 1:
        raise InputError(f"loop of {count} repetitions; expected at least 1.")
    looped = motion
    for _ in range(count - 1):
        looped = blend(looped, motion, seconds)
    return looped


def moved_on_ground(motion: Motion, *, onto: Motion, frame: int, onto_frame: int) -> Motion:
    """`motion` shifted along the ground and turned about the vertical.

    At `frame` its root then stands where, and looks where, the root of `onto` does at
    `onto_frame`. Height, lean and everything else stay.
    """
    _require_alike(motion, onto)
    rest = np.asarray(motion.skeleton.joints, np.float64)[0]
    roots = np.asarray(motion.root_translation, np.float64) + rest
    target = np.asarray(onto.root_translation, np.float64)[onto_frame] + rest
    turn = _about_vertical(
        _heading(np.asarray(onto.joint_rotations, np.float64)[onto_frame, 0])
        - _heading(np.asarray(motion.joint_rotations, np.float64)[frame, 0])
    )
    level = np.array([1.0, 0.0, 1.0])
    moved = (roots - level * roots[frame]) @ turn.T + level * target
    rotations = np.asarray(motion.joint_rotations, np.float64).copy()
    rotations[:, 0] = axis_angle_from_matrix(turn @ matrix_from_axis_angle(rotations[:, 0]))
    return _with_frames(motion, rotations, moved - rest)


def _heading(root_rotation: Float[NumpyArray, "3"]) -> float:
    """Angle about the vertical of the part of a rotation that turns about it, radians.

    The swing–twist split: of the quaternion only w and y are kept.
    """
    w, _, y, _ = quaternion_from_axis_angle(root_rotation)
    return 2.0 * float(np.arctan2(y, w))


def _about_vertical(angle: float) -> Float[NumpyArray, "3 3"]:
    return matrix_from_axis_angle(np.array([0.0, angle, 0.0]))


def _with_frames(
    motion: Motion, rotations: Float[NumpyArray, "N J 3"], translation: Float[NumpyArray, "N 3"]
) -> Motion:
    return Motion(motion.name, motion.fps, rotations, translation, motion.skeleton)


def _require_alike(first: Motion, second: Motion) -> None:
    if first.fps != second.fps:
        raise InputError(
            f"motions run at {first.fps} and {second.fps} frames a second; expected one rate. "
            f"Resample one of them."
        )
    if first.skeleton.names != second.skeleton.names:
        raise InputError(
            f"motions have skeletons of {first.skeleton.joint_count} and "
            f"{second.skeleton.joint_count} joints with different names; expected one skeleton. "
            f"Retarget one of them."
        )
