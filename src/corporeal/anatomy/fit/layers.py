"""Layers for a body from its skin alone: scaling, skeleton, muscle, mass balance."""

from dataclasses import dataclass, replace
from functools import cache, partial

import numpy as np

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.anatomy.breast_wall import prism_looseness, spanned_bone, spanned_muscle
from corporeal.anatomy.building.muscle import vertex_volumes
from corporeal.anatomy.composition.waist import crest_waist
from corporeal.anatomy.fit.balance import (
    FAT_DENSITY,
    MUSCLE_DENSITY,
    USUAL_AGE,
    Corrections,
    FatBalance,
    best_fat_layer,
    trunk_layer_share,
)
from corporeal.anatomy.fit.muscle import average_muscle, muscle_limits
from corporeal.anatomy.fit.organ_room import organ_room, organs_left
from corporeal.anatomy.fit.requirements import require_same_body, require_same_sex
from corporeal.anatomy.fit.skeleton import fit_skeleton
from corporeal.anatomy.lines import on_lines, share_bounds, smoothed_shares, upright_shares
from corporeal.anatomy.nesting import outside_vertices
from corporeal.anatomy.prisms import Prisms, closed, raised_between, reopened
from corporeal.anatomy.scaling import damped_scale, stretch_along_bones
from corporeal.anatomy.template import LayeredTemplate, layered_template, limb_region
from corporeal.anatomy.trunk_depth import template_fat, trunk_shift
from corporeal.anthropometry.solve import GENDERS
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.layers import Layers
from corporeal.body.tissues import (
    FAT_IN_MUSCLE,
    GENITAL_MASS,
    LIPID_SHARE,
    MUSCLE_OF_TRUNK,
    SKIN_THICKNESS,
    TENDON_SHARE,
    fat_in_muscle,
    unlayered_fat,
    unlayered_muscle,
)
from corporeal.geometry.surface import triangle_areas
from corporeal.geometry.surface_tree import SurfaceTree


@dataclass(frozen=True, eq=False)
class ScaledTemplate:
    """S̄, M̄ and B̄, metres."""

    skin: Float64[NumpyArray, "V 3"]
    """S̄: the template's skin, scaled to the body, metres."""
    muscle: Float64[NumpyArray, "V 3"]
    """M̄: its muscle surface, scaled likewise, metres."""
    bone: Float64[NumpyArray, "V 3"]
    """B̄: its bone surface, scaled likewise, metres."""


