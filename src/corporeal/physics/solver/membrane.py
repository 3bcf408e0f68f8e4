"""Skin as a membrane: its edges, how long they are at rest, and what damps its creases.

Flesh pressed into a fold snaps: what strain alone holds has several shapes there, and from frame to
frame single vertices hopped from one to the next, by up to 22 mm. Skin does not, since it is
viscous. So the velocity v of every free skin vertex against that of its n neighbours, both against
the velocity c that bones carry them with, is damped by

    f = −Lᵀ C L (v − c),    (L x)_i = x_i − Σ_j x_j/n,    C = diag(b β K_i),

implicit, with β the viscosity of the flesh (`StepRule`), K_i the stiffness around a vertex (the
least diagonal of Qᵀ W Q of its own and its neighbours') and b = `CREASING`. Static shapes are what
they were. A swing whose waves are much longer than the edges a of the skin moves neighbours alike:
L takes (π a/λ)² of it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array, diags_array

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.physics.solver.constraints.strain import StrainConstraint

SHORTEST = 1e-3
"""Metres: shorter edges are left out; the mesh has some that are nearly points."""
CREASING = 10.0
"""b: viscosity against creasing over that of strain."""


@dataclass(frozen=True, eq=False)
class Membrane:
    """Whose stretch is limited (`physics.untangling`), and whose creases are damped."""

    edges: Int[NumpyArray, "E 2"]
    """Vertices of the simulation."""
    lengths: Float64[NumpyArray, "E"]
    """At rest, metres."""
    stiffness: Float64[NumpyArray, "V"]
    """K: of the flesh around every free vertex of an edge, N/m; zero for all other vertices."""

    def differences(self) -> csr_array:
        """L, V × V: rows of vertices without stiffness are empty."""
        count = len(self.stiffness)
        one, other = np.concatenate([self.edges, self.edges[:, ::-1]]).T
        asked = self.stiffness[one] > 0.0
        one, other = one[asked], other[asked]
        degrees = np.bincount(one, minlength=count)
        own = np.flatnonzero(degrees)
        rows, columns = np.concatenate([own, one]), np.concatenate([own, other])
        values = np.concatenate([np.ones(len(own)), -1.0 / degrees[one]])
        return csr_array((values, (rows, columns)), shape=(count, count))

    def damping(self, free: Int[NumpyArray, "f"]) -> csr_array:
        """b Lᵀ K L over the `free` vertices, N/m: times (s − 1) it is added to the matrix."""
        rows = csr_array(self.differences()[:, free])
        return csr_array(rows.T @ diags_array(CREASING * self.stiffness) @ rows)


def membrane_of(
    rest: Float64[NumpyArray, "n 3"],
    triangles: Int[NumpyArray, "F 3"],
    strain: StrainConstraint,
    anchored: Bool[NumpyArray, "n"],
) -> Membrane:
    """The edges of skin `triangles` between vertices at `rest`, metres, over flesh of this
    `strain`."""
    from corporeal.geometry.surface import unique_edges  # a GPU machine has less

    edges = unique_edges(np.asarray(triangles, np.int64))
    lengths = np.linalg.norm(rest[edges[:, 0]] - rest[edges[:, 1]], axis=1)
    kept = lengths > SHORTEST
    edges = edges[kept]
    skin = np.zeros(len(rest), bool)
    skin[edges] = True
    held = spread_stiffness(strain)
    stiffness = held.copy()
    for one, other in (edges.T, edges.T[::-1]):
        np.minimum.at(stiffness, one, held[other])
    return Membrane(edges, lengths[kept], np.where(skin & ~anchored, stiffness, 0.0))


def spread_stiffness(strain: StrainConstraint) -> Float64[NumpyArray, "n"]:
    """The diagonal of Qᵀ W Q, N/m: how the elements around it hold every vertex."""
    rows = strain.matrix.multiply(strain.matrix)
    return np.asarray(rows.T @ strain.weights).ravel()
