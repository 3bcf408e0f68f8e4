"""Compiled: pairs of skin that are too near, and the smooth displacement that parts them."""

import numpy as np

from corporeal.physics.contact.cpu.pairs import attach
from corporeal.runtime.kernels import kernel

CLEARANCE = 1.0e-3
"""Metres that pairs are kept apart, so that edges of the two sides seldom cross."""
PASSES = 2
"""How often feet are looked for anew."""
ROUNDS = 12
"""Of projections and averages in the first pass; half as many in the second."""
LAST_ROUNDS = 8
"""Of projections alone, at the end."""
REACH = 8.0e-3
"""Metres within which pairs are watched: what parts one of them must not close another."""
RINGS = 12
"""Edges from a pair as far as which skin gives way."""
DEEPEST = 0.8
"""Share of the flesh's thickness by which a vertex moves at most."""
SAME_WAY = 0.5
"""Cosine between the normals of the two sides from which on they are not pressed apart; below 0
they are wholly."""


@kernel()
def pressed_apart(
    points, candidates, rest, triangles, fixed, near_starts, near, around_starts, around,
    beside_starts, beside, thickness, hold,
):  # fmt: skip
    """Displacements that take posed points (metres) out of each other, and the vertices of pairs.

    `candidates` are vertices with a triangle to walk from; `hold` is what a vertex weighs beside
    its neighbours when they are averaged. The last answer is which pairs had to be parted.
    """
    count, most = len(points), len(candidates)
    moved = np.zeros((count, 3))
    none = np.zeros((0, 2), np.int32)
    kept, found = none, candidates
    flagged = np.zeros(count, np.bool_)
    for i in range(most):
        flagged[candidates[i, 0]] = True
    pairs, sources = np.empty((most, 2), np.int64), np.empty(most, np.int64)
    shares, normals = np.empty((most, 3)), np.empty((most, 3))
    gaps, closest, needs = np.empty(most), np.empty(most), np.empty(most)
    pushes, counts = np.zeros((count, 3)), np.zeros(count)
    rows = 0
    for turn in range(PASSES):
        now = points + moved
        _, rows = attach(
            kept, found, flagged, now, rest, triangles, fixed, near_starts, near, around_starts,
            around, REACH, pairs, shares, normals, gaps, closest, sources,
        )  # fmt: skip
        _needed(
            rows, now, moved, triangles, around_starts, around, pairs, shares, normals, gaps,
            closest, needs,
        )  # fmt: skip
        if not np.any(needs[:rows] > 0.0):
            break
        region, own = _region(rows, pairs, triangles, beside_starts, beside, count)
        averages, last = ROUNDS >> turn, LAST_ROUNDS if turn == PASSES - 1 else 1
        for step in range(averages + last):
            _project(
                rows, own, moved, triangles, pairs, shares, normals, needs, thickness, pushes,
                counts,
            )  # fmt: skip
            if step < averages:
                _average(moved, region, beside_starts, beside, hold)
        kept, found = pairs[:rows].astype(np.int32), none
    return moved, pairs[:rows, 0].copy(), needs[:rows] > 0.0


@kernel()
def _needed(
    rows, now, moved, triangles, around_starts, around, pairs, shares, normals, gaps, closest, needs
):
    """How far apart the displacements of the two sides must be along the normal, metres."""
    outward = np.empty(3)
    for i in range(rows):
        v, t = pairs[i, 0], pairs[i, 1]
        _normal(v, now, triangles, around_starts, around, outward)
        along, apart = 0.0, 0.0
        for k in range(3):
            n = normals[i, k]
            along += n * outward[k]
            apart += n * moved[v, k]
            for m in range(3):
                apart -= n * shares[i, m] * moved[triangles[t, m], k]
        counts = min(1.0, max(0.0, 1.0 - along / SAME_WAY))
        lacking = min(CLEARANCE, closest[i]) - gaps[i]
        needs[i] = apart + counts * lacking if counts > 0.0 else -np.inf


