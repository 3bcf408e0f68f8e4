"""Cloth does not follow every bump of the skin: under a garment the surface is smoothed.

Implicit smoothing (Desbrun et al. 1999): the cloth c of a skin x solves (M + t L) c = M x, with M
the vertices' areas and L the cotangent Laplacian, both of the rest shape, so that bumps smaller
than about √(2 t) vanish whatever the size of the triangles. The matrix over the covered vertices is
sparse, symmetric and positive definite, constant while shape and garment are; factored once. Near a
hem only the part of the step along the cloth's normal is taken: hems stay where they are cut.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.geometry.laplacian import cotangent_laplacian
from corporeal.geometry.surface import vertex_normals

SMOOTHING = 2e-4
"""t, m²: bumps of less than about 20 mm vanish."""
_HEM = 0.02
"""Distance from the hem at which the cloth is free of the skin, metres; it slips along it further
inside, from one to two times this."""
_LARGEST_STEP = 0.012
"""Cloth is never further from the skin than this, metres."""


class Drape:
    """Smooths the covered part of one body, less and less towards the hem."""

    def __init__(
        self,
        rest_vertices: Float[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "F 3"],
        coverage: Float[NumpyArray, "V"],
    ) -> None:
        from scipy.sparse import csc_array, diags_array
        from scipy.sparse.linalg import splu

        self._covered = np.flatnonzero(coverage > 0)
        depth = coverage[self._covered, None]
        self._freedom = np.clip(depth / _HEM, 0, 1)
        self._slip = np.clip(depth / _HEM - 1, 0, 1)
        number = np.full(len(coverage), -1)
        number[self._covered] = np.arange(len(self._covered))
        inside = (number[triangles] >= 0).all(axis=1)
        self._triangles = number[triangles[inside]].astype(np.int32)
        if len(self._covered):
            rest = np.asarray(rest_vertices, np.float64)[self._covered]
            # obtuse corners would make weights negative, and the smoothing unstable
            laplacian, areas = cotangent_laplacian(rest, self._triangles, least=0.0)
            self._areas = np.maximum(areas, 1e-12)
            matrix = csc_array(diags_array(self._areas) - SMOOTHING * laplacian)
            self._solve = splu(matrix).solve

    def over(self, vertices: Float[NumpyArray, "V 3"]) -> Float[NumpyArray, "V 3"]:
        """The cloth's surface where there is cloth, the skin elsewhere; metres."""
        if len(self._covered) == 0:
            return vertices
        skin = vertices[self._covered]
        cloth = self._solve(self._areas[:, None] * skin)
        normals = vertex_normals(cloth, self._triangles)
        rise = np.sum((cloth - skin) * normals, axis=1, keepdims=True)
        along = cloth - skin - rise * normals
        rise = np.clip(rise, -_LARGEST_STEP, _LARGEST_STEP)
        draped = vertices.copy()
        draped[self._covered] += self._freedom * rise * normals + self._slip * along
        return draped
