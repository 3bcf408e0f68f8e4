"""A ball."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.contact.colliders.shape import Distances, require_lengths
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("radius",))
class Sphere:
    """Round the origin."""

    radius: float
    """Metres."""

    def check(self) -> None:
        """Raise `InputError` unless the radius is finite and above 0."""
        require_lengths("sphere radius", self.radius)

    def distances(self, points: Float64[NumpyArray, "n 3"]) -> Distances:
        """|p| − r, and away from the centre."""
        return round_distances(points, self.radius)


def round_distances(offsets: Float64[NumpyArray, "n 3"], radius: float) -> Distances:
    """Distances from what lies `radius` around the origin of the offsets; up, at that origin."""
    length = np.linalg.norm(offsets, axis=1)
    up = np.broadcast_to([0.0, 1.0, 0.0], offsets.shape)
    away = np.where(length[:, None] > 0.0, offsets, up)
    return length - radius, away / np.linalg.norm(away, axis=1, keepdims=True)
