"""What a registered mesh must not have: folded triangles and surfaces that pass through each other.

Where the free mesh has either and the model does not, the coupling is made stiffer around it and
the last stage is solved again; what is still wrong then goes back towards the model, step by step
and blended over rings of neighbours, more of them where few do not help.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.geometry.intersection import intersecting_triangle_pairs
from corporeal.geometry.surface import triangle_area_vectors, vertex_adjacency

_FOLD = 0.0
"""Cosine between a triangle's normal and the model's below which it counts as folded."""

ROUNDS: tuple[tuple[int, float, bool], ...] = (
    *((1, 0.3, False),) * 4,
    *((2, 0.4, False),) * 3,
    *((2, 0.6, False),) * 2,
    *((rings, 1.0, True) for rings in (3, 4, 5, 6, 7)),
)
"""Rings of neighbours, share of the way to the model, and whether the nearer half of the rings goes
all that way, of every round of mending."""
FEW_ROUNDS = ((2, 0.5, False), (3, 0.75, False))
"""The same where little time is left, as in tracking."""


@dataclass(frozen=True, eq=False)
class Unsound:
    """Triangles that are wrong, beyond what the model itself has."""

    folded: Int[NumpyArray, "f"]
    """Triangles turned over against the model's."""
    crossing: Int[NumpyArray, "c"]
    """Triangles that pass through others."""
    involved: Int[NumpyArray, "i"]
    """These, and what they pass through."""

    @property
    def count(self) -> int:
        """Of both kinds."""
        return len(self.folded) + len(self.crossing)


def unsound_triangles(
    vertices: Float64[NumpyArray, "V 3"],
    model_vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    known: Bool[NumpyArray, "F"] | None = None,
) -> Unsound:
    """Folded triangles, and triangles that cross others; those in `known` may cross."""
    mine = triangle_area_vectors(vertices, triangles)
    theirs = triangle_area_vectors(model_vertices, triangles)
    lengths = np.linalg.norm(mine, axis=1) * np.linalg.norm(theirs, axis=1)
    cosines = np.sum(mine * theirs, axis=1) / np.maximum(lengths, 1e-30)
    pairs = intersecting_triangle_pairs(vertices, triangles)
    own = np.zeros(len(triangles), bool) if known is None else known
    pairs = pairs[~own[pairs].all(axis=1)]
    crossing = np.unique(pairs[~own[pairs]])
    return Unsound(np.flatnonzero(cosines < _FOLD), crossing, np.unique(pairs))


def crossing_triangles(
    vertices: Float64[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Bool[NumpyArray, "F"]:
    """Triangles that meet others where the surface does not join them."""
    crossing = np.zeros(len(triangles), bool)
    crossing[intersecting_triangle_pairs(vertices, triangles).reshape(-1)] = True
    return crossing


def rings_around(
    triangles: Int[NumpyArray, "F 3"],
    wrong: Int[NumpyArray, "n"],
    vertex_count: int,
    rings: int,
) -> Float64[NumpyArray, "V"]:
    """1 at the corners of wrong triangles, falling to 0 over so many rings of neighbours."""
    near = vertex_adjacency(triangles, vertex_count)
    share = np.zeros(vertex_count)
    share[triangles[wrong].reshape(-1)] = 1.0
    for ring in range(1, rings + 1):
        reached = (near @ (share > 0)) > 0
        share = np.where(share > 0, share, np.where(reached, 1.0 - ring / (rings + 1.0), 0.0))
    return share


def mended(
    vertices: Float64[NumpyArray, "V 3"],
    model_vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    rounds: tuple[tuple[int, float, bool], ...] = ROUNDS,
) -> tuple[Float64[NumpyArray, "V 3"], int]:
    """The mesh brought back to the model where it is wrong, no further than it must be, and how
    many triangles still are."""
    known = crossing_triangles(model_vertices, triangles)
    found = unsound_triangles(vertices, model_vertices, triangles, known)
    for rings, part, whole in rounds:
        if found.count == 0:
            break
        wrong = np.concatenate([found.folded, found.involved])
        share = rings_around(triangles, wrong, len(vertices), rings)
        if whole:
            # between toes that cross in the model, what lies half way crosses, too
            share = np.minimum(1.0, 2.0 * share)
        vertices = vertices + part * share[:, None] * (model_vertices - vertices)
        found = unsound_triangles(vertices, model_vertices, triangles, known)
    return vertices, found.count
