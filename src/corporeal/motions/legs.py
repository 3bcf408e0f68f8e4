"""Legs that reach: two-bone inverse kinematics from the hip to a foot on the ground."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.errors import InputError
from corporeal.motions.two_bones import Bend, bend_of


@dataclass(frozen=True)
class Leg:
    """Rest geometry of one leg, metres. At rest the knee's hinge is the world's x axis."""

    hip: Float[NumpyArray, "3"]
    """From the pelvis joint to the hip."""
    thigh: Float[NumpyArray, "3"]
    """From the hip to the knee."""
    shank: Float[NumpyArray, "3"]
    """From the knee to the ankle."""
    foot: Float[NumpyArray, "3"]
    """From the ankle to the ball of the foot."""
    ball_height: float
    """Height of the ball-of-foot joint over the ground, sole flat."""

    @property
    def reach(self) -> float:
        """Greatest distance from hip to ankle, knee straight."""
        return float(self._bend.longest[0])

    def knee_angle(self, distance: Float[NumpyArray, "N"]) -> Float[NumpyArray, "N"]:
        """Flexion about the x axis, radians, at which hip and ankle are `distance` apart."""
        if np.any(distance > self.reach * (1.0 + 1e-9)):
            raise InputError(
                f"leg of reach {self.reach:.3f} m asked to span {distance.max():.3f} m; "
                f"expected less. Lower the body or bring the feet nearer."
            )
        return self._bend.flexion(distance)

    @cached_property
    def _bend(self) -> Bend:
        return bend_of(self.thigh, self.shank, np.eye(3)[None], np.array([[1.0, 0.0, 0.0]]))


def leg_rotations(
    leg: Leg,
    ankle_from_hip: Float[NumpyArray, "N 3"],
    knee_axis: Float[NumpyArray, "N 3"],
) -> tuple[Float[NumpyArray, "N 3 3"], Float[NumpyArray, "N 3 3"]]:
    """Hip and knee rotation matrices that put the ankle at `ankle_from_hip`, in pelvis axes.

    `knee_axis` is the wanted direction of the knee's hinge, pointing to the body's left; only its
    part perpendicular to the line from hip to ankle counts.
    """
    flexion = leg.knee_angle(np.linalg.norm(ankle_from_hip, axis=-1))
    cos, sin = np.cos(flexion), np.sin(flexion)
    knee = np.zeros((len(flexion), 3, 3))
    knee[:, 0, 0] = 1.0
    knee[:, 1, 1] = knee[:, 2, 2] = cos
    knee[:, 2, 1], knee[:, 1, 2] = sin, -sin
    bent = leg.thigh + knee @ leg.shank
    rest_axis = np.broadcast_to(np.array([1.0, 0.0, 0.0]), bent.shape)
    hip = _frame(ankle_from_hip, knee_axis) @ np.swapaxes(_frame(bent, rest_axis), -1, -2)
    return hip, knee


def _frame(
    along: Float[NumpyArray, "N 3"], lateral: Float[NumpyArray, "N 3"]
) -> Float[NumpyArray, "N 3 3"]:
    """Right-handed orthonormal columns: `along`, the part of `lateral` across it, their product."""
    first = along / np.linalg.norm(along, axis=-1, keepdims=True)
    second = lateral - np.sum(lateral * first, axis=-1, keepdims=True) * first
    second = second / np.linalg.norm(second, axis=-1, keepdims=True)
    return np.stack([first, second, np.cross(first, second)], axis=-1)
