"""Pelvis and thorax of the shipped skeletons of both sexes, beside published proportions.

    python benchmarks/anatomy_proportions.py "$CORPOREAL_DATA"

Measures the bones of the layered templates: breadth between the iliac crests and height, depth and
breadth of the rib cage over stature, what its convex hull encloses over cubed stature, and the
angle between the pubic arches; ANSUR II has the breadth of soldiers' crests. Writes
`results/anatomy_proportions.json`.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from measured_commit import commit
from scipy.spatial import ConvexHull

from corporeal._typing import Float, NumpyArray
from corporeal.anatomy.template import layered_template
from corporeal.assets.anatomy import SEXES

RESULTS = Path(__file__).parent / "results" / "anatomy_proportions.json"
LOWEST_SYMPHYSIS, RAMUS = 39, 56
"""Vertices of a hip bone: the symphysis' lower end, and the ischium where its ramus begins. Both
sexes have one mesh, laid over each."""


def subpubic_angle(hip: Float[NumpyArray, "V 3"]) -> float:
    """Between the two rami, mirrored at the middle plane, degrees."""
    way = hip[RAMUS] - hip[LOWEST_SYMPHYSIS]
    return float(2 * np.degrees(np.arcsin(abs(way[0]) / np.linalg.norm(way))))


def proportions(sex: str) -> dict[str, float]:
    """Of the template's skeleton of one sex."""
    template = layered_template(sex)
    bones = {bone.name: np.asarray(bone.vertices, np.float64) for bone in template.bones}
    hips, ribs = (
        np.concatenate([bones["l_pelvis"], bones["r_pelvis"]]),
        bones["torso_geom_13_ribcage_s"],
    )
    breadth, height, depth = np.ptp(ribs, axis=0)
    return {
        "stature_m": template.stature,
        "crests_over_stature": float(np.ptp(hips[:, 0])) / template.stature,
        "subpubic_deg": subpubic_angle(bones["l_pelvis"]),
        "thorax_breadth_over_stature": float(breadth) / template.stature,
        "thorax_depth_over_stature": float(depth) / template.stature,
        "thorax_height_over_stature": float(height) / template.stature,
        "thorax_depth_over_breadth": float(depth / breadth),
        "thorax_hull_over_cubed_stature": float(ConvexHull(ribs).volume) / template.stature**3,
    }


def soldiers(file: Path) -> dict[str, float]:
    """The breadth of the iliac crests, pressed, over stature."""
    with file.open(encoding="latin-1") as lines:
        names = lines.readline().strip().lower().split(",")
        columns = [names.index(name) for name in ("bicristalbreadth", "stature")]
        rows = [line.strip().split(",") for line in lines]
    crests, stature = np.array([[float(row[column]) for column in columns] for row in rows]).T
    ratio = crests / stature
    return {"mean": float(ratio.mean()), "sd": float(ratio.std()), "people": len(ratio)}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with ansur2/")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file")
    asked = parser.parse_args()
    report = {
        "commit": commit(),
        "command": 'python benchmarks/anatomy_proportions.py "$CORPOREAL_DATA"',
        **{
            sex: proportions(sex)
            | {"soldiers_crests": soldiers(asked.data / f"ansur2/ansur2_{sex}.csv")}
            for sex in SEXES
        },
    }
    asked.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
