"""Another skeleton's motion on the body.

0. joints that the capture throws about carried over (`glitches`), and the pose found in which the
   foreign rig stands (`reference`);
1. rotations by name, with the rest poses aligned (`alignment`), and hanging arms held clear of a
   wide body (`flanks`), and collars that the capture left still go with the arms (`girdle`);
2. the path of the hips' centre, scaled by the ratio of leg lengths;
3. contacts of the foreign feet (`contacts`), soles levelled, the ground at y = 0 (`ground`), and
   knees and hands that are on the floor brought onto it (`floor`);
4. planted feet pinned (`planting`), the pelvis lowered where a leg would be too short, and the legs
   bent to reach (`reach`);
5. hands that would be in the ground raised onto it (`hands`).
"""

from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.motions.girdle import still_collars, turned_collars
from corporeal.motions.retarget.alignment import aligned_frames, local_rotations
from corporeal.motions.retarget.contacts import FootContacts, detect_contacts, source_feet
from corporeal.motions.retarget.feet import Foot, feet_of_skeleton
from corporeal.motions.retarget.flanks import abducted
from corporeal.motions.retarget.floor import (
    FloorContacts,
    floor_contacts,
    floor_pitch,
    floor_shift,
)
from corporeal.motions.retarget.glitches import mended, turned_over
from corporeal.motions.retarget.ground import ground_offset, sinking
from corporeal.motions.retarget.guess import name_map_for
from corporeal.motions.retarget.hands import (
    arms_above_ground,
    hands_above_ground,
    palm_height,
)
from corporeal.motions.retarget.name_maps import SIDES, NameMap
from corporeal.motions.retarget.planting import FootPath, faded, laid_foot, level_soles, plant
from corporeal.motions.retarget.reach import furthest, reach, within_reach
from corporeal.motions.retarget.reference import Reference, find_reference
from corporeal.motions.two_bones import Bend, bend_of
from corporeal.skinning.kinematics import forward_kinematics, joint_centres

UPRIGHT: Final = 0.7
"""Least cosine of the tilt of a sole that stands."""


@dataclass(frozen=True)
class Retargeted:
    """The body's motion, and how it was made."""

    motion: Motion
    """Of the body's own skeleton, metres, y up."""
    names: NameMap
    """Which foreign joints play which of the body's."""
    scale: float
    """Leg length of the body over that of the foreign skeleton."""
    contacts: tuple[FootContacts, FootContacts] | None
    """Left and right foot; None for a raw transfer."""
    feet: tuple[Foot, Foot]
    """The body's feet, left and right."""
    sinking: float
    """How far the pelvis was lowered at most so that planted feet are reached, metres."""
    at_rest: tuple[str, ...]
    """Joints of the body that the motion does not move."""
    notes: tuple[str, ...] = ()
    """How the foreign rig's axes were found, and what was done about joints that jump."""
    girdle: tuple[str, ...] = ()
    """Sides whose collars go with the arms, the capture having left them still."""


