"""Affine maps: how a bone comes to its place."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, NumpyArray


@dataclass(frozen=True, eq=False)
class Affine:
    """x' = matrix x + shift."""

    matrix: Float64[NumpyArray, "3 3"]
    """Linear part, without unit."""
    shift: Float64[NumpyArray, "3"]
    """Translation, metres."""

    def __call__(self, points: Float64[NumpyArray, "*n 3"]) -> Float64[NumpyArray, "*n 3"]:
        return points @ self.matrix.T + self.shift

    def after(self, first: "Affine") -> "Affine":
        """This one applied to the result of `first`."""
        return Affine(self.matrix @ first.matrix, self.matrix @ first.shift + self.shift)

    def mirrored(self) -> "Affine":
        """The same for the other side of the plane x = 0."""
        flip = np.diag([-1.0, 1.0, 1.0])
        return Affine(flip @ self.matrix @ flip, flip @ self.shift)
