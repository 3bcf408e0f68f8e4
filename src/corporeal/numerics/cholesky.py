"""A sparse Cholesky factor made for many solves with three columns, in single precision.

The matrix A, sparse, symmetric and positive definite, is ordered and factored once by SciPy
(SuperLU, minimum degree): A = L D Lᵀ. Columns that are close in the elimination tree are grouped
(some zeros are stored for it), and with I the columns of a group and J the rows below them,

    b_J ← b_J − W b_I,  W = L_JI L_II⁻¹            from the first group to the last,
    x_I = M b_I − Wᵀ x_J,  M = L_II⁻ᵀ D_I⁻¹ L_II⁻¹   from the last to the first,

so that a solve is a few hundred products of small dense matrices with three columns.

Two kernels do the products. `vector` emits LLVM's vector instructions through numba's internals and
is 1.6 to 1.8 times as fast; `plain` is numba's public language alone. Both add the same products,
in different orders. Which one is used is an argument, the environment's `CORPOREAL_CHOLESKY`, or,
where neither says, `vector`; if numba's internals are not as it needs them, a warning says so and
`plain` is used. `corporeal doctor` shows the choice.
"""

import os
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import splu

from corporeal._typing import Float32, Int, NumpyArray
from corporeal.errors import InputError, SolverError

Kernel = Literal["vector", "plain"]
"""How the products of a solve are compiled."""
KERNEL_SETTING = "CORPOREAL_CHOLESKY"
"""Environment variable that names a kernel for every factor that does not ask for one."""

_CACHE_LINE = 64
"""Bytes."""


@dataclass(frozen=True)
class KernelChoice:
    """The kernel of a solve, and why this one."""

    name: Kernel
    """`vector` or `plain`."""
    reason: str
    """In words, for users."""
    by_need: bool = False
    """Whether `plain` stands in for a `vector` that nobody refused and that does not work here."""


def kernel_choice(asked: str | None = None) -> KernelChoice:
    """The kernel that a factor uses: the one asked for, else the environment's, else `vector`.

    Without a wish, `plain` is chosen where numba's internals do not carry `vector`; a wish for
    `vector` is then refused.
    """
    source = "asked for" if asked is not None else f"{KERNEL_SETTING} says so"
    wanted = os.environ.get(KERNEL_SETTING) or None if asked is None else asked
    if wanted not in (None, "vector", "plain"):
        where = "the argument" if asked is not None else KERNEL_SETTING
        raise InputError(f"{where} names the kernel {wanted!r}; expected 'vector' or 'plain'.")
    if wanted == "plain":
        return KernelChoice("plain", source)
    trouble = _vector_trouble()
    if not trouble:
        return KernelChoice("vector", source if wanted else "the faster one, and it works here")
    if wanted == "vector":
        raise SolverError(
            f"the vector kernel of the Cholesky solve does not work here: {trouble} Ask for the "
            f"plain one ({KERNEL_SETTING}=plain), or install a numba that carries it."
        )
    return KernelChoice("plain", f"the vector kernel does not work here: {trouble}", by_need=True)


@lru_cache(maxsize=1)
def _vector_trouble() -> str:
    """Why the vector kernel cannot be used; empty if it can."""
    from numba.core.errors import NumbaError

    try:
        from corporeal.numerics.cholesky_vector_cpu import probe

        probe()
    except (ImportError, AttributeError, TypeError, NumbaError, SolverError) as error:
        first = (str(error).strip() or "no message").splitlines()[0]
        return f"{type(error).__name__}: {first}."
    return ""


def _compiled(asked: Kernel | None) -> Callable[..., Any]:
    """The compiled solve; says aloud when it is not the one that would be expected."""
    choice = kernel_choice(asked)
    if choice.by_need:
        warnings.warn(
            f"the Cholesky solve uses its plain kernel, about 1.7 times as slow: {choice.reason} "
            f"Set {KERNEL_SETTING}=plain to be content with it.",
            stacklevel=3,
        )
    if choice.name == "plain":
        from corporeal.numerics.cholesky_cpu import solve
    else:
        from corporeal.numerics.cholesky_vector_cpu import solve
    return solve


@dataclass(frozen=True)
class _Groups:
    """All groups, laid out one after the other; see `cholesky_kernels.solve`."""

    table: Int[NumpyArray, "G 6"]
    rows: Int[NumpyArray, "r"]
    down: Float32[NumpyArray, "d"]
    up: Float32[NumpyArray, "u"]


class CholeskyFactor:
    """`solve(b, x)` writes A⁻¹ b into x."""

    def __init__(self, matrix: csc_array, kernel: Kernel | None = None) -> None:
        """Refused if the matrix is not positive definite; `kernel` as in `kernel_choice`."""
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
        self._solve = _compiled(kernel)
        self._largest = int((self._groups.table[:, 1] + self._groups.table[:, 2]).max())

    def solve(self, right: Float32[NumpyArray, "f k"], answer: Float32[NumpyArray, "f k"]) -> None:
        """Write A⁻¹ `right` into `answer`, three columns at a time."""
        layout = self._groups
        packed = (layout.table, layout.rows, layout.down, layout.up, self._order, self._largest)
        if right.shape[1] == 3:
            self._solve(*packed, right, answer)
            return
        three, solved = np.zeros((len(right), 3), np.float32), np.empty((len(right), 3), np.float32)
        for first in range(0, right.shape[1], 3):
            width = min(3, right.shape[1] - first)
            three[:, :width] = right[:, first : first + width]
            self._solve(*packed, three, solved)
            answer[:, first : first + width] = solved[:, :width]

    def inverse(self) -> Float32[NumpyArray, "f f"]:
        """A⁻¹, dense: f/3 solves, a small part of what inverting a dense matrix takes."""
        count = len(self._order)
        found = np.empty((count, count), np.float32)
        right, answer = np.zeros((count, 3), np.float32), np.empty((count, 3), np.float32)
        for first in range(0, count, 3):
            chosen = np.arange(first, min(first + 3, count))
            right[chosen, chosen - first] = 1.0
            self.solve(right, answer)
            right[chosen] = 0.0
            found[chosen] = answer[:, : len(chosen)].T  # symmetric: columns are rows
        return found


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
        _aligned(np.concatenate(down)),
        _aligned(np.concatenate(up)),
    )


def _aligned(values: NumpyArray) -> Float32[NumpyArray, "n"]:
    """In single precision, from the beginning of a cache line on: a vector of 16 lanes, read across
    two, takes an eighth of a solve longer."""
    room = np.empty(4 * len(values) + _CACHE_LINE, np.uint8)
    first = -room.ctypes.data % _CACHE_LINE
    placed = room[first : first + 4 * len(values)].view(np.float32)
    placed[:] = values
    return placed


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
