"""Bodies on hands and knees: what of a foreign motion is on the floor besides its feet.

A knee is on the floor while it is low and its shank lies; a hand while its wrist is low. A foot
whose shank lies does not stand, wherever it is. Of the body, then,

- the whole is shifted up or down until the lower knee lies on the floor, or the lower hand where
  neither knee nor foot carries it (a cartwheel);
- with knees or feet down, the trunk is pitched about the hips by the few degrees by which the lower
  hand misses the floor, and the arms keep their directions. Bending straight arms instead would
  take tens of degrees.

Both fade in and out as the pins of planted feet do.
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.motions.derivatives import world_frames
from corporeal.motions.retarget.contacts import FootContacts
from corporeal.motions.retarget.name_maps import SIDES, NameMap
from corporeal.motions.retarget.planting import faded

KNEE_FLESH: Final = 0.05
"""From the joint of a knee to the floor it kneels on, metres."""
_LOW: Final = 0.13
"""A knee or wrist this far above the floor, as a share of a leg of one metre, may lie on it."""
_LIES: Final = 0.5
"""Greatest cosine of a shank that lies with the vertical."""
_PITCH_LIMIT: Final = np.deg2rad(20.0)
"""How far a trunk is pitched at most; longer arms than the capture's raise it by some 10°."""
_UP: Final = np.array([0.0, 1.0, 0.0])


@dataclass(frozen=True)
class FloorContacts:
    """What touches the floor besides the feet; left and right."""

    knees: tuple[Bool[NumpyArray, "N"], Bool[NumpyArray, "N"]]
    """The knee kneels."""
    hands: tuple[Bool[NumpyArray, "N"], Bool[NumpyArray, "N"]]
    """The hand is on the floor."""
    lying: tuple[Bool[NumpyArray, "N"], Bool[NumpyArray, "N"]]
    """The shank lies on the floor: its foot does not stand."""

    @property
    def any_knee(self) -> Bool[NumpyArray, "N"]:
        """Either knee kneels."""
        return self.knees[0] | self.knees[1]

    @property
    def any_hand(self) -> Bool[NumpyArray, "N"]:
        """Either hand is on the floor."""
        return self.hands[0] | self.hands[1]

    def without_lying_feet(
        self, feet: tuple[FootContacts, FootContacts]
    ) -> tuple[FootContacts, FootContacts]:
        """Contacts of feet that stand: a foot behind a knee on the floor does not."""
        left, right = (
            replace(foot, heel=foot.heel & ~lies, ball=foot.ball & ~lies)
            for foot, lies in zip(feet, self.lying, strict=True)
        )
        return left, right


def floor_contacts(source: Motion, names: NameMap, scale: float) -> FloorContacts:
    """Knees and hands of a foreign motion on the floor; `scale` is the body's size over its."""
    places = world_frames(source)[..., :3, 3]
    floor = float(np.quantile(places[..., 1].min(axis=1), 0.05))
    low = floor + _LOW / scale

    def at(body_joint: str) -> Float[NumpyArray, "N 3"] | None:
        name = names.joints.get(body_joint)
        return None if name is None else places[:, source.skeleton.index(name)]

    knees, hands, lying = [], [], []
    for side in SIDES:
        knee, ankle, wrist = (at(f"{side}_{joint}") for joint in ("knee", "ankle", "wrist"))
        if knee is None or ankle is None:
            raise InputError(f"name map {names.name!r} lacks the {side} knee or ankle.")
        shank = knee - ankle
        lies = shank[:, 1] < _LIES * np.linalg.norm(shank, axis=1)
        lying.append(lies & (ankle[:, 1] < low) & (knee[:, 1] < low))
        knees.append(lies & (knee[:, 1] < low))
        hands.append(np.zeros(len(places), bool) if wrist is None else wrist[:, 1] < low)
    return FloorContacts((knees[0], knees[1]), (hands[0], hands[1]), (lying[0], lying[1]))


def floor_shift(
    heights: dict[str, Float[NumpyArray, "N"]],
    contacts: FloorContacts,
    standing: Bool[NumpyArray, "N"],
    palm: float,
) -> tuple[Float[NumpyArray, "N"], Bool[NumpyArray, "N"]]:
    """How far the body must rise in every frame, metres, and in which frames the floor says so.

    `heights` are those of the body's joints by name; `standing` are frames in which a foot stands;
    `palm` is the height of a wrist over a palm on the floor, metres.
    """
    needed = np.zeros(len(standing))
    by_knee, by_hand = contacts.any_knee, contacts.any_hand & ~contacts.any_knee & ~standing
    for flesh, part, masks, told in (
        (KNEE_FLESH, "knee", contacts.knees, by_knee),
        (palm, "wrist", contacts.hands, by_hand),
    ):
        names = [f"{side}_{part}" for side in SIDES]
        if not set(names) <= set(heights):
            continue
        lowest = np.min(
            [np.where(mask, heights[n], np.inf) for n, mask in zip(names, masks, strict=True)],
            axis=0,
        )
        needed = np.where(told & np.isfinite(lowest), flesh - lowest, needed)
    return needed, by_knee | by_hand


def floor_pitch(
    joints: dict[str, Float[NumpyArray, "N 3"]],
    contacts: FloorContacts,
    standing: Bool[NumpyArray, "N"],
    palm: float,
    fps: float,
) -> Float[NumpyArray, "N 3 3"]:
    """Turns of the trunk about the hips that bring the lower hand to the floor while knees or feet
    (`standing`) carry the body; arms keep their directions and go up or down with their shoulders.

    `joints` are places by name. About the level axis across the trunk, a shoulder that is (a, b)
    before and above the hips gets the height b + d at the angle asin((b + d) / r) − atan2(b, a),
    r² = a² + b², where d is what its hand misses the floor by. Of two hands the lower one counts:
    straight arms would have to bend by tens of degrees for the difference.
    """
    known = (contacts.any_knee | standing) & contacts.any_hand
    turn = np.zeros((len(standing), 3))
    if not known.any():
        return matrix_from_axis_angle(turn)
    hips = 0.5 * (joints["left_hip"] + joints["right_hip"])
    shoulders = 0.5 * (joints["left_shoulder"] + joints["right_shoulder"])
    level = (shoulders - hips) * [1.0, 0.0, 1.0]
    ahead = level / np.maximum(np.linalg.norm(level, axis=1, keepdims=True), 1e-9)
    angles = []
    for side, mask in zip(SIDES, contacts.hands, strict=True):
        shoulder = joints[f"{side}_shoulder"] - hips
        along, above = np.einsum("nk,nk->n", shoulder, ahead), shoulder[:, 1]
        radius = np.maximum(np.hypot(along, above), 1e-9)
        wanted = (above + palm - joints[f"{side}_wrist"][:, 1]) / radius
        angle = np.arcsin(np.clip(wanted, -1.0, 1.0)) - np.arctan2(above, along)
        angles.append(np.where(mask, angle, -np.inf))
    angle = np.clip(np.max(angles, axis=0), -_PITCH_LIMIT, _PITCH_LIMIT)
    turn = np.cross(ahead, _UP) * angle[:, None]
    return matrix_from_axis_angle(faded(np.where(known[:, None], turn, 0.0), known, fps))
