"""Compiled: pairs of skin edges that pass each other, or through each other."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def between_lines(points, edges, one, other, normal):
    """Where two edges' lines are nearest to each other: shares of both edges from their first ends,
    the unit vector across both into `normal`, metres along it from the second to the first, and
    whether there is such a place: parallel edges have none."""
    a, b, c, d = edges[one, 0], edges[one, 1], edges[other, 0], edges[other, 1]
    ux, uy, uz = (
        points[b, 0] - points[a, 0],
        points[b, 1] - points[a, 1],
        points[b, 2] - points[a, 2],
    )
    wx, wy, wz = (
        points[d, 0] - points[c, 0],
        points[d, 1] - points[c, 1],
        points[d, 2] - points[c, 2],
    )
    ox, oy, oz = (
        points[c, 0] - points[a, 0],
        points[c, 1] - points[a, 1],
        points[c, 2] - points[a, 2],
    )
    nx, ny, nz = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
    squared = nx * nx + ny * ny + nz * nz
    longest = (ux * ux + uy * uy + uz * uz) * (wx * wx + wy * wy + wz * wz)
    if squared <= PARALLEL * PARALLEL * longest:
        return 0.0, 0.0, 0.0, False
    s = (ox * (wy * nz - wz * ny) + oy * (wz * nx - wx * nz) + oz * (wx * ny - wy * nx)) / squared
    t = (ox * (uy * nz - uz * ny) + oy * (uz * nx - ux * nz) + oz * (ux * ny - uy * nx)) / squared
    length = np.sqrt(squared)
    normal[0], normal[1], normal[2] = nx / length, ny / length, nz / length
    return s, t, -(ox * nx + oy * ny + oz * nz) / length, True


PARALLEL = 0.1
"""Sine of the angle between edges below which they are left to their ends."""


@kernel()
def _facing(normals, edges, edge, share, normal):
    """Cosine between a vector and the skin's normal on an edge."""
    a, b = edges[edge, 0], edges[edge, 1]
    along, length = 0.0, 0.0
    for k in range(3):
        here = (1.0 - share) * normals[a, k] + share * normals[b, k]
        along += here * normal[k]
        length += here * here
    return along / np.sqrt(length) if length > 0.0 else 0.0


@kernel()
def _boxes(points, edges, chosen, margin, boxes):
    """Lowest and highest coordinates of chosen edges with a margin around, metres."""
    for i in range(len(chosen)):
        a, b = edges[chosen[i], 0], edges[chosen[i], 1]
        for k in range(3):
            boxes[i, k] = min(points[a, k], points[b, k]) - margin
            boxes[i, 3 + k] = max(points[a, k], points[b, k]) + margin


@kernel()
def passing_edges(
    points, normals, edges, chosen, least, deepest, furthest, found, shares, across, gaps
):
    """Pairs of chosen edges, of skin that faces each other, that pass within metres: above
    −`deepest` and below `furthest`. Gives how many there are, even where `found` is too short.

    `chosen` are sorted by the lowest x of the edges. The skin's normals tell the sides, whatever
    the edges' present ones: `across` points out of the second edge's skin and into the first's, by
    a cosine of at least `least`.
    """
    boxes, normal = np.empty((len(chosen), 6)), np.empty(3)
    _boxes(points, edges, chosen, 0.5 * max(deepest, furthest), boxes)
    count = 0
    for i in range(len(chosen)):
        one = chosen[i]
        a, b = edges[one, 0], edges[one, 1]
        for j in range(i + 1, len(chosen)):
            if boxes[j, 0] > boxes[i, 3]:
                break
            if (
                (boxes[j, 1] > boxes[i, 4]) | (boxes[j, 4] < boxes[i, 1])
                | (boxes[j, 2] > boxes[i, 5]) | (boxes[j, 5] < boxes[i, 2])
            ):  # fmt: skip
                continue
            other = chosen[j]
            c, d = edges[other, 0], edges[other, 1]
            if (a == c) | (a == d) | (b == c) | (b == d):
                continue
            s, t, gap, sound = between_lines(points, edges, one, other, normal)
            if not sound or s <= 0.0 or s >= 1.0 or t <= 0.0 or t >= 1.0:
                continue
            if abs(gap) > max(deepest, furthest):
                continue
            into = _facing(normals, edges, one, s, normal)
            out = _facing(normals, edges, other, t, normal)
            side = 1.0 if out > into else -1.0
            if side * out < least or -side * into < least:
                continue
            gap *= side
            if gap < -deepest or gap > furthest:
                continue
            if count < len(found):
                found[count, 0], found[count, 1] = one, other
                shares[count, 0], shares[count, 1] = s, t
                gaps[count] = gap
                for k in range(3):
                    across[count, k] = side * normal[k]
            count += 1
    return count


@kernel()
def pass_again(points, edges, pairs, before, shares, across, gaps, sound):
    """Where pairs of before are nearest to each other now, on the sides that they were on."""
    normal = np.empty(3)
    for i in range(len(pairs)):
        s, t, gap, there = between_lines(points, edges, pairs[i, 0], pairs[i, 1], normal)
        along = 0.0
        for k in range(3):
            along += normal[k] * before[i, k]
        side = 1.0 if along > 0.0 else -1.0
        sound[i] = there
        shares[i, 0], shares[i, 1], gaps[i] = s, t, side * gap
        for k in range(3):
            across[i, k] = side * normal[k]
