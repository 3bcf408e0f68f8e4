"""Anisotropic strain limiting of prisms (equation 4.8): flesh may grow thicker, not slide.

====== ==================================================================== ===================
Ē, E   six mean-centred corners of a prism, at rest and now                  `rest`, `values`
F      E Ēᵀ (Ē Ēᵀ)⁻¹, the best linear map (2.18)                              Q z = Fᵀ
B      rotation with its third column along the skin's normal, at rest       `axis` is that column
S̃      diag(1, 1, α), α = (Bᵀ S B)₃₃ clamped to [α_min, α_max]               `stretch`
p      R B S̃ Bᵀ = R (I + (α − 1) a aᵀ), with F = R S                          `project`
====== ==================================================================== ===================
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.geometry.surface import triangle_area_vectors

STRETCH = (0.2, 5.0)
"""α_min and α_max: flesh thins and thickens five times at no cost."""
THINNEST = 0.002
"""Rest prisms are at least this thick, metres: thinner ones have no usable F."""


@dataclass(frozen=True, eq=False)
class FleshConstraint:
    """½ ‖F − R B S̃ Bᵀ‖² for every prism, three rows each."""

    matrix: csr_array
    """Q over the stacked vertices of outer and inner surface: F transposed."""
    axes: Float64[NumpyArray, "F 3"]
    """Unit normals of the skin's triangles, along which a prism may grow thicker."""

    def project(self, values: Float64[NumpyArray, "rows 3"]) -> Float64[NumpyArray, "rows 3"]:
        """p of every prism, transposed like Q z."""
        from corporeal.anatomy.fit.flesh_cpu import limit_strain

        gradients = np.ascontiguousarray(values.reshape(-1, 3, 3))
        return limit_strain(gradients, self.axes, *STRETCH).reshape(-1, 3)


def flesh_constraint(
    outer: Float64[NumpyArray, "V 3"],
    inner: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> FleshConstraint:
    """Prisms between `outer` and `inner` at rest; vertex v of the inner surface is V + v."""
    normals = triangle_area_vectors(outer, triangles)
    normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
    top, bottom = outer[triangles], inner[triangles]
    depth = np.einsum("fkd,fd->f", top - bottom, normals) / 3
    lift = np.maximum(THINNEST - depth, 0.0)
    corners = np.concatenate([top, bottom - (lift[:, None] * normals)[:, None]], axis=1)
    centred = corners - corners.mean(axis=1, keepdims=True)
    gram = np.einsum("fki,fkj->fij", centred, centred)
    weights = np.einsum("fij,fkj->fik", np.linalg.inv(gram), centred)  # (Ē Ēᵀ)⁻¹ Ē
    columns = np.concatenate([triangles, triangles + len(outer)], axis=1)
    rows = np.arange(3 * len(triangles)).reshape(-1, 3, 1)
    shape = (3 * len(triangles), 2 * len(outer))
    matrix = csr_array(
        (
            weights.ravel(),
            (
                np.broadcast_to(rows, weights.shape).ravel(),
                np.broadcast_to(columns[:, None], weights.shape).ravel(),
            ),
        ),
        shape=shape,
    )
    return FleshConstraint(matrix, np.ascontiguousarray(normals))
