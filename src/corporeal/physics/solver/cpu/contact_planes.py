"""Compiled: the pull of pairs that are on the wrong side of the plane between them."""

from corporeal.runtime.kernels import kernel


@kernel()
def push_apart(pairs, normals, weight, z, right_side):
    """Add w (p − q) to both ends, q = x_j − x_i and p = q − min(0, n·q) n, newtons."""
    free = len(right_side)
    for c in range(len(pairs)):
        i, j = pairs[c, 0], pairs[c, 1]
        apart = 0.0
        for k in range(3):
            apart += normals[c, k] * (z[j, k] - z[i, k])
        if apart < 0.0:
            for k in range(3):
                pull = -weight * apart * normals[c, k]
                if j < free:
                    right_side[j, k] += pull
                if i < free:
                    right_side[i, k] -= pull
