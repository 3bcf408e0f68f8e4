"""Arms that hang beside a wide body, not in it."""

from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.motions.retarget.name_maps import SIDES
from corporeal.motions.timing import smooth_step
from corporeal.skinning.kinematics import descendants

_TRUNK: Final = ("pelvis", "spine1", "spine2", "spine3", "left_hip", "right_hip")
_ARMPIT: Final = 0.25
"""Share of the arm below the shoulder where flesh belongs to the armpit."""
_HANGING: Final = (0.3, 0.8)
"""Cosine between the upper arm and the downward axis of the chest: from none to all of the turn."""


def arm_clearance(template: Template, identity: Identity) -> float:
    """How much farther from straight down this person's arms hang than the average adult's.

    An arm that touches the widest part of the flank hangs at atan((w − x) / (y_shoulder − y)), with
    the half width w of the trunk at height y and the shoulder at x. Radians, ≥ 0; 0 where no flesh
    is beside the arms.
    """
    rest = np.asarray(template.skeleton.joints, np.float64)
    average = _hanging_angle(template, np.asarray(template.mesh.vertices, np.float64), rest)
    joints = np.asarray(identity.joints, np.float64)
    own = _hanging_angle(template, np.asarray(identity.rest_vertices, np.float64), joints)
    return 0.0 if own is None or average is None else max(0.0, own - average)


def abducted(
    frames: Float[NumpyArray, "N J 3 3"], skeleton: Skeleton, angle: float
) -> Float[NumpyArray, "N J 3 3"]:
    """World rotations with both arms turned outwards in the chest's frame by up to `angle` radians.

    Arms that hang turn by all of it, arms held out or up not at all.
    """
    frames = frames.copy()
    chest = frames[:, skeleton.index("spine3")]
    for side, sign in zip(SIDES, (1.0, -1.0), strict=True):
        shoulder, elbow = (skeleton.index(f"{side}_{joint}") for joint in ("shoulder", "elbow"))
        rest = np.asarray(skeleton.joints, np.float64)
        bone = rest[elbow] - rest[shoulder]
        along = frames[:, shoulder] @ (bone / np.linalg.norm(bone))
        down = -np.einsum("ni,ni->n", along, chest[:, :, 1])
        share = smooth_step((down - _HANGING[0]) / (_HANGING[1] - _HANGING[0]))
        turn = matrix_from_axis_angle((sign * angle * share)[:, None] * chest[:, :, 2])
        for joint in np.flatnonzero(descendants(skeleton.parents)[:, shoulder]):
            frames[:, joint] = turn @ frames[:, joint]
    return frames


def _hanging_angle(
    template: Template, vertices: Float[NumpyArray, "V 3"], joints: Float[NumpyArray, "J 3"]
) -> float | None:
    """Radians from straight down; None where no vertex of the trunk is beside the arm."""
    skeleton, weights = template.skeleton, template.weights
    strongest = np.take_along_axis(
        weights.joint_indices, weights.values.argmax(axis=1)[:, None], axis=1
    )[:, 0]
    trunk = vertices[np.isin(strongest, [skeleton.index(name) for name in _TRUNK])]
    shoulder, wrist = (joints[skeleton.index(f"left_{joint}")] for joint in ("shoulder", "wrist"))
    below = shoulder[1] - trunk[:, 1]
    arm = float(np.linalg.norm(wrist - shoulder))
    beside = (below > _ARMPIT * arm) & (below < arm)
    if not beside.any():
        return None
    return float(np.arctan2(trunk[beside, 0] - shoulder[0], below[beside]).max())
