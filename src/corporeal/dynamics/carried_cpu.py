"""Compiled: rest-pose offsets carried along with the joints, added to a posed skin."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def add_carried(posed, rotations, joints, weights, offsets):
    """x_v += Σ_k w_vk Q_k d_v for every vertex of one frame; of `rotations`, which may be rigid
    motions, three columns are looked at."""
    for v in range(posed.shape[0]):
        x, y, z = offsets[v, 0], offsets[v, 1], offsets[v, 2]
        a = b = c = np.float64(0.0)
        for k in range(joints.shape[1]):
            w = weights[v, k]
            if w != 0:
                q = rotations[joints[v, k]]
                a += w * (q[0, 0] * x + q[0, 1] * y + q[0, 2] * z)
                b += w * (q[1, 0] * x + q[1, 1] * y + q[1, 2] * z)
                c += w * (q[2, 0] * x + q[2, 1] * y + q[2, 2] * z)
        posed[v, 0] += a
        posed[v, 1] += b
        posed[v, 2] += c
