"""Compiled half-edge collapses by the quadric error metric (Garland and Heckbert 1997).

Quadrics are symmetric 4×4 matrices as ten numbers (xx xy xz xw yy yz yw zz zw ww), weighted by
area, so that a cost is area times squared distance, m⁴. The faces of a vertex are a linked list of
corners (3 f + k), which is joined to its neighbour's when the vertex is collapsed.

Of a surface that is its own mirror image one half is collapsed, and the other one follows. Vertices
on the plane between them (`middle`) have as many faces again beyond it: their quadrics and areas
count twice, they move along the plane alone, and edges on the plane are not the surface's border.
"""

import heapq

import numpy as np

from corporeal.runtime.kernels import kernel

EVENNESS = 1e-3
"""Weight of the collapsed edge's squared length against the squared distance from planes."""
LEAST_COSINE = 0.2
"""How far a face may turn in one collapse."""
LEAST_QUALITY = 0.2
"""4√3 area / Σ side², 1 for an equilateral triangle: below this a face may not get worse."""
EDGE_WEIGHT = 10.0
"""Weight of the planes that stand on boundary edges."""


@kernel()
def _add_plane(quadrics, v, nx, ny, nz, offset, weight):
    plane = (nx, ny, nz, offset)
    place = 0
    for i in range(4):
        for j in range(i, 4):
            quadrics[v, place] += weight * plane[i] * plane[j]
            place += 1


@kernel()
def _evaluate(q, p):
    x, y, z = p[0], p[1], p[2]
    value = q[0] * x * x + q[4] * y * y + q[7] * z * z + q[9]
    value += 2.0 * (q[1] * x * y + q[2] * x * z + q[5] * y * z)
    return max(value + 2.0 * (q[3] * x + q[6] * y + q[8] * z), 0.0)


@kernel()
def _face_vectors(points, a, b, c):
    """Twice the area vector of a face, and the sum of its squared sides."""
    ux, uy, uz = (
        points[b, 0] - points[a, 0],
        points[b, 1] - points[a, 1],
        points[b, 2] - points[a, 2],
    )
    vx, vy, vz = (
        points[c, 0] - points[a, 0],
        points[c, 1] - points[a, 1],
        points[c, 2] - points[a, 2],
    )
    wx, wy, wz = vx - ux, vy - uy, vz - uz
    sides = ux * ux + uy * uy + uz * uz + vx * vx + vy * vy + vz * vz + wx * wx + wy * wy + wz * wz
    return uy * vz - uz * vy, uz * vx - ux * vz, ux * vy - uy * vx, sides


@kernel()
def _prepare(points, faces):
    """Quadrics, vertex areas, linked corner lists (first, following), and boundary vertices."""
    count = len(points)
    quadrics, areas = np.zeros((count, 10)), np.zeros(count)
    first, following = np.full(count, -1), np.full(3 * len(faces), -1)
    for f in range(len(faces)):
        a, b, c = faces[f, 0], faces[f, 1], faces[f, 2]
        nx, ny, nz, _ = _face_vectors(points, a, b, c)
        double = np.sqrt(nx * nx + ny * ny + nz * nz)
        for k in range(3):
            v = faces[f, k]
            following[3 * f + k] = first[v]
            first[v] = 3 * f + k
            areas[v] += double / 6.0
        if double > 0.0:
            nx, ny, nz = nx / double, ny / double, nz / double
            offset = -(nx * points[a, 0] + ny * points[a, 1] + nz * points[a, 2])
            for v in (a, b, c):
                _add_plane(quadrics, v, nx, ny, nz, offset, double / 6.0)
    return quadrics, areas, first, following


@kernel()
def _shared_faces(faces, first, following, u, v):
    """How many faces have both u and v for corners."""
    shared = 0
    corner = first[v]
    while corner >= 0:
        f = corner // 3
        if faces[f, 0] == u or faces[f, 1] == u or faces[f, 2] == u:
            shared += 1
        corner = following[corner]
    return shared


