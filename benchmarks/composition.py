"""Fat and muscle mass: errors on people left out, percentiles, and default bodies.

    python benchmarks/composition.py "$CORPOREAL_DATA"

Reads `nhanes/` and `ansur2/` of the data folder and writes `benchmarks/results/composition.json`:
errors of several forms of the predictor on NHANES people, coverage of its intervals, who is
missing, percentile tables beside Kyle et al., and the predicted composition of default bodies.
"""

import argparse
import json
import platform
import subprocess
import time
from datetime import UTC, datetime
from itertools import combinations_with_replacement
from pathlib import Path

import numpy as np

from corporeal.anatomy.composition.constrained import leave_one_out
from corporeal.anatomy.composition.muscle import KIM_ERROR, muscle_from_size
from corporeal.anatomy.composition.people import SEXES, ScannedPeople, read_people
from corporeal.anatomy.composition.percentiles import (
    AGE_GROUPS,
    KYLE_2001,
    LEVELS,
    SEED_CAESAR,
    fat_percentiles,
)
from corporeal.anatomy.composition.predict import predict_composition, predict_from_tape
from corporeal.anatomy.composition.stored import load_models
from corporeal.anatomy.composition.tape import Tape
from corporeal.anatomy.composition.train import fit_fat, fit_people
from corporeal.anatomy.composition.validation import HeldOut, held_out, linear_errors, rms
from corporeal.anatomy.composition.waist import CREST_SHARE
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.solve import solve_measurements
from corporeal.anthropometry.survey import read_survey
from corporeal.errors import InputError

RESULTS = Path(__file__).parent / "results" / "composition.json"
NHANES = "nhanes/nhanes_2017_2018_body_dxa.csv"
STATURES = {"female": 1.63, "male": 1.76}
BMIS = (16.0, 18.5, 22.0, 25.0, 30.0, 35.0, 40.0, 48.0)
AGES = (25.0, 45.0, 70.0)
SEEDS = range(5)
BODIES = 100
"""People a sex whose bodies are made and measured."""
WITHIN_90 = 1.645


def ridge_errors(columns: np.ndarray, target: np.ndarray, ridge: float) -> np.ndarray:
    """Leave-one-out errors of ridge regression on standardised columns."""
    scaled = (columns - columns.mean(axis=0)) / columns.std(axis=0)
    design = np.column_stack([np.ones(len(target)), scaled])
    penalty = ridge * np.diag(np.r_[0.0, np.ones(scaled.shape[1])])
    hat = design @ np.linalg.solve(design.T @ design + penalty, design.T)
    return leave_one_out(target, hat @ target, hat)


def kernel_errors(columns: np.ndarray, target: np.ndarray, width: float) -> np.ndarray:
    """Leave-one-out errors of kernel ridge: squared exponential plus linear."""
    scaled = (columns - columns.mean(axis=0)) / columns.std(axis=0) / width
    squares = ((scaled[:, None] - scaled[None]) ** 2).sum(axis=-1)
    kernel = np.exp(-0.5 * squares) + scaled @ scaled.T + 10.0
    inverse = np.linalg.inv(kernel + np.eye(len(target)))
    return inverse @ (target - target.mean()) / np.diag(inverse)


def forms(tape: Tape, fat: np.ndarray, sex: str) -> dict[str, float]:
    """Leave-one-out error of each form that was tried, points of per cent."""
    logs = np.column_stack([tape.age, np.log(tape.stature), np.log(tape.mass), np.log(tape.waist)])
    centred = logs - logs.mean(axis=0)
    pairs = combinations_with_replacement(range(4), 2)
    squares = np.column_stack([centred[:, i] * centred[:, j] for i, j in pairs])
    ratios = np.column_stack([tape.age, 1 / tape.bmi, 1 / tape.girth_ratio])
    errors = {
        "linear": linear_errors(tape, fat),
        "linear in logarithms": ridge_errors(logs, fat, 0.0),
        "linear in age, 1/BMI, stature/waist": ridge_errors(ratios, fat, 0.0),
        "quadratic in logarithms": ridge_errors(np.column_stack([centred, squares]), fat, 3.0),
        "kernel ridge in logarithms": kernel_errors(logs, fat, 2.0),
        "ours": fit_fat(tape, fat, sex).left_out_errors,
    }
    return {name: round(rms(values), 3) for name, values in errors.items()}


def by_class(people: ScannedPeople, found: HeldOut) -> dict[str, dict[str, float]]:
    """Held-out bias and error of fat in classes of BMI and of age."""
    classes = {f"BMI {a}-{b}": (people.tape.bmi, a, b) for a, b in ((15, 20), (20, 25), (25, 30))}
    classes |= {f"BMI {a}-{b}": (people.tape.bmi, a, b) for a, b in ((30, 35), (35, 40), (40, 65))}
    classes |= {f"age {a}-{b}": (people.tape.age, a, b) for a, b in AGE_GROUPS}
    rows = {}
    for name, (values, low, high) in classes.items():
        errors = found.fat_errors[(values >= low) & (values < high)]
        rows[name] = {
            "people": len(errors),
            "bias": round(float(errors.mean()), 2),
            "rmse": round(rms(errors), 2),
        }
    return rows


