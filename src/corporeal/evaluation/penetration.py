"""How far a posed skin has entered itself, vertex by vertex; knows nothing of collision handling.

A vertex is inside another part of the skin where the surface winds once more round a point just
outside it (Jacobson et al. 2013). Its depth is the distance to the nearest triangle that it is
behind and that it may leave through: its own neighbourhood, facing the same way, is no way out.
"""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.geometry.surface import vertex_adjacency, vertex_normals
from corporeal.geometry.surface_tree import SurfaceTree

_JUST_OUTSIDE = 1e-5
"""Metres from a vertex to the point beside it whose winding number is taken."""
_OWN_RINGS, _FOLD_RINGS = 3, 2
"""Triangles within so many edges of a vertex are its own neighbourhood; and its folds' ways out."""


class PenetrationMeter:
    """Measures poses of one skin; what overlaps at rest is left out."""

    def __init__(self, rest: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]) -> None:
        self.triangles = np.ascontiguousarray(triangles, np.int64)
        near = vertex_adjacency(self.triangles, len(rest)).astype(np.int64)
        reach = near.copy()
        for ring in range(2, _OWN_RINGS + 1):
            reach = reach @ near + reach
            if ring == _FOLD_RINGS:
                self._folding = (reach.indptr.astype(np.int64), reach.indices.astype(np.int64))
        reach.sort_indices()
        self._near = (reach.indptr.astype(np.int64), reach.indices.astype(np.int64))
        self._at_rest = self._inside(rest)

    def depths(self, positions: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "V"]:
        """Metres that every vertex is inside; 0 outside, and where it was inside at rest."""
        return self.depths_and_folds(positions)[0]

    def depths_and_folds(
        self, positions: Float64[NumpyArray, "V 3"]
    ) -> tuple[Float64[NumpyArray, "V"], Bool[NumpyArray, "V"]]:
        """The depths, and which vertices are inside a fold of their own neighbourhood: their
        nearest way out is within two edges of them."""
        from corporeal.evaluation.penetration_cpu import ways_out

        entered = np.flatnonzero(self._inside(positions) & ~self._at_rest)
        depths, folds = np.zeros(len(positions)), np.zeros(len(positions), bool)
        normals = vertex_normals(positions, self.triangles)
        distances, exits = ways_out(
            np.ascontiguousarray(positions), self.triangles, normals, entered, *self._near
        )
        depths[entered] = distances
        starts, beside = self._folding
        for v, triangle in zip(entered, exits, strict=True):
            near = beside[starts[v] : starts[v + 1]]
            folds[v] = triangle >= 0 and np.isin(self.triangles[triangle], near).any()
        return depths, folds

    def _inside(self, positions: Float64[NumpyArray, "V 3"]) -> Bool[NumpyArray, "V"]:
        beside = positions + _JUST_OUTSIDE * vertex_normals(positions, self.triangles)
        return SurfaceTree(positions, self.triangles).winding(beside) > 0.5
