"""Self-intersection of a triangle surface."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.errors import InputError

CELLS_A_TRIANGLE = 32
"""Most grid cells a triangle: bounds the memory, whatever the sizes are."""


def intersecting_triangle_pairs(
    vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Int[NumpyArray, "n 2"]:
    """Pairs of triangles that meet where the surface does not join them, sorted, smaller first.

    Touching counts. Triangles with a common corner or edge are a pair only if they share more than
    that corner or edge. Decisions are exact for the float64 coordinates given (metres or any other
    unit), so a result never depends on the order of faces. A triangle without area is met by its
    sides only.
    """
    points = np.ascontiguousarray(vertices, np.float64)
    faces = np.ascontiguousarray(triangles, np.int64)
    if not np.isfinite(points).all():
        raise InputError(
            "intersection test got vertices that are not finite; repair or drop them first."
        )
    if len(faces) == 0:
        return np.empty((0, 2), np.int64)
    from corporeal.geometry.intersection_cpu import bounding_boxes, intersecting_pairs

    low, high = bounding_boxes(points, faces)
    origin, extent = low.min(axis=0), high.max(axis=0) - low.min(axis=0)
    cell_size, cell_counts = _grid(extent, float((high - low).max(axis=1).mean()), len(faces))
    pairs = intersecting_pairs(points, faces, low, high, origin, cell_size, cell_counts)
    return pairs[np.lexsort((pairs[:, 1], pairs[:, 0]))]


def _grid(
    extent: Float[NumpyArray, "3"], triangle_size: float, triangle_count: int
) -> tuple[float, Int[NumpyArray, "3"]]:
    """Cell size (the mean triangle's box, or larger) and the number of cells along each axis."""
    cell_size = triangle_size or 1.0
    most = CELLS_A_TRIANGLE * triangle_count
    while True:
        counts = np.floor(extent / cell_size) + 1
        if counts.prod() <= most:
            return cell_size, counts.astype(np.int64)
        cell_size *= 1.25
