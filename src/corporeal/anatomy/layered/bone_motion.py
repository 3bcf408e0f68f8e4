"""How the bone surface follows the skeleton: every place goes with the bone beneath it.

Pelvis and sacrum are one with the hips, shoulder blade and collarbone with the collar; the lumbar
and cervical spine go over from one to the other. Thoracic vertebrae turn a little each, and their
ribs with them: of the turn between two joints of the back every height has its share.
Places near a joint, where bones meet, are left free to stretch: the sliding regions.
"""

from itertools import pairwise

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.layered.symmetric import symmetric_mask, symmetric_weights
from corporeal.anatomy.template import LayeredTemplate
from corporeal.geometry.surface import vertex_adjacency
from corporeal.physics.volumetric_mesh.carried_parts import is_carried

CARRIERS: tuple[tuple[str, str], ...] = (
    ("torso_", "spine3"),
    ("lumbar1", "spine2"),
    ("lumbar2", "spine2"),
    ("lumbar3", "spine1"),
    ("lumbar4", "spine1"),
    ("lumbar5", "pelvis"),
    ("sacrum", "pelvis"),
    ("l_pelvis", "pelvis"),
    ("r_pelvis", "pelvis"),
    ("hat_cervical", "neck"),
    ("hat_", "head"),
    ("clavicle", "collar"),
    ("scapula", "collar"),
    ("humerus", "shoulder"),
    ("ulna", "elbow"),
    ("radius", "elbow"),
    ("femur", "hip"),
    ("patella", "knee"),
    ("tibia", "knee"),
    ("fibula", "knee"),
    ("talus", "ankle"),
    ("foot", "ankle"),
    ("bofoot", "foot"),
)
"""Beginning of a bone's name, without side, and the joint that carries it."""
CERTAIN = 0.8
"""A vertex is held where one joint has at least this weight; elsewhere it slides."""
SMOOTHING = 5
"""Rounds that blur the border between two bones."""
RIBS = "torso_"
"""How the names of ribs and thoracic vertebrae begin."""
CHEST = ("spine1", "spine2", "spine3")
"""Joints of the back. From one to the next ribs go over by their height, half at the joint: trunks
turn more in the thoracic spine than in the lumbar one, and a rib cage in one piece would leave all
of it to the waist."""
RIGID = (RIBS, "sacrum", "l_pelvis", "r_pelvis")
"""Bones that hold what lies over them, rib cage and pelvis, as their names begin."""
BENEATH = 0.03
"""Metres from the bone surface within which a bone lies beneath it."""


def joint_of_bone(name: str, names: tuple[str, ...]) -> int | None:
    """Index of the joint that carries a bone; None for the hand's."""
    side = "left" if name.startswith("l_") or name.endswith("_l") else "right"
    plain = name[2:] if name[:2] in ("l_", "r_") and "pelvis" not in name else name
    for start, joint in CARRIERS:
        if plain.startswith(start):
            full = joint if joint in names else f"{side}_{joint}"
            return names.index(full)
    return None


def bone_weights(template: LayeredTemplate) -> Float64[NumpyArray, "V J"]:
    """Weights of the bone surface: the carrier of the nearest bone, blurred over a few edges.

    Where ribs or pelvis lie beneath, their joints have it all: they hold the torso. Outside the
    layered region, and where joints carry the skin itself, the skin's own weights hold.
    """
    names = template.body.skeleton.names
    away, bone = _bones_beneath(template)
    rigid = np.array([each.name.startswith(RIGID) for each in template.bones])[bone]
    weights = np.eye(len(names))[_joints_of_bones(template)[bone]]
    ribs = np.array([each.name.startswith(RIBS) for each in template.bones])[bone]
    weights[ribs] = _rib_weights(template)[ribs]
    own = template.body.weights.dense().astype(np.float64)
    carried = ~template.layered | is_carried(template.body)
    weights[carried] = own[carried]
    fixed = carried | (rigid & (away < BENEATH))
    kept = weights[fixed]
    adjacency = vertex_adjacency(template.triangles, len(weights)).astype(np.float64)
    degree = np.maximum(adjacency.sum(axis=1), 1.0)[:, None]
    for _ in range(SMOOTHING):
        weights = 0.5 * weights + 0.5 * (adjacency @ weights) / degree
        weights[fixed] = kept
    return symmetric_weights(weights, template.body)


def _rib_weights(template: LayeredTemplate) -> Float64[NumpyArray, "V J"]:
    """Those of ribs at every vertex's height."""
    names = template.body.skeleton.names
    chain = [names.index(name) for name in CHEST]
    weights = np.zeros((len(template.bone), len(names)))
    weights[:, chain[0]] = 1.0
    for below, joint in pairwise(chain):
        low, middle = template.joints[[below, joint], 1]
        share = np.clip((template.bone[:, 1] - low) / (2.0 * (middle - low)), 0.0, 1.0)[:, None]
        weights = (1.0 - share) * weights + share * np.eye(len(names))[joint]
    return weights


def over_ribs(template: LayeredTemplate) -> Bool[NumpyArray, "V"]:
    """Layered vertices with ribs or thoracic vertebrae beneath the bone surface."""
    away, bone = _bones_beneath(template)
    rib = np.array([each.name.startswith(RIBS) for each in template.bones])
    return symmetric_mask(template.layered & rib[bone] & (away < BENEATH), template.body)


def _bones_beneath(
    template: LayeredTemplate,
) -> tuple[Float64[NumpyArray, "V"], Int[NumpyArray, "V"]]:
    """Metres from every vertex of the bone surface to the nearest bone that a joint carries, and
    which bone of the template that is."""
    from scipy.spatial import KDTree

    carried = np.flatnonzero(_joints_of_bones(template) >= 0)
    clouds = [template.bones[number].vertices for number in carried]
    away, nearest = KDTree(np.concatenate(clouds)).query(template.bone)
    return away, np.repeat(carried, [len(cloud) for cloud in clouds])[nearest]


def _joints_of_bones(template: LayeredTemplate) -> Int[NumpyArray, "k"]:
    """The joint that carries every bone of the template; −1 for the hand's."""
    names = template.body.skeleton.names
    joints = [joint_of_bone(bone.name, names) for bone in template.bones]
    return np.array([-1 if joint is None else joint for joint in joints])


def held_by_bone(
    weights: Float64[NumpyArray, "V J"], layered: Bool[NumpyArray, "V"], names: tuple[str, ...]
) -> Bool[NumpyArray, "V"]:
    """Bone vertices that move with their bone, or with the rib cage; the others slide."""
    chest = weights[:, [names.index(name) for name in CHEST]].sum(axis=1)
    return ~layered | (np.maximum(weights.max(axis=1), chest) >= CERTAIN)
