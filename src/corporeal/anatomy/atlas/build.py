"""From an atlas to a layered template: place, carry, wrap, shrink, meet the muscles."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.anatomy.atlas.carrying import Carriers
from corporeal.anatomy.atlas.parts import Atlas, AtlasPart
from corporeal.anatomy.atlas.placing import PlacedBone, mirror_name, place_bone
from corporeal.anatomy.building.muscle import (
    ABDOMINAL_WALL,
    LUMBAR_MUSCLE,
    muscle_shares,
    thickness_map,
)
from corporeal.anatomy.building.shrink import Shrink
from corporeal.anatomy.building.wrap import BENEATH_SKIN, BoneGroup, wrap_bones
from corporeal.anatomy.lines import on_lines, shares
from corporeal.anatomy.prisms import raised_between, untangle
from corporeal.anatomy.template import LayeredTemplate, layered_template
from corporeal.assets.anatomy import BoneMesh
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.geometry.surface_tree import SurfaceTree

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


FAR = 0.02
"""A bone whose surface stays farther than this from the template's is refused, metres."""


@dataclass(frozen=True)
class AtlasReport:
    """What became of the parts."""

    bones_placed: tuple[str, ...]
    """The template's bones that the atlas replaces."""
    mean_distance: float
    """Between an atlas bone in its place and the template's, mean over bones, metres."""
    worst_bone: str
    """Name of the template's bone that fits worst."""
    worst_distance: float
    """The same of the bone that fits worst, metres."""
    muscles: int
    """Number of the atlas's muscles that were carried into the template."""
    met: float
    """Share of the lines from skin to bone that meet a muscle; the others keep the envelope that
    the package ships."""
    muscle_outside: float
    """Share of the layered skin that lies inside a muscle: there the muscle is cut back."""
    left_out: tuple[str, ...]
    """Bones that belong to none of the template's, and what the table of parts leaves out."""


def build_template(atlas: Atlas, sex: str) -> tuple[LayeredTemplate, AtlasReport]:
    """The default man's or woman's template with an atlas's bones and muscles.

    Bones that the atlas lacks stay the package's own, and so does the muscle envelope where a line
    from skin to bone meets no muscle of the atlas. Takes about a minute.
    """
    shipped = layered_template(sex)
    placed = _placed_bones(atlas, shipped)
    bones = _with_placed(atlas, shipped.bones, placed)
    carriers = Carriers(
        {name: _joined(_of(atlas, name)).vertices for name in placed},
        {name: found.placement for name, found in placed.items()},
    )
    muscles = tuple(
        BoneMesh(part.name, carriers.carried(part), part.triangles) for part in atlas.muscles
    )
    bone = _bone_surface(shipped, bones)
    template, met, outside = _with_muscles(
        replace(shipped, bone=bone, bones=bones), shipped, muscles
    )
    distances = {name: found.distance for name, found in placed.items()}
    worst = max(distances, key=lambda name: distances[name])
    report = AtlasReport(
        tuple(placed),
        float(np.mean(list(distances.values()))),
        worst,
        distances[worst],
        len(muscles),
        met,
        outside,
        atlas.left_out,
    )
    return template, report


def _of(atlas: Atlas, name: str) -> list[AtlasPart]:
    """The parts that together take the place of one of the template's bones."""
    return [part for part in atlas.bones if name in part.bones]


def _joined(parts: list[AtlasPart]) -> Mesh:
    starts = np.cumsum([0] + [len(part.vertices) for part in parts])
    triangles = [part.triangles + start for part, start in zip(parts, starts[:-1], strict=True)]
    return Mesh(np.concatenate([p.vertices for p in parts]), np.concatenate(triangles))


