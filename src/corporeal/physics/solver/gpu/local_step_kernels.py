"""The local step as GPU kernels (Pallas), one for a crowd and one for single characters.

A crowd's characters lie side by side in memory, so that every load of a position is one for a whole
block of them, and what belongs to the body is read once for all. The loop runs over the incidences
that a vertex has, not over the longest list: 12 against 29 on the default body. A single character
takes a warp a vertex and a lane an incidence.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from corporeal._typing import Array, Float
from corporeal.physics.solver.gpu.elements import DeviceFlesh, incidence_forces

BLOCK = 128
"""Characters that one block of threads works on."""
VERTICES, LANES = 4, 32
"""Vertices that one block of threads works on, and incidences of each at a time."""


def kernel_forces(
    flesh: DeviceFlesh, positions: Float[Array, "3 n B"], interpret: bool = False
) -> Float[Array, "3 f B"]:
    """`strain_forces`, by the kernel that suits the batch; `interpret` runs it without a GPU."""
    if positions.shape[2] == 1:
        return _single(flesh, positions[..., 0], interpret)[..., None]
    return _crowd(flesh, positions, interpret)


def _single(
    flesh: DeviceFlesh, positions: Float[Array, "3 n"], interpret: bool
) -> Float[Array, "3 f"]:
    free, width = flesh.weights.shape
    more = ((0, max(0, VERTICES - free)), (0, -width % LANES))
    corners = jnp.pad(flesh.corners, ((0, 0), *more))
    call = pl.pallas_call(
        _tile_forces,
        grid=(-(-free // VERTICES),),
        out_shape=jax.ShapeDtypeStruct((3, corners.shape[1]), jnp.float32),
        interpret=interpret,
        compiler_params=None if interpret else triton.CompilerParams(num_warps=4, num_stages=1),
    )
    gradients = jnp.pad(flesh.gradients, ((0, 0), *more))
    return call(corners, gradients, jnp.pad(flesh.weights, more), positions)[:, :free]


def _crowd(
    flesh: DeviceFlesh, positions: Float[Array, "3 n B"], interpret: bool
) -> Float[Array, "3 f B"]:
    free, batch = flesh.weights.shape[0], positions.shape[2]
    blocks = -(-batch // BLOCK)
    padded = jnp.pad(positions, ((0, 0), (0, 0), (0, blocks * BLOCK - batch)))
    counts = jnp.sum(flesh.weights > 0.0, axis=1, dtype=jnp.int32)
    call = pl.pallas_call(
        _vertex_forces,
        grid=(free, blocks),
        out_shape=jax.ShapeDtypeStruct((3, free, blocks * BLOCK), jnp.float32),
        interpret=interpret,
        compiler_params=None if interpret else triton.CompilerParams(num_warps=4, num_stages=1),
    )
    forces = call(flesh.corners, flesh.gradients, flesh.weights, counts, padded)
    return forces[:, :, :batch]


def _tile_forces(corners, gradients, weights, positions, forces) -> None:  # pyright: ignore[reportMissingParameterType]
    """Sums of w (R − F) g₀ over the incidences of a few vertices of one character."""
    # The last block goes over vertices of the one before again, to the same end.
    first_row = jnp.minimum(pl.program_id(0) * VERTICES, weights.shape[0] - VERTICES)
    rows = pl.ds(first_row, VERTICES)
    vertices = jnp.minimum(first_row + jnp.arange(VERTICES), positions.shape[1] - 1)
    own = [triton.load(positions.at[i, vertices])[:, None] for i in range(3)]
    sums = [jnp.zeros(VERTICES, jnp.float32)] * 3
    for first in range(0, weights.shape[1], LANES):
        lanes = pl.ds(first, LANES)
        others = [corners[k, rows, lanes] for k in range(3)]
        edges = [
            [triton.load(positions.at[i, other]) - own[i] for other in others] for i in range(3)
        ]
        g = [gradients[j, rows, lanes] for j in range(9)]
        pulls = incidence_forces(edges, g, weights[rows, lanes])
        sums = [total + jnp.sum(pull, axis=1) for total, pull in zip(sums, pulls, strict=True)]
    for i in range(3):
        forces[i, rows] = sums[i]


def _vertex_forces(corners, gradients, weights, counts, positions, forces) -> None:  # pyright: ignore[reportMissingParameterType]
    """Sum of w (R − F) g₀ over the incidences of one vertex, for one block of characters."""
    vertex = pl.program_id(0)
    block = pl.ds(pl.program_id(1) * BLOCK, BLOCK)
    own = [positions[i, vertex, block] for i in range(3)]

    def add(slot: Array, total: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        others = [corners[k, vertex, slot] for k in range(3)]
        edges = [[positions[i, other, block] - own[i] for other in others] for i in range(3)]
        g = [gradients[j, vertex, slot] for j in range(9)]
        x, y, z = incidence_forces(edges, g, weights[vertex, slot])
        return total[0] + x, total[1] + y, total[2] + z

    nothing = jnp.zeros(BLOCK, jnp.float32)
    sums = lax.fori_loop(0, counts[vertex], add, (nothing, nothing, nothing))
    for i in range(3):
        forces[i, vertex, block] = sums[i]
