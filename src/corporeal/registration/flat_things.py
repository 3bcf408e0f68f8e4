"""Flat things about a person: floors, plates, boxes, walls, seats.

No patch of skin a hand's length wide each way is as flat as what people make: within a band of a
few millimetres about a plane, points of skin fill the band, those of a floor lie in its middle. So
planes are looked for through points along their own normals, and taken away where their points are
many, connected, wide both ways and flat. What lies right beneath one that all stands on, within a
stand's height (the rim and the bottom of a plate), goes with it; a hand beyond the side of a plinth
does not lie beneath it.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.registration.pieces import piece_labels

_TRIED = 300
"""Points whose planes are tried, a round."""
_MOST = 12
"""Patches that are taken away at most."""
_BAND = 0.004
"""Half the height of the band about a plane, share of the extent: 7 mm of a person's height."""
_TURN = 0.94
"""Cosine of the angle between a plane's normal and those of its points, at least."""
_FLAT = 0.35
"""Root mean square of the heights, over half the band; skin that fills it has 0.58."""
_ROUGH, _LARGE = 0.5, 0.12
"""The same of patches with so large a share of all points: carpets."""
_SHARE = 0.02
"""Share of the points that a patch has at least."""
_WIDE = 0.035
"""Standard deviation of a patch along its narrow way at least, share of the extent: of 20 cm."""
_LINK = 0.035
"""Points of a patch nearer than this share of the extent are connected."""
_ONE_SIDE = 0.98
"""Share of all that stands on a floor."""
_STAND = 0.12
"""Height of a stand at most, share of the extent."""
_STAND_SHARE = 0.3
"""Share of the points that lie beneath a stand's top at most."""
_NEIGHBOURS = 24


@dataclass(frozen=True, eq=False)
class FlatThings:
    """What was found."""

    points: Bool[NumpyArray, "n"]
    """Points that belong to flat things."""
    up: Float64[NumpyArray, "3"] | None
    """Away from a plane that everything stands on, unit; None without one."""
    floor: Bool[NumpyArray, "n"]
    """Those of a floor or stand."""
    others: int
    """Flat patches beside."""


def flat_things(
    points: Float64[NumpyArray, "n 3"], coarse: Float64[NumpyArray, "c 3"]
) -> FlatThings:
    """Flat things among points; `coarse` are some thousands of them, evenly spread."""
    from scipy.spatial import KDTree

    extent = float(np.ptp(coarse, axis=0).max())
    normals = _normals(coarse, points)
    left = np.ones(len(coarse), bool)
    gone, floor = np.zeros((2, len(points)), bool)
    up, others = None, 0
    for _ in range(_MOST):
        found = _patch(coarse, normals, left, extent)
        if found is None:
            break
        patch, middle, normal = found
        height = (points - middle) @ normal
        near = KDTree(coarse[patch]).query(
            points, distance_upper_bound=2.0 * _LINK * extent
        )[0]  # fmt: skip
        taken = (np.abs(height) < 2.0 * _BAND * extent) & np.isfinite(near)
        own = (coarse - middle) @ normal
        left &= ~((np.abs(own) < 2.0 * _BAND * extent) & _near(coarse, coarse[patch], extent))
        side = _standing_side(own[left], extent)
        if side == 0.0:
            others += 1
        else:
            taken |= (side * height < 0.0) & _beneath(points, coarse[patch], normal, extent)
            left &= (side * own >= 0.0) | ~_beneath(coarse, coarse[patch], normal, extent)
            floor |= taken & ~gone
            up = side * normal if up is None else up
        gone |= taken
    return FlatThings(gone, up, floor, others)


def _near(points: NumpyArray, others: NumpyArray, extent: float) -> NumpyArray:
    from scipy.spatial import KDTree

    return np.isfinite(KDTree(others).query(points, distance_upper_bound=2.0 * _LINK * extent)[0])


