"""Grouping columns of a Cholesky factor, and solving with the groups, compiled."""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

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


@intrinsic
def _multiply_panel(typing, matrix, start, stride, count, vectors, first, out, at):
    """out[at + c·stride + l] = Σ_j matrix[start + j·stride + l] · vectors[3 (first + j) + c], for
    16 lanes l and three columns c, in vector registers. Arrays are flat, float32."""
    signature = types.void(matrix, start, stride, count, vectors, first, out, at)
    integer, lanes = ir.IntType(64), ir.VectorType(ir.FloatType(), LANES)

    def generate(context, builder, signature, arguments):
        def pointer(number, offset):
            array = context.make_array(signature.args[number])(context, builder, arguments[number])
            return builder.gep(array.data, [offset])

        def constant(value):
            return ir.Constant(integer, value)

        def column(j, sums):
            offset = builder.add(arguments[1], builder.mul(j, arguments[2]))
            entries = builder.bitcast(pointer(0, offset), lanes.as_pointer())
            entries = builder.load(entries, align=4, typ=lanes)
            vector = builder.mul(builder.add(arguments[5], j), constant(3))
            for c in range(3):
                factor = builder.load(pointer(4, builder.add(vector, constant(c))))
                spread = builder.insert_element(
                    ir.Constant(lanes, ir.Undefined), factor, ir.Constant(ir.IntType(32), 0)
                )
                everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
                spread = builder.shuffle_vector(
                    spread, ir.Constant(lanes, ir.Undefined), everywhere
                )
                product = builder.fmul(entries, spread, flags=("contract",))
                total = builder.fadd(product, builder.load(sums[c]), flags=("contract",))
                builder.store(total, sums[c])

        # Two sets of sums, so that one addition need not wait for the other.
        zero = ir.Constant(lanes, [0.0] * LANES)
        even, odd = ([cgutils.alloca_once_value(builder, zero) for _ in range(3)] for _ in range(2))
        with cgutils.for_range(builder, builder.ashr(arguments[3], constant(1))) as loop:
            j = builder.shl(loop.index, constant(1))
            column(j, even)
            column(builder.add(j, constant(1)), odd)
        with builder.if_then(builder.trunc(arguments[3], ir.IntType(1))):
            column(builder.sub(arguments[3], constant(1)), even)
        for c in range(3):
            offset = builder.add(arguments[7], builder.mul(arguments[2], constant(c)))
            total = builder.fadd(builder.load(even[c]), builder.load(odd[c]))
            place = builder.bitcast(pointer(6, offset), lanes.as_pointer())
            builder.store(total, place, align=4)
        return context.get_dummy_value()

    return signature, generate


@kernel()
def _multiply(matrix, start, width, count, vectors, first, out):
    """out = (matrix at `start`, `count` columns of `width` rows) · vectors, three columns."""
    for at in range(0, width, LANES):
        _multiply_panel(  # pyright: ignore[reportCallIssue]
            matrix, start + at, width, count, vectors, first, out, at
        )


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
