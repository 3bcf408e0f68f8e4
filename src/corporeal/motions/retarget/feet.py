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
_HALF_WIDTH: Final = 0.04
"""Half the width of a foot without skin, metres."""


@dataclass(frozen=True)
class Foot:
    """Rest geometry of one leg and foot; vectors in metres, rest axes, sole on y = 0."""

    hip: int
    """Joint index."""
    knee: int
    """Joint index."""
    ankle: int
    """Joint index."""
    ball: int
    """Joint indices; the ball is the joint at the base of the toes."""
    thigh: Float[NumpyArray, "3"]
    """From the hip to the knee."""
    shank: Float[NumpyArray, "3"]
    """From the knee to the ankle."""
    to_ball_joint: Float[NumpyArray, "3"]
    """From the ankle to the joint at the base of the toes."""
    ball_height: float
    """Height of that joint with the sole flat."""
    to_heel: Float[NumpyArray, "3"]
    """From the ankle to the rearmost point of the sole."""
    to_ball: Float[NumpyArray, "3"]
    """From the ankle to the sole under the ball."""
    rear: Float[NumpyArray, "n 3"]
    """Outermost points of what moves with the ankle, from the ankle."""
    front: Float[NumpyArray, "m 3"]
    """Outermost points of the toes, from the ball joint."""

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
        ankle, ball = (rest.index(f"{side}_{name}") for name in ("ankle", "foot"))
        skin = (vertices[strongest == ankle], vertices[strongest == ball])
        feet.append(_foot(skeleton, side, skin if all(map(len, skin)) else None))
    return feet[0], feet[1]


def _foot(
    skeleton: Skeleton,
    side: str,
    skin: tuple[Float[NumpyArray, "n 3"], Float[NumpyArray, "m 3"]] | None,
) -> Foot:
    """One foot; `skin` is what moves with the ankle, and the toes."""
    names = [f"{side}_{name}" for name in ("hip", "knee", "ankle", "foot")]
    indices = [skeleton.index(name) for name in names]
    hip, knee, ankle, ball = np.asarray(skeleton.joints, np.float64)[indices]
    forward = (ball - ankle) * np.array([1.0, 0.0, 1.0])
    length = float(np.linalg.norm(forward))
    forward = forward / length
    if skin is None:
        skin = _box(ankle, forward, -0.4 * length, length), _box(ball, forward, 0.0, 0.5 * length)
    sole = skin[0][skin[0][:, 1] < _SOLE_HEIGHT]
    behind = float(((sole - ankle) @ forward).min()) if len(sole) else -0.4 * length
    down = np.array([0.0, 1.0, 0.0])
    return Foot(
        *indices,
        thigh=knee - hip,
        shank=ankle - knee,
        to_ball_joint=ball - ankle,
        ball_height=float(ball[1]),
        to_heel=behind * forward - ankle[1] * down,
        to_ball=length * forward - ankle[1] * down,
        rear=_outermost(skin[0]) - ankle,
        front=_outermost(skin[1]) - ball,
    )


def _box(
    joint: Float[NumpyArray, "3"], forward: Float[NumpyArray, "3"], behind: float, ahead: float
) -> Float[NumpyArray, "n 3"]:
    """Sole corners under a joint, for a foot without skin."""
    across = _HALF_WIDTH * np.cross([0.0, 1.0, 0.0], forward)
    ground = joint * np.array([1.0, 0.0, 1.0])
    return np.stack(
        [ground + way * forward + side * across for way in (behind, ahead) for side in (-1.0, 1.0)]
    )


def _outermost(points: Float[NumpyArray, "n 3"]) -> Float[NumpyArray, "m 3"]:
    """The points that are farthest in one of 200 directions spread evenly over the sphere."""
    count = 200
    height = (2 * np.arange(count) + 1) / count - 1
    turn = np.arange(count) * np.pi * (3.0 - np.sqrt(5.0))
    ring = np.sqrt(1 - height**2)
    directions = np.stack([ring * np.cos(turn), height, ring * np.sin(turn)], axis=1)
    return points[np.unique((points @ directions.T).argmax(axis=0))]
