"""Maps the 163-bone source rig to SMPL-H's 52 joints: centres and skin weights."""

import numpy as np

BODY_JOINTS = [
    "pelvis", "left_hip", "right_hip", "spine1", "left_knee", "right_knee", "spine2",
    "left_ankle", "right_ankle", "spine3", "left_foot", "right_foot", "neck", "left_collar",
    "right_collar", "head", "left_shoulder", "right_shoulder", "left_elbow", "right_elbow",
    "left_wrist", "right_wrist",
]  # fmt: skip
BODY_PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19)
FINGERS = {"index": 2, "middle": 3, "pinky": 5, "ring": 4, "thumb": 1}
"""SMPL-H's finger order, with the source rig's finger numbers."""

HIP_SPACING = 0.728
"""Distance between the hip centres over that of the rig's, which sit in the outer thigh."""


def joint_names() -> tuple[str, ...]:
    """SMPL-H's 52 names in order: 22 of the body, 15 of the left hand, 15 of the right."""
    hands = [f"{s}_{f}{n}" for s in ("left", "right") for f in FINGERS for n in (1, 2, 3)]
    return tuple(BODY_JOINTS + hands)


def joint_parents() -> tuple[int, ...]:
    """Parent of each of the 52 joints."""
    parents = list(BODY_PARENTS)
    for wrist in (20, 21):
        for _ in FINGERS:
            parents += [wrist, len(parents), len(parents) + 1]
    return tuple(parents)


def mirrored_joints() -> np.ndarray:
    """Index of every joint's counterpart on the other side."""
    names = joint_names()
    swap = {"left": "right", "right": "left"}
    sides = [name.partition("_") for name in names]
    return np.array([names.index(swap.get(s, s) + bar + rest) for s, bar, rest in sides])


def joint_centres() -> dict[str, dict[str, float]]:
    """Joint centres as weighted sums of the source's joint cubes; `joint_rings` has the others."""
    centres = {
        "pelvis": {"joint-pelvis": 1.0},
        "spine1": {"joint-spine-3": 1.0},
        "spine2": {"joint-spine-2": 1.0},
        "spine3": {"joint-spine-1": 1.0},
        "neck": {"joint-neck": 1.0},
        "head": {"joint-head": 1.0},
    }
    for side, s, other in (("left", "l", "r"), ("right", "r", "l")):
        centres |= {
            f"{side}_hip": {
                f"joint-{s}-upper-leg": (1 + HIP_SPACING) / 2,
                f"joint-{other}-upper-leg": (1 - HIP_SPACING) / 2,
            },
            f"{side}_foot": {f"joint-{s}-toe-{toe}-1": 1 / 3 for toe in (1, 2, 3)},
            f"{side}_collar": {f"joint-{s}-clavicle": 1.0},
            f"{side}_shoulder": {f"joint-{s}-shoulder": 1.0},
            f"{side}_wrist": {f"joint-{s}-hand": 1.0},
        }
        for finger, number in FINGERS.items():
            for bone in (1, 2, 3):
                centres[f"{side}_{finger}{bone}"] = {f"joint-{s}-finger-{number}-{bone}": 1.0}
    return centres


def joint_of_bone(bone: str) -> str:
    """The SMPL-H joint that takes over a bone's skin weights."""
    stem, _, end = bone.partition(".")
    side = {"L": "left", "R": "right", "": ""}[end]
    spine = {
        "root": "pelvis", "spine05": "pelvis", "spine04": "pelvis", "spine03": "spine1",
        "spine02": "spine2", "spine01": "spine3", "breast": "spine3", "pelvis": "pelvis",
        "neck01": "neck", "neck02": "neck", "neck03": "neck",
    }  # fmt: skip
    limbs = {
        "clavicle": "collar", "shoulder01": "collar", "upperarm": "shoulder", "lowerarm": "elbow",
        "wrist": "wrist", "metacarpal": "wrist", "upperleg": "hip", "lowerleg": "knee",
        "foot": "ankle", "toe": "foot",
    }  # fmt: skip
    if stem in spine:
        return spine[stem]
    if stem.startswith("finger"):
        number, phalanx = stem.removeprefix("finger").split("-")
        finger = next(name for name, value in FINGERS.items() if value == int(number))
        return f"{side}_{finger}{phalanx}"
    for start, joint in limbs.items():
        if stem.startswith(start):
            return f"{side}_{joint}"
    return "head"  # the rest is the face


def merged_weights(
    bones: tuple[str, ...],
    weights: np.ndarray,
    group_of_bone: dict[str, str],
    groups: tuple[str, ...],
) -> np.ndarray:
    """Sum the columns of `weights` (V, bones) that belong to one group: (V, groups)."""
    merged = np.zeros((len(weights), len(groups)))
    for column, bone in enumerate(bones):
        merged[:, groups.index(group_of_bone[bone])] += weights[:, column]
    return merged
