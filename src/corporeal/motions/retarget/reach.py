"""Two-bone inverse kinematics as a correction: a limb keeps its own bend and only reaches."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.motions.retarget.alignment import swing

STRAIGHTEST: Final = 0.995
"""Share of its full reach that a leg is stretched to at most: 11 degrees of knee flexion.

Nearer to straight, a millimetre of hip height would be many degrees of knee.
"""
_EASE: Final = 0.98
"""From this share of its full reach on, a swinging leg resists being stretched further."""
_BENT: Final = 0.05
"""Sine of the least bend from which a limb's own hinge is taken."""


@dataclass(frozen=True)
class Bend:
    """|t + R_k(φ) s|² = a + r cos(φ − φ₀): root-to-end distance over extra flexion φ about k."""

    hinge: Float[NumpyArray, "N 3"]
    """k, unit axis in the frame of the upper bone."""
    constant: Float[NumpyArray, "N"]
    amplitude: Float[NumpyArray, "N"]
    straight: Float[NumpyArray, "N"]
    """φ₀, radians."""

    @property
    def longest(self) -> Float[NumpyArray, "N"]:
        """Distance from root to end with the middle joint straight, metres."""
        return np.sqrt(self.constant + self.amplitude)

    @property
    def reach(self) -> Float[NumpyArray, "N"]:
        """Greatest distance that a leg is stretched to, metres."""
        return STRAIGHTEST * self.longest

    def within_reach(
        self, distance: Float[NumpyArray, "N"], planted: Float[NumpyArray, "N"]
    ) -> Float[NumpyArray, "N"]:
        """`distance` cut off at the reach, sharply where `planted` is 1, gently where it is 0."""
        ease, room = _EASE * self.longest, (STRAIGHTEST - _EASE) * self.longest
        over = np.maximum(distance - ease, 0.0)
        gentle = np.minimum(distance, ease) + room * np.tanh(over / room)
        return planted * np.minimum(distance, self.reach) + (1 - planted) * gentle

    def flexion(self, distance: Float[NumpyArray, "N"]) -> Float[NumpyArray, "N"]:
        """φ that brings root and end `distance` metres apart, on the side to which k bends."""
        cosine = (distance**2 - self.constant) / self.amplitude
        return self.straight + np.arccos(np.clip(cosine, -1.0, 1.0))


def bend_of(
    upper: Float[NumpyArray, "3"],
    lower: Float[NumpyArray, "3"],
    middle: Float[NumpyArray, "N 3 3"],
    hinge: Float[NumpyArray, "N 3"],
) -> Bend:
    """How a limb's length depends on turning its lower bone further about `hinge`.

    `upper` and `lower` are the bones at rest (metres), `middle` the rotation between them.
    """
    t, s = upper, middle @ lower
    along = (hinge @ t) * np.sum(hinge * s, axis=-1)
    constant = t @ t + np.sum(s * s, axis=-1) + 2 * along
    cosine = 2 * (s @ t - along)
    sine = 2 * np.cross(hinge, s) @ t
    return Bend(hinge, constant, np.hypot(cosine, sine), np.arctan2(sine, cosine))


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
