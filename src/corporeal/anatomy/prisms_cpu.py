"""Volumes of prisms' tetrahedra, and the projection that keeps them positive, compiled."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def tetrahedron_volumes(points, tetrahedra):
    """Signed volumes: det(x₁ − x₀, x₂ − x₀, x₃ − x₀)/6."""
    volumes = np.empty(len(tetrahedra))
    for t in range(len(tetrahedra)):
        o, p, q, r = tetrahedra[t, 0], tetrahedra[t, 1], tetrahedra[t, 2], tetrahedra[t, 3]
        x, y, z = points[o, 0], points[o, 1], points[o, 2]
        ax, ay, az = points[p, 0] - x, points[p, 1] - y, points[p, 2] - z
        bx, by, bz = points[q, 0] - x, points[q, 1] - y, points[q, 2] - z
        cx, cy, cz = points[r, 0] - x, points[r, 1] - y, points[r, 2] - z
        volumes[t] = (
            (ay * bz - az * by) * cx + (az * bx - ax * bz) * cy + (ax * by - ay * bx) * cz
        ) / 6.0
    return volumes


@kernel()
def volume_slopes(points, corners, slope):
    """Six times the volume of a tetrahedron; how it changes with its corners goes into `slope`."""
    o, p, q, r = corners[0], corners[1], corners[2], corners[3]
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
    for d in range(3):
        slope[0, d] = -(slope[1, d] + slope[2, d] + slope[3, d])
    return ax * ux + ay * uy + az * uz


@kernel()
def raise_volumes(points, tetrahedra, least, free, moves, counts):
    """One round of projections: flat or inverted tetrahedra move their free corners.

    A corner's way is its share of the smallest one to the volume `least`; ways of all tetrahedra at
    a vertex are added up in `moves` and counted. Returns how many tetrahedra were too small.
    """
    wrong = 0
    moves[:], counts[:] = 0.0, 0
    slope = np.empty((4, 3))
    for t in range(len(tetrahedra)):
        missing = 6.0 * least[t] - volume_slopes(points, tetrahedra[t], slope)
        if missing <= 0.0:
            continue
        squared = 0.0
        for k in range(4):
            if free[tetrahedra[t, k]]:
                for d in range(3):
                    squared += slope[k, d] * slope[k, d]
        if squared < 1e-24:
            continue
        wrong += 1
        for k in range(4):
            vertex = tetrahedra[t, k]
            if free[vertex]:
                counts[vertex] += 1
                for d in range(3):
                    moves[vertex, d] += missing / squared * slope[k, d]
    return wrong
