"""What drives flesh, from the skeleton alone: how each bone accelerates and turns, and the pose.

Flesh on a bone feels the bone's movement in the bone's own axes, so that is what a network is told:
for each joint j with world rotation R and centre c

    movement  R_jᵀ c̈_j,  R_jᵀ ω̇_j                 (zero whenever the body is still),
    pose      the first two columns of R_parentᵀ R_j − I, and R_rootᵀ g: which way is down.

Derivatives look back only, over 1/60 s as in training: at higher rates over several frames, at
lower ones over one.
"""

from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.dynamics.bones import BonePose, BoneSpeed, bone_speed, posed_bones
from corporeal.geometry.rotations import matrix_from_axis_angle

SPAN: Final = 1.0 / 60.0
"""Seconds over which differences are taken."""
GRAVITY: Final = 9.81
"""m/s², downwards."""
JOINT_COUNT: Final = 22
"""Joints whose movement is felt: SMPL's without hands. Fingers carry no flesh that swings."""
MOVEMENT_SIZE: Final = 6 * 15
"""Numbers of movement a frame."""
POSE_SIZE: Final = 6 * (JOINT_COUNT - 1) + 3
"""Numbers of pose a frame."""
UNITS: Final = (9.81, 60.0)
"""m/s², rad/s²: usual sizes, by which movement is divided."""
FLESHY: Final = (0, 1, 2, 3, 4, 5, 6, 9, 12, 13, 14, 16, 17, 18, 19)
"""Bones that carry flesh which swings: none of the head, feet and hands. What the others do told
networks of few movements apart by heart."""


def bone_pose(pose: Pose, joints: Float[NumpyArray, "J 3"], parents: tuple[int, ...]) -> BonePose:
    """Bones of a body whose rest joints are `joints` (metres); the first `JOINT_COUNT` of them."""
    rotations = np.asarray(pose.joint_rotations, np.float64)[..., :JOINT_COUNT, :]
    return posed_bones(
        matrix_from_axis_angle(rotations),
        np.asarray(joints, np.float64)[:JOINT_COUNT],
        parents[:JOINT_COUNT],
        np.asarray(pose.root_translation, np.float64),
    )


def movement(
    now: BonePose, speed: BoneSpeed, speed_before: BoneSpeed, seconds: float
) -> Float[NumpyArray, "*n m"]:
    """c̈ and ω̇ of the fleshy bones, in the axes of each, over their usual sizes."""
    bones = list(FLESHY)
    into_bone = np.swapaxes(now.rotations[..., bones, :, :], -1, -2)
    felt = (
        (speed.velocity - speed_before.velocity) / seconds,
        (speed.turning - speed_before.turning) / seconds,
    )
    rows = [
        (into_bone @ vector[..., bones, :, None])[..., 0] / unit
        for vector, unit in zip(felt, UNITS, strict=True)
    ]
    stacked = np.concatenate(rows, axis=-1)
    return stacked.reshape(*stacked.shape[:-2], MOVEMENT_SIZE)


def posture(now: BonePose) -> Float[NumpyArray, "*n p"]:
    """Joint rotations as two columns each, less those at rest; and which way is down (unit)."""
    columns = (now.local[..., 1:, :, :2] - np.eye(3)[:, :2]).reshape(
        *now.local.shape[:-3], 6 * (JOINT_COUNT - 1)
    )
    down = -now.rotations[..., 0, 1, :]  # R_rootᵀ (0, −1, 0)
    return np.concatenate([columns, down], axis=-1)


def stride(fps: float) -> int:
    """Frames that make up `SPAN` best, at least one."""
    return max(1, round(fps * SPAN))


def clip_features(
    motion: Motion, joints: Float[NumpyArray, "J 3"]
) -> tuple[Float[NumpyArray, "N m"], Float[NumpyArray, "N p"]]:
    """Movement and pose of every frame; before the first one the body was still."""
    now = bone_pose(motion.poses, joints, motion.skeleton.parents)
    step = stride(motion.fps)
    seconds = step / motion.fps
    speed = bone_speed(BonePose(*(_earlier(part, step) for part in now)), now, seconds)
    speed_before = BoneSpeed(*(_earlier(part, step, still=True) for part in speed))
    return movement(now, speed, speed_before, seconds), posture(now)


def _earlier(rows: NumpyArray, step: int, *, still: bool = False) -> NumpyArray:
    """Rows `step` frames before; those before the first are the first one, or 0 where `still`."""
    held = np.repeat(rows[:1], min(step, len(rows)), axis=0)
    return np.concatenate([np.zeros_like(held) if still else held, rows[:-step]])[: len(rows)]