@kernel()
def _hold_boundaries(points, faces, first, following, quadrics, middle):
    """Mark vertices of edges that do not have two faces, and stand planes on those with one.

    0 inner, 1 on a boundary, 2 on an edge of three or more faces (never collapsed).
    """
    border = np.zeros(len(points), np.int64)
    for f in range(len(faces)):
        nx, ny, nz, _ = _face_vectors(points, faces[f, 0], faces[f, 1], faces[f, 2])
        for k in range(3):
            a, b = faces[f, k], faces[f, (k + 1) % 3]
            shared = _shared_faces(faces, first, following, a, b)
            if middle[a] and middle[b]:
                shared *= 2
            if shared == 2:
                continue
            mark = 1 if shared == 1 else 2
            border[a], border[b] = max(border[a], mark), max(border[b], mark)
            ex, ey, ez = (
                points[b, 0] - points[a, 0],
                points[b, 1] - points[a, 1],
                points[b, 2] - points[a, 2],
            )
            px, py, pz = ey * nz - ez * ny, ez * nx - ex * nz, ex * ny - ey * nx
            length = np.sqrt(px * px + py * py + pz * pz)
            if length > 0.0:
                px, py, pz = px / length, py / length, pz / length
                offset = -(px * points[a, 0] + py * points[a, 1] + pz * points[a, 2])
                weight = EDGE_WEIGHT * (ex * ex + ey * ey + ez * ez)
                _add_plane(quadrics, a, px, py, pz, offset, weight)
                _add_plane(quadrics, b, px, py, pz, offset, weight)
    return border


