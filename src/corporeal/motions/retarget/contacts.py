"""When a foot is planted: slow, and near the ground.

`is_planted` is the definition by which sliding is judged: under 0.1 m/s and 5 cm. `detect_contacts`
decides which stretches are pinned, and pins a little more: a contact begins and ends where the foot
is faster than 0.3 m/s, or has strayed.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.motions.derivatives import world_frames
from corporeal.motions.retarget.name_maps import SIDES, NameMap
from corporeal.skinning.kinematics import forward_kinematics

PLANTED_SPEED: Final = 0.1
"""A planted foot is slower, m/s."""
PLANTED_HEIGHT: Final = 0.05
"""A planted foot is at most so far above where it stands flat, metres."""
_SEED_SPEED: Final = 0.15
"""A contact has at least one frame slower than this, m/s."""
_HOLD_SPEED: Final = 0.3
"""A contact lasts while the foot is slower than this, m/s: a runner's foot is never quite still."""
_STRAY: Final = 0.06
"""And while it is no farther than this from where it stands, metres."""
_SHORTEST_S: Final = 0.05
"""Gaps and contacts shorter than this are taken for noise, seconds."""
_GROUND_SHARE: Final = 0.2
"""The ground is this quantile of the heights of slow balls of the feet."""


@dataclass(frozen=True)
class FootContacts:
    """One foot's contacts, frame by frame."""

    heel: Bool[NumpyArray, "N"]
    """The ankle is planted: the heel stands."""
    ball: Bool[NumpyArray, "N"]
    """The joint at the base of the toes is planted."""
    upright: Bool[NumpyArray, "N"] | None = None
    """The sole looks down; None if that is not known, and taken for granted."""

    @property
    def flat(self) -> Bool[NumpyArray, "N"]:
        """The whole sole stands."""
        return self.heel & self.ball & self.looks_down

    @property
    def looks_down(self) -> Bool[NumpyArray, "N"]:
        """The sole looks down."""
        return np.ones_like(self.heel) if self.upright is None else self.upright


@dataclass(frozen=True)
class SourceFeet:
    """The feet of a foreign motion: left, right."""

    ankles: tuple[Float[NumpyArray, "N 3"], Float[NumpyArray, "N 3"]]
    """Metres."""
    balls: tuple[Float[NumpyArray, "N 3"], Float[NumpyArray, "N 3"]]
    """Base of the toes; the ankle again, for a rig without toes. Metres."""
    ankle_rise: tuple[float, float]
    """How far the ankle is above the ball with the sole flat, metres."""
    fps: float
    """Frames a second."""

    @property
    def ground(self) -> float:
        """Height at which a flat foot has the balls' joint, metres."""
        heights = np.concatenate([ball[:, 1] for ball in self.balls])
        slow = np.concatenate([steady_speed(b, self.fps) < PLANTED_SPEED for b in self.balls])
        if slow.sum() < 3:
            return float(np.quantile(heights, 0.02))
        return float(np.quantile(heights[slow], _GROUND_SHARE))


def source_feet(source: Motion, names: NameMap) -> SourceFeet:
    """Where the feet of a foreign motion are."""
    skeleton = source.skeleton
    frames = world_frames(source)[..., :3, 3]
    reference = np.zeros((skeleton.joint_count, 3))
    for joint, vector in names.reference.items():
        reference[skeleton.index(joint)] = vector
    joints = np.asarray(skeleton.joints, np.float64)
    rest = forward_kinematics(reference, joints, skeleton.parents, np.zeros(3))[:, :3, 3]
    ankles, balls, rise = [], [], []
    for side in SIDES:
        ankle = skeleton.index(names.joints[f"{side}_ankle"])
        toe = names.joints.get(f"{side}_foot")
        ball = ankle if toe is None else skeleton.index(toe)
        ankles.append(frames[:, ankle])
        balls.append(frames[:, ball])
        rise.append(float(rest[ankle, 1] - rest[ball, 1]))
    return SourceFeet((ankles[0], ankles[1]), (balls[0], balls[1]), (rise[0], rise[1]), source.fps)


def detect_contacts(feet: SourceFeet) -> tuple[FootContacts, FootContacts]:
    """Contacts of the left and the right foot, without flicker."""
    left, right = (
        FootContacts(
            heel=_contact(ankle, feet.ground + rise, feet.fps),
            ball=_contact(ball, feet.ground, feet.fps),
        )
        for ankle, ball, rise in zip(feet.ankles, feet.balls, feet.ankle_rise, strict=True)
    )
    return left, right


def is_planted(point: Float[NumpyArray, "N 3"], level: float, fps: float) -> Bool[NumpyArray, "N"]:
    """Where a point is slower than 0.1 m/s and at most 5 cm above `level` (metres).

    Slower both since the frame before and until the frame after: a glitch of one frame is no rest.
    """
    step = np.linalg.norm(np.diff(point, axis=0), axis=-1) * fps
    still = np.concatenate([[True], step < PLANTED_SPEED, [True]])
    return still[:-1] & still[1:] & (point[:, 1] < level + PLANTED_HEIGHT)


def _contact(point: Float[NumpyArray, "N 3"], level: float, fps: float) -> Bool[NumpyArray, "N"]:
    """Stretches that have a slow frame, as long as the point stays low, slow and near by."""
    speed = steady_speed(point, fps)
    held = (speed < _HOLD_SPEED) & (point[:, 1] < level + PLANTED_HEIGHT)
    slow = held & (speed < _SEED_SPEED)
    contact = np.zeros(len(point), bool)
    for first, last in runs(held):
        if slow[first:last].any():
            still = slow[first:last]
            centre = np.median(point[first:last][still], axis=0)
            near = np.linalg.norm(point[first:last] - centre, axis=-1) < _STRAY
            contact[first:last] = near | still
    return _without_flicker(contact, fps)


def steady_speed(point: Float[NumpyArray, "N 3"], fps: float) -> Float[NumpyArray, "N"]:
    """Speed over a twentieth of a second around every frame, m/s."""
    reach = max(round(0.025 * fps), 1)
    frames = np.arange(len(point))
    ahead, behind = np.minimum(frames + reach, frames[-1]), np.maximum(frames - reach, 0)
    way = np.linalg.norm(point[ahead] - point[behind], axis=-1)
    return way * fps / np.maximum(ahead - behind, 1)


def runs(mask: Bool[NumpyArray, "N"]) -> list[tuple[int, int]]:
    """Stretches of true frames, as (first, last + 1)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]])))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _without_flicker(mask: Bool[NumpyArray, "N"], fps: float) -> Bool[NumpyArray, "N"]:
    shortest = _SHORTEST_S * fps
    steady = mask.copy()
    for first, last in runs(~mask):
        if last - first < shortest and first > 0 and last < len(mask):
            steady[first:last] = True
    for first, last in runs(steady):
        if last - first < shortest:
            steady[first:last] = False
    return steady
