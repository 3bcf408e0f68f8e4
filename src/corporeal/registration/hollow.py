"""Hollow scans: surfaces with an outer and an inner wall, as closed shells have them.

Behind most points of a hollow surface lies one that faces the other way; in a body, only fingers,
toes and ears are so thin. The inner wall is the one whose points have the other wall before them,
once it is known which way is outwards (`orientation`).
"""

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray

_THICKEST = 0.03
"""Thickness of a hollow surface at most, metres."""
_THICK = 0.018
"""The same, share of a scan's extent."""
_REACH = 0.05
"""Share of the extent that normals count for, halved, when the other wall is looked for."""
_SHARE = 0.4
"""Share of the points that have a wall behind them, at least."""
_JUDGED = 20_000


def is_hollow(points: Float64[NumpyArray, "n 3"], normals: Float64[NumpyArray, "n 3"]) -> bool:
    """Whether most of a surface's points have another wall close behind; normals are its own, of
    any length."""
    from scipy.spatial import KDTree

    step = max(1, len(points) // _JUDGED)
    places, ways = points[::step], normals[::step]
    ways = ways / np.maximum(np.linalg.norm(ways, axis=1, keepdims=True), 1e-12)
    extent = float(np.ptp(places, axis=0).max())
    tree = KDTree(np.hstack([places, _REACH * extent * ways]))
    near = np.asarray(tree.query(np.hstack([places, -_REACH * extent * ways]))[1])
    gap = places[near] - places
    opposite = np.sum(ways[near] * ways, axis=1) < -0.7
    close = np.linalg.norm(gap, axis=1) < _THICK * extent
    return float((opposite & close).mean()) > _SHARE


def inner_layer(
    points: Float64[NumpyArray, "n 3"],
    outward: Float64[NumpyArray, "n 3"],
    given: Float64[NumpyArray, "n 3"],
) -> Bool[NumpyArray, "n"]:
    """Points of the inside of a hollow surface: their given normals face the other way than those
    of the points right before them. A patch that was turned over has
    none before it."""
    turned = np.sum(outward * given, axis=1) < 0
    one = _covered(points, outward, np.flatnonzero(turned), np.flatnonzero(~turned))
    other = _covered(points, outward, np.flatnonzero(~turned), np.flatnonzero(turned))
    found = np.zeros(len(points), bool)
    found[max(one, other, key=len)] = True
    return found


def _covered(
    points: NumpyArray, outward: NumpyArray, rows: NumpyArray, others: NumpyArray
) -> NumpyArray:
    """Those of `rows` right before which, outwards, one of the others lies and faces alike."""
    from scipy.spatial import KDTree

    if len(rows) == 0 or len(others) == 0:
        return rows[:0]
    away, near = KDTree(points[others]).query(points[rows], distance_upper_bound=_THICKEST)
    good = np.isfinite(away)
    rows, near, away = rows[good], others[np.asarray(near)[good]], away[good]
    before = np.sum((points[near] - points[rows]) * outward[rows], axis=1) > 0.5 * away
    alike = np.sum(outward[near] * outward[rows], axis=1) > 0.5
    return rows[before & alike]
