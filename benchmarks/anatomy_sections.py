"""What scanners would see of fitted layers: sections, fat thickness, bones beneath the skin.

    python benchmarks/anatomy_sections.py --bodies 100

Slices layers of twelve people at mid-thigh, calf and upper arm and measures fat at skinfold sites
(`docs/evaluation/tissue.md` sets them beside published values); then fits sampled bodies of BMI 16
to 45 and asks of each, by exact solid angles that share no code with the fit, whether muscle lies
in the skin, bone surface in the muscle and detailed bones in the skin. Writes
`results/anatomy_sections.json`.
"""

import argparse
import json
import os
import platform
import subprocess
from pathlib import Path

import numpy as np
from anatomy_fit import sample

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.anatomy.abdominal_wall import abdominal_contents
from corporeal.anatomy.bone_margin import HEAD
from corporeal.anatomy.building.muscle import vertex_volumes
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.warp import transfer_bones
from corporeal.anthropometry.solve import SolvedBody, solve_measurements
from corporeal.body.layers import Layers
from corporeal.body.tissues import (
    FAT,
    HEAD_AND_HAND_FAT,
    MUSCLE,
    UNLAYERED_MUSCLE,
    fat_in_muscle,
)
from corporeal.evaluation.layer_sections import SECTIONS, SITES, fat_thickness, limb_section
from corporeal.population.distribution import load_people

RESULTS = Path(__file__).parent / "results" / "anatomy_sections.json"
PEOPLE = (
    ("female", 1.65, 16.2, 25.0),
    ("female", 1.65, 20.0, 25.0),
    ("female", 1.63, 22.0, 40.0),
    ("female", 1.60, 27.5, 73.0),
    ("female", 1.63, 32.0, 45.0),
    ("female", 1.60, 42.0, 45.0),
    ("male", 1.78, 16.5, 25.0),
    ("male", 1.78, 22.0, 25.0),
    ("male", 1.76, 24.0, 40.0),
    ("male", 1.73, 27.0, 73.0),
    ("male", 1.76, 32.0, 45.0),
    ("male", 1.76, 42.0, 45.0),
)
"""Sex, stature (m), BMI (kg/m²), age (years)."""
LEG = ("thigh", "shin", "foot", "buttock")
"""Parts of a leg."""
SHALLOW, WATCHED = 0.006, 150
"""Metres from the skin within which bone is asked about, and at most how many points a surface."""


def fitted(body: SolvedBody, sex: str, age: float) -> tuple[Layers, dict[str, float]]:
    """Layers, and what was asked of them and held."""
    wanted = predict_composition(body.identity, age, sex).composition
    layers = fit_layers(body.identity, sex, wanted, age=age)
    held, report = layers.composition, layers.metadata
    assert held is not None
    assert report is not None
    return layers, {
        "fat_asked_kg": wanted.fat_mass,
        "muscle_asked_kg": wanted.muscle_mass,
        "fat_error_kg": held.fat_mass - wanted.fat_mass,
        "muscle_error_kg": held.muscle_mass - wanted.muscle_mass,
        "visceral_kg": float(report["visceral_fat"]),
        "organs_l": 1e3 * float(report["organ_volume"]),
        "organs_named_l": 1e3 * float(report["organ_volume_named"]),
    }


def usual_body(sex: str, stature: float, bmi: float, age: float) -> SolvedBody:
    """A body with the waist of people of that sex, age, stature and body mass index (NHANES): those
    of bodies made from stature and mass alone are soldiers'."""
    fixed = {0: age, 1: float(np.log(stature)), 2: float(np.log(bmi))}
    chain = load_people()[sex].chains["adults"]
    waist = float(np.exp(chain.anchors(np.zeros((1, 4)), fixed)[0, 3]))
    mass = bmi * stature**2
    return solve_measurements({"stature": stature, "mass": mass, "waist": waist}, sex, age)


def sections(sex: str, stature: float, bmi: float, age: float) -> dict[str, object]:
    """One person's row."""
    body = usual_body(sex, stature, bmi, age)
    layers, masses = fitted(body, sex, age)
    template = layered_template(sex)
    places = np.asarray(body.identity.joints, np.float64)
    joints = dict(zip(template.body.skeleton.names, places, strict=True))
    prisms = template.prisms()
    contents = abdominal_contents(layers)
    assert contents is not None
    muscle = prisms.volumes(layers.muscle, layers.bone).sum() - contents
    areas = {name: limb_section(layers, joints, place) for name, place in SECTIONS.items()}
    return {
        "sex": sex,
        "stature_m": stature,
        "bmi": bmi,
        "age": age,
        "waist_m": body.measurements["waist_circumference"],
        **masses,
        "muscle_in_layers_kg": float(MUSCLE.density * muscle),
        "account_kg": account(layers, sex, float(MUSCLE.density * contents)),
        "areas_cm2": {n: [1e4 * a.fat, 1e4 * a.muscle, 1e4 * a.bone] for n, a in areas.items()},
        "fat_shares": {name: area.fat_share for name, area in areas.items()},
        "fat_mm": {n: 1e3 * fat_thickness(layers, joints, place) for n, place in SITES.items()},
    }


