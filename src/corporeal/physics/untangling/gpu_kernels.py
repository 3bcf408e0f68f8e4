"""A sweep of untangling as one GPU kernel (Pallas), for a single character: see `untangling.gpu`.

A block of threads takes a few vertices, a lane an incidence, as the local step does
(`solver.gpu.local_step_kernels`).
"""

import jax
import jax.numpy as jnp
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from corporeal._typing import Array, Float, Int
from corporeal.physics.solver.gpu.elements import DeviceFlesh
from corporeal.physics.solver.gpu.local_step_kernels import LANES, VERTICES
from corporeal.physics.untangling.gpu import Asked, incidence_moves


def kernel_swept(
    flesh: DeviceFlesh,
    z: Float[Array, "3 f 1"],
    anchors: Float[Array, "3 b 1"],
    asked: Asked | None = None,
    part: Float[Array, ""] | float = 1.0,
    interpret: bool = False,
) -> tuple[Float[Array, "3 f 1"], Int[Array, ""]]:
    """`swept`, by one kernel; `interpret` runs it without a GPU."""
    free, width = flesh.weights.shape
    more = ((0, max(0, VERTICES - free)), (0, -width % LANES))
    rows = free + more[0][1]
    call = pl.pallas_call(
        _tile_moves,
        grid=(-(-free // VERTICES),),
        out_shape=(
            jax.ShapeDtypeStruct((3, rows), jnp.float32),
            jax.ShapeDtypeStruct((rows,), jnp.int32),
        ),
        interpret=interpret,
        compiler_params=None if interpret else triton.CompilerParams(num_warps=4, num_stages=1),
    )
    moved, counts = call(
        jnp.pad(flesh.corners, ((0, 0), *more)),
        jnp.pad(flesh.gradients, ((0, 0), *more)),
        jnp.pad(flesh.weights, more),
        z[..., 0],
        anchors[..., 0],
        *(asked or Asked(jnp.zeros((3, free), jnp.float32), jnp.zeros(free, jnp.int32))),
        jnp.full(1, part, jnp.float32),
    )
    return moved[:, :free, None], jnp.sum(counts[:free])


def _tile_moves(
    corners, gradients, weights, z, anchors, asked, askers, part, moved, counts
) -> None:  # pyright: ignore[reportMissingParameterType]
    """Where a few vertices get, and how many elements asked each."""
    # The last block goes over vertices of the one before again, to the same end.
    first_row = jnp.minimum(pl.program_id(0) * VERTICES, weights.shape[0] - VERTICES)
    rows, free = pl.ds(first_row, VERTICES), z.shape[1]
    vertices = jnp.minimum(first_row + jnp.arange(VERTICES), free - 1)
    own = [triton.load(z.at[i, vertices]) for i in range(3)]
    sums = [jnp.zeros(VERTICES, jnp.float32)] * 3
    count = jnp.zeros(VERTICES, jnp.int32)
    for first in range(0, weights.shape[1], LANES):
        lanes = pl.ds(first, LANES)
        others = [corners[k, rows, lanes] for k in range(3)]
        loose = [other < free for other in others]
        edges = []
        for i in range(3):
            row = []
            for other, is_free in zip(others, loose, strict=True):
                here = triton.load(z.at[i, jnp.minimum(other, free - 1)])
                held = triton.load(anchors.at[i, jnp.clip(other - free, 0, anchors.shape[1] - 1)])
                row.append(jnp.where(is_free, here, held) - own[i][:, None])
            edges.append(row)
        g = [gradients[j, rows, lanes] for j in range(9)]
        *moves, small = incidence_moves(edges, g, weights[rows, lanes], loose)
        sums = [total + jnp.sum(move, axis=1) for total, move in zip(sums, moves, strict=True)]
        count = count + jnp.sum(small.astype(jnp.int32), axis=1)
    everyone = count + triton.load(askers.at[vertices])
    scale = part[0] / jnp.sqrt(jnp.maximum(everyone, 1).astype(jnp.float32))
    for i in range(3):
        moved[i, rows] = own[i] + scale * (sums[i] + triton.load(asked.at[i, vertices]))
    counts[rows] = count
