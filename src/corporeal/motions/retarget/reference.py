"""The T-pose of a rig that does not rest in one, found from its motion.

Rest-pose alignment needs a pose of the foreign rig in which the body stands and looks ahead. Many
rigs rest in it. Others rest lying down (their file's world has another axis up than their bones),
and some rest in no pose at all: every bone points along its own joint's x axis (Rokoko, LAFAN1,
Bandai-Namco). What is then known of a joint's axes comes from the clip:

- **trunk** (pelvis, spine, neck, head): the mean rotation in upright frames, without the body's
  heading, and from there the nearest rotation by quarter turns, because rigs are built that way;
- **thigh, shank, upper arm, forearm**: the bone itself, and the axis about which knee or elbow
  bends. A knee bends backwards, an elbow forwards;
- **foot**: its bone, and the direction that is up while it stands;
- **everything else** (collars, hands, toes, fingers, helpers): as its parent, turned by the
  nearest quarter turns to its mean rotation.

The pose has the legs straight, the arms hanging and the feet flat.
"""

from dataclasses import dataclass, replace
from itertools import permutations, product
from typing import Final

import numpy as np

from corporeal._typing import Bool, Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.motions.derivatives import world_frames
from corporeal.motions.retarget.name_maps import SIDES, NameMap
from corporeal.motions.retarget.upright import top_of
from corporeal.skinning.kinematics import forward_kinematics

_STANDS: Final = 0.6
"""Least cosine of thighs, shanks and trunk with the vertical in a pose that stands."""
_FLAT_FOOT: Final = 0.35
"""Least share of a foot's length that is level in a pose that stands."""
_UPRIGHT: Final = 0.8
"""Least cosine of the trunk with the vertical in a frame that tells the trunk's axes."""
_BENT: Final = 0.2
"""Sine of the least bend of knee or elbow that tells the hinge."""
_NEAR_QUARTER: Final = np.deg2rad(40.0)
"""A mean rotation this near to quarter turns is taken for them."""
_NEAR_AXIS: Final = np.deg2rad(20.0)
"""A hinge this near to one of its joint's axes is taken for it."""
_UP: Final = np.array([0.0, 1.0, 0.0])
_SOLE_SPEED: Final = 0.15
"""A foot slower than this, m/s, and low stands flat."""


def _quarter_turns() -> Float[NumpyArray, "24 3 3"]:
    turns = []
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        matrix = np.zeros((3, 3))
        matrix[range(3), order] = signs
        if np.linalg.det(matrix) > 0:
            turns.append(matrix)
    return np.array(turns)


_QUARTERS: Final = _quarter_turns()


@dataclass(frozen=True)
class Reference:
    """A name map whose reference pose stands, and how it was found."""

    names: NameMap
    """With the axis-angle vectors of that pose."""
    note: str
    """In words; empty where the rig rests in a standing pose."""


def find_reference(motion: Motion, names: NameMap) -> Reference:
    """The map with a reference pose that stands, for a motion with y up.

    The map's own pose if it stands; else that pose set upright as a whole, if it then stands; else
    one found from the motion.
    """
    _require_left_on_the_left(motion, names)
    if _stands(motion.skeleton, names):
        return Reference(names, "")
    turned = _set_upright(motion.skeleton, names)
    if turned is not None:
        return Reference(turned, "the rig rests lying down; its rest pose was set upright")
    found = _found(motion, names)
    if not _stands(motion.skeleton, found):
        raise InputError(
            f"{motion.name!r} rests in no pose that stands, and none could be found from its "
            f"{motion.frame_count} frames; expected a clip in which the body is upright. Give a "
            f"name map with a pose in which it stands (--name-map, reference_deg)."
        )
    return Reference(
        found, "the rig rests in no pose that stands; its axes were found from the motion"
    )


def _require_left_on_the_left(motion: Motion, names: NameMap) -> None:
    """Raise `InputError` if the left joints lie on the right: the feet tell where the front is."""
    front = _front_votes(motion, names)
    if len(front) and np.median(front) < -0.3:
        raise InputError(
            f"{motion.name!r} has its left joints on the right-hand side: its feet point backwards "
            f"from its hips. It is mirrored, or sides are named the wrong way round; expected left "
            f"on the left. Give a name map with the sides exchanged (--name-map)."
        )


