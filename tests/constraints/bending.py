"""Surface bending: the Laplacian of every vertex keeps its length (equation 2.17)."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.geometry.laplacian import cotangent_laplacian


@dataclass(frozen=True)
class BendingConstraint:
    """W = k A/2 ‖Δx − R Δx̄‖², one row a vertex."""

    matrix: csr_array
    """Q, the Laplacian of every vertex, 1/m²."""
    weights: Float64[NumpyArray, "rows"]
    """Stiffness times cell area."""
    curvatures: Float64[NumpyArray, "rows"]
    """‖Δx̄‖ at rest, 1/m."""

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p = Δx scaled to the rest length: the best rotation of Δx̄ points along Δx."""
        length = np.linalg.norm(values, axis=1)
        return values * (self.curvatures / np.maximum(length, np.finfo(float).tiny))[:, None]


def bending_constraint(
    rest: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"], stiffness: float
) -> BendingConstraint:
    """Bending of the surface with `stiffness` in N·m (energy a squared curvature and area)."""
    laplacian, areas = cotangent_laplacian(rest, triangles)
    used = np.flatnonzero(areas > 0)
    matrix = csr_array(diags_array(1.0 / areas[used]) @ laplacian[used])
    curvatures = np.linalg.norm(matrix @ rest, axis=1)
    return BendingConstraint(matrix, stiffness * areas[used], curvatures)
