"""Compiled plane sections over edges, with the derivatives of what a tape or caliper reads.

Where the plane {x : n·(x − o) = 0} cuts the edge (a, b), the crossing is

    p = a + t (b − a),   t = s_a / (s_a − s_b),   s_x = n·(x − o)

and a reading L(p₁ … p_m) whose gradient g = ∂L/∂p is known changes by

    dL = Σ g·[(1−t) da + t db] + g·(b − a) dt
    dt = (−s_b ds_a + s_a ds_b) / (s_a − s_b)²,   ds_x = dn·(x − o) + n·(dx − do)

Which points are corners of the hull, or extremes, is held fixed: the reading is a maximum over
such choices, so its derivative is that of the choice taken (envelope theorem).
"""

import numpy as np

from corporeal.geometry.sorting_cpu import sorted_order
from corporeal.runtime.kernels import kernel


@kernel()
def crossings(points, edges, origin, normal):
    """Edge numbers, shares t and positions of the crossings of a plane with the edges."""
    count = 0
    found = np.empty(len(edges), np.int64)
    share = np.empty(len(edges))
    where = np.empty((len(edges), 3))
    for e in range(len(edges)):
        a, b = edges[e, 0], edges[e, 1]
        s_a = 0.0
        s_b = 0.0
        for k in range(3):
            s_a += normal[k] * (points[a, k] - origin[k])
            s_b += normal[k] * (points[b, k] - origin[k])
        if (s_a >= 0.0) == (s_b >= 0.0):
            continue
        t = s_a / (s_a - s_b)
        found[count] = e
        share[count] = t
        for k in range(3):
            where[count, k] = points[a, k] + t * (points[b, k] - points[a, k])
        count += 1
    return found[:count], share[:count], where[:count]


@kernel()
def _hull_half(flat, order, chain, start, sign):
    size = start
    for i in range(len(order)):
        c = order[i] if sign > 0 else order[len(order) - 1 - i]
        while size - start > 1:
            a, b = chain[size - 2], chain[size - 1]
            turn = (flat[b, 0] - flat[a, 0]) * (flat[c, 1] - flat[a, 1]) - (
                flat[b, 1] - flat[a, 1]
            ) * (flat[c, 0] - flat[a, 0])
            if turn > 0.0:
                break
            size -= 1
        chain[size] = c
        size += 1
    return size - 1


@kernel()
def hull_corners(flat):
    """Indices of the corners of the convex hull of points in a plane, counter-clockwise.

    Andrew's monotone chain; its sweep is tilted by 1e-12 rad, so that ties have an order.
    """
    sweep = np.empty(len(flat))
    for i in range(len(flat)):
        sweep[i] = flat[i, 0] + 1e-12 * flat[i, 1]
    order = sorted_order(sweep)
    chain = np.empty(2 * len(flat) + 2, np.int64)
    size = _hull_half(flat, order, chain, 0, 1)
    size = _hull_half(flat, order, chain, size, -1)
    return chain[:size]


@kernel()
def tape(where, first, second):
    """Perimeter of the convex hull of section points, and its gradient by every point."""
    flat = np.empty((len(where), 2))
    for i in range(len(where)):
        flat[i, 0] = where[i, 0] * first[0] + where[i, 1] * first[1] + where[i, 2] * first[2]
        flat[i, 1] = where[i, 0] * second[0] + where[i, 1] * second[1] + where[i, 2] * second[2]
    corners = hull_corners(flat)
    gradient = np.zeros((len(where), 3))
    length = 0.0
    for i in range(len(corners)):
        a, b = corners[i], corners[(i + 1) % len(corners)]
        squared = 0.0
        for k in range(3):
            squared += (where[b, k] - where[a, k]) ** 2
        size = np.sqrt(squared)
        if size == 0.0:
            continue
        length += size
        for k in range(3):
            gradient[b, k] += (where[b, k] - where[a, k]) / size
            gradient[a, k] -= (where[b, k] - where[a, k]) / size
    return length, gradient


