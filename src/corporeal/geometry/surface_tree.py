"""Distance to a surface, and which side of it a point is on.

A tree of boxes over the triangles answers both: the closest point by branch and bound, the winding
number (Jacobson et al. 2013) by dipoles for far boxes (Barill et al. 2018) and exact solid angles
near by. Winding numbers stay right where a surface overlaps itself or has small holes.
"""

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray

LEAF = 8
"""Triangles in a leaf of the tree."""
FAR = 2.3
"""A box is far beyond this many of its radii; a winding number on a body then errs by below 0.1."""


class SurfaceTree:
    """A triangle surface, ready for queries. Building costs about a microsecond a triangle."""

    def __init__(
        self, vertices: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
    ) -> None:
        from corporeal.geometry.surface_tree_cpu import build_tree, node_moments

        self.vertices = np.ascontiguousarray(vertices, np.float64)
        self.triangles = np.ascontiguousarray(triangles, np.int64)
        corners = self.vertices[self.triangles]
        self._order, self._nodes, self._boxes = build_tree(
            corners.min(axis=1), corners.max(axis=1), corners.mean(axis=1), LEAF
        )
        self._corners = np.ascontiguousarray(corners[self._order])
        self._moments = node_moments(self._corners, self._nodes)

    def closest(
        self, points: Float64[NumpyArray, "n 3"]
    ) -> tuple[Float64[NumpyArray, "n 3"], Int[NumpyArray, "n"]]:
        """Nearest point of the surface to every point, and the triangle it lies on."""
        from corporeal.geometry.surface_tree_cpu import closest_points

        found, slots = closest_points(
            np.ascontiguousarray(points, np.float64), self._corners, self._nodes, self._boxes
        )
        return found, self._order[slots]

    def winding(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n"]:
        """How often the surface goes round every point: 1 inside, 0 outside."""
        from corporeal.geometry.surface_tree_cpu import winding_numbers

        return winding_numbers(
            np.ascontiguousarray(points, np.float64), self._corners, self._nodes, self._moments, FAR
        )

    def signed_distance(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n"]:
        """Metres to the surface; negative inside, by the winding number."""
        found, _ = self.closest(points)
        distance = np.linalg.norm(points - found, axis=1)
        return np.where(self.winding(points) > 0.5, -distance, distance)
