"""Exact orientation signs, compiled: a filtered determinant, and an expansion where that is unsure.

The determinant is first taken in float64 with Shewchuk's forward error bound ("Adaptive Precision
Floating-Point Arithmetic and Fast Robust Geometric Predicates", 1997). When its sign is in doubt,
the exact terms are summed as a non-overlapping expansion, whose largest component carries the sign.
Coordinates must be finite, and products of three of them must neither overflow nor underflow.
"""

import numpy as np

from corporeal.runtime.kernels import kernel

EPSILON = 2.0**-53
PLANE_BOUND = (3.0 + 16.0 * EPSILON) * EPSILON
SPACE_BOUND = (7.0 + 56.0 * EPSILON) * EPSILON
SPLITTER = 2.0**27 + 1.0
LONGEST_EXPANSION = 193  # 6 signed products × 2³ splits × 4 parts, and one spare


@kernel()
def two_sum(a, b):
    """The float64 sum of a and b and its exact rounding error (Knuth)."""
    total = a + b
    virtual = total - a
    return total, (a - (total - virtual)) + (b - virtual)


@kernel()
def two_product(a, b):
    """The float64 product of a and b and its exact rounding error (Dekker, Veltkamp)."""
    product = a * b
    scaled_a = SPLITTER * a
    high_a = scaled_a - (scaled_a - a)
    low_a = a - high_a
    scaled_b = SPLITTER * b
    high_b = scaled_b - (scaled_b - b)
    low_b = b - high_b
    error = ((high_a * high_b - product) + high_a * low_b + low_a * high_b) + low_a * low_b
    return product, error


@kernel()
def grow(expansion, length, term):
    """Add one float64 to an expansion in place, dropping zeros; gives back its new length."""
    kept = 0
    carry = term
    for i in range(length):
        carry, error = two_sum(carry, expansion[i])
        if error != 0.0:
            expansion[kept] = error
            kept += 1
    if carry != 0.0:
        expansion[kept] = carry
        kept += 1
    return kept


@kernel()
def sign_of(value):
    """1, −1 or 0, the sign of a number."""
    return 1 if value > 0.0 else (-1 if value < 0.0 else 0)


@kernel()
def orientation_in_plane(ax, ay, bx, by, cx, cy):
    """Sign of the area of triangle abc in the plane: +1 counter-clockwise, 0 collinear; exact."""
    left = (ax - cx) * (by - cy)
    right = (ay - cy) * (bx - cx)
    determinant = left - right
    if abs(determinant) > PLANE_BOUND * (abs(left) + abs(right)):
        return sign_of(determinant)
    expansion = np.empty(LONGEST_EXPANSION)
    length = 0
    # (a − c) × (b − c) = a × b + b × c + c × a
    for px, py, qx, qy in ((ax, ay, bx, by), (bx, by, cx, cy), (cx, cy, ax, ay)):
        high, low = two_product(px, qy)
        length = grow(expansion, length, low)
        length = grow(expansion, length, high)
        high, low = two_product(-py, qx)
        length = grow(expansion, length, low)
        length = grow(expansion, length, high)
    return 0 if length == 0 else sign_of(expansion[length - 1])


@kernel()
def exact_orientation(differences):
    """Sign of the determinant of three rows of exact differences, each (value, error) a column."""
    expansion = np.empty(LONGEST_EXPANSION)
    length = 0
    for first in range(3):
        for turn in range(2):
            second = (first + 1 + turn) % 3
            third = (first + 2 - turn) % 3
            sign = 1.0 if turn == 0 else -1.0
            for i in range(2):
                for j in range(2):
                    product, rest = two_product(
                        sign * differences[0, first, i], differences[1, second, j]
                    )
                    for k in range(2):
                        factor = differences[2, third, k]
                        for part in (rest, product):
                            high, low = two_product(part, factor)
                            length = grow(expansion, length, low)
                            length = grow(expansion, length, high)
    return 0 if length == 0 else sign_of(expansion[length - 1])


@kernel()
def orientation(a, b, c, d):
    """Sign of the volume of tetrahedron abcd, (a−d)·((b−d)×(c−d)); 0 when coplanar; exact."""
    adx, ady, adz = a[0] - d[0], a[1] - d[1], a[2] - d[2]
    bdx, bdy, bdz = b[0] - d[0], b[1] - d[1], b[2] - d[2]
    cdx, cdy, cdz = c[0] - d[0], c[1] - d[1], c[2] - d[2]
    determinant = (
        adx * (bdy * cdz - bdz * cdy)
        + ady * (bdz * cdx - bdx * cdz)
        + adz * (bdx * cdy - bdy * cdx)
    )
    permanent = (
        abs(adx) * (abs(bdy * cdz) + abs(bdz * cdy))
        + abs(ady) * (abs(bdz * cdx) + abs(bdx * cdz))
        + abs(adz) * (abs(bdx * cdy) + abs(bdy * cdx))
    )
    if abs(determinant) > SPACE_BOUND * permanent:
        return sign_of(determinant)
    differences = np.empty((3, 3, 2))
    for k in range(3):
        differences[0, k, 0], differences[0, k, 1] = two_sum(a[k], -d[k])
        differences[1, k, 0], differences[1, k, 1] = two_sum(b[k], -d[k])
        differences[2, k, 0], differences[2, k, 1] = two_sum(c[k], -d[k])
    return exact_orientation(differences)