def retarget(
    source: Motion,
    skeleton: Skeleton,
    *,
    names: NameMap | None = None,
    feet: tuple[Foot, Foot] | None = None,
    arm_clearance: float = 0.0,
    girdle: bool = False,
    raw: bool = False,
) -> Retargeted:
    """`source` as a motion of the body with this `skeleton` (SMPL's names, T-pose, on y = 0).

    Without `names` the map is found from the joint names, and the pose in which the rig stands from
    its rest pose or its motion, unless `names` tells one. `feet` (`feet_of_body`) tell where this
    person's soles are; without them they are guessed from the skeleton. `arm_clearance` (radians,
    `flanks.arm_clearance`) is how much farther out hanging arms are held. `girdle` lets collars
    that the capture does not move go with the arms, which keep their directions. `raw` copies
    rotations and root translation by name and touches nothing.
    """
    find_pose = names is None or not names.reference
    names = name_map_for(source.skeleton) if names is None else names
    names.require_joints_of(source.skeleton)
    feet = feet_of_skeleton(skeleton) if feet is None else feet
    result = Retargeted(
        motion=_copied(source, skeleton, names),
        names=names,
        scale=1.0,
        contacts=None,
        feet=feet,
        sinking=0.0,
        at_rest=_at_rest(skeleton, names),
    )
    if raw:
        return result
    ankles = tuple(source.skeleton.index(names.joints[f"{side}_ankle"]) for side in SIDES)
    source, turned = turned_over(source, ankles)
    source, notes = mended(source)
    reference = find_reference(source, names) if find_pose else Reference(names, "")
    names = reference.names
    notes = (*([reference.note] if reference.note else ()), *notes)
    scale = _leg_ratio(source.skeleton, names, feet)
    body = _Moving.from_source(source, skeleton, names, scale)
    if arm_clearance > 0.0:
        body.frames = abducted(body.frames, skeleton, arm_clearance)
    sides = still_collars(body.frames, skeleton) if girdle else ()
    body.frames = turned_collars(body.frames, skeleton, sides)
    floor = floor_contacts(source, names, scale)
    contacts = floor.without_lying_feet(detect_contacts(source_feet(source, names)))
    contacts = body.upright(feet, contacts)
    body.level_soles(feet, contacts)
    _ground(body, feet, contacts, floor, source.fps)
    lowest = body.stand(feet, contacts, floor, source.fps)
    body.keep_hands_up(floor, source.fps)
    motion = body.motion(source.name, source.fps)
    return replace(
        result,
        motion=motion,
        names=names,
        scale=scale,
        contacts=contacts,
        sinking=lowest,
        notes=(*turned, *notes),
        girdle=sides,
    )


