"""Pose correctives, compiled: from joint rotations to posed vertices, tile by tile.

A tile of blocks is corrected for all poses and skinned while it is in the cache: correctives are
read once, whatever the number of poses. Sums run in one order whatever the batch, and without fused
operations, so that a pose gives the same bits alone and among others.
"""

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.blocks import LANES
from corporeal.skinning.dual_quaternion_cpu import skin_blocks_dual
from corporeal.skinning.kinematics_cpu import rotation_about_axis
from corporeal.skinning.linear_cpu import skin_blocks_linear

TILE = 16
"""Blocks a tile: 207 correctives of a tile are 0.6 MB in single precision, which the second-level
cache holds."""
BLOCK = 3 * LANES
"""Numbers a block: three coordinates of every lane."""
WIDTH = TILE * BLOCK
"""Numbers a tile."""
STRIDE = 4
"""Correctives that are added at once; their number is a multiple of this."""
TOGETHER = 4
"""Poses that share what is read of the correctives: 16 coefficients stay in registers while a loop
runs along the tile."""
MATRIX_ROWS = 12
"""Numbers of a joint's motion where it is the upper three rows of a matrix."""
MANY = 16
"""From so many poses on, the correctives of a tile are laid out for long loops first."""


@kernel()
def corrective_coefficients(joint_rotations, drivers, shares, coefficients, first, last):
    """w_nb = Σ_p B_bp f_p(θ_n) of the poses `first` … `last` − 1, in float64; `shares` is Bᵀ, so
    that the sums of all b go on at once, each in the order of p."""
    local = np.empty((3, 3), np.float64)
    features = np.empty(9 * drivers.shape[0], np.float64)
    totals = np.empty(shares.shape[1], np.float64)
    for n in range(first, last):
        for d in range(drivers.shape[0]):
            turn = joint_rotations[n, drivers[d]]
            rotation_about_axis(turn[0], turn[1], turn[2], local)
            for r in range(3):
                for c in range(3):
                    features[9 * d + 3 * r + c] = local[r, c] - (1.0 if r == c else 0.0)
        totals[:] = 0.0
        for p in range(features.shape[0]):
            feature, row = features[p], shares[p]
            for b in range(totals.shape[0]):
                totals[b] += row[b] * feature
        for b in range(totals.shape[0]):
            coefficients[n, b] = totals[b]


@kernel()
def _correct_one(weights, shapes, rest, out):
    """out = rest + Σ_k w_k shape_k, block by block, for one pose."""
    lanes = np.empty(BLOCK, out.dtype)
    for b in range(shapes.shape[0]):
        for l in range(BLOCK):
            lanes[l] = rest[b, l]
        for k in range(0, shapes.shape[1], STRIDE):
            p0, p1, p2, p3 = weights[k], weights[k + 1], weights[k + 2], weights[k + 3]
            for l in range(BLOCK):
                d0, d1 = shapes[b, k, l], shapes[b, k + 1, l]
                d2, d3 = shapes[b, k + 2, l], shapes[b, k + 3, l]
                lanes[l] += (p0 * d0 + p1 * d1) + (p2 * d2 + p3 * d3)
        for l in range(BLOCK):
            out[b, l] = lanes[l]


@kernel()
def _correct_four(weights, shapes, rest, out):
    """The same for four poses, each in the same order of sums."""
    lanes = np.empty((TOGETHER, BLOCK), out.dtype)
    for b in range(shapes.shape[0]):
        for i in range(TOGETHER):
            for l in range(BLOCK):
                lanes[i, l] = rest[b, l]
        for k in range(0, shapes.shape[1], STRIDE):
            p0, p1, p2, p3 = weights[0, k], weights[0, k + 1], weights[0, k + 2], weights[0, k + 3]
            q0, q1, q2, q3 = weights[1, k], weights[1, k + 1], weights[1, k + 2], weights[1, k + 3]
            r0, r1, r2, r3 = weights[2, k], weights[2, k + 1], weights[2, k + 2], weights[2, k + 3]
            s0, s1, s2, s3 = weights[3, k], weights[3, k + 1], weights[3, k + 2], weights[3, k + 3]
            for l in range(BLOCK):
                d0, d1 = shapes[b, k, l], shapes[b, k + 1, l]
                d2, d3 = shapes[b, k + 2, l], shapes[b, k + 3, l]
                lanes[0, l] += (p0 * d0 + p1 * d1) + (p2 * d2 + p3 * d3)
                lanes[1, l] += (q0 * d0 + q1 * d1) + (q2 * d2 + q3 * d3)
                lanes[2, l] += (r0 * d0 + r1 * d1) + (r2 * d2 + r3 * d3)
                lanes[3, l] += (s0 * d0 + s1 * d1) + (s2 * d2 + s3 * d3)
        for i in range(TOGETHER):
            for l in range(BLOCK):
                out[i, b, l] = lanes[i, l]


