"""How far a posed skin has entered itself, vertex by vertex; knows nothing of collision handling.

A vertex is inside another part of the skin where the surface winds once more (Jacobson et al. 2013)
round all that is next to it. One point beside it does not tell: at the bottom of a narrow crease, a
normal that averages the walls may point into one of them. The least winding number around a vertex
is found on the outer side of one of its triangles, so these are asked, each close to the vertex.

Its depth is the distance to the nearest triangle that it is behind and that it may leave through:
its own neighbourhood, facing the same way, is no way out.
"""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.geometry.surface import vertex_adjacency, vertex_normals
from corporeal.geometry.surface_tree import SurfaceTree

_JUST_OUTSIDE = 1e-7
"""Metres over the skin of a point whose winding number is taken."""
_BESIDE = 1e-3
"""Place of such a point on a triangle, on the way from the vertex to the middle. With the default
body's edges of 2 cm, walls of a crease are told apart from about half a degree on."""
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
        """Which vertices have nothing but inside around them."""
        tree = SurfaceTree(positions, self.triangles)
        normals = vertex_normals(positions, self.triangles)
        inside = tree.winding(positions + _JUST_OUTSIDE * normals) > 0.5
        triangles, corners = np.nonzero(inside[self.triangles])
        chosen = self.triangles[triangles]
        vertices, places = chosen[np.arange(len(chosen)), corners], positions[chosen]
        start = positions[vertices]
        on_skin = start + _BESIDE * (places.mean(axis=1) - start)
        outward = _JUST_OUTSIDE * _normals(places)
        inside[vertices[tree.winding(on_skin + outward) <= 0.5]] = False
        return inside


def _normals(corners: Float64[NumpyArray, "n 3 3"]) -> Float64[NumpyArray, "n 3"]:
    """Outward unit normals of triangles; zero for those without area."""
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1, keepdims=True)
    return np.divide(normals, lengths, out=np.zeros_like(normals), where=lengths > 0)
