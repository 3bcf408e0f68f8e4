"""Builds the layered template of the default man and woman: bone and muscle surface, placed bones.

    python tools/build_anatomy/build.py --data "$CORPOREAL_DATA"

Reads the MyoSuite skeleton (`myofullbody`, Apache-2.0) and NHANES body composition (`nhanes`,
public domain); writes `anatomy.npz.xz`, its manifest, LICENSE-anatomy and NOTICE-anatomy into the
package. Takes about two minutes.
"""

import argparse
import hashlib
import io
import json
import lzma
import shutil
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from fat import expected_fat
from fat_pattern import fat_pattern
from skeleton import Body, place_skeleton
from source import Bones, read_bones

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.atlas.build import wrap_groups
from corporeal.anatomy.breast_wall import PECTORAL, spanned_bone, spanned_muscle
from corporeal.anatomy.building.affine import Affine
from corporeal.anatomy.building.muscle import (
    ABDOMINAL_WALL,
    LUMBAR_MUSCLE,
    FatTarget,
    calibrated_envelope,
    thickness_map,
)
from corporeal.anatomy.building.shrink import Shrink
from corporeal.anatomy.building.wrap import BENEATH_SKIN, wrap_bones
from corporeal.anatomy.fit.balance import FAT_DENSITY
from corporeal.anatomy.lines import on_lines, share_bounds, upright_shares
from corporeal.anatomy.prisms import Prisms, raised_between, untangle
from corporeal.anatomy.template import (
    LayeredTemplate,
    layered_region,
    limb_region,
    muscle_groups,
)
from corporeal.anthropometry.measure import measure
from corporeal.assets.anatomy import BONE_STEP, METRES_PER_STEP, SEXES, BoneMesh
from corporeal.body.identity import Identity
from corporeal.body.tissues import LIPID_SHARE, SKIN_THICKNESS
from corporeal.geometry.surface import triangle_areas
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.models.phenotype.model import PhenotypeModel

PACKAGE_DATA = Path(__file__).parents[2] / "src/corporeal/assets/data"
SCALES = {"male": (0.97, 1.08), "female": (0.88, 1.0)}
"""Expected scale of trunk and skull against the source."""
SKIN_IN_PATTERN = 0.002
"""What `calibrated_envelope` adds to a scaled pattern before and takes from it after, metres."""


@dataclass(frozen=True)
class Built:
    """What is stored for one sex."""

    skin: Float64[NumpyArray, "V 3"]
    bone: Float64[NumpyArray, "V 3"]
    muscle: Float64[NumpyArray, "V 3"]
    thickness: Float64[NumpyArray, "V"]
    placements: dict[str, Affine]


def build(sex: str, bones: Bones, survey: Path) -> Built:
    """Place, wrap, shrink, and fill with muscle."""
    model = PhenotypeModel()
    template, gender = model.template, float(sex == "male")
    identity = model.prepare({"gender": gender})
    skin = np.asarray(identity.rest_vertices, np.float64)
    joints = np.asarray(identity.joints, np.float64)
    triangles, layered = template.mesh.triangles, layered_region(template)
    tree = SurfaceTree(skin, triangles)
    placements = place_skeleton(
        bones, Body(tree, dict(zip(template.skeleton.names, joints, strict=True)), *SCALES[sex])
    )
    placed = {n: placements[n](v) for n, v in zip(bones.names, bones.vertices, strict=True)}
    report_outside(sex, tree, placed)
    meshes = [BoneMesh(n, placed[n], f) for n, f in zip(bones.names, bones.triangles, strict=True)]
    wrap = wrap_bones(wrap_groups(meshes), tree, BENEATH_SKIN)
    prisms = Prisms(triangles, layered)
    bone = Shrink(skin, triangles, layered, wrap, template.mesh.mirror).run()
    bone = untangle(prisms, skin, bone)
    muscle, bone, thickness = muscle_surface(model, identity, bone, sex, survey)
    return Built(skin, bone, muscle, thickness, placements)


