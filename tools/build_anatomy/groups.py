"""Which bones are wrapped together, and how wide the gaps are that the wrap bridges."""

import numpy as np
from source import Bones

from corporeal.anatomy.building.wrap import BoneGroup

PELVIS = ("l_pelvis", "r_pelvis", "sacrum_geom_1_sacrum")


def wrap_groups(bones: Bones, placed: dict[str, np.ndarray]) -> list[BoneGroup]:
    """Groups with their closing radius, metres; `placed` holds every bone's vertices."""
    ribs = [name for name in bones.names if name.startswith("torso_")]
    lumbar = [name for name in bones.names if name.startswith("lumbar")]
    hand = [name for name in bones.names if name.endswith("mc_l")]
    hand += ["lunate_l", "capitate_l", "scaphoid_l", "hamate_l"]
    leg, arm = _sides("l_femur", "l_tibia", "l_fibula", "l_patella"), _sides("humerus")
    foot = _sides("l_tibia", "l_fibula", "l_talus", "l_foot", "l_bofoot")
    sets = [
        ([*ribs, *lumbar, *PELVIS], 0.055),  # the trunk's hollow, and the waist rounded off
        ([*PELVIS], 0.06),  # the pelvic ring
        (["hat_cervical"], 0.02),
        ([*ribs, "hat_cervical", *_sides("scapula", "clavicle"), *arm], 0.02),
        ([*PELVIS, *_sides("l_femur")], 0.015),
        (leg, 0.015),
        (foot, 0.018),
        ([*arm, *_sides("ulna", "radius")], 0.014),
        ([*hand, *_sides("ulna", "radius")], 0.014),
    ]
    return [_group(bones, placed, names, closing) for names, closing in sets]


def _sides(*names: str) -> list[str]:
    """Both sides of bones named on the left (`l_femur`) or without side (`ulna`)."""
    pairs = [(n, "r_" + n[2:]) if n.startswith("l_") else (n + "_l", n + "_r") for n in names]
    return [name for pair in pairs for name in pair]


def _group(
    bones: Bones, placed: dict[str, np.ndarray], names: list[str], closing: float
) -> BoneGroup:
    vertices, triangles, count = [], [], 0
    for name in names:
        vertices.append(placed[name])
        triangles.append(bones.triangles[bones.names.index(name)] + count)
        count += len(placed[name])
    return BoneGroup(np.concatenate(vertices), np.concatenate(triangles), closing)
