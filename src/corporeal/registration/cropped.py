"""Starts for scans that end above the legs: busts, and bodies cut off at the waist.

The starts of `starts` stand on the scan's floor and are as tall as it; half a body is then laid
onto the whole. Here a person of usual size hangs from the scan's top instead, arms in every kind of
pose, in all headings; what of it lies below the scan's end does not count, and while such a start
is fitted no vertex looks for points, since those that the scan lacks would find its ends.
"""

import numpy as np

from corporeal._typing import Float32, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.model_stage import (
    COARSE,
    MIDDLE,
    NORMAL_REACH,
    ModelFit,
    as_it_lies,
    fit_model,
)
from corporeal.registration.person_model import PersonModel, PersonState
from corporeal.registration.scan_surface import ScanSurface
from corporeal.registration.starts import HEADINGS, coarse_model, kinds_of_pose, placed_state

_POINTS = 500
_FITTED = 6
"""Starts that are fitted coarsely."""
_KEPT = 2
_STANCE = "standing, "
_BELOW = 0.03
"""Metres below the scan's lowest point down to which vertices count."""
_FAR = 0.3
"""Metres that a far point counts for."""
_BETTER = 0.8
"""Energy of a cropped start over a whole one's, at most, for it to be believed."""


def cropped_starts(model: PersonModel, surface: ScanSurface) -> list[ModelFit]:
    """The likeliest states of a body of which the scan (metres, y up) shows the upper part, the
    best first; their energies are those of `lying`."""
    coarse = coarse_model(model)
    scan = surface.some(_POINTS, 1)
    fits = [fit_model(coarse, scan, start, _ONE_WAY[:2]) for start in _compared(coarse, scan)]
    fits.sort(key=lambda fit: fit.energy)
    few = surface.some(900, 2)
    return sorted(
        (fit_model(coarse, few, fit.state, _ONE_WAY[2:]) for fit in fits[:_KEPT]),
        key=lambda fit: fit.energy,
    )


def better_cropped(model: PersonModel, surface: ScanSurface, whole: ModelFit) -> list[ModelFit]:
    """Cropped starts, where the scan's points lie clearly better on them than on another start,
    with the energy that `lying` gives it; none otherwise."""
    found = cropped_starts(model, surface)
    return found if found[0].energy < _BETTER * whole.energy else []


def lying(model: PersonModel, surface: ScanSurface, fit: ModelFit) -> ModelFit:
    """A start with the energy of the scan's points alone."""
    return as_it_lies(coarse_model(model), surface, fit.state, _ONE_WAY[-1])


_ONE_WAY = tuple(stage._replace(back=0.0) for stage in (*COARSE, *MIDDLE))


def _compared(model: PersonModel, scan: ScanSurface) -> list[PersonState]:
    """All kinds of arms and headings, hung from the scan's top, the nearest first."""
    low, high = np.percentile(scan.points[:, 1], [0.5, 99.5])
    middle = np.median(scan.points, axis=0)
    theirs = np.hstack([scan.points, NORMAL_REACH * scan.normals]).astype(np.float32)
    turns = 2.0 * np.pi * np.arange(HEADINGS)[:, None] / HEADINGS * [0.0, 1.0, 0.0]
    tried = []
    for name, vectors in kinds_of_pose(model).items():
        if not name.startswith(_STANCE):
            continue
        pose = RotationPose(matrix_from_axis_angle(vectors), np.zeros(3))
        state = PersonState(model.start().shape, pose)
        posed = model.posed(state, corrected=False)
        hung = posed.vertices + np.array([0.0, high - posed.vertices[:, 1].max(), 0.0])
        shown = hung[:, 1] > low - _BELOW
        bottom = float(posed.vertices[:, 1].max() - high)
        for heading in matrix_from_axis_angle(turns):
            skin = hung[shown] @ heading.T
            shift = (middle - np.median(skin, axis=0)) * [1.0, 0.0, 1.0]
            normals = NORMAL_REACH * posed.normals[shown] @ heading.T
            mine = np.hstack([skin + shift, normals]).astype(np.float32)
            placed = placed_state(model, state, heading, shift, 1.0, bottom)
            tried.append((_apart(mine, theirs), placed))
    tried.sort(key=lambda one: one[0])
    return [state for _, state in tried[:_FITTED]]


def _apart(mine: Float32[NumpyArray, "v 6"], theirs: Float32[NumpyArray, "n 6"]) -> float:
    """Mean distances both ways, metres."""
    squares = np.sum(mine**2, axis=1)[:, None] - 2.0 * mine @ theirs.T + np.sum(theirs**2, axis=1)
    away = np.sqrt(np.maximum(squares, 0.0))
    both = (np.minimum(away.min(axis=axis), _FAR).mean() for axis in (0, 1))
    return float(sum(both))
