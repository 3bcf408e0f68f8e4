"""Compiled point-in-tetrahedron tests over blocks of vertices.

Skin vertices come in blocks of 16 neighbours over one bone, and prisms, from a skin triangle to its
base points, in clusters (`contact.blocks`). A cluster's box meets those of bones, then of their
blocks; a prism's box those of the blocks that are left. What is in the box and behind the triangle,
16 vertices at a time, is tested in the prism's tetrahedra. Most blocks that a prism's box meets are
its own surroundings, which have moved with it on one bone: where both have left the rest shape by
less than the gap that was between them there, nothing has entered. All places are float32, from the
lowest corner of what is looked for.
"""

import numpy as np

from corporeal.physics.contact.blocks import LANES, SLACK
from corporeal.physics.contact.detection import COUNTER_CLOCKWISE
from corporeal.runtime.kernels import kernel

_FAR = np.float32(1e30)


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
def gather_places(skin, base_points, low):
    """Places of all skin and base points from a corner, metres."""
    count = len(skin)
    corners = np.empty((2 * count, 3), np.float32)
    for v in range(count):
        for k in range(3):
            corners[v, k] = skin[v, k] - low[k]
            corners[count + v, k] = base_points[v, k] - low[k]
    return corners


@kernel()
def left_rest(skin, base_points, rest, rest_base, bones, moves):
    """How far skin and base points are from where their bones' `moves` (b 4 4) take them from rest,
    and `SLACK`, metres."""
    count = len(skin)
    left = np.empty(2 * count, np.float32)
    for v in range(count):
        move = moves[bones[v]]
        skin_away, base_away = 0.0, 0.0
        for k in range(3):
            there = (
                move[k, 0] * rest[v, 0] + move[k, 1] * rest[v, 1] + move[k, 2] * rest[v, 2]
            ) + move[k, 3]
            skin_away += (skin[v, k] - there) ** 2
            there = (
                move[k, 0] * rest_base[v, 0]
                + move[k, 1] * rest_base[v, 1]
                + move[k, 2] * rest_base[v, 2]
            ) + move[k, 3]
            base_away += (base_points[v, k] - there) ** 2
        left[v], left[count + v] = np.sqrt(skin_away) + SLACK, np.sqrt(base_away) + SLACK
    return left


@kernel()
def fill_blocks(corners, members, chosen, left, bone_starts, places, boxes, most_left, bone_boxes):
    """Places of the `chosen` ones of every block's vertices, far away for all others; the boxes
    around them, by block and by bone, and the furthest that any has `left` the rest shape."""
    for b in range(len(bone_boxes)):
        for k in range(3):
            bone_boxes[b, k], bone_boxes[b, 3 + k] = _FAR, -_FAR
        for m in range(bone_starts[b], bone_starts[b + 1]):
            for k in range(3):
                boxes[m, k], boxes[m, 3 + k] = _FAR, -_FAR
            most_left[m] = np.float32(0)
            for l in range(LANES):
                v = members[m, l]
                if v < 0 or not chosen[v]:
                    for k in range(3):
                        places[m, k * LANES + l] = _FAR
                    continue
                most_left[m] = max(most_left[m], left[v])
                for k in range(3):
                    x = corners[v, k]
                    places[m, k * LANES + l] = x
                    boxes[m, k], boxes[m, 3 + k] = min(boxes[m, k], x), max(boxes[m, 3 + k], x)
            for k in range(3):
                bone_boxes[b, k] = min(bone_boxes[b, k], boxes[m, k])
                bone_boxes[b, 3 + k] = max(bone_boxes[b, 3 + k], boxes[m, 3 + k])


@kernel()
def _meets(boxes, m, lx, ly, lz, hx, hy, hz):
    """Whether box `m` reaches into another."""
    m = np.uint32(m)
    return (
        (boxes[m, 0] <= hx) & (boxes[m, 3] >= lx) & (boxes[m, 1] <= hy) & (boxes[m, 4] >= ly)
        & (boxes[m, 2] <= hz) & (boxes[m, 5] >= lz)
    )  # fmt: skip


