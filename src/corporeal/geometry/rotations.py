"""Rotations as axis-angle vectors, matrices, quaternions and Euler angles.

Written once for NumPy, JAX and PyTorch. Every function is smooth at the identity: where a formula
divides by the angle, a power series takes over below half a radian, so that values *and* gradients
stay finite and exact to the precision of the inputs (the untaken branch is fed a harmless value,
because automatic differentiation looks at both).

Axis-angle vectors (`*batch 3`, radians) are the exponential coordinates of SO(3);
`matrix_from_axis_angle` is exp and `axis_angle_from_matrix` is log. Quaternions are `wxyz`, unit,
and q and −q are the same rotation.
"""

import math
from typing import Any

from corporeal._typing import Array, Float
from corporeal.errors import InputError
from corporeal.runtime.arrays import namespace_of

_SERIES_BELOW = 0.25  # squared angle, rad²: the nine-term series are exact to float64 below this
_SINC = tuple((-1) ** n / math.factorial(2 * n + 1) for n in range(9))
_VERSINE = tuple((-1) ** n / math.factorial(2 * n + 2) for n in range(9))
_ARCTANGENT = tuple((-1) ** n / (2 * n + 1) for n in range(9))

EULER_ORDERS = ("XYZ", "XZY", "YXZ", "YZX", "ZXY", "ZYX")


def _series(coefficients: tuple[float, ...], x: Array) -> Array:
    """Σ_n c_n xⁿ by Horner's rule."""
    total = coefficients[-1] + 0.0 * x
    for coefficient in reversed(coefficients[:-1]):
        total = total * x + coefficient
    return total


def _squared_norm(vector: Array) -> Array:
    return namespace_of(vector).sum(vector * vector, axis=-1)


def _sinc_and_versine(squared_angle: Array) -> tuple[Array, Array]:
    """sin θ / θ and (1 − cos θ) / θ² as smooth functions of θ²."""
    xp = namespace_of(squared_angle)
    small = squared_angle < _SERIES_BELOW
    near = xp.where(small, squared_angle, 0.0)
    angle = xp.sqrt(xp.where(small, 1.0, squared_angle))
    half_sine = xp.sin(0.5 * angle) / angle
    sinc = xp.where(small, _series(_SINC, near), xp.sin(angle) / angle)
    versine = xp.where(small, _series(_VERSINE, near), 2.0 * half_sine * half_sine)
    return sinc, versine


def _stack_matrix(xp: Any, rows: tuple[tuple[Array, Array, Array], ...]) -> Array:
    return xp.stack([xp.stack(row, axis=-1) for row in rows], axis=-2)


