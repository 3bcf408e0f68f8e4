"""Which bones are wrapped together, and how wide the gaps are that the wrap bridges."""

from collections.abc import Sequence

import numpy as np

from corporeal.anatomy.building.wrap import BoneGroup
from corporeal.assets.anatomy import BoneMesh

PELVIS = ("l_pelvis", "r_pelvis", "sacrum_geom_1_sacrum")


def wrap_groups(bones: Sequence[BoneMesh]) -> list[BoneGroup]:
    """Groups of placed bones with their closing radius, metres."""
    by_name = {bone.name: bone for bone in bones}
    ribs = [name for name in by_name if name.startswith("torso_")]
    lumbar = [name for name in by_name if name.startswith("lumbar")]
    hand = [name for name in by_name if name.endswith("mc_l")]
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
    return [_group([by_name[name] for name in names], closing) for names, closing in sets]


def _sides(*names: str) -> list[str]:
    """Both sides of bones named on the left (`l_femur`) or without side (`ulna`)."""
    pairs = [(n, "r_" + n[2:]) if n.startswith("l_") else (n + "_l", n + "_r") for n in names]
    return [name for pair in pairs for name in pair]


def _group(bones: Sequence[BoneMesh], closing: float) -> BoneGroup:
    starts = np.cumsum([0] + [len(bone.vertices) for bone in bones])
    triangles = [bone.triangles + start for bone, start in zip(bones, starts[:-1], strict=True)]
    return BoneGroup(
        np.concatenate([bone.vertices for bone in bones]), np.concatenate(triangles), closing
    )
