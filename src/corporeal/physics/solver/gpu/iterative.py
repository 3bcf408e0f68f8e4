"""The global step by conjugate gradients: for bodies whose inverse fits in no memory.

A is kept as rows of equal length. Blocks of neighbouring vertices on its diagonal, inverted, are
the preconditioner. Rounds are fixed, so that a step is one program; what they leave is small
against the correction, and the local–global iteration around them corrects it with the rest.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax
from scipy.sparse import csc_array, csr_array

from corporeal._typing import Array, Float, Int
from corporeal.errors import SolverError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

BLOCK = 32
"""Vertices whose part of the matrix is inverted together."""
ROUNDS = 24
"""Of conjugate gradients; 24 leave 1e-3 of the correction on flesh in two layers."""
_TINY = 1e-30


@pytree_dataclass(static=("rounds",))
class IterativeInverse:
    """A, f rows of w entries, and the inverses of its diagonal blocks."""

    columns: Int[Array, "f w"]
    """Column of every entry of a row."""
    entries: Float[Array, "f w"]
    """N/m; zero behind the last of a row."""
    blocks: Float[Array, "g r r"]
    """m/N."""
    rounds: int = ROUNDS
    """Conjugate-gradient steps, always as many."""


def iterative_inverse(matrix: csc_array, rounds: int = ROUNDS) -> IterativeInverse:
    """The matrix of a body whose vertices are in `cluster_order`, ready for conjugate gradients."""
    rows = csr_array(matrix)
    rows.sort_indices()
    lengths = np.diff(rows.indptr)
    count, width = len(lengths), int(lengths.max())
    slot = np.arange(rows.nnz) - np.repeat(rows.indptr[:-1], lengths)
    owner = np.repeat(np.arange(count), lengths)
    columns, entries = np.zeros((count, width), np.int32), np.zeros((count, width), np.float32)
    columns[owner, slot], entries[owner, slot] = rows.indices, rows.data
    blocks = np.zeros((-(-count // BLOCK), BLOCK, BLOCK))
    filling = np.arange(count, len(blocks) * BLOCK) % BLOCK
    blocks[-1, filling, filling] = 1.0
    near = owner // BLOCK == rows.indices // BLOCK
    at = owner[near]
    blocks[at // BLOCK, at % BLOCK, rows.indices[near] % BLOCK] = rows.data[near]
    if not (np.linalg.eigvalsh(blocks)[:, 0] > 0.0).all():
        raise SolverError(
            "the matrix of the global step is not positive definite: some free vertices are held "
            "by no tetrahedron and have no mass. Anchor them."
        )
    return IterativeInverse(columns, entries, np.linalg.inv(blocks).astype(np.float32), rounds)


def solved(inverse: IterativeInverse, right_side: Float[Array, "3 f B"]) -> Float[Array, "3 f B"]:
    """A⁻¹ r by conjugate gradients from nothing, coordinate by coordinate."""

    def along(left: Array, right: Array) -> Array:
        return jnp.sum(left * right, axis=1, keepdims=True)

    def better(state: tuple[Array, ...], _: None) -> tuple[tuple[Array, ...], None]:
        found, missed, direction, size = state
        answer = _product(inverse, direction)
        length = size / jnp.maximum(along(direction, answer), _TINY)
        found, missed = found + length * direction, missed - length * answer
        near = _preconditioned(inverse, missed)
        after = along(missed, near)
        return (found, missed, near + after / jnp.maximum(size, _TINY) * direction, after), None

    near = _preconditioned(inverse, right_side)
    start = (jnp.zeros_like(right_side), right_side, near, along(right_side, near))
    return lax.scan(better, start, length=inverse.rounds)[0][0]


def _product(inverse: IterativeInverse, moved: Float[Array, "3 f B"]) -> Float[Array, "3 f B"]:
    # f_cib = Σ_k A_ik u_c(i's k)b
    return jnp.sum(inverse.entries[None, ..., None] * moved[:, inverse.columns], axis=2)


def _preconditioned(
    inverse: IterativeInverse, missed: Float[Array, "3 f B"]
) -> Float[Array, "3 f B"]:
    """The diagonal blocks' inverses times what is missed."""
    groups, size, _ = inverse.blocks.shape
    _, count, batch = missed.shape
    padded = jnp.pad(missed, ((0, 0), (0, groups * size - count), (0, 0)))
    parts = padded.reshape(3, groups, size, batch)
    # p_cgib = Σ_j B_gij r_cgjb
    exact = lax.Precision.HIGHEST
    moved = jnp.einsum("gij,cgjb->cgib", inverse.blocks, parts, precision=exact)
    return moved.reshape(3, -1, batch)[:, :count]
