"""Pose correctives, compiled: from joint rotations to rest skins in the lanes of the skin kernels.

Sums run in one order whatever the batch, and without fused operations, so that a pose gives the
same bits alone and among others.
"""

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.blocks import LANES
from corporeal.skinning.kinematics_cpu import turn_about_axis

WIDTH = 3 * LANES
"""Numbers a block: three coordinates of every lane."""
STRIDE = 4
"""Correctives that are added at once; their number is a multiple of this."""
TOGETHER = 4
"""Poses that share what is read of the correctives."""


@kernel()
def corrective_coefficients(joint_rotations, drivers, shares, coefficients, first, last):
    """w_nb = Σ_p B_bp f_p(θ_n) of the poses `first` … `last` − 1, in float64."""
    local = np.empty((3, 3), np.float64)
    features = np.empty(9 * drivers.shape[0], np.float64)
    for n in range(first, last):
        for d in range(drivers.shape[0]):
            turn = joint_rotations[n, drivers[d]]
            turn_about_axis(turn[0], turn[1], turn[2], local)
            for r in range(3):
                for c in range(3):
                    features[9 * d + 3 * r + c] = local[r, c] - (1.0 if r == c else 0.0)
        for b in range(shares.shape[0]):
            total = 0.0
            for p in range(features.shape[0]):
                total += shares[b, p] * features[p]
            coefficients[n, b] = total


@kernel()
def correct_one(weights, shapes, rest, out):
    """out = rest + Σ_k w_k shape_k, block by block, for one pose."""
    lanes = np.empty(WIDTH, out.dtype)
    for b in range(shapes.shape[0]):
        for l in range(WIDTH):
            lanes[l] = rest[b, l]
        for k in range(0, shapes.shape[1], STRIDE):
            p0, p1, p2, p3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for l in range(WIDTH):
                d0, d1 = shapes[b, k, l], shapes[b, k + 1, l]
                d2, d3 = shapes[b, k + 2, l], shapes[b, k + 3, l]
                lanes[l] += (p0 * d0 + p1 * d1) + (p2 * d2 + p3 * d3)
        for l in range(WIDTH):
            out[b, l] = lanes[l]


@kernel()
def correct_four(weights, shapes, rest, out):
    """The same for four poses, each in the same order of sums."""
    lanes = np.empty((TOGETHER, WIDTH), out.dtype)
    for b in range(shapes.shape[0]):
        for i in range(TOGETHER):
            for l in range(WIDTH):
                lanes[i, l] = rest[b, l]
        for k in range(0, shapes.shape[1], STRIDE):
            p0, p1, p2, p3 = weights[0, k], weights[0, k + 1], weights[0, k + 2], weights[0, k + 3]
            q0, q1, q2, q3 = weights[1, k], weights[1, k + 1], weights[1, k + 2], weights[1, k + 3]
            r0, r1, r2, r3 = weights[2, k], weights[2, k + 1], weights[2, k + 2], weights[2, k + 3]
            s0, s1, s2, s3 = weights[3, k], weights[3, k + 1], weights[3, k + 2], weights[3, k + 3]
            for l in range(WIDTH):
                d0, d1 = shapes[b, k, l], shapes[b, k + 1, l]
                d2, d3 = shapes[b, k + 2, l], shapes[b, k + 3, l]
                lanes[0, l] += (p0 * d0 + p1 * d1) + (p2 * d2 + p3 * d3)
                lanes[1, l] += (q0 * d0 + q1 * d1) + (q2 * d2 + q3 * d3)
                lanes[2, l] += (r0 * d0 + r1 * d1) + (r2 * d2 + r3 * d3)
                lanes[3, l] += (s0 * d0 + s1 * d1) + (s2 * d2 + s3 * d3)
        for i in range(TOGETHER):
            for l in range(WIDTH):
                out[i, b, l] = lanes[i, l]


@kernel()
def correct_blocks(weights, shapes, rest, out):
    """Corrected rest skins of all poses in `weights` (n × k) to `out` (n × B × 48).

    `shapes` are B × k × 48, of the output's dtype or whole numbers that `weights` are scaled for.
    """
    count = weights.shape[0]
    whole = count - count % TOGETHER
    for n in range(0, whole, TOGETHER):
        correct_four(weights[n : n + TOGETHER], shapes, rest, out[n : n + TOGETHER])
    for n in range(whole, count):
        correct_one(weights[n], shapes, rest, out[n])
