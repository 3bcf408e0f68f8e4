"""Compiled point-in-tetrahedron tests over a sorted grid (Teschner et al. 2003).

Skin vertices are sorted by cell, cells along z being neighbours in memory. A prism, from a skin
triangle to its base points, looks through the cells of its box: one run of sorted vertices for
every row of cells. What is in the box and behind the triangle is tested in the prism's tetrahedra.
All places are float32, from the grid's corner.
"""

import numpy as np

from corporeal.physics.contact.detection import COUNTER_CLOCKWISE
from corporeal.runtime.kernels import kernel


@kernel()
def box_of(points):
    """Lowest and highest coordinates, metres."""
    low, high = points[0].copy(), points[0].copy()
    for v in range(len(points)):
        for k in range(3):
            low[k], high[k] = min(low[k], points[v, k]), max(high[k], points[v, k])
    return low, high


@kernel()
def places_on_bones(nodes, ends, shares):
    """Points at shares of the ways between two nodes each, metres."""
    places = np.empty((len(ends), 3))
    for v in range(len(ends)):
        for k in range(3):
            start = nodes[ends[v, 0], k]
            places[v, k] = start + shares[v] * (nodes[ends[v, 1], k] - start)
    return places


@kernel()
def sort_by_cell(skin, base_points, chosen, low, per_metre, counts):
    """Chosen skin vertices in the order of their cells, where every cell starts, and their places;
    then the places of all skin and base points by their own numbers."""
    count = len(skin)
    corners = np.empty((2 * count, 3), np.float32)
    for v in range(count):
        for k in range(3):
            corners[v, k] = skin[v, k] - low[k]
            corners[count + v, k] = base_points[v, k] - low[k]
    cells = np.empty(len(chosen), np.int32)
    starts = np.zeros(counts[0] * counts[1] * counts[2] + 1, np.int32)
    for i in range(len(chosen)):
        cell = 0
        for k in range(3):
            place = int(corners[chosen[i], k] * per_metre[k])
            cell = cell * counts[k] + min(max(place, 0), counts[k] - 1)
        cells[i] = cell
        starts[cell + 1] += 1
    for c in range(1, len(starts)):
        starts[c] += starts[c - 1]
    order = np.empty(len(chosen), np.int32)
    places = np.empty((3, len(chosen)), np.float32)
    filled = starts[:-1].copy()
    for i in range(len(chosen)):
        slot = filled[cells[i]]
        filled[cells[i]] += 1
        order[slot] = chosen[i]
        for k in range(3):
            places[k, slot] = corners[chosen[i], k]
    return order, starts, places, corners


@kernel(fastmath=True)
def _inside(corners, prisms, t, kind, ax, ay, az, x, y, z):
    """Whether a place behind a prism's triangle is inside one of its usable tetrahedra.

    All three tetrahedra have the corner `a`, and each two neighbours a face: a place is on one side
    of it or the other, so that two faces tell which tetrahedra are left to be asked. Those that
    are inside out hold nothing.
    """
    b, c = np.uint32(prisms[t, 1]), np.uint32(prisms[t, 2])
    base_a, base_b = np.uint32(prisms[t, 3]), np.uint32(prisms[t, 4])
    base_c = np.uint32(prisms[t, 5])
    out = np.float32(-1.0 if kind & COUNTER_CLOCKWISE else 1.0)
    x, y, z = out * (x - ax), out * (y - ay), out * (z - az)
    bx, by, bz = corners[b, 0] - ax, corners[b, 1] - ay, corners[b, 2] - az
    ex, ey, ez = corners[base_c, 0] - ax, corners[base_c, 1] - ay, corners[base_c, 2] - az
    # between the first, a b c base_c, and the second, a b base_c base_b
    nx, ny, nz = by * ez - bz * ey, bz * ex - bx * ez, bx * ey - by * ex
    beyond = x * nx + y * ny + z * nz
    if beyond <= 0.0 and kind & 1:
        cx, cy, cz = corners[c, 0] - ax, corners[c, 1] - ay, corners[c, 2] - az
        volume = -out * (cx * nx + cy * ny + cz * nz)
        of_b = x * (cy * ez - cz * ey) + y * (cz * ex - cx * ez) + z * (cx * ey - cy * ex)
        of_base = x * (by * cz - bz * cy) + y * (bz * cx - bx * cz) + z * (bx * cy - by * cx)
        if (of_b >= 0.0) & (of_base >= 0.0) & (of_b + of_base - beyond <= volume) & (volume > 0.0):
            return True
    if not kind & 4 and not (beyond >= 0.0 and kind & 2):
        return False
    fx, fy, fz = corners[base_b, 0] - ax, corners[base_b, 1] - ay, corners[base_b, 2] - az
    # between the second and the third, a base_b base_c base_a
    px, py, pz = fy * ez - fz * ey, fz * ex - fx * ez, fx * ey - fy * ex
    further = x * px + y * py + z * pz
    if beyond >= 0.0 and further <= 0.0 and kind & 2:
        volume = out * (fx * nx + fy * ny + fz * nz)
        of_base = x * (fy * bz - fz * by) + y * (fz * bx - fx * bz) + z * (fx * by - fy * bx)
        if (of_base >= 0.0) & (beyond + of_base - further <= volume) & (volume > 0.0):
            return True
    if further < 0.0 or not kind & 4:
        return False
    gx, gy, gz = corners[base_a, 0] - ax, corners[base_a, 1] - ay, corners[base_a, 2] - az
    volume = out * (gx * px + gy * py + gz * pz)
    of_b = x * (ey * gz - ez * gy) + y * (ez * gx - ex * gz) + z * (ex * gy - ey * gx)
    of_c = x * (gy * fz - gz * fy) + y * (gz * fx - gx * fz) + z * (gx * fy - gy * fx)
    within = (of_b >= 0.0) & (of_c >= 0.0) & (of_b + of_c + further <= volume)
    return within & (volume > 0.0)