def _beneath(
    points: NumpyArray, patch: NumpyArray, normal: NumpyArray, extent: float
) -> NumpyArray:
    """Points that seen along a plane's normal lie on the patch, or within its link's reach of
    it."""
    from scipy.spatial import KDTree

    aside = np.linalg.svd(normal[None])[2][1:]
    reach = KDTree(patch @ aside.T).query(
        points @ aside.T, distance_upper_bound=2.0 * _LINK * extent
    )[0]
    return np.isfinite(reach)


def _normals(places: NumpyArray, points: NumpyArray) -> NumpyArray:
    """Of the planes through a place's neighbours among all points, either way: the two faces of a
    board lie nearer to each other than some thousands of points do."""
    from scipy.spatial import KDTree

    near = np.asarray(KDTree(points).query(places, min(_NEIGHBOURS, len(points)))[1])
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    return np.linalg.eigh(np.einsum("nka,nkb->nab", around, around))[1][:, :, 0]


def _patch(
    points: NumpyArray, normals: NumpyArray, left: NumpyArray, extent: float
) -> tuple[NumpyArray, NumpyArray, NumpyArray] | None:
    """The largest flat patch: its points' indices, a place on it and its unit normal."""
    rows = np.flatnonzero(left)
    least = max(40, int(_SHARE * len(points)))
    random = np.random.default_rng(len(rows))
    tried = random.choice(rows, min(_TRIED, len(rows)), replace=False)
    counts = [
        int(_within(points, normals, rows, points[i], normals[i], 2.0 * extent).sum())
        for i in tried
    ]
    for i in tried[np.argsort(counts)[::-1]][:12]:
        middle, normal = points[i], normals[i]
        patch = rows[_within(points, normals, rows, middle, normal, 2.0 * extent)]
        for _ in range(2):
            if len(patch) < least:
                break
            middle = points[patch].mean(axis=0)
            normal = np.linalg.eigh(np.cov((points[patch] - middle).T))[1][:, 0]
            patch = rows[_within(points, normals, rows, middle, normal, extent)]
            patch = _largest(points, patch, extent) if len(patch) >= least else patch
        if len(patch) >= least and _flat_and_wide(
            points[patch], middle, normal, extent, len(points)
        ):
            return patch, middle, normal
    return None


def _within(
    points: NumpyArray,
    normals: NumpyArray,
    rows: NumpyArray,
    middle: NumpyArray,
    normal: NumpyArray,
    extent: float,
) -> NumpyArray:
    """Which rows lie in the band about a plane and face as it does."""
    heights = np.abs((points[rows] - middle) @ normal)
    return (heights < _BAND * extent) & (np.abs(normals[rows] @ normal) > _TURN)


def _largest(points: NumpyArray, patch: NumpyArray, extent: float) -> NumpyArray:
    """The largest connected part."""
    labels = piece_labels(points[patch], _LINK * extent)
    return patch[labels == np.argmax(np.bincount(labels))]


def _flat_and_wide(
    patch: NumpyArray, middle: NumpyArray, normal: NumpyArray, extent: float, count: int
) -> bool:
    heights = (patch - middle) @ normal
    spreads = np.sqrt(np.maximum(np.linalg.eigvalsh(np.cov(patch.T)), 0.0))
    most = _ROUGH if len(patch) > _LARGE * count else _FLAT
    flat = float(np.sqrt(np.mean(heights**2))) < most * _BAND * extent
    return flat and float(spreads[1]) > _WIDE * extent


def _standing_side(heights: NumpyArray, extent: float) -> float:
    """+1 or −1: the side on which all stands; 0 where it stands on neither."""
    away = np.abs(heights) > 2.0 * _BAND * extent
    if not away.any():
        return 0.0
    above = float((heights[away] > 0).mean())
    side = 1.0 if above > 0.5 else -1.0
    if max(above, 1.0 - above) > _ONE_SIDE:
        return side
    beneath = -side * heights[away & (side * heights < 0)]
    thin = float(np.percentile(beneath, 99)) < _STAND * extent
    return side if thin and len(beneath) < _STAND_SHARE * away.sum() else 0.0