def _front_votes(motion: Motion, names: NameMap) -> Float[NumpyArray, "n"]:
    """Cosines of the feet with the front that the hips tell, where bodies are upright."""
    places = world_frames(motion)[..., :3, 3]
    left = _left_of(places, motion.skeleton, names)
    front = np.cross(left, _UP)
    votes = []
    for side in SIDES:
        if f"{side}_foot" not in names.joints:
            continue
        ankle, toe = (
            places[:, motion.skeleton.index(names.joints[f"{side}_{j}"])] for j in ("ankle", "foot")
        )
        foot = (toe - ankle) * [1.0, 0.0, 1.0]
        size = np.linalg.norm(foot, axis=1)
        clear = size > _FLAT_FOOT * np.linalg.norm(toe - ankle, axis=1)
        clear &= _is_upright(places, motion.skeleton, names)
        votes.append(np.sum(front[clear] * foot[clear], axis=1) / size[clear])
    return np.concatenate(votes) if votes else np.zeros(0)


def _pose_places(skeleton: Skeleton, names: NameMap) -> Float[NumpyArray, "J 3"]:
    rotations = np.zeros((skeleton.joint_count, 3))
    for joint, vector in names.reference.items():
        rotations[skeleton.index(joint)] = vector
    joints = np.asarray(skeleton.joints, np.float64)
    return forward_kinematics(rotations, joints, skeleton.parents, np.zeros(3))[:, :3, 3]


def _stands(skeleton: Skeleton, names: NameMap) -> bool:
    """Whether the map's reference pose stands, looks where its feet point, and has level hips."""
    places = _pose_places(skeleton, names)

    def place(body_joint: str) -> Float[NumpyArray, "3"]:
        return places[skeleton.index(names.joints[body_joint])]

    def rises(lower: NumpyArray, upper: NumpyArray) -> bool:
        way = upper - lower
        return bool(way[1] >= _STANDS * np.linalg.norm(way))

    hips = 0.5 * (place("left_hip") + place("right_hip"))
    left = place("left_hip") - place("right_hip")
    top = places[skeleton.index(top_of(names))]
    if not rises(hips, top) or abs(left[1]) > 0.5 * np.linalg.norm(left):
        return False
    front = np.cross(left, _UP)
    for side in SIDES:
        hip, knee, ankle = (place(f"{side}_{joint}") for joint in ("hip", "knee", "ankle"))
        if not (rises(knee, hip) and rises(ankle, knee)):
            return False
        if f"{side}_foot" in names.joints:
            foot = place(f"{side}_foot") - ankle
            level = np.linalg.norm(foot * [1.0, 0.0, 1.0])
            if level < _FLAT_FOOT * np.linalg.norm(foot) or foot @ front < 0.0:
                return False
    return True


def _set_upright(skeleton: Skeleton, names: NameMap) -> NameMap | None:
    """The map with its whole pose turned by quarter turns so that it stands; None if none does.

    Of those that stand, the one that looks where our bodies look.
    """
    root = skeleton.names[0]
    own = matrix_from_axis_angle(np.asarray(names.reference.get(root, (0.0, 0.0, 0.0))))
    best: tuple[float, NameMap] | None = None
    for turn in _QUARTERS:
        vector = axis_angle_from_matrix(turn @ own)
        turned = replace(
            names, reference={**names.reference, root: (vector[0], vector[1], vector[2])}
        )
        if not _stands(skeleton, turned):
            continue
        places = _pose_places(skeleton, turned)
        left = (
            places[skeleton.index(names.joints["left_hip"])]
            - places[skeleton.index(names.joints["right_hip"])]
        )
        if best is None or left[0] > best[0]:
            best = (float(left[0]), turned)
    return None if best is None else best[1]


def _found(motion: Motion, names: NameMap) -> NameMap:
    """The map with a reference pose from the motion; see above."""
    frames = world_frames(motion)
    finder = _Finder(motion, names, frames[..., :3, :3], frames[..., :3, 3])
    skeleton = motion.skeleton
    world = np.zeros((skeleton.joint_count, 3, 3))
    given = finder.frames()
    for joint, parent in enumerate(skeleton.parents):
        above = world[parent] if parent >= 0 else np.eye(3)
        if joint in given:
            world[joint] = given[joint]
        elif joint in finder.toes:
            world[joint] = above @ finder.toes[joint]
        else:
            world[joint] = above @ _to_quarters(_mean_rotation(finder.local(joint)))
    reference = {}
    for joint, parent in enumerate(skeleton.parents):
        above = world[parent] if parent >= 0 else np.eye(3)
        x, y, z = (float(value) for value in axis_angle_from_matrix(above.T @ world[joint]))
        reference[skeleton.names[joint]] = (x, y, z)
    return replace(names, reference=reference)


