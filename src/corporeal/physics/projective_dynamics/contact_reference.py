"""Contacts in the global step, as written: exact in the dual, in float64.

Without contacts a global step ends at z*. With them it minimises
½ (z − z*)ᵀ A (z − z*) + Σ w/2 min(0, g(z))², where g = n·(Σ_k c_k x_k) − d and two-sided rows count
with either sign. Its solution is z* + A⁻¹ Qᵀ n λ, with the forces λ from the small problem

    min over λ ≥ 0 of ½ λᵀ (D + W⁻¹) λ + g(z*)ᵀ λ,   D_ij = (n_i · n_j) q_iᵀ A⁻¹ q_j,

so that A is factored once, whatever touches. A row acts along its normal alone: nothing drags on
what slides or parts.

====== ================================================ ===================
A      the constant matrix of the free vertices          `solve`
Q, q   coefficients c of all rows, of one                `rows`
n      normals                                           `normals`
W      weights, N/m                                      `weights`
λ      contact forces, N                                 `contact_forces`
D      compliance of the rows, m/N                       `compliance`
====== ================================================ ===================
"""

from collections.abc import Callable

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import csr_array

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.physics.collisions.contacts import Contacts


class ContactStep:
    """The contacts of one step, prepared for all its iterations."""

    def __init__(
        self,
        contacts: Contacts,
        free: Int[NumpyArray, "f"],
        vertex_count: int,
        solve: Callable[[NumpyArray], NumpyArray],
    ) -> None:
        """`solve` gives A⁻¹ b of the columns b over the free vertices."""
        self.contacts = contacts
        rows = contact_rows(contacts, vertex_count)[:, free]
        self._answers = solve(rows.T.toarray())
        cosines = contacts.normals @ contacts.normals.T
        # D_ij = (n_i · n_j) Σ_kl q_ik A⁻¹_kl q_jl
        self.compliance = cosines * (rows @ self._answers)

    def correction(self, positions: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "f 3"]:
        """A⁻¹ Qᵀ n λ for a global step that would end at `positions`, metres."""
        forces = contact_forces(
            self.compliance,
            self.contacts.gaps(positions),
            self.contacts.weights,
            self.contacts.two_sided,
        )
        return self._answers @ (forces[:, None] * self.contacts.normals)


def contact_rows(contacts: Contacts, vertex_count: int) -> csr_array:
    """Q: the coefficients of all contacts, C × V."""
    count = len(contacts)
    places = (np.repeat(np.arange(count), 4), contacts.vertices.ravel())
    return csr_array((contacts.coefficients.ravel(), places), shape=(count, vertex_count))


def contact_forces(
    compliance: Float64[NumpyArray, "C C"],
    gaps: Float64[NumpyArray, "C"],
    weights: Float64[NumpyArray, "C"],
    two_sided: Bool[NumpyArray, "C"],
) -> Float64[NumpyArray, "C"]:
    """λ in newtons: non-negative but on two-sided rows, where both signs are tried.

    With D + W⁻¹ = L Lᵀ this is the least squares ‖Lᵀ λ + L⁻¹ g‖² over λ ≥ 0.
    """
    lower = np.linalg.cholesky(compliance + np.diag(1.0 / weights))
    factor = np.concatenate([lower.T, -lower.T[:, two_sided]], axis=1)
    split, _ = nnls(factor, -np.linalg.solve(lower, gaps))
    forces = split[: len(gaps)]
    forces[two_sided] -= split[len(gaps) :]
    return forces
