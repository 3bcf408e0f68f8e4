"""A hand at rest: fingers together and a little bent, the thumb along the palm.

A sculptor's T-pose spreads the fingers, so that they can be told apart. At rest they lie almost
side by side, and every knuckle is bent, more towards the little finger (the arcade of a hand that
does nothing). The yaw ψ of a finger in the rest pose, about the vertical and from the hand's own
direction, becomes s ψ; then it is bent about the axis across itself.
"""

from functools import lru_cache
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    matrix_from_axis_angle,
)

SPREAD: Final = 0.25
"""s: share of the rest pose's spread that is left; at 0 the flesh of neighbours would touch."""
CURL: Final = {
    "index": (0.20, 0.30, 0.18),
    "middle": (0.26, 0.36, 0.22),
    "ring": (0.32, 0.40, 0.24),
    "pinky": (0.36, 0.40, 0.24),
}
"""Flexion of the three knuckles, radians."""
_THUMB: Final = (0.74, -0.55, 0.42)
"""Direction of a left thumb at rest, seen in the T-pose: along the palm, below the index finger.
Further in, the skin between them would fold into itself."""
_THUMB_BENT: Final = 0.16
"""Flexion of each of the thumb's outer joints, radians."""


def relaxed_hands(skeleton: Skeleton) -> Float[NumpyArray, "J 3"]:
    """Rotation vectors of a T-posed body's relaxed hands, radians; 0 for all other joints."""
    return _relaxed(skeleton.names, np.asarray(skeleton.joints, np.float64).tobytes()).copy()


@lru_cache(maxsize=16)
def _relaxed(names: tuple[str, ...], places: bytes) -> Float[NumpyArray, "J 3"]:
    joints = np.frombuffer(places).reshape(-1, 3)
    rotations = np.zeros((len(names), 3))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        if f"{side}_wrist" not in names:
            continue

        def place(joint: str, side: str = side) -> Float[NumpyArray, "3"]:
            return joints[names.index(f"{side}_{joint}")]

        for finger, curl in CURL.items():
            if not {f"{side}_{finger}{knuckle}" for knuckle in (1, 2, 3)} <= set(names):
                continue
            hand = place("middle1") - place("wrist") if f"{side}_middle1" in names else [sign, 0, 0]
            along = place(f"{finger}2") - place(f"{finger}1")
            turned = _yaw(along) - _yaw(np.asarray(hand, np.float64))
            turned = (turned + np.pi) % (2 * np.pi) - np.pi
            together = matrix_from_axis_angle(np.array([0.0, (1 - SPREAD) * turned, 0.0]))
            flat = np.array([along[0], 0.0, along[2]]) / np.hypot(along[0], along[2])
            across = np.cross(flat, [0.0, -1.0, 0.0])
            for knuckle, angle in enumerate(curl, start=1):
                # R_x(θ) takes a finger along `flat` down: flat × (−y) is its axis
                turn = matrix_from_axis_angle(angle * across)
                joint = names.index(f"{side}_{finger}{knuckle}")
                rotations[joint] = axis_angle_from_matrix(together @ turn if knuckle == 1 else turn)
        if {f"{side}_thumb{knuckle}" for knuckle in (1, 2, 3)} <= set(names):
            rotations[[names.index(f"{side}_thumb{k}") for k in (1, 2, 3)]] = _thumb(
                place("thumb2") - place("thumb1"), sign
            )
    return rotations


def _thumb(along: Float[NumpyArray, "3"], sign: float) -> Float[NumpyArray, "three 3"]:
    """Rotation vectors of a thumb's joints: laid along the palm, then bent towards it."""
    along = along / np.linalg.norm(along)
    wanted = np.array([sign * _THUMB[0], _THUMB[1], _THUMB[2]])
    wanted /= np.linalg.norm(wanted)
    axis = np.cross(along, wanted)
    angle = np.arctan2(np.linalg.norm(axis), along @ wanted)
    first = angle * axis / max(float(np.linalg.norm(axis)), 1e-9)
    # a thumb bends across the palm: about the axis that is square to itself and leads it inwards
    inwards = np.array([0.0, -0.35, -1.0])
    bend = np.cross(along, inwards)
    bend *= _THUMB_BENT / np.linalg.norm(bend)
    return np.stack([first, bend, bend])


def _yaw(direction: Float[NumpyArray, "3"]) -> float:
    """Angle about the vertical of a direction, radians: what a turn by −ψ about y takes x to."""
    return float(np.arctan2(direction[2], direction[0]))
