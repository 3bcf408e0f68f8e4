"""Springs that keep two vertices at a distance (section 2.2.1)."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray


@dataclass(frozen=True)
class SpringConstraint:
    """W = k/2 (‖x₁ − x₀‖ − L)²."""

    matrix: csr_array
    """Q, −1 and 1 in the columns of a spring's ends."""
    weights: Float64[NumpyArray, "rows"]
    """Stiffness k, N/m."""
    lengths: Float64[NumpyArray, "rows"]
    """Rest lengths L, metres."""

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p = L (x₁ − x₀)/‖x₁ − x₀‖; a spring of no length stays where it is."""
        length = np.linalg.norm(values, axis=1)
        return values * (self.lengths / np.maximum(length, np.finfo(float).tiny))[:, None]


def spring_constraint(
    rest: Float64[NumpyArray, "V 3"], pairs: Int[NumpyArray, "rows 2"], axial_stiffness: float
) -> SpringConstraint:
    """Springs at rest in `rest`, cut from a rod of `axial_stiffness` EA, newtons.

    k = EA/L, so that a rod divided into shorter springs keeps its stiffness as a whole.
    """
    rows = len(pairs)
    lengths = np.linalg.norm(rest[pairs[:, 1]] - rest[pairs[:, 0]], axis=1)
    values = np.tile([-1.0, 1.0], rows)
    matrix = csr_array(
        (values, (np.repeat(np.arange(rows), 2), pairs.ravel())), shape=(rows, len(rest))
    )
    return SpringConstraint(matrix, axial_stiffness / lengths, lengths)
