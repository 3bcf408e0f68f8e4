"""Untangling, compiled: what `reference` says, over what is small alone. Positions are float64."""

import numpy as np

from corporeal.geometry.sorting_cpu import sorted_order
from corporeal.physics.untangling.reference import (
    BEYOND,
    LARGEST_MOVE,
    LEAST_SHARE,
    OPENED_SHARE,
    OVERLONG,
    PATIENCE,
    PULLED_TO,
    STIFFENS,
    TIRED,
    TIRING,
    VIOLATED,
    WATCHED,
)
from corporeal.runtime.kernels import kernel


@kernel()
def _volume(z, tetrahedra, t):
    """V of an element, m³."""
    i, j, k, l = tetrahedra[t, 0], tetrahedra[t, 1], tetrahedra[t, 2], tetrahedra[t, 3]
    x, y, w = z[i, 0], z[i, 1], z[i, 2]
    ax, ay, az = z[j, 0] - x, z[j, 1] - y, z[j, 2] - w
    bx, by, bz = z[k, 0] - x, z[k, 1] - y, z[k, 2] - w
    cx, cy, cz = z[l, 0] - x, z[l, 1] - y, z[l, 2] - w
    total = ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)
    return total / 6.0


@kernel()
def find_small(z, tetrahedra, volumes, first, last, found, watched):
    """Elements `first` … `last` − 1 with less than ε of their volume, in order, and those that are
    to be watched; how many of both."""
    count, seen = 0, 0
    for t in range(first, last):
        volume = _volume(z, tetrahedra, t)
        if volume < WATCHED * volumes[t]:
            watched[seen] = t
            seen += 1
            if volume < LEAST_SHARE * volumes[t]:
                found[count] = t
                count += 1
    return count, seen


@kernel()
def find_small_among(z, tetrahedra, volumes, among, found):
    """Those of the elements `among` with less than ε of their volume, in order; how many."""
    count = 0
    for t in among:
        if _volume(z, tetrahedra, t) < LEAST_SHARE * volumes[t]:
            found[count] = t
            count += 1
    return count


@kernel()
def _ask(z, tetrahedra, volumes, free, t, s, moves):
    """Add what one element asks its free corners to move by; `s` is scratch, 4 × 3."""
    i, j, k, l = tetrahedra[t, 0], tetrahedra[t, 1], tetrahedra[t, 2], tetrahedra[t, 3]
    x, y, w = z[i, 0], z[i, 1], z[i, 2]
    ax, ay, az = z[j, 0] - x, z[j, 1] - y, z[j, 2] - w
    bx, by, bz = z[k, 0] - x, z[k, 1] - y, z[k, 2] - w
    cx, cy, cz = z[l, 0] - x, z[l, 1] - y, z[l, 2] - w
    # times six
    s[1, 0], s[2, 0], s[3, 0] = by * cz - bz * cy, cy * az - cz * ay, ay * bz - az * by
    s[1, 1], s[2, 1], s[3, 1] = bz * cx - bx * cz, cz * ax - cx * az, az * bx - ax * bz
    s[1, 2], s[2, 2], s[3, 2] = bx * cy - by * cx, cx * ay - cy * ax, ax * by - ay * bx
    volume = (ax * s[1, 0] + ay * s[1, 1] + az * s[1, 2]) / 6.0
    size, furthest = 0.0, 0.0
    for c in range(3):
        s[0, c] = -(s[1, c] + s[2, c] + s[3, c])
    for m in range(4):
        if tetrahedra[t, m] < free:
            squared = (s[m, 0] ** 2 + s[m, 1] ** 2 + s[m, 2] ** 2) / 36.0
            size += squared
            furthest = max(furthest, squared)
    if not size > 0.0:
        return
    push = (OPENED_SHARE * volumes[t] - volume) / size
    push = min(push, LARGEST_MOVE / np.sqrt(furthest)) / 6.0
    for m in range(4):
        v = tetrahedra[t, m]
        if v < free:
            for c in range(3):
                moves[v, c] += push * s[m, c]
            moves[v, 3] += 1.0


@kernel()
def _height(z, vertices, coefficients, normals, i):
    """n·(Σ_k c_k x_k) of a contact, metres."""
    height = 0.0
    for m in range(4):
        v = vertices[i, m]
        height += coefficients[i, m] * (
            normals[i, 0] * z[v, 0] + normals[i, 1] * z[v, 1] + normals[i, 2] * z[v, 2]
        )
    return height


