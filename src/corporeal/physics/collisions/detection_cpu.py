"""Compiled point-in-tetrahedron tests over a sorted grid (Teschner et al. 2003).

Skin vertices are sorted by cell, cells along z being neighbours in memory. A prism, from a skin
triangle to its base points, looks through the cells of its box: one run of sorted vertices for
every row of cells. What is in the box and behind the triangle is tested in the prism's tetrahedra.
All places are float32, from the grid's corner.
"""

import numpy as np

from corporeal.physics.collisions.detection import COUNTER_CLOCKWISE
from corporeal.runtime.kernels import kernel


@kernel()
def sort_by_cell(points, low, per_metre, counts):
    """Vertices in the order of their cells, where every cell starts, and their places."""
    cells = np.empty(len(points), np.int64)
    starts = np.zeros(counts[0] * counts[1] * counts[2] + 1, np.int32)
    for v in range(len(points)):
        cell = 0
        for k in range(3):
            i = int(np.float32(points[v, k] - low[k]) * per_metre[k])
            cell = cell * counts[k] + min(max(i, 0), counts[k] - 1)
        cells[v] = cell
        starts[cell + 1] += 1
    for c in range(1, len(starts)):
        starts[c] += starts[c - 1]
    order = np.empty(len(points), np.int32)
    places = np.empty((3, len(points)), np.float32)
    filled = starts[:-1].copy()
    for v in range(len(points)):
        slot = filled[cells[v]]
        filled[cells[v]] += 1
        order[slot] = v
        for k in range(3):
            places[k, slot] = np.float32(points[v, k] - low[k])
    return order, starts, places


@kernel(fastmath=True)
def _shares_of(corners, a, b, c, d, at, planes):
    """How the shares of b, c and d depend on a place: twelve numbers into `planes` from `at` on.

    Gives six times the signed volume; without any, the shares are those of nowhere.
    """
    ox, oy, oz = corners[a, 0], corners[a, 1], corners[a, 2]
    bx, by, bz = corners[b, 0] - ox, corners[b, 1] - oy, corners[b, 2] - oz
    cx, cy, cz = corners[c, 0] - ox, corners[c, 1] - oy, corners[c, 2] - oz
    dx, dy, dz = corners[d, 0] - ox, corners[d, 1] - oy, corners[d, 2] - oz
    px, py, pz = cy * dz - cz * dy, cz * dx - cx * dz, cx * dy - cy * dx
    qx, qy, qz = dy * bz - dz * by, dz * bx - dx * bz, dx * by - dy * bx
    rx, ry, rz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    volume = bx * px + by * py + bz * pz
    if volume == 0.0:
        for k in range(12):
            planes[at + k] = np.float32(-1.0 if k % 4 == 3 else 0.0)
        return volume
    scale = np.float32(1.0) / volume
    planes[at], planes[at + 1], planes[at + 2] = scale * px, scale * py, scale * pz
    planes[at + 3] = -scale * (px * ox + py * oy + pz * oz)
    planes[at + 4], planes[at + 5], planes[at + 6] = scale * qx, scale * qy, scale * qz
    planes[at + 7] = -scale * (qx * ox + qy * oy + qz * oz)
    planes[at + 8], planes[at + 9], planes[at + 10] = scale * rx, scale * ry, scale * rz
    planes[at + 11] = -scale * (rx * ox + ry * oy + rz * oz)
    return volume


@kernel(fastmath=True)
def _tetrahedra_of(corners, prism, kind, planes):
    """Shares of a prism's usable tetrahedra; only those that are the right side out stay usable."""
    a, b, c = prism[0], prism[1], prism[2]
    base_a, base_b, base_c = prism[3], prism[4], prism[5]
    outward = -1.0 if kind & COUNTER_CLOCKWISE else 1.0
    usable = 0
    if kind & 1 and outward * _shares_of(corners, a, b, c, base_c, 0, planes) > 0.0:
        usable |= 1
    if kind & 2 and outward * _shares_of(corners, a, b, base_c, base_b, 12, planes) > 0.0:
        usable |= 2
    if kind & 4 and outward * _shares_of(corners, a, base_b, base_c, base_a, 24, planes) > 0.0:
        usable |= 4
    return usable


