"""The dynamic control vector: how a body moves, seen from itself (Pons-Moll 2015, section 4).

Of `joints`, the paper's: u_k = {θ̇, θ̈, v, a}, angular velocity and acceleration of every driving
joint, by the log map and in the joint's own axes; velocity and acceleration of the root in the
root's axes. With `gravity` the specific force Rᵀ(a − g) stands for a, less that of a body that
stands still, g upward: a body that lies or hangs then feels where down is, and one that stands is
at rest as before.

Of `bones`: u_k = {R_bᵀ c̈_b, R_bᵀ ω̇_b}, what flesh on bone b feels in the bone's own axes: the
acceleration of the joint's centre and the angular acceleration in the world (R the bone's world
rotation). Angles of joints say that by way of all joints before them, which no linear map does.
"""

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.dynamics import ControlKind, Differences
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.dynamics.bones import BonePose, BoneSpeed, bone_speed, posed_bones
from corporeal.errors import InputError
from corporeal.geometry.rotations import (
    axis_angle_from_quaternion,
    conjugate_quaternion,
    matrix_from_axis_angle,
    multiply_quaternions,
    quaternion_from_axis_angle,
)

FPS = 60.0
"""Frames a second that models are trained at."""
GRAVITY = np.array([0.0, -9.81, 0.0])
"""m/s²."""


_NO_FLESH = ("ankle", "foot", "wrist", "head")
"""Bones that carry no flesh which swings, beside those of hands."""


def control_size(joint_count: int, kind: ControlKind = "joints") -> int:
    """Numbers of a control vector."""
    return 6 * joint_count + (6 if kind == "joints" else 0)


def driving_names(skeleton: Skeleton, kind: ControlKind) -> tuple[str, ...]:
    """The joints or bones that move flesh."""
    names = driving_joints(skeleton)
    if kind == "joints":
        return names
    return tuple(
        name for name in names if not (name.partition("_")[2] or name).startswith(_NO_FLESH)
    )


def driving_joints(skeleton: Skeleton) -> tuple[str, ...]:
    """The joints that move flesh: all but those of fingers and hands beyond the wrist."""
    fingers = ("index", "middle", "pinky", "ring", "thumb", "hand")
    return tuple(
        name
        for name in skeleton.names
        if not any(name.partition("_")[2].startswith(finger) for finger in fingers)
    )


def joint_rows(names: tuple[str, ...], skeleton: Skeleton) -> NumpyArray:
    """Places of the driving joints in a skeleton; the root must be the root."""
    missing = [name for name in names if name not in skeleton.names]
    if missing:
        raise InputError(
            f"the model is driven by the joints {', '.join(missing[:5])}; the skeleton has "
            f"{', '.join(skeleton.names[:5])}, …. Retarget the motion to a body of the model."
        )
    rows = np.array([skeleton.names.index(name) for name in names])
    if rows[0] != 0:
        raise InputError(
            f"the model's root is {names[0]!r} and the skeleton's {skeleton.names[0]!r}; expected "
            f"the same joint."
        )
    return rows


def control_vectors(
    motion: Motion,
    names: tuple[str, ...],
    differences: Differences = "causal",
    gravity: bool = False,
) -> Float64[NumpyArray, "N c"]:
    """u of every frame of a motion, at its own rate; before the first frame nothing moved."""
    rows = joint_rows(names, motion.skeleton)
    turns = np.asarray(motion.joint_rotations, np.float64)[:, rows]
    root = np.asarray(motion.root_translation, np.float64)
    return controls_of_tracks(turns, root, motion.fps, differences, gravity)


def controls_of_tracks(
    turns: Float[NumpyArray, "N J 3"],
    root: Float[NumpyArray, "N 3"],
    fps: float,
    differences: Differences,
    gravity: bool,
) -> Float64[NumpyArray, "N c"]:
    """u of axis-angle tracks (radians, the root first) and of the root's way (metres)."""
    quaternions = quaternion_from_axis_angle(np.asarray(turns, np.float64))
    # ω_k Δt = log(R_{k−1}ᵀ R_k); `spin[k]` is the turn to frame k, 0 for the first
    spin = np.zeros(turns.shape)
    spin[1:] = fps * relative_turn(quaternions[:-1], quaternions[1:])
    pace = np.zeros(root.shape)
    pace[1:] = fps * np.diff(np.asarray(root, np.float64), axis=0)
    if differences == "causal":
        turning = fps * np.diff(spin, axis=0, prepend=np.zeros((1, *spin.shape[1:])))
        push = fps * np.diff(pace, axis=0, prepend=np.zeros((1, 3)))
    else:  # ω_k = log(R_kᵀ R_{k+1}) / Δt, α_k = (ω_{k+1} − ω_k) / Δt; at the end it stands still
        spin = np.concatenate([spin[1:], np.zeros((1, *spin.shape[1:]))])
        pace = np.concatenate([pace[1:], np.zeros((1, 3))])
        turning = fps * np.diff(spin, axis=0, append=np.zeros((1, *spin.shape[1:])))
        push = fps * np.diff(pace, axis=0, append=np.zeros((1, 3)))
    own = matrix_from_axis_angle(np.asarray(turns[:, 0], np.float64))
    return packed_controls(spin, turning, own, pace, push, gravity)


