"""Bodies from BMI 16 to 48: are they sound, and do their legs taper?

    python benchmarks/extreme_bodies.py --out benchmarks/results/extreme_bodies.json

For women and men of 20, 45 and 70 years and several statures: BMI asked and achieved, sharp folds
and contacts that the same person of average build has not (none is expected), the girth of the
leg from below the crotch to the knee (it must fall all the way), and girths beside those that the
ANSUR II population has at that BMI.
"""

import argparse
import json
import platform
import subprocess
from itertools import product
from pathlib import Path

import numpy as np

from corporeal.anthropometry.corpulence import body_at_bmi, body_size, corpulent_body
from corporeal.anthropometry.validity import surface_validity
from corporeal.body.identity import Identity
from corporeal.geometry.section import convex_tape_length, plane_section, section_loops
from corporeal.models.phenotype.model import PhenotypeModel

GENDERS = {"women": 0.0, "men": 1.0}
AGES = (20.0, 45.0, 70.0)
EVERY_BMI = tuple(range(16, 49, 2))
SOME_BMI = (16, 24, 32, 40, 48)
STATURES = (1.5, 1.7, 1.95)
STATIONS = np.linspace(0.3, 1.0, 15)
"""Where the leg is measured: 0 at the hip, 1 at the knee."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    model = PhenotypeModel()
    rows = [
        describe(model, sex, age, stature, bmi)
        for sex, age, stature in product(GENDERS, AGES, STATURES)
        for bmi in (EVERY_BMI if (age, stature) == (45.0, 1.7) else SOME_BMI)
    ]
    report = {"commit": commit(), "machine": platform.platform(), "bodies": rows}
    print(summary(rows))
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(report, indent=1) + "\n")


def describe(
    model: PhenotypeModel, sex: str, age: float, stature: float, bmi: float
) -> dict[str, object]:
    """One body's figures; girths in centimetres."""
    gender = GENDERS[sex]
    body = body_at_bmi(model, gender, bmi, stature, age)
    sliders = {name: float(value) for name, value in body.parameters.items()}
    same_person = corpulent_body(model, gender, 0.0, age, sliders["height"])
    found = surface_validity(body.rest_vertices, same_person.rest_vertices, model.template)
    against_template = surface_validity(
        body.rest_vertices, model.template.mesh.vertices, model.template
    )
    leg = leg_girths(body, model)
    achieved_stature, achieved = body_size(body, model)
    return {
        "sex": sex,
        "age": age,
        "stature": round(achieved_stature, 4),
        "bmi_asked": bmi,
        "bmi": round(achieved, 2),
        "new_folds": len(found.new_folds),
        "new_contacts": len(found.new_contacts),
        "new_folds_against_template": len(against_template.new_folds),
        "new_contacts_against_template": len(against_template.new_contacts),
        "thigh_cm": round(100 * float(leg[0]), 1),
        "above_knee_cm": round(100 * float(leg[-4]), 1),
        "knee_cm": round(100 * float(leg[-1]), 1),
        "largest_rise_to_knee_cm": round(100 * float(np.diff(leg).max()), 2),
        "sliders": {name: round(value, 3) for name, value in sliders.items()},
    }


def leg_girths(body: Identity, model: PhenotypeModel) -> np.ndarray:
    """Tape girths square to the left leg at every station, metres."""
    names = model.template.skeleton.names
    hip, knee, ankle = (body.joints[names.index(f"left_{n}")] for n in ("hip", "knee", "ankle"))
    along = (ankle - hip) / np.linalg.norm(ankle - hip)
    triangles = model.template.mesh.triangles
    girths = []
    for station in STATIONS:
        centre = hip + station * (knee - hip)
        loops = section_loops(plane_section(body.rest_vertices, triangles, centre, along))
        leg = min(loops, key=lambda loop, c=centre: np.linalg.norm(loop.mean(axis=0) - c))
        girths.append(convex_tape_length(leg, along))
    return np.array(girths)


def summary(rows: list[dict]) -> str:
    """One line a sex and BMI: the worst over ages and statures."""
    lines = ["sex    BMI  bodies  new folds  new contacts  largest rise to knee / cm"]
    for sex, bmi in product(GENDERS, EVERY_BMI):
        some = [row for row in rows if row["sex"] == sex and row["bmi_asked"] == bmi]
        lines.append(
            f"{sex:6} {bmi:3} {len(some):7} {max(r['new_folds'] for r in some):10} "
            f"{max(r['new_contacts'] for r in some):13} "
            f"{max(r['largest_rise_to_knee_cm'] for r in some):26.2f}"
        )
    return "\n".join(lines)


def commit() -> str:
    """The checkout's commit, for the record."""
    command = ["git", "rev-parse", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


if __name__ == "__main__":
    main()
