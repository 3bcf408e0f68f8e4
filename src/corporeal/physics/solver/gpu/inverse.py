"""The constant global step as dense products: δ = A⁻¹ r, exact to rounding.

A = κ M_f + Q_fᵀ W Q_f is symmetric positive definite and constant while topology, masses, stiffness
and step are. Four forms of its inverse:

* `DenseInverse`: the whole of it, f² numbers.
* `ClusteredInverse`: flesh hangs on bones, so that what is pulled here moves little a hand's
  breadth away: entries of A⁻¹ fall exponentially. Vertices go in clusters of 32 neighbours, and
  a cluster keeps the columns in which any of its rows has |A⁻¹_ij| > ε √(A⁻¹_ii A⁻¹_jj).
* `TwoLevelInverse` (`solver.gpu.two_level`): nested dissection; exact where entries do not fall.
* `IterativeInverse` (`solver.gpu.iterative`): A itself and conjugate gradients, where f² numbers
  are too many even to begin with.

The iteration adds corrections, z ← z + A⁻¹ r(z): it ends where r(z) = 0 whatever stands for A⁻¹. So
neither ε nor a storage of 16 bits changes what is converged to, only (by its own relative size) how
fast.
"""

from functools import partial
from typing import TypeAlias

import jax
import jax.numpy as jnp
import numpy as np
from scipy.sparse import csc_array

from corporeal._typing import Array, Float, Float64, Int, NumpyArray
from corporeal.errors import SolverError
from corporeal.physics.solver.gpu.elements import sum_together
from corporeal.physics.solver.gpu.iterative import (
    IterativeInverse,
    iterative_inverse,
    solved,
)
from corporeal.physics.solver.gpu.two_level import TwoLevelInverse, solved_in_levels
from corporeal.runtime.pytree_dataclass import pytree_dataclass

CLUSTER = 32
"""Vertices that share a list of columns."""
SMALLEST_KEPT = 1e-4
"""ε: entries of the inverse below this, against the diagonal, count as zero."""
PIECE = 256
"""Columns in one piece: clusters in thick flesh have many, those on fingers few."""
MOST_INVERTED = 20_000
"""Free vertices above which the inverse is never made: 3 GB in float64."""
_LOCAL_SHARE = 0.5
"""Of the dense inverse: a local one larger than this is not worth its indices."""


@pytree_dataclass()
class DenseInverse:
    """A⁻¹."""

    matrix: Float[Array, "f f"]
    """m/N."""


@pytree_dataclass()
class ClusteredInverse:
    """A⁻¹ by clusters of r rows, each in pieces of c of its columns; missing ones are zero."""

    columns: Int[Array, "p c"]
    """Column of every entry of a piece."""
    rows: Float[Array, "p r c"]
    """m/N."""
    pieces: Int[Array, "g m"]
    """Pieces of every cluster; p (none) behind the last."""


Inverse: TypeAlias = DenseInverse | ClusteredInverse | TwoLevelInverse | IterativeInverse


