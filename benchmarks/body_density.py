"""What a body's surface should weigh: the density of people, and that of bodies with their girths.

    python benchmarks/body_density.py "$CORPOREAL_DATA"

Two sides of one question. By composition: scanned people of NHANES have a mass, and a volume by
Siri's relation with air in the lungs (`body.organs.living_volume`). By shape: people of ANSUR II
whom no fit saw become bodies that follow all their dimensions but mass; mass over volume of such a
body is the density at which a surface with a person's girths weighs what the person does. Writes
`results/body_density.json`.
"""

import argparse
import json
from itertools import pairwise
from pathlib import Path

import numpy as np
from measured_commit import commit

from corporeal._typing import Float, NumpyArray
from corporeal.anatomy.composition.people import read_people
from corporeal.anatomy.composition.predict import predict_from_tape
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.population import Population
from corporeal.anthropometry.survey import read_survey, split
from corporeal.body.organs import living_volume
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.population import realise
from corporeal.population.crowd_space import crowd_space
from corporeal.population.given import survey_persons
from corporeal.units import BODY_DENSITY

RESULTS = Path(__file__).parent / "results" / "body_density.json"
NHANES = "nhanes/nhanes_2017_2018_body_dxa.csv"
GROUPS = (15.0, 18.5, 21.0, 25.0, 30.0, 35.0, 40.0, 60.0)
"""Bounds of body mass index, kg/m²."""
MASS = NAMES.index("mass")


def by_composition(path: Path, sex: str) -> dict[str, object]:
    """Density of scanned people, kg/m³, all and by body mass index."""
    people = read_people(path, sex)
    tape = people.tape
    fat = people.fat_percentage / 100 * tape.mass
    rows = zip(tape.stature, tape.mass, fat, strict=True)
    density = tape.mass / np.array([living_volume(sex, *map(float, row)) for row in rows])
    groups = {}
    for low, high in pairwise(GROUPS):
        chosen = (tape.bmi > low) & (tape.bmi <= high)
        groups[f"{low:g} to {high:g}"] = [
            int(chosen.sum()),
            round(float(density[chosen].mean()), 1),
        ]
    return {"people": len(density), **moments(density), "by_bmi": groups}


def by_shape(data: Path, sex: str, count: int) -> dict[str, object]:
    """Density of bodies that have the girths of people and are free in mass."""
    survey = split(read_survey(data / f"ansur2/ansur2_{sex}.csv"))[1]
    persons = survey_persons(survey, sex)
    persons = persons.only(np.arange(min(2 * count, persons.count), step=2))
    space = crowd_space(PhenotypeModel(), realise.GENDERS[sex])
    usual = realise.sigmas

    def free(crowd: Population) -> Float[NumpyArray, "M"]:
        found = usual(crowd).copy()
        found[MASS] = 1.0
        return found

    realise.sigmas = free
    try:
        solved = realise.solve_people(space, persons, realise.CALM[0])
    finally:
        realise.sigmas = usual
    volume = space.sensitivities(solved.values, persons.ages)[0][:, MASS] / BODY_DENSITY
    mass, stature = persons.dimensions[:, MASS], persons.dimensions[:, NAMES.index("stature")]
    waist = persons.dimensions[:, NAMES.index("waist_circumference")]
    rows = zip(stature, mass, 1.006 * waist, persons.ages, strict=True)
    fat = [predict_from_tape(*map(float, row), sex).composition.fat_mass for row in rows]
    expected = [
        living_volume(sex, *map(float, row)) for row in zip(stature, mass, fat, strict=True)
    ]
    return {
        "people": persons.count,
        **moments(mass / volume),
        "by_composition": moments(mass / np.array(expected)),
    }


def moments(values: Float[NumpyArray, "n"]) -> dict[str, float]:
    """Mean, deviation, standard error."""
    spread = float(values.std(ddof=1))
    error = spread / np.sqrt(len(values))
    named = {"mean": float(values.mean()), "sd": spread, "error_of_mean": float(error)}
    return {name: round(value, 1) for name, value in named.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with nhanes/ and ansur2/")
    parser.add_argument("--people", type=int, default=40, help="of each sex, by shape")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file")
    asked = parser.parse_args()
    report = {"commit": commit(), "unit": "kg/m³", "surfaces": BODY_DENSITY}
    for sex in ("female", "male"):
        report[sex] = {
            "nhanes_by_composition": by_composition(asked.data / NHANES, sex),
            "ansur_by_shape": by_shape(asked.data, sex, asked.people),
        }
    asked.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