@kernel()
def lowered(z, rows, coefficients, normals, offsets):
    """Offsets of contacts, but no more than what they have at `z`, metres."""
    least = np.empty(len(rows))
    for i in range(len(rows)):
        least[i] = min(offsets[i], _height(z, rows, coefficients, normals, i))
    return least


@kernel()
def _ask_apart(z, vertices, coefficients, normals, least, free, i, moves):
    """Add what a contact below its least height asks its free vertices to move by; whether it
    is."""
    gap, size = _height(z, vertices, coefficients, normals, i) - least[i], 0.0
    for m in range(4):
        if vertices[i, m] < free:
            size += coefficients[i, m] ** 2
    if gap > -VIOLATED or size == 0.0:
        return False
    push = min(-gap, LARGEST_MOVE) / size
    for m in range(4):
        v, share = vertices[i, m], coefficients[i, m]
        if v < free and share != 0.0:
            for c in range(3):
                moves[v, c] += push * share * normals[i, c]
            moves[v, 3] += 1.0
    return True


@kernel()
def _move(z, corners, free, t, part, moves, moved, vertices):
    """Move the vertices of a row of `corners` by a `part` of what they were asked, and list them;
    how many are."""
    for m in range(corners.shape[1]):
        v = corners[t, m]
        if v < free and moves[v, 3] > 0.0:
            share = part / np.sqrt(moves[v, 3])
            for c in range(3):
                z[v, c] += share * moves[v, c]
                moves[v, c] = 0.0
            moves[v, 3] = 0.0
            moved[vertices] = v
            vertices += 1
    return vertices


@kernel()
def list_small(z, tetrahedra, volumes, starts, around, moved, vertices, listed, small):
    """The small elements around the first `vertices` of `moved`; how many."""
    count = 0
    for r in range(vertices):
        for e in range(starts[moved[r]], starts[moved[r] + 1]):
            t = around[e]
            if not listed[t]:
                listed[t] = True
                if _volume(z, tetrahedra, t) < LEAST_SHARE * volumes[t]:
                    small[count] = t
                    count += 1
    for r in range(vertices):
        for e in range(starts[moved[r]], starts[moved[r] + 1]):
            listed[around[e]] = False
    return count


@kernel()
def _sweep(
    z, tetrahedra, volumes, free, rows, coefficients, normals, least, count, small, s, part, moves,
    moved, pressed,
):  # fmt: skip
    """Move vertices by a `part` of what small elements and violated contacts ask them to, all at
    once; how many are listed in `moved`."""
    apart, vertices = 0, 0
    for e in range(count):
        _ask(z, tetrahedra, volumes, free, small[e], s, moves)
    for i in range(len(rows)):
        if _ask_apart(z, rows, coefficients, normals, least, free, i, moves):
            pressed[apart] = i
            apart += 1
    for e in range(count):
        vertices = _move(z, tetrahedra, free, small[e], part, moves, moved, vertices)
    for e in range(apart):
        vertices = _move(z, rows, free, pressed[e], part, moves, moved, vertices)
    return vertices


@kernel()
def _move_at_once(z, corners, free, t, part, moves, moved, vertices):
    """Move the vertices of a row of `corners` by a `part` of what that row alone asked them, and
    list them; how many are."""
    for m in range(corners.shape[1]):
        v = corners[t, m]
        if v < free and moves[v, 3] > 0.0:
            for c in range(3):
                z[v, c] += part * moves[v, c]
                moves[v, c] = 0.0
            moves[v, 3] = 0.0
            moved[vertices] = v
            vertices += 1
    return vertices


@kernel()
def _sweep_in_turn(
    z, tetrahedra, volumes, free, rows, coefficients, normals, least, count, small, s, part, moves,
    moved,
):  # fmt: skip
    """Open small elements one after the other, the flattest first, then part what contacts have too
    near; how many vertices of `moved` were."""
    shares, vertices = np.empty(count), 0
    for e in range(count):
        shares[e] = _volume(z, tetrahedra, small[e]) / volumes[small[e]]
    for e in sorted_order(shares):
        t = small[e]
        if _volume(z, tetrahedra, t) < LEAST_SHARE * volumes[t]:
            _ask(z, tetrahedra, volumes, free, t, s, moves)
            vertices = _move_at_once(z, tetrahedra, free, t, BEYOND * part, moves, moved, vertices)
    for i in range(len(rows)):
        if _ask_apart(z, rows, coefficients, normals, least, free, i, moves):
            vertices = _move_at_once(z, rows, free, i, part, moves, moved, vertices)
    return vertices


