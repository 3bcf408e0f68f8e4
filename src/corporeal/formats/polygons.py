"""Polygons as files have them → triangles and quads as meshes have them."""

import numpy as np

from corporeal._typing import Int, NumpyArray
from corporeal.body.mesh import Mesh


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


def authored_faces(mesh: Mesh) -> Int[NumpyArray, "P c"]:
    """The faces to write where a format holds polygons: quads if the mesh has them."""
    return mesh.triangles if mesh.quads is None else mesh.quads


def authored_uv(mesh: Mesh) -> Int[NumpyArray, "P c"] | None:
    """Texture coordinate of every corner of `authored_faces`, if the mesh has any.

    Quad (0, 1, 2, 3) was split into (0, 1, 2) and (0, 2, 3).
    """
    if mesh.uv_triangles is None or mesh.quads is None:
        return mesh.uv_triangles
    return np.concatenate([mesh.uv_triangles[0::2], mesh.uv_triangles[1::2, 2:]], axis=1)