def packed_controls(
    spin: Float64[NumpyArray, "*batch J 3"],
    turning: Float64[NumpyArray, "*batch J 3"],
    root_rotation: Float64[NumpyArray, "*batch 3 3"],
    pace: Float64[NumpyArray, "*batch 3"],
    push: Float64[NumpyArray, "*batch 3"],
    gravity: bool,
) -> Float64[NumpyArray, "*batch c"]:
    """One vector of rates: rad/s, rad/s², and in the root's axes m/s and m/s²."""
    seen = np.swapaxes(root_rotation, -1, -2)
    # v = Rᵀ v^W, a = Rᵀ a^W; or the specific force, less that of standing
    velocity = (seen @ pace[..., None])[..., 0]
    felt = push - GRAVITY if gravity else push
    force = (seen @ felt[..., None])[..., 0] + (GRAVITY if gravity else 0.0)
    flat = (*spin.shape[:-2], -1)
    return np.concatenate([spin.reshape(flat), turning.reshape(flat), velocity, force], axis=-1)


def relative_turn(
    before: Float64[NumpyArray, "*batch 4"], after: Float64[NumpyArray, "*batch 4"]
) -> Float64[NumpyArray, "*batch 3"]:
    """log(R_beforeᵀ R_after), radians, of quaternions (wxyz)."""
    return axis_angle_from_quaternion(multiply_quaternions(conjugate_quaternion(before), after))


class BoneTree:
    """Some bones of a body, and what they hang on."""

    def __init__(
        self, names: tuple[str, ...], skeleton: Skeleton, joints: Float[NumpyArray, "J 3"]
    ) -> None:
        """`names` are the bones that drive, `joints` the body's rest joints, metres."""
        wanted = joint_rows(names, skeleton)
        needed = {int(row) for row in wanted}
        for row in sorted(needed, reverse=True):
            while (row := skeleton.parents[row]) >= 0:
                needed.add(row)
        self.rows = np.array(sorted(needed))
        """Joints whose rotations are needed, parents first."""
        place = {int(row): n for n, row in enumerate(self.rows)}
        self.parents = tuple(place.get(skeleton.parents[row], -1) for row in self.rows)
        """Of these, among these."""
        self.driving = np.array([place[int(row)] for row in wanted])
        """Places of the bones that drive, among these."""
        self.joints = np.asarray(joints, np.float64)[self.rows]
        """Rest joints of these, metres."""

    def bones(
        self, local: Float64[NumpyArray, "*n k 3 3"], root: Float64[NumpyArray, "*n 3"]
    ) -> BonePose:
        """The bones that drive, from rotations of `rows` and the root's shift."""
        found = posed_bones(local, self.joints, self.parents, root)
        return BonePose(
            found.centres[..., self.driving, :],
            found.rotations[..., self.driving, :, :],
            found.local[..., self.driving, :, :],
        )


def bone_controls(
    motion: Motion, names: tuple[str, ...], joints: Float[NumpyArray, "J 3"]
) -> Float64[NumpyArray, "N c"]:
    """u of every frame by causal differences; before the first frame nothing moved."""
    tree = BoneTree(names, motion.skeleton, joints)
    turns = np.asarray(motion.joint_rotations, np.float64)[:, tree.rows]
    now = tree.bones(matrix_from_axis_angle(turns), np.asarray(motion.root_translation, np.float64))
    before = BonePose(*(np.concatenate([part[:1], part[:-1]]) for part in now))
    speed = bone_speed(before, now, 1.0 / motion.fps)
    last = BoneSpeed(*(np.concatenate([np.zeros_like(part[:1]), part[:-1]]) for part in speed))
    return packed_bone_controls(now, speed, last, 1.0 / motion.fps)


def packed_bone_controls(
    now: BonePose, speed: BoneSpeed, before: BoneSpeed, seconds: float
) -> Float64[NumpyArray, "*batch c"]:
    """R_bᵀ c̈_b (m/s²) of all bones, then R_bᵀ ω̇_b (rad/s²)."""
    into_bone = np.swapaxes(now.rotations, -1, -2)
    felt = (speed.velocity - before.velocity, speed.turning - before.turning)
    rows = [(into_bone @ (change / seconds)[..., None])[..., 0] for change in felt]
    return np.concatenate([row.reshape(*row.shape[:-2], -1) for row in rows], axis=-1)