@kernel()
def _boxes_of(corners, prisms, first, last, boxes):
    """Boxes of the prisms `first` … `last` − 1, and the one around them."""
    lowx, lowy, lowz, highx, highy, highz = _FAR, _FAR, _FAR, -_FAR, -_FAR, -_FAR
    for t in range(first, last):
        p = np.uint32(prisms[t, 0])
        lx, ly, lz = corners[p, 0], corners[p, 1], corners[p, 2]
        hx, hy, hz = lx, ly, lz
        for m in range(1, 6):
            p = np.uint32(prisms[t, m])
            x, y, z = corners[p, 0], corners[p, 1], corners[p, 2]
            lx, ly, lz = min(lx, x), min(ly, y), min(lz, z)
            hx, hy, hz = max(hx, x), max(hy, y), max(hz, z)
        own = np.uint32(t - first)
        boxes[own, 0], boxes[own, 1], boxes[own, 2] = lx, ly, lz
        boxes[own, 3], boxes[own, 4], boxes[own, 5] = hx, hy, hz
        lowx, lowy, lowz = min(lowx, lx), min(lowy, ly), min(lowz, lz)
        highx, highy, highz = max(highx, hx), max(highy, hy), max(highz, hz)
    return lowx, lowy, lowz, highx, highy, highz


@kernel(fastmath=True)
def _in_box(
    places, members, m, a, b, c, lx, ly, lz, hx, hy, hz, nx, ny, nz, level, hits
):  # fmt: skip
    """Flag those of the 16 places of a block that are in a box and behind a plane, but for three
    vertices; how many are."""
    m, count = np.uint32(m), 0
    for l in range(LANES):
        x, y, z = places[m, l], places[m, LANES + l], places[m, 2 * LANES + l]
        hit = (
            (x >= lx) & (x <= hx) & (y >= ly) & (y <= hy) & (z >= lz) & (z <= hz)
            & (nx * x + ny * y + nz * z < level)
            & (members[m, l] != a) & (members[m, l] != b) & (members[m, l] != c)
        )  # fmt: skip
        hits[l] = hit
        count += hit
    return count


@kernel(fastmath=True)
def _faces(corners, prisms, t, kind, faces):
    """What tells where a place is in a prism: seven vectors across its faces from the corner `a`,
    by 3, then the volumes of its three tetrahedra, −1 for those that are not usable; times six.

    All three tetrahedra, a b c base_c, a b base_c base_b and a base_b base_c base_a, have `a`, and
    each two neighbours a face. Those that are inside out hold nothing.
    """
    a, b, c = np.uint32(prisms[t, 0]), np.uint32(prisms[t, 1]), np.uint32(prisms[t, 2])
    base_a, base_b = np.uint32(prisms[t, 3]), np.uint32(prisms[t, 4])
    base_c = np.uint32(prisms[t, 5])
    out = np.float32(-1.0 if kind & COUNTER_CLOCKWISE else 1.0)
    ax, ay, az = corners[a, 0], corners[a, 1], corners[a, 2]
    bx, by, bz = corners[b, 0] - ax, corners[b, 1] - ay, corners[b, 2] - az
    cx, cy, cz = corners[c, 0] - ax, corners[c, 1] - ay, corners[c, 2] - az
    ex, ey, ez = corners[base_c, 0] - ax, corners[base_c, 1] - ay, corners[base_c, 2] - az
    fx, fy, fz = corners[base_b, 0] - ax, corners[base_b, 1] - ay, corners[base_b, 2] - az
    gx, gy, gz = corners[base_a, 0] - ax, corners[base_a, 1] - ay, corners[base_a, 2] - az
    # between the first and the second, between the second and the third
    nx, ny, nz = by * ez - bz * ey, bz * ex - bx * ez, bx * ey - by * ex
    px, py, pz = fy * ez - fz * ey, fz * ex - fx * ez, fx * ey - fy * ex
    faces[0], faces[1], faces[2] = nx, ny, nz
    faces[3], faces[4], faces[5] = px, py, pz
    faces[6], faces[7], faces[8] = cy * ez - cz * ey, cz * ex - cx * ez, cx * ey - cy * ex
    faces[9], faces[10], faces[11] = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
    faces[12], faces[13], faces[14] = fy * bz - fz * by, fz * bx - fx * bz, fx * by - fy * bx
    faces[15], faces[16], faces[17] = ey * gz - ez * gy, ez * gx - ex * gz, ex * gy - ey * gx
    faces[18], faces[19], faces[20] = gy * fz - gz * fy, gz * fx - gx * fz, gx * fy - gy * fx
    none = np.float32(-1)
    faces[21] = -out * (cx * nx + cy * ny + cz * nz) if kind & 1 else none
    faces[22] = out * (fx * nx + fy * ny + fz * nz) if kind & 2 else none
    faces[23] = out * (gx * px + gy * py + gz * pz) if kind & 4 else none