@kernel()
def untangle(
    z, tetrahedra, volumes, free, starts, around, rows, coefficients, normals, offsets, count,
    small, listed, moves, moved, sweeps, budget, together,
):  # fmt: skip
    """Push elements open, in place, beginning with the first `count` of `small`, in `sweeps`.

    Vertices below `free` may be moved. `starts` and `around` list the elements of every vertex.
    `listed` (elements) is all false, and `moves` (vertices × 4: sums, and how many asked) all zero,
    before and after; `moved` is room for four vertices an element and a contact. Contacts (`rows`
    of vertices, n·(Σ_k c_k x_k) ≥ d) that pushes would violate, or violate more, ask, too. No sweep
    begins once `budget` elements were pushed. After `together` sweeps elements are opened one after
    the other. Gives how much of the budget is left.
    """
    s, pressed = np.empty((4, 3)), np.empty(len(rows), np.int32)
    least = lowered(z, rows, coefficients, normals, offsets)
    fewest, since, part = len(tetrahedra) + 1, 0, 1.0
    for sweep in range(sweeps):
        if count < fewest:
            fewest, since = count, 0
        else:
            since += 1
            if since > PATIENCE:
                part *= TIRING
        if count == 0 or part < TIRED or budget <= 0:
            break
        budget -= count
        if sweep < together:
            vertices = _sweep(
                z, tetrahedra, volumes, free, rows, coefficients, normals, least, count, small, s,
                part, moves, moved, pressed,
            )  # fmt: skip
        else:
            vertices = _sweep_in_turn(
                z, tetrahedra, volumes, free, rows, coefficients, normals, least, count, small, s,
                part, moves, moved,
            )  # fmt: skip
        count = list_small(z, tetrahedra, volumes, starts, around, moved, vertices, listed, small)
    return budget


@kernel()
def limit_edges(before, edges, lengths, share, limits):
    """How long edges may be at the end of a step that begins at `before`: nearer to their largest
    length by a `share` of what is left to it; all metres."""
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        x, y, w = (
            before[j, 0] - before[i, 0],
            before[j, 1] - before[i, 1],
            before[j, 2] - before[i, 2],
        )
        stretch = np.sqrt(x * x + y * y + w * w) / lengths[e]
        stretch = min(max(stretch, STIFFENS), PULLED_TO)
        limits[e] = lengths[e] * (stretch + share * (PULLED_TO - stretch))


@kernel()
def find_long(z, edges, limits, found):
    """Edges that are longer than they may be, in order; how many."""
    count = 0
    for e in range(len(edges)):
        i, j = edges[e, 0], edges[e, 1]
        x, y, w = z[j, 0] - z[i, 0], z[j, 1] - z[i, 1], z[j, 2] - z[i, 2]
        if x * x + y * y + w * w > (OVERLONG * limits[e]) ** 2:
            found[count] = e
            count += 1
    return count


@kernel()
def _ask_together(z, edges, limits, free, e, moves):
    """Add what a long edge asks its free ends to move by."""
    i, j = edges[e, 0], edges[e, 1]
    x, y, w = z[j, 0] - z[i, 0], z[j, 1] - z[i, 1], z[j, 2] - z[i, 2]
    length, able = np.sqrt(x * x + y * y + w * w), 0.0
    for m in range(2):
        able += 1.0 if edges[e, m] < free else 0.0
    pull = min((length - limits[e]) / able, LARGEST_MOVE) / length
    for m in range(2):
        v = edges[e, m]
        if v < free:
            moves[v, 0] += pull * x
            moves[v, 1] += pull * y
            moves[v, 2] += pull * w
            moves[v, 3] += 1.0
        pull = -pull


@kernel()
def pull_in(
    z, edges, limits, free, long, rows, coefficients, normals, least, moves, moved
):  # fmt: skip
    """Pull in, in place, the edges listed in `long` to their `limits` (metres), once; how many
    vertices are listed in `moved`.

    Contacts below their `least` heights ask, too; `moved` is room for four vertices an edge and a
    contact. All else is as `untangle` has it.
    """
    pressed, vertices, apart = np.empty(len(rows), np.int32), 0, 0
    for e in long:
        _ask_together(z, edges, limits, free, e, moves)
    for i in range(len(rows)):
        if _ask_apart(z, rows, coefficients, normals, least, free, i, moves):
            pressed[apart] = i
            apart += 1
    for e in long:
        vertices = _move(z, edges, free, e, 1.0, moves, moved, vertices)
    for e in range(apart):
        vertices = _move(z, rows, free, pressed[e], 1.0, moves, moved, vertices)
    return vertices
