"""Which part of a body has layers: all but head, hands and toes (section 4.2.2)."""

import numpy as np

from corporeal._typing import Bool, NumpyArray
from corporeal.body.template import Template
from corporeal.physics.volumetric_mesh.rigid_parts import rigid_head_and_toes

HANDS = ("left_hand", "right_hand")


def layered_region(template: Template) -> Bool[NumpyArray, "V"]:
    """Vertices with layers apart: not of the head, its cavities, the hands or the toes."""
    solid = rigid_head_and_toes(template) >= 0
    for hand in HANDS:
        solid[template.part(hand)] = True
    return ~solid


def ring_distance(template: Template, inside: Bool[NumpyArray, "V"], most: int = 12) -> NumpyArray:
    """Edges to the nearest vertex outside `inside`, at most `most`; 0 outside."""
    from corporeal.geometry.surface import vertex_adjacency

    adjacency = vertex_adjacency(template.mesh.triangles, template.mesh.vertex_count)
    rings = np.where(inside, most, 0)
    reached = ~inside
    for ring in range(1, most):
        grown = reached | (adjacency @ reached.astype(np.int32) > 0)
        rings[grown & ~reached] = ring
        reached = grown
    return rings


LIMB_PARTS = ("upper_arm", "forearm", "hand", "thigh", "shin", "foot", "buttock")


def limb_region(template: Template) -> Bool[NumpyArray, "V"]:
    """Vertices of arms and legs, buttocks among them; the others are trunk, neck and head."""
    limb = [name.split("_", 1)[-1] in LIMB_PARTS for name in template.part_names]
    return np.array(limb)[template.part_labels]
