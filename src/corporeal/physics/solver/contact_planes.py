"""Local collisions in the solver: the two-matrix scheme (Komaritzan 2022, section 3.2.5).

A second matrix has a row x_j − x_i for every pair of vertices that may meet at a joint, if they do
or not, so that neither matrix ever changes. Half of a step's iterations go by the first matrix; the
other half go by the second, in which pairs that do not meet are projected to where they are. Rows
are differences, where Komaritzan 2022 projects both ends onto a plane in space: they put both on
the plane halfway between them just the same, and do not hold back what moves along together.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array, csr_array

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.numerics.cholesky import CholeskyFactor


@dataclass(frozen=True)
class ContactPlanes:
    """Pairs of vertices that may meet, in one step."""

    pairs: Int[NumpyArray, "C 2"]
    """Vertices i and j."""
    normals: Float64[NumpyArray, "C 3"]
    """From i to j, unit vectors: n·(x_j − x_i) ≥ 0; zero for pairs that cannot meet now."""
    weight: float
    """Of every pair, N/m."""


class PairMatrix:
    """A + w Σ q qᵀ over all pairs, factored once: sparse, symmetric positive definite."""

    def __init__(
        self, matrix: csc_array, contact_planes: ContactPlanes, place: Int[NumpyArray, "V"]
    ) -> None:
        """`place` is where the solver has each vertex: free ones first."""
        self.pairs = contact_planes.pairs
        self._weight = contact_planes.weight
        self._placed = np.ascontiguousarray(place[contact_planes.pairs], np.int32)
        count, free = len(contact_planes.pairs), matrix.shape[0]  # pyright: ignore[reportOptionalSubscript]
        rows = np.repeat(np.arange(count), 2)
        values = np.tile([-1.0, 1.0], count)
        kept = self._placed.ravel() < free
        both = (rows[kept], self._placed.ravel()[kept])
        difference = csr_array((values[kept], both), shape=(count, free))
        self.factor = CholeskyFactor(
            csc_array(matrix + contact_planes.weight * (difference.T @ difference))
        )

    def push(
        self,
        normals: Float64[NumpyArray, "C 3"],
        z: Float64[NumpyArray, "V 3"],
        right_side: Float32[NumpyArray, "f 3"],
    ) -> None:
        """Add w Qᵀ (p − Q z): what is on the wrong side of its plane is drawn to it."""
        from corporeal.physics.solver.cpu.contact_kernels import push_apart

        push_apart(self._placed, normals, self._weight, z, right_side)
