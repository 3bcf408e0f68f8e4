"""The local step of the skin's tension, compiled.

Fᵀ = G E has two rows, and C = Fᵀ F four entries with the squares λ of the stretches as eigenvalues.
What the projection takes from F is F M, where M has C's axes and the eigenvalues
η(λ) = −min(max(1 − 1/σ, 0), g/σ), so that M = α + β C with β = (η₁ − η₂)/(λ₁ − λ₂) and
α = η₁ − β λ₁: no axes are needed. Skin that is stretched nowhere, λ₁ ≤ 1, pulls nothing.
"""

import numpy as np

from corporeal.physics.solver.constraints.skin_tension import GIVE
from corporeal.runtime.kernels import kernel

_SAME = 1e-5
"""Of the larger of two squared stretches: nearer ones are one."""


@kernel()
def pull_skin(corners, inverse, weights, positions, residual, first, last):
    """Add Qᵀ w (p − Q z) of the triangles `first` … `last` − 1 to the `residual` of the free
    vertices, which come first; its last row is of no use (`local_step`)."""
    free = residual.shape[0] - 1
    for t in range(first, last):
        a, b, c = corners[t, 0], corners[t, 1], corners[t, 2]
        p, q, r, s = inverse[t, 0, 0], inverse[t, 0, 1], inverse[t, 1, 0], inverse[t, 1, 1]
        ux, uy, uz = (
            positions[b, 0] - positions[a, 0],
            positions[b, 1] - positions[a, 1],
            positions[b, 2] - positions[a, 2],
        )
        vx, vy, vz = (
            positions[c, 0] - positions[a, 0],
            positions[c, 1] - positions[a, 1],
            positions[c, 2] - positions[a, 2],
        )
        # the two rows of Fᵀ
        fx, fy, fz = p * ux + q * vx, p * uy + q * vy, p * uz + q * vz
        hx, hy, hz = r * ux + s * vx, r * uy + s * vy, r * uz + s * vz
        ff, hh = fx * fx + fy * fy + fz * fz, hx * hx + hy * hy + hz * hz
        fh = fx * hx + fy * hy + fz * hz
        middle, half = 0.5 * (ff + hh), 0.5 * (ff - hh)
        spread = np.sqrt(half * half + fh * fh)
        large, small = middle + spread, middle - spread
        if not large > 1.0:
            continue
        taken, slope = _taken_share(large), 0.0
        if 2.0 * spread > _SAME * large:
            slope = (taken - _taken_share(small)) / (2.0 * spread)
        alpha, w = taken - slope * large, weights[t]
        one, two, both = w * (alpha + slope * ff), w * (alpha + slope * hh), w * slope * fh
        # w (p − Fᵀ) = w M Fᵀ, and Gᵀ of it on the two edges
        kx, ky, kz = one * fx + both * hx, one * fy + both * hy, one * fz + both * hz
        lx, ly, lz = both * fx + two * hx, both * fy + two * hy, both * fz + two * hz
        bx, by, bz = p * kx + r * lx, p * ky + r * ly, p * kz + r * lz
        cx, cy, cz = q * kx + s * lx, q * ky + s * ly, q * kz + s * lz
        if b < free:
            residual[b, 0] += np.float32(bx)
            residual[b, 1] += np.float32(by)
            residual[b, 2] += np.float32(bz)
        if c < free:
            residual[c, 0] += np.float32(cx)
            residual[c, 1] += np.float32(cy)
            residual[c, 2] += np.float32(cz)
        if a < free:
            residual[a, 0] -= np.float32(bx + cx)
            residual[a, 1] -= np.float32(by + cy)
            residual[a, 2] -= np.float32(bz + cz)


@kernel()
def _taken_share(square):
    """η of a squared stretch: what tension takes from it, over the stretch."""
    if not square > 1.0:
        return 0.0
    stretch = np.sqrt(square)
    return -min(stretch - 1.0, GIVE) / stretch


@kernel(fastmath=True)
def damp_creases(starts, columns, values, guess, z, apart, right):
    """Add D (ẑ − z) to the `right` side, ẑ being the first `guess` of the free vertices and D a
    matrix by rows (`solver.membrane`); `apart` is scratch of four numbers a vertex, of which the
    last are zero."""
    for i in range(len(guess)):
        for c in range(3):
            apart[i, c] = guess[i, c] - z[i, c]
    for i in range(len(starts) - 1):
        x, y, w, o = np.float32(0.0), np.float32(0.0), np.float32(0.0), np.float32(0.0)
        for entry in range(starts[i], starts[i + 1]):
            k, value = columns[entry], values[entry]
            x += value * apart[k, 0]
            y += value * apart[k, 1]
            w += value * apart[k, 2]
            o += value * apart[k, 3]
        right[i, 0] += x
        right[i, 1] += y
        right[i, 2] += w
