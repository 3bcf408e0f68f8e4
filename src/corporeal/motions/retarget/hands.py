"""Hands that do not dive into the ground, as in a cartwheel or a push-up."""

from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.motions.retarget.ground import upper_envelope
from corporeal.motions.retarget.reach import own_hinge, reach
from corporeal.motions.two_bones import bend_of

_FINGERS: Final = ("index", "middle", "pinky", "ring", "thumb")
_FLESH: Final = 0.012
"""Skin over the joints of a hand, metres."""
_LIFT_S: Final = 0.04
"""Half width of the window over which a hand is raised before it would touch, seconds."""


def arms_above_ground(
    skeleton: Skeleton,
    side: str,
    frames: Float[NumpyArray, "N J 3 3"],
    joints: Float[NumpyArray, "N J 3"],
    fps: float,
) -> dict[int, Float[NumpyArray, "N 3 3"]]:
    """New world rotations of upper arm and forearm, by joint, at frames where the hand was lower.

    The wrist is raised by what the lowest point of the hand is under y = 0, along a smooth curve;
    the hand keeps its orientation.
    """
    shoulder, elbow, wrist = (
        skeleton.index(f"{side}_{joint}") for joint in ("shoulder", "elbow", "wrist")
    )
    lowest = _hand_points(skeleton, side, wrist, joints)[..., 1].min(axis=1)
    lift = upper_envelope(np.maximum(_FLESH - lowest, 0.0), max(round(_LIFT_S * fps), 1))
    dived = np.flatnonzero(lift)
    if len(dived) == 0:
        return {}
    rest = np.asarray(skeleton.joints, np.float64)
    upper, lower = rest[elbow] - rest[shoulder], rest[wrist] - rest[elbow]
    arm, forearm = frames[dived, shoulder], frames[dived, elbow]
    between = np.swapaxes(arm, -1, -2) @ forearm
    forwards = np.array([0.0, -1.0 if side == "left" else 1.0, 0.0])
    bend = bend_of(upper, lower, between, own_hinge(upper, lower, between, forwards))
    way = joints[dived, wrist] - joints[dived, shoulder]
    way[:, 1] += lift[dived]
    distance = np.minimum(np.linalg.norm(way, axis=-1), bend.longest)
    arms = frames[:, shoulder].copy(), frames[:, elbow].copy()
    arms[0][dived], arms[1][dived] = reach(bend, upper, lower, arm, forearm, way, distance)
    return {shoulder: arms[0], elbow: arms[1]}


def _hand_points(
    skeleton: Skeleton, side: str, wrist: int, joints: Float[NumpyArray, "N J 3"]
) -> Float[NumpyArray, "N n 3"]:
    """Wrist, knuckles and finger tips; a tip is as far beyond the last knuckle as that bone."""
    points = [joints[:, wrist]]
    for finger in _FINGERS:
        names = [f"{side}_{finger}{knuckle}" for knuckle in (1, 2, 3)]
        if all(name in skeleton.names for name in names):
            first, second, third = (joints[:, skeleton.index(name)] for name in names)
            points += [first, second, third, 2 * third - second]
    return np.stack(points, axis=1)