def fit_layers(
    identity: Identity,
    sex: str,
    composition: Composition,
    template: LayeredTemplate | None = None,
    age: float | None = None,
) -> Layers:
    """Skin, muscle and bone surfaces of a body in the zero pose, holding `composition`.

    `template` is what is fitted (the shipped one of `sex`, if None); `age` (years; `USUAL_AGE` if
    None) tells how much of the fat the trunk has. What the layers really hold
    stands in the result's composition; what was asked, and between what bounds this surface can
    hold fat, in its metadata.
    """
    template = layered_template(sex) if template is None else template
    skin = np.asarray(identity.rest_vertices, np.float64)
    joints = np.asarray(identity.joints, np.float64)
    require_same_sex(template, sex)
    require_same_body(template, skin, joints)
    prisms, layered = template.prisms(), template.layered
    scaled = scale_template(template, skin, joints, composition.fat_mass)
    tree = SurfaceTree(skin, template.triangles)
    bone, report = fit_skeleton(
        skin,
        scaled.skin,
        scaled.bone,
        prisms,
        tree,
        prism_looseness(template),
        partial(spanned_bone, template),
    )
    belly = belly_region(template)
    beta = average_muscle(skin, bone, (scaled.skin, scaled.muscle, scaled.bone), prisms, belly)
    limits = muscle_limits(beta, skin, bone, template, prisms)
    low, high = (walled(template, limit, skin, bone) for limit in limits)
    limits = (low, high)
    average = on_lines(beta, skin, bone, layered)
    known = corrections(template, scaled, skin, average, bone, composition)
    soft = float(prisms.volumes(skin, bone).sum())
    room = organ_room(template, skin, bone, composition, known)
    organs = room.held(organs_left(composition, soft, known))
    known = with_organs(known, organs)
    wanted = best_fat_layer(composition, soft, known)
    balance = FatBalance(prisms, skin, bone, limits, trunk_region(template))
    waist = crest_waist(identity, GENDERS[sex], template.body)
    years, stature = USUAL_AGE if age is None else age, float(np.ptp(skin[:, 1]))
    on_trunk = trunk_layer_share(sex, composition, stature, waist, known, years)
    trunk, limbs = balance.met(wanted, on_trunk)
    least, most = (sum(balance.fat(end, end)) for end in (1.0, 0.0))
    mixed = upright_shares(prisms, balance.beta(trunk, limbs), skin, bone)
    muscle, bone = upright(
        prisms, skin, on_lines(mixed, skin, bone, layered), bone, template.triangles
    )
    soft_volume, fat_volume = (float(prisms.volumes(skin, inner).sum()) for inner in (bone, muscle))
    held = _held(known, soft_volume, FAT_DENSITY * fat_volume)
    lean = _held(with_organs(known, room.least), soft, least)
    fat = _held(with_organs(known, room.most), soft, most)
    metadata = {
        "sex": sex,
        "stature": stature,
        "muscularity": limbs,
        "muscularity_trunk": trunk,
        "fat_mass_asked": composition.fat_mass,
        "muscle_mass_asked": composition.muscle_mass,
        "fat_mass_least": lean.fat_mass,
        "fat_mass_most": fat.fat_mass,
        "muscle_mass_least": fat.muscle_mass,
        "muscle_mass_most": lean.muscle_mass,
        "visceral_fat": known.visceral,
        "organ_volume": organs,
        "organ_volume_named": room.named,
        "trunk_muscle_fat": known.trunk_muscle_fat,
        "collisions": float(report.collisions),
        "rounds": float(report.rounds),
        "untangled": report.untangled,
    }
    thick = layered & (np.linalg.norm(skin - bone, axis=1) > 0.0)
    return Layers(skin, muscle, bone, template.triangles, thick, held, metadata)


def walled(
    template: LayeredTemplate,
    beta: Float64[NumpyArray, "V"],
    skin: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
) -> Float64[NumpyArray, "V"]:
    """β with a wall of muscle behind breasts, within the bounds of every line."""
    return np.clip(spanned_muscle(template, beta, skin, bone), *share_bounds(skin, bone))


