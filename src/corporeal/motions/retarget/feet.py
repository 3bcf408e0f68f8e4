"""The body's own feet: where the sole touches the ground."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.motions.retarget.name_maps import SIDES

_SOLE_HEIGHT: Final = 0.02
"""Skin below this height is sole, metres."""


@dataclass(frozen=True)
class Foot:
    """Rest geometry of one leg and foot; vectors in metres, rest axes, sole on y = 0."""

    hip: int
    knee: int
    ankle: int
    ball: int
    """Joint indices; the ball is the joint at the base of the toes."""
    thigh: Float[NumpyArray, "3"]
    shank: Float[NumpyArray, "3"]
    to_ball_joint: Float[NumpyArray, "3"]
    """From the ankle to the joint at the base of the toes."""
    to_heel: Float[NumpyArray, "3"]
    """From the ankle to the rearmost point of the sole."""
    to_ball: Float[NumpyArray, "3"]
    """From the ankle to the sole under the ball."""
    to_tip: Float[NumpyArray, "3"]
    """From the ball joint to the foremost point of the sole."""

    @property
    def leg_length(self) -> float:
        """Thigh and shank, metres."""
        return float(np.linalg.norm(self.thigh) + np.linalg.norm(self.shank))


def feet_of_skeleton(skeleton: Skeleton) -> tuple[Foot, Foot]:
    """Left and right foot of a skeleton that stands on y = 0.

    Heel and toe tip are guessed from the length of the foot; `feet_of_body` looks at the skin.
    """
    left, right = (_foot(skeleton, side, None) for side in SIDES)
    return left, right


def feet_of_body(template: Template, identity: Identity) -> tuple[Foot, Foot]:
    """Left and right foot of a person, with the sole as the skin has it."""
    rest = template.skeleton
    skeleton = Skeleton(rest.names, rest.parents, np.asarray(identity.joints, np.float64))
    vertices = np.asarray(identity.rest_vertices, np.float64)
    weights = template.weights
    strongest = np.take_along_axis(
        weights.joint_indices, weights.values.argmax(axis=1)[:, None], axis=1
    )[:, 0]
    feet = []
    for side in SIDES:
        joints = [rest.index(f"{side}_{name}") for name in ("ankle", "foot")]
        sole = vertices[np.isin(strongest, joints) & (vertices[:, 1] < _SOLE_HEIGHT)]
        feet.append(_foot(skeleton, side, sole if len(sole) else None))
    return feet[0], feet[1]


def _foot(skeleton: Skeleton, side: str, sole: Float[NumpyArray, "n 3"] | None) -> Foot:
    names = [f"{side}_{name}" for name in ("hip", "knee", "ankle", "foot")]
    indices = [skeleton.index(name) for name in names]
    hip, knee, ankle, ball = np.asarray(skeleton.joints, np.float64)[indices]
    forward = (ball - ankle) * np.array([1.0, 0.0, 1.0])
    length = float(np.linalg.norm(forward))
    forward = forward / length
    if sole is None:
        behind, ahead = -0.4 * length, 1.5 * length
    else:
        along = (sole - ankle) @ forward
        behind, ahead = float(along.min()), float(along.max())
    down = np.array([0.0, 1.0, 0.0])
    return Foot(
        *indices,
        thigh=knee - hip,
        shank=ankle - knee,
        to_ball_joint=ball - ankle,
        to_heel=behind * forward - ankle[1] * down,
        to_ball=length * forward - ankle[1] * down,
        to_tip=(ahead - length) * forward - ball[1] * down,
    )
