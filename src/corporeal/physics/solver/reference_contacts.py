"""Contacts in the global step, as written: exact in the dual, in float64.

Without contacts a global step ends at z*. With them it minimises
½ (z − z*)ᵀ A (z − z*) + Σ w/2 min(0, g(z))², where g = n·(Σ_k c_k x_k) − d and two-sided rows count
with either sign. Its solution is z* + A⁻¹ Qᵀ f, where the force of a row is f = λ n with

    g(z) + λ/w ≥ 0  ⟂  λ ≥ 0,     Q z = Q z* + S f,     S = Q A⁻¹ Qᵀ.

So A is factored once, whatever touches. A row acts along its normal alone: nothing drags on what
slides or parts. With friction μ a row also holds what slips across it, by at most μ λ (Coulomb).

====== ================================================ ===================
A      the constant matrix of the free vertices          `solve`
Q      coefficients c of all rows                        `rows`
n      normals                                           `normals`
w      weights, N/m                                      `weights`
f, λ   contact forces, and along the normals, N          `contact_forces`
S      compliance of the rows, m/N                       `compliance`
====== ================================================ ===================
"""

from collections.abc import Callable

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.physics.contact.contacts import Contacts

_SETTLED = 1e-12
"""Metres: Gauss–Seidel ends when no row moves further."""
_MOST_SWEEPS = 10_000


class ContactStep:
    """The contacts of one step, prepared for all its iterations."""

    def __init__(
        self,
        contacts: Contacts,
        free: Int[NumpyArray, "f"],
        positions: Float64[NumpyArray, "V 3"],
        solve: Callable[[NumpyArray], NumpyArray],
    ) -> None:
        """`solve` gives A⁻¹ b of the columns b over the free vertices; `positions` are those that
        the step begins at, metres."""
        self.contacts = contacts
        self._matrix = contact_rows(contacts, len(positions))
        held = contacts.held_places()
        self._begun = np.where(np.isnan(held), self._matrix @ positions, held)
        rows = self._matrix[:, free]
        self._answers = solve(rows.T.toarray())
        self.compliance = rows @ self._answers

    def correction(self, positions: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "f 3"]:
        """A⁻¹ Qᵀ f for a global step that would end at `positions`, metres."""
        places = self._matrix @ positions
        return self._answers @ contact_forces(self.contacts, self.compliance, places, self._begun)


def contact_rows(contacts: Contacts, vertex_count: int) -> csr_array:
    """Q: the coefficients of all contacts, C × V."""
    count = len(contacts)
    places = (np.repeat(np.arange(count), 4), contacts.vertices.ravel())
    return csr_array((contacts.coefficients.ravel(), places), shape=(count, vertex_count))


def contact_forces(
    contacts: Contacts,
    compliance: Float64[NumpyArray, "C C"],
    places: Float64[NumpyArray, "C 3"],
    begun: Float64[NumpyArray, "C 3"],
) -> Float64[NumpyArray, "C 3"]:
    """f in newtons, for rows that would be at `places` without, having begun at `begun`, metres.

    Row after row takes the force that fits those of the others, until all do: projected
    Gauss–Seidel, which converges as S is symmetric and positive semidefinite.
    """
    forces = np.zeros((len(contacts), 3))
    limits, softness = contacts.slip_limits(), 1.0 / contacts.weights
    for _ in range(_MOST_SWEEPS):
        moved = 0.0
        for i in np.flatnonzero(np.diag(compliance) > 0):
            n, own, before = contacts.normals[i], compliance[i, i], forces[i].copy()
            place = places[i] + compliance[i] @ forces
            pressure = n @ before
            gap = n @ place - contacts.offsets[i]
            pushed = pressure - (gap + softness[i] * pressure) / (own + softness[i])
            pushed = pushed if contacts.two_sided[i] else max(pushed, 0.0)
            slip = place - begun[i] - n * (n @ (place - begun[i]))
            held = before - pressure * n - slip / own
            most = limits[i] * pushed
            held *= min(1.0, most / max(float(np.linalg.norm(held)), 1e-300))
            forces[i] = pushed * n + held
            moved = max(moved, own * float(np.abs(forces[i] - before).max()))
        if moved < _SETTLED:
            break
    return forces
