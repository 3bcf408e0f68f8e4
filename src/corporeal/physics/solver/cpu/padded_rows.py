"""Rows of three numbers, padded to four: one vector instruction where three would be needed.

The compiler joins single additions into vectors only across the turns of a loop, not within one.
"""

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

QUAD = 4


@intrinsic
def add_multiple(typing, rows, at, factor, x, y, z):
    """rows[at … at + 2] += factor · (x, y, z), of a flat array of float32 or float64; what is at
    `at` + 3 is padding. `x`, `y`, `z` and `factor` are of the array's type."""
    signature = types.void(rows, at, factor, x, y, z)

    def generate(context, builder, signature, arguments):
        array = context.make_array(signature.args[0])(context, builder, arguments[0])
        number = context.get_data_type(signature.args[0].dtype)
        quad = ir.VectorType(number, QUAD)
        place = builder.bitcast(builder.gep(array.data, [arguments[1]]), quad.as_pointer())
        way, spread = ir.Constant(quad, [0.0] * QUAD), ir.Constant(quad, ir.Undefined)
        for lane, value in enumerate(arguments[3:]):
            way = builder.insert_element(way, value, cgutils.int32_t(lane))
        for lane in range(QUAD):
            spread = builder.insert_element(spread, arguments[2], cgutils.int32_t(lane))
        size = context.get_abi_sizeof(number)
        before = builder.load(place, align=size, typ=quad)
        added = builder.fmul(way, spread, flags=("contract",))
        builder.store(builder.fadd(before, added, flags=("contract",)), place, align=size)
        return context.get_dummy_value()

    return signature, generate
