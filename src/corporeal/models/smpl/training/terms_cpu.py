"""Compiled sums over registrations, for the linear problems of training."""

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.gradients_cpu import blended_parts, product, rotation_of


@kernel(fastmath=True)
def pair_blend(joints, weights, table, out, first, last):
    """`out`_v ← Σ_st w_vs w_vt `table`_st, of vertices first … last."""
    influences, width = joints.shape[1], table.shape[2]
    for v in range(first, last):
        for s in range(influences):
            for t in range(influences):
                w = weights[v, s] * weights[v, t]
                if w == 0.0:
                    continue
                row = table[joints[v, s], joints[v, t]]
                for a in range(width):
                    out[v, a] += w * row[a]


@kernel(fastmath=True)
def apply_metric(blended, values, first, last):
    """`values` ← Bᵀ B `values`, in place, of registrations first … last."""
    vertex_count = values.shape[1]
    for n in range(first, last):
        for v in range(vertex_count):
            m, x = blended[n, v], values[n, v]
            t0 = m[0, 0] * x[0] + m[0, 1] * x[1] + m[0, 2] * x[2]
            t1 = m[1, 0] * x[0] + m[1, 1] * x[1] + m[1, 2] * x[2]
            t2 = m[2, 0] * x[0] + m[2, 1] * x[1] + m[2, 2] * x[2]
            x[0] = m[0, 0] * t0 + m[1, 0] * t1 + m[2, 0] * t2
            x[1] = m[0, 1] * t0 + m[1, 1] * t1 + m[2, 1] * t2
            x[2] = m[0, 2] * t0 + m[1, 2] * t1 + m[2, 2] * t2


@kernel()
def dual_joint_terms(joints, weights, parts, maps, above, coupling, pairs, first, last):
    """Sums over one subject's registrations, of vertices first … last.

    `maps`_nk (3 × 3 J) say how part k's shift follows the rest joints, of which only those in
    `above`_k count (−1 ends the list). `coupling`_v ← Σ_n Bᵀ Σ_k D_k maps_nk, and
    `pairs`_nkl ← Σ_v D_kᵀ D_l, with D_k = ± w (r₀ I − [r]ₓ) / n, r = q_k b*.
    """
    influences = joints.shape[1]
    signs, turn = np.ones(influences), np.empty((3, 3))
    carriers, back = np.empty((influences, 3, 3)), np.empty((3, 3))
    for n in range(len(parts)):
        for v in range(first, last):
            b, _, used = blended_parts(parts[n], joints[v], weights[v], signs)
            inverse = 1.0 / (b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3])
            rotation_of(b, inverse, turn)
            for s in range(used):
                q = parts[n, joints[v, s]]
                r = product((q[0], q[1], q[2], q[3]), (b[0], -b[1], -b[2], -b[3]))
                w = signs[s] * weights[v, s] * inverse
                own = carriers[s]
                own[0, 0] = own[1, 1] = own[2, 2] = w * r[0]
                own[0, 1], own[1, 0] = w * r[3], -w * r[3]
                own[0, 2], own[2, 0] = -w * r[2], w * r[2]
                own[1, 2], own[2, 1] = w * r[1], -w * r[1]
            for s in range(used):
                k = joints[v, s]
                for a in range(3):
                    for c in range(3):
                        back[a, c] = (
                            turn[0, a] * carriers[s, 0, c]
                            + turn[1, a] * carriers[s, 1, c]
                            + turn[2, a] * carriers[s, 2, c]
                        )
                for t in range(used):
                    own = pairs[n, k, joints[v, t]]
                    for a in range(3):
                        for c in range(3):
                            own[a, c] += (
                                carriers[s, 0, a] * carriers[t, 0, c]
                                + carriers[s, 1, a] * carriers[t, 1, c]
                                + carriers[s, 2, a] * carriers[t, 2, c]
                            )
                for place in range(above.shape[1]):
                    j = above[k, place]
                    if j < 0:
                        break
                    for a in range(3):
                        for c in range(3 * j, 3 * j + 3):
                            coupling[v, a, c] += (
                                back[a, 0] * maps[n, k, 0, c]
                                + back[a, 1] * maps[n, k, 1, c]
                                + back[a, 2] * maps[n, k, 2, c]
                            )


@kernel(fastmath=True)
def linear_weight_products(points, candidates, motions, targets, products, first, last):
    """`products`_v ← Σ_n d_k · d_l, d_k = A_k x − target, of vertices first … last."""
    count = candidates.shape[1]
    apart = np.empty((count, 3))
    for n in range(len(points)):
        for v in range(first, last):
            x, y, z = points[n, v, 0], points[n, v, 1], points[n, v, 2]
            for k in range(count):
                m = motions[n, candidates[v, k]]
                for a in range(3):
                    apart[k, a] = (
                        m[a, 0] * x + m[a, 1] * y + m[a, 2] * z + m[a, 3] - targets[n, v, a]
                    )
            for k in range(count):
                for j in range(k, count):
                    products[v, k, j] += (
                        apart[k, 0] * apart[j, 0]
                        + apart[k, 1] * apart[j, 1]
                        + apart[k, 2] * apart[j, 2]
                    )


@kernel()
def dual_weight_products(
    points, joints, weights, candidates, now, parts, targets, products, first, last
):
    """As `linear_weight_products`, linearised about the weights `now` of the candidates.

    d_k = ∂_k t' − Σ_l w_l ∂_l t' + t' − target, and from db̂ = ± q̂_k
    ∂_k t' = 2 (vec(db x b* + dd b* + d db*) − t' (b · db)) / n.
    """
    count = candidates.shape[1]
    signs, apart, mean = np.ones(joints.shape[1]), np.empty((count, 3)), np.empty(3)
    for n in range(len(points)):
        for v in range(first, last):
            b, d, _ = blended_parts(parts[n], joints[v], weights[v], signs)
            inverse = 1.0 / (b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3])
            back = (b[0], -b[1], -b[2], -b[3])
            x = product((0.0, points[n, v, 0], points[n, v, 1], points[n, v, 2]), back)
            carried, shifted = product(b, x), product(d, back)
            pivot = parts[n, joints[v, 0]]
            mean[:] = 0.0
            for k in range(count):
                q = parts[n, candidates[v, k]]
                along = q[0] * pivot[0] + q[1] * pivot[1] + q[2] * pivot[2] + q[3] * pivot[3]
                sign = -1.0 if along < 0 else 1.0
                real = (sign * q[0], sign * q[1], sign * q[2], sign * q[3])
                dual = (sign * q[4], sign * q[5], sign * q[6], sign * q[7])
                first_term, second = product(real, x), product(dual, back)
                third = product(d, (real[0], -real[1], -real[2], -real[3]))
                onto = b[0] * real[0] + b[1] * real[1] + b[2] * real[2] + b[3] * real[3]
                for a in range(3):
                    place = (carried[a + 1] + 2.0 * shifted[a + 1]) * inverse
                    slope = first_term[a + 1] + second[a + 1] + third[a + 1] - place * onto
                    apart[k, a] = 2.0 * inverse * slope
                    mean[a] += now[v, k] * apart[k, a]
            for a in range(3):
                off = (carried[a + 1] + 2.0 * shifted[a + 1]) * inverse - targets[n, v, a] - mean[a]
                for k in range(count):
                    apart[k, a] += off
            for k in range(count):
                for j in range(k, count):
                    products[v, k, j] += (
                        apart[k, 0] * apart[j, 0]
                        + apart[k, 1] * apart[j, 1]
                        + apart[k, 2] * apart[j, 2]
                    )
