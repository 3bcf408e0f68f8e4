"""How far one moving skin is from another: by region, in volume, inside itself, and in its swing.

The swing of a take is what it does beyond its quasi-static twin; that of a deformer is what it does
beyond itself without dynamics. So models whose static skins differ are compared by their dynamics
alone.
"""

from collections.abc import Mapping

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.evaluation.dynamics import SignalMatch, signal_match
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.evaluation.union_volume import union_volume

DEEP = 1e-3
"""Metres inside skin from which a vertex counts as having entered it."""
RAYS = 4e-3
"""Metres between rays that measure volumes."""


def distances(
    found: Float[NumpyArray, "N V 3"],
    true: Float[NumpyArray, "N V 3"],
    regions: Mapping[str, Bool[NumpyArray, "V"]],
) -> dict[str, float]:
    """Mean distance of vertices over frames, metres: `all`, and every region; and `p99`, which one
    vertex in a hundred exceeds."""
    apart = np.linalg.norm(found - true, axis=-1)
    parts = {name: float(apart[:, some].mean()) for name, some in regions.items()}
    return {"all": float(apart.mean()), "p99": float(np.percentile(apart, 99.0)), **parts}


def swing_left(
    swing: Float[NumpyArray, "N V 3"] | None,
    true: Float[NumpyArray, "N V 3"],
    regions: Mapping[str, Bool[NumpyArray, "V"]],
) -> dict[str, float]:
    """What is left of a true swing without the found one, metres: root mean square over vertices,
    mean over frames; `all`, and every region. Nothing was found if it is None."""
    left = true if swing is None else true - swing
    squares = np.sum(left**2, axis=-1)
    everything = np.ones(squares.shape[1], bool)
    return {
        name: float(np.sqrt(squares[:, some].mean(axis=1)).mean())
        for name, some in {"all": everything, **regions}.items()
    }


def vertical_match(
    swing: Float[NumpyArray, "N V 3"], true: Float[NumpyArray, "N V 3"], some: Bool[NumpyArray, "V"]
) -> SignalMatch:
    """How alike the ups and downs of a region's mean are, found and true."""
    up, wanted = (np.asarray(s[:, some, 1], np.float64).mean(axis=1) for s in (swing, true))
    return signal_match(wanted, up)


def volumes(
    skins: Float[NumpyArray, "N V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Float[NumpyArray, "N"]:
    """Of what lies inside every skin, overlaps counted once, m³."""
    return np.array([union_volume(skin, triangles, RAYS) for skin in skins])


def entered(
    meter: PenetrationMeter, skins: Float[NumpyArray, "N V 3"]
) -> tuple[Float[NumpyArray, "N"], Int[NumpyArray, "N"]]:
    """Deepest vertex of every skin inside itself, metres, and how many are deeper than `DEEP`."""
    depths = [meter.depths(np.asarray(skin, np.float64)) for skin in skins]
    deepest = np.array([d.max(initial=0.0) for d in depths])
    return deepest, np.array([int((d > DEEP).sum()) for d in depths])
