"""How sharply a surface folds along its edges."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.geometry.surface import edge_triangles


@dataclass(frozen=True, eq=False)
class Hinges:
    """Edges that join two triangles; they depend on the triangles alone."""

    edges: Int[NumpyArray, "E 2"]
    """Vertices at both ends."""
    triangles: Int[NumpyArray, "E 2"]
    """The two beside each edge."""


def hinges_of(triangles: Int[NumpyArray, "F 3"]) -> Hinges:
    """The hinges of a surface; most of the time that folds take, so keep them for many shapes."""
    edges, pairs = edge_triangles(triangles)
    inner = pairs[:, 1] >= 0
    return Hinges(edges[inner], pairs[inner])


def fold_angles(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    hinges: Hinges | None = None,
) -> tuple[Int[NumpyArray, "E 2"], Float[NumpyArray, "E"]]:
    """Edges that join two triangles, and the signed angle between the two normals, radians.

    0 is flat, π folded back on itself; positive along ridges, negative along creases. A triangle
    without area has no normal: its edges give 0.
    """
    known = hinges_of(triangles) if hinges is None else hinges
    edges, pairs = known.edges, known.triangles
    corners = np.asarray(vertices, np.float64)[triangles]
    normals = _unit_normals(corners)
    one, other = normals[pairs[:, 0]], normals[pairs[:, 1]]
    # the surface is a ridge where the second triangle lies below the plane of the first
    apart = corners[pairs[:, 1]].mean(axis=1) - corners[pairs[:, 0]].mean(axis=1)
    ridge = np.where(np.einsum("ei,ei->e", one, apart) <= 0, 1.0, -1.0)
    sine = np.linalg.norm(np.cross(one, other), axis=1)
    return edges, ridge * np.arctan2(sine, np.einsum("ei,ei->e", one, other))


def folds_beyond(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    hinges: Hinges,
    angle: float,
) -> Bool[NumpyArray, "E"]:
    """Which hinges fold by more than `angle` (radians, at least π/2), either way.

    |fold| > angle ⇔ n₁ · n₂ < cos(angle): a third of the time that the angles themselves take.
    """
    normals = _unit_normals(np.asarray(vertices, np.float64)[triangles])
    one, other = normals[hinges.triangles[:, 0]], normals[hinges.triangles[:, 1]]
    return np.einsum("ei,ei->e", one, other) < np.cos(angle)


def _unit_normals(corners: Float[NumpyArray, "F 3 3"]) -> Float[NumpyArray, "F 3"]:
    """Normals of triangles; 0 where there is no area."""
    a, b = corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]
    normals = np.empty_like(a)
    for i, (j, k) in enumerate(((1, 2), (2, 0), (0, 1))):
        normals[:, i] = a[:, j] * b[:, k] - a[:, k] * b[:, j]
    length = np.sqrt(np.einsum("fi,fi->f", normals, normals))
    return normals / np.where(length > 0, length, 1)[:, None]