def cluster_order(places: Float64[NumpyArray, "f 3"], size: int = CLUSTER) -> Int[NumpyArray, "f"]:
    """Vertices in an order in which every `size` of them are neighbours: halved at the median along
    the longest side, again and again."""

    def halved(chosen: NumpyArray) -> list[NumpyArray]:
        if len(chosen) <= size:
            return [chosen]
        box = places[chosen]
        along = np.argsort(box[:, np.argmax(np.ptp(box, axis=0))], kind="stable")
        middle = (-(-len(chosen) // size) // 2) * size
        return halved(chosen[along[:middle]]) + halved(chosen[along[middle:]])

    return np.concatenate(halved(np.arange(len(places))))


def inverted(matrix: csc_array) -> Float64[NumpyArray, "f f"]:
    """A⁻¹ in float64."""
    try:
        inverse = np.linalg.inv(matrix.toarray())
    except np.linalg.LinAlgError:
        inverse = np.full((1, 1), -1.0)
    if not (np.isfinite(inverse).all() and (np.diag(inverse) > 0).all()):
        raise SolverError(
            "the matrix of the global step is not positive definite: some free vertices are held "
            "by no tetrahedron and have no mass. Anchor them."
        )
    return inverse


def inverted_on_device(matrix: csc_array) -> Float[NumpyArray, "f f"]:
    """A⁻¹ in float32, by the device, with one step X (2 − A X) after it: for many bodies."""
    dense = jnp.asarray(matrix.toarray(), jnp.float32)
    inverse = jnp.linalg.inv(dense)
    exact = jax.lax.Precision.HIGHEST
    missed = jnp.matmul(dense, inverse, precision=exact) - jnp.eye(len(dense))
    return np.asarray(inverse - jnp.matmul(inverse, missed, precision=exact))


def local_inverse(
    inverse: Float[NumpyArray, "f f"], smallest: float = SMALLEST_KEPT, size: int = CLUSTER
) -> ClusteredInverse:
    """The entries worth keeping of an inverse whose vertices are in `cluster_order`."""
    scale = 1.0 / np.sqrt(np.diag(inverse))
    columns, rows, pieces = [], [], []
    for first in range(0, len(inverse), size):
        own = inverse[first : first + size]
        largest = (np.abs(own) * scale[first : first + size, None]).max(axis=0) * scale
        kept = np.flatnonzero(largest > smallest)
        parts = [kept[start : start + PIECE] for start in range(0, len(kept), PIECE)]
        pieces.append(np.arange(len(columns), len(columns) + len(parts)))
        columns += [np.pad(part, (0, PIECE - len(part))) for part in parts]
        rows += [
            np.pad(own[:, part], ((0, size - len(own)), (0, PIECE - len(part)))) for part in parts
        ]
    most = max(len(part) for part in pieces)
    listed = [np.pad(part, (0, most - len(part)), constant_values=len(rows)) for part in pieces]
    return ClusteredInverse(
        np.array(columns, np.int32), np.array(rows, np.float32), np.array(listed, np.int32)
    )


def inverse_of(whole: Float[NumpyArray, "f f"], dense: bool = False) -> Inverse:
    """A⁻¹ in its local form where that is at most half of the dense one, unless `dense` is asked
    for."""
    if not dense:
        local = local_inverse(whole)
        if local.rows.size <= _LOCAL_SHARE * whole.size:
            return local
    return DenseInverse(whole.astype(np.float32))


def global_step(matrix: csc_array, dense: bool = False) -> Inverse:
    """The solve of a constant matrix whose vertices are in `cluster_order`, in the form that suits
    its size; `dense` asks for the whole inverse."""
    if not dense and len(matrix.indptr) - 1 > MOST_INVERTED:
        return iterative_inverse(matrix)
    return inverse_of(inverted(matrix), dense)


def correction(inverse: Inverse, right_side: Float[Array, "3 f B"]) -> Float[Array, "3 f B"]:
    """δ = A⁻¹ r, metres, of forces r in newtons."""
    if isinstance(inverse, IterativeInverse):
        return solved(inverse, right_side)
    count, batch = right_side.shape[1:]
    if isinstance(inverse, TwoLevelInverse):
        if batch == 1:
            return solved_in_levels(inverse, right_side)
        each = jnp.moveaxis(right_side, 2, 0)[..., None]
        return jnp.moveaxis(jax.lax.map(partial(solved_in_levels, inverse), each)[..., 0], 0, 2)
    if isinstance(inverse, DenseInverse) and batch == 1:  # memory-bound: one pass over the matrix
        return jnp.stack(sum_together(*(inverse.matrix[..., None] * side for side in right_side)))
    if isinstance(inverse, DenseInverse):
        # δ_ib = Σ_j A⁻¹_ij r_jb, in the default precision (see above)
        return jnp.einsum("ij,cjb->cib", inverse.matrix, right_side)
    count_of_pieces, size, width = inverse.rows.shape
    if batch == 1:  # gather, product and sum in one pass over the inverse
        parts = [
            (inverse.rows * side[inverse.columns, 0][:, None, :]).reshape(-1, width, 1)
            for side in right_side
        ]
        moved = jnp.stack(sum_together(*parts))
    else:
        near = right_side[:, inverse.columns].transpose(1, 2, 0, 3).reshape(-1, width, 3 * batch)
        # δ_prb = Σ_k A⁻¹_prk r_(p's k)b
        moved = jnp.einsum("prk,pkb->prb", inverse.rows, near, precision=jax.lax.Precision.HIGHEST)
        moved = moved.reshape(-1, 3, batch).transpose(1, 0, 2)
    moved = moved.reshape(3, count_of_pieces, size, batch)
    moved = jnp.pad(moved, ((0, 0), (0, 1), (0, 0), (0, 0)))[:, inverse.pieces]
    return jnp.sum(moved, axis=2).reshape(3, -1, batch)[:, :count]
