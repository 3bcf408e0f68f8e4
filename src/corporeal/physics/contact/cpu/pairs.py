"""Compiled: from vertices inside the body to the triangles they must leave through."""

import numpy as np

from corporeal.geometry.surface_tree_cpu import triangle_shares
from corporeal.physics.contact.rules import CLOSEST, FACING, FOLD, SIDEWAYS, STAY
from corporeal.runtime.kernels import kernel

MOST_STEPS = 16
"""Of the walk from a triangle to the nearest one."""


@kernel()
def skin_normals(points, triangles):
    """Outward unit normals at all vertices, triangles weighted by area."""
    normals = np.zeros((len(points), 3))
    for t in range(len(triangles)):
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        ux, uy, uz = (
            points[b, 0] - points[a, 0],
            points[b, 1] - points[a, 1],
            points[b, 2] - points[a, 2],
        )
        wx, wy, wz = (
            points[c, 0] - points[a, 0],
            points[c, 1] - points[a, 1],
            points[c, 2] - points[a, 2],
        )
        x, y, z = uy * wz - uz * wy, uz * wx - ux * wz, ux * wy - uy * wx
        for v in (a, b, c):
            normals[v, 0] += x
            normals[v, 1] += y
            normals[v, 2] += z
    for v in range(len(points)):
        length = np.sqrt(normals[v, 0] ** 2 + normals[v, 1] ** 2 + normals[v, 2] ** 2)
        if length > 0.0:
            for k in range(3):
                normals[v, k] /= length
    return normals


@kernel()
def _listed(items, value):
    """Whether a sorted list holds a value."""
    place = np.searchsorted(items, value)
    return place < len(items) and items[place] == value


@kernel()
def _is_own(v, t, triangles, normals, near):
    """Whether a triangle has the vertex for a corner, or is near by and faces the same way."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    if v in (a, b, c):
        return True
    along = 0.0
    for k in range(3):
        along += normals[v, k] * (normals[a, k] + normals[b, k] + normals[c, k])
    return along > 0.0 and (_listed(near, a) or _listed(near, b) or _listed(near, c))


@kernel()
def _distance(v, t, points, triangles, corner):
    """Squared distance of a vertex to a triangle, and the shares of its second and third corner."""
    for m in range(3):
        for k in range(3):
            corner[m, k] = points[triangles[t, m], k]
    s, r = triangle_shares(points[v, 0], points[v, 1], points[v, 2], corner)
    squared = 0.0
    for k in range(3):
        foot = corner[0, k] + s * (corner[1, k] - corner[0, k]) + r * (corner[2, k] - corner[0, k])
        squared += (points[v, k] - foot) ** 2
    return squared, s, r


@kernel()
def _walk(v, t, old, points, triangles, normals, around_starts, around, near, corner):
    """From a triangle downhill to one that is nearest to the vertex among those around it.

    An old pair whose vertex is right above or below its triangle stays: in a corner, where another
    is nearer, both are needed.
    """
    best, s, r = _distance(v, t, points, triangles, corner)
    limit = STAY * best if old else best
    for _ in range(0 if old and s > 0.0 and r > 0.0 and s + r < 1.0 else MOST_STEPS):
        here = t
        for m in range(3):
            u = triangles[here, m]
            for e in range(around_starts[u], around_starts[u + 1]):
                other = around[e]
                if other == here or _is_own(v, other, triangles, normals, near):
                    continue
                squared, s_other, r_other = _distance(v, other, points, triangles, corner)
                if squared < limit:
                    limit = best = squared
                    s, r, t = s_other, r_other, other
        if t == here:
            break
    return t, best, s, r


@kernel()
def _normal_at(t, s, r, points, triangles, normals, normal):
    """Interpolated normal of a triangle's point; that of the triangle where they disagree."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    u, w = points[b] - points[a], points[c] - points[a]
    face = np.array(
        (u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0])
    )
    area = np.sqrt(face[0] ** 2 + face[1] ** 2 + face[2] ** 2)
    length, along = 0.0, 0.0
    for k in range(3):
        normal[k] = (1.0 - s - r) * normals[a, k] + s * normals[b, k] + r * normals[c, k]
        length += normal[k] ** 2
        along += normal[k] * face[k]
    length = np.sqrt(length)
    if length > 0.0 and along > 0.3 * length * area:
        for k in range(3):
            normal[k] /= length
        return True
    if area > 0.0:
        for k in range(3):
            normal[k] = face[k] / area
    return area > 0.0


