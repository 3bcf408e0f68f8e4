"""Poses that bring the skin on both sides of a joint together, for any skeleton.

Komaritzan 2022, section 3.2.5: simulated offline, to find which vertices may meet.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.skeleton import Skeleton

BENT = 2.2
"""Radians that a joint of an unknown skeleton is bent by, either way about two axes."""
SHORTEST = 0.5
"""Joints whose bone is shorter than this share of the median one are not bent: fingers, toes."""

BODY_POSES: tuple[dict[str, tuple[float, float, float]], ...] = (
    {
        "left_elbow": (0.0, -2.4, 0.0),
        "right_elbow": (0.0, 2.4, 0.0),
        "left_knee": (2.4, 0.0, 0.0),
        "right_knee": (2.4, 0.0, 0.0),
    },
    {"left_hip": (-2.0, 0.0, 0.0), "right_hip": (-2.0, 0.0, 0.0), "spine1": (0.3, 0.0, 0.0)},
    {"left_hip": (-1.0, 0.0, -0.35), "right_hip": (-1.0, 0.0, 0.35)},
    {"left_shoulder": (0.0, 0.0, -1.4), "right_shoulder": (0.0, 0.0, 1.4)},
    {"left_shoulder": (0.0, -2.0, -0.3), "right_shoulder": (0.0, 2.0, 0.3)},
    {
        "left_collar": (0.0, 0.0, 0.4),
        "right_collar": (0.0, 0.0, -0.4),
        "left_shoulder": (0.0, 0.0, 1.2),
        "right_shoulder": (0.0, 0.0, -1.2),
        "left_ankle": (0.9, 0.0, 0.0),
        "right_ankle": (0.9, 0.0, 0.0),
    },
    {
        "left_ankle": (-0.7, 0.0, 0.0),
        "right_ankle": (-0.7, 0.0, 0.0),
        "left_foot": (-0.8, 0.0, 0.0),
        "right_foot": (-0.8, 0.0, 0.0),
    },
    {"spine1": (0.0, 0.4, 0.0), "spine2": (0.0, 0.4, 0.0), "spine3": (0.0, 0.3, 0.0)},
    {"spine1": (0.0, -0.4, 0.0), "spine2": (0.0, -0.4, 0.0), "spine3": (0.0, -0.3, 0.0)},
)
"""Elbows and knees, hips, crotch, armpits and chest, tops of the shoulders, ankles and balls of the
feet, the waist either way: joints of the default body (radians)."""


def extreme_poses(skeleton: Skeleton) -> list[Float64[NumpyArray, "J 3"]]:
    """Joint rotations, axis-angle: the body's own where its joints are known, else every longer
    joint bent about two axes across its bone, forth and back, all at once."""
    known = {name for pose in BODY_POSES for name in pose}
    if known <= set(skeleton.names):
        return [_named(skeleton, pose) for pose in BODY_POSES]
    joints, parents = np.asarray(skeleton.joints, np.float64), np.asarray(skeleton.parents)
    bone = joints - joints[np.maximum(parents, 0)]
    length = np.linalg.norm(bone, axis=1)
    usual = float(np.median(length[1:])) if len(length) > 1 else 0.0
    bent = (parents >= 0) & (length > SHORTEST * usual) & (length > 0)
    axis = bone / np.where(length > 0, length, 1.0)[:, None]
    across = np.cross(axis, np.eye(3)[np.argmin(np.abs(axis), axis=1)])
    across /= np.maximum(np.linalg.norm(across, axis=1, keepdims=True), 1e-12)
    rotation_vectors = (across, -across, np.cross(axis, across), -np.cross(axis, across))
    return [np.where(bent[:, None], BENT * turn, 0.0) for turn in rotation_vectors]


def _named(
    skeleton: Skeleton, pose: dict[str, tuple[float, float, float]]
) -> Float64[NumpyArray, "J 3"]:
    rotations = np.zeros((skeleton.joint_count, 3))
    for name, turn in pose.items():
        rotations[skeleton.index(name)] = turn
    return rotations
