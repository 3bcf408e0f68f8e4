"""Forearms and shins that a scan does not show, put where joints usually are.

Nothing holds a limb without points, and on the way to the body that fits best it bends to what
lies near: a forearm that was cut off came to lie on the belly, its hand fitted to the navel. Where
hardly any point is a limb's end's own, its joints go back to the middle of the prior of poses, and
no hand is looked for there.
"""

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.model_stage import nearest
from corporeal.registration.person_model import PersonModel, PersonState
from corporeal.registration.pose_prior import pose_prior
from corporeal.registration.scan_surface import ScanSurface

ENDS = {
    "arm": (("forearm", "hand"), ("elbow", "wrist", "thumb", "index", "middle", "ring", "pinky")),
    "leg": (("shin", "foot"), ("knee", "ankle", "foot")),
}
"""Parts of a limb's end, and the joints that move it, without their sides."""
_POINTS = 8000
_NEAR = 0.02
"""Metres within which a point of the scan is a vertex's own."""
_LEAST = (0.15, 0.6)
"""Shares of the vertices of an end's two parts that have points of their own, below which it is
unseen: hands that went astray find some, hands behind a hole of the forearm nearly all."""


def unseen_ends(
    model: PersonModel, surface: ScanSurface, state: PersonState
) -> tuple[tuple[str, str], ...]:
    """Sides and limbs (`ENDS`) of which the scan shows next to nothing below elbow or knee."""
    posed, some = model.posed(state), surface.some(_POINTS, 5)
    owners = nearest(some.points, some.normals, posed.vertices, posed.normals)
    near = np.linalg.norm(posed.vertices[owners] - some.points, axis=1) < _NEAR
    labels = np.array(model.template.part_names)[np.asarray(model.template.part_labels)]
    found = []
    for limb, (parts, _) in ENDS.items():
        for side in ("left", "right"):
            ends = [labels == f"{side}_{part}" for part in parts]
            shown = [_shown(posed.vertices[of], some.points[near & of[owners]]) for of in ends]
            if all(share < least for share, least in zip(shown, _LEAST, strict=True)):
                found.append((side, limb))
    return tuple(found)


def lacks_legs(ends: tuple[tuple[str, str], ...]) -> bool:
    """Whether both legs are among a scan's unseen ends."""
    return ("left", "leg") in ends and ("right", "leg") in ends


def _shown(vertices: NumpyArray, points: NumpyArray) -> float:
    """Share of vertices that have one of their end's points near them."""
    from scipy.spatial import KDTree

    if not len(points):
        return 0.0
    return float((KDTree(points).query(vertices)[0] < _NEAR).mean())


def with_usual_ends(
    model: PersonModel, state: PersonState, ends: tuple[tuple[str, str], ...]
) -> PersonState:
    """The state with these limbs' ends as the prior of poses has them."""
    names = model.template.skeleton.names
    likely = matrix_from_axis_angle(pose_prior(names).mean)
    rotations = state.pose.rotations.copy()
    for side, limb in ends:
        for joint, name in enumerate(names):
            if name.startswith(tuple(f"{side}_{stem}" for stem in ENDS[limb][1])):
                rotations[joint] = likely[joint]
    return PersonState(state.shape, RotationPose(rotations, state.pose.translation))
