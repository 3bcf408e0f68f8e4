"""Compiled intersections of lines with all elements of a volumetric skeleton."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def _root(a, b, c):
    d = b * b - a * c
    if d < 0.0 or abs(a) <= 1e-12:
        return np.inf
    root = (-b - np.sqrt(d)) / a
    return root if root > 0.0 else np.inf


@kernel()
def _sphere(ox, oy, oz, lx, ly, lz, centre, radius):
    x, y, z = ox - centre[0], oy - centre[1], oz - centre[2]
    return _root(1.0, lx * x + ly * y + lz * z, x * x + y * y + z * z - radius * radius)


@kernel()
def _frustum(ox, oy, oz, lx, ly, lz, start, end, start_radius, end_radius):
    cx, cy, cz = end[0] - start[0], end[1] - start[1], end[2] - start[2]
    length = np.sqrt(cx * cx + cy * cy + cz * cz)
    if length == 0.0:
        return np.inf
    cx, cy, cz = cx / length, cy / length, cz / length
    slope = (end_radius - start_radius) / length
    x, y, z = ox - start[0], oy - start[1], oz - start[2]
    line_axis, offset_axis = lx * cx + ly * cy + lz * cz, x * cx + y * cy + z * cz
    widening = 1.0 + slope * slope
    a = 1.0 - line_axis * line_axis * widening
    b = lx * x + ly * y + lz * z - line_axis * (offset_axis * widening + slope * start_radius)
    c = x * x + y * y + z * z - start_radius * start_radius
    c -= offset_axis * (offset_axis * widening + 2.0 * slope * start_radius)
    distance = _root(a, b, c)
    if distance == np.inf:
        return np.inf
    place = offset_axis + distance * line_axis
    return distance if 0.0 < place < length else np.inf


@kernel()
def first_hits(
    skin, base, nodes, node_radii, bones, bone_radii, capsule_starts, capsule_ends, cone_share
):
    """Distance, kind and element of the first hit of every segment from `skin` to `base`.

    Kinds are those of `intersections`: 0 none, 1 joint, 2 bone, 3 and 4 the cones at its ends.
    """
    count = len(skin)
    distances, kinds = np.empty(count), np.zeros(count, np.int64)
    elements = np.full(count, -1)
    for i in range(count):
        x, y, z = skin[i]
        lx, ly, lz = base[i, 0] - x, base[i, 1] - y, base[i, 2] - z
        length = np.sqrt(lx * lx + ly * ly + lz * lz)
        distances[i] = length
        if length == 0.0:
            continue
        lx, ly, lz = lx / length, ly / length, lz / length
        best = length
        for n in range(len(nodes)):
            hit = _sphere(x, y, z, lx, ly, lz, nodes[n], node_radii[n])
            if hit < best:
                best, kinds[i], elements[i] = hit, 1, n
        for b in range(len(bones)):
            start, end, radius = bones[b, 0], bones[b, 1], bone_radii[b]
            low, high = capsule_starts[b], capsule_ends[b]
            hit = min(
                _frustum(x, y, z, lx, ly, lz, low, high, radius, radius),
                _sphere(x, y, z, lx, ly, lz, low, radius),
                _sphere(x, y, z, lx, ly, lz, high, radius),
            )
            if hit < best:
                best, kinds[i], elements[i] = hit, 2, b
            thin = cone_share * radius
            wide = cone_share * node_radii[start]
            hit = _frustum(x, y, z, lx, ly, lz, nodes[start], low, wide, thin)
            if hit < best:
                best, kinds[i], elements[i] = hit, 3, b
            wide = cone_share * node_radii[end]
            hit = _frustum(x, y, z, lx, ly, lz, high, nodes[end], thin, wide)
            if hit < best:
                best, kinds[i], elements[i] = hit, 4, b
        distances[i] = best
    return distances, kinds, elements