@kernel()
def extent(where, direction):
    """Size of section points along a unit direction, and its gradient by every point."""
    low, high = 0, 0
    low_value, high_value = np.inf, -np.inf
    for i in range(len(where)):
        value = 0.0
        for k in range(3):
            value += where[i, k] * direction[k]
        if value < low_value:
            low, low_value = i, value
        if value > high_value:
            high, high_value = i, value
    gradient = np.zeros((len(where), 3))
    for k in range(3):
        gradient[high, k] += direction[k]
        gradient[low, k] -= direction[k]
    return high_value - low_value, gradient


@kernel()
def pull_back(points, edges, origin, normal, found, share, gradient):
    """Carry a gradient by crossings back to edge ends, plane origin and plane normal.

    Gives point indices and gradients (two an edge that matters), and the gradients by the origin
    and by the (not normalised) normal.
    """
    index = np.empty(2 * len(found), np.int64)
    value = np.zeros((2 * len(found), 3))
    by_origin = np.zeros(3)
    by_normal = np.zeros(3)
    count = 0
    for i in range(len(found)):
        g = gradient[i]
        if g[0] == 0.0 and g[1] == 0.0 and g[2] == 0.0:
            continue
        a, b = edges[found[i], 0], edges[found[i], 1]
        t = share[i]
        along = 0.0
        fall = 0.0  # s_a − s_b
        for k in range(3):
            along += g[k] * (points[b, k] - points[a, k])
            fall += normal[k] * (points[a, k] - points[b, k])
        # −s_b / fall² = (1 − t) / fall and s_a / fall² = t / fall
        by_a = along * (1.0 - t) / fall
        by_b = along * t / fall
        index[count], index[count + 1] = a, b
        for k in range(3):
            value[count, k] = (1.0 - t) * g[k] + by_a * normal[k]
            value[count + 1, k] = t * g[k] + by_b * normal[k]
            by_origin[k] -= (by_a + by_b) * normal[k]
            by_normal[k] += by_a * (points[a, k] - origin[k]) + by_b * (points[b, k] - origin[k])
        count += 2
    return index[:count], value[:count], by_origin, by_normal


@kernel()
def axes_of(normal):
    """Two unit vectors that span the plane; as `section.plane_axes`."""
    size = np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
    unit = np.empty(3)
    for k in range(3):
        unit[k] = normal[k] / size
    least = 0
    for k in range(1, 3):
        if abs(unit[k]) < abs(unit[least]):
            least = k
    first = np.zeros(3)
    j, l = (least + 1) % 3, (least + 2) % 3
    # e_k × n
    first[j], first[l] = -unit[l], unit[j]
    size = np.sqrt(first[0] ** 2 + first[1] ** 2 + first[2] ** 2)
    for k in range(3):
        first[k] /= size
    second = np.empty(3)
    for k in range(3):
        j, l = (k + 1) % 3, (k + 2) % 3
        second[k] = unit[j] * first[l] - unit[l] * first[j]
    return first, second


@kernel()
def read_section(points, edges, origin, normal, direction):
    """What a tape (or, along `direction` if it is not 0, a caliper) reads at a plane.

    Gives the number of crossings, the reading, and its gradients as `pull_back` does; fewer than
    three crossings are no section.
    """
    found, share, where = crossings(points, edges, origin, normal)
    if len(found) < 3:
        return len(found), 0.0, found, where, origin, normal
    if direction[0] == 0.0 and direction[1] == 0.0 and direction[2] == 0.0:
        first, second = axes_of(normal)
        value, gradient = tape(where, first, second)
    else:
        value, gradient = extent(where, direction)
    rows, by_point, by_origin, by_normal = pull_back(
        points, edges, origin, normal, found, share, gradient
    )
    return len(found), value, rows, by_point, by_origin, by_normal
