"""Compiled: skin vertices as sums of simulated ones."""

from corporeal.runtime.kernels import kernel


@kernel()
def combine(neighbours, weights, coarse, first, last, fine):
    """Σ_i w_ji x_i of the skin vertices `first` … `last` − 1, added up in the order of the
    neighbours."""
    for j in range(first, last):
        x, y, z = 0.0 * coarse[0, 0], 0.0 * coarse[0, 0], 0.0 * coarse[0, 0]
        for m in range(neighbours.shape[1]):
            i, weight = neighbours[j, m], weights[j, m]
            x += weight * coarse[i, 0]
            y += weight * coarse[i, 1]
            z += weight * coarse[i, 2]
        fine[j, 0], fine[j, 1], fine[j, 2] = x, y, z
