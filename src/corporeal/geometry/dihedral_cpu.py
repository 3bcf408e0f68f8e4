"""Compiled: which edges of a surface fold sharply; must agree with `dihedral`."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def folds_beyond(vertices, triangles, pairs, least):
    """Whether the unit normals of the two triangles beside each edge have a product below `least`.

    A triangle without area has the normal 0.
    """
    normals = np.zeros((len(triangles), 3))
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, vx = vertices[b, 0] - vertices[a, 0], vertices[c, 0] - vertices[a, 0]
        uy, vy = vertices[b, 1] - vertices[a, 1], vertices[c, 1] - vertices[a, 1]
        uz, vz = vertices[b, 2] - vertices[a, 2], vertices[c, 2] - vertices[a, 2]
        x, y, z = uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx
        size = np.sqrt(x * x + y * y + z * z)
        if size > 0.0:
            normals[t, 0], normals[t, 1], normals[t, 2] = x / size, y / size, z / size
    sharp = np.empty(len(pairs), np.bool_)
    for e in range(len(pairs)):
        s, t = pairs[e, 0], pairs[e, 1]
        product = 0.0
        for k in range(3):
            product += normals[s, k] * normals[t, k]
        sharp[e] = product < least
    return sharp
