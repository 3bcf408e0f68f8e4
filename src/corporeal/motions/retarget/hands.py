"""Hands that do not dive into the ground, as in a cartwheel or a push-up.

The wrist bends back first, as it does under weight; what is still in the ground then raises the
arm. Many rigs have no wrists, and their hands go on straight into the floor.
"""

from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.motions.retarget.alignment import about_vertical, heading
from corporeal.motions.retarget.ground import upper_envelope
from corporeal.motions.retarget.reach import own_hinge, reach
from corporeal.motions.two_bones import bend_of

_FINGERS: Final = ("index", "middle", "pinky", "ring", "thumb")
_FLESH: Final = 0.012
"""Skin over the joints of a hand, metres."""
_TILT: Final = np.deg2rad(15.0)
"""How far from flat on its palm a hand on the floor may be left whose fingers were in it."""
_BEND_S: Final = 0.12
"""Half width of the window over which a wrist bends before the hand would touch, seconds."""
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


def hands_above_ground(
    skeleton: Skeleton,
    side: str,
    frames: Float[NumpyArray, "N J 3 3"],
    joints: Float[NumpyArray, "N J 3"],
    on_floor: Bool[NumpyArray, "N"],
    fps: float,
) -> dict[int, Float[NumpyArray, "N 3 3"]]:
    """New world rotations of the joints of a hand on the floor whose fingers would be in it.

    The hand turns about its wrist towards lying flat on its palm, by as much as is needed for
    that, and until it is nearly flat: none stands on its edge.
    """
    wrist = skeleton.index(f"{side}_wrist")
    hand = [wrist]
    for joint, parent in enumerate(skeleton.parents):
        if parent in hand:
            hand.append(joint)
    turns = frames[:, wrist]
    inverse = np.swapaxes(turns, -1, -2)
    points = _hand_points(skeleton, side, wrist, joints)[:, 1:] - joints[:, wrist][:, None]
    own = np.swapaxes(inverse @ np.swapaxes(points, -1, -2), -1, -2)
    deepest = joints[:, wrist, 1] + points[..., 1].min(axis=1, initial=0.0)
    deep = on_floor & (deepest < _FLESH)
    if points.shape[1] == 0 or not deep.any():
        return {}
    # Flat on the palm: fingers where they point, or, of a hand on end, where its back looks.
    outwards = np.array([1.0 if side == "left" else -1.0, 0.0, 0.0])
    ahead = turns @ outwards + 0.5 * (turns @ np.array([0.0, 1.0, 0.0]))
    flat = about_vertical(heading(ahead) - heading(outwards))
    way = axis_angle_from_matrix(inverse @ flat)
    needed = np.zeros(len(deep))
    for part in np.linspace(1.0, 0.0, 11)[:-1]:
        tried = (turns @ matrix_from_axis_angle(part * way))[:, 1]
        lowest = joints[:, wrist, 1] + np.einsum("nk,npk->np", tried, own).min(axis=1)
        needed = np.where(deep & (lowest >= _FLESH), part, needed)
    needed = np.where(deep & (needed == 0.0), 1.0, needed)
    tilt = np.maximum(np.linalg.norm(way, axis=1), 1e-9)
    needed = np.where(deep, np.maximum(needed, 1.0 - _TILT / tilt), 0.0)
    share = np.minimum(upper_envelope(needed, max(round(_BEND_S * fps), 1)), 1.0)
    turn = turns @ matrix_from_axis_angle(share[:, None] * way) @ inverse
    return {joint: turn @ frames[:, joint] for joint in hand}


def palm_height(skeleton: Skeleton) -> float:
    """Height of the wrists with both palms flat on the ground, metres, as in the T-pose's hands."""
    rest = np.asarray(skeleton.joints, np.float64)[None]
    height = 0.0
    for side in ("left", "right"):
        wrist = skeleton.index(f"{side}_wrist")
        lowest = _hand_points(skeleton, side, wrist, rest)[..., 1].min()
        height = max(height, float(rest[0, wrist, 1] - lowest) + _FLESH)
    return height


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
