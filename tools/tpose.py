"""The one rotation set that turns the sculpted pose into the T-pose."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from rig_mapping import FINGERS

COLLAR_RAISE_DEG = 12.0
"""0° leaves a notch above the shoulder, 20° buries the neck."""
LEG_SPLAY_DEG = 3.0
"""Angle between the vertical and the line from hip to ankle, seen from the front."""
X, Y, Z = np.eye(3)
FINGER_NAMES = {number: name for name, number in FINGERS.items()}
Between = Callable[[str, str], np.ndarray]
"""Vector from one landmark of the left side to another, metres."""
MIRROR = np.diag([-1.0, 1.0, 1.0])


@dataclass(frozen=True)
class Bone:
    """A bone of the repose: it turns by `rotation` about the joint `pivot`."""

    name: str
    parent: str
    pivot: str
    rotation: np.ndarray
    source: tuple[str, ...]
    """Starts of the source bone names whose weights it takes, without side."""


def turn(axis: np.ndarray, angle: float) -> np.ndarray:
    """Rotation about a unit axis, radians."""
    cross = np.cross(np.eye(3), axis)
    return np.eye(3) + np.sin(angle) * cross + (1 - np.cos(angle)) * cross @ cross


def swing(start: np.ndarray, end: np.ndarray) -> np.ndarray:
    """The smallest rotation that takes the direction `start` to `end`."""
    start, end = start / np.linalg.norm(start), end / np.linalg.norm(end)
    axis = np.cross(start, end)
    sine = np.linalg.norm(axis)
    if sine < 1e-12:
        return np.eye(3)
    return turn(axis / sine, np.arctan2(sine, start @ end))


def frame(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Orthonormal axes as columns: along `first`, then `second` made square to it."""
    a = first / np.linalg.norm(first)
    c = np.cross(a, second)
    c /= np.linalg.norm(c)
    return np.stack([a, np.cross(c, a), c], axis=1)


def twist_angle(rotation: np.ndarray, axis: np.ndarray) -> float:
    """Angle of the part of a rotation that turns about `axis` (swing–twist split), radians."""
    sine = axis @ np.array(
        [
            rotation[2, 1] - rotation[1, 2],
            rotation[0, 2] - rotation[2, 0],
            rotation[1, 0] - rotation[0, 1],
        ]
    )
    return 2 * np.arctan2(sine, 1 + np.trace(rotation))


def left_bones(landmark: dict[str, np.ndarray]) -> list[Bone]:
    """Bones of the left half, from the landmarks of the average adult."""

    def between(start: str, end: str) -> np.ndarray:
        return landmark[f"joint-l-{end}"] - landmark[f"joint-l-{start}"]

    arm = _arm(between)
    return [*arm, *_fingers(arm[-1].rotation, between), *_leg(landmark)]


def _arm(between: Between) -> list[Bone]:
    upper, fore = between("shoulder", "elbow"), between("elbow", "hand")
    hinge = np.cross(upper, fore)  # the axis about which the elbow flexes; −y in the T-pose
    collar = turn(Z, np.radians(COLLAR_RAISE_DEG))
    untwisted = swing(collar @ upper, X) @ collar
    upper_end = frame(X, -Y) @ frame(upper, hinge).T
    upper_twist = twist_angle(upper_end @ untwisted.T, X)
    fore_start = frame(X, -Y) @ frame(fore, hinge).T
    hand = frame(X, Z) @ frame(between("hand", "finger-3-1"), between("finger-5-1", "finger-2-1")).T
    fore_twist = twist_angle(hand @ fore_start.T, X)
    print(f"twist: upper arm {np.degrees(upper_twist):.1f}°, forearm {np.degrees(fore_twist):.1f}°")
    upper_start = turn(X, upper_twist / 2) @ untwisted
    fore_first = turn(X, fore_twist / 3) @ fore_start
    fore_last = turn(X, fore_twist * 2 / 3) @ fore_start
    return [
        Bone("collar", "trunk", "left_collar", collar, ("clavicle", "shoulder01")),
        Bone("upper_arm_start", "collar", "left_shoulder", upper_start, ("upperarm01",)),
        Bone("upper_arm_end", "collar", "left_shoulder", upper_end, ("upperarm02",)),
        Bone("forearm_start", "upper_arm_end", "left_elbow", fore_first, ("lowerarm01",)),
        Bone("forearm_end", "upper_arm_end", "left_elbow", fore_last, ("lowerarm02",)),
        Bone("hand", "forearm_end", "left_wrist", hand, ("wrist", "metacarpal")),
    ]


def _fingers(hand: np.ndarray, between: Between) -> list[Bone]:
    """Fingers along the splay of their first bone with the flexion taken out; the thumb along the
    line from its base to its tip."""
    bones = []
    for finger in (1, 2, 3, 4, 5):
        if finger == 1:
            along = hand @ between("finger-1-1", "finger-1-4")
        else:
            along = hand @ between(f"finger-{finger}-1", f"finger-{finger}-2") * [1, 0, 1]
        for phalanx in (1, 2, 3):
            direction = hand @ between(
                f"finger-{finger}-{phalanx}", f"finger-{finger}-{phalanx + 1}"
            )
            bones.append(
                Bone(
                    f"finger{finger}-{phalanx}",
                    "hand" if phalanx == 1 else f"finger{finger}-{phalanx - 1}",
                    f"left_{FINGER_NAMES[finger]}{phalanx}",
                    swing(direction, along) @ hand,
                    (f"finger{finger}-{phalanx}",),
                )
            )
    return bones


def _leg(landmark: dict[str, np.ndarray]) -> list[Bone]:
    line = landmark["joint-l-ankle"] - landmark["left_hip"]
    inwards = np.arctan2(line[0], -line[1]) - np.radians(LEG_SPLAY_DEG)
    leg = turn(Z, -inwards)
    print(f"leg turned inwards by {np.degrees(inwards):.1f}°")
    return [
        Bone("leg", "trunk", "left_hip", leg, ("upperleg", "lowerleg")),
        Bone("foot", "leg", "left_ankle", np.eye(3), ("foot", "toe")),
    ]


def all_bones(landmark: dict[str, np.ndarray]) -> list[Bone]:
    """The trunk, which stays, then the left bones and their mirror images."""
    bones = [Bone("trunk", "", "pelvis", np.eye(3), ())]
    for bone in left_bones(landmark):
        for side, end in (("left", ".L"), ("right", ".R")):
            left = side == "left"
            bones.append(
                Bone(
                    f"{side}_{bone.name}",
                    bone.parent if bone.parent == "trunk" else f"{side}_{bone.parent}",
                    bone.pivot if left else bone.pivot.replace("left", "right"),
                    bone.rotation if left else MIRROR @ bone.rotation @ MIRROR,
                    tuple(start + end for start in bone.source),
                )
            )
    return bones
