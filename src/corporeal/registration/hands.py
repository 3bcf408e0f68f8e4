"""Which finger is which: every hand tried at several twists of the forearm.

A hand one finger off lies nearly as well as one that is right, and no small step leads from one to
the other. So each hand is begun anew from twists about the forearm, fitted alone (elbow, wrist,
fingers) to the points near it, and the best is kept.
"""

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.model_stage import ModelStage, fit_model
from corporeal.registration.person_model import PersonModel, PersonState
from corporeal.registration.scan_surface import ScanSurface

TWISTS = (-1.5, -0.75, 0.0, 0.75, 1.5)
"""Radians about the forearm that hands are begun from, fingers straight."""
_REACH = 0.24
"""Metres about the wrist within which points belong to the hand."""
_LEAST = 60
"""Fewer points tell nothing of a hand."""
_BETTER = 0.93
"""Energy of another twist over the first's, at most, for it to be taken."""
_VERTICES = 700
_PRIOR = 1.0
"""Factor on the pose's prior."""
_AT_ELBOW = 0.6
"""Share of a twist that the elbow takes: forearms twist along their whole length."""


def with_best_hands(
    model: PersonModel,
    surface: ScanSurface,
    state: PersonState,
    sides: tuple[str, ...] = ("left", "right"),
) -> PersonState:
    """The state with the hands of these sides at the twists that lie best on the scan."""
    for side in sides:
        state = _best_hand(model, surface, state, side)
    return state


def _best_hand(
    model: PersonModel, surface: ScanSurface, state: PersonState, side: str
) -> PersonState:
    names = model.template.skeleton.names
    wrist, elbow = names.index(f"{side}_wrist"), names.index(f"{side}_elbow")
    fingers = [j for j, name in enumerate(names) if j >= 22 and name.startswith(f"{side}_")]
    posed = model.posed(state)
    centre = posed.kinematics.centres[wrist]
    near = np.flatnonzero(np.linalg.norm(surface.points - centre, axis=1) < _REACH)
    if len(near) < _LEAST:
        return state
    hand = model.cut(_hand_vertices(model, side))
    some = ScanSurface(
        surface.points[near], surface.normals[near], surface.weights[near], surface.spacing
    ).some(900, 1)
    joints = (elbow, wrist, *fingers)
    stages = (
        ModelStage(4, 0.05, 0.3, 0, 900, True, 0.6, joints, _PRIOR),
        ModelStage(5, 0.02, 0.1, 0, 900, True, 0.6, joints, _PRIOR),
    )
    axis = _forearm(model, wrist, elbow)
    found = [fit_model(hand, some, state, stages)]
    for twist in TWISTS:
        rotations = state.pose.rotations.copy()
        rotations[fingers] = np.eye(3)
        turned = matrix_from_axis_angle(_AT_ELBOW * twist * axis)
        rotations[elbow] = rotations[elbow] @ turned
        rotations[wrist] = matrix_from_axis_angle((1.0 - _AT_ELBOW) * twist * axis)
        start = PersonState(state.shape, RotationPose(rotations, state.pose.translation))
        found.append(fit_model(hand, some, start, stages))
    best = min(found, key=lambda fit: fit.energy)
    return best.state if best.energy < _BETTER * found[0].energy else found[0].state


def _hand_vertices(model: PersonModel, side: str) -> NumpyArray:
    """Some of the vertices of the hand and of the forearm by it."""
    labels, names = np.asarray(model.template.part_labels), model.template.part_names
    hand = np.flatnonzero(labels == names.index(f"{side}_hand"))
    arm = np.flatnonzero(labels == names.index(f"{side}_forearm"))
    wrist = model.space.mean_joints[model.template.skeleton.index(f"{side}_wrist")]
    beside = arm[np.linalg.norm(model.space.mean_vertices[arm] - wrist, axis=1) < 0.12]
    kept = np.concatenate([hand, beside])
    return kept[:: max(1, len(kept) // _VERTICES)]


def _forearm(model: PersonModel, wrist: int, elbow: int) -> NumpyArray:
    """Unit vector along the forearm at rest."""
    way = model.space.mean_joints[wrist] - model.space.mean_joints[elbow]
    return way / np.linalg.norm(way)
