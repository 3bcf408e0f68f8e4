"""Soft anchors: vertices drawn to given places (section 2.2.1)."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray


@dataclass(frozen=True)
class AnchorConstraint:
    """W = k/2 ‖x − t‖². Hard anchors are no constraint: the system leaves those vertices out."""

    matrix: csr_array
    """Q, a 1 in the column of each row's vertex."""
    weights: Float64[NumpyArray, "rows"]
    """Stiffness k, N/m."""
    targets: Float64[NumpyArray, "rows 3"]
    """Places t, metres. Other places for the same vertices leave the matrix as it is."""

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p = t, wherever the vertex is."""
        return np.broadcast_to(self.targets, values.shape).astype(np.float64)


def anchor_constraint(
    vertices: Int[NumpyArray, "rows"],
    targets: Float64[NumpyArray, "rows 3"],
    stiffness: float,
    vertex_count: int,
) -> AnchorConstraint:
    """Anchors of `stiffness` N/m at `targets`, metres."""
    rows = len(vertices)
    matrix = csr_array((np.ones(rows), (np.arange(rows), vertices)), shape=(rows, vertex_count))
    return AnchorConstraint(matrix, np.full(rows, float(stiffness)), targets)