@kernel(fastmath=True)
def _among_faces(faces, out, ax, ay, az, places, m, hits):
    """Flag those of the places of a block that were flagged and are inside a prism (`_faces`); how
    many are."""
    first, second, third = faces[21], faces[22], faces[23]
    zero, m, count = np.float32(0), np.uint32(m), 0
    for l in range(LANES):
        x = out * (places[m, l] - ax)
        y = out * (places[m, LANES + l] - ay)
        z = out * (places[m, 2 * LANES + l] - az)
        beyond = x * faces[0] + y * faces[1] + z * faces[2]
        further = x * faces[3] + y * faces[4] + z * faces[5]
        of_b = x * faces[6] + y * faces[7] + z * faces[8]
        of_base = x * faces[9] + y * faces[10] + z * faces[11]
        in_first = (
            (beyond <= zero) & (of_b >= zero) & (of_base >= zero)
            & (of_b + of_base - beyond <= first) & (first > zero)
        )  # fmt: skip
        of_base = x * faces[12] + y * faces[13] + z * faces[14]
        in_second = (
            (beyond >= zero) & (further <= zero) & (of_base >= zero)
            & (beyond + of_base - further <= second) & (second > zero)
        )  # fmt: skip
        of_b = x * faces[15] + y * faces[16] + z * faces[17]
        of_c = x * faces[18] + y * faces[19] + z * faces[20]
        in_third = (
            (further >= zero) & (of_b >= zero) & (of_c >= zero)
            & (of_b + of_c + further <= third) & (third > zero)
        )  # fmt: skip
        hit = (hits[l] != 0) & (in_first | in_second | in_third)
        hits[l] = hit
        count += hit
    return count


@kernel(fastmath=True)
def find_inside(
    prisms, kinds, numbers, starts, prism_bones, gap_starts, gaps, corners, left, members, places,
    boxes, most_left, bone_starts, bone_boxes, first, last, found,
):  # fmt: skip
    """Pairs (vertex, triangle) of vertices inside the prisms of the clusters `first` … `last` − 1.

    `starts` are where clusters begin among the prisms, `numbers` their triangles; `corners` are all
    skin and base points; a prism's own corners are passed over. Of a prism over one bone,
    `gap_starts` says where its `gaps` to the blocks of that bone are. Gives how many pairs there
    are, even where `found` is too short for all.
    """
    near, blocks = np.empty(len(boxes) + 1, np.int32), np.empty(len(boxes) + 1, np.int32)
    own_boxes, hits = np.empty((LANES, 6), np.float32), np.zeros(LANES, np.int32)
    faces = np.empty(24, np.float32)
    count = 0
    for cluster in range(first, last):
        begin, end = starts[cluster], starts[cluster + 1]
        lx, ly, lz, hx, hy, hz = _boxes_of(corners, prisms, begin, end, own_boxes)
        met = 0
        for b in range(len(bone_boxes)):
            if _meets(bone_boxes, b, lx, ly, lz, hx, hy, hz):
                for m in range(bone_starts[b], bone_starts[b + 1]):
                    near[met] = m
                    met += _meets(boxes, m, lx, ly, lz, hx, hy, hz)
        if met == 0:
            continue
        for t in range(begin, end):
            own, bone, gap_start = np.uint32(t - begin), prism_bones[t], gap_starts[t]
            lx, ly, lz = own_boxes[own, 0], own_boxes[own, 1], own_boxes[own, 2]
            hx, hy, hz = own_boxes[own, 3], own_boxes[own, 4], own_boxes[own, 5]
            own_first, own_last = bone_starts[bone], bone_starts[bone + 1]
            away = np.float32(0)
            for m in range(6):
                away = max(away, left[np.uint32(prisms[t, m])])
            # first which blocks, without branches, then their vertices
            asked = 0
            for e in range(met):
                m = near[e]
                is_own = (gap_start >= 0) & (m >= own_first) & (m < own_last)
                gap = gaps[np.uint32(gap_start + m - own_first if is_own else 0)]
                still = is_own & (away + most_left[np.uint32(m)] < gap)
                blocks[asked] = m
                asked += _meets(boxes, m, lx, ly, lz, hx, hy, hz) & (not still)
            if asked == 0:
                continue
            a, b, c = np.uint32(prisms[t, 0]), np.uint32(prisms[t, 1]), np.uint32(prisms[t, 2])
            ax, ay, az = corners[a, 0], corners[a, 1], corners[a, 2]
            side = np.float32(1.0 if kinds[t] & COUNTER_CLOCKWISE else -1.0)
            ux, uy, uz = corners[b, 0] - ax, corners[b, 1] - ay, corners[b, 2] - az
            wx, wy, wz = corners[c, 0] - ax, corners[c, 1] - ay, corners[c, 2] - az
            nx, ny, nz = (
                side * (uy * wz - uz * wy),
                side * (uz * wx - ux * wz),
                side * (ux * wy - uy * wx),
            )
            level = nx * ax + ny * ay + nz * az
            ready = False
            for e in range(asked):
                m = np.uint32(blocks[e])
                in_box = _in_box(
                    places, members, m, prisms[t, 0], prisms[t, 1], prisms[t, 2], lx, ly, lz, hx,
                    hy, hz, nx, ny, nz, level, hits,
                )  # fmt: skip
                if in_box == 0:
                    continue
                if not ready:
                    _faces(corners, prisms, t, kinds[t], faces)
                    ready = True
                if _among_faces(faces, -side, ax, ay, az, places, m, hits) == 0:
                    continue
                for l in range(LANES):
                    if hits[l] != 0:
                        if count < len(found):
                            found[count, 0], found[count, 1] = members[m, l], numbers[t]
                        count += 1
    return count


