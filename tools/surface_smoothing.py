"""Smoothing of fields on a surface: a thin plate that is pulled towards the field."""

from collections.abc import Callable

import numpy as np
import scipy.sparse as sparse
from scipy.sparse.linalg import splu

SMALLEST_COTANGENT = 0.05
"""Keeps the Laplacian an M-matrix, and so the smoothing stable, at obtuse corners."""


def cotangent_laplacian(
    vertices: np.ndarray, triangles: np.ndarray
) -> tuple[sparse.csc_matrix, np.ndarray]:
    """Positive semidefinite stiffness matrix, and the area of every vertex, m²."""
    count = len(vertices)
    rows, columns, weights = [], [], []
    areas = np.zeros(count)
    for corner in range(3):
        at, i, j = (triangles[:, (corner + k) % 3] for k in range(3))
        one, other = vertices[i] - vertices[at], vertices[j] - vertices[at]
        doubled = np.linalg.norm(np.cross(one, other), axis=1)
        cotangent = np.einsum("fi,fi->f", one, other) / np.maximum(doubled, 1e-14)
        rows += [i, j]
        columns += [j, i]
        weights += [np.clip(cotangent, SMALLEST_COTANGENT, 20.0) / 2] * 2
        np.add.at(areas, at, doubled / 6)
    ends = (np.concatenate(rows), np.concatenate(columns))
    adjacency = sparse.csr_matrix((np.concatenate(weights), ends), shape=(count, count))
    degree = sparse.diags(np.asarray(adjacency.sum(axis=1)).ravel())
    return (degree - adjacency).tocsc(), np.maximum(areas, 1e-9)


def plate_smoother(
    vertices: np.ndarray, triangles: np.ndarray, length: float
) -> Callable[[np.ndarray], np.ndarray]:
    """The map f ↦ argmin ∫ |u − f|² + length⁴ |Δu|²: details shorter than `length` (metres) go.

    The matrix M + length⁴ L M⁻¹ L is sparse, symmetric positive definite, and factored once.
    """
    stiffness, areas = cotangent_laplacian(vertices, triangles)
    bending = stiffness @ sparse.diags(1 / areas) @ stiffness
    factor = splu((sparse.diags(areas) + length**4 * bending).tocsc())
    return lambda field: factor.solve(areas.reshape(-1, *[1] * (field.ndim - 1)) * field)
