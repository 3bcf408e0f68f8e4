"""How sharply a surface folds along its edges."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.geometry.surface import edge_triangles


def fold_angles(
    vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> tuple[Int[NumpyArray, "E 2"], Float[NumpyArray, "E"]]:
    """Edges that join two triangles, and the signed angle between the two normals, radians.

    0 is flat, π folded back on itself; positive along ridges, negative along creases. The edges
    depend on the triangles alone. A triangle without area has no normal: its edges give 0.
    """
    edges, pairs = edge_triangles(triangles)
    inner = pairs[:, 1] >= 0
    edges, pairs = edges[inner], pairs[inner]
    points = np.asarray(vertices, np.float64)
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(length > 0, length, 1)
    one, other = normals[pairs[:, 0]], normals[pairs[:, 1]]
    # the surface is a ridge where the second triangle lies below the plane of the first
    apart = corners[pairs[:, 1]].mean(axis=1) - corners[pairs[:, 0]].mean(axis=1)
    ridge = np.where(np.einsum("ei,ei->e", one, apart) <= 0, 1.0, -1.0)
    sine = np.linalg.norm(np.cross(one, other), axis=1)
    return edges, ridge * np.arctan2(sine, np.einsum("ei,ei->e", one, other))