@dataclass
class _Moving:
    """The body while it is being fitted: world rotations, and where the pelvis is."""

    skeleton: Skeleton
    frames: Float[NumpyArray, "N J 3 3"]
    pelvis: Float[NumpyArray, "N 3"]
    """Metres."""

    @staticmethod
    def from_source(source: Motion, skeleton: Skeleton, names: NameMap, scale: float) -> "_Moving":
        """Aligned rotations; the centre of the hips on the scaled path of the foreign one."""
        frames = aligned_frames(source, skeleton, names)
        foreign = forward_kinematics(
            np.asarray(source.joint_rotations, np.float64),
            np.asarray(source.skeleton.joints, np.float64),
            source.skeleton.parents,
            np.asarray(source.root_translation, np.float64),
        )[..., :3, 3]
        hips = [source.skeleton.index(names.joints[f"{side}_hip"]) for side in SIDES]
        rest = np.asarray(skeleton.joints, np.float64)
        ours = [skeleton.index(f"{side}_hip") for side in SIDES]
        to_centre = rest[ours].mean(axis=0) - rest[0]
        centre = scale * foreign[:, hips].mean(axis=1)
        return _Moving(skeleton, frames, centre - frames[:, 0] @ to_centre)

    def joints(self) -> Float[NumpyArray, "N J 3"]:
        """Positions of the joints, metres."""
        rest = np.asarray(self.skeleton.joints, np.float64)
        at_origin = joint_centres(self.frames, rest - rest[0], self.skeleton.parents)
        return at_origin + self.pelvis[:, None]

    def raise_by(self, height: float | Float[NumpyArray, "N"]) -> None:
        self.pelvis = self.pelvis + np.reshape(height, (-1, 1)) * np.array([0.0, 1.0, 0.0])

    @property
    def palm(self) -> float:
        """Height of a wrist over a palm on the ground, metres; 0 for a body without hands."""
        has = {f"{side}_wrist" for side in SIDES} <= set(self.skeleton.names)
        return palm_height(self.skeleton) if has else 0.0

    def heights(self) -> dict[str, Float[NumpyArray, "N"]]:
        """Of all joints, by name, metres."""
        return dict(zip(self.skeleton.names, self.joints()[..., 1].T, strict=True))

    def pitch_trunk(
        self, contacts: FloorContacts, standing: Bool[NumpyArray, "N"], fps: float
    ) -> None:
        """Turn the trunk about the centre of the hips until the lower hand lies on the floor."""
        names = self.skeleton.names
        limbs = {f"{s}_{j}" for s in SIDES for j in ("hip", "shoulder", "wrist")}
        if not limbs <= set(names):
            return
        joints = dict(zip(names, np.moveaxis(self.joints(), 1, 0), strict=True))
        turn = floor_pitch(joints, contacts, standing, self.palm, fps)
        trunk: list[int] = []
        for joint, parent in enumerate(self.skeleton.parents):
            if names[joint] not in limbs and (parent < 0 or parent in trunk):
                trunk.append(joint)
        hips = 0.5 * (joints["left_hip"] + joints["right_hip"])
        self.frames[:, trunk] = turn[:, None] @ self.frames[:, trunk]
        self.pelvis = hips + (turn @ (self.pelvis - hips)[..., None])[..., 0]

    def path(self, foot: Foot, joints: Float[NumpyArray, "N J 3"]) -> FootPath:
        return FootPath(
            joints[:, foot.ankle], self.frames[:, foot.ankle], self.frames[:, foot.ball]
        )

    def upright(
        self, feet: tuple[Foot, Foot], contacts: tuple[FootContacts, FootContacts]
    ) -> tuple[FootContacts, FootContacts]:
        """Contacts that know when the sole looks down: a kneeling foot touches with its back."""
        left, right = (
            replace(contact, upright=self.frames[:, foot.ankle, 1, 1] > UPRIGHT)
            for foot, contact in zip(feet, contacts, strict=True)
        )
        return left, right

    def level_soles(
        self, feet: tuple[Foot, Foot], contacts: tuple[FootContacts, FootContacts]
    ) -> None:
        """Take out the constant tilt of each sole; the toes go along."""
        joints = self.joints()
        for foot, contact in zip(feet, contacts, strict=True):
            path = self.path(foot, joints)
            level = path.turned(level_soles(path.foot, foot, contact.flat))
            self.frames[:, foot.ankle], self.frames[:, foot.ball] = level.foot, level.toes

    def stand(
        self,
        feet: tuple[Foot, Foot],
        contacts: tuple[FootContacts, FootContacts],
        floor: FloorContacts,
        fps: float,
    ) -> float:
        """Pin the feet and bend the legs; gives back how far the pelvis sank at most, metres."""
        joints = self.joints()
        paths = [
            plant(laid_foot(self.path(foot, joints), foot, lies, fps), foot, contact, fps)
            for foot, contact, lies in zip(feet, contacts, floor.lying, strict=True)
        ]
        bends = [self._leg_bend(foot) for foot in feet]
        sink = sinking(
            [joints[:, foot.hip] for foot in feet],
            [path.ankle for path in paths],
            [furthest(bend) for bend in bends],
            [contact.heel | contact.ball for contact in contacts],
            fps,
        )
        down = sink[:, None] * np.array([0.0, -1.0, 0.0])
        self.pelvis = self.pelvis + down
        for foot, bend, path, contact in zip(feet, bends, paths, contacts, strict=True):
            planted = faded(np.ones((len(sink), 1)), contact.heel | contact.ball, fps)[:, 0]
            way = path.ankle - (joints[:, foot.hip] + down)
            thigh, shank = reach(
                bend,
                foot.thigh,
                foot.shank,
                self.frames[:, foot.hip],
                self.frames[:, foot.knee],
                way,
                within_reach(bend, np.linalg.norm(way, axis=-1), planted),
            )
            for joint, frames in (
                (foot.hip, thigh),
                (foot.knee, shank),
                (foot.ankle, path.foot),
                (foot.ball, path.toes),
            ):
                self.frames[:, joint] = frames
        return float(sink.max())

    def keep_hands_up(self, floor: FloorContacts, fps: float) -> None:
        """Bend wrists, then arms, wherever a hand would be in the ground."""
        if not {f"{side}_wrist" for side in SIDES} <= set(self.skeleton.names):
            return
        for side, on_floor in zip(SIDES, floor.hands, strict=True):
            bent = hands_above_ground(
                self.skeleton, side, self.frames, self.joints(), on_floor, fps
            )
            for joint, frames in bent.items():
                self.frames[:, joint] = frames
            raised = arms_above_ground(self.skeleton, side, self.frames, self.joints(), fps)
            for joint, frames in raised.items():
                self.frames[:, joint] = frames

    def _leg_bend(self, foot: Foot) -> Bend:
        thigh, shank = self.frames[:, foot.hip], self.frames[:, foot.knee]
        sideways = np.broadcast_to([1.0, 0.0, 0.0], (len(thigh), 3))
        return bend_of(foot.thigh, foot.shank, np.swapaxes(thigh, -1, -2) @ shank, sideways)

    def motion(self, name: str, fps: float) -> Motion:
        rotations = local_rotations(self.frames, self.skeleton.parents)
        rest = np.asarray(self.skeleton.joints, np.float64)[0]
        return Motion(name, fps, rotations, self.pelvis - rest, self.skeleton)


