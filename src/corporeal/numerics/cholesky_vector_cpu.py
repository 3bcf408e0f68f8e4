"""The solve of `cholesky_kernels` with its inner product in LLVM's vector types.

numba's compiler does not keep the sums in vector registers by itself, so the product is emitted as
LLVM IR, through `llvmlite` and numba's code generation. Neither promises to stay as it is:
`cholesky.kernel_choice` says in words when this module cannot be used, and takes the plain kernel.
"""

import numpy as np
from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from corporeal.errors import SolverError
from corporeal.numerics.cholesky_cpu import LANES
from corporeal.runtime.kernels import kernel


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
def multiply(matrix, start, width, count, vectors, first, out):
    """out = (matrix at `start`, `count` columns of `width` rows) · vectors, three columns."""
    for at in range(0, width, LANES):
        _multiply_panel(  # pyright: ignore[reportCallIssue]
            matrix, start + at, width, count, vectors, first, out, at
        )


@kernel(fastmath=True)
def solve(groups, rows, down, up, order, largest, right, answer):
    """Solve for three columns: eliminate group after group, then put in backwards.

    Arguments and loops are those of `cholesky_kernels.solve`; with the loops in functions that both
    share, this one took 5 % longer.
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
        multiply(down, groups[g, 4], width, n, x, first, out)
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
        multiply(up, groups[g, 5], width, n + r, near, 0, out)
        for i in range(n):
            for c in range(3):
                x[3 * (first + i) + c] = out[c * width + i]
    for i in range(len(order)):
        for c in range(3):
            answer[order[i], c] = x[3 * i + c]


def probe() -> None:
    """Compile and run the smallest product; raises what numba raises where it cannot."""
    entries, ones = np.ones(LANES, np.float32), np.ones(3, np.float32)
    out = np.zeros(3 * LANES, np.float32)
    multiply(entries, 0, LANES, 1, ones, 0, out)
    if not (out == 1.0).all():
        raise SolverError(f"the vector kernel made {out[0]:g} of 1 · 1; expected 1.")
