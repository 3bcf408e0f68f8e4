"""Skin as a membrane: the edges of the simulated skin, and how long they are at rest."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray

SHORTEST = 1e-3
"""Metres: shorter edges are left out; the mesh has some that are nearly points."""


@dataclass(frozen=True, eq=False)
class Membrane:
    """Whose stretch is limited (`physics.untangling`)."""

    edges: Int[NumpyArray, "E 2"]
    """Vertices of the simulation."""
    lengths: Float64[NumpyArray, "E"]
    """At rest, metres."""


def membrane_of(rest: Float64[NumpyArray, "n 3"], triangles: Int[NumpyArray, "F 3"]) -> Membrane:
    """The edges of skin `triangles` between vertices at `rest`, metres."""
    from corporeal.geometry.surface import unique_edges  # a GPU machine has less

    edges = unique_edges(np.asarray(triangles, np.int64))
    lengths = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    kept = lengths > SHORTEST
    return Membrane(edges[kept], lengths[kept])