def account(layers: Layers, sex: str, behind: float) -> dict[str, dict[str, float]]:
    """Where fat tissue (with skin) and muscle lie, and what lies in no layer, by name, kg.

    `behind` the abdominal wall lies what is no muscle, at its density, kg.
    """
    template, held = layered_template(sex), layers.composition
    assert held is not None
    prisms, report = template.prisms(), layers.metadata or {}
    parts = np.array(template.body.part_names)[template.body.part_labels]
    regions = {
        "arms": np.char.find(parts, "arm") >= 0,
        "legs": np.isin([name.split("_", 1)[-1] for name in parts], LEG),
    }
    regions["trunk and neck"] = ~(regions["arms"] | regions["legs"])
    fat = FAT.density * vertex_volumes(prisms, layers.skin, layers.muscle)
    muscle = MUSCLE.density * vertex_volumes(prisms, layers.muscle, layers.bone)
    found = {
        "fat tissue": {name: float(fat[where].sum()) for name, where in regions.items()},
        "muscle layer": {name: float(muscle[where].sum()) for name, where in regions.items()},
    }
    found["muscle layer"]["trunk and neck"] -= behind
    found["fat tissue"]["visceral"] = float(report["visceral_fat"])
    found["muscle in no layer"] = {k: v * held.muscle_mass for k, v in UNLAYERED_MUSCLE.items()}
    found["fat in no layer"] = {
        "head and hands": HEAD_AND_HAND_FAT,
        "within muscle": fat_in_muscle(sex, held.fat_mass / float(report["stature"]) ** 2)
        * held.muscle_mass,
    }
    return found


def health(seed: int) -> dict[str, object]:
    """Of one sampled body: how many points are outside what should hold them."""
    sex, age, body = sample(seed)
    layers, masses = fitted(body, sex, age)
    skin, muscle, bone = (
        np.asarray(s, np.float64) for s in (layers.skin, layers.muscle, layers.bone)
    )
    region = np.flatnonzero(layers.layered)
    thickness = np.minimum(
        *(np.linalg.norm(a - b, axis=1) for a, b in ((skin, muscle), (muscle, bone)))
    )
    thinnest = region[np.argsort(thickness[region])[:WATCHED]]
    bones = [b for b in transfer_bones(layers, layered_template(sex)) if b.name not in HEAD]
    points = np.concatenate([b.vertices for b in bones])
    shallow = points[nearest_distances(points, skin) < SHALLOW]
    shallow = shallow[:: max(1, len(shallow) // WATCHED)]
    wound = {
        "muscle_outside_skin": solid_angles(muscle[thinnest], skin, layers.triangles),
        "bone_outside_muscle": solid_angles(bone[thinnest], muscle, layers.triangles),
        "bones_outside_skin": solid_angles(shallow, skin, layers.triangles),
    }
    return {
        "seed": seed,
        "sex": sex,
        "bmi": body.measurements.bmi,
        **masses,
        **{name: int((winding < 0.5).sum()) for name, winding in wound.items()},
        "shallow_bone_points": len(shallow),
        "without_thickness": int((thickness[region] < 2e-5).sum()),
        "unlayered": int((layered_template(sex).layered & ~layers.layered).sum()),
    }


def nearest_distances(
    points: Float64[NumpyArray, "n 3"], cloud: Float64[NumpyArray, "V 3"]
) -> Float64[NumpyArray, "n"]:
    """Metres from every point to the nearest of a cloud: a bound for that to the surface."""
    from scipy.spatial import KDTree

    return KDTree(cloud).query(points)[0]


def solid_angles(
    points: Float64[NumpyArray, "n 3"],
    vertices: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> Float64[NumpyArray, "n"]:
    """Winding numbers by the solid angles of all triangles (Van Oosterom and Strackee 1983)."""
    found = np.empty(len(points))
    for index, point in enumerate(points):
        a, b, c = np.moveaxis((vertices - point)[triangles], 1, 0)
        la, lb, lc = (np.sqrt(np.einsum("fd,fd->f", v, v)) for v in (a, b, c))
        ab, bc, ca = (np.einsum("fd,fd->f", u, v) for u, v in ((a, b), (b, c), (c, a)))
        volume = np.einsum("fd,fd->f", a, np.cross(b, c))
        found[index] = np.arctan2(volume, la * lb * lc + ab * lc + bc * la + ca * lb).sum()
    return found / (2 * np.pi)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--bodies", type=int, default=20, help="sampled bodies")
    parser.add_argument("--first", type=int, default=0, help="first seed; others are kept")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file")
    asked = parser.parse_args()
    kept = json.loads(asked.out.read_text()) if asked.first and asked.out.exists() else {}
    people = kept.get("people") or [sections(*person) for person in PEOPLE]
    bodies = [row for row in kept.get("bodies", []) if row["seed"] < asked.first]
    for seed in range(asked.first, asked.first + asked.bodies):
        bodies.append(health(seed))
        print(json.dumps(bodies[-1], default=float), flush=True)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    report = {
        "commit": commit.stdout.strip(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "people": people,
        "bodies": bodies,
    }
    asked.out.write_text(json.dumps(report, indent=1, default=float) + "\n")


if __name__ == "__main__":
    main()
