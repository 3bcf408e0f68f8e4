"""Fit the trunk's share of all fat to scanned people; prints what stands in `anatomy.fit.balance`.

    python tools/fit_trunk_fat.py "$CORPOREAL_DATA"/nhanes/nhanes_2017_2018_body_dxa.csv

Least squares of the trunk's fat by X-ray, kg, on squared stature times 1, a, x, r and x r, with
decades a past 40 years, the fat mass index x (kg/m²) and the waist over stature r. Fat is the
predicted one (by models that were fitted without the person, five folds), as that of bodies is.
Prints the error, and that of a linear regression on age, stature, mass and waist, leave-one-out.
"""

import argparse
import csv
from pathlib import Path

import numpy as np

from corporeal.anatomy.composition.constrained import leave_one_out
from corporeal.anatomy.composition.people import SEXES, ScannedPeople, read_people
from corporeal.anatomy.composition.tape import Tape
from corporeal.anatomy.composition.train import fit_people
from corporeal.anatomy.composition.validation import rms
from corporeal.anatomy.fit.balance import USUAL_AGE

FOLDS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("nhanes", type=Path, help="the NHANES body and DXA file (CSV)")
    path = parser.parse_args().nhanes
    for sex in SEXES:
        people = read_people(path, sex)
        measured = scanned_trunks(path, people)
        seen = ~np.isnan(measured) & ~np.isnan(people.muscle_mass)
        tape, trunk = people.tape.only(seen), measured[seen]
        predicted, scanned = (
            unseen_fat(people)[seen],
            (people.fat_percentage[seen] / 100) * tape.mass,
        )
        design = _design(predicted, tape)
        found = np.linalg.lstsq(design, trunk, rcond=None)[0]
        error = left_out(design, trunk)
        plain = np.column_stack([tape.age**0, tape.age, tape.stature, tape.mass, tape.waist])
        print(
            f"{sex}: {found.round(5).tolist()}; {seen.sum()} people; error {error:.3f} kg, plain "
            f"regression {left_out(plain, trunk):.3f} kg; shares of nine in ten: "
            f"{np.percentile(trunk / scanned, [5, 95]).round(2).tolist()}"
        )


def _design(fat: np.ndarray, tape: Tape) -> np.ndarray:
    """Squared stature times every term of the trunk's fat over it, kg."""
    index, girth = fat / tape.stature**2, tape.waist / tape.stature
    decades = (tape.age - USUAL_AGE) / 10.0
    terms = np.stack([index**0, decades, index, girth, index * girth], axis=1)
    return tape.stature[:, None] ** 2 * terms


def unseen_fat(people: ScannedPeople) -> np.ndarray:
    """Fat mass of everybody by models that did not see them, kg."""
    count = len(people.tape.age)
    fold = np.empty(count, int)
    fold[np.random.default_rng(1).permutation(count)] = np.arange(count) % FOLDS
    fat = np.empty(count)
    for number in range(FOLDS):
        rows = fold == number
        tape = people.tape.only(rows)
        model = fit_people(people.only(~rows))[0]
        fat[rows] = model.fat_percentage(tape) / 100 * tape.mass
    return fat


def left_out(design: np.ndarray, measured: np.ndarray) -> float:
    """Root mean square error of linear least squares, leave-one-out."""
    hat = design @ np.linalg.pinv(design)
    return rms(leave_one_out(measured, hat @ measured, hat))


def scanned_trunks(path: Path, people: ScannedPeople) -> np.ndarray:
    """Trunk fat by X-ray of the same people, kg; NaN where the trunk was not scanned."""
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["sex"].lower() == people.sex]
    names = ("age_y", "height_cm", "weight_kg", "waist_cm")
    keyed = {tuple(float(r[n]) if r[n] else np.nan for n in names): r for r in rows}
    tape = people.tape
    keys = zip(
        tape.age, (100 * tape.stature).round(1), tape.mass, (100 * tape.waist).round(1), strict=True
    )
    texts = [keyed[tuple(map(float, key))]["dxa_trunk_fat_g"] for key in keys]
    return np.array([float(text) / 1000 if text else np.nan for text in texts])


if __name__ == "__main__":
    main()
