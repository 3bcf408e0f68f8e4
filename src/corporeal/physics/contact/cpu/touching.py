"""Compiled: rows go from what they were to what they would be anew, at their rates."""

import numpy as np

from corporeal.geometry.surface_tree_cpu import triangle_shares
from corporeal.runtime.kernels import kernel


@kernel()
def go_on(
    sources, rates, pairs, shares, normals, offsets, old_pairs, old_shares, old_normals,
    old_offsets, old_places, points, triangles, places,
):  # fmt: skip
    """Blend, in place, new rows with those that they come from (`sources`, −1 for none); where
    friction holds them into `places`.

    All vectors are seen from the world, metres. A row of rate a takes the share a of the new foot,
    normal and offset, and forgets the share a of what it has slipped.
    """
    corner, foot = np.empty((3, 3)), np.empty(3)
    for i in range(len(sources)):
        source, rate, v = sources[i], rates[i], pairs[i, 0]
        if source >= 0 and rate < 1.0:
            t, t_old = pairs[i, 1], old_pairs[source, 1]
            for k in range(3):
                then, now = 0.0, 0.0
                for m in range(3):
                    then += old_shares[source, m] * points[triangles[t_old, m], k]
                    now += shares[i, m] * points[triangles[t, m], k]
                foot[k] = then + rate * (now - then)
            on = t if rate >= 0.5 else t_old
            for m in range(3):
                for k in range(3):
                    corner[m, k] = points[triangles[on, m], k]
            s, r = triangle_shares(foot[0], foot[1], foot[2], corner)
            pairs[i, 1] = on
            shares[i, 0], shares[i, 1], shares[i, 2] = 1.0 - s - r, s, r
            length = 0.0
            for k in range(3):
                normals[i, k] = old_normals[source, k] + rate * (
                    normals[i, k] - old_normals[source, k]
                )
                length += normals[i, k] ** 2
            if length > 0.0:
                for k in range(3):
                    normals[i, k] /= np.sqrt(length)
            offsets[i] = old_offsets[source] + rate * (offsets[i] - old_offsets[source])
        for k in range(3):
            place, slipped = points[v, k], 0.0
            for m in range(3):
                place -= shares[i, m] * points[triangles[pairs[i, 1], m], k]
            if source >= 0 and rate < 1.0:
                slipped = points[v, k] - old_places[source, k]
                for m in range(3):
                    slipped -= old_shares[source, m] * points[triangles[old_pairs[source, 1], m], k]
            places[i, k] = place - (1.0 - rate) * slipped
