"""How sharply a surface folds along its edges."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.runtime.nouns import noun


@noun()
class Hinges:
    """The edges of a surface that join two triangles."""

    edges: Int[NumpyArray, "E 2"]
    """Ends of every edge, as the first triangle runs through them."""
    triangles: Int[NumpyArray, "E 2"]
    """The two triangles at every edge."""


def hinges(triangles: Int[NumpyArray, "F 3"]) -> Hinges:
    """All inner edges of a manifold, consistently oriented surface; border edges are left out."""
    directed = np.concatenate([triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]])
    owner = np.tile(np.arange(len(triangles)), 3)
    undirected = np.sort(directed, axis=1)
    order = np.lexsort((undirected[:, 1], undirected[:, 0]))
    same = (undirected[order[1:]] == undirected[order[:-1]]).all(axis=1)
    if (same[1:] & same[:-1]).any():
        edge = undirected[order[1:-1][same[1:] & same[:-1]][0]]
        raise InputError(
            f"edge {edge[0]}–{edge[1]} has three or more triangles; expected at most two. "
            f"Dihedral angles need a manifold surface."
        )
    first, second = order[:-1][same], order[1:][same]
    if (directed[first, 0] == directed[second, 0]).any():
        edge = directed[first[directed[first, 0] == directed[second, 0]][0]]
        raise InputError(
            f"both triangles at edge {edge[0]}–{edge[1]} run through it the same way; "
            f"expected a consistently oriented surface."
        )
    return Hinges(directed[first], np.stack([owner[first], owner[second]], axis=1))


def fold_angles(
    vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"], at: Hinges
) -> Float[NumpyArray, "E"]:
    """Signed angle between the two normals at every edge, radians.

    0 is flat, π folded back on itself; positive along ridges, negative along creases. A triangle
    without area has no normal: its edges give 0.
    """
    corners = np.asarray(vertices, np.float64)[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    length = np.linalg.norm(normals, axis=1, keepdims=True)
    normals = normals / np.where(length > 0, length, 1)
    one, other = normals[at.triangles[:, 0]], normals[at.triangles[:, 1]]
    along = vertices[at.edges[:, 1]] - vertices[at.edges[:, 0]]
    along = along / np.maximum(np.linalg.norm(along, axis=1, keepdims=True), np.finfo(float).tiny)
    sine = np.einsum("ei,ei->e", np.cross(one, other), along)
    cosine = np.einsum("ei,ei->e", one, other)
    return np.arctan2(sine, cosine)
