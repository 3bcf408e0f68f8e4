"""How much a surface is stretched and sheared in its own plane."""

import numpy as np

from corporeal._typing import Bool, Float, Float64, Int, NumpyArray
from corporeal.geometry.surface import triangle_areas


def triangle_strains(
    rest: Float[NumpyArray, "V 3"],
    moved: Float[NumpyArray, "*batch V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> Float64[NumpyArray, "*batch F"]:
    """√((σ₁ − 1)² + (σ₂ − 1)²), σ the singular values of every triangle's deformation; no unit."""
    before = _edges(np.asarray(rest, np.float64), triangles)
    after = _edges(np.asarray(moved, np.float64), triangles)
    # G = EᵀE of the rest edges, H of the moved ones: σ² are the eigenvalues of G⁻¹H
    g, h = np.swapaxes(before, -1, -2) @ before, np.swapaxes(after, -1, -2) @ after
    ratio = np.linalg.inv(g) @ h
    half_trace = 0.5 * np.trace(ratio, axis1=-2, axis2=-1)
    apart = np.sqrt(np.maximum(half_trace**2 - np.linalg.det(ratio), 0.0))
    large, small = (np.sqrt(np.maximum(half_trace + s * apart, 0.0)) for s in (1.0, -1.0))
    return np.hypot(large - 1.0, small - 1.0)


def mean_strain(
    rest: Float[NumpyArray, "V 3"],
    moved: Float[NumpyArray, "*batch V 3"],
    triangles: Int[NumpyArray, "F 3"],
    where: Bool[NumpyArray, "V"],
) -> Float64[NumpyArray, "*batch"]:
    """Root of the mean square strain, by rest area, over the triangles with all corners `where`."""
    chosen = triangles[where[triangles].all(axis=1)]
    area = np.asarray(triangle_areas(np.asarray(rest, np.float64), chosen))
    squared = triangle_strains(rest, moved, chosen) ** 2
    return np.asarray(np.sqrt(squared @ area / area.sum()))


def _edges(
    vertices: Float64[NumpyArray, "*batch V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float64[NumpyArray, "*batch F 3 2"]:
    corner = vertices[..., triangles, :]
    return np.swapaxes(corner[..., 1:, :] - corner[..., :1, :], -1, -2)