def matrix_from_axis_angle(axis_angle: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    """Rotation matrix of an axis-angle vector in radians (Rodrigues' formula, exp).

    R = cos θ · I + (sin θ / θ) [r]ₓ + ((1 − cos θ) / θ²) r rᵀ,  θ = |r|.
    """
    xp = namespace_of(axis_angle)
    squared_angle = _squared_norm(axis_angle)
    sinc, versine = _sinc_and_versine(squared_angle)
    cosine = 1.0 - versine * squared_angle
    x, y, z = axis_angle[..., 0], axis_angle[..., 1], axis_angle[..., 2]
    sx, sy, sz = sinc * x, sinc * y, sinc * z
    vx, vy, vz = versine * x, versine * y, versine * z
    return _stack_matrix(
        xp,
        (
            (cosine + vx * x, vx * y - sz, vx * z + sy),
            (vx * y + sz, cosine + vy * y, vy * z - sx),
            (vx * z - sy, vy * z + sx, cosine + vz * z),
        ),
    )


def cross_matrix(vector: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    """[v]ₓ: the matrix with [v]ₓ x = v × x."""
    xp = namespace_of(vector)
    x, y, z = vector[..., 0], vector[..., 1], vector[..., 2]
    zero = xp.zeros_like(x)
    return _stack_matrix(xp, ((zero, -z, y), (z, zero, -x), (-y, x, zero)))


def quaternion_from_axis_angle(axis_angle: Float[Array, "*batch 3"]) -> Float[Array, "*batch 4"]:
    """Unit quaternion (wxyz) of an axis-angle vector in radians: (cos θ/2, r · sin(θ/2)/θ)."""
    xp = namespace_of(axis_angle)
    squared_half_angle = 0.25 * _squared_norm(axis_angle)
    sinc, versine = _sinc_and_versine(squared_half_angle)
    cosine = 1.0 - versine * squared_half_angle
    return xp.concat([cosine[..., None], 0.5 * sinc[..., None] * axis_angle], axis=-1)


def axis_angle_from_quaternion(quaternion: Float[Array, "*batch 4"]) -> Float[Array, "*batch 3"]:
    """Shortest axis-angle vector, 0 ≤ θ ≤ π radians, of a quaternion (wxyz; log)."""
    xp = namespace_of(quaternion)
    quaternion = xp.where(quaternion[..., :1] < 0, -quaternion, quaternion)
    w, xyz = quaternion[..., 0], quaternion[..., 1:]
    squared_sine = _squared_norm(xyz)
    small = squared_sine < 0.01 * w * w
    safe_w = xp.where(small, w, 1.0)
    near = xp.where(small, squared_sine, 0.0) / (safe_w * safe_w)
    sine = xp.sqrt(xp.where(small, 1.0, squared_sine))
    far_scale = 2.0 * xp.atan2(sine, w) / sine
    scale = xp.where(small, 2.0 / safe_w * _series(_ARCTANGENT, near), far_scale)
    return scale[..., None] * xyz


def quaternion_from_matrix(matrix: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 4"]:
    """Unit quaternion (wxyz, w ≥ 0) of a rotation matrix.

    Each row below is 4 q_i q for one component q_i; the row of the largest is well conditioned
    for every rotation and is normalised (Shepperd 1978, without square roots of small numbers).
    """
    xp = namespace_of(matrix)
    m = [[matrix[..., i, j] for j in range(3)] for i in range(3)]
    wx, wy, wz = m[2][1] - m[1][2], m[0][2] - m[2][0], m[1][0] - m[0][1]
    xy, xz, yz = m[0][1] + m[1][0], m[0][2] + m[2][0], m[1][2] + m[2][1]
    ww = 1.0 + m[0][0] + m[1][1] + m[2][2]
    xx = 1.0 + m[0][0] - m[1][1] - m[2][2]
    yy = 1.0 - m[0][0] + m[1][1] - m[2][2]
    zz = 1.0 - m[0][0] - m[1][1] + m[2][2]
    rows = ((ww, wx, wy, wz), (wx, xx, xy, xz), (wy, xy, yy, yz), (wz, xz, yz, zz))
    chosen, largest = xp.stack(rows[0], axis=-1), ww
    for row, square in zip(rows[1:], (xx, yy, zz), strict=True):
        chosen = xp.where((square > largest)[..., None], xp.stack(row, axis=-1), chosen)
        largest = xp.maximum(square, largest)
    chosen = xp.where(chosen[..., :1] < 0, -chosen, chosen)
    return chosen / xp.sqrt(_squared_norm(chosen))[..., None]


def matrix_from_quaternion(quaternion: Float[Array, "*batch 4"]) -> Float[Array, "*batch 3 3"]:
    """Rotation matrix of a unit quaternion (wxyz)."""
    xp = namespace_of(quaternion)
    w, x, y, z = (quaternion[..., i] for i in range(4))
    return _stack_matrix(
        xp,
        (
            (1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)),
            (2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)),
            (2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)),
        ),
    )


def axis_angle_from_matrix(matrix: Float[Array, "*batch 3 3"]) -> Float[Array, "*batch 3"]:
    """Shortest axis-angle vector, 0 ≤ θ ≤ π radians, of a rotation matrix (log)."""
    return axis_angle_from_quaternion(quaternion_from_matrix(matrix))


def logarithm_derivative(axis_angle: Float[Array, "*batch 3"]) -> Float[Array, "*batch 3 3"]:
    """∂ log(exp(ω) R)/∂ω at ω = 0, for log R the axis-angle vector φ, radians, θ = ‖φ‖ ≤ π.

    I − ½ [φ]ₓ + (1 − ½θ cot ½θ)/θ² [φ]ₓ², the inverse of SO(3)'s left Jacobian.
    """
    xp = namespace_of(axis_angle)
    square = _squared_norm(axis_angle)
    small = square < 1e-4
    half = 0.5 * xp.sqrt(xp.where(small, xp.ones_like(square), square))
    exact = (1.0 - half * xp.cos(half) / xp.sin(half)) / (4.0 * half * half)
    factor = xp.where(small, 1.0 / 12.0 + square / 720.0, exact)
    cross = cross_matrix(axis_angle)
    identity = matrix_from_axis_angle(xp.zeros_like(axis_angle))
    return identity - 0.5 * cross + factor[..., None, None] * xp.matmul(cross, cross)


def multiply_quaternions(
    left: Float[Array, "*#batch 4"], right: Float[Array, "*#batch 4"]
) -> Float[Array, "..."]:
    """Hamilton product (wxyz): the rotation `right`, then `left`."""
    xp = namespace_of(left, right)
    a, b, c, d = (left[..., i] for i in range(4))
    w, x, y, z = (right[..., i] for i in range(4))
    return xp.stack(
        [
            a * w - b * x - c * y - d * z,
            a * x + b * w + c * z - d * y,
            a * y - b * z + c * w + d * x,
            a * z + b * y - c * x + d * w,
        ],
        axis=-1,
    )


