"""A capsule: a cylinder with round ends."""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.physics.contact.colliders.shape import Distances, require_lengths
from corporeal.physics.contact.colliders.sphere import round_distances
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("radius", "length"))
class Capsule:
    """Round a segment of the y axis, its middle at the origin."""

    radius: float
    """Metres."""
    length: float
    """Of the segment, without the round ends, metres."""

    def check(self) -> None:
        """Raise `InputError` unless radius and length are finite and above 0."""
        require_lengths("capsule radius and length", self.radius, self.length)

    def distances(self, points: Float64[NumpyArray, "n 3"]) -> Distances:
        """|p − q| − r for the closest point q of the segment."""
        half = 0.5 * self.length
        along = np.clip(points[:, 1], -half, half)
        axis = np.stack([0.0 * along, along, 0.0 * along], axis=1)
        return round_distances(points - axis, self.radius)
