"""Tension of the skin: a membrane that resists stretch in its plane, and neither bends nor presses.

A skin of thickness t and modulus E carries k = E t newtons a metre of width and unit of stretch.
With σ₁, σ₂ the stretches of a triangle in its plane (singular values of F, 3 × 2),

    W = k A Σ_i h(σ_i − 1),    h(ε) = 0 for ε ≤ 0,  ε²/2 up to g,  g ε − g²/2 beyond

(Huber's function of the strain ε): slack folds, stretched skin pulls, and beyond the strain g, the
give, it pulls no harder, since skin comes from around, which a surface that is grown onto its flesh
does not show. Per equation 2.10 this is k A/2 ‖Fᵀ − p‖² with the projection below: its gradient is
that of W, and W itself up to the give.

====== ======================================================= =============================
Ē      rest edges in the triangle's plane, 2 × 2               `rest_edges_in_plane`
G      Ē⁻¹                                                     `inverse_edges`
F      deformation gradient, 3 × 2; Q z = Fᵀ                   `values`
p      Fᵀ with stretches σ ↦ σ − min(max(σ − 1, 0), g)         `project`
k      tension, N/m                                            `tension`
g      give, a strain                                          `GIVE`
====== ======================================================= =============================
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.physics.solver.constraints.strain import gradient_matrix

GIVE = 0.3
"""Strain beyond which the pull grows no further: where the fibres of skin are straight (Joodaki and
Panzer 2018), what a joint's bend asks of it comes from skin that glides there."""
LEAST_HEIGHT = 1e-3
"""Metres: triangles that are less high are left out; the mesh has some that are nearly lines."""


@dataclass(frozen=True)
class SkinTension:
    """W = k A Σ h(σ − 1), two rows a triangle."""

    matrix: csr_array
    """Q, the rows of Fᵀ of every triangle, 1/m."""
    weights: Float64[NumpyArray, "rows"]
    """Tension times area, J, twice a triangle."""
    triangles: Int[NumpyArray, "F 3"]
    """Corner indices."""
    inverse_edges: Float64[NumpyArray, "F 2 2"]
    """G, with Fᵀ = G E for the two edges E (rows) of the moment, 1/m."""

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p: every stretch without what its tension takes up."""
        left, stretches, right = np.linalg.svd(values.reshape(-1, 2, 3), full_matrices=False)
        kept = stretches - np.clip(stretches - 1.0, 0.0, GIVE)
        return ((left * kept[:, None]) @ right).reshape(-1, 3)


def skin_tension(
    rest: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    tension: Float64[NumpyArray, "F"],
) -> SkinTension:
    """Skin `triangles` at `rest` (metres), without stress there, with a `tension` in N/m each;
    those that have none, or next to no height, are left out."""
    kept = (tension > 0.0) & has_height(rest, triangles)
    triangles = triangles[kept]
    edges = rest_edges_in_plane(rest, triangles)
    areas = np.linalg.det(edges) / 2
    inverse = np.linalg.inv(edges)
    matrix = gradient_matrix(inverse, triangles, len(rest))
    return SkinTension(matrix, np.repeat(tension[kept] * areas, 2), triangles, inverse)


def rest_edges_in_plane(
    rest: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float64[NumpyArray, "F 2 2"]:
    """Ē: from the first corner to the other two, one a row, along the first edge and across it."""
    corners = rest[triangles]
    first, second = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    length = np.linalg.norm(first, axis=1)
    along = np.einsum("fi,fi->f", first, second) / length
    across = np.linalg.norm(np.cross(first, second), axis=1) / length
    rows = [[length, np.zeros_like(length)], [along, across]]
    return np.moveaxis(np.array(rows), 2, 0)


def has_height(
    rest: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Bool[NumpyArray, "F"]:
    """Triangles whose least height is `LEAST_HEIGHT` or more."""
    corners = rest[triangles]
    sides = corners - np.roll(corners, 1, axis=1)
    longest = np.linalg.norm(sides, axis=2).max(axis=1)
    doubled = np.linalg.norm(np.cross(sides[:, 0], sides[:, 1]), axis=1)
    return doubled >= LEAST_HEIGHT * longest
