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
from skeleton import Body, place_skeleton
from source import Bones, read_bones

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.atlas.build import wrap_groups
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
from corporeal.anatomy.fit.balance import FAT_DENSITY, LIPID_SHARE, SKIN_THICKNESS
from corporeal.anatomy.lines import on_lines
from corporeal.anatomy.prisms import Prisms, raised_between, untangle
from corporeal.anatomy.scaling import stretch_along_bones
from corporeal.anatomy.template import layered_region, limb_region
from corporeal.anthropometry.measure import measure
from corporeal.assets.anatomy import BONE_STEP, METRES_PER_STEP, SEXES, BoneMesh
from corporeal.geometry.surface import triangle_areas
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.models.phenotype.model import PhenotypeModel

PACKAGE_DATA = Path(__file__).parents[2] / "src/corporeal/assets/data"
SCALES = {"male": (0.97, 1.08), "female": (0.88, 1.0)}
"""Expected scale of trunk and skull against the source."""
PECTORAL = {"male": (0.03, 0.65), "female": (0.011, 0.0)}
"""Muscle under the breast: at least this, metres, and this share of the way to the skin."""


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
    lean = model.prepare({"gender": gender, "muscle": 1.0, "weight": 0.0})
    envelope = stretch_along_bones(
        np.asarray(lean.rest_vertices, np.float64),
        template.weights,
        template.skeleton,
        np.asarray(lean.joints, np.float64),
        joints,
    )
    parts = np.array(template.part_names)[template.part_labels]
    breast = np.isin(parts, ("left_breast", "right_breast"))
    length = np.linalg.norm(skin - bone, axis=1)
    least, share = PECTORAL[sex]
    pectoral = np.minimum(np.maximum(least, share * length) / np.maximum(length, 1e-9), 1.0)
    envelope[breast] = (bone + pectoral[:, None] * (skin - bone))[breast]
    fat = expected_fat(survey, sex, measure(identity))
    areas = np.bincount(
        prisms.triangles.ravel(),
        np.repeat(triangle_areas(skin, prisms.triangles) / 3, 3),
        minlength=len(skin),
    )
    limbs = limb_region(template)
    targets = [
        FatTarget(
            region & layered,
            kg / LIPID_SHARE / FAT_DENSITY + SKIN_THICKNESS * areas[region].sum(),
        )
        for region, kg in ((~limbs, fat.trunk), (limbs, fat.limbs))
    ]
    beta = calibrated_envelope(prisms, skin, bone, envelope, targets, breast)
    walls = [(parts == "belly", ABDOMINAL_WALL), (parts == "back", LUMBAR_MUSCLE)]
    muscle, bone = raised_between(prisms, skin, on_lines(beta, skin, bone, layered), bone)
    thickness = thickness_map(muscle, bone, triangles, layered, walls)
    print(
        f"{sex}: fat layer {1e3 * prisms.volumes(skin, muscle).sum():.2f} l, muscle layer "
        f"{1e3 * prisms.volumes(muscle, bone).sum():.2f} l, {fat}, inverted: "
        f"{int(prisms.inverted(skin, muscle).sum() + prisms.inverted(muscle, bone).sum())}"
    )
    return Built(skin, bone, muscle, thickness, placements)


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
