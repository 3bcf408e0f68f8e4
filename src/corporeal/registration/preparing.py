"""From a raw scan to one that a body can be laid onto.

Floors, other flat things (`flat_things`) and stray pieces are taken away, the unit is found from
the person's size, and all that was done is said in words. What cannot be a scan of one person is
refused here where that can be seen without a fit: too few points, numbers that are not finite, a
size that is no person's in any unit, two people side by side.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.raw_scan import RawScan
from corporeal.errors import InputError
from corporeal.geometry.surface import triangle_area_vectors, vertex_normals
from corporeal.registration.flat_things import FlatThings, flat_things
from corporeal.registration.hollow import inner_layer, is_hollow
from corporeal.registration.orientation import outward_normals
from corporeal.registration.scan_surface import cell_means, thinned

UNITS_M = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": 0.0254}
"""Units that a scan may be in, metres."""
SIZES_M = (0.85, 2.75)
"""Largest extent of a person in any pose, metres."""
LEAST_POINTS = 500
"""Fewer tell no body."""
MOST_DENSE = 150_000
"""Points of the scan itself that the free mesh is laid onto at last."""
FINE = 60_000
"""Points that are kept."""
_SPREAD = 120_000
"""Points that a surface is sampled with."""
_COARSE = 6_000
_SKIN = 1.8
"""Square metres of skin, about: what the spacing of points is told from."""
_LEAST_FREE = 0.03
"""Share of the points that lies on no plane, at least."""
_PIECE = 0.002
"""Pieces of at least this share of the largest's size may belong to it."""
_BESIDE = 0.08
"""… if they lie within this share of the extent of it."""
_LIMB_END = (0.005, 0.06)
"""Share of the largest piece's size that a hand, a foot or a foot with its shin has."""
_CUT_OFF = 0.2
"""Such a piece belongs to the body within this share of the extent: a hole may take a forearm."""
_LINK = 0.03
"""Pieces nearer to each other than this share of the extent belong together."""


@dataclass(frozen=True, eq=False)
class PreparedScan:
    """Points of one person in metres, in the file's axes still."""

    points: Float64[NumpyArray, "n 3"]
    """Metres."""
    normals: Float64[NumpyArray, "n 3"]
    """Unit, outwards."""
    weights: Float64[NumpyArray, "n"]
    """Confidence, 0 to 1."""
    spacing: float
    """Metres between neighbours."""
    colours: Float64[NumpyArray, "n 3"] | None
    """sRGB, 0 to 1; None where the scan has none."""
    landmarks: dict[str, Float64[NumpyArray, "3"]]
    """Known places by name, metres."""
    unit_length: float
    """Metres of the file's unit."""
    up_hint: Float64[NumpyArray, "3"] | None
    """Which way is up, where a floor or a wall told; unit."""
    remarks: tuple[str, ...]
    """What was found and done, in words."""
    dense: Float64[NumpyArray, "d 3"]
    """Points as the scan has them, all of them, metres: means over cubes lie inside of what is
    round."""
    flat: Float64[NumpyArray, "t 3"]
    """Some of the points that were taken away as flat things, metres."""


