"""Compiled self-intersection: a uniform grid finds close triangles, exact predicates judge them."""

import numpy as np

from corporeal.geometry.predicates_cpu import orientation, orientation_in_plane
from corporeal.runtime.kernels import kernel

SIDE_BOUND = 2.0**-48
"""32 roundings; three differences, two products and the sum of three take 8 at most."""


@kernel()
def segment_meets_flat_triangle(p, q, a, b, c):
    """Whether segment pq meets triangle abc, all in one plane; never, if abc has no area."""
    u, v, turn = 0, 1, 0
    for drop in range(3):
        u, v = (drop + 1) % 3, (drop + 2) % 3
        turn = orientation_in_plane(a[u], a[v], b[u], b[v], c[u], c[v])
        if turn != 0:
            break
    if turn == 0:
        return False
    # disjoint, if a side of the triangle or the segment itself separates them strictly
    for start, end in ((a, b), (b, c), (c, a)):
        at_p = turn * orientation_in_plane(start[u], start[v], end[u], end[v], p[u], p[v])
        at_q = turn * orientation_in_plane(start[u], start[v], end[u], end[v], q[u], q[v])
        if at_p < 0 and at_q < 0:
            return False
    at_a = orientation_in_plane(p[u], p[v], q[u], q[v], a[u], a[v])
    at_b = orientation_in_plane(p[u], p[v], q[u], q[v], b[u], b[v])
    at_c = orientation_in_plane(p[u], p[v], q[u], q[v], c[u], c[v])
    return abs(at_a + at_b + at_c) < 3


@kernel()
def segment_meets_triangle(p, q, a, b, c):
    """Whether the closed segment pq and the closed triangle abc share a point; exact."""
    at_p = orientation(a, b, c, p)
    at_q = orientation(a, b, c, q)
    if at_p * at_q > 0:
        return False
    if at_p == 0 and at_q == 0:
        return segment_meets_flat_triangle(p, q, a, b, c)
    side_ab = orientation(p, q, a, b)
    side_bc = orientation(p, q, b, c)
    side_ca = orientation(p, q, c, a)
    none_below = side_ab >= 0 and side_bc >= 0 and side_ca >= 0
    none_above = side_ab <= 0 and side_bc <= 0 and side_ca <= 0
    return none_below or none_above


@kernel()
def folded_onto(p, q, a, b):
    """Whether triangles pqa and pqb lie in one plane, on the same side of their common edge pq."""
    if orientation(p, q, a, b) != 0:
        return False
    for drop in range(3):
        u, v = (drop + 1) % 3, (drop + 2) % 3
        at_a = orientation_in_plane(p[u], p[v], q[u], q[v], a[u], a[v])
        at_b = orientation_in_plane(p[u], p[v], q[u], q[v], b[u], b[v])
        if at_a != 0 and at_b != 0:
            return at_a == at_b
    return False


@kernel()
def triangles_meet(vertices, first, second):
    """Whether two triangles share more than the corners or the edge that they have in common.

    With one common corner p the two meet elsewhere only if a side facing p meets the other
    triangle: both are cones seen from p, and the shorter of two overlapping rays ends on that side.
    """
    shared = 0
    at_first, at_second = 0, 0
    for i in range(3):
        for j in range(3):
            if first[i] == second[j]:
                shared += 1
                at_first += i
                at_second += j
    if shared == 0:
        return disjoint_triangles_meet(vertices, first, second)
    a = vertices[first[(at_first + 1) % 3]]
    b = vertices[first[(at_first + 2) % 3]]
    c = vertices[second[(at_second + 1) % 3]]
    d = vertices[second[(at_second + 2) % 3]]
    if shared == 1:
        p = vertices[first[at_first]]
        return segment_meets_triangle(a, b, p, c, d) or segment_meets_triangle(c, d, p, a, b)
    if shared == 2:  # the corner that is not shared has index 3 − the sum of the other two
        p, q = vertices[first[(4 - at_first) % 3]], vertices[first[(5 - at_first) % 3]]
        return folded_onto(p, q, vertices[first[3 - at_first]], vertices[second[3 - at_second]])
    return True


@kernel()
def disjoint_triangles_meet(vertices, first, second):
    """Whether triangles without a common corner share a point: a side of one meets the other."""
    for one, other in ((first, second), (second, first)):
        a, b, c = vertices[other[0]], vertices[other[1]], vertices[other[2]]
        for i in range(3):
            if segment_meets_triangle(vertices[one[i]], vertices[one[(i + 1) % 3]], a, b, c):
                return True
    return False


@kernel()
def bounding_boxes(vertices, triangles):
    """Lowest and highest corner of every triangle's box."""
    low = np.empty((len(triangles), 3))
    high = np.empty((len(triangles), 3))
    for t in range(len(triangles)):
        for k in range(3):
            x = vertices[triangles[t, 0], k]
            y = vertices[triangles[t, 1], k]
            z = vertices[triangles[t, 2], k]
            low[t, k] = min(x, y, z)
            high[t, k] = max(x, y, z)
    return low, high


