"""The rotation closest to a 3×3 matrix in closed form: no branch, no singular values, no inverse.

With F = R S and the signed stretches σ₁ ≥ σ₂ ≥ |σ₃| of S (σ₃ < 0 where F mirrors), the invariants
of S are λ = σ₁ + σ₂ + σ₃, I₂ = (λ² − ‖F‖²)/2 and det F, and λ is the largest root of

    (λ² − ‖F‖²)² − 8 λ det F − 4 ‖cof F‖² = 0.

Newton's iteration finds it from above, from √3 ‖F‖, which is where it lies for a rotation. The
theorem of Cayley and Hamilton for S then gives

    R = (λ cof F + (λ² − I₂) F − F FᵀF) / (λ I₂ − det F),

whose denominator (σ₁+σ₂)(σ₂+σ₃)(σ₁+σ₃) vanishes only where two rotations are equally close. There,
and everywhere else in float32, one step R (3 − RᵀR)/2 makes R orthogonal to rounding.

A matrix is a tuple of its nine entries, row by row, each an array of any shape: the whole is one
elementwise program.
"""

from collections.abc import Sequence

import jax.numpy as jnp
from jax import lax

from corporeal._typing import Array

_NEWTON_STEPS = 10
"""Leave 3e-6 where σ₂ + σ₃ is 2 % of σ₁, mirrored or not; five are enough for mild strain."""
_LEAST_DENOMINATOR = 1e-4
"""Of λ³: nearer to where two rotations are equally close, R is shortened instead."""
_TINY = 1e-30

Matrix = Sequence[Array]
"""Nine entries, row by row."""


def closest_rotation(matrix: Matrix) -> tuple[Array, ...]:
    """R of every F, also where F is flat or mirrors."""
    cofactors = cofactor_matrix(matrix)
    determinant = _dot(matrix[:3], cofactors[:3])
    square, cofactor_square = _dot(matrix, matrix), _dot(cofactors, cofactors)
    total = jnp.sqrt(3.0 * square + _TINY)
    for step in range(_NEWTON_STEPS):
        if step == _NEWTON_STEPS - 1:  # at the root, one step carries the whole derivative
            total = lax.stop_gradient(total)
        short = total * total - square
        value = short * short - 8.0 * determinant * total - 4.0 * cofactor_square
        slope = 4.0 * total * short - 8.0 * determinant
        total = total - value / jnp.maximum(slope, _TINY)
    second = 0.5 * (total * total - square)
    least = _LEAST_DENOMINATOR * total * total * total + _TINY
    scale = 1.0 / jnp.maximum(total * second - determinant, least)
    cubic = _times(matrix, _gram(matrix))
    along, own = scale * total, scale * (total * total - second)
    rotation = [
        along * cofactor + own * entry - scale * cube
        for cofactor, entry, cube in zip(cofactors, matrix, cubic, strict=True)
    ]
    return _orthogonalised(rotation)


def cofactor_matrix(m: Matrix) -> tuple[Array, ...]:
    """cof F = det(F) F⁻ᵀ."""
    a, b, c, d, e, f, g, h, i = m
    return (
        e * i - f * h, f * g - d * i, d * h - e * g,
        c * h - b * i, a * i - c * g, b * g - a * h,
        b * f - c * e, c * d - a * f, a * e - b * d,
    )  # fmt: skip


def _orthogonalised(rotation: Matrix) -> tuple[Array, ...]:
    """R (3 − RᵀR)/2: squares the distance from orthogonality."""
    gram = _gram(rotation)
    turned = _times(rotation, gram)
    return tuple(1.5 * entry - 0.5 * cube for entry, cube in zip(rotation, turned, strict=True))


def _gram(m: Matrix) -> tuple[Array, ...]:
    """FᵀF."""
    a, b, c, d, e, f, g, h, i = m
    ab, ac, bc = a * b + d * e + g * h, a * c + d * f + g * i, b * c + e * f + h * i
    aa, bb, cc = a * a + d * d + g * g, b * b + e * e + h * h, c * c + f * f + i * i
    return (aa, ab, ac, ab, bb, bc, ac, bc, cc)


def _times(m: Matrix, n: Matrix) -> tuple[Array, ...]:
    return tuple(
        m[3 * i] * n[j] + m[3 * i + 1] * n[3 + j] + m[3 * i + 2] * n[6 + j]
        for i in range(3)
        for j in range(3)
    )


def _dot(m: Matrix, n: Matrix) -> Array:
    total = m[0] * n[0]
    for a, b in zip(m[1:], n[1:], strict=True):
        total = total + a * b
    return total
