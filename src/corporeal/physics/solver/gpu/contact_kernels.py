"""An iteration's contacts as GPU kernels (Pallas): a round of forces, and what they move.

A round is one kernel instead of a gather, a product and a projection: a block of threads takes a
few rows of the compliance, and needs of the others only their forces of the round before. Reading
the answers by their short side, three sums at a time, is what a compiler makes slow: 384 loads one
after the other for every vertex. Here a block takes a tile of them.
"""

from functools import partial

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from corporeal._typing import Array, Float
from corporeal.physics.solver.gpu.contacts import (
    Bounds,
    ContactRows,
    ahead_by,
    allowed_forces,
)

ROWS, WIDTH = 2, 512
"""Contacts that one block of threads works on, and forces it reads at a time."""
COLUMNS, HEIGHT = 16, 128
"""Vertices that one block of threads moves, and contacts it reads at a time."""


def kernel_contacts(
    rows: ContactRows,
    held: Float[Array, "3 C"],
    begun: Float[Array, "3 C"],
    ahead: Float[Array, "3 f 1"],
    forces: Float[Array, "3 C"],
    rounds: int,
    interpret: bool = False,
) -> tuple[Float[Array, "3 f 1"], Float[Array, "3 C"]]:
    """How contacts move free vertices that would be `ahead`, metres, and their forces, newtons.

    The same as `contact_forces` and `moved_by`; `held` is what anchored vertices have in the rows'
    places. `interpret` runs it without a GPU.
    """
    count, free = rows.answers.shape
    shape = jax.ShapeDtypeStruct(forces.shape, jnp.float32)
    options = None if interpret else triton.CompilerParams(num_warps=4, num_stages=1)
    shares = jnp.where(rows.places < free, rows.coefficients, 0.0)
    inside = jnp.minimum(rows.places, free - 1)
    now, guess = forces, forces
    for number in range(rounds):
        call = pl.pallas_call(
            partial(_round, ahead_by(number)),
            grid=(-(-count // ROWS),),
            out_shape=(shape, shape),
            interpret=interpret,
            compiler_params=options,
        )
        now, guess = call(
            rows.compliance, rows.steady, rows.normals, rows.offsets, rows.softness, rows.friction,
            inside, shares, held, begun, ahead[..., 0], now, guess,
        )  # fmt: skip
    move = pl.pallas_call(
        _moved,
        grid=(-(-free // COLUMNS),),
        out_shape=jax.ShapeDtypeStruct((3, free), jnp.float32),
        interpret=interpret,
        compiler_params=options,
    )
    return move(rows.answers, now)[..., None], now


def _round(
    share, compliance, steady, normals, offsets, softness, friction, inside, shares, held, begun,
    ahead, now, guess, following, further,
) -> None:  # pyright: ignore[reportMissingParameterType]  # fmt: skip
    """One projected step of a few rows, and how far beyond it the next begins."""
    count = steady.shape[0]
    own = jnp.minimum(pl.program_id(0) * ROWS + jnp.arange(ROWS), count - 1)

    def add(piece: Array, totals: tuple[Array, ...]) -> tuple[Array, ...]:
        lanes = piece * WIDTH + jnp.arange(WIDTH)
        there, lanes = lanes < count, jnp.minimum(lanes, count - 1)
        tile = triton.load(compliance.at[own[:, None], lanes[None]])
        pushes = [jnp.where(there, triton.load(guess.at[i, lanes]), 0.0) for i in range(3)]
        return tuple(
            total + jnp.sum(tile * push[None], axis=1)
            for total, push in zip(totals, pushes, strict=True)
        )

    nothing = (jnp.zeros(ROWS, jnp.float32),) * 3
    moved = lax.fori_loop(0, -(-count // WIDTH), add, nothing)
    corners = [triton.load(inside.at[own, k]) for k in range(4)]
    weights = [triton.load(shares.at[own, k]) for k in range(4)]
    reached = []
    for i in range(3):
        place = moved[i] + triton.load(held.at[i, own])
        for corner, weight in zip(corners, weights, strict=True):
            place += weight * triton.load(ahead.at[i, corner])
        reached.append(place)

    def of(values) -> list[Array]:  # pyright: ignore[reportMissingParameterType]
        return [triton.load(values.at[i, own]) for i in range(3)]

    single = (triton.load(values.at[own]) for values in (offsets, softness, friction, steady))
    found = allowed_forces(Bounds(of(normals), *single), of(guess), reached, of(begun))
    for i, (force, before) in enumerate(zip(found, of(now), strict=True)):
        triton.store(following.at[i, own], force)
        triton.store(further.at[i, own], force + share * (force - before))


def _moved(answers, forces, moved) -> None:  # pyright: ignore[reportMissingParameterType]
    """Σ_i Y_ij f_i of a few vertices j."""
    count, free = answers.shape
    own = jnp.minimum(pl.program_id(0) * COLUMNS + jnp.arange(COLUMNS), free - 1)

    def add(piece: Array, totals: tuple[Array, ...]) -> tuple[Array, ...]:
        lanes = piece * HEIGHT + jnp.arange(HEIGHT)
        there, lanes = lanes < count, jnp.minimum(lanes, count - 1)
        tile = triton.load(answers.at[lanes[:, None], own[None]])
        pushes = [jnp.where(there, triton.load(forces.at[i, lanes]), 0.0) for i in range(3)]
        return tuple(
            total + jnp.sum(tile * push[:, None], axis=0)
            for total, push in zip(totals, pushes, strict=True)
        )

    nothing = (jnp.zeros(COLUMNS, jnp.float32),) * 3
    totals = lax.fori_loop(0, -(-count // HEIGHT), add, nothing)
    for i in range(3):
        triton.store(moved.at[i, own], totals[i])
