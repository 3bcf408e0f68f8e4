"""The layered template of the default man and woman."""

from dataclasses import dataclass
from functools import cache

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.prisms import Prisms
from corporeal.assets.anatomy import SEXES, BoneMesh, read_anatomy
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.volumetric_mesh.carried_parts import FEET, HANDS, in_head, toes


def layered_region(template: Template) -> Bool[NumpyArray, "V"]:
    """Vertices with layers apart: not of the head, its cavities, the hands or the toes."""
    solid = in_head(template)
    for foot in FEET:
        solid[toes(template, foot)] = True
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


GROUPS: dict[str, tuple[str, ...]] = {
    "upper legs": ("left_thigh", "right_thigh", "left_buttock", "right_buttock", "hips"),
    "lower legs": ("left_shin", "right_shin"),
    "upper arms": ("left_upper_arm", "right_upper_arm"),
    "lower arms": ("left_forearm", "right_forearm"),
    "chest": ("chest", "left_breast", "right_breast"),
    "abdomen": ("belly",),
    "shoulders": ("left_shoulder", "right_shoulder", "neck"),
    "back": ("back",),
}
"""Muscle groups that grow and shrink as one; feet do neither."""


@dataclass(frozen=True, eq=False)
class LayeredTemplate:
    """Three surfaces of one average body, with what fitting needs to know about them."""

    sex: str
    """`female` or `male`."""
    body: Template
    """The rigged surface, whose triangulation all layers have."""
    skin: Float64[NumpyArray, "V 3"]
    """Skin in the T-pose, metres."""
    muscle: Float64[NumpyArray, "V 3"]
    """Envelope of the muscles, metres; equal to the skin where there are no layers."""
    bone: Float64[NumpyArray, "V 3"]
    """Envelope of the bones, metres; equal to the skin where there are no layers."""
    joints: Float64[NumpyArray, "J 3"]
    """Joint centres in the T-pose, metres."""
    layered: Bool[NumpyArray, "V"]
    """Vertices with layers; the others (head, hands, toes) are skin in all three."""
    muscle_thickness: Float64[NumpyArray, "V"]
    """Muscle on the line from skin to bone, metres; less than the gap where organs are."""
    group_of: Int[NumpyArray, "V"]
    """Index into `GROUPS` of every vertex; −1 for none."""
    bones: tuple[BoneMesh, ...]
    """Detailed bones in the template's T-pose."""
    muscles: tuple[BoneMesh, ...] = ()
    """Detailed muscles, if the template was made from an atlas that has them."""

    @property
    def triangles(self) -> Int[NumpyArray, "F 3"]:
        """Corner indices, common to the three surfaces."""
        return self.body.mesh.triangles

    @property
    def stature(self) -> float:
        """Metres."""
        return float(np.ptp(self.skin[:, 1]))

    def prisms(self) -> Prisms:
        """The elements between two of the surfaces."""
        return _prisms()


@cache
def layered_template(sex: str) -> LayeredTemplate:
    """The default woman ("female") or man ("male") with bone and muscle surface."""
    if sex not in SEXES:
        raise InputError(f"sex is {sex!r}; the layered template exists for {' and '.join(SEXES)}.")
    stored, model = read_anatomy(sex), PhenotypeModel()
    identity = model.prepare({"gender": float(sex == "male")})
    skin = np.asarray(identity.rest_vertices, np.float64)
    layered = layered_region(model.template)
    bone, muscle, thickness = skin.copy(), skin.copy(), np.zeros(len(skin))
    bone[stored.vertices] += stored.bone_offsets
    muscle[stored.vertices] += stored.muscle_offsets
    thickness[stored.vertices] = stored.muscle_thickness
    return LayeredTemplate(
        sex,
        model.template,
        skin,
        muscle,
        bone,
        np.asarray(identity.joints, np.float64),
        layered,
        thickness,
        muscle_groups(model.template, layered),
        stored.bones,
    )


def muscle_groups(template: Template, layered: Bool[NumpyArray, "V"]) -> Int[NumpyArray, "V"]:
    """Index into `GROUPS` of every layered vertex, by its part; −1 for none."""
    group_of_part = np.full(len(template.part_names), -1)
    for index, parts in enumerate(GROUPS.values()):
        for part in parts:
            group_of_part[template.part_names.index(part)] = index
    return np.where(layered, group_of_part[template.part_labels], -1)


@cache
def _prisms() -> Prisms:
    """Of the default topology, which every template has."""
    template = PhenotypeModel().template
    return Prisms(template.mesh.triangles, layered_region(template))
