"""A box."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.contact.colliders.shape import Distances, require_lengths
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("size",))
class Box:
    """Its middle at the origin, its edges along the axes."""

    size: tuple[float, float, float]
    """Edge lengths along x, y and z, metres."""

    def check(self) -> None:
        """Raise `InputError` unless edges are finite and above 0."""
        require_lengths("box edges", *self.size)

    def distances(self, points: Float64[NumpyArray, "n 3"]) -> Distances:
        """From the closest point of the box; inside, from the closest face."""
        half = 0.5 * np.asarray(self.size)
        beyond = np.abs(points) - half
        side = np.where(points < 0.0, -1.0, 1.0)
        outside = np.maximum(beyond, 0.0)
        distance = np.linalg.norm(outside, axis=1)
        face = beyond.argmax(axis=1)
        rows = np.arange(len(points))
        nearest = np.zeros_like(points)
        nearest[rows, face] = side[rows, face]
        length = np.where(distance > 0.0, distance, 1.0)[:, None]
        normals = np.where(distance[:, None] > 0.0, side * outside / length, nearest)
        return np.where(distance > 0.0, distance, beyond[rows, face]), normals