@kernel(fastmath=True)
def find_inside(
    prisms, kinds, per_metre, counts, order, starts, places, corners, first, last, found
):
    """Pairs (vertex, triangle) of vertices inside the prisms `first` … `last` − 1.

    `corners` are all skin and base points; a prism's own corners are passed over. Gives how many
    pairs there are, even where `found` is too short for all.
    """
    candidates = np.empty(len(order) + 1, np.int32)
    count = 0
    for t in range(first, last):
        a, b, c = np.uint32(prisms[t, 0]), np.uint32(prisms[t, 1]), np.uint32(prisms[t, 2])
        ax, ay, az = corners[a, 0], corners[a, 1], corners[a, 2]
        lx, ly, lz, hx, hy, hz = ax, ay, az, ax, ay, az
        for m in range(1, 6):
            p = np.uint32(prisms[t, m])
            x, y, z = corners[p, 0], corners[p, 1], corners[p, 2]
            lx, ly, lz = min(lx, x), min(ly, y), min(lz, z)
            hx, hy, hz = max(hx, x), max(hy, y), max(hz, z)
        i0, i1 = max(int(lx * per_metre[0]), 0), min(int(hx * per_metre[0]), counts[0] - 1)
        j0, j1 = max(int(ly * per_metre[1]), 0), min(int(hy * per_metre[1]), counts[1] - 1)
        k0, k1 = max(int(lz * per_metre[2]), 0), min(int(hz * per_metre[2]), counts[2] - 1)
        if (i0 > i1) | (j0 > j1) | (k0 > k1):  # beside the points that are looked for
            continue
        side = np.float32(1.0 if kinds[t] & COUNTER_CLOCKWISE else -1.0)
        ux, uy, uz = corners[b, 0] - ax, corners[b, 1] - ay, corners[b, 2] - az
        wx, wy, wz = corners[c, 0] - ax, corners[c, 1] - ay, corners[c, 2] - az
        nx, ny, nz = (
            side * (uy * wz - uz * wy),
            side * (uz * wx - ux * wz),
            side * (ux * wy - uy * wx),
        )
        level = nx * ax + ny * ay + nz * az
        # without branches: what fails a test is written over by the next
        near = 0
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                row = (i * counts[1] + j) * counts[2]
                begin, end = np.uint32(starts[row + k0]), np.uint32(starts[row + k1 + 1])
                for s in range(begin, end):
                    x, y, z = places[0, s], places[1, s], places[2, s]
                    candidates[near] = s
                    near += (
                        (x >= lx) & (x <= hx) & (y >= ly) & (y <= hy) & (z >= lz) & (z <= hz)
                        & (nx * x + ny * y + nz * z < level)
                    )  # fmt: skip
        for m in range(near):
            s = np.uint32(candidates[m])
            v = order[s]
            if (v == a) | (v == b) | (v == c):
                continue
            x, y, z = places[0, s], places[1, s], places[2, s]
            if _inside(corners, prisms, t, kinds[t], ax, ay, az, x, y, z):
                if count < len(found):
                    found[count, 0], found[count, 1] = v, t
                count += 1
    return count
