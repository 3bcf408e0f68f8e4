"""The loops of the local step over lanes, emitted as LLVM's vectors: what one tetrahedron a lane
needs stays in vector registers from its edges to its forces.

numba's compiler keeps each intermediate of such a loop in memory, and its speed then hangs on where
in memory that happens to lie. Arrays are flat and float32, but for positions.
"""

from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from corporeal.physics.solver.cpu.strip_blocks import LANES, QUAD

LEAST_DENOMINATOR = 2e-2
"""Of d over t³, which is 16/27 at rest; below it, as in needles, float32 leaves t uncertain."""
LEAST_DETERMINANT = 1e-5
"""Of J. Below it R is better not decided by rounding, nor by sixth powers in float32."""
MOST_STEPS = 8
"""Of Newton's iteration; two are enough for most."""
_TINY = 1e-30
_INTEGER = ir.IntType(64)
_WIDE, _NARROW = ir.VectorType(ir.FloatType(), LANES), ir.VectorType(ir.FloatType(), QUAD)


class _Lanes:
    """A vector under construction, with the arithmetic of numbers; products may join sums."""

    def __init__(self, builder: Any, value: Any) -> None:
        self.builder, self.value = builder, value

    def _of(self, other: "_Lanes | float") -> Any:
        if isinstance(other, _Lanes):
            return other.value
        return ir.Constant(self.value.type, [float(other)] * self.value.type.count)

    def _new(self, value: Any) -> "_Lanes":
        return _Lanes(self.builder, value)

    def __add__(self, other: "_Lanes | float") -> "_Lanes":
        return self._new(self.builder.fadd(self.value, self._of(other), flags=("contract",)))

    def __sub__(self, other: "_Lanes | float") -> "_Lanes":
        return self._new(self.builder.fsub(self.value, self._of(other), flags=("contract",)))

    def __mul__(self, other: "_Lanes | float") -> "_Lanes":
        return self._new(self.builder.fmul(self.value, self._of(other), flags=("contract",)))

    def __truediv__(self, other: "_Lanes") -> "_Lanes":
        return self._new(self.builder.fdiv(self.value, other.value))

    def above(self, other: "_Lanes | float") -> Any:
        """Lane by lane; false where either is not a number."""
        return self.builder.fcmp_ordered(">", self.value, self._of(other))

    def at_least(self, least: float) -> "_Lanes":
        """The larger of both; what is not a number becomes `least`."""
        return self.where(self.above(least), least)

    def where(self, chosen: Any, other: float) -> "_Lanes":
        """The lanes that are `chosen`, and `other` for the rest."""
        return self._new(self.builder.select(chosen, self.value, self._of(other)))

    def root(self) -> "_Lanes":
        """Square roots."""
        kind = ir.FunctionType(self.value.type, [self.value.type])
        name = f"llvm.sqrt.v{self.value.type.count}f32"
        found = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self._new(self.builder.call(found, [self.value]))


def _pointer(context, builder, signature, arguments, number, offset):
    """To an entry of a flat array."""
    array = context.make_array(signature.args[number])(context, builder, arguments[number])
    return builder.gep(array.data, [offset])


def _load(builder, pointer, kind, align):
    return builder.load(builder.bitcast(pointer, kind.as_pointer()), align=align, typ=kind)


def _store(builder, value, pointer, align):
    builder.store(value, builder.bitcast(pointer, value.type.as_pointer()), align=align)


def _integer(value: int) -> ir.Constant:
    return ir.Constant(_INTEGER, value)