def conjugate_quaternion(quaternion: Float[Array, "*batch 4"]) -> Float[Array, "*batch 4"]:
    """(w, −x, −y, −z): the inverse rotation of a unit quaternion."""
    return namespace_of(quaternion).concat([quaternion[..., :1], -quaternion[..., 1:]], axis=-1)


def compose_axis_angles(
    left: Float[Array, "*#batch 3"], right: Float[Array, "*#batch 3"]
) -> Float[Array, "..."]:
    """The one axis-angle vector (radians) that turns by `right`, then by `left`."""
    return axis_angle_from_quaternion(
        multiply_quaternions(quaternion_from_axis_angle(left), quaternion_from_axis_angle(right))
    )


def slerp(
    start: Float[Array, "*#batch 4"], end: Float[Array, "*#batch 4"], fraction: Array
) -> Float[Array, "..."]:
    """The way from `start` to `end` (quaternions wxyz) at constant speed, the short way round.

    `fraction` 0 gives `start`, 1 gives `end`; it broadcasts against the batch.
    """
    xp = namespace_of(start, end, fraction)
    turn = axis_angle_from_quaternion(multiply_quaternions(conjugate_quaternion(start), end))
    part = xp.asarray(fraction, dtype=turn.dtype)[..., None] * turn
    return multiply_quaternions(start, quaternion_from_axis_angle(part))


def geodesic_angle(
    left: Float[Array, "*#batch 3 3"], right: Float[Array, "*#batch 3 3"]
) -> Float[Array, "..."]:
    """Angle between two rotation matrices, 0 to π radians; its gradient is zero where they meet."""
    xp = namespace_of(left, right)
    relative = quaternion_from_matrix(xp.matmul(xp.matrix_transpose(left), right))
    squared_sine = _squared_norm(relative[..., 1:])
    zero = squared_sine == 0
    sine = xp.where(zero, 0.0, xp.sqrt(xp.where(zero, 1.0, squared_sine)))
    return 2.0 * xp.atan2(sine, relative[..., 0])


def _require_euler_order(order: str) -> tuple[int, int, int]:
    if order not in EULER_ORDERS:
        raise InputError(
            f"Euler order {order!r} is unknown; expected one of {', '.join(EULER_ORDERS)} "
            f"(intrinsic, as channels are listed in a BVH file)."
        )
    first, second, third = ("XYZ".index(letter) for letter in order)
    return first, second, third


def matrix_from_euler(angles: Float[Array, "*batch 3"], order: str) -> Float[Array, "*batch 3 3"]:
    """R = R_first(angles[0]) R_second(angles[1]) R_third(angles[2]), radians; `order` like "ZXY".

    Intrinsic turns, in the order in which a BVH file lists its channels.
    """
    xp = namespace_of(angles)
    axes = _require_euler_order(order)
    zero = xp.zeros_like(angles[..., 0])
    rotations = []
    for position, axis in enumerate(axes):
        vector = [zero, zero, zero]
        vector[axis] = angles[..., position]
        rotations.append(quaternion_from_axis_angle(xp.stack(vector, axis=-1)))
    both = multiply_quaternions(multiply_quaternions(rotations[0], rotations[1]), rotations[2])
    return matrix_from_quaternion(both)


def euler_from_matrix(matrix: Float[Array, "*batch 3 3"], order: str) -> Float[Array, "*batch 3"]:
    """Angles (radians) that `matrix_from_euler` turns back into `matrix`; the middle in ±π/2.

    At gimbal lock (middle angle ±π/2) only the sum of the outer two is determined: the third
    is then given as 0.
    """
    xp = namespace_of(matrix)
    i, j, k = _require_euler_order(order)
    parity = 1.0 if (j - i) % 3 == 1 else -1.0
    sine = parity * matrix[..., i, k]
    cosine = xp.hypot(matrix[..., i, i], matrix[..., i, j])
    locked = cosine < 8 * xp.finfo(matrix.dtype).eps
    free_first = xp.atan2(-parity * matrix[..., j, k], matrix[..., k, k])
    locked_first = xp.atan2(parity * matrix[..., k, j], matrix[..., j, j])
    first = xp.where(locked, locked_first, free_first)
    third = xp.where(locked, 0.0, xp.atan2(-parity * matrix[..., i, j], matrix[..., i, i]))
    return xp.stack([first, xp.atan2(sine, cosine), third], axis=-1)
