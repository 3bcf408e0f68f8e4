"""The local step of a crowd as one GPU kernel (Pallas): a block of characters a vertex.

Characters lie side by side in memory, so that every load of a position is one for the whole block,
and what belongs to the body is read once for all of them. The loop runs over the incidences that a
vertex has, not over the longest list: 12 against 29 on the default body.
"""

import jax
import jax.numpy as jnp
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import triton

from corporeal._typing import Array, Float
from corporeal.physics.projective_dynamics.gpu_flesh import Flesh
from corporeal.physics.projective_dynamics.gpu_polar import closest_rotation

BLOCK = 128
"""Characters that one block of threads works on."""


def crowd_forces(
    flesh: Flesh, positions: Float[Array, "3 n B"], interpret: bool = False
) -> Float[Array, "3 f B"]:
    """`strain_forces` of B characters; `interpret` runs it without a GPU, for tests."""
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


def _vertex_forces(corners, gradients, weights, counts, positions, forces) -> None:  # pyright: ignore[reportMissingParameterType]
    """Sum of w (R − F) g₀ over the incidences of one vertex, for one block of characters."""
    vertex = pl.program_id(0)
    block = pl.ds(pl.program_id(1) * BLOCK, BLOCK)
    own = [positions[i, vertex, block] for i in range(3)]

    def add(slot: Array, total: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        others = [corners[k, vertex, slot] for k in range(3)]
        g = [gradients[j, vertex, slot] for j in range(9)]
        edges = [[positions[i, other, block] - own[i] for other in others] for i in range(3)]
        # F_ij = Σ_k (x_k − x₀)_i g_kj
        stretch = [
            edges[i][0] * g[j] + edges[i][1] * g[3 + j] + edges[i][2] * g[6 + j]
            for i in range(3)
            for j in range(3)
        ]
        missing = [r - f for r, f in zip(closest_rotation(stretch), stretch, strict=True)]
        pull = [-weights[vertex, slot] * (g[j] + g[3 + j] + g[6 + j]) for j in range(3)]
        return (
            total[0] + missing[0] * pull[0] + missing[1] * pull[1] + missing[2] * pull[2],
            total[1] + missing[3] * pull[0] + missing[4] * pull[1] + missing[5] * pull[2],
            total[2] + missing[6] * pull[0] + missing[7] * pull[1] + missing[8] * pull[2],
        )

    nothing = jnp.zeros(BLOCK, jnp.float32)
    sums = lax.fori_loop(0, counts[vertex], add, (nothing, nothing, nothing))
    for i in range(3):
        forces[i, vertex, block] = sums[i]
