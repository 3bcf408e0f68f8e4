"""Where a fit begins when nobody says where the body is: many headings and kinds of pose, compared.

The mean person is posed in a few dozen kinds of pose (legs × arms), set onto the scan's floor in
sixteen headings and scaled to its height; a cloud of some hundred points tells how well each lies
on the scan. The best are fitted coarsely, the best of these again, each also turned half round with
its limbs' poses carried over, since a body seen from behind is much like one from in front: feet,
hands and face decide, and joints that would bend the wrong way.
"""

from dataclasses import dataclass, replace
from functools import cache
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float32, Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.limbs import with_best_limbs
from corporeal.registration.model_stage import COARSE, MIDDLE, NORMAL_REACH, ModelFit, fit_model
from corporeal.registration.person_model import PersonModel, PersonState
from corporeal.registration.scan_surface import ScanSurface, spread_subset

HEADINGS = 16
"""Directions that are tried."""
_VERTICES = 450
_POINTS = 500
_FEW = 3
"""One of so many vertices, and of points, ranks all starts."""
_JUDGED = 200
"""Starts that are then ranked by all of them."""
_FITTED = 12
"""Starts that are fitted coarsely."""
_KEPT = 4
"""Starts that are fitted further."""
_DOUBTFUL = 0.21
"""Energy of the best above which limbs are begun anew; whole scans of people lie below."""
_HOPELESS = 0.4
"""Energy above which no limb would help: not a person, or another axis is up."""

LEGS: dict[str, dict[str, tuple[float, float, float]]] = {
    "standing": {},
    "apart": {"left_hip": (0.0, 0.0, 0.25), "right_hip": (0.0, 0.0, -0.25)},
    "left step": {
        "left_hip": (-0.45, 0.0, 0.0),
        "right_hip": (0.3, 0.0, 0.0),
        "left_knee": (0.2, 0.0, 0.0),
        "right_knee": (0.6, 0.0, 0.0),
    },
    "right step": {
        "right_hip": (-0.45, 0.0, 0.0),
        "left_hip": (0.3, 0.0, 0.0),
        "right_knee": (0.2, 0.0, 0.0),
        "left_knee": (0.6, 0.0, 0.0),
    },
    "sitting": {
        "left_hip": (-1.45, 0.0, 0.1),
        "right_hip": (-1.45, 0.0, -0.1),
        "left_knee": (1.45, 0.0, 0.0),
        "right_knee": (1.45, 0.0, 0.0),
    },
    "squatting": {
        "left_hip": (-1.0, 0.0, 0.15),
        "right_hip": (-1.0, 0.0, -0.15),
        "left_knee": (1.2, 0.0, 0.0),
        "right_knee": (1.2, 0.0, 0.0),
        "left_ankle": (-0.3, 0.0, 0.0),
        "right_ankle": (-0.3, 0.0, 0.0),
        "spine1": (0.2, 0.0, 0.0),
    },
}
"""Kinds of stance, rotation vectors by joint, radians."""
ARMS: dict[str, tuple[tuple[float, float, float], float]] = {
    "T": ((0.0, 0.0, 0.0), 0.0),
    "A": ((0.0, 0.0, -0.6), 0.1),
    "down": ((0.0, 0.0, -1.15), 0.3),
    "up": ((0.0, 0.0, 1.0), 0.0),
    "forward": ((0.0, -1.2, -0.2), 0.2),
    "bent": ((0.0, -0.2, -1.0), 1.3),
}
"""Kinds of arms: the left shoulder's rotation vector and the elbow's bend, radians."""
_SIDED = ("up", "forward", "bent")
"""Arms that are also tried on one side alone, the other hanging."""


@dataclass(frozen=True, eq=False)
class Start:
    """A state that a fit may begin from."""

    state: PersonState
    """Shape and pose."""
    score: float
    """Mean distances both ways, metres; the less the better."""
    heading: int
    """Number of the heading."""


@cache
def coarse_model(model: PersonModel) -> PersonModel:
    """The model cut down to some hundred vertices, spread evenly; made once."""
    return model.cut(spread_subset(model.space.mean_vertices, _VERTICES, 3))


