"""Where bones are and how they move: what flesh that hangs on them feels."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.geometry.rotations import axis_angle_from_matrix


class BonePose(NamedTuple):
    """Where bones are at one time, or at many."""

    centres: Float[NumpyArray, "*n J 3"]
    """Joint centres in the world, metres."""
    rotations: Float[NumpyArray, "*n J 3 3"]
    """World rotation of every joint."""
    local: Float[NumpyArray, "*n J 3 3"]
    """Rotation of every joint in its parent."""


class BoneSpeed(NamedTuple):
    """How bones moved over some time."""

    velocity: Float[NumpyArray, "*n J 3"]
    """Of joint centres in the world, m/s."""
    turning: Float[NumpyArray, "*n J 3"]
    """Angular velocity in the world, rad/s."""


def posed_bones(
    local: Float[NumpyArray, "*n J 3 3"],
    joints: Float[NumpyArray, "J 3"],
    parents: Sequence[int],
    root_translation: Float[NumpyArray, "*n 3"],
) -> BonePose:
    """Bones of a body whose rest joints are `joints` (metres), by forward kinematics."""
    rotations, centres = np.empty(local.shape), np.empty(local.shape[:-1])
    rotations[..., 0, :, :] = local[..., 0, :, :]
    centres[..., 0, :] = joints[0] + root_translation
    for j, p in enumerate(parents[1:], start=1):
        rotations[..., j, :, :] = rotations[..., p, :, :] @ local[..., j, :, :]
        centres[..., j, :] = centres[..., p, :] + rotations[..., p, :, :] @ (joints[j] - joints[p])
    return BonePose(centres, rotations, np.asarray(local))


def bone_speed(before: BonePose, now: BonePose, seconds: float) -> BoneSpeed:
    """Backward differences over `seconds`: ċ = (c − c')/h, ω = log(R R'ᵀ)/h."""
    turned = now.rotations @ np.swapaxes(before.rotations, -1, -2)
    return BoneSpeed(
        (now.centres - before.centres) / seconds, axis_angle_from_matrix(turned) / seconds
    )
