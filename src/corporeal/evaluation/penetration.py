"""How far a posed skin has entered itself, vertex by vertex; knows nothing of collision handling.

A vertex is inside another part of the skin where the surface winds once more (Jacobson et al. 2013)
round all that is next to it. One point beside it does not tell: at the bottom of a narrow crease, a
normal that averages the walls may point into one of them. The least winding number around a vertex
is found on the outer side of one of its triangles, so these are asked, each close to the vertex.

Its depth is the distance to the nearest triangle that it is behind and that it may leave through.
Its own neighbourhood, facing the same way, is no way out; but if any point of the skin with the
outside before it is nearer, the distance to that is the depth: the closest one of every triangle
is asked, and some on the triangles around the vertex.
"""

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.geometry.surface import vertex_adjacency, vertex_normals
from corporeal.geometry.surface_tree import SurfaceTree

_JUST_OUTSIDE = 1e-7
"""Metres over the skin of a point whose winding number is taken."""
_BESIDE = 1e-3
"""Such a point is moved by this share towards the middle of its triangle, off edges and corners.
With the default body's edges of 2 cm, walls of a crease are told apart from half a degree on."""
_PLACES = np.array([[1, 1, 1], [1, 8, 1], [1, 1, 8]]) / [[3], [10], [10]]
_WAYS = np.geomspace(3e-3, 1.0, 9)
"""Points asked on a triangle around a vertex: shares of the ways from it to three places, which are
given by weights of the corners, from it on."""
_OWN_RINGS = 3
"""Triangles within so many edges of a vertex are its own neighbourhood."""


class PenetrationMeter:
    """Measures poses of one skin; what overlaps at rest is left out."""

    def __init__(self, rest: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]) -> None:
        self.triangles = np.ascontiguousarray(triangles, np.int64)
        near = vertex_adjacency(self.triangles, len(rest)).astype(np.int64)
        reach = near.copy()
        for _ in range(_OWN_RINGS - 1):
            reach = reach @ near + reach
        reach.sort_indices()
        self._near = (reach.indptr.astype(np.int64), reach.indices.astype(np.int64))
        self._at_rest = self._inside(SurfaceTree(rest, self.triangles), rest)

    def depths(self, positions: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "V"]:
        """Metres that every vertex is inside; 0 outside, and where it was inside at rest."""
        from corporeal.evaluation.penetration_cpu import nearer_skin, ways_out

        points = np.ascontiguousarray(positions)
        tree = SurfaceTree(points, self.triangles)
        entered = np.flatnonzero(self._inside(tree, points) & ~self._at_rest)
        normals = vertex_normals(points, self.triangles)
        distances = ways_out(points, self.triangles, normals, entered, *self._near)
        which, triangles, feet, nearer = nearer_skin(points, self.triangles, entered, distances)
        free = ~self._is_inside(tree, points, triangles, feet)
        np.minimum.at(distances, which[free], nearer[free])
        np.minimum(distances, self._beside(tree, points, entered), out=distances)
        depths = np.zeros(len(points))
        depths[entered] = distances
        return depths

    def _inside(
        self, tree: SurfaceTree, positions: Float64[NumpyArray, "V 3"]
    ) -> Bool[NumpyArray, "V"]:
        """Which vertices have nothing but inside around them."""
        normals = vertex_normals(positions, self.triangles)
        inside = tree.winding(positions + _JUST_OUTSIDE * normals) > 0.5
        triangles, corners = np.nonzero(inside[self.triangles])
        vertices = self.triangles[triangles, corners]
        free = ~self._is_inside(tree, positions, triangles, positions[vertices])
        inside[vertices[free]] = False
        return inside

    def _beside(
        self,
        tree: SurfaceTree,
        positions: Float64[NumpyArray, "V 3"],
        chosen: Int[NumpyArray, "n"],
    ) -> Float64[NumpyArray, "n"]:
        """Metres from chosen vertices to the outside along their own triangles; inf if unseen."""
        nearest = np.full(len(positions), np.inf)
        wanted = np.zeros(len(positions), bool)
        wanted[chosen] = True
        triangles, corners = np.nonzero(wanted[self.triangles])
        order = (corners[:, None] + np.arange(3)) % 3
        turned = np.take_along_axis(self.triangles[triangles], order, axis=1)
        start = positions[turned[:, 0]]
        for place in _PLACES:
            towards = np.einsum("c,ncx->nx", place, positions[turned]) - start
            length = np.linalg.norm(towards, axis=1)
            for way in _WAYS:
                free = ~self._is_inside(tree, positions, triangles, start + way * towards)
                np.minimum.at(nearest, turned[free, 0], way * length[free])
        return nearest[chosen]

    def _is_inside(
        self,
        tree: SurfaceTree,
        positions: Float64[NumpyArray, "V 3"],
        triangles: Int[NumpyArray, "n"],
        points: Float64[NumpyArray, "n 3"],
    ) -> Bool[NumpyArray, "n"]:
        """Whether it is inside just before points on triangles."""
        corners = positions[self.triangles[triangles]]
        normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
        lengths = np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
        off_edges = points + _BESIDE * (corners.mean(axis=1) - points)
        return tree.winding(off_edges + _JUST_OUTSIDE * normals / lengths) > 0.5
