"""Untangling on a device: the projection of `reference`, all elements at once.

Elements are seen from their free corners (`solver.gpu.elements`), so that nothing is scattered.
With J = det F of an element, V/V₀, whose gradient by corner k is cof(F) g_k, a corner is asked to
move by (ε⁺ − J)/Σ ‖∇_k J‖² ∇J. Fewer sweeps are taken, and none one by one: what is left is taken
on by the next iteration.
"""

import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array, Float
from corporeal.physics.solver.gpu.elements import DeviceFlesh
from corporeal.physics.untangling.reference import LARGEST_MOVE, LEAST_SHARE, OPENED_SHARE

SWEEPS, LAST_SWEEPS = 4, 30
"""At most, after an iteration of the solver, and after the last one of a step: each is a program of
its own, however few elements are small."""


def untangle(
    flesh: DeviceFlesh, z: Float[Array, "3 f B"], anchors: Float[Array, "3 b B"], last: bool
) -> Float[Array, "3 f B"]:
    """The free vertices with small elements pushed open, metres; none where none is small. `last`:
    it ends a step."""
    most = LAST_SWEEPS if last else SWEEPS

    def again(state: tuple[Array, Array, Array]) -> Array:
        return (state[2] > 0) & (state[1] < most)

    def once(state: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
        moved, small = _sweep(flesh, state[0], anchors)
        return moved, state[1] + 1, small

    one = jnp.ones((), jnp.int32)
    return lax.while_loop(again, once, (z, jnp.zeros((), jnp.int32), one))[0]


def _sweep(flesh: DeviceFlesh, z: Array, anchors: Array) -> tuple[Array, Array]:
    """One pass over all elements, and how many corners of small ones it found."""
    free = flesh.weights.shape[0]
    positions = jnp.concatenate([z, anchors], axis=1)
    own = positions[:, :free, None]
    edges = [[positions[i][flesh.corners[k]] - own[i] for k in range(3)] for i in range(3)]
    g = [flesh.gradients[j][..., None] for j in range(9)]
    f = [
        [edges[i][0] * g[j] + edges[i][1] * g[3 + j] + edges[i][2] * g[6 + j] for j in range(3)]
        for i in range(3)
    ]
    cofactors = [
        [
            f[(i + 1) % 3][(j + 1) % 3] * f[(i + 2) % 3][(j + 2) % 3]
            - f[(i + 1) % 3][(j + 2) % 3] * f[(i + 2) % 3][(j + 1) % 3]
            for j in range(3)
        ]
        for i in range(3)
    ]
    share = sum(f[0][j] * cofactors[0][j] for j in range(3))
    present = flesh.weights[..., None] > 0
    small = present & (share < LEAST_SHARE)
    others = [_times(cofactors, [g[3 * k + j] for j in range(3)]) for k in range(3)]
    mine = [-(others[0][i] + others[1][i] + others[2][i]) for i in range(3)]
    size = furthest = sum(m * m for m in mine) + 1e-20
    for k in range(3):
        moves = (flesh.corners[k] < free)[..., None]
        squared = jnp.where(moves, sum(o * o for o in others[k]), 0.0)
        size, furthest = size + squared, jnp.maximum(furthest, squared)
    push = (OPENED_SHARE - share) / size
    push = jnp.where(small, jnp.minimum(push, LARGEST_MOVE / jnp.sqrt(furthest)), 0.0)
    count = jnp.sum(small, axis=1)
    moved = jnp.stack([jnp.sum(push * m, axis=1) for m in mine])
    moved = moved / jnp.sqrt(jnp.maximum(count, 1).astype(moved.dtype))
    return z + moved, jnp.sum(count)


def _times(rows: list[list[Array]], vector: list[Array]) -> list[Array]:
    """A matrix times a vector."""
    return [sum(row[j] * vector[j] for j in range(3)) for row in rows]