def prepare(scan: RawScan, unit: str = "auto") -> PreparedScan:
    """Clean, measure and orient a scan; raises `InputError` with the reason for what is none."""
    points, values, remarks = _finite(scan)
    if len(points) < LEAST_POINTS:
        raise InputError(
            f"the scan has {len(points)} points; expected at least {LEAST_POINTS} of one person."
        )
    if not np.ptp(points, axis=0).max() > 0:
        raise InputError("all points of the scan lie in one place; expected a person.")
    every = points[:: max(1, len(points) // MOST_DENSE)]
    surface = scan.triangles is not None and len(scan.triangles) > 0
    hollow = surface and is_hollow(points, values["normals"])
    # cubes that hold both walls of a hollow surface have a mean of each
    kinds = ((values["normals"] > 0) @ [1, 2, 4]).astype(np.int64) if hollow else None
    _, fine = thinned(points, FINE, *values.values(), kinds=kinds)
    points, values = fine[0], dict(zip(values, fine[1:], strict=True))
    _, (coarse,) = thinned(points, _COARSE)
    flat = flat_things(points, coarse)
    up_hint, free = flat.up, np.flatnonzero(~flat.points)
    remarks += _said(flat)
    if len(free) < _LEAST_FREE * len(points):
        raise InputError(
            "the scan shows flat things and no person: planes hold "
            f"{100 * flat.points.mean():.0f} % of its points. Expected a scan of one person."
        )
    piece, others = _main_piece(points[free], up_hint)
    kept = free[piece]
    stray = len(free) - len(kept)
    if stray:
        remarks.append(f"{others} stray pieces were left out ({stray} of {len(points)} points).")
    flat_points, points = points[flat.points], points[kept]
    values = {name: array[kept] for name, array in values.items()}
    length, remark = _unit(points, unit)
    remarks.append(remark)
    points = length * points
    normals = _normals(points, values.get("normals"))
    if hollow:
        inner = inner_layer(points, normals, values["normals"])
        remarks.append(f"the inside of a hollow surface was left out ({_percent(inner)}).")
        points, normals = points[~inner], normals[~inner]
        values = {name: array[~inner] for name, array in values.items()}
        every = points / length
    weights = np.clip(values.get("confidence", np.ones(len(points))), 0.0, 1.0)
    spacing = float(np.sqrt(_SKIN / len(points)))
    return PreparedScan(
        points,
        normals,
        weights,
        spacing,
        values.get("colours"),
        {name: length * np.asarray(place, np.float64) for name, place in scan.landmarks.items()},
        length,
        up_hint,
        tuple(remarks),
        length * every,
        length * flat_points[:: max(1, len(flat_points) // _COARSE)],
    )


def _said(flat: FlatThings) -> list[str]:
    """What was taken away, in words."""
    words = []
    if flat.floor.any():
        share = _percent(flat.floor)
        words.append(f"a floor, or what the person stands on, was taken away ({share}).")
    if flat.others:
        share = _percent(flat.points & ~flat.floor)
        words.append(f"flat faces of other things, {flat.others}, were taken away ({share}).")
    return words


def _percent(which: NumpyArray) -> str:
    return f"{100 * which.mean():.0f} % of the points"


def _finite(scan: RawScan) -> tuple[NumpyArray, dict[str, NumpyArray], list[str]]:
    """Points that are numbers, with what goes with them."""
    points = np.asarray(scan.points, np.float64)
    if len(points) == 0:
        raise InputError("the scan is empty; expected points of one person.")
    good = np.asarray(np.isfinite(points).all(axis=1) & (np.abs(points) < 1e9).all(axis=1))
    if good.mean() < 0.9:
        raise InputError(
            f"{int((~good).sum())} of the scan's {len(points)} points are not finite numbers; "
            f"expected at most one in ten. Export it again."
        )
    named = {"normals": scan.normals, "colours": scan.colours, "confidence": scan.confidence}
    values = {
        name: np.nan_to_num(np.asarray(array, np.float64))
        for name, array in named.items()
        if array is not None
    }
    dropped = int((~good).sum())
    remarks = [f"{dropped} points that are not finite were dropped."] if dropped else []
    if scan.triangles is not None and len(scan.triangles):
        safe = np.where(good[:, None], points, 0.0)
        whole = np.asarray(scan.triangles)[good[np.asarray(scan.triangles)].all(axis=1)]
        points, values = _spread(safe, whole, values)
    else:
        points = points[good]
        values = {name: array[good] for name, array in values.items()}
    return points, values, remarks


def _spread(
    points: NumpyArray, triangles: NumpyArray, values: dict[str, NumpyArray]
) -> tuple[NumpyArray, dict[str, NumpyArray]]:
    """Points spread evenly over a surface, so that large triangles count as much as small ones."""
    vectors = triangle_area_vectors(points, triangles)
    area = np.linalg.norm(vectors, axis=1)
    if len(triangles) == 0 or not area.sum() > 0:
        raise InputError("the scan's surface has no area; expected triangles of one person.")
    values.setdefault("normals", vertex_normals(points, triangles))
    random = np.random.default_rng(0)
    places = (np.arange(_SPREAD) + random.random(_SPREAD)) / _SPREAD * area.sum()
    chosen = np.minimum(np.searchsorted(np.cumsum(area), places), len(area) - 1)
    u, v = random.random((2, _SPREAD))
    u, v = np.where(u + v > 1, 1 - u, u), np.where(u + v > 1, 1 - v, v)
    shares = np.stack([1 - u - v, u, v], axis=1)
    corners = triangles[chosen]

    def carried(array: NumpyArray) -> NumpyArray:
        return np.einsum("nk,nk...->n...", shares, array[corners])

    return carried(points), {name: carried(array) for name, array in values.items()}


def _main_piece(points: NumpyArray, up_hint: NumpyArray | None) -> tuple[NumpyArray, int]:
    """Indices of the points of the largest piece and of those that lie by it, and how many pieces
    are left out. A hand that a hole has cut off belongs to the body; a chair does not."""
    from scipy.spatial import KDTree

    from corporeal.registration.pieces import piece_labels

    extent = float((np.percentile(points, 99, axis=0) - np.percentile(points, 1, axis=0)).max())
    (cells,) = cell_means(points, 0.5 * _LINK * extent)
    labels = piece_labels(cells, _LINK * extent)
    counts = np.bincount(labels)
    order = np.argsort(-counts)
    if len(order) > 1:
        _require_one_person(cells, labels, order[:2], up_hint)
    main = KDTree(cells[labels == order[0]])
    kept = [order[0]]
    for label in order[1:]:
        share = counts[label] / counts[order[0]]
        if share >= _PIECE:
            away = float(main.query(cells[labels == label])[0].min())
            reach = _CUT_OFF if _LIMB_END[0] <= share <= _LIMB_END[1] else _BESIDE
            if away < reach * extent:
                kept.append(label)
    near = KDTree(cells).query(points)[1]
    return np.flatnonzero(np.isin(labels[near], kept)), len(order) - len(kept)


def _require_one_person(
    cells: NumpyArray, labels: NumpyArray, largest: NumpyArray, up_hint: NumpyArray | None
) -> None:
    """Refuse two pieces of like size that stand side by side."""
    first, second = (cells[labels == label] for label in largest)
    if len(second) < 0.4 * len(first):
        return
    axes = np.eye(3) if up_hint is None else np.vstack([up_hint, np.eye(3)])
    for axis in axes:
        spans = [(float((p @ axis).min()), float((p @ axis).max())) for p in (first, second)]
        tall = [high - low for low, high in spans]
        shared = min(s[1] for s in spans) - max(s[0] for s in spans)
        sizes = [float(np.ptp(p, axis=0).max()) for p in (first, second)]
        if shared > 0.6 * max(tall) and min(tall) > 0.7 * max(sizes):
            raise InputError(
                "the scan shows two bodies, or two other things of one size, side by side; "
                "expected one person. Of two people, cut it in two, and register each."
            )


def _unit(points: NumpyArray, unit: str) -> tuple[float, str]:
    """Metres of the unit, and a remark."""
    extent = float((np.percentile(points, 99.8, axis=0) - np.percentile(points, 0.2, axis=0)).max())
    if unit != "auto":
        if unit not in UNITS_M:
            raise InputError(f"unit {unit!r} is not known; expected {', '.join(UNITS_M)} or auto.")
        length = UNITS_M[unit]
        if not 0.5 * SIZES_M[0] <= length * extent <= 1.3 * SIZES_M[1]:
            raise InputError(
                f"the scan is {length * extent:.3g} m large if its unit is {unit}; expected a "
                f"person's {SIZES_M[0]} to {SIZES_M[1]} m. Leave --unit out to have it found."
            )
        return length, f"its unit is {unit}, as was said."
    fits = [name for name, m in UNITS_M.items() if SIZES_M[0] <= m * extent <= SIZES_M[1]]
    if not fits:
        raise InputError(
            f"the scan is {extent:.4g} units large; a person's {SIZES_M[0]} to {SIZES_M[1]} m "
            f"would be that in none of {', '.join(UNITS_M)}. Scale it, or give --unit."
        )
    # of cm and inches, which overlap, the one that makes the person of more usual size
    name = min(fits, key=lambda n: abs(np.log(UNITS_M[n] * extent / 1.72)))
    return UNITS_M[name], f"its unit is {name}: it is {UNITS_M[name] * extent:.2f} m large."


def _normals(points: NumpyArray, given: NumpyArray | None) -> NumpyArray:
    """Outward normals; given ones keep their directions."""
    known = given is not None and (np.linalg.norm(given, axis=1) > 1e-9).mean() > 0.9
    return outward_normals(points, given if known else None)
