"""A sparse Cholesky factor made for many solves with three columns, in single precision.

The matrix A, sparse, symmetric and positive definite, is ordered and factored once by SciPy
(SuperLU, minimum degree): A = L D Lᵀ. Columns that are close in the elimination tree are grouped
(some zeros are stored for it), and with I the columns of a group and J the rows below them,

    b_J ← b_J − W b_I,  W = L_JI L_II⁻¹            from the first group to the last,
    x_I = M b_I − Wᵀ x_J,  M = L_II⁻ᵀ D_I⁻¹ L_II⁻¹   from the last to the first,

so that a solve is a few hundred products of small dense matrices with three columns.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float32, Int, NumpyArray
from corporeal.errors import SolverError


@dataclass(frozen=True)
class _Groups:
    """All groups, laid out one after the other; see `cholesky_kernels.solve`."""

    table: Int[NumpyArray, "G 6"]
    rows: Int[NumpyArray, "r"]
    down: Float32[NumpyArray, "d"]
    up: Float32[NumpyArray, "u"]


class CholeskyFactor:
    """`solve(b, x)` writes A⁻¹ b into x."""

    def __init__(self, matrix: csc_array) -> None:
        """Refused if the matrix is not positive definite."""
        from corporeal.numerics.cholesky_cpu import group_columns

        factor = splu(
            matrix,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
        pivots = factor.U.diagonal()
        if not (pivots > 0).all() or (factor.perm_r != factor.perm_c).any():
            raise SolverError(
                f"a system of {len(pivots)} unknowns is not positive definite (least pivot "
                f"{pivots.min():.3g}); check masses and stiffness for values that are not above 0."
            )
        lower = csc_array(factor.L)
        lower.sort_indices()
        below = np.diff(lower.indptr) - 1
        parents = np.full(len(below), -1)
        parents[below > 0] = lower.indices[lower.indptr[:-1][below > 0] + 1]
        owner = np.empty(len(below), np.int64)
        group_columns(parents, below.astype(np.int64), owner)
        self._groups = _dense_groups(lower, pivots, owner)
        eliminated = np.argsort(factor.perm_c)
        self._order = eliminated[np.argsort(owner, kind="stable")]
        self._largest = int((self._groups.table[:, 1] + self._groups.table[:, 2]).max())

    def solve(self, right: Float32[NumpyArray, "f k"], answer: Float32[NumpyArray, "f k"]) -> None:
        """Write A⁻¹ `right` into `answer`, three columns at a time."""
        from corporeal.numerics.cholesky_cpu import solve

        layout = self._groups
        packed = (layout.table, layout.rows, layout.down, layout.up, self._order, self._largest)
        if right.shape[1] == 3:
            solve(*packed, right, answer)
            return
        three, solved = np.zeros((len(right), 3), np.float32), np.empty((len(right), 3), np.float32)
        for first in range(0, right.shape[1], 3):
            width = min(3, right.shape[1] - first)
            three[:, :width] = right[:, first : first + width]
            solve(*packed, three, solved)
            answer[:, first : first + width] = solved[:, :width]


def _dense_groups(lower: csc_array, pivots: NumpyArray, owner: Int[NumpyArray, "f"]) -> _Groups:
    """W and M of every group, in the order of their last columns: children come first."""
    from corporeal.numerics.cholesky_cpu import LANES, eliminate

    columns = np.argsort(owner, kind="stable")
    place = np.argsort(columns)
    starts = np.flatnonzero(np.diff(owner[columns], prepend=-1))
    table, rows, down, up = [], [], [], []
    at_row, at_down, at_up = 0, 0, 0
    where = np.zeros(len(owner), np.int64)
    for first, last in zip(starts, np.append(starts[1:], len(owner)), strict=True):
        members, top = columns[first:last], owner[columns[first]]
        under = lower.indices[lower.indptr[top] + 1 : lower.indptr[top + 1]]
        n, r = len(members), len(under)
        where[members], where[under] = np.arange(n), n + np.arange(r)
        block = _dense_columns(lower, members, where, n + r)
        inner = np.zeros((n, n))
        eliminate(block, pivots[members], inner)
        down.append(np.pad(block[n:].T, ((0, 0), (0, -r % LANES))).ravel())
        whole = np.concatenate([inner, -block[n:]])
        up.append(np.pad(whole, ((0, 0), (0, -n % LANES))).ravel())
        table.append((first, n, r, at_row, at_down, at_up))
        rows.append(place[under])
        at_row, at_down, at_up = at_row + r, at_down + len(down[-1]), at_up + len(up[-1])
    return _Groups(
        np.array(table, np.int64),
        np.concatenate(rows).astype(np.int32),
        np.concatenate(down).astype(np.float32),
        np.concatenate(up).astype(np.float32),
    )


def _dense_columns(
    lower: csc_array, members: Int[NumpyArray, "n"], where: Int[NumpyArray, "f"], height: int
) -> NumpyArray:
    """Columns of L, with the rows where `where` says."""
    starts, counts = lower.indptr[members], np.diff(lower.indptr)[members]
    entries = np.repeat(starts - np.cumsum(counts) + counts, counts) + np.arange(counts.sum())
    block = np.zeros((height, len(members)))
    block[where[lower.indices[entries]], np.repeat(np.arange(len(members)), counts)] = lower.data[
        entries
    ]
    return block
