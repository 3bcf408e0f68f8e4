"""Untangling, compiled: what `reference` says, in the same order. Positions are float64."""

import numpy as np

from corporeal.physics.untangling.reference import LARGEST_MOVE, LEAST_SHARE, OPENED_SHARE
from corporeal.runtime.kernels import kernel


@kernel()
def _volume(z, tetrahedra, t):
    """V of an element, m³."""
    i, j, k, l = tetrahedra[t, 0], tetrahedra[t, 1], tetrahedra[t, 2], tetrahedra[t, 3]
    x, y, w = z[i, 0], z[i, 1], z[i, 2]
    ax, ay, az = z[j, 0] - x, z[j, 1] - y, z[j, 2] - w
    bx, by, bz = z[k, 0] - x, z[k, 1] - y, z[k, 2] - w
    cx, cy, cz = z[l, 0] - x, z[l, 1] - y, z[l, 2] - w
    return (ax * (by * cz - bz * cy) + ay * (bz * cx - bx * cz) + az * (bx * cy - by * cx)) / 6.0


@kernel()
def find_small(z, tetrahedra, volumes, first, last, found):
    """Elements `first` … `last` − 1 with less than ε of their volume, in order; how many."""
    count = 0
    for t in range(first, last):
        if _volume(z, tetrahedra, t) < LEAST_SHARE * volumes[t]:
            found[count] = t
            count += 1
    return count


@kernel()
def _open(z, tetrahedra, volumes, free, t, s):
    """Push one element open; whether it was needed and something could be moved."""
    i, j, k, l = tetrahedra[t, 0], tetrahedra[t, 1], tetrahedra[t, 2], tetrahedra[t, 3]
    x, y, w = z[i, 0], z[i, 1], z[i, 2]
    ax, ay, az = z[j, 0] - x, z[j, 1] - y, z[j, 2] - w
    bx, by, bz = z[k, 0] - x, z[k, 1] - y, z[k, 2] - w
    cx, cy, cz = z[l, 0] - x, z[l, 1] - y, z[l, 2] - w
    s[1, 0], s[1, 1], s[1, 2] = (
        by * cz - bz * cy,
        bz * cx - bx * cz,
        bx * cy - by * cx,
    )
    s[2, 0], s[2, 1], s[2, 2] = (
        cy * az - cz * ay,
        cz * ax - cx * az,
        cx * ay - cy * ax,
    )
    s[3, 0], s[3, 1], s[3, 2] = (
        ay * bz - az * by,
        az * bx - ax * bz,
        ax * by - ay * bx,
    )
    volume = (ax * s[1, 0] + ay * s[1, 1] + az * s[1, 2]) / 6.0
    if not volume < LEAST_SHARE * volumes[t]:
        return False
    size, furthest = 0.0, 0.0
    for c in range(3):
        s[0, c] = -(s[1, c] + s[2, c] + s[3, c])
    for m in range(4):
        if tetrahedra[t, m] < free:
            squared = 0.0
            for c in range(3):
                s[m, c] /= 6.0
                squared += s[m, c] ** 2
            size += squared
            furthest = max(furthest, squared)
    if not size > 0.0:
        return False
    push = (OPENED_SHARE * volumes[t] - volume) / size
    push = min(push, LARGEST_MOVE / np.sqrt(furthest))
    for m in range(4):
        v = tetrahedra[t, m]
        if v < free:
            for c in range(3):
                z[v, c] += push * s[m, c]
    return True


@kernel()
def untangle(z, tetrahedra, volumes, free, starts, around, count, queue, waiting, most):
    """Push elements open, in place, beginning with the first `count` of the `queue`.

    Vertices below `free` may be moved. `starts` and `around` list the elements of every vertex;
    `queue` goes round; `waiting` flags what is in it, and is all false again afterwards. Gives how
    many elements were pushed, and how many are left.
    """
    size, head, moves = len(queue), 0, 0
    s = np.empty((4, 3))
    for m in range(count):
        waiting[queue[m]] = True
    while count > 0 and moves < most:
        t = queue[head]
        head = head + 1 if head + 1 < size else 0
        count -= 1
        waiting[t] = False
        if not _open(z, tetrahedra, volumes, free, t, s):
            continue
        moves += 1
        for m in range(4):
            v = tetrahedra[t, m]
            if v >= free:
                continue
            for e in range(starts[v], starts[v + 1]):
                other = around[e]
                if waiting[other]:
                    continue
                if _volume(z, tetrahedra, other) < LEAST_SHARE * volumes[other]:
                    last = head + count
                    queue[last if last < size else last - size] = other
                    count += 1
                    waiting[other] = True
    for m in range(count):
        place = head + m
        waiting[queue[place if place < size else place - size]] = False
    return moves, count