def kinds_of_pose(model: PersonModel) -> dict[str, Float64[NumpyArray, "J 3"]]:
    """Rotation vectors of all joints in every kind of pose, by name."""
    names = model.template.skeleton.names
    found: dict[str, Float64[NumpyArray, "J 3"]] = {}
    pairs = [(kind, kind) for kind in ARMS]
    pairs += [(kind, "down") for kind in _SIDED] + [("down", kind) for kind in _SIDED]
    for stance, turns in LEGS.items():
        for left, right in pairs:
            if left != right and stance not in ("standing", "apart"):
                continue
            vectors = np.zeros((len(names), 3))
            for name, turn in turns.items():
                vectors[names.index(name)] = turn
            for side, kind, mirror in (("left", left, 1.0), ("right", right, -1.0)):
                shoulder, bend = ARMS[kind]
                turn = np.array(shoulder) * (1.0, mirror, mirror)
                vectors[names.index(f"{side}_shoulder")] = turn
                vectors[names.index(f"{side}_elbow")] = (0.0, -mirror * bend, 0.0)
            found[f"{stance}, {left} {right}"] = vectors
    return found


def best_starts(model: PersonModel, surface: ScanSurface, keep: int = 2) -> list[ModelFit]:
    """The likeliest states of a body on a scan (metres, y up), the best first; fitted on a coarse
    skin."""
    return fitted_starts(model, surface, compared_starts(model, surface), keep)


def compared_starts(model: PersonModel, surface: ScanSurface) -> list[Start]:
    """All kinds of pose and headings, set onto a scan, the nearest first; nothing is fitted."""
    return _compared(coarse_model(model), surface.some(_POINTS, 1))


def fitted_starts(
    model: PersonModel, surface: ScanSurface, starts: list[Start], keep: int = 2
) -> list[ModelFit]:
    """The best of compared starts, fitted coarsely, the best of these further; the best first."""
    coarse = coarse_model(model)
    scan = surface.some(_POINTS, 1)
    fits = [fit_model(coarse, scan, start.state, COARSE) for start in starts[:_FITTED]]
    fits.sort(key=lambda fit: fit.energy)
    fits = _distinct(fits)[:_KEPT]
    again = [fit_model(coarse, surface.some(900, 2), fit.state, MIDDLE) for fit in fits]
    turned = [_turned_round(coarse, fit.state) for fit in fits[:2]]
    again += [
        fit_model(coarse, surface.some(900, 2), state, (*COARSE[1:], *MIDDLE)) for state in turned
    ]
    again.sort(key=lambda fit: fit.energy)
    found = _distinct(again)[:keep]
    if _DOUBTFUL < found[0].energy < _HOPELESS:
        few = surface.some(900, 2)
        found = [with_best_limbs(coarse, few, fit) for fit in found]
        found = [fit_model(coarse, few, fit.state, MIDDLE[1:]) for fit in found]
        found.sort(key=lambda fit: fit.energy)
    return found


def _compared(model: PersonModel, scan: ScanSurface) -> list[Start]:
    """All kinds and headings, the nearest first: all by few points, the best of them by all."""
    low, high = np.percentile(scan.points[:, 1], [0.5, 99.5])
    middle = np.median(scan.points, axis=0)
    theirs = np.hstack([scan.points, NORMAL_REACH * scan.normals]).astype(np.float32)
    turns = 2.0 * np.pi * np.arange(HEADINGS)[:, None] / HEADINGS * [0.0, 1.0, 0.0]
    headings = matrix_from_axis_angle(turns)
    tried: list[tuple[float, int, _Set]] = []
    for vectors in kinds_of_pose(model).values():
        state = replace(
            model.start(), pose=RotationPose(matrix_from_axis_angle(vectors), np.zeros(3))
        )
        posed = model.posed(state, corrected=False)
        bottom, top = posed.vertices[:, 1].min(), posed.vertices[:, 1].max()
        scale = float(np.clip((high - low) / (top - bottom), 0.82, 1.2))
        placed = scale * (posed.vertices - [0.0, bottom, 0.0]) @ np.swapaxes(headings, 1, 2)
        shifts = np.array([middle[0], low, middle[2]]) - np.median(placed, axis=1) * [1, 0, 1]
        normals = NORMAL_REACH * posed.normals @ np.swapaxes(headings, 1, 2)
        mine = np.concatenate([placed + shifts[:, None], normals], axis=2).astype(np.float32)
        begun = _Set(state, mine, shifts, scale, float(bottom))
        few = _chamfer(mine[:, ::_FEW], theirs[::_FEW])
        tried += [(float(score), turn, begun) for turn, score in enumerate(few)]
    tried.sort(key=lambda one: one[0])
    found = [
        Start(
            placed_state(
                model, begun.state, headings[turn], begun.shifts[turn], begun.scale, begun.low
            ),
            float(_chamfer(begun.skins[turn][None], theirs)[0]),
            turn,
        )
        for _, turn, begun in tried[:_JUDGED]
    ]
    return sorted(found, key=lambda start: start.score)