class _Finder:
    """World rotations of joints in a standing pose, from a motion."""

    def __init__(
        self,
        motion: Motion,
        names: NameMap,
        turns: Float[NumpyArray, "N J 3 3"],
        places: Float[NumpyArray, "N J 3"],
    ) -> None:
        self.skeleton, self.names, self.fps = motion.skeleton, names, motion.fps
        self.turns, self.places = turns, places
        self.upright = _is_upright(places, motion.skeleton, names)
        if not self.upright.any():
            self.upright[:] = True
        self.toes: dict[int, Float[NumpyArray, "3 3"]] = {}

    def frames(self) -> dict[int, Float[NumpyArray, "3 3"]]:
        """By joint; joints not among them follow their parents."""
        found = self._trunk()
        for side in SIDES:
            found |= self._hinged(side, ("hip", "knee", "ankle"), np.array([1.0, 0.0, 0.0]))
            found |= self._hinged(side, ("shoulder", "elbow", "wrist"), np.array([-1.0, 0.0, 0.0]))
            found |= self._foot(side)
        return found

    def local(self, joint: int) -> Float[NumpyArray, "N 3 3"]:
        """Parent-relative rotations of a joint."""
        parent = self.skeleton.parents[joint]
        if parent < 0:
            return self.turns[:, joint]
        return np.swapaxes(self.turns[:, parent], -1, -2) @ self.turns[:, joint]

    def _index(self, body_joint: str) -> int | None:
        name = self.names.joints.get(body_joint)
        return None if name is None else self.skeleton.index(name)

    def _trunk(self) -> dict[int, Float[NumpyArray, "3 3"]]:
        left = _left_of(self.places, self.skeleton, self.names)[self.upright]
        front = np.cross(left, _UP)
        ahead = np.stack([left, np.broadcast_to(_UP, left.shape), front], axis=1)
        found = {}
        joints = [self.names.joints["pelvis"], *self.names.spine, *self.names.neck]
        if "head" in self.names.joints:
            joints.append(self.names.joints["head"])
        for joint in map(self.skeleton.index, joints):
            mean = _mean_rotation(ahead @ self.turns[self.upright, joint])
            quarter = _nearest_quarter(mean)
            if _angle(mean, quarter) < _NEAR_QUARTER:
                found[joint] = quarter
            elif joint == self.skeleton.index(self.names.joints["pelvis"]):
                found[joint] = mean
        return found

    def _hinged(
        self, side: str, joints: tuple[str, str, str], hinge_world: Float[NumpyArray, "3"]
    ) -> dict[int, Float[NumpyArray, "3 3"]]:
        """Upper and lower bone hanging straight down, bending about `hinge_world`."""
        upper, lower, end = (self._index(f"{side}_{joint}") for joint in joints)
        if upper is None or lower is None or end is None:
            return {}
        first = self.places[:, lower] - self.places[:, upper]
        second = self.places[:, end] - self.places[:, lower]
        hinge = np.cross(_unit(first), _unit(second))
        bend = np.linalg.norm(hinge, axis=1)
        bent = bend > _BENT
        if not bent.any():
            return {}
        found = {}
        for joint, bone in ((upper, first), (lower, second)):
            inverse = np.swapaxes(self.turns[:, joint], -1, -2)
            along = _unit(np.mean((inverse @ _unit(bone)[..., None])[..., 0], axis=0))
            axis = _unit(np.mean((inverse[bent] @ hinge[bent][..., None])[..., 0], axis=0))
            found[joint] = _frame(along, -_UP, _to_axis(axis, along), hinge_world)
        return found

    def _foot(self, side: str) -> dict[int, Float[NumpyArray, "3 3"]]:
        """A foot on the ground, looking ahead; notes how the toes lie on it."""
        ankle, toe = self._index(f"{side}_ankle"), self._index(f"{side}_foot")
        if ankle is None or toe is None:
            return {}
        flat = self._flat(toe) & self.upright
        inverse = np.swapaxes(self.turns[flat, ankle], -1, -2)
        up = _unit(np.median((inverse @ _UP), axis=0))
        bone = self.places[flat, toe] - self.places[flat, ankle]
        along = _unit(np.mean((inverse @ bone[..., None])[..., 0], axis=0))
        if abs(float(along @ up)) > 0.95:
            return {}
        self.toes[toe] = _mean_rotation(self.local(toe)[flat])
        return {ankle: _frame(up, _UP, along, np.array([0.0, 0.0, 1.0]))}

    def _flat(self, toe: int) -> Bool[NumpyArray, "N"]:
        """Frames in which a foot stands; those in which it is lowest if there are none."""
        place = self.places[:, toe]
        height = place[:, 1]
        low = height < np.quantile(height, 0.1) + 0.03
        if len(place) > 2:
            step = np.linalg.norm(np.diff(place, axis=0), axis=1) * self.fps
            slow = np.concatenate([step[:1], np.maximum(step[:-1], step[1:]), step[-1:]])
            still = low & (slow < _SOLE_SPEED) & self.upright
            if still.any():
                return still
        low &= self.upright
        return low if low.any() else np.ones(len(place), bool)