@kernel()
def rest_gaps(rest, members, prisms, prism_bones, gap_starts, bone_starts, largest, gaps):
    """At least how far, at most `largest`, a block's vertices are from the prisms over their bone,
    but for a prism's own corners; metres. `rest` are skin and base points.

    How far a point is beyond all six corners in any direction is less than its distance: outwards
    from the triangle, out of the three sides, and away from the middle.
    """
    ways, reach = np.empty((5, 3)), np.empty(5)
    middle, away = np.empty(3), np.empty(3)
    for t in range(len(prisms)):
        if gap_starts[t] < 0:
            continue
        own, bone = prisms[t], prism_bones[t]
        middle[:] = 0.0
        for m in range(6):
            middle += rest[own[m]] / 6.0
        size = 0.0
        for m in range(6):
            size = max(size, np.sqrt(np.sum((rest[own[m]] - middle) ** 2)))
        _side_ways(rest, own, middle, ways)
        for d in range(5):
            reach[d] = -np.inf
            for m in range(6):
                reach[d] = max(reach[d], np.sum(ways[d] * rest[own[m]]))
        for b in range(bone_starts[bone], bone_starts[bone + 1]):
            gap = largest
            for l in range(LANES):
                v = members[b, l]
                if v < 0 or v == own[0] or v == own[1] or v == own[2]:
                    continue
                away[:] = rest[v] - middle
                far = np.sqrt(np.sum(away**2))
                least = far - size
                if least < gap and far > 0.0:
                    furthest = -np.inf
                    for m in range(6):
                        furthest = max(furthest, np.sum(away * (rest[own[m]] - middle)) / far)
                    least = max(least, far - furthest)
                    for d in range(5):
                        least = max(least, np.sum(ways[d] * rest[v]) - reach[d])
                gap = min(gap, least)
            gaps[gap_starts[t] + b - bone_starts[bone]] = gap


@kernel()
def _side_ways(rest, own, middle, ways):
    """Unit vectors out of a prism's two ends and three sides; zero where that has no area."""
    for d in range(5):
        for k in range(3):
            ways[d, k] = 0.0
        if d < 3:
            p, q = rest[own[d]], rest[own[(d + 1) % 3]]
            o = 0.5 * (rest[own[3 + d]] + rest[own[3 + (d + 1) % 3]])
        else:
            p, q, o = rest[own[0]], rest[own[1]], rest[own[2]]
        u, w = q - p, o - p
        n = np.array(
            (u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0])
        )
        length = np.sqrt(np.sum(n**2))
        if length > 0.0:
            outwards = np.sum(n * (p - middle))
            sign = 1.0 if (outwards >= 0.0) == (d != 4) else -1.0
            for k in range(3):
                ways[d, k] = sign * n[k] / length