class _Set(NamedTuple):
    """One kind of pose, set onto the scan in all headings."""

    state: PersonState
    skins: Float32[NumpyArray, "h v 6"]
    shifts: Float64[NumpyArray, "h 3"]
    scale: float
    low: float


def _chamfer(mine: Float32[NumpyArray, "h v 6"], theirs: Float32[NumpyArray, "n 6"]) -> NumpyArray:
    """Mean distances both ways of every one of several skins, metres, far points counting as
    0.3."""
    squares = (mine.reshape(-1, 6) @ (-2.0 * theirs.T)).reshape(*mine.shape[:2], -1)
    squares += np.sum(mine**2, axis=2)[..., None]
    squares += np.sum(theirs**2, axis=1)
    there = np.sqrt(np.maximum(squares.min(axis=2), 0.0))
    back = np.sqrt(np.maximum(squares.min(axis=1), 0.0))
    return np.minimum(there, 0.3).mean(axis=1) + np.minimum(back, 0.3).mean(axis=1)


def placed_state(
    model: PersonModel,
    state: PersonState,
    rotation: NumpyArray,
    shift: NumpyArray,
    scale: float,
    bottom: float,
) -> PersonState:
    """The state of a mean person scaled, turned and set down; size becomes shape."""
    rotations = state.pose.rotations.copy()
    rotations[0] = rotation @ rotations[0]
    # x ↦ s R (x − bottom) + shift, about the pelvis at the origin
    translation = shift + scale * np.array([0.0, -bottom, 0.0])
    shape = np.zeros(model.space.count)
    few = model.space.vertex_shapes[:6].reshape(min(6, model.space.count), -1)
    wanted = (scale - 1.0) * model.space.mean_vertices.reshape(-1)
    gram = few @ few.T
    gram[np.diag_indices_from(gram)] += 0.02 * np.trace(gram) / len(gram)
    shape[: len(few)] = np.linalg.solve(gram, few @ wanted)
    return PersonState(shape, RotationPose(rotations, translation))


def _turned_round(model: PersonModel, state: PersonState) -> PersonState:
    """The mirror person's heading: half a turn about the vertical, left limbs for right ones."""
    half = matrix_from_axis_angle(np.array([0.0, np.pi, 0.0]))
    names = model.template.skeleton.names
    mirror = np.diag([-1.0, 1.0, 1.0])
    rotations = state.pose.rotations.copy()
    swapped = [_other_side(name, names) for name in names]
    relaxed = mirror @ rotations[swapped] @ mirror
    # what pointed forwards now must point back: only sideways turns are kept
    rotations[1:] = relaxed[1:]
    rotations[0] = half @ state.pose.rotations[0]
    return PersonState(state.shape, RotationPose(rotations, state.pose.translation))


def _other_side(name: str, names: tuple[str, ...]) -> int:
    if name.startswith("left_"):
        return names.index("right_" + name[5:])
    if name.startswith("right_"):
        return names.index("left_" + name[6:])
    return names.index(name)


def _distinct(fits: list[ModelFit]) -> list[ModelFit]:
    """Without those whose skin lies where that of a better one does."""
    kept: list[ModelFit] = []
    for fit in fits:
        near = (
            float(np.linalg.norm(fit.posed.vertices - other.posed.vertices, axis=1).mean())
            for other in kept
        )
        if all(distance > 0.04 for distance in near):
            kept.append(fit)
    return kept
