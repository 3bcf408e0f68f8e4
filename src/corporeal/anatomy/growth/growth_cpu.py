"""Kernel of `skin`: where tetrahedra of given volumes wish their skin corners."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def volume_ways(points, tetrahedra, volumes, count, ways, weights):
    """Ways of the first `count` vertices to the wished volumes, added up with weights.

    The shortest way of a tetrahedron's skin corners to first order; its weight is its area.
    """
    ways[:], weights[:] = 0.0, 0.0
    slope = np.empty((4, 3))
    for t in range(len(tetrahedra)):
        o, p, q, r = tetrahedra[t, 0], tetrahedra[t, 1], tetrahedra[t, 2], tetrahedra[t, 3]
        x, y, z = points[o, 0], points[o, 1], points[o, 2]
        ax, ay, az = points[p, 0] - x, points[p, 1] - y, points[p, 2] - z
        bx, by, bz = points[q, 0] - x, points[q, 1] - y, points[q, 2] - z
        cx, cy, cz = points[r, 0] - x, points[r, 1] - y, points[r, 2] - z
        ux, uy, uz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        slope[1, 0], slope[1, 1], slope[1, 2] = ux, uy, uz
        slope[2, 0], slope[2, 1] = cy * az - cz * ay, cz * ax - cx * az
        slope[2, 2] = cx * ay - cy * ax
        slope[3, 0], slope[3, 1] = ay * bz - az * by, az * bx - ax * bz
        slope[3, 2] = ax * by - ay * bx
        missing = 6.0 * volumes[t] - (ax * ux + ay * uy + az * uz)
        squared = 0.0
        for d in range(3):
            slope[0, d] = -(slope[1, d] + slope[2, d] + slope[3, d])
        for k in range(4):
            if tetrahedra[t, k] < count:
                for d in range(3):
                    squared += slope[k, d] * slope[k, d]
        if squared < 1e-24:
            continue
        weight = np.sqrt(squared)
        for k in range(4):
            vertex = tetrahedra[t, k]
            if vertex < count:
                weights[vertex] += weight
                for d in range(3):
                    ways[vertex, d] += weight * missing / squared * slope[k, d]
