"""Distance to a surface, and which side of it a point is on.

A tree of boxes over the triangles answers both: the closest point by branch and bound, the winding
number (Jacobson et al. 2013) by dipoles for far boxes (Barill et al. 2018) and exact solid angles
near by. Winding numbers stay right where a surface overlaps itself or has small holes.
"""

from functools import cached_property

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.runtime.threads import over_slices

LEAF = 8
"""Triangles in a leaf of the tree."""
FAR = 2.3
"""A box is far beyond this many of its radii; a winding number on a body then errs by below 0.1."""

_LEAST_POINTS = 64
"""Points that are worth a thread of their own: some 50 µs of work."""


class SurfaceTree:
    """A triangle surface, ready for queries. Building costs about a microsecond a triangle."""

    def __init__(
        self, vertices: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
    ) -> None:
        from corporeal.geometry.surface_tree_cpu import build_tree

        self.vertices = np.ascontiguousarray(vertices, np.float64)
        self.triangles = np.ascontiguousarray(triangles, np.int64)
        corners = self.vertices[self.triangles]
        self._order, self._nodes, self._boxes = build_tree(
            corners.min(axis=1), corners.max(axis=1), corners.mean(axis=1), LEAF
        )
        self._corners = np.ascontiguousarray(corners[self._order])

    @cached_property
    def _moments(self) -> Float64[NumpyArray, "n 7"]:
        """Dipoles of the boxes; distances alone do not need them."""
        from corporeal.geometry.surface_tree_cpu import node_moments

        return node_moments(self._corners, self._nodes)

    def closest(
        self, points: Float64[NumpyArray, "n 3"]
    ) -> tuple[Float64[NumpyArray, "n 3"], Int[NumpyArray, "n"]]:
        """Nearest point of the surface to every point, and the triangle it lies on."""
        from corporeal.geometry.surface_tree_cpu import closest_points

        points = np.ascontiguousarray(points, np.float64)
        found, slots = np.empty((len(points), 3)), np.zeros(len(points), np.int64)

        def work(first: int, last: int) -> None:
            closest_points(
                points, self._corners, self._nodes, self._boxes, first, last, found, slots
            )

        over_slices(work, len(points), _LEAST_POINTS)
        return found, self._order[slots]

    def winding(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n"]:
        """How often the surface goes round every point: 1 inside, 0 outside."""
        from corporeal.geometry.surface_tree_cpu import winding_numbers

        points = np.ascontiguousarray(points, np.float64)
        winding, moments = np.empty(len(points)), self._moments

        def work(first: int, last: int) -> None:
            winding_numbers(points, self._corners, self._nodes, moments, FAR, first, last, winding)

        over_slices(work, len(points), _LEAST_POINTS)
        return winding

    def signed_distance(self, points: Float64[NumpyArray, "n 3"]) -> Float64[NumpyArray, "n"]:
        """Metres to the surface; negative inside, by the winding number."""
        found, _ = self.closest(points)
        distance = np.linalg.norm(points - found, axis=1)
        return np.where(self.winding(points) > 0.5, -distance, distance)
