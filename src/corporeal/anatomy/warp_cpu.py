"""Kernels of `warp`."""

import math

import numba
import numpy as np

from corporeal.runtime.kernels import kernel


@kernel(parallel=True, fastmath=True)
def triharmonic_sums(points, centres, weights):
    """Σ_j w_j ‖x − c_j‖³ for every point,."""
    count, n = len(points), len(centres)
    sums = np.empty((count, 3))
    cx, cy, cz = centres[:, 0].copy(), centres[:, 1].copy(), centres[:, 2].copy()
    wx, wy, wz = weights[:, 0].copy(), weights[:, 1].copy(), weights[:, 2].copy()
    for i in numba.prange(count):
        x, y, z = points[i, 0], points[i, 1], points[i, 2]
        sx, sy, sz = 0.0, 0.0, 0.0
        for j in range(n):
            dx, dy, dz = x - cx[j], y - cy[j], z - cz[j]
            squared = dx * dx + dy * dy + dz * dz
            cube = squared * math.sqrt(squared)
            sx += wx[j] * cube
            sy += wy[j] * cube
            sz += wz[j] * cube
        sums[i, 0], sums[i, 1], sums[i, 2] = sx, sy, sz
    return sums


@kernel()
def farthest_first(points, count):
    """Indices in farthest-first order, from the first point on."""
    order = np.empty(count, np.int64)
    nearest = np.full(len(points), np.inf)
    chosen = 0
    for k in range(count):
        order[k] = chosen
        x, y, z = points[chosen, 0], points[chosen, 1], points[chosen, 2]
        best, following = -1.0, 0
        for i in range(len(points)):
            squared = (points[i, 0] - x) ** 2 + (points[i, 1] - y) ** 2 + (points[i, 2] - z) ** 2
            nearest[i] = min(nearest[i], squared)
            if nearest[i] > best:
                best, following = nearest[i], i
        chosen = following
    return order