@kernel()
def _normal(v, points, triangles, around_starts, around, normal):
    """Outward unit normal at a vertex, triangles weighted by area."""
    normal[:] = 0.0
    for e in range(around_starts[v], around_starts[v + 1]):
        a, b, c = triangles[around[e], 0], triangles[around[e], 1], triangles[around[e], 2]
        u, w = points[b] - points[a], points[c] - points[a]
        normal[0] += u[1] * w[2] - u[2] * w[1]
        normal[1] += u[2] * w[0] - u[0] * w[2]
        normal[2] += u[0] * w[1] - u[1] * w[0]
    length = np.sqrt(normal[0] ** 2 + normal[1] ** 2 + normal[2] ** 2)
    if length > 0.0:
        normal /= length


@kernel()
def _region(rows, pairs, triangles, beside_starts, beside, count):
    """Vertices within `RINGS` edges of a pair, and those of pairs."""
    reached = np.zeros(count, np.bool_)
    region = np.empty(count, np.int64)
    size = 0
    for i in range(rows):
        for m in range(4):
            v = pairs[i, 0] if m == 3 else triangles[pairs[i, 1], m]
            if not reached[v]:
                reached[v] = True
                region[size] = v
                size += 1
    first, own = 0, size
    for _ in range(RINGS):
        last = size
        for i in range(first, last):
            for e in range(beside_starts[region[i]], beside_starts[region[i] + 1]):
                if not reached[beside[e]]:
                    reached[beside[e]] = True
                    region[size] = beside[e]
                    size += 1
        first = last
    return region[:size], region[:own]


@kernel()
def _average(moved, region, beside_starts, beside, hold):
    """Every vertex goes to where its neighbours are, less what holds it; all at once."""
    fresh = np.empty((len(region), 3))
    for i in range(len(region)):
        v = region[i]
        x = y = z = 0.0
        first, last = beside_starts[v], beside_starts[v + 1]
        for e in range(first, last):
            u = beside[e]
            x += moved[u, 0]
            y += moved[u, 1]
            z += moved[u, 2]
        share = 1.0 / (last - first + hold[v])
        fresh[i, 0], fresh[i, 1], fresh[i, 2] = share * x, share * y, share * z
    for i in range(len(region)):
        for k in range(3):
            moved[region[i], k] = fresh[i, k]


@kernel()
def _project(rows, own, moved, triangles, pairs, shares, normals, needs, thickness, pushes, counts):
    """Every pair that is too near is parted, all at once; what a vertex weighs is divided among its
    pairs (Tonge 2012), so that together they do not push too far.

    `own` are the vertices of pairs; `pushes` and `counts` are zero before and after.
    """
    lacking = np.empty(rows)
    for i in range(rows):
        v, t = pairs[i, 0], pairs[i, 1]
        lacking[i] = needs[i]
        for k in range(3):
            lacking[i] -= normals[i, k] * moved[v, k]
            for m in range(3):
                lacking[i] += normals[i, k] * shares[i, m] * moved[triangles[t, m], k]
        if lacking[i] > 0.0:
            counts[v] += 1.0
            for m in range(3):
                counts[triangles[t, m]] += 1.0
    for i in range(rows):
        if not lacking[i] > 0.0:
            continue
        v, t = pairs[i, 0], pairs[i, 1]
        give = counts[v] * thickness[v] ** 2
        for m in range(3):
            u = triangles[t, m]
            give += counts[u] * (shares[i, m] * thickness[u]) ** 2
        push = lacking[i] / give
        for k in range(3):
            pushes[v, k] += push * thickness[v] ** 2 * normals[i, k]
            for m in range(3):
                u = triangles[t, m]
                pushes[u, k] -= push * shares[i, m] * thickness[u] ** 2 * normals[i, k]
    for v in own:
        length = 0.0
        for k in range(3):
            moved[v, k] += pushes[v, k]
            length += moved[v, k] ** 2
            pushes[v, k] = 0.0
        counts[v] = 0.0
        most = DEEPEST * thickness[v]
        if length > most * most:
            for k in range(3):
                moved[v, k] *= most / np.sqrt(length)
