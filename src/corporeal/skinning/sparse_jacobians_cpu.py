"""Derivatives of posed vertices by the joints' rotations, compiled: only what is not zero."""

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.gradients_cpu import blended_parts, product


@kernel()
def linear_rotations(
    points, joints, weights, motions, centres, ancestors, slots, below, out, first, last
):
    """`out`_nv[:, slot] ← δ × Σ_{k desc. of j} w_vk (A_k x_v − g_j), of poses first … last.

    `motions` are N × J × 3 × 4; ancestor a of vertex v is written to column `slots`_va, and −1 ends
    the list.
    """
    vertex_count, influences = joints.shape
    moved = np.empty((influences, 3), out.dtype)
    for n in range(first, last):
        for v in range(vertex_count):
            x, y, z = points[n, v, 0], points[n, v, 1], points[n, v, 2]
            for s in range(influences):
                m = motions[n, joints[v, s]]
                for a in range(3):
                    moved[s, a] = m[a, 0] * x + m[a, 1] * y + m[a, 2] * z + m[a, 3]
            for place in range(ancestors.shape[1]):
                j = ancestors[v, place]
                if j < 0:
                    break
                g0, g1, g2 = centres[n, j, 0], centres[n, j, 1], centres[n, j, 2]
                m0, m1, m2 = 0 * g0, 0 * g1, 0 * g2
                for s in range(influences):
                    if below[joints[v, s], j]:
                        w = weights[v, s]
                        m0 += w * (moved[s, 0] - g0)
                        m1 += w * (moved[s, 1] - g1)
                        m2 += w * (moved[s, 2] - g2)
                own, c = out[n, v], slots[v, place]
                own[0, c, 1], own[0, c, 2] = m2, -m1
                own[1, c, 0], own[1, c, 2] = -m2, m0
                own[2, c, 0], own[2, c, 1] = m1, -m0


@kernel()
def dual_rotations(
    points, joints, weights, parts, centres, ancestors, slots, below, out, first, last
):
    """As `linear_rotations`, with dual quaternions; `parts` are q̂_k, 8 numbers each.

    From db = ½ δ H, dd = ½ δ D + ½ (g_j × δ) H, with H + ε D the sum over the descendants of j:
    dt' = 2 (vec(db x b* + dd b* + d db*) − t' (b · db)) / |b|².
    """
    vertex_count, influences = joints.shape
    signs, half = np.ones(influences), np.zeros((2, 4))
    for n in range(first, last):
        for v in range(vertex_count):
            b, d, used = blended_parts(parts[n], joints[v], weights[v], signs)
            inverse = 1.0 / (b[0] * b[0] + b[1] * b[1] + b[2] * b[2] + b[3] * b[3])
            back = (b[0], -b[1], -b[2], -b[3])
            x = product((0.0, points[n, v, 0], points[n, v, 1], points[n, v, 2]), back)
            carried, shifted = product(b, x), product(d, back)
            for place in range(ancestors.shape[1]):
                j = ancestors[v, place]
                if j < 0:
                    break
                half[:] = 0.0
                for s in range(used):
                    if below[joints[v, s], j]:
                        w = 0.5 * signs[s] * weights[v, s]
                        for i in range(4):
                            half[0, i] += w * parts[n, joints[v, s], i]
                            half[1, i] += w * parts[n, joints[v, s], 4 + i]
                h = (half[0, 0], half[0, 1], half[0, 2], half[0, 3])
                e = (half[1, 0], half[1, 1], half[1, 2], half[1, 3])
                g0 = np.float64(centres[n, j, 0])
                g1 = np.float64(centres[n, j, 1])
                g2 = np.float64(centres[n, j, 2])
                for axis in range(3):
                    if axis == 0:
                        turn, arm = (0.0, 1.0, 0.0, 0.0), (0.0, 0.0, g2, -g1)
                    elif axis == 1:
                        turn, arm = (0.0, 0.0, 1.0, 0.0), (0.0, -g2, 0.0, g0)
                    else:
                        turn, arm = (0.0, 0.0, 0.0, 1.0), (0.0, g1, -g0, 0.0)
                    real = product(turn, h)
                    first_dual, second_dual = product(turn, e), product(arm, h)
                    dual = (
                        first_dual[0] + second_dual[0],
                        first_dual[1] + second_dual[1],
                        first_dual[2] + second_dual[2],
                        first_dual[3] + second_dual[3],
                    )
                    one, two = product(real, x), product(dual, back)
                    three = product(d, (real[0], -real[1], -real[2], -real[3]))
                    along = b[0] * real[0] + b[1] * real[1] + b[2] * real[2] + b[3] * real[3]
                    for a in range(3):
                        at = (carried[a + 1] + 2.0 * shifted[a + 1]) * inverse
                        slope = one[a + 1] + two[a + 1] + three[a + 1] - at * along
                        out[n, v, a, slots[v, place], axis] = 2.0 * inverse * slope
