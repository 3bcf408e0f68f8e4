"""Which triangle every texel of a texture belongs to."""

import numpy as np

from corporeal.runtime.kernels import kernel

BLEED = 2.6
"""Texels beyond a chart's edge that are painted as it is, so that filters do not mix in nothing."""


@kernel(fastmath=True)
def cover_texels(places, triangles, owner, shares, away):
    """Draw triangles (F 3) of texture places (U 2: column, row) into a square of texels.

    `owner` (s s) gets the triangle, −1 for none; `shares` (s s 3) the texel's barycentric
    coordinates, continued beyond the edge; `away` (s s) how far outside it lies, texels.
    """
    size = owner.shape[0]
    owner[:] = -1
    away[:] = BLEED
    for t in range(triangles.shape[0]):
        i, j, k = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        xi, yi, xj, yj = places[i, 0], places[i, 1], places[j, 0], places[j, 1]
        xk, yk = places[k, 0], places[k, 1]
        area = (xj - xi) * (yk - yi) - (yj - yi) * (xk - xi)
        if abs(area) < 1e-9:
            continue
        left = max(int(np.floor(min(xi, min(xj, xk)) - BLEED)), 0)
        right = min(int(np.ceil(max(xi, max(xj, xk)) + BLEED)), size - 1)
        top = max(int(np.floor(min(yi, min(yj, yk)) - BLEED)), 0)
        bottom = min(int(np.ceil(max(yi, max(yj, yk)) + BLEED)), size - 1)
        # heights of the triangle over its three edges, texels
        h0 = abs(area) / max(np.hypot(xk - xj, yk - yj), 1e-9)
        h1 = abs(area) / max(np.hypot(xi - xk, yi - yk), 1e-9)
        h2 = abs(area) / max(np.hypot(xj - xi, yj - yi), 1e-9)
        for row in range(top, bottom + 1):
            y = row + 0.5
            for column in range(left, right + 1):
                x = column + 0.5
                b0 = ((xj - x) * (yk - y) - (yj - y) * (xk - x)) / area
                b1 = ((xk - x) * (yi - y) - (yk - y) * (xi - x)) / area
                b2 = 1.0 - b0 - b1
                outside = max(max(-b0 * h0, -b1 * h1), max(-b2 * h2, 0.0))
                if outside < away[row, column]:
                    away[row, column] = outside
                    owner[row, column] = t
                    shares[row, column, 0] = b0
                    shares[row, column, 1] = b1
                    shares[row, column, 2] = b2
