"""Two-bone inverse kinematics as a correction: a limb keeps its own bend and only reaches."""

from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.motions.retarget.alignment import swing
from corporeal.motions.two_bones import Bend

STRAIGHTEST: Final = 0.995
"""Share of its full reach that a leg is stretched to at most: 11 degrees of knee flexion.

Nearer to straight, a millimetre of hip height would be many degrees of knee.
"""
_EASE: Final = 0.98
"""From this share of its full reach on, a swinging leg resists being stretched further."""
_BENT: Final = 0.05
"""Sine of the least bend from which a limb's own hinge is taken."""


def within_reach(
    bend: Bend, distance: Float[NumpyArray, "N"], planted: Float[NumpyArray, "N"]
) -> Float[NumpyArray, "N"]:
    """`distance` cut off at the reach, sharply where `planted` is 1, gently where it is 0."""
    ease, room = _EASE * bend.longest, (STRAIGHTEST - _EASE) * bend.longest
    over = np.maximum(distance - ease, 0.0)
    gentle = np.minimum(distance, ease) + room * np.tanh(over / room)
    return planted * np.minimum(distance, furthest(bend)) + (1 - planted) * gentle


def furthest(bend: Bend) -> Float[NumpyArray, "N"]:
    """Greatest distance that a leg is stretched to, metres."""
    return STRAIGHTEST * bend.longest


def own_hinge(
    upper: Float[NumpyArray, "3"],
    lower: Float[NumpyArray, "3"],
    middle: Float[NumpyArray, "N 3 3"],
    otherwise: Float[NumpyArray, "3"],
) -> Float[NumpyArray, "N 3"]:
    """The axis about which a limb is bent right now; `otherwise` where it is almost straight."""
    across = np.cross(upper, middle @ lower)
    size = np.linalg.norm(across, axis=-1, keepdims=True)
    clear = size > _BENT * np.linalg.norm(upper) * np.linalg.norm(lower)
    return np.where(clear, across / np.maximum(size, 1e-300), otherwise)


def reach(
    bend: Bend,
    upper: Float[NumpyArray, "3"],
    lower: Float[NumpyArray, "3"],
    upper_frames: Float[NumpyArray, "N 3 3"],
    lower_frames: Float[NumpyArray, "N 3 3"],
    way: Float[NumpyArray, "N 3"],
    distance: Float[NumpyArray, "N"],
) -> tuple[Float[NumpyArray, "N 3 3"], Float[NumpyArray, "N 3 3"]]:
    """World rotations of both bones that put the end `distance` metres along `way` from the root.

    The middle joint bends further or less about the hinge, then the whole limb swings by the
    shortest way.
    """
    middle = np.swapaxes(upper_frames, -1, -2) @ lower_frames
    bent = matrix_from_axis_angle(bend.flexion(distance)[:, None] * bend.hinge) @ middle
    tip = (upper_frames @ (upper + bent @ lower)[..., None])[..., 0]
    turned = swing(tip, way) @ upper_frames
    return turned, turned @ bent
