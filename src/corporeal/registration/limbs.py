"""Limbs begun anew: a knee bent where the scan's is straight is left by no small step.

The kinds of pose of `starts` hold both legs or both arms at once, so one limb of the best start may
be wrong while the rest is right. Each limb is therefore begun again from the kinds that it knows
and from the other side's pose, fitted alone (a limb's joints, the rest held), and kept where the
whole body then lies better on the scan.
"""

from collections.abc import Mapping

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.model_stage import ModelFit, ModelStage, as_it_lies, fit_model
from corporeal.registration.person_model import PersonModel, PersonState
from corporeal.registration.scan_surface import ScanSurface

CHAINS = {"arm": ("collar", "shoulder", "elbow", "wrist"), "leg": ("hip", "knee", "ankle")}
"""Joints of a limb, from the trunk outwards."""
LEGS_ALONE: Mapping[str, tuple[float, float, float, float]] = {
    # turn of the left hip about x, y and z, and bend of the knee, radians
    "straight": (0.0, 0.0, 0.0, 0.0),
    "aside": (0.0, 0.0, 0.3, 0.0),
    "forward": (-0.5, 0.0, 0.0, 0.2),
    "back": (0.35, 0.0, 0.0, 0.6),
    "sitting": (-1.45, 0.0, 0.1, 1.45),
    "raised": (-1.2, 0.0, 0.1, 0.2),
}
"""Kinds of one leg."""
ARMS_ALONE: Mapping[str, tuple[float, float, float, float]] = {
    # turn of the left shoulder about x, y and z, and bend of the elbow, radians
    "aside": (0.0, 0.0, 0.0, 0.0),
    "half down": (0.0, 0.0, -0.6, 0.1),
    "down": (0.0, 0.0, -1.15, 0.3),
    "up": (0.0, 0.0, 1.0, 0.0),
    "forward": (0.0, -1.2, -0.2, 0.2),
    "akimbo": (0.0, 0.3, -0.8, 1.4),
    "bent": (0.0, -0.2, -1.0, 1.3),
    "hand up": (0.3, 0.0, -0.4, 2.0),
}
"""Kinds of one arm."""
_BETTER = 0.97
"""Energy of a limb begun anew over the first's, at most, for it to be kept."""
_FITTED = 2
"""Kinds that are fitted, the nearest first."""
_STAGES = ((3, 0.12, 0.5), (4, 0.08, 0.3))
"""Steps, σ in metres, κ."""


def with_best_limbs(model: PersonModel, surface: ScanSurface, fit: ModelFit) -> ModelFit:
    """The fit with every limb in the kind of pose that lies best on the scan.

    Its energy is that of the last stage here, comparable among fits that went through this.
    """
    best = as_it_lies(model, surface, fit.state, _stages(surface, ())[-1])
    for kind in CHAINS:
        for side in ("left", "right"):
            best = _best_limb(model, surface, best, side, kind)
    return best


def _best_limb(
    model: PersonModel, surface: ScanSurface, fit: ModelFit, side: str, kind: str
) -> ModelFit:
    names = model.template.skeleton.names
    joints = tuple(names.index(f"{side}_{joint}") for joint in CHAINS[kind])
    stages = _stages(surface, joints)
    begun = _begun(names, fit.state, side, kind)
    tried = [as_it_lies(model, surface, state, stages[0]) for state in begun]
    tried.sort(key=lambda found: found.energy)
    found = [fit_model(model, surface, other.state, stages) for other in tried[:_FITTED]]
    best = min(found, key=lambda other: other.energy)
    return best if best.energy < _BETTER * fit.energy else fit


def _stages(surface: ScanSurface, joints: tuple[int, ...]) -> tuple[ModelStage, ...]:
    """Stages in which these joints alone may turn."""
    points = len(surface.points)
    return tuple(
        ModelStage(steps, sigma, slide, 0, points, joints=joints) for steps, sigma, slide in _STAGES
    )


def _begun(names: tuple[str, ...], state: PersonState, side: str, kind: str) -> list[PersonState]:
    """The state with one limb in every kind of pose, and as the other side has it."""
    mirror = 1.0 if side == "left" else -1.0
    first, second = CHAINS[kind][-3:-1] if kind == "arm" else CHAINS[kind][:2]
    axis = np.array([1.0, 0.0, 0.0]) if kind == "leg" else np.array([0.0, -mirror, 0.0])
    found = []
    for x, y, z, bend in (LEGS_ALONE if kind == "leg" else ARMS_ALONE).values():
        rotations = state.pose.rotations.copy()
        for joint in CHAINS[kind]:
            rotations[names.index(f"{side}_{joint}")] = np.eye(3)
        turn = np.array([x, mirror * y, mirror * z])
        rotations[names.index(f"{side}_{first}")] = matrix_from_axis_angle(turn)
        rotations[names.index(f"{side}_{second}")] = matrix_from_axis_angle(bend * axis)
        found.append(_with(state, rotations))
    return [*found, _with(state, _mirrored(names, state.pose.rotations, side, kind))]


def _mirrored(
    names: tuple[str, ...], rotations: Float64[NumpyArray, "J 3 3"], side: str, kind: str
) -> Float64[NumpyArray, "J 3 3"]:
    """Rotations with one limb as the mirror image of the other side's."""
    flip = np.diag([-1.0, 1.0, 1.0])
    turned, other = rotations.copy(), "right" if side == "left" else "left"
    for joint in CHAINS[kind]:
        turned[names.index(f"{side}_{joint}")] = (
            flip @ rotations[names.index(f"{other}_{joint}")] @ flip
        )
    return turned


def _with(state: PersonState, rotations: Float64[NumpyArray, "J 3 3"]) -> PersonState:
    return PersonState(state.shape, RotationPose(rotations, state.pose.translation))
