"""Compiled passes over the vertices of many posed skins: see `gradients`, `normal_matrices`.

A pass skins every vertex, compares it with its target and sums up what the derivatives by the
parts' motions need, so that no Jacobian is ever written down. Influences are sorted, the largest
first; unused ones have weight 0.
"""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel(fastmath=True)
def linear_pass(
    points, joints, weights, motions, target, back, sums, squares, distances, first, last
):
    """Linear blending, of registrations first … last.

    With r = B x + c − target: `back` ← Bᵀ r, `sums`_k ← Σ_v w_vk r (x, 1)ᵀ, `squares` ← Σ_v r²,
    `distances` ← Σ_v |r|.
    """
    vertex_count, influences = joints.shape
    part_count = motions.shape[1]
    gathered = np.zeros((part_count, 3, 4))
    for n in range(first, last):
        gathered[:] = 0.0
        square, distance = 0.0, 0.0
        for v in range(vertex_count):
            x, y, z = points[n, v, 0], points[n, v, 1], points[n, v, 2]
            m = motions[n, joints[v, 0]]
            w = weights[v, 0]
            b00, b01, b02, b03 = w * m[0, 0], w * m[0, 1], w * m[0, 2], w * m[0, 3]
            b10, b11, b12, b13 = w * m[1, 0], w * m[1, 1], w * m[1, 2], w * m[1, 3]
            b20, b21, b22, b23 = w * m[2, 0], w * m[2, 1], w * m[2, 2], w * m[2, 3]
            used = 1
            for s in range(1, influences):
                w = weights[v, s]
                if w == 0.0:
                    break
                used = s + 1
                m = motions[n, joints[v, s]]
                b00 += w * m[0, 0]
                b01 += w * m[0, 1]
                b02 += w * m[0, 2]
                b03 += w * m[0, 3]
                b10 += w * m[1, 0]
                b11 += w * m[1, 1]
                b12 += w * m[1, 2]
                b13 += w * m[1, 3]
                b20 += w * m[2, 0]
                b21 += w * m[2, 1]
                b22 += w * m[2, 2]
                b23 += w * m[2, 3]
            r0 = b00 * x + b01 * y + b02 * z + b03 - target[n, v, 0]
            r1 = b10 * x + b11 * y + b12 * z + b13 - target[n, v, 1]
            r2 = b20 * x + b21 * y + b22 * z + b23 - target[n, v, 2]
            own = r0 * r0 + r1 * r1 + r2 * r2
            square += own
            distance += np.sqrt(own)
            back[n, v, 0] = b00 * r0 + b10 * r1 + b20 * r2
            back[n, v, 1] = b01 * r0 + b11 * r1 + b21 * r2
            back[n, v, 2] = b02 * r0 + b12 * r1 + b22 * r2
            for s in range(used):
                w = weights[v, s]
                g = gathered[joints[v, s]]
                w0, w1, w2 = w * r0, w * r1, w * r2
                g[0, 0] += w0 * x
                g[0, 1] += w0 * y
                g[0, 2] += w0 * z
                g[0, 3] += w0
                g[1, 0] += w1 * x
                g[1, 1] += w1 * y
                g[1, 2] += w1 * z
                g[1, 3] += w1
                g[2, 0] += w2 * x
                g[2, 1] += w2 * y
                g[2, 2] += w2 * z
                g[2, 3] += w2
        sums[n] = gathered
        squares[n], distances[n] = square, distance


