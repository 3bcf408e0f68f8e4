"""Polygons as files have them → triangles and quads as meshes have them."""

import numpy as np

from corporeal._typing import Int, NumpyArray


def triangles_and_quads(
    sizes: Int[NumpyArray, "P"], corners: Int[NumpyArray, "n"]
) -> tuple[Int[NumpyArray, "F 3"], Int[NumpyArray, "Q 4"] | None]:
    """Split polygons into fans, in file order; quads are kept if all polygons are quads."""
    if len(sizes) and (sizes == 4).all():
        quads = corners.reshape(-1, 4)
        return fan_triangles(sizes, corners), quads
    return fan_triangles(sizes, corners), None


def fan_triangles(
    sizes: Int[NumpyArray, "P"], corners: Int[NumpyArray, "n"]
) -> Int[NumpyArray, "F 3"]:
    """Polygon (a, b, c, d, …) → triangles (a, b, c), (a, c, d), …"""
    starts = np.cumsum(sizes) - sizes
    counts = sizes - 2
    first = np.repeat(starts, counts)
    step = np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts)
    return np.stack([corners[first], corners[first + step + 1], corners[first + step + 2]], axis=1)