def missing(people: ScannedPeople) -> dict[str, dict[str, float]]:
    """Those scanned beside those who were taped but not scanned: means."""
    fitted = load_models()[people.sex]
    return {
        name: {
            "people": len(tape.mass),
            "age": round(float(tape.age.mean()), 1),
            "bmi": round(float(tape.bmi.mean()), 1),
            "waist over stature": round(float(tape.girth_ratio.mean()), 3),
            "predicted fat": round(float(fitted.fat_percentage(tape).mean()), 1),
        }
        for name, tape in (("scanned", people.tape), ("not scanned", people.unscanned))
    }


def accuracy(people: ScannedPeople) -> dict[str, object]:
    """Errors on people the fit has not seen."""
    model, fat, muscle_errors = fit_people(people)
    runs = [held_out(people, 10, seed) for seed in SEEDS]
    first, mass = runs[0], people.tape.mass
    kilograms = fat.left_out_errors * mass / 100
    muscle_rmse = rms(muscle_errors)
    lean = people.only(np.isfinite(people.muscle_mass) & (people.tape.bmi < 30))
    by_size = muscle_from_size(lean.tape.mass, lean.tape.stature, lean.tape.age, people.sex)
    return {
        "people": dict(people.left_out),
        "missing": missing(people),
        "forms, leave-one-out rmse, points": forms(people.tape, people.fat_percentage, people.sex),
        "effective coefficients": round(fat.freedom, 1),
        "10-fold rmse, points, five shuffles": [round(rms(run.fat_errors), 3) for run in runs],
        "leave-one-out fat, kg": errors_of(kilograms),
        "R² of fat mass": round(
            1 - (kilograms**2).mean() / (people.fat_percentage * mass / 100).var(), 3
        ),
        "coverage of the 90 % interval, held out": round(first.coverage(WITHIN_90), 3),
        "classes, held out": by_class(people, first),
        "leave-one-out muscle about DXA relation, kg": errors_of(muscle_errors),
        "muscle rmse with the relation's own error, kg": round(
            float(np.hypot(muscle_rmse, KIM_ERROR)), 2
        ),
        "muscle, mean and sd of people, kg": [
            round(float(np.nanmean(people.muscle_mass)), 2),
            round(float(np.nanstd(people.muscle_mass)), 2),
        ],
        "muscle over mass, BMI under 30, Kim and Lee, mean": [
            round(float((lean.muscle_mass / lean.tape.mass).mean()), 3),
            round(float((by_size / lean.tape.mass).mean()), 3),
        ],
        "Lee minus Kim, BMI under 30, kg": errors_of(by_size - lean.muscle_mass),
        "fat slope with ln stoutness, points": round(float(model.fat_coefficients[2]), 2),
    }


def errors_of(errors: np.ndarray) -> dict[str, float]:
    """Mean, mean absolute, spread of absolute and root mean square."""
    return {
        "mean": round(float(errors.mean()), 2),
        "mae": round(float(np.abs(errors).mean()), 2),
        "sd of absolute": round(float(np.abs(errors).std()), 2),
        "rmse": round(rms(errors), 2),
    }


def percentile_rows(people: ScannedPeople, soldiers: np.ndarray) -> dict[str, list[float]]:
    """Rows at `LEVELS`: Komaritzan 2022's table, then ours."""
    predicted = (
        people.fat_percentage
        - fit_fat(people.tape, people.fat_percentage, people.sex).left_out_errors
    )
    rows = {
        "Kyle et al. 2001, impedance": KYLE_2001[people.sex],
        "seed on CAESAR": SEED_CAESAR[people.sex],
        "ours on ANSUR II": fat_percentiles(soldiers),
        "ours on NHANES, left out": fat_percentiles(predicted),
        "NHANES, DXA": fat_percentiles(people.fat_percentage),
    }
    for low, high in AGE_GROUPS:
        group = (people.tape.age >= low) & (people.tape.age < high)
        rows[f"ours on NHANES, {low}-{high - 1} years"] = fat_percentiles(predicted[group])
        rows[f"NHANES, DXA, {low}-{high - 1} years"] = fat_percentiles(people.fat_percentage[group])
    return {name: [round(float(v), 1) for v in values] for name, values in rows.items()}