@intrinsic
def add_pulls(typing, rest, start, edges, along, tolerance, forces):
    """Add Gᵀ w (Rᵀ − Fᵀ), the pull of a tetrahedron a lane on three edges, newtons, to `forces`;
    gives a bit for every lane where R is not found, whose part is left out.

    `rest` holds nine inverse edges and the weight of every lane from `start` on, `edges` and
    `forces` the three edges from `along` on. R is within `tolerance`; see `local_step`.
    """
    signature = types.int32(rest, start, edges, along, tolerance, forces)

    def generate(context, builder, signature, arguments):
        def row(number, base, k):
            offset = builder.add(arguments[base], _integer(k * LANES))
            return _pointer(context, builder, signature, arguments, number, offset)

        def read(number, base, k):
            return _Lanes(builder, _load(builder, row(number, base, k), _WIDE, 4))

        inverse = [read(0, 1, k) for k in range(9)]
        edge = [read(2, 3, k) for k in range(9)]
        one = ir.Constant(ir.IntType(32), 0)
        spread = builder.insert_element(ir.Constant(_WIDE, ir.Undefined), arguments[4], one)
        everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
        undefined = ir.Constant(_WIDE, ir.Undefined)
        close = _Lanes(builder, builder.shuffle_vector(spread, undefined, everywhere))
        gradient = [
            inverse[3 * m] * edge[c] + inverse[3 * m + 1] * edge[3 + c]
            + inverse[3 * m + 2] * edge[6 + c]
            for m in range(3) for c in range(3)
        ]  # fmt: skip
        pulls, found = _pulls(builder, gradient, close)
        weight = read(0, 1, 9)
        for m in range(3):
            for c in range(3):
                place = row(5, 3, 3 * m + c)
                total = _Lanes(builder, _load(builder, place, _WIDE, 4))
                share = (
                    inverse[m] * pulls[c] + inverse[3 + m] * pulls[3 + c]
                    + inverse[6 + m] * pulls[6 + c]
                )  # fmt: skip
                _store(builder, (total + share * weight).value, place, 4)
        # lanes without a weight are not there
        lost = builder.and_(builder.not_(found), weight.above(0.0))
        bits = builder.bitcast(lost, ir.IntType(LANES))
        return builder.zext(bits, ir.IntType(32))

    return signature, generate


def _pulls(builder, gradient, close):
    """R − F of nine rows, 0 where R is not found, and where it is found."""
    a, b, c, d, e, f, g, h, i = gradient
    cofactors = [
        e * i - f * h, f * g - d * i, d * h - e * g,
        c * h - b * i, a * i - c * g, b * g - a * h,
        b * f - c * e, c * d - a * f, a * e - b * d,
    ]  # fmt: skip
    square, minors = gradient[0] * gradient[0], cofactors[0] * cofactors[0]
    for k in range(1, 9):
        square, minors = (
            square + gradient[k] * gradient[k],
            minors + cofactors[k] * cofactors[k],
        )
    determinant = a * cofactors[0] + b * cofactors[1] + c * cofactors[2]
    trace, sure = _trace(builder, square, minors, determinant, close)
    cubic = trace * trace * trace
    denominator = cubic - square * trace - determinant * 2.0
    sure = builder.and_(sure, determinant.above(LEAST_DETERMINANT))
    sure = builder.and_(sure, denominator.above(cubic * LEAST_DENOMINATOR))
    one = _Lanes(builder, ir.Constant(_WIDE, [1.0] * LANES))
    share = (one / denominator.where(sure, 1.0)).where(sure, 0.0)
    first = share * (trace * trace + square - denominator)
    second, third = share * trace * 2.0, share * -2.0
    xx, yy, zz = a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i
    xy, xz, yz = a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i
    pulls = []
    for m in range(3):
        x, y, z = gradient[3 * m : 3 * m + 3]
        products = (x * xx + y * xy + z * xz, x * xy + y * yy + z * yz, x * xz + y * yz + z * zz)
        for k in range(3):
            at = 3 * m + k
            pull = first * gradient[at] + second * cofactors[at] + third * products[k]
            pulls.append(pull.where(sure, 0.0))
    return pulls, sure


def _trace(builder, square, minors, determinant, close):
    """t, the trace of the stretch, and where it is found."""
    offset = square * square - minors * 4.0
    guess = (square * 3.0).root()
    guess = (square + (minors + determinant * guess * 2.0).at_least(0.0).root() * 2.0).root()
    place = cgutils.alloca_once_value(builder, guess.value)
    excess = cgutils.alloca_once_value(builder, ir.Constant(_WIDE, [1.0] * LANES))
    step = cgutils.alloca_once_value(builder, _integer(0))
    again, after = builder.append_basic_block("newton"), builder.append_basic_block("found")
    builder.branch(again)
    builder.position_at_end(again)
    t = _Lanes(builder, builder.load(place))
    slope = t * (t * t - square) - determinant * 2.0
    value = t * (t * (t * t - square * 2.0) - determinant * 8.0) + offset
    change = value / (slope.at_least(_TINY) * 4.0)
    wide = change * (t * t * 3.0 - square)
    left = wide * wide - close * slope * slope
    builder.store((t - change).value, place)
    builder.store(left.value, excess)
    done = builder.add(builder.load(step), _integer(1))
    builder.store(done, step)
    open_lanes = builder.bitcast(left.above(0.0), ir.IntType(LANES))
    some = builder.icmp_unsigned("!=", open_lanes, ir.Constant(ir.IntType(LANES), 0))
    some = builder.or_(some, builder.icmp_unsigned("<", done, _integer(2)))
    some = builder.and_(some, builder.icmp_unsigned("<", done, _integer(MOST_STEPS)))
    builder.cbranch(some, again, after)
    builder.position_at_end(after)
    left = _Lanes(builder, builder.load(excess))
    sure = builder.fcmp_ordered("<=", left.value, left._of(0.0))
    return _Lanes(builder, builder.load(place)), sure


