"""Signed distance to a shape on a grid, of one half of a symmetric body."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float32, Float64, NumpyArray


@dataclass(frozen=True, eq=False)
class DistanceField:
    """Distance φ to a surface, negative inside; the side x < 0 mirrors the side x > 0."""

    origin: Float64[NumpyArray, "3"]
    """Position of the first sample, metres."""
    spacing: float
    """Of the samples, metres."""
    values: Float32[NumpyArray, "nx ny nz"]
    """φ at the samples, metres."""

    def distance(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n"]:
        """φ between the samples; beyond the grid, that of its edge."""
        from scipy.ndimage import map_coordinates

        folded = points * [1.0, 1.0, 1.0]
        folded[:, 0] = np.abs(points[:, 0])
        places = ((folded - self.origin) / self.spacing).T
        return map_coordinates(self.values, places, order=1, mode="nearest").astype(np.float64)

    def normal(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n 3"]:
        """∇φ by central differences, made a unit vector: outward."""
        step = self.spacing
        slopes = [
            self.distance(points + step * axis) - self.distance(points - step * axis)
            for axis in np.eye(3)
        ]
        gradient = np.stack(slopes, axis=1)
        length = np.linalg.norm(gradient, axis=1, keepdims=True)
        return gradient / np.maximum(length, 1e-12)

    def project(
        self, points: Float64[NumpyArray, "n 3"], rounds: int = 6
    ) -> Float64[NumpyArray, "n 3"]:
        """The surface point below or above every point: x ← x − φ ∇φ, repeated."""
        place = points.copy()
        for _ in range(rounds):
            place = place - self.distance(place)[:, None] * self.normal(place)
        return place

    def retreat(
        self,
        inner: Float64[NumpyArray, "n 3"],
        outer: Float64[NumpyArray, "n 3"],
        clearance: float = 0.0,
    ) -> Float64[NumpyArray, "n 3"]:
        """Back from `inner` towards `outer` to the first place with φ ≥ `clearance`, metres."""
        shares = np.linspace(0.0, 1.0, 41)
        place, done = outer.copy(), np.zeros(len(inner), bool)
        for share in shares:
            trial = (1 - share) * inner + share * outer
            free = ~done & (self.distance(trial) >= clearance)
            place[free] = trial[free]
            done |= free
        return place
