"""Compiled contact release: contacts that nothing but themselves keeps together are released.

The blending reference position of skin is where bones alone would put it (`blending_reference`).
Flesh whose reference positions overlap must be pressed apart, however far. Where they do not, it
comes back by itself: a contact may then hold it off no further than it is at its reference, and one
between what is torn away from its reference holds the wrong sides together. Both as far as the
reference is certain.
"""

import numpy as np

from corporeal.physics.contact.rules import DOUBT, TORN
from corporeal.runtime.kernels import kernel


@kernel()
def blend(rest, carriers, shares, frames):
    """Rest points moved by the mean of their carriers' frames (J 4 4), and the mean distance of
    those from it, metres."""
    blending_reference, doubts = np.empty((len(rest), 3)), np.zeros(len(rest))
    count = carriers.shape[1]
    places = np.empty((count, 3))
    for v in range(len(rest)):
        x, y, z = rest[v, 0], rest[v, 1], rest[v, 2]
        for k in range(3):
            reference = 0.0
            for m in range(count):
                j = carriers[v, m]
                place = frames[j, k, 0] * x + frames[j, k, 1] * y + frames[j, k, 2] * z
                places[m, k] = place + frames[j, k, 3]
                reference += shares[v, m] * places[m, k]
            blending_reference[v, k] = reference
        for m in range(count):
            away = 0.0
            for k in range(3):
                away += (places[m, k] - blending_reference[v, k]) ** 2
            doubts[v] += shares[v, m] * np.sqrt(away)
    return blending_reference, doubts


@kernel()
def _furthest(v, a, b, c, shares, normal, points, reference, torn):
    """Metres of gap that a pair without overlap at its reference may be pushed to; −∞ if it is
    torn."""
    gap, apart = 0.0, 0.0
    for k in range(3):
        at_reference = reference[v, k] - shares[0] * reference[a, k] - shares[1] * reference[b, k]
        at_reference -= shares[2] * reference[c, k]
        now = points[v, k] - shares[0] * points[a, k] - shares[1] * points[b, k]
        now -= shares[2] * points[c, k]
        gap += normal[k] * at_reference
        apart += (at_reference - now) ** 2
    return gap if apart <= torn * torn else -np.inf


@kernel()
def release_contacts(
    old_count, inside, points, reference, doubts, overlapping, thickness, triangles, reach, pairs,
    shares, normals, gaps, sources, furthest,
):  # fmt: skip
    """Leave out, in place, pairs that must be released; how far the others may push into
    `furthest`, which comes with how far they may at all.

    The first `old_count` pairs are those of before: as long as a vertex is `inside` and behind such
    a triangle, nothing new counts for it, since the way it came in is the way out. `overlapping`
    flags vertices whose reference positions are inside the reference body, `doubts` are metres that
    they are uncertain by, `thickness` those from triangles to their bones. Gives how many are left.
    """
    behind = np.zeros(len(points), np.bool_)
    count = 0
    for i in range(len(gaps)):
        v, t = pairs[i, 0], pairs[i, 1]
        a, b, c = triangles[t, 0], triangles[t, 1], triangles[t, 2]
        if i >= old_count and behind[v]:
            continue
        most = np.inf
        if not (overlapping[v] or overlapping[a] or overlapping[b] or overlapping[c]):
            doubt = DOUBT * (
                doubts[v] + shares[i, 0] * doubts[a] + shares[i, 1] * doubts[b]
                + shares[i, 2] * doubts[c]
            )  # fmt: skip
            torn = TORN * thickness[t] + doubt
            most = _furthest(v, a, b, c, shares[i], normals[i], points, reference, torn) + doubt
            if most < gaps[i] - reach:
                continue
        if i < old_count and gaps[i] < 0.0 and inside[v]:
            behind[v] = True
        pairs[count, 0], pairs[count, 1] = v, t
        for k in range(3):
            shares[count, k], normals[count, k] = shares[i, k], normals[i, k]
        gaps[count], sources[count] = gaps[i], sources[i]
        furthest[count] = min(furthest[i], most)
        count += 1
    return count
