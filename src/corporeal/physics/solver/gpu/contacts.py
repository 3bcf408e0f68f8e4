"""Contacts in the global step on a device: forces in the dual, as `reference_contacts` says.

The dense inverse gives the answers Y = A⁻¹ Qᵀ of all rows and their compliance S = Q Y by gathers.
Forces are found by accelerated projected steps, started from those of the iteration before:
each row along its normal until it does not push in, across it until it does not slip, or as far as
friction holds. A step is as long as the row's sum of |S| allows, which no set of contacts can make
diverge.
"""

from collections.abc import Sequence
from typing import NamedTuple, TypeAlias

import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array, Float, Int
from corporeal.physics.contact.rules import FRICTION, WEIGHT
from corporeal.physics.solver.gpu.elements import sum_together

Coordinates: TypeAlias = Sequence[Array] | Array
"""x, y and z."""


class ContactRows(NamedTuple):
    """Rows of some contacts and how they answer to forces."""

    places: Int[Array, "C 4"]
    """Vertices, free ones first."""
    coefficients: Float[Array, "C 4"]
    """c: how much of each vertex is summed."""
    normals: Float[Array, "3 C"]
    """n, unit vectors out of what must not be entered."""
    offsets: Float[Array, "C"]
    """Metres."""
    softness: Float[Array, "C"]
    """m/N: the inverses of the rows' weights."""
    friction: Float[Array, "C"]
    """Coulomb's coefficients."""
    answers: Float[Array, "C f"]
    """Y: how free vertices move by a force on a row, m/N."""
    compliance: Float[Array, "C C"]
    """S, m/N."""
    steady: Float[Array, "C"]
    """Σ_j |S_ij|, m/N; 0 for rows of no contact."""


def contact_rows(
    dense: Float[Array, "f f"],
    places: Int[Array, "C 4"],
    coefficients: Float[Array, "C 4"],
    normals: Float[Array, "3 C"],
    offsets: Float[Array, "C"],
    softness: Float[Array, "C"] | None = None,
    friction: Float[Array, "C"] | None = None,
) -> ContactRows:
    """Rows with their answers; `dense` is A⁻¹. Without more they are of skin on skin."""
    softness = jnp.full_like(offsets, 1.0 / WEIGHT) if softness is None else softness
    friction = jnp.full_like(offsets, FRICTION) if friction is None else friction
    free = dense.shape[0]
    shares = jnp.where(places < free, coefficients, 0.0)
    inside = jnp.minimum(places, free - 1)
    # Y_i = Σ_k c_ik A⁻¹_k,  S_ij = Σ_l c_jl Y_i,l
    answers = jnp.sum(shares[..., None] * dense[inside], axis=1)
    compliance = jnp.sum(shares * answers[:, inside], axis=2)
    steady = jnp.sum(jnp.abs(compliance), axis=1)
    return ContactRows(
        places, coefficients, normals, offsets, softness, friction, answers, compliance, steady
    )


def row_places(rows: ContactRows, positions: Float[Array, "3 n 1"]) -> Float[Array, "3 C"]:
    """Σ_k c_k x_k, metres."""
    return jnp.sum(rows.coefficients * positions[:, rows.places, 0], axis=2)


def free_places(rows: ContactRows, positions: Float[Array, "3 f 1"]) -> Float[Array, "3 C"]:
    """What the free vertices have in Σ_k c_k x_k, metres."""
    free = positions.shape[1]
    shares = jnp.where(rows.places < free, rows.coefficients, 0.0)
    return jnp.sum(shares * positions[:, jnp.minimum(rows.places, free - 1), 0], axis=2)


def contact_forces(
    rows: ContactRows,
    places: Float[Array, "3 C"],
    begun: Float[Array, "3 C"],
    forces: Float[Array, "3 C"],
    rounds: int,
) -> Float[Array, "3 C"]:
    """Forces in newtons, from a first guess.

    `places` are where the rows would be without them, `begun` where they were when the step began.
    """

    def better(number: Array, both: tuple[Array, Array]) -> tuple[Array, Array]:
        now, ahead = both
        moved = sum_together(*(rows.compliance[..., None] * part[:, None] for part in ahead))
        reached = places + jnp.stack(moved)[..., 0]
        following = jnp.stack(
            allowed_forces(Bounds(*rows[2:6], rows.steady), ahead, reached, begun)
        )
        return following, following + ahead_by(number) * (following - now)

    return lax.fori_loop(0, rounds, better, (forces, forces), unroll=True)[0]


def ahead_by(number: float | Array) -> float | Array:
    """How far beyond a round's forces the next begins, as a share of their change (Nesterov)."""
    return number / (number + 3.0)


class Bounds(NamedTuple):
    """What some rows allow; see `ContactRows`."""

    normals: Coordinates
    """n, by coordinate."""
    offsets: Array
    """d, metres."""
    softness: Array
    """Inverses of the rows' weights, m/N."""
    friction: Array
    """Coulomb's coefficients."""
    steady: Array
    """Σ_j |S_ij|, m/N; 0 for rows of no contact."""


def allowed_forces(
    rows: Bounds, forces: Coordinates, places: Coordinates, begun: Coordinates
) -> tuple[Array, Array, Array]:
    """One projected step of every row, without arrays of coordinates: it runs in kernels too."""
    normals, offsets, softness, friction, steady = rows
    touching = steady > 0.0
    length = jnp.where(touching, steady, 1.0)
    slipped = [place - start for place, start in zip(places, begun, strict=True)]
    pressure = _dot(normals, forces)
    gap = _dot(normals, places) - offsets
    pushed = pressure - (gap + softness * pressure) / (length + softness)
    pushed = jnp.where(touching, jnp.maximum(pushed, 0.0), 0.0)
    across = _dot(normals, slipped)
    held = [
        force - pressure * normal - (slip - across * normal) / length
        for force, normal, slip in zip(forces, normals, slipped, strict=True)
    ]
    size, limit = jnp.sqrt(_dot(held, held)), friction * pushed
    share = jnp.where(size > limit, limit / jnp.maximum(size, 1e-20), 1.0)
    x, y, z = (pushed * normal + share * part for normal, part in zip(normals, held, strict=True))
    return x, y, z


def _dot(left: Coordinates, right: Coordinates) -> Array:
    return left[0] * right[0] + left[1] * right[1] + left[2] * right[2]


def moved_by(rows: ContactRows, forces: Float[Array, "3 C"]) -> Float[Array, "3 f 1"]:
    """A⁻¹ Qᵀ f, metres."""
    answers = rows.answers.T
    return jnp.stack(sum_together(*(answers[..., None] * part[:, None] for part in forces)))