def muscle_surface(
    model: PhenotypeModel, identity: Identity, bone: np.ndarray, sex: str, survey: Path
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Muscle and bone surface and muscle thickness: fat by `fat_pattern`, scaled to its mass."""
    template, skin = model.template, np.asarray(identity.rest_vertices, np.float64)
    layered = layered_region(template)
    prisms = Prisms(template.mesh.triangles, layered)
    plain = plain_template(model, identity, sex)
    bone = untangle(prisms, skin, spanned_bone(plain, bone))
    parts = np.array(template.part_names)[template.part_labels]
    length = np.maximum(np.linalg.norm(skin - bone, axis=1), 1e-9)
    depth = fat_pattern(template, skin, bone, sex) - SKIN_IN_PATTERN
    kept = np.zeros(len(skin), bool)
    if sex == "female":
        kept = np.isin(parts, ("left_breast", "right_breast"))
        depth[kept] = np.maximum(length - PECTORAL, 0.0)[kept]
    envelope = skin + (np.minimum(depth / length, 1.0))[:, None] * (bone - skin)
    targets = fat_targets(model, identity, prisms, sex, survey)
    beta = calibrated_envelope(prisms, skin, bone, envelope, targets, kept)
    beta = np.clip(spanned_muscle(plain, beta, skin, bone), *share_bounds(skin, bone))
    beta = upright_shares(prisms, beta, skin, bone)
    walls = [(parts == "belly", ABDOMINAL_WALL), (parts == "back", LUMBAR_MUSCLE)]
    muscle, bone = raised_between(prisms, skin, on_lines(beta, skin, bone, layered), bone)
    thickness = thickness_map(muscle, bone, template.mesh.triangles, layered, walls)
    print(
        f"{sex}: fat layer {1e3 * prisms.volumes(skin, muscle).sum():.2f} l, muscle layer "
        f"{1e3 * prisms.volumes(muscle, bone).sum():.2f} l, inverted: "
        f"{int(prisms.inverted(skin, muscle).sum() + prisms.inverted(muscle, bone).sum())}"
    )
    return muscle, bone, thickness


def plain_template(model: PhenotypeModel, identity: Identity, sex: str) -> LayeredTemplate:
    """The body without layers yet."""
    skin = np.asarray(identity.rest_vertices, np.float64)
    layered = layered_region(model.template)
    return LayeredTemplate(
        sex,
        model.template,
        skin,
        skin,
        skin,
        np.asarray(identity.joints, np.float64),
        layered,
        np.zeros(len(skin)),
        muscle_groups(model.template, layered),
        (),
    )


def fat_targets(
    model: PhenotypeModel, identity: Identity, prisms: Prisms, sex: str, survey: Path
) -> list[FatTarget]:
    """Fat tissue and skin of trunk and limbs, m³; X-ray cuts the legs off at the hip joints."""
    template, skin = model.template, np.asarray(identity.rest_vertices, np.float64)
    fat = expected_fat(survey, sex, measure(identity))
    print(f"{sex}: {fat}")
    areas = np.bincount(
        prisms.triangles.ravel(),
        np.repeat(triangle_areas(skin, prisms.triangles) / 3, 3),
        minlength=len(skin),
    )
    names = np.array(template.part_names)[template.part_labels]
    buttock = np.isin(names, ("left_buttock", "right_buttock"))
    hip = np.asarray(identity.joints)[template.skeleton.index("left_hip")][1]
    limbs = limb_region(template) & ~(buttock & (skin[:, 1] > hip))
    return [
        FatTarget(
            region & layered_region(template),
            kg / LIPID_SHARE / FAT_DENSITY + SKIN_THICKNESS[sex] * areas[region].sum(),
        )
        for region, kg in ((~limbs, fat.trunk), (limbs, fat.limbs))
    ]


def report_outside(sex: str, skin: SurfaceTree, placed: dict[str, np.ndarray]) -> None:
    """Print how much of every bone with layers above it lies outside the skin."""
    for name in ("l_pelvis", "torso_geom_13_ribcage_s", "scapula_l", "humerus_l", "l_femur"):
        distance = skin.signed_distance(placed[name])
        print(
            f"{sex} {name}: {100 * (distance > 0).mean():.1f} % outside, "
            f"by {1e3 * max(distance.max(), 0):.1f} mm"
        )


def asset_arrays(bones: Bones, built: dict[str, Built]) -> dict[str, np.ndarray]:
    """Whole steps, component by component, which packs best."""
    layered = layered_region(PhenotypeModel().template)
    arrays = {
        "layered": np.flatnonzero(layered).astype(np.uint16),
        "bone_names": np.array(bones.names),
        "bone_vertex_steps": _steps(np.concatenate(bones.vertices), BONE_STEP),
        "bone_triangles": np.concatenate(bones.triangles).astype(np.uint16),
        "bone_vertex_ends": np.cumsum([0, *map(len, bones.vertices)]).astype(np.int32),
        "bone_triangle_ends": np.cumsum([0, *map(len, bones.triangles)]).astype(np.int32),
    }
    for sex, made in built.items():
        affines = [np.c_[p.matrix, p.shift] for p in made.placements.values()]
        arrays |= {
            f"{sex}/bone_steps": _steps((made.bone - made.skin)[layered], METRES_PER_STEP),
            f"{sex}/muscle_steps": _steps((made.muscle - made.skin)[layered], METRES_PER_STEP),
            f"{sex}/thickness_steps": _steps(made.thickness[layered], METRES_PER_STEP),
            f"{sex}/placements": np.array(affines, np.float32),
        }
    return arrays


def _steps(values: np.ndarray, step: float) -> np.ndarray:
    whole = np.round(values / step)
    if np.abs(whole).max() > np.iinfo(np.int16).max:
        raise ValueError(f"a value of {np.abs(values).max():.3f} m does not fit 16 bits")
    return np.ascontiguousarray(whole.T.astype(np.int16))


def write_asset(folder: Path, source: Path, arrays: dict[str, np.ndarray]) -> None:
    """Write the arrays as an xz-packed npz, the manifest that vouches for it, and the licence."""
    packed = io.BytesIO()
    np.savez(packed, allow_pickle=False, **arrays)
    data = lzma.compress(packed.getvalue(), preset=9 | lzma.PRESET_EXTREME)
    skeleton = (source / "skeleton.npz").read_bytes()
    manifest = {
        "title": "corporeal anatomy: bone and muscle surfaces of the default body, bone meshes",
        "licence": "Apache-2.0, see LICENSE-anatomy and NOTICE-anatomy",
        "origin": "bones of MyoSuite's full-body model (musclemimic-models 1.0.6), placed and "
        "scaled into the default body; surfaces wrapped round them",
        "built_by": "tools/build_anatomy/build.py",
        "bytes": len(data),
        "sha256": hashlib.sha256(data).hexdigest(),
        "source_sha256": {"skeleton.npz": hashlib.sha256(skeleton).hexdigest()},
    }
    (folder / "anatomy.npz.xz").write_bytes(data)
    (folder / "anatomy.json").write_text(json.dumps(manifest, indent=2) + "\n")
    for name in ("LICENSE", "NOTICE"):
        shutil.copyfile(source / name, folder / f"{name}-anatomy")
    print(f"wrote {folder / 'anatomy.npz.xz'}: {len(data) / 1e6:.2f} MB")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder of the open data")
    parser.add_argument("--out", type=Path, default=PACKAGE_DATA, help="folder to write into")
    arguments = parser.parse_args()
    source = arguments.data / "myofullbody"
    bones = read_bones(source)
    survey = arguments.data / "nhanes/nhanes_2017_2018_body_dxa.csv"
    built = {sex: build(sex, bones, survey) for sex in SEXES}
    write_asset(arguments.out, source, asset_arrays(bones, built))


if __name__ == "__main__":
    main()
