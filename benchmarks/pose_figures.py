"""Creases in the poses of `pose_sheet.py`, with still collars and with the girdle's rhythm.

    python benchmarks/pose_figures.py --kept sheets/kept

A crease is an edge of the skin that folds by more than 90° beyond what it does at rest. Counted for
every person, pose and deformer, in static balance; shapes that `pose_sheet.py` kept are used again.
Writes `benchmarks/results/poses.json` and prints means over people.
"""

import argparse
import json
import math
import platform
import subprocess
from pathlib import Path

import numpy as np
from layered import PEOPLE
from pose_sheet import DEFORMERS, Kept, Person, Sheet

from corporeal._typing import Float, NumpyArray
from corporeal.evaluation.held_poses import SHEET
from corporeal.geometry.dihedral import Hinges, fold_angles, hinges_of
from corporeal.models.phenotype.model import PhenotypeModel

RESULTS = Path(__file__).parent / "results" / "poses.json"
SHARP = math.radians(90.0)
WAYS = {"still": False, "rhythm": True}
ARMS = ("a-pose", "arms-down", "arms-up", "arms-forward", "arms-crossed", "hands-on-hips")
"""Poses in which still collars are compared."""


def creases(person: Person, skin: Float[NumpyArray, "V 3"], hinges: Hinges) -> int:
    """Edges that fold by more than `SHARP` beyond their fold at rest."""
    triangles = np.asarray(person.model.template.mesh.triangles)
    rest = np.asarray(person.identity.rest_vertices, np.float64)
    before, after = (fold_angles(shape, triangles, hinges)[1] for shape in (rest, skin))
    return int((np.abs(after) - np.abs(before) > SHARP).sum())


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--kept", type=Path, required=True, help="folder of shapes")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON to write")
    asked = parser.parse_args()
    asked.kept.mkdir(parents=True, exist_ok=True)
    model = PhenotypeModel()
    hinges = hinges_of(np.asarray(model.template.mesh.triangles))
    counts: dict[str, dict[str, dict[str, dict[str, int]]]] = {}
    for name in PEOPLE:
        person = Person.called(name, model)
        for way, girdle in WAYS.items():
            sheet = Sheet(Kept(asked.kept), 0, girdle, "off", False)
            for pose in SHEET if girdle else ARMS:
                motion = person.still(pose, girdle)
                for kind in DEFORMERS:
                    found = creases(person, sheet.skin(person, motion, kind), hinges)
                    counts.setdefault(way, {}).setdefault(pose, {}).setdefault(kind, {})[name] = (
                        found
                    )
    report = {
        "commit": _commit(),
        "machine": platform.machine(),
        "unit": "edges",
        "creases": counts,
    }
    asked.out.write_text(json.dumps(report, indent=1) + "\n")
    for way, poses in counts.items():
        for pose, kinds in poses.items():
            means = [f"{kind} {np.mean(list(row.values())):.0f}" for kind, row in kinds.items()]
            print(way, pose, *means)


def _commit() -> str:
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