@intrinsic
def gather_strips(typing, corners, start, positions, edges):
    """The five edges along 16 strips, 15 rows of lanes, metres: differences of float64 positions
    (flat, three a vertex). `corners` holds six rows of vertices from `start` on."""
    signature = types.void(corners, start, positions, edges)
    double, pair = ir.DoubleType(), ir.VectorType(ir.DoubleType(), 2)

    def generate(context, builder, signature, arguments):
        def at(number, offset):
            return _pointer(context, builder, signature, arguments, number, offset)

        def vertex(k, lane):
            offset = builder.add(arguments[1], builder.add(_integer(k * LANES), lane))
            number = builder.zext(builder.load(at(0, offset)), _INTEGER)
            first = builder.mul(number, _integer(3))
            two = _load(builder, at(2, first), pair, 8)
            last = builder.load(at(2, builder.add(first, _integer(2))), typ=double)
            third = builder.insert_element(
                ir.Constant(pair, ir.Undefined), last, ir.Constant(ir.IntType(32), 0)
            )
            return builder.shuffle_vector(two, third, _indices([0, 1, 2, 3]))

        with cgutils.for_range(builder, _integer(LANES // QUAD)) as loop:
            base = builder.mul(loop.index, _integer(QUAD))
            lanes = [builder.add(base, _integer(l)) for l in range(QUAD)]
            before = [vertex(0, lane) for lane in lanes]
            for k in range(5):
                after = [vertex(k + 1, lane) for lane in lanes]
                rows = [
                    builder.fptrunc(builder.fsub(new, old), _NARROW)
                    for old, new in zip(before, after, strict=True)
                ]
                for c, row in enumerate(_turned(builder, rows)[:3]):
                    offset = builder.add(base, _integer((3 * k + c) * LANES))
                    _store(builder, row, at(3, offset), 4)
                before = after
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def scatter_pulls(typing, corners, start, forces, residual, free):
    """Add the pull of edges on their ends, 15 rows of lanes, to the vertices below `free` of
    `residual` (flat, quads); what is pulled on others goes to the quad after these."""
    signature = types.void(corners, start, forces, residual, free)

    def generate(context, builder, signature, arguments):
        def at(number, offset):
            return _pointer(context, builder, signature, arguments, number, offset)

        with cgutils.for_range(builder, _integer(LANES // QUAD)) as loop:
            base = builder.mul(loop.index, _integer(QUAD))
            nothing = ir.Constant(_NARROW, [0.0] * QUAD)
            before = [nothing] * 3
            for k in range(6):
                pulls = [nothing] * 3
                for c in range(3 if k < 5 else 0):
                    offset = builder.add(base, _integer((3 * k + c) * LANES))
                    pulls[c] = _load(builder, at(2, offset), _NARROW, 4)
                rows = [builder.fsub(b, p) for b, p in zip(before, pulls, strict=True)]
                for l, row in enumerate(_turned(builder, [*rows, nothing])):
                    lane = builder.add(base, _integer(k * LANES + l))
                    number = builder.load(at(0, builder.add(arguments[1], lane)))
                    number = builder.zext(number, _INTEGER)
                    moves = builder.icmp_unsigned("<", number, arguments[4])
                    number = builder.select(moves, number, arguments[4])
                    place = at(3, builder.mul(number, _integer(QUAD)))
                    total = builder.fadd(_load(builder, place, _NARROW, 4), row)
                    _store(builder, total, place, 4)
                before = pulls
        return context.get_dummy_value()

    return signature, generate


def _indices(places: list[int]) -> ir.Constant:
    return ir.Constant(ir.VectorType(ir.IntType(32), len(places)), places)


def _turned(builder, rows):
    """Four rows of four numbers as four columns."""
    low = [builder.shuffle_vector(*rows[k : k + 2], _indices([0, 4, 1, 5])) for k in (0, 2)]
    high = [builder.shuffle_vector(*rows[k : k + 2], _indices([2, 6, 3, 7])) for k in (0, 2)]
    return [
        builder.shuffle_vector(*pair, _indices(places))
        for pair in (low, high)
        for places in ([0, 1, 4, 5], [2, 3, 6, 7])
    ]
