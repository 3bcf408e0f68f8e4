"""Movements whose legs do not pass through each other: feet and calves of a retargeted clip.

The clip of one actor, given to a wider body, may send a foot through the other calf. Legs are then
spread: each hip turns its leg sideways, the ankle turns back so that the sole stays as it was, and
the root comes down by as much as the lower foot would leave the ground. As with arms, each frame
tells how far, and what is done changes smoothly (`moving_clearance.eased`).
"""

from typing import Final

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.capture.clearance import LEGS, Capsules
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.skinning.kinematics import forward_kinematics

_STEP: Final = np.deg2rad(1.5)
_MOST: Final = np.deg2rad(21.0)
"""Radians by which each leg is spread at once, and at most."""
_SIDES: Final = (("left", 1.0), ("right", -1.0))
_CHAIN: Final = ("hip", "knee", "ankle")


def leg_pairs(capsules: Capsules) -> Bool[NumpyArray, "o"]:
    """Overlaps between one leg and the other."""
    owners = capsules.limbs[capsules.bones[:, 0]][capsules.pairs]
    chosen = np.zeros(len(capsules.pairs) + len(capsules.bones) * capsules.places, bool)
    chosen[: len(capsules.pairs)] = np.isin(owners, LEGS).all(axis=1) & (
        owners[:, 0] != owners[:, 1]
    )
    return chosen


def asked_spread(
    capsules: Capsules,
    skeleton: Skeleton,
    rotations: Float64[NumpyArray, "J 3"],
    allowed: Float64[NumpyArray, "o"],
) -> float:
    """By how much each leg must be spread to be clear of the other, radians; the most that is done
    where nothing is enough, 0 where that makes nothing better."""
    pairs = leg_pairs(capsules)
    spread, deepest = 0.0, _excess(capsules, rotations, allowed, pairs)
    before = deepest
    while deepest > 0.0 and spread < _MOST:
        spread += _STEP
        turned, _ = spread_legs(capsules, skeleton, rotations[None], np.array([spread]))
        deepest = _excess(capsules, turned[0], allowed, pairs)
    return spread if deepest < before else 0.0


def _excess(
    capsules: Capsules,
    rotations: Float64[NumpyArray, "J 3"],
    allowed: Float64[NumpyArray, "o"],
    pairs: Bool[NumpyArray, "o"],
) -> float:
    return float((capsules.overlaps(rotations) - allowed)[pairs].max(initial=-np.inf))


def spread_legs(
    capsules: Capsules,
    skeleton: Skeleton,
    rotations: Float64[NumpyArray, "N J 3"],
    spread: Float64[NumpyArray, "N"],
) -> tuple[Float64[NumpyArray, "N J 3"], Float64[NumpyArray, "N"]]:
    """Poses with each leg turned sideways by `spread` radians, soles as they were; and how far the
    lower ankle has come up, metres.

    A leg along d, seen from the pelvis, turns about d × x for the side x it is on.
    """
    turned = rotations.copy()
    frames = _frames(capsules, rotations)
    ankles = [skeleton.index(f"{side}_ankle") for side, _ in _SIDES]
    for side, sign in _SIDES:
        hip, knee, ankle = (skeleton.index(f"{side}_{joint}") for joint in _CHAIN)
        pelvis = frames[:, skeleton.parents[hip], :3, :3]
        along = np.einsum("nji,nj->ni", pelvis, frames[:, ankle, :3, 3] - frames[:, hip, :3, 3])
        along /= np.maximum(np.linalg.norm(along, axis=1, keepdims=True), 1e-9)
        axis = np.cross(along, [sign, 0.0, 0.0])
        turn = matrix_from_axis_angle(spread[:, None] * axis)
        thigh, shin, foot = (matrix_from_axis_angle(rotations[:, j]) for j in (hip, knee, ankle))
        leg = thigh @ shin
        turned[:, hip] = axis_angle_from_matrix(turn @ thigh)
        turned[:, ankle] = axis_angle_from_matrix(
            np.swapaxes(leg, 1, 2) @ np.swapaxes(turn, 1, 2) @ leg @ foot
        )
    turned[spread == 0.0] = rotations[spread == 0.0]
    low, after = (
        _frames(capsules, poses)[:, ankles, 1, 3].min(axis=1) for poses in (rotations, turned)
    )
    return turned, after - low


def _frames(
    capsules: Capsules, rotations: Float64[NumpyArray, "N J 3"]
) -> Float64[NumpyArray, "N J 4 4"]:
    """World frames of poses whose root stays."""
    joints = np.broadcast_to(capsules.joints, rotations.shape)
    roots = np.zeros((len(rotations), 3))
    return np.asarray(forward_kinematics(rotations, joints, capsules.parents, roots))
