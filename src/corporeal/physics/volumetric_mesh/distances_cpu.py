"""Compiled distances between bone lines and a surface, and rays that leave it."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def closest_on_segments(points, starts, ends):
    """Index of the nearest segment to every point, and the place on it from 0 to 1."""
    nearest = np.zeros(len(points), np.int64)
    places = np.zeros(len(points))
    for i in range(len(points)):
        best = np.inf
        for b in range(len(starts)):
            along = 0.0
            squared_length = 0.0
            for k in range(3):
                axis = ends[b, k] - starts[b, k]
                along += (points[i, k] - starts[b, k]) * axis
                squared_length += axis * axis
            place = min(max(along / squared_length, 0.0), 1.0) if squared_length > 0.0 else 0.0
            distance = 0.0
            for k in range(3):
                foot = starts[b, k] + place * (ends[b, k] - starts[b, k])
                distance += (points[i, k] - foot) ** 2
            if distance < best:
                best, nearest[i], places[i] = distance, b, place
    return nearest, places


@kernel()
def _difference(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


@kernel()
def _dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


@kernel()
def _within(value):
    return min(max(value, 0.0), 1.0)


@kernel()
def _segment_segment_squared(p, q, a, b):
    """Squared distance between segments pq and ab (Ericson 2005, section 5.1.9)."""
    d, e, r = _difference(q, p), _difference(b, a), _difference(p, a)
    dd, ee, er, dr, de = _dot(d, d), _dot(e, e), _dot(e, r), _dot(d, r), _dot(d, e)
    s, t = 0.0, 0.0
    if dd == 0.0 and ee > 0.0:
        t = _within(er / ee)
    elif dd > 0.0 and ee == 0.0:
        s = _within(-dr / dd)
    elif dd > 0.0 and ee > 0.0:
        determinant = dd * ee - de * de
        if determinant > 0.0:
            s = _within((de * er - dr * ee) / determinant)
        t = (de * s + er) / ee
        if t < 0.0:
            t, s = 0.0, _within(-dr / dd)
        elif t > 1.0:
            t, s = 1.0, _within((de - dr) / dd)
    squared = 0.0
    for k in range(3):
        squared += (r[k] + s * d[k] - t * e[k]) ** 2
    return squared


@kernel()
def _line_through_triangle(o, d, a, b, c):
    """Place along direction `d` where the line from `o` meets triangle abc; infinity if nowhere."""
    ux, uy, uz = b[0] - a[0], b[1] - a[1], b[2] - a[2]
    vx, vy, vz = c[0] - a[0], c[1] - a[1], c[2] - a[2]
    px, py, pz = d[1] * vz - d[2] * vy, d[2] * vx - d[0] * vz, d[0] * vy - d[1] * vx
    determinant = ux * px + uy * py + uz * pz
    if determinant == 0.0:
        return np.inf
    rx, ry, rz = o[0] - a[0], o[1] - a[1], o[2] - a[2]
    u = (rx * px + ry * py + rz * pz) / determinant
    if u < 0.0 or u > 1.0:
        return np.inf
    qx, qy, qz = ry * uz - rz * uy, rz * ux - rx * uz, rx * uy - ry * ux
    v = (d[0] * qx + d[1] * qy + d[2] * qz) / determinant
    if v < 0.0 or u + v > 1.0:
        return np.inf
    return (vx * qx + vy * qy + vz * qz) / determinant


@kernel()
def _segment_triangle_squared(p, q, a, b, c):
    """Squared distance between the segment pq and a triangle."""
    place = _line_through_triangle(p, _difference(q, p), a, b, c)
    if 0.0 <= place <= 1.0:
        return 0.0
    best = min(
        _segment_segment_squared(p, q, a, b),
        _segment_segment_squared(p, q, b, c),
        _segment_segment_squared(p, q, c, a),
    )
    u, v = _difference(b, a), _difference(c, a)
    normal = (u[1] * v[2] - u[2] * v[1], u[2] * v[0] - u[0] * v[2], u[0] * v[1] - u[1] * v[0])
    squared = _dot(normal, normal)
    for point in (p, q):  # the foot of an end may lie inside the triangle
        if squared > 0.0 and _line_through_triangle(point, normal, a, b, c) < np.inf:
            best = min(best, _dot(_difference(point, a), normal) ** 2 / squared)
    return best


@kernel()
def _longest_sides(vertices, triangles):
    sides = np.zeros(len(triangles))
    for f in range(len(triangles)):
        for corner in range(3):
            a, b = triangles[f, corner], triangles[f, (corner + 1) % 3]
            squared = 0.0
            for k in range(3):
                squared += (vertices[a, k] - vertices[b, k]) ** 2
            sides[f] = max(sides[f], squared)
        sides[f] = np.sqrt(sides[f])
    return sides


@kernel()
def _point_segment_distance(p, a, b):
    along, squared_length, distance = 0.0, 0.0, 0.0
    for k in range(3):
        along += (p[k] - a[k]) * (b[k] - a[k])
        squared_length += (b[k] - a[k]) ** 2
    place = min(max(along / squared_length, 0.0), 1.0) if squared_length > 0.0 else 0.0
    for k in range(3):
        distance += (p[k] - a[k] - place * (b[k] - a[k])) ** 2
    return np.sqrt(distance)


@kernel()
def segment_surface_distances(starts, ends, vertices, triangles):
    """Distance from every segment to the surface; 0 where it pierces it.

    A triangle whose corners are further than the best distance by more than its longest side cannot
    be nearer, so few triangles are looked at closely.
    """
    distances = np.full(len(starts), np.inf)
    sides = _longest_sides(vertices, triangles)
    corner = np.empty(len(vertices))
    for s in range(len(starts)):
        for v in range(len(vertices)):
            corner[v] = _point_segment_distance(vertices[v], starts[s], ends[s])
        best = np.inf
        for f in range(len(triangles)):
            best = min(best, corner[triangles[f, 0]])
        for f in range(len(triangles)):
            i, j, k = triangles[f, 0], triangles[f, 1], triangles[f, 2]
            if min(corner[i], corner[j], corner[k]) - sides[f] < best:
                squared = _segment_triangle_squared(
                    starts[s], ends[s], vertices[i], vertices[j], vertices[k]
                )
                best = min(best, np.sqrt(squared))
        distances[s] = best
    return distances


@kernel()
def ray_exit_distances(origins, directions, vertices, triangles):
    """How far along each ray the surface is first met; infinity where it never is."""
    distances = np.full(len(origins), np.inf)
    for r in range(len(origins)):
        for f in range(len(triangles)):
            i, j, k = triangles[f, 0], triangles[f, 1], triangles[f, 2]
            place = _line_through_triangle(
                origins[r], directions[r], vertices[i], vertices[j], vertices[k]
            )
            if 0.0 < place < distances[r]:
                distances[r] = place
    return distances
