"""Compiled: where rays along z cross a surface, and how much of them lies inside."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def _side(points, a, b, x, y):
    """Twice the signed area of (a, b, (x, y)) seen along z; exactly opposite for (b, a)."""
    if a < b:
        return (points[b, 0] - points[a, 0]) * (y - points[a, 1]) - (
            points[b, 1] - points[a, 1]
        ) * (x - points[a, 0])
    return -(
        (points[a, 0] - points[b, 0]) * (y - points[b, 1])
        - (points[a, 1] - points[b, 1]) * (x - points[b, 0])
    )


@kernel()
def _visit(points, triangles, origin, spacing, counts, starts, heights, signs, fill):
    """Count the crossings of every ray in `starts`, or (`fill`) put them where `starts` says."""
    for f in range(len(triangles)):
        a, b, c = triangles[f, 0], triangles[f, 1], triangles[f, 2]
        low_x = min(points[a, 0], points[b, 0], points[c, 0])
        high_x = max(points[a, 0], points[b, 0], points[c, 0])
        low_y = min(points[a, 1], points[b, 1], points[c, 1])
        high_y = max(points[a, 1], points[b, 1], points[c, 1])
        for i in range(
            max(0, int(np.ceil((low_x - origin[0]) / spacing)) - 1),
            min(counts[0], int((high_x - origin[0]) / spacing) + 2),
        ):
            x = origin[0] + i * spacing
            for j in range(
                max(0, int(np.ceil((low_y - origin[1]) / spacing)) - 1),
                min(counts[1], int((high_y - origin[1]) / spacing) + 2),
            ):
                y = origin[1] + j * spacing
                u = _side(points, b, c, x, y)
                v = _side(points, c, a, x, y)
                w = _side(points, a, b, x, y)
                inside = u > 0.0
                if (v > 0.0) != inside or (w > 0.0) != inside:
                    continue
                ray = i * counts[1] + j
                if fill:
                    place = starts[ray]
                    whole = u + v + w
                    heights[place] = (
                        u * points[a, 2] + v * points[b, 2] + w * points[c, 2]
                    ) / whole
                    signs[place] = -1 if inside else 1
                starts[ray] += 1


@kernel()
def crossings(points, triangles, origin, spacing, counts):
    """Every ray's crossings: where its row starts, heights z, and +1 where it enters.

    Neighbours decide their common edge by the same number, so no ray slips through or counts twice.
    """
    rays = counts[0] * counts[1]
    number = np.zeros(rays, np.int64)
    nothing, no_signs = np.empty(0), np.empty(0, np.int64)
    _visit(points, triangles, origin, spacing, counts, number, nothing, no_signs, False)
    starts = np.zeros(rays + 1, np.int64)
    starts[1:] = np.cumsum(number)
    heights, signs = np.empty(starts[-1]), np.empty(starts[-1], np.int64)
    cursor = starts[:-1].copy()
    _visit(points, triangles, origin, spacing, counts, cursor, heights, signs, True)
    return starts, heights, signs


@kernel()
def lengths_inside(starts, heights, signs):
    """Summed length of all rays where the winding number is above zero."""
    total = 0.0
    for ray in range(len(starts) - 1):
        first, last = starts[ray], starts[ray + 1]
        if first == last:
            continue
        order = np.argsort(heights[first:last])
        winding = 0
        for k in range(last - first - 1):
            winding += signs[first + order[k]]
            if winding > 0:
                total += heights[first + order[k + 1]] - heights[first + order[k]]
    return total
