"""Grouping columns of a Cholesky factor, and solving with the groups, compiled.

`solve` here is the plain kernel: numba's public language alone. `cholesky_vector_cpu` has the same
solve with its inner product written in LLVM's vector types.
"""

import numpy as np

from corporeal.runtime.kernels import kernel

LANES = 16
# Rough costs of a solve in processor cycles, by which columns are grouped: of 16 entries times
# three columns, of an entry that is gathered and scattered, and of a group.
_PANEL, _GATHER, _GROUP = 5, 6, 60


@kernel()
def cost(width, below):
    """Cycles that a group of `width` columns with `below` rows under its diagonal block takes."""
    across, down = (width + LANES - 1) // LANES, (below + LANES - 1) // LANES
    return _PANEL * (across * (width + below) + down * width) + _GATHER * (width + below) + _GROUP


@kernel()
def _adopt(parent, child, widths, first_child, next_sibling, owner):
    """Take a child group into its parent: its columns, and its children in its place."""
    widths[parent] += widths[child]
    owner[child] = parent
    before, at = -1, first_child[parent]
    while at != child:
        before, at = at, next_sibling[at]
    last = first_child[child]
    if last < 0:
        following = next_sibling[child]
    else:
        following = first_child[child]
        while next_sibling[last] >= 0:
            last = next_sibling[last]
        next_sibling[last] = next_sibling[child]
    if before < 0:
        first_child[parent] = following
    else:
        next_sibling[before] = following


@kernel()
def _best_child(parent, widths, below, first_child, next_sibling):
    """The child whose adoption saves most, and how much; −1 if none saves anything."""
    best, most, child = -1, 0, first_child[parent]
    own = cost(widths[parent], below[parent])
    while child >= 0:
        apart = own + cost(widths[child], below[child])
        saved = apart - cost(widths[parent] + widths[child], below[parent])
        if saved > most:
            best, most = child, saved
        child = next_sibling[child]
    return best, most


@kernel()
def _saved_by_all(parent, widths, below, first_child, next_sibling):
    """What the adoption of all children at once saves."""
    width, apart = widths[parent], cost(widths[parent], below[parent])
    child = first_child[parent]
    while child >= 0:
        width += widths[child]
        apart += cost(widths[child], below[child])
        child = next_sibling[child]
    return apart - cost(width, below[parent])


@kernel()
def group_columns(parents, below, owner):
    """Merge columns with their parents in the elimination tree while that saves time.

    `parents` (−1 for roots) and `below`, the entries under the diagonal, are of single columns;
    `owner` becomes the last column of every column's group.
    """
    count = len(parents)
    widths, first_child = np.ones(count, np.int64), np.full(count, -1)
    next_sibling = np.full(count, -1)
    for column in range(count - 1, -1, -1):
        owner[column] = column
        if parents[column] >= 0:
            next_sibling[column] = first_child[parents[column]]
            first_child[parents[column]] = column
    for column in range(count):
        while True:
            best, most = _best_child(column, widths, below, first_child, next_sibling)
            together = _saved_by_all(column, widths, below, first_child, next_sibling)
            if together > most:
                following = first_child[column]
                while following >= 0:
                    child, following = following, next_sibling[following]
                    _adopt(column, child, widths, first_child, next_sibling, owner)
            elif best >= 0:
                _adopt(column, best, widths, first_child, next_sibling, owner)
            else:
                break
    for column in range(count - 1, -1, -1):
        owner[column] = owner[owner[column]]


@kernel(fastmath=True)
def eliminate(block, pivots, inner):
    """`block` (L_II over L_JI, n + r rows) becomes L_II⁻¹ over W, and `inner` (zeros) M."""
    n = len(pivots)
    upper = np.ascontiguousarray(block[:n].T)
    for i in range(n):
        for j in range(n):
            block[i, j] = 1.0 if i == j else 0.0
    for i in range(len(block)):
        row = block[i]
        for j in range(min(i, n) - 1, -1, -1):
            total, entries = row[j], upper[j]
            for k in range(j + 1, n):
                total -= row[k] * entries[k]
            row[j] = total
    for k in range(n):
        row = block[k]
        for i in range(k + 1):
            share, out = row[i] / pivots[k], inner[i]
            for j in range(k + 1):
                out[j] += share * row[j]


@kernel(fastmath=True)
def _multiply(matrix, start, width, count, vectors, first, out):
    """out[c·width + i] = Σ_j matrix[start + j·width + i] · vectors[3 (first + j) + c].

    `matrix` has `count` columns of `width` rows; three columns c. Arrays are flat, float32.
    """
    x, y, z = out[:width], out[width : 2 * width], out[2 * width : 3 * width]
    x[:] = 0.0
    y[:] = 0.0
    z[:] = 0.0
    for j in range(count):
        entries = matrix[start + j * width : start + (j + 1) * width]
        at = 3 * (first + j)
        a, b, c = vectors[at], vectors[at + 1], vectors[at + 2]
        for i in range(width):
            x[i] += entries[i] * a
            y[i] += entries[i] * b
            z[i] += entries[i] * c


@kernel(fastmath=True)
def solve(groups, rows, down, up, order, largest, right, answer):
    """Solve for three columns: eliminate group after group, then put in backwards.

    `groups` has a row each: first column, columns n, rows below r, and where its part of `rows`,
    `down` (Wᵀ: n columns of r rows, padded) and `up` (M and −W: n + r columns of n rows, padded)
    begins; W and M as in `cholesky`.
    """
    x = np.empty(3 * len(order), np.float32)
    near = np.empty(3 * largest, np.float32)
    out = np.empty(3 * (largest + LANES), np.float32)
    for i in range(len(order)):
        for c in range(3):
            x[3 * i + c] = right[order[i], c]
    for g in range(len(groups)):
        first, n, r, begin = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
        width = (r + LANES - 1) // LANES * LANES
        _multiply(down, groups[g, 4], width, n, x, first, out)
        for i in range(r):
            at = 3 * rows[begin + i]
            for c in range(3):
                x[at + c] -= out[c * width + i]
    for g in range(len(groups) - 1, -1, -1):
        first, n, r, begin = groups[g, 0], groups[g, 1], groups[g, 2], groups[g, 3]
        for i in range(3 * n):
            near[i] = x[3 * first + i]
        for i in range(r):
            at = 3 * rows[begin + i]
            for c in range(3):
                near[3 * (n + i) + c] = x[at + c]
        width = (n + LANES - 1) // LANES * LANES
        _multiply(up, groups[g, 5], width, n + r, near, 0, out)
        for i in range(n):
            for c in range(3):
                x[3 * (first + i) + c] = out[c * width + i]
    for i in range(len(order)):
        for c in range(3):
            answer[order[i], c] = x[3 * i + c]