def upright(
    prisms: Prisms,
    skin: Float64[NumpyArray, "V 3"],
    muscle: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> tuple[Float64[NumpyArray, "V 3"], Float64[NumpyArray, "V 3"]]:
    """Muscle and bone surface with no prism inverted; on the skin where that leaves no place at
    all, as where skin crosses itself."""
    muscle, bone = raised_between(prisms, skin, muscle, bone)
    wrong = prisms.inverted(skin, muscle) | prisms.inverted(muscle, bone)
    if wrong.any():
        wrong |= outside_vertices((skin, muscle, bone), triangles, prisms.layered)
        muscle, bone = closed(prisms, skin, muscle, bone, wrong)
        muscle, bone = reopened(prisms, skin, muscle, bone)
    return muscle, bone


def _held(known: Corrections, soft_volume: float, fat_layer: float) -> Composition:
    """What a body with a fat layer (kg) in its soft tissue (m³) is made of."""
    muscle_layer = (soft_volume - fat_layer / FAT_DENSITY) * MUSCLE_DENSITY
    return Composition(
        max(0.0, known.fat_mass(fat_layer)), max(0.0, known.muscle_mass(muscle_layer))
    )


def scale_template(
    template: LayeredTemplate,
    skin: Float64[NumpyArray, "V 3"],
    joints: Float64[NumpyArray, "J 3"],
    fat_mass: float | None = None,
) -> ScaledTemplate:
    """Global and local scaling of all three surfaces onto a body's height, joints and back.

    `fat_mass` is the body's, kg: fat over the spine is not spine. None: as much as the template's.
    """
    scale = damped_scale(float(np.ptp(skin[:, 1])), template.stature)
    body = template.body

    def fitted(surface: Float64[NumpyArray, "V 3"]) -> Float64[NumpyArray, "V 3"]:
        return stretch_along_bones(
            scale * surface, body.weights, body.skeleton, scale * template.joints, joints
        )

    surfaces = [fitted(surface) for surface in (template.skin, template.muscle, template.bone)]
    usual = LIPID_SHARE * FAT_DENSITY * template_fat(template)
    ratio = 1.0 if fat_mass is None else fat_mass / usual
    forwards = trunk_shift(template, surfaces[0], skin, ratio)[:, None] * [0.0, 0.0, 1.0]
    return ScaledTemplate(*(surface + forwards for surface in surfaces))


def corrections(
    template: LayeredTemplate,
    scaled: ScaledTemplate,
    skin: Float64[NumpyArray, "V 3"],
    muscle: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
    wanted: Composition,
) -> Corrections:
    """The terms of equations 4.12 and 4.13 that do not depend on the final muscle surface, with an
    abdominal cavity that is still empty (`with_organs`)."""
    prisms = template.prisms()
    cavity = cavity_volume(template, muscle, bone)
    before = cavity_volume(template, scaled.muscle, scaled.bone)
    area = float(triangle_areas(skin, prisms.triangles).sum())
    between = fat_in_muscle(template.sex, wanted.fat_mass / float(np.ptp(skin[:, 1])) ** 2)
    return Corrections(
        visceral=FAT_DENSITY * max(0.0, cavity - before),
        skin=FAT_DENSITY * SKIN_THICKNESS[template.sex] * area,
        genital=GENITAL_MASS[template.sex],
        abdominal=0.0,
        tendon=TENDON_SHARE * wanted.muscle_mass,
        unlayered_muscle=unlayered_muscle(wanted.muscle_mass),
        unlayered_fat=unlayered_fat(wanted.muscle_mass, between),
        trunk_muscle_fat=MUSCLE_OF_TRUNK * FAT_IN_MUSCLE * wanted.muscle_mass,
    )


def with_organs(known: Corrections, organs: float) -> Corrections:
    """`known` with an abdominal cavity that holds `organs` (m³) and the visceral fat."""
    return replace(known, abdominal=MUSCLE_DENSITY * (organs + known.visceral / FAT_DENSITY))


def cavity_volume(
    template: LayeredTemplate,
    muscle: Float64[NumpyArray, "V 3"],
    bone: Float64[NumpyArray, "V 3"],
) -> float:
    """What lies behind the walls of belly and back if they are as thick as the template's, m³."""
    gap = np.linalg.norm(muscle - bone, axis=1)
    organs = 1.0 - np.minimum(template.muscle_thickness / np.maximum(gap, 1e-9), 1.0)
    walled = belly_region(template) | (template.group_of == _BACK)
    volumes = vertex_volumes(template.prisms(), muscle, bone)
    return float((organs * volumes)[walled].sum())


_BACK = 7


def belly_region(template: LayeredTemplate) -> Bool[NumpyArray, "V"]:
    """Layered vertices of the belly."""
    parts = np.array(template.body.part_names)[template.body.part_labels]
    return template.layered & (parts == "belly")


@cache
def trunk_region(template: LayeredTemplate) -> Float64[NumpyArray, "V"]:
    """How much of every vertex is trunk by X-ray, blurred at the borders: legs end, and buttocks
    are cut, at the hip joints."""
    parts = np.array(template.body.part_names)[template.body.part_labels]
    buttock = np.isin(parts, ("left_buttock", "right_buttock"))
    hip = template.joints[template.body.skeleton.index("left_hip")][1]
    trunk = ~limb_region(template.body) | (buttock & (template.skin[:, 1] > hip))
    return smoothed_shares(trunk.astype(np.float64), template.triangles, template.layered, BLUR)


BLUR = 8
"""Rounds that blur the border between trunk and limbs."""