def _left_of(
    places: Float[NumpyArray, "N J 3"], skeleton: Skeleton, names: NameMap
) -> Float[NumpyArray, "N 3"]:
    """Level unit vectors to the body's left, from its hips."""
    left, right = (places[:, skeleton.index(names.joints[f"{s}_hip"])] for s in SIDES)
    return _unit((left - right) * [1.0, 0.0, 1.0])


def _is_upright(
    places: Float[NumpyArray, "N J 3"], skeleton: Skeleton, names: NameMap
) -> Bool[NumpyArray, "N"]:
    hips = np.mean([places[:, skeleton.index(names.joints[f"{s}_hip"])] for s in SIDES], axis=0)
    trunk = places[:, skeleton.index(top_of(names))] - hips
    return trunk[:, 1] > _UPRIGHT * np.linalg.norm(trunk, axis=1)


def _frame(
    first: Float[NumpyArray, "3"],
    first_to: Float[NumpyArray, "3"],
    second: Float[NumpyArray, "3"],
    second_to: Float[NumpyArray, "3"],
) -> Float[NumpyArray, "3 3"]:
    """The rotation that takes `first` to `first_to`, and `second` as near as may be to its own."""

    def axes(a: NumpyArray, b: NumpyArray) -> NumpyArray:
        across = _unit(np.cross(a, b))
        return np.stack([a, np.cross(across, a), across], axis=1)

    return axes(first_to, second_to) @ axes(first, second).T


def _to_axis(vector: Float[NumpyArray, "3"], along: Float[NumpyArray, "3"]) -> NumpyArray:
    """The signed coordinate axis across `along` that is near, else the vector."""
    axis = np.zeros(3)
    most = int(np.argmax(np.abs(vector)))
    axis[most] = np.sign(vector[most])
    near = float(axis @ vector) > np.cos(_NEAR_AXIS) and abs(float(axis @ along)) < 0.3
    return axis if near else vector


def _mean_rotation(turns: Float[NumpyArray, "N 3 3"]) -> Float[NumpyArray, "3 3"]:
    """The rotation nearest to all of them in the chordal sense."""
    u, _, v = np.linalg.svd(turns.mean(axis=0))
    u[:, -1] *= np.sign(np.linalg.det(u @ v))
    return u @ v


def _nearest_quarter(turn: Float[NumpyArray, "3 3"]) -> Float[NumpyArray, "3 3"]:
    return _QUARTERS[int(np.argmax(np.einsum("kij,ij->k", _QUARTERS, turn)))]


def _to_quarters(turn: Float[NumpyArray, "3 3"]) -> Float[NumpyArray, "3 3"]:
    quarter = _nearest_quarter(turn)
    return quarter if _angle(turn, quarter) < _NEAR_QUARTER else turn


def _angle(a: Float[NumpyArray, "3 3"], b: Float[NumpyArray, "3 3"]) -> float:
    return float(np.arccos(np.clip(0.5 * (np.trace(a.T @ b) - 1.0), -1.0, 1.0)))


def _unit(vectors: Float[NumpyArray, "*batch 3"]) -> Float[NumpyArray, "*batch 3"]:
    return vectors / np.maximum(np.linalg.norm(vectors, axis=-1, keepdims=True), 1e-12)
