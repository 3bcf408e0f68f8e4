"""The ground: everything below y = 0."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.contact.colliders.shape import Distances
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class Ground:
    """A half-space with the normal +y; placed elsewhere by its collider."""

    def distances(self, points: Float64[NumpyArray, "n 3"]) -> Distances:
        """Height over the plane, and up."""
        return points[:, 1].copy(), np.broadcast_to([0.0, 1.0, 0.0], points.shape).copy()