@kernel()
def cell_of(point, origin, cell_size, cell_counts):
    """Grid cell of a point along each axis."""
    i = min(int((point[0] - origin[0]) / cell_size), cell_counts[0] - 1)
    j = min(int((point[1] - origin[1]) / cell_size), cell_counts[1] - 1)
    k = min(int((point[2] - origin[2]) / cell_size), cell_counts[2] - 1)
    return i, j, k


@kernel()
def triangles_by_cell(low, high, origin, cell_size, cell_counts):
    """Triangles listed cell by cell: where each cell's list starts, and the lists."""
    row, plane = cell_counts[2], cell_counts[1] * cell_counts[2]
    starts = np.zeros(cell_counts[0] * plane + 1, np.int64)
    for t in range(len(low)):
        i0, j0, k0 = cell_of(low[t], origin, cell_size, cell_counts)
        i1, j1, k1 = cell_of(high[t], origin, cell_size, cell_counts)
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                for k in range(k0, k1 + 1):
                    starts[i * plane + j * row + k + 1] += 1
    starts = np.cumsum(starts)
    members = np.empty(starts[-1], np.int64)
    filled = starts[:-1].copy()
    for t in range(len(low)):
        i0, j0, k0 = cell_of(low[t], origin, cell_size, cell_counts)
        i1, j1, k1 = cell_of(high[t], origin, cell_size, cell_counts)
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                for k in range(k0, k1 + 1):
                    cell = i * plane + j * row + k
                    members[filled[cell]] = t
                    filled[cell] += 1
    return starts, members


@kernel()
def normals_and_bounds(vertices, triangles):
    """Normal (b − a) × (c − a) of every triangle, and the same sum with every term positive."""
    normals = np.empty((len(triangles), 3))
    bounds = np.empty((len(triangles), 3))
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        for i in range(3):
            j, k = (i + 1) % 3, (i + 2) % 3
            left = (vertices[b, j] - vertices[a, j]) * (vertices[c, k] - vertices[a, k])
            right = (vertices[b, k] - vertices[a, k]) * (vertices[c, j] - vertices[a, j])
            normals[t, i] = left - right
            bounds[t, i] = abs(left) + abs(right)
    return normals, bounds


@kernel()
def keeps_to_one_side(vertices, triangles, normals, bounds, s, t):
    """Whether all corners of triangle t that s has not lie strictly on one side of its plane.

    Then the two share nothing but common corners. A side is taken for certain only where it exceeds
    `SIDE_BOUND` times the sum of the sizes of all terms; what is uncertain counts as no.
    """
    base = triangles[s, 0]
    side = 0
    for i in range(3):
        v = triangles[t, i]
        if v == base or v == triangles[s, 1] or v == triangles[s, 2]:
            continue
        height = 0.0
        size = 0.0
        for k in range(3):
            away = vertices[v, k] - vertices[base, k]
            height += normals[s, k] * away
            size += bounds[s, k] * abs(away)
        if abs(height) <= SIDE_BOUND * size:
            return False
        sign = 1 if height > 0.0 else -1
        if side == -sign:
            return False
        side = sign
    return side != 0


@kernel()
def intersecting_pairs(vertices, triangles, low, high, origin, cell_size, cell_counts):
    """All pairs of triangles that meet; each pair is judged in one cell only.

    Most pairs are neighbours on a smooth surface: one keeps to one side of the other's plane, which
    takes a few products to see. The exact predicates judge the rest.
    """
    starts, members = triangles_by_cell(low, high, origin, cell_size, cell_counts)
    normals, bounds = normals_and_bounds(vertices, triangles)
    found = [(0, 0)]
    for cell in range(len(starts) - 1):
        for m in range(starts[cell], starts[cell + 1]):
            s = members[m]
            low_x, low_y, low_z = low[s, 0], low[s, 1], low[s, 2]
            high_x, high_y, high_z = high[s, 0], high[s, 1], high[s, 2]
            for n in range(m + 1, starts[cell + 1]):
                t = members[n]
                if (
                    low[t, 0] > high_x
                    or high[t, 0] < low_x
                    or low[t, 1] > high_y
                    or high[t, 1] < low_y
                    or low[t, 2] > high_z
                    or high[t, 2] < low_z
                ):
                    continue
                # of the cells that both are in, that of their overlap's lowest corner counts
                corner = (max(low_x, low[t, 0]), max(low_y, low[t, 1]), max(low_z, low[t, 2]))
                i, j, k = cell_of(corner, origin, cell_size, cell_counts)
                if (i * cell_counts[1] + j) * cell_counts[2] + k != cell:
                    continue
                if keeps_to_one_side(
                    vertices, triangles, normals, bounds, s, t
                ) or keeps_to_one_side(vertices, triangles, normals, bounds, t, s):
                    continue
                if triangles_meet(vertices, triangles[s], triangles[t]):
                    found.append((min(s, t), max(s, t)))
    pairs = np.empty((len(found) - 1, 2), np.int64)
    for i in range(1, len(found)):
        pairs[i - 1, 0], pairs[i - 1, 1] = found[i]
    return pairs