@kernel()
def product(a, b):
    """Hamilton product of quaternions (wxyz)."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@kernel()
def blended_parts(parts, joints, weights, signs):
    """Real and dual part of Σ_s ± w_s q̂_s; signs so that all lie on the side of the first."""
    first = parts[joints[0]]
    w = weights[0]
    b0, b1, b2, b3 = w * first[0], w * first[1], w * first[2], w * first[3]
    d0, d1, d2, d3 = w * first[4], w * first[5], w * first[6], w * first[7]
    signs[0] = 1.0
    used = 1
    for s in range(1, len(joints)):
        w = weights[s]
        if w == 0.0:
            break
        used = s + 1
        q = parts[joints[s]]
        along = q[0] * first[0] + q[1] * first[1] + q[2] * first[2] + q[3] * first[3]
        signs[s] = -1.0 if along < 0 else 1.0
        w *= signs[s]
        b0 += w * q[0]
        b1 += w * q[1]
        b2 += w * q[2]
        b3 += w * q[3]
        d0 += w * q[4]
        d1 += w * q[5]
        d2 += w * q[6]
        d3 += w * q[7]
    return (b0, b1, b2, b3), (d0, d1, d2, d3), used


@kernel()
def dual_pass(points, joints, weights, parts, target, back, sums, squares, distances, first, last):
    """Dual-quaternion blending, of registrations first … last; `parts` are q̂_k, 8 numbers each.

    As `linear_pass`, but `sums`_k is the derivative of ½ Σ r² by q̂_k. With b + ε d = Σ ± w q̂ and
    n = |b|²: ∂_d = 2 r b / n, ∂_b = −2 (r b x + r d + (r · t') b) / n.
    """
    vertex_count = joints.shape[0]
    signs = np.ones(joints.shape[1])
    for n in range(first, last):
        sums[n] = 0.0
        squares[n], distances[n] = 0.0, 0.0
        for v in range(vertex_count):
            b, d, used = blended_parts(parts[n], joints[v], weights[v], signs)
            inverse = 1.0 / (b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3])
            x = (0.0, points[n, v, 0], points[n, v, 1], points[n, v, 2])
            turned_back = (b[0], -b[1], -b[2], -b[3])
            carried = product(product(b, x), turned_back)
            shifted = product(d, turned_back)
            t0 = (carried[1] + 2.0 * shifted[1]) * inverse
            t1 = (carried[2] + 2.0 * shifted[2]) * inverse
            t2 = (carried[3] + 2.0 * shifted[3]) * inverse
            r = (0.0, t0 - target[n, v, 0], t1 - target[n, v, 1], t2 - target[n, v, 2])
            square = r[1] * r[1] + r[2] * r[2] + r[3] * r[3]
            squares[n] += square
            distances[n] += np.sqrt(square)
            unturned = product(product(turned_back, r), b)
            for a in range(3):
                back[n, v, a] = unturned[a + 1] * inverse
            by_dual = product(r, b)
            outer, inner = product(by_dual, x), product(r, d)
            along = r[1] * t0 + r[2] * t1 + r[3] * t2
            for s in range(used):
                w = 2.0 * inverse * signs[s] * weights[v, s]
                own = sums[n, joints[v, s]]
                for a in range(4):
                    own[a] -= w * (outer[a] + inner[a] + along * b[a])
                    own[4 + a] += w * by_dual[a]


@kernel(fastmath=True)
def pair_moments(points, joints, weights, moments, first, last):
    """`moments`_nkl ← Σ_v w_vk w_vl (x, 1)(x, 1)ᵀ, of skins first … last."""
    vertex_count, influences = joints.shape
    for n in range(first, last):
        for v in range(vertex_count):
            x, y, z = points[n, v, 0], points[n, v, 1], points[n, v, 2]
            for s in range(influences):
                for t in range(s, influences):
                    w = weights[v, s] * weights[v, t]
                    if w == 0.0:
                        continue
                    # below the diagonal of parts nothing is summed: it is the mirror image
                    k, j = joints[v, s], joints[v, t]
                    own = moments[n, min(k, j), max(k, j)]
                    own[0, 0] += w * x * x
                    own[0, 1] += w * x * y
                    own[0, 2] += w * x * z
                    own[0, 3] += w * x
                    own[1, 1] += w * y * y
                    own[1, 2] += w * y * z
                    own[1, 3] += w * y
                    own[2, 2] += w * z * z
                    own[2, 3] += w * z
                    own[3, 3] += w
        for k in range(moments.shape[1]):
            for j in range(k, moments.shape[1]):
                own = moments[n, k, j]
                for a in range(4):
                    for b in range(a):
                        own[a, b] = own[b, a]
                if j > k:
                    moments[n, j, k] = own


@kernel(fastmath=True)
def pair_offset_moments(rest, joints, weights, offsets, numbers, out, first, last):
    """`out`_(kl)n ← Σ_v w_vk w_vl (x, 1) p_nvᵀ, 4 × 3, of pose offsets first … last.

    `numbers`_kl is the place of a pair of parts in `out`.
    """
    vertex_count, influences = joints.shape
    for n in range(first, last):
        for v in range(vertex_count):
            p0, p1, p2 = offsets[n, v, 0], offsets[n, v, 1], offsets[n, v, 2]
            if p0 == 0.0 and p1 == 0.0 and p2 == 0.0:
                continue
            x, y, z = rest[v, 0], rest[v, 1], rest[v, 2]
            for s in range(influences):
                for t in range(influences):
                    w = weights[v, s] * weights[v, t]
                    if w == 0.0:
                        continue
                    own = out[numbers[joints[v, s], joints[v, t]], n]
                    w0, w1, w2 = w * p0, w * p1, w * p2
                    own[0, 0] += x * w0
                    own[0, 1] += x * w1
                    own[0, 2] += x * w2
                    own[1, 0] += y * w0
                    own[1, 1] += y * w1
                    own[1, 2] += y * w2
                    own[2, 0] += z * w0
                    own[2, 1] += z * w1
                    own[2, 2] += z * w2
                    own[3, 0] += w0
                    own[3, 1] += w1
                    own[3, 2] += w2


@kernel(fastmath=True)
def linear_block(rest, subjects, joints, weights, motions, blended, moved, first, last):
    """B and B x + c of some vertices' rest skins, of registrations first … last."""
    vertex_count, influences = joints.shape
    for n in range(first, last):
        for v in range(vertex_count):
            x = rest[subjects[n], v]
            for a in range(3):
                for b in range(3):
                    total = weights[v, 0] * motions[n, joints[v, 0], a, b]
                    for s in range(1, influences):
                        total += weights[v, s] * motions[n, joints[v, s], a, b]
                    blended[n, v, a, b] = total
                shift = weights[v, 0] * motions[n, joints[v, 0], a, 3]
                for s in range(1, influences):
                    shift += weights[v, s] * motions[n, joints[v, s], a, 3]
                moved[n, v, a] = shift + (
                    blended[n, v, a, 0] * x[0]
                    + blended[n, v, a, 1] * x[1]
                    + blended[n, v, a, 2] * x[2]
                )


@kernel()
def rotation_of(b, inverse, out):
    """Rotation matrix of a quaternion whose squared length is 1 / `inverse`."""
    w, x, y, z = b
    out[0, 0] = inverse * (w * w + x * x - y * y - z * z)
    out[1, 1] = inverse * (w * w - x * x + y * y - z * z)
    out[2, 2] = inverse * (w * w - x * x - y * y + z * z)
    out[0, 1], out[1, 0] = 2 * inverse * (x * y - w * z), 2 * inverse * (x * y + w * z)
    out[0, 2], out[2, 0] = 2 * inverse * (x * z + w * y), 2 * inverse * (x * z - w * y)
    out[1, 2], out[2, 1] = 2 * inverse * (y * z - w * x), 2 * inverse * (y * z + w * x)


@kernel()
def dual_block(rest, subjects, joints, weights, parts, blended, moved, first, last):
    """As `linear_block`, with dual quaternions."""
    vertex_count = joints.shape[0]
    signs = np.ones(joints.shape[1])
    for n in range(first, last):
        for v in range(vertex_count):
            b, d, _ = blended_parts(parts[n], joints[v], weights[v], signs)
            inverse = 1.0 / (b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3])
            rotation_of(b, inverse, blended[n, v])
            shifted = product(d, (b[0], -b[1], -b[2], -b[3]))
            x = rest[subjects[n], v]
            for a in range(3):
                moved[n, v, a] = 2.0 * inverse * shifted[a + 1] + (
                    blended[n, v, a, 0] * x[0]
                    + blended[n, v, a, 1] * x[1]
                    + blended[n, v, a, 2] * x[2]
                )