def _ground(
    body: _Moving,
    feet: tuple[Foot, Foot],
    contacts: tuple[FootContacts, FootContacts],
    floor: FloorContacts,
    fps: float,
) -> None:
    """Put the body on the ground: by its soles where it stands, else by knees or hands."""
    standing = np.any([contact.heel | contact.ball for contact in contacts], axis=0)
    needed, known = floor_shift(body.heights(), floor, standing, body.palm)
    if standing.any() or not known.any():
        base = _ground_offset(body, feet, contacts)
    else:
        base = float(np.median(needed[known]))
    body.raise_by(base)
    if known.any():
        shift = np.where(known, needed - base, 0.0)[:, None]
        body.raise_by(faded(shift, known | standing, fps)[:, 0])
    body.pitch_trunk(floor, standing, fps)


def _ground_offset(
    body: _Moving, feet: tuple[Foot, Foot], contacts: tuple[FootContacts, FootContacts]
) -> float:
    joints = body.joints()
    soles = [body.path(foot, joints).sole(foot) for foot in feet]
    flat = [np.stack([contact.flat] * 2, axis=1) for contact in contacts]
    if not any(mask.any() for mask in flat):
        flat = [np.stack([contact.heel, contact.ball], axis=1) for contact in contacts]
    return ground_offset(soles, flat)


def _leg_ratio(source: Skeleton, names: NameMap, feet: tuple[Foot, Foot]) -> float:
    joints = np.asarray(source.joints, np.float64)
    foreign = 0.0
    for side in SIDES:
        hip, knee, ankle = (
            joints[source.index(names.joints[f"{side}_{joint}"])]
            for joint in ("hip", "knee", "ankle")
        )
        foreign += float(np.linalg.norm(knee - hip) + np.linalg.norm(ankle - knee))
    if foreign < 1e-6:
        raise InputError(
            f"the motion's skeleton has legs of {foreign:.3g} m; expected bones between hip, knee "
            f"and ankle. Check the name map {names.name!r}."
        )
    return sum(foot.leg_length for foot in feet) / foreign


def _at_rest(skeleton: Skeleton, names: NameMap) -> tuple[str, ...]:
    moved = set(names.joints)
    if names.spine:
        moved |= {"spine1", "spine2", "spine3"}
    if names.neck:
        moved.add("neck")
    return tuple(name for name in skeleton.names if name not in moved)


def _copied(source: Motion, skeleton: Skeleton, names: NameMap) -> Motion:
    """Rotations by name and the root translation, as they are."""
    direct = dict(names.joints)
    direct |= dict(zip(("spine1", "spine2", "spine3"), names.spine, strict=False))
    direct |= dict(zip(("neck",), names.neck, strict=False))
    rotations = np.zeros((source.frame_count, skeleton.joint_count, 3))
    for index, name in enumerate(skeleton.names):
        if name in direct:
            foreign = source.skeleton.index(direct[name])
            rotations[:, index] = np.asarray(source.joint_rotations)[:, foreign]
    translation = np.asarray(source.root_translation, np.float64)
    return Motion(source.name, source.fps, rotations, translation, skeleton)
