"""What a fitted body shows to be no part of it: a stool's leg under a person, a bag, a chair's arm.

Points further from the model than clothes and hair stand out are looked at by connected piece;
pieces of some size are left out before the skin is drawn onto the scan.
"""

from dataclasses import replace

import numpy as np

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.registration.coupled_stage import matches
from corporeal.registration.model_stage import ModelFit
from corporeal.registration.person_model import PersonModel
from corporeal.registration.pieces import piece_labels
from corporeal.registration.scan_surface import ScanSurface

_OFF = 0.06
"""Metres from the model beyond which points are no skin, hair or cloth."""
_ROOT = 0.015
"""A thing is left out down to this distance from the model, metres."""
_LINK = 0.05
"""Metres between points of one thing."""
_LEAST = 0.004
"""Share of all points that a thing has at least; less are outliers."""
_MOST = 0.5
"""Share of all points that may be left out."""


def without_other_things(
    model: PersonModel,
    surface: ScanSurface,
    fit: ModelFit,
    known: Float64[NumpyArray, "t 3"],
) -> tuple[ScanSurface, float]:
    """The surface without what lies off the body in larger pieces or beside things that are known
    already (points, metres), and the share left out."""
    triangles = np.asarray(model.template.mesh.triangles)
    feet = matches(fit.posed.vertices, triangles, surface.points).feet
    things = _things(surface.points, np.linalg.norm(surface.points - feet, axis=1), known)
    share = float(things.mean())
    if share == 0.0 or share > _MOST:
        return surface, 0.0
    kept = ~things
    return (
        replace(
            surface,
            points=surface.points[kept],
            normals=surface.normals[kept],
            weights=surface.weights[kept],
            colours=None if surface.colours is None else surface.colours[kept],
        ),
        share,
    )


def _things(
    points: Float64[NumpyArray, "n 3"],
    away: Float64[NumpyArray, "n"],
    known: Float64[NumpyArray, "t 3"],
) -> Bool[NumpyArray, "n"]:
    """Points of larger pieces off the body, with their roots near it."""
    from scipy.spatial import KDTree

    off = np.flatnonzero(away > _OFF)
    found = np.zeros(len(points), bool)
    if len(off):
        labels = piece_labels(points[off], _LINK)
        large = np.bincount(labels) >= _LEAST * len(points)
        found[off[large[labels]]] = True
    seeds = np.concatenate([points[found], known])
    if len(seeds):
        near = np.flatnonzero((away > _ROOT) & ~found)
        reach = KDTree(seeds).query(points[near], distance_upper_bound=_LINK)[0]
        found[near[np.isfinite(reach)]] = True
    return found