@kernel()
def _gap(v, t, s, r, points, triangles, normal):
    """Height of a vertex over a foot on a triangle, along a normal, metres."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    gap = 0.0
    for k in range(3):
        foot = (1.0 - s - r) * points[a, k] + s * points[b, k] + r * points[c, k]
        gap += normal[k] * (points[v, k] - foot)
    return gap


@kernel()
def _along(one, other):
    """Cosine between two unit vectors."""
    return one[0] * other[0] + one[1] * other[1] + one[2] * other[2]


@kernel()
def _apart_at_rest(v, t, s, r, rest, triangles):
    """Distance of a vertex from its foot at rest, metres."""
    a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
    apart = 0.0
    for k in range(3):
        foot = (1.0 - s - r) * rest[a, k] + s * rest[b, k] + r * rest[c, k]
        apart += (rest[v, k] - foot) ** 2
    return np.sqrt(apart)


@kernel()
def attach(
    kept, found, inside, points, rest, triangles, fixed, near_starts, near, around_starts, around,
    reach, pairs, shares, feet_normals, gaps, closest, sources,
):  # fmt: skip
    """Pairs of a vertex and the triangle it must stay in front of, with foot, normal and gap.

    `kept` are the pairs of before, `found` those that detection reports now; `inside` flags the
    vertices of `found`. A kept pair stays while its vertex is within `reach` metres of the triangle
    or still inside. `closest` are metres that pairs may come apart by, `sources` say which kept one
    a pair comes from, −1 for none. Gives how many are old, and how many there are.
    """
    normals = skin_normals(points, triangles)
    latest = np.full(len(points), -1, np.int32)
    before = np.empty(len(pairs), np.int32)
    corner, normal = np.empty((3, 3)), np.empty(3)
    count, old_count, olds = 0, 0, len(kept)
    for i in range(olds + len(found)):
        old = i < olds
        v, first = (kept[i, 0], kept[i, 1]) if old else (found[i - olds, 0], found[i - olds, 1])
        own = near[near_starts[v] : near_starts[v + 1]]
        t, squared, s, r = _walk(
            v, first, old, points, triangles, normals, around_starts, around, own, corner
        )
        if not _normal_at(t, s, r, points, triangles, normals, normal):
            continue
        gap = _gap(v, t, s, r, points, triangles, normal)
        if squared > reach * reach and (not inside[v] or gap > -SIDEWAYS * np.sqrt(squared)):
            continue
        if not old and _along(normal, normals[v]) > FACING:
            continue
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if fixed[v] and fixed[a] and fixed[b] and fixed[c]:
            continue
        other = latest[v]
        while other >= 0 and pairs[other, 1] != t:
            other = before[other]
        apart = _apart_at_rest(v, t, s, r, rest, triangles)
        # Deeper under its foot than it can be but by a fold of its own patch.
        if other >= 0 or gap < -FOLD * apart:
            continue
        pairs[count, 0], pairs[count, 1] = v, t
        shares[count, 0], shares[count, 1], shares[count, 2] = 1.0 - s - r, s, r
        for k in range(3):
            feet_normals[count, k] = normal[k]
        gaps[count] = gap
        closest[count] = CLOSEST * apart
        sources[count] = i if old else -1
        before[count] = latest[v]
        latest[v] = count
        count += 1
        old_count += old
    return old_count, count
