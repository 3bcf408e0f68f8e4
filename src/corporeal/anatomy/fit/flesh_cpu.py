"""The local step of `flesh`, compiled."""

import numba
import numpy as np

from corporeal.physics.solver.cpu.polar import closest_rotation
from corporeal.runtime.kernels import kernel


@kernel(parallel=True)
def limit_strain(transposed, axes, least, most):
    """(R (I + (α − 1) a aᵀ))ᵀ for every Fᵀ in `transposed` (n, 3, 3) and axis a (n, 3)."""
    projected = np.empty_like(transposed)
    for n in numba.prange(len(transposed)):
        rotation, work = np.empty((3, 3)), np.empty((3, 3, 3))
        gradient = np.empty((3, 3))
        for i in range(3):
            for j in range(3):
                gradient[i, j] = transposed[n, j, i]
        closest_rotation(gradient, rotation, work)
        alpha = 0.0  # aᵀ Rᵀ F a
        for i in range(3):
            turned, stretched = 0.0, 0.0
            for j in range(3):
                turned += rotation[i, j] * axes[n, j]
                stretched += gradient[i, j] * axes[n, j]
            alpha += turned * stretched
        alpha = min(max(alpha, least), most)
        for i in range(3):
            along = 0.0
            for j in range(3):
                along += rotation[i, j] * axes[n, j]
            for j in range(3):
                projected[n, j, i] = rotation[i, j] + (alpha - 1.0) * along * axes[n, j]
    return projected