def _placed_bones(atlas: Atlas, shipped: LayeredTemplate) -> dict[str, PlacedBone]:
    """A placement for every bone of the template that the atlas has."""
    targets = {bone.name: bone for bone in shipped.bones}
    wanted = dict.fromkeys(name for part in atlas.bones for name in part.bones)
    if unknown := [name for name in wanted if name not in targets]:
        raise InputError(
            f"there is no bone {', '.join(map(repr, unknown[:3]))} in the template; there are "
            f"{', '.join(targets)}."
        )
    placed: dict[str, PlacedBone] = {}
    for name in (*wanted, *wanted):  # once more, now that the other side's place is known
        target = Mesh(targets[name].vertices, targets[name].triangles)
        other = placed.get(mirror_name(name) or "")
        if name in placed and (other is None or other.distance >= 0.9 * placed[name].distance):
            continue
        start = other.placement if name in placed and other is not None else None
        found = place_bone(name, _joined(_of(atlas, name)), target, start)
        placed[name] = min(found, placed.get(name, found), key=lambda bone: bone.distance)
    for name in wanted:
        if placed[name].distance > FAR:
            raise InputError(
                f"the atlas's {name} stays {1e3 * placed[name].distance:.0f} mm from the "
                f"template's on average; expected at most {1e3 * FAR:.0f} mm. Check unit, axes, "
                f"sides and table."
            )
    return placed


def _with_placed(
    atlas: Atlas, bones: tuple[BoneMesh, ...], placed: dict[str, PlacedBone]
) -> tuple[BoneMesh, ...]:
    """The template's bones, those of the atlas in the place of its own."""

    def chosen(bone: BoneMesh) -> BoneMesh:
        if bone.name not in placed:
            return bone
        mesh = _joined(_of(atlas, bone.name))
        vertices = placed[bone.name].placement(np.asarray(mesh.vertices))
        return BoneMesh(bone.name, vertices, np.asarray(mesh.triangles))

    return tuple(map(chosen, bones))


def _bone_surface(
    shipped: LayeredTemplate, bones: tuple[BoneMesh, ...]
) -> Float64[NumpyArray, "V 3"]:
    """Wrap the bones and shrink the skin onto them."""
    tree = SurfaceTree(shipped.skin, shipped.triangles)
    wrap = wrap_bones(wrap_groups(bones), tree, BENEATH_SKIN)
    mirror = shipped.body.mesh.mirror
    shrunk = Shrink(shipped.skin, shipped.triangles, shipped.layered, wrap, mirror).run()
    return untangle(shipped.prisms(), shipped.skin, shrunk)


def _with_muscles(
    template: LayeredTemplate, shipped: LayeredTemplate, muscles: tuple[BoneMesh, ...]
) -> tuple[LayeredTemplate, float, float]:
    """The muscle surface, and what share of lines met a muscle or began in one."""
    skin, bone, prisms, layered = template.skin, template.bone, template.prisms(), template.layered
    filled = shares(shipped.muscle, skin, bone)
    if muscles:
        tree = SurfaceTree(*_stacked(muscles))
        beta, met, inside = muscle_shares(prisms, skin, bone, tree, filled)
    else:
        beta, met, inside = filled, np.zeros(len(skin), bool), np.zeros(len(skin), bool)
    muscle, bone = raised_between(prisms, skin, on_lines(beta, skin, bone, layered), bone)
    parts = np.array(template.body.part_names)[template.body.part_labels]
    walls = [(parts == "belly", ABDOMINAL_WALL), (parts == "back", LUMBAR_MUSCLE)]
    thickness = thickness_map(muscle, bone, template.triangles, layered, walls)
    made = replace(template, bone=bone, muscle=muscle, muscle_thickness=thickness, muscles=muscles)
    return made, float(met[layered].mean()), float(inside[layered].mean())


def _stacked(
    meshes: tuple[BoneMesh, ...],
) -> tuple[Float64[NumpyArray, "v 3"], Int[NumpyArray, "f 3"]]:
    starts = np.cumsum([0] + [len(mesh.vertices) for mesh in meshes])
    triangles = [mesh.triangles + start for mesh, start in zip(meshes, starts[:-1], strict=True)]
    return np.concatenate([mesh.vertices for mesh in meshes]), np.concatenate(triangles)