def soldiers_fat(path: Path, sex: str) -> tuple[np.ndarray, dict[str, float]]:
    """Predicted fat of ANSUR II, whose waist at the navel is taken as that at the crest."""
    survey = read_survey(path / f"ansur2_{sex}.csv")
    stature, mass, waist, crotch, neck, navel = (
        survey.dimensions[:, NAMES.index(name)]
        for name in (
            "stature",
            "mass",
            "waist_circumference",
            "crotch_height",
            "cervicale_height",
            "waist_height",
        )
    )
    crest = crotch + CREST_SHARE[sex] * (neck - crotch)
    tape = Tape(stature, mass, waist, survey.ages)
    facts = {
        "people": len(mass),
        "mean BMI": round(float(tape.bmi.mean()), 1),
        "crest above navel, mm": round(1e3 * float((crest - navel).mean()), 1),
    }
    return load_models()[sex].fat_percentage(tape), facts


def young_and_slim(people: ScannedPeople) -> dict[str, float]:
    """Fat of people like the median Swiss adult of 18–34 years (Schutz et al. 2002), per cent."""
    fat_free, fat = {"female": (15.4, 5.5), "male": (18.9, 4.0)}[people.sex]
    near = (people.tape.age < 35) & (np.abs(people.tape.bmi - fat_free - fat) < 1.5)
    predicted = load_models()[people.sex].fat_percentage(people.tape.only(near))
    return {
        "people": int(near.sum()),
        "BMI": round(fat_free + fat, 1),
        "impedance, Schutz et al.": round(100 * fat / (fat_free + fat), 1),
        "DXA, NHANES": round(float(people.fat_percentage[near].mean()), 1),
        "ours": round(float(predicted.mean()), 1),
    }


def default_bodies(sex: str) -> list[dict[str, float]]:
    """Predicted composition of solved bodies over the range of BMI."""
    rows = []
    for age in AGES:
        for bmi in BMIS:
            targets = {"stature": STATURES[sex], "mass": bmi * STATURES[sex] ** 2}
            found = predict_composition(solve_measurements(targets, sex, age).identity, age, sex)
            masses = found.composition
            rows.append(
                {
                    "age": age,
                    "bmi": bmi,
                    "fat_percentage": round(found.fat_percentage, 1),
                    "fat_kg": round(masses.fat_mass, 1),
                    "fat_90": [round(value, 1) for value in found.fat_interval],
                    "muscle_kg": round(masses.muscle_mass, 1),
                    "muscle_90": [round(value, 1) for value in found.muscle_interval],
                    "remaining_kg": round(found.remaining_mass, 1),
                }
            )
    return rows


def through_a_surface(people: ScannedPeople) -> dict[str, float]:
    """Fat of people whose bodies were first solved from stature, mass and waist, then measured.

    The solver tapes the navel and is given the waist at the crest, so this holds the error of the
    waist's definition as well; models are the shipped ones.
    """
    order = np.random.default_rng(0).permutation(len(people.fat_percentage))
    direct, surface = [], []
    for i in order[:BODIES]:
        stature, mass, waist, age = (
            float(getattr(people.tape, name)[i]) for name in ("stature", "mass", "waist", "age")
        )
        try:
            targets = {"stature": stature, "mass": mass, "waist": waist}
            body = solve_measurements(targets, people.sex, age)
            found = predict_composition(body.identity, age, people.sex)
        except InputError:  # no such body, or beyond the predictor's domain: counted below
            continue
        known = predict_from_tape(stature, mass, waist, age, people.sex)
        direct.append(known.fat_percentage - people.fat_percentage[i])
        surface.append(found.fat_percentage - people.fat_percentage[i])
    shift = np.array(surface) - np.array(direct)
    return {
        "people": BODIES,
        "bodies": len(surface),
        "rmse from tape": round(rms(np.array(direct)), 2),
        "rmse from surface": round(rms(np.array(surface)), 2),
        "mean shift": round(float(shift.mean()), 2),
        "sd of shift": round(float(shift.std()), 2),
    }


def prediction_time() -> float:
    """Milliseconds of processor time of one prediction from the tape, warm."""
    start = time.process_time()
    for _ in range(200):
        predict_from_tape(1.7, 70.0, 0.85, 30.0, "female")
    return round(1e3 * (time.process_time() - start) / 200, 3)


def main() -> None:
    parser = argparse.ArgumentParser(description="Errors of predicted fat and muscle mass.")
    parser.add_argument("data", type=Path, help="the folder that holds nhanes/ and ansur2/")
    data = parser.parse_args().data
    report: dict[str, object] = {
        "commit": subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "percentile levels": LEVELS,
        "prediction, ms of processor time": prediction_time(),
    }
    for sex in SEXES:
        people = read_people(data / NHANES, sex)
        soldiers, facts = soldiers_fat(data / "ansur2", sex)
        errors = accuracy(people)
        report[sex] = {
            "accuracy": errors,
            "percentiles": percentile_rows(people, soldiers),
            "ANSUR II": facts,
            "young and slim": young_and_slim(people),
            "default bodies": default_bodies(sex),
            "through a surface": through_a_surface(people),
        }
        print(sex, json.dumps(errors["forms, leave-one-out rmse, points"]))
    RESULTS.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(f"wrote {RESULTS.name}")


if __name__ == "__main__":
    main()
