"""The cotangent Laplacian of a surface."""

from typing import TYPE_CHECKING

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray

if TYPE_CHECKING:
    from scipy.sparse import csr_array


def cotangent_laplacian(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    least: float = -np.inf,
    most: float = np.inf,
) -> "tuple[csr_array, Float64[NumpyArray, 'V']]":
    """Integrated Laplacian Σ_j (cot α + cot β)/2 (x_j − x_i), and the cell areas, m².

    Cells are a third of the incident triangles, which unlike Voronoi cells are never negative.
    Cotangents are taken from `least` to `most`: from 0 on, smoothing keeps what it smooths within
    its bounds. Triangles without area have cotangent 0.
    """
    from scipy.sparse import csr_array, diags_array

    count = len(vertices)
    matrix, areas = csr_array((count, count)), np.zeros(count)
    for corner in range(3):
        i, j, k = (triangles[:, (corner + step) % 3] for step in (0, 1, 2))
        to_j, to_k = vertices[j] - vertices[i], vertices[k] - vertices[i]
        twice_area = np.linalg.norm(np.cross(to_j, to_k), axis=1)
        cotangent = (to_j * to_k).sum(axis=1) / np.maximum(twice_area, 1e-12)
        cotangent = np.clip(np.where(twice_area > 0, cotangent, 0.0), least, most)
        matrix = matrix + csr_array((0.5 * cotangent, (j, k)), shape=(count, count))
        areas += np.bincount(i, twice_area / 6, minlength=count)
    matrix = matrix + matrix.T
    return csr_array(matrix - diags_array(matrix.sum(axis=1))), areas
