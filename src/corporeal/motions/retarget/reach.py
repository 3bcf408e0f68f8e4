"""Two-bone inverse kinematics as a correction: the leg keeps its own bend and only reaches."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.motions.retarget.alignment import swing
from corporeal.motions.retarget.feet import Foot

STRAIGHTEST: Final = 0.995
"""Share of its full reach that a leg is stretched to at most: 11 degrees of knee flexion.

Nearer to straight, a millimetre of hip height would be many degrees of knee.
"""
_EASE: Final = 0.98
"""From this share of its full reach on, a swinging leg resists being stretched further."""


@dataclass(frozen=True)
class Bend:
    """|t + Rₓ(φ) s|² = a + r cos(φ − φ₀): hip-to-ankle distance over extra knee flexion φ."""

    constant: Float[NumpyArray, "N"]
    amplitude: Float[NumpyArray, "N"]
    straight: Float[NumpyArray, "N"]
    """φ₀, radians."""

    @property
    def reach(self) -> Float[NumpyArray, "N"]:
        """Greatest distance from hip to ankle, metres."""
        return STRAIGHTEST * np.sqrt(self.constant + self.amplitude)

    def within_reach(
        self, distance: Float[NumpyArray, "N"], planted: Float[NumpyArray, "N"]
    ) -> Float[NumpyArray, "N"]:
        """`distance` cut off at the reach, sharply where `planted` is 1, gently where it is 0."""
        ease, room = self.reach * (_EASE / STRAIGHTEST), self.reach * (1 - _EASE / STRAIGHTEST)
        over = np.maximum(distance - ease, 0.0)
        gentle = np.minimum(distance, ease) + room * np.tanh(over / room)
        return planted * np.minimum(distance, self.reach) + (1 - planted) * gentle

    def flexion(self, distance: Float[NumpyArray, "N"]) -> Float[NumpyArray, "N"]:
        """φ that brings hip and ankle `distance` metres apart; the knee bends backwards."""
        cosine = (distance**2 - self.constant) / self.amplitude
        return self.straight + np.arccos(np.clip(cosine, -1.0, 1.0))


def bend_of(foot: Foot, knee: Float[NumpyArray, "N 3 3"]) -> Bend:
    """How a leg's length depends on turning its shank further about the thigh's x axis.

    `knee` is the rotation of shank relative to thigh.
    """
    t, s = foot.thigh, knee @ foot.shank
    constant = t @ t + np.sum(s * s, axis=-1) + 2 * t[0] * s[:, 0]
    cosine = 2 * (t[1] * s[:, 1] + t[2] * s[:, 2])
    sine = 2 * (t[2] * s[:, 1] - t[1] * s[:, 2])
    return Bend(constant, np.hypot(cosine, sine), np.arctan2(sine, cosine))


def reach(
    foot: Foot,
    thigh_frames: Float[NumpyArray, "N 3 3"],
    shank_frames: Float[NumpyArray, "N 3 3"],
    hip: Float[NumpyArray, "N 3"],
    ankle: Float[NumpyArray, "N 3"],
    planted: Float[NumpyArray, "N"],
) -> tuple[Float[NumpyArray, "N 3 3"], Float[NumpyArray, "N 3 3"]]:
    """World rotations of thigh and shank that put the ankle at `ankle` (metres).

    The knee bends further or less about the thigh's own x axis, then the whole leg swings by the
    shortest way. One asked too far points there, and stops sharply where `planted` is 1 (the
    pelvis was lowered for it) or gently where it is 0.
    """
    knee = np.swapaxes(thigh_frames, -1, -2) @ shank_frames
    bend = bend_of(foot, knee)
    way = ankle - hip
    flexion = bend.flexion(bend.within_reach(np.linalg.norm(way, axis=-1), planted))
    turn = np.zeros((len(flexion), 3))
    turn[:, 0] = flexion
    bent = matrix_from_axis_angle(turn) @ knee
    tip = (thigh_frames @ (foot.thigh + bent @ foot.shank)[..., None])[..., 0]
    thigh = swing(tip, way) @ thigh_frames
    return thigh, thigh @ bent
