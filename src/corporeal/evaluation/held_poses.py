"""Forty poses that flesh is held in: twelve of an artist's sheet, twenty that fold deeply.

Joint rotations are axis-angle, radians, of the default body's skeleton: the left side is +x, the
body faces +z, arms at zero stretch out sideways. A pose for both sides names the left joint.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.skeleton import Skeleton

Turn = tuple[float | int, float | int, float | int]


def mirrored(turn: Turn) -> Turn:
    """The rotation vector seen in the sagittal plane x = 0."""
    x, y, z = turn
    return (x, -y, -z)


def _both(**turns: Turn) -> dict[str, Turn]:
    """The same on both sides; joints of the trunk are named as they are."""
    pose: dict[str, Turn] = {}
    for name, turn in turns.items():
        if name.startswith(("spine", "neck", "head", "pelvis")):
            pose[name] = turn
        else:
            pose[f"left_{name}"], pose[f"right_{name}"] = turn, mirrored(turn)
    return pose


SHEET: dict[str, dict[str, Turn]] = {
    "a-pose": _both(shoulder=(0, 0, -0.8)),
    "arms-down": _both(shoulder=(0, 0, -1.35)),
    "arms-up": _both(shoulder=(0, 0, 1.3)),
    "arms-forward": _both(shoulder=(0, -1.45, 0)),
    "arms-crossed": {
        "left_shoulder": (0.57, -1.05, -0.97),
        "left_elbow": (0, -1.82, 0),
        "left_wrist": (-0.24, 0.13, -0.21),
        "right_shoulder": (0.56, 0.97, 1.03),
        "right_elbow": (0, 1.58, 0),
        "right_wrist": (-0.79, 0.4, 0.2),
    },
    "hands-on-hips": _both(
        shoulder=(1.37, -0.16, -0.79), elbow=(0, -1.65, 0), wrist=(-0.36, -0.34, 0.9)
    ),
    "deep-squat": _both(
        hip=(-2.0, 0, 0.15), knee=(2.3, 0, 0), ankle=(-0.6, 0, 0), pelvis=(0.3, 0, 0),
        spine1=(0.3, 0, 0), shoulder=(-0.49, -1.39, 0.43),
    ),
    "sitting": _both(hip=(-1.57, 0, 0), knee=(1.57, 0, 0), shoulder=(0, 0, -1.2)),
    "kneeling": _both(
        hip=(-0.63, 0, 0), knee=(2.2, 0, 0), ankle=(0.8, 0, 0), shoulder=(0, 0, -1.2)
    ),
    "high-kick": {"left_hip": (-1.9, 0, 0), "right_hip": (0.15, 0, 0)},
    "toe-touch": _both(
        pelvis=(1.4, 0, 0), hip=(-1.4, 0, 0), spine1=(0.35, 0, 0), spine2=(0.35, 0, 0),
        spine3=(0.2, 0, 0), shoulder=(-0.53, -1.43, 0.48),
    ),
    "torso-twist": {"spine1": (0, 0.35, 0), "spine2": (0, 0.35, 0), "spine3": (0, 0.3, 0)},
}  # fmt: skip
"""The twelve that the docs show; soles, where they stand, are level."""

DEEP_FOLDS: dict[str, dict[str, Turn]] = {
    "hips-103-knees-138": _both(hip=(-1.8, 0, 0), knee=(2.4, 0, 0), elbow=(0, -2.4, 0)),
    "elbows-143": _both(elbow=(0, -2.5, 0)),
    "elbows-120": _both(elbow=(0, -2.1, 0)),
    "knees-138": _both(knee=(2.4, 0, 0)),
    "knees-120": _both(knee=(2.1, 0, 0)),
    "hips-115": _both(hip=(-2.0, 0, 0)),
    "squat": SHEET["deep-squat"],
    "crossed-legs": {
        "left_hip": (-1.5, 0.01, -0.38),
        "right_hip": (-1.4, 0, 0.07),
        "left_knee": (1.35, 0, 0),
        "right_knee": (1.55, 0, 0),
    },
    "crouch": _both(
        hip=(-2.1, 0, 0), knee=(2.4, 0, 0), spine1=(0.4, 0, 0), spine2=(0.3, 0, 0)
    ),
    "hug-knees": _both(
        hip=(-2.1, 0, 0), knee=(2.2, 0, 0), shoulder=(0.4, -1.0, -0.4), elbow=(0, -1.0, 0)
    ),
    "left-knee-up": {"left_hip": (-2.1, 0, 0), "left_knee": (2.3, 0, 0)},
    "right-heel-to-seat": {"right_knee": (2.45, 0, 0)},
    "lunge": {"left_hip": (-1.7, 0, 0), "left_knee": (1.8, 0, 0), "right_knee": (1.5, 0, 0)},
    "arms-pressed-down": _both(shoulder=(0, 0, -1.5)),
    "arms-across": {
        "left_shoulder": (0.07, -1.99, -0.34),
        "right_shoulder": (-0.06, 2.0, 0.26),
    },
    "hand-to-belly": {"left_shoulder": (1.097, -0.758, -0.709), "left_elbow": (0, -1.608, 0)},
    "hands-to-shoulders": _both(
        shoulder=(-0.3, -0.86, -0.83), elbow=(0, -2.4, 0), wrist=(-0.19, -0.15, 0.31)
    ),
    "bent-forward": _both(hip=(-1.9, 0, 0), spine1=(0.5, 0, 0), spine2=(0.4, 0, 0)),
    "thighs-together": _both(hip=(-1.0, 0, -0.12)),
    "foetal": _both(
        hip=(-2.2, 0, 0), knee=(2.4, 0, 0), spine1=(0.4, 0, 0), spine2=(0.4, 0, 0),
        shoulder=(0.07, -0.5, -0.79), elbow=(0, -2.05, 0), wrist=(0, 0.1, 0),
    ),
}  # fmt: skip
"""Where skin meets skin, as tightly as joints go without bones through bones: the middle lines of
limbs stay apart by 0.8 of their radii together, on the default body (`evaluation.held_anchors`)."""

LIVELY: dict[str, dict[str, Turn]] = {
    "wide-stance": _both(hip=(0, 0, 0.5)),
    "splits": _both(hip=(-0.2, 0, 1.1)),
    "side-bend": {"spine1": (0, 0, 0.3), "spine2": (0, 0, 0.3), "spine3": (0, 0, 0.2)},
    "back-bend": _both(spine1=(-0.3, 0, 0), spine2=(-0.3, 0, 0), hip=(0.3, 0, 0)),
    "right-arm-up": {"right_shoulder": (0, 0, -1.4)},
    "arms-back": _both(shoulder=(0, 0.7, -1.0)),
    "stride": {"left_hip": (-0.6, 0, 0), "right_hip": (0.4, 0, 0), "right_knee": (0.6, 0, 0)},
    "forearms-turned": _both(shoulder=(0, 0, -1.2), wrist=(1.2, 0, 0)),
}
"""Others, to make forty."""

HELD_POSES: dict[str, dict[str, Turn]] = SHEET | DEEP_FOLDS | LIVELY


def joint_rotations(skeleton: Skeleton, pose: dict[str, Turn]) -> Float64[NumpyArray, "J 3"]:
    """Axis-angle of every joint, radians."""
    rotations = np.zeros((skeleton.joint_count, 3))
    for name, turn in pose.items():
        rotations[skeleton.index(name)] = turn
    return rotations


def mirror_pose(pose: dict[str, Turn]) -> dict[str, Turn]:
    """The pose with left and right exchanged."""

    def other(name: str) -> str:
        if name.startswith("left_"):
            return "right_" + name[5:]
        return "left_" + name[6:] if name.startswith("right_") else name

    return {other(name): mirrored(turn) for name, turn in pose.items()}