@kernel()
def _keeps_topology(faces, first, following, border, middle, marks, stamp, v, u):
    """The link condition: v and u have as many common neighbours as common faces."""
    if middle[v] and not middle[u]:
        return False
    shared = _shared_faces(faces, first, following, u, v)
    both = 2 * shared if middle[v] else shared  # with those beyond the plane
    if border[v] == 2 or both == 0 or both > 2 or (border[v] == 1 and both != 1):
        return False
    if middle[u] and not middle[v] and _spans_plane(faces, first, following, middle, v, u):
        return False
    corner = first[v]
    while corner >= 0:
        for k in range(3):
            marks[faces[corner // 3, k]] = stamp
        corner = following[corner]
    marks[u], marks[v] = 0, 0
    common = 0
    corner = first[u]
    while corner >= 0:
        for k in range(3):
            n = faces[corner // 3, k]
            if marks[n] == stamp:
                common += 1
                marks[n] = 0
        corner = following[corner]
    return common == shared


@kernel()
def _spans_plane(faces, first, following, middle, v, u):
    """Whether v, moved to u on the plane, joins it to a vertex there that is not its neighbour: v's
    mirror image would join the two once more."""
    corner = first[v]
    while corner >= 0:
        f, k = corner // 3, corner % 3
        corner = following[corner]
        for step in (1, 2):
            w = faces[f, (k + step) % 3]
            if w != u and middle[w] and _shared_faces(faces, first, following, u, w) == 0:
                return True
    return False


@kernel()
def _is_face(faces, first, following, u, b, c):
    corner = first[u]
    while corner >= 0:
        f, k = corner // 3, corner % 3
        one, other = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        if (one == b and other == c) or (one == c and other == b):
            return True
        corner = following[corner]
    return False


@kernel()
def _keeps_faces(points, faces, first, following, v, u):
    """No face of v turns over or becomes a worse sliver when v moves to u; none comes twice."""
    corner = first[v]
    surviving, last_b, last_c = 0, -1, -1
    while corner >= 0:
        f, k = corner // 3, corner % 3
        b, c = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        corner = following[corner]
        if b == u or c == u:
            continue
        surviving, last_b, last_c = surviving + 1, b, c
        ax, ay, az, sides = _face_vectors(points, v, b, c)
        bx, by, bz, new_sides = _face_vectors(points, u, b, c)
        before, after = ax * ax + ay * ay + az * az, bx * bx + by * by + bz * bz
        turned = ax * bx + ay * by + az * bz
        if after == 0.0 or turned < LEAST_COSINE * np.sqrt(before * after):
            return False
        quality = 2.0 * np.sqrt(3.0 * after) / new_sides
        if quality < LEAST_QUALITY and quality < 2.0 * np.sqrt(3.0 * before) / sides:
            return False
    if surviving == 1:  # the last face of a tetrahedron would fall onto the one opposite
        return not _is_face(faces, first, following, u, last_b, last_c)
    return surviving > 0


@kernel()
def _best_target(
    points, faces, first, following, border, middle, quadrics, areas, marks, stamps, v
):
    """Cheapest neighbour that v may be moved to, and the cost; −1 if there is none."""
    best, target = np.inf, -1
    corner = first[v]
    while corner >= 0:
        f, k = corner // 3, corner % 3
        corner = following[corner]
        for step in (1, 2):
            u = faces[f, (k + step) % 3]
            squared = 0.0
            for i in range(3):
                squared += (points[u, i] - points[v, i]) ** 2
            cost = _evaluate(quadrics[v], points[u]) + EVENNESS * areas[v] * squared
            if cost >= best:
                continue
            stamps[0] += 1
            if not _keeps_topology(faces, first, following, border, middle, marks, stamps[0], v, u):
                continue
            if _keeps_faces(points, faces, first, following, v, u):
                best, target = cost, u
    return best, target


@kernel()
def _collapse(faces, alive, first, following, v, u):
    """Move v's faces to u; those that had both die and leave the lists of their corners."""
    corner = first[v]
    while corner >= 0:
        f, k = corner // 3, corner % 3
        after = following[corner]
        b, c = faces[f, (k + 1) % 3], faces[f, (k + 2) % 3]
        if b == u or c == u:
            alive[f] = False
            for step in (1, 2):
                _unlink(first, following, faces[f, (k + step) % 3], 3 * f + (k + step) % 3)
        else:
            faces[f, k] = u
            following[corner] = first[u]
            first[u] = corner
        corner = after
    first[v] = -1


@kernel()
def _unlink(first, following, v, dead):
    if first[v] == dead:
        first[v] = following[dead]
        return
    corner = first[v]
    while following[corner] != dead:
        corner = following[corner]
    following[corner] = following[dead]


@kernel()
def collapse_edges(points, triangles, regions, targets, middle, counts):
    """Which vertices are kept, and the faces that are left, in the full mesh's numbers.

    A vertex counts `counts` towards its region's target: 2 where its mirror image does, too.
    """
    faces = triangles.copy()
    count = len(points)
    quadrics, areas, first, following = _prepare(points, faces)
    border = _hold_boundaries(points, faces, first, following, quadrics, middle)
    for v in range(count):
        if middle[v]:
            for k in range(10):
                quadrics[v, k] *= 2.0
            areas[v] *= 2.0
    alive, kept = np.ones(len(faces), np.bool_), np.ones(count, np.bool_)
    marks, stamps = np.zeros(count, np.int64), np.zeros(1, np.int64)
    versions, left = np.zeros(count, np.int64), np.zeros(len(targets), np.int64)
    for v in range(count):
        left[regions[v]] += counts[v]
    heap = [(np.inf, 0, 0, 0)]
    for v in range(count):
        cost, u = _best_target(
            points, faces, first, following, border, middle, quadrics, areas, marks, stamps, v
        )
        if u >= 0 and left[regions[v]] - counts[v] >= targets[regions[v]]:
            heapq.heappush(heap, (cost, v, u, 0))
    changed = np.empty(count, np.int64)
    while len(heap) > 0:
        cost, v, u, version = heapq.heappop(heap)
        if cost == np.inf:
            break
        if not kept[v] or versions[v] != version:
            continue
        if left[regions[v]] - counts[v] < targets[regions[v]]:
            continue
        _collapse(faces, alive, first, following, v, u)
        kept[v] = False
        left[regions[v]] -= counts[v]
        share = 2.0 if middle[u] and not middle[v] else 1.0
        for k in range(10):
            quadrics[u, k] += share * quadrics[v, k]
        areas[u] += share * areas[v]
        stamps[0] += 1
        changed_count = _around(faces, first, following, marks, stamps[0], u, changed)
        for place in range(changed_count):
            w = changed[place]
            versions[w] += 1
            cost, target = _best_target(
                points, faces, first, following, border, middle, quadrics, areas, marks, stamps, w
            )
            if target >= 0:
                heapq.heappush(heap, (cost, w, target, int(versions[w])))
    return kept, faces[alive]


@kernel()
def _around(faces, first, following, marks, stamp, u, found):
    """Write u and its neighbours into `found`; gives their number."""
    count = 0
    corner = first[u]
    while corner >= 0:
        for k in range(3):
            n = faces[corner // 3, k]
            if marks[n] != stamp:
                marks[n] = stamp
                found[count] = n
                count += 1
        corner = following[corner]
    return count
