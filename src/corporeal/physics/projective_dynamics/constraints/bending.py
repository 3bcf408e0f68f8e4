"""Surface bending: the Laplacian of every vertex keeps its length (equation 2.17)."""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from corporeal._typing import Float64, Int, NumpyArray


@dataclass(frozen=True)
class BendingConstraint:
    """W = k A/2 ‖Δx − R Δx̄‖², one row a vertex."""

    matrix: csr_array
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


def cotangent_laplacian(
    rest: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> tuple[csr_array, Float64[NumpyArray, "V"]]:
    """Integrated Laplacian Σ_j (cot α + cot β)/2 (x_j − x_i), and the cell areas, m².

    Cells are a third of the incident triangles, which unlike Voronoi cells are never negative.
    """
    count = len(rest)
    matrix, areas = csr_array((count, count)), np.zeros(count)
    for corner in range(3):
        i, j, k = (triangles[:, (corner + step) % 3] for step in (0, 1, 2))
        to_j, to_k = rest[j] - rest[i], rest[k] - rest[i]
        twice_area = np.linalg.norm(np.cross(to_j, to_k), axis=1)
        cotangent = (to_j * to_k).sum(axis=1) / np.maximum(twice_area, 1e-12)
        matrix = matrix + csr_array((0.5 * cotangent, (j, k)), shape=(count, count))
        areas += np.bincount(i, twice_area / 6, minlength=count)
    matrix = matrix + matrix.T
    return csr_array(matrix - diags_array(matrix.sum(axis=1))), areas