@kernel()
def _spread_tile(shapes, tile):
    """The correctives of one tile's blocks (n × k × 48) as rows of WIDTH numbers of the skin's
    dtype, one row a corrective."""
    for k in range(shapes.shape[1]):
        for b in range(shapes.shape[0]):
            row, wide = shapes[b, k], tile[k, b]
            for l in range(BLOCK):
                wide[l] = row[l]


@kernel()
def _add_to_four(p, q, r, s, shapes, corrected):
    """Add p_k shape_k of `STRIDE` correctives, rows of WIDTH numbers, to four poses; the numbers of
    both lie one after another, so that the compiler needs one test of overlap."""
    p0, p1, p2, p3 = p[0], p[1], p[2], p[3]
    q0, q1, q2, q3 = q[0], q[1], q[2], q[3]
    r0, r1, r2, r3 = r[0], r[1], r[2], r[3]
    s0, s1, s2, s3 = s[0], s[1], s[2], s[3]
    for l in range(WIDTH):
        d0, d1 = shapes[l], shapes[WIDTH + l]
        d2, d3 = shapes[2 * WIDTH + l], shapes[3 * WIDTH + l]
        corrected[l] += (p0 * d0 + p1 * d1) + (p2 * d2 + p3 * d3)
        corrected[WIDTH + l] += (q0 * d0 + q1 * d1) + (q2 * d2 + q3 * d3)
        corrected[2 * WIDTH + l] += (r0 * d0 + r1 * d1) + (r2 * d2 + r3 * d3)
        corrected[3 * WIDTH + l] += (s0 * d0 + s1 * d1) + (s2 * d2 + s3 * d3)


@kernel()
def _correct_many(w, tile, rest, corrected):
    """The sums of `_correct_four` along a whole tile: `tile` is k × TILE × 48, `rest` n × 48."""
    flat, sums = tile.reshape(-1), corrected.reshape(-1)
    for i in range(TOGETHER):
        for b in range(rest.shape[0]):
            for l in range(BLOCK):
                corrected[i, b, l] = rest[b, l]
    for k in range(0, tile.shape[0], STRIDE):
        _add_to_four(w[0, k:], w[1, k:], w[2, k:], w[3, k:], flat[k * WIDTH :], sums)


@kernel()
def _correct_some(w, shapes, tile, rest, spread, corrected):
    """corrected_n = rest + Σ_k w_nk shape_k of one tile, for up to `TOGETHER` poses.

    `shapes` are n × k × 48, of the skin's dtype or the whole numbers that `w` is scaled for; `tile`
    holds them in rows where `spread` says so; `corrected` is TOGETHER × TILE × 48.
    """
    if w.shape[0] < TOGETHER:
        for n in range(w.shape[0]):
            _correct_one(w[n], shapes, rest, corrected[n])
    elif spread:
        _correct_many(w, tile, rest, corrected)
    else:
        _correct_four(w, shapes, rest, corrected)


@kernel()
def _skin_blocks(motions, starts, joints, weights, rest, vertices, out):
    """By rows of matrices, J × 12, or by dual quaternions, J × 8."""
    if motions.shape[1] == MATRIX_ROWS:
        skin_blocks_linear(motions, starts, joints, weights, rest, vertices, out)
    else:
        skin_blocks_dual(motions, starts, joints, weights, rest, vertices, out)


@kernel()
def correct_and_skin(
    coefficients, shapes, rest, motions, starts, joints, weights, vertices, tile, corrected, out,
    first, last,
):  # fmt: skip
    """Correct and skin the tiles `first` … `last` − 1 of all poses into `out`, N×V×3.

    `shapes` are B × k × 48, `rest` B × 48, `motions` N × J × 12 or, for dual quaternions, × 8.
    Scratch, best aligned to 64 bytes: `tile`, k × TILE × 48, and `corrected`, TOGETHER × TILE × 48.
    """
    count, spread = coefficients.shape[0], coefficients.shape[0] >= MANY
    rest_shapes = corrected.reshape(TOGETHER, TILE, 3, LANES)
    for t in range(first, last):
        start, stop = t * TILE, min((t + 1) * TILE, vertices.shape[0])
        if spread:
            _spread_tile(shapes[start:stop], tile)
        for n in range(0, count, TOGETHER):
            end = min(n + TOGETHER, count)
            _correct_some(
                coefficients[n:end], shapes[start:stop], tile, rest[start:stop], spread, corrected
            )
            for i in range(n, end):
                _skin_blocks(
                    motions[i], starts[start : stop + 1], joints, weights, rest_shapes[i - n],
                    vertices[start:stop], out[i],
                )  # fmt: skip