@kernel(fastmath=True)
def _inside_any(planes, usable, x, y, z):
    """Whether a place is inside one of a prism's usable tetrahedra."""
    for e in range(3):
        if usable & (1 << e):
            o = 12 * e
            p = planes[o] * x + planes[o + 1] * y + planes[o + 2] * z + planes[o + 3]
            q = planes[o + 4] * x + planes[o + 5] * y + planes[o + 6] * z + planes[o + 7]
            r = planes[o + 8] * x + planes[o + 9] * y + planes[o + 10] * z + planes[o + 11]
            if (p >= 0.0) & (q >= 0.0) & (r >= 0.0) & (p + q + r <= 1.0):
                return True
    return False


@kernel(fastmath=True)
def find_inside(
    prisms, kinds, corners, per_metre, counts, order, starts, places, first, last, found
):
    """Pairs (vertex, triangle) of vertices inside the prisms `first` … `last` − 1.

    `corners` are all skin and base points; a prism's own corners are passed over. Gives how many
    pairs there are, even where `found` is too short for all.
    """
    planes = np.empty(36, np.float32)
    count = 0
    for t in range(first, last):
        a, b, c = prisms[t, 0], prisms[t, 1], prisms[t, 2]
        ax, ay, az = corners[a, 0], corners[a, 1], corners[a, 2]
        lx, ly, lz, hx, hy, hz = ax, ay, az, ax, ay, az
        for m in range(1, 6):
            x, y, z = corners[prisms[t, m], 0], corners[prisms[t, m], 1], corners[prisms[t, m], 2]
            lx, ly, lz = min(lx, x), min(ly, y), min(lz, z)
            hx, hy, hz = max(hx, x), max(hy, y), max(hz, z)
        i0, i1 = max(int(lx * per_metre[0]), 0), min(int(hx * per_metre[0]), counts[0] - 1)
        j0, j1 = max(int(ly * per_metre[1]), 0), min(int(hy * per_metre[1]), counts[1] - 1)
        k0, k1 = max(int(lz * per_metre[2]), 0), min(int(hz * per_metre[2]), counts[2] - 1)
        side = np.float32(1.0 if kinds[t] & COUNTER_CLOCKWISE else -1.0)
        ux, uy, uz = corners[b, 0] - ax, corners[b, 1] - ay, corners[b, 2] - az
        wx, wy, wz = corners[c, 0] - ax, corners[c, 1] - ay, corners[c, 2] - az
        nx, ny, nz = (
            side * (uy * wz - uz * wy),
            side * (uz * wx - ux * wz),
            side * (ux * wy - uy * wx),
        )
        level, usable = nx * ax + ny * ay + nz * az, -1
        for i in range(i0, i1 + 1):
            for j in range(j0, j1 + 1):
                row = (i * counts[1] + j) * counts[2]
                for s in range(starts[row + k0], starts[row + k1 + 1]):
                    x, y, z = places[0, s], places[1, s], places[2, s]
                    if (
                        (x < lx) | (x > hx) | (y < ly) | (y > hy) | (z < lz) | (z > hz)
                        | (nx * x + ny * y + nz * z >= level)
                    ):  # fmt: skip
                        continue
                    v = order[s]
                    if (v == a) | (v == b) | (v == c):
                        continue
                    if usable < 0:
                        usable = _tetrahedra_of(corners, prisms[t], kinds[t], planes)
                    if _inside_any(planes, usable, x, y, z):
                        if count < len(found):
                            found[count, 0], found[count, 1] = v, t
                        count += 1
    return count
