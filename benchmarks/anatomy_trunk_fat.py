"""Trunk fat of fitted layers against X-ray, through bodies made from people's measurements.

    python benchmarks/anatomy_trunk_fat.py "$CORPOREAL_DATA" --people 60 --workers 1

People of NHANES 2017–2018 of 18 to 59 years become bodies with their stature, mass and waist where
NHANES tapes it, just above the crest of the hip; fat
and muscle come from predictors that were fitted without them (five folds), and layers are fitted
into the bodies. What of their fat lies on and in the trunk stands beside `dxa_trunk_fat_g`, and
beside a plain linear regression of it on age, stature, mass and waist (leave-one-out). The trunk's
share of fat that the fit asks for has five coefficients a sex from all of these people. Writes
`results/anatomy_trunk_fat.json`.
"""

import argparse
import csv
import json
import os
import platform
from functools import partial
from pathlib import Path

import numpy as np
from anatomy_bodies import executor
from measured_commit import commit

from corporeal._typing import Float, NumpyArray
from corporeal.anatomy.building.muscle import vertex_volumes
from corporeal.anatomy.composition.constrained import leave_one_out
from corporeal.anatomy.composition.people import SEXES, ScannedPeople, read_people
from corporeal.anatomy.composition.train import fit_people
from corporeal.anatomy.composition.validation import rms
from corporeal.anatomy.composition.waist import crest_waist
from corporeal.anatomy.fit.balance import FAT_DENSITY
from corporeal.anatomy.fit.layers import fit_layers, trunk_region
from corporeal.anatomy.template import layered_template
from corporeal.anthropometry.solve import GENDERS, SolvedBody, solve_measurements
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.body.tissues import GENITAL_MASS, LIPID_SHARE, SKIN_THICKNESS
from corporeal.errors import InputError
from corporeal.geometry.surface import triangle_areas

RESULTS = Path(__file__).parent / "results" / "anatomy_trunk_fat.json"
NHANES = "nhanes/nhanes_2017_2018_body_dxa.csv"
FOLDS = 5


def trunk_fat(layers: Layers, sex: str) -> float:
    """Fat on and in the trunk, kg: the layer without its skin, visceral fat, fat in the muscles."""
    template = layered_template(sex)
    prisms, trunk = template.prisms(), trunk_region(template)
    skin, muscle = (np.asarray(s, np.float64) for s in (layers.skin, layers.muscle))
    layer = FAT_DENSITY * float(vertex_volumes(prisms, skin, muscle) @ trunk)
    areas = triangle_areas(skin, prisms.triangles)
    covered = float(areas @ trunk[prisms.triangles].mean(axis=1))
    cover = FAT_DENSITY * SKIN_THICKNESS[sex] * covered
    report = layers.metadata or {}
    behind, between = (float(report[name]) for name in ("visceral_fat", "trunk_muscle_fat"))
    return LIPID_SHARE * (layer - cover - GENITAL_MASS[sex] + behind) + between


def scanned_trunks(path: Path, people: ScannedPeople) -> Float[NumpyArray, "n"]:
    """Trunk fat by X-ray of the same people, kg; NaN where the trunk was not scanned."""
    with path.open(encoding="utf-8") as file:
        rows = [row for row in csv.DictReader(file) if row["sex"].lower() == people.sex]
    known = {
        (row["age_y"], row["height_cm"], row["weight_kg"], row["waist_cm"]): row["dxa_trunk_fat_g"]
        for row in rows
    }
    keyed = {tuple(float(v) if v else np.nan for v in key): text for key, text in known.items()}
    tape = people.tape
    found = []
    for age, stature, mass, waist in zip(
        tape.age, tape.stature, tape.mass, tape.waist, strict=True
    ):
        key = (
            float(age),
            round(100 * float(stature), 1),
            float(mass),
            round(100 * float(waist), 1),
        )
        text = keyed.get(key, "")
        found.append(float(text) / 1000 if text else np.nan)
    return np.array(found)


def fitted_trunks(people: ScannedPeople, chosen: NumpyArray) -> list[dict[str, float]]:
    """One row for every person whose body can be made."""
    tape, rows = people.tape, []
    order = np.random.default_rng(1).permutation(len(tape.age))
    fold = np.empty(len(order), int)
    fold[order] = np.arange(len(order)) % FOLDS
    models = [fit_people(people.only(fold != number))[0] for number in range(FOLDS)]
    for index in chosen:
        one, model = tape.only(np.array([index])), models[fold[index]]
        stature, mass, waist, age = (
            float(values[0]) for values in (one.stature, one.mass, one.waist, one.age)
        )
        fat = float(model.fat_percentage(one)[0]) / 100 * mass
        wanted = Composition(fat, float(model.muscle_mass(one)[0]))
        try:
            body = taped_body(stature, mass, waist, people.sex, age)
            layers = fit_layers(body.identity, people.sex, wanted, age=age)
        except InputError:  # no body has these three: counted by the caller
            continue
        rows.append({"person": int(index), "trunk_kg": trunk_fat(layers, people.sex)})
        print(people.sex, len(rows), flush=True)
    return rows


def taped_body(stature: float, mass: float, waist: float, sex: str, age: float) -> SolvedBody:
    """A body whose girth just above the iliac crest, where NHANES tapes, is `waist` (metres): what
    its navel must have is found by one more try, as crests lie up to 3 cm above navels."""
    body = solve_measurements({"stature": stature, "mass": mass, "waist": waist}, sex, age)
    asked = waist**2 / crest_waist(body.identity, GENDERS[sex])
    return solve_measurements({"stature": stature, "mass": mass, "waist": asked}, sex, age)


def part_of(path: Path, sex: str, chosen: NumpyArray) -> list[dict[str, float]]:
    """Rows of some people, in a process of their own."""
    return fitted_trunks(read_people(path, sex), chosen)


def compared(path: Path, sex: str, count: int, workers: int) -> dict[str, float]:
    """Errors of layers and of the plain regression on the same people of one sex."""
    people = read_people(path, sex)
    measured, tape = scanned_trunks(path, people), people.tape
    scanned = np.flatnonzero(~np.isnan(measured) & ~np.isnan(people.muscle_mass))
    chosen = np.random.default_rng(0).permutation(scanned)[:count]
    parts = [part for part in np.array_split(chosen, workers) if len(part)]
    with executor(workers) as each:
        rows = [row for part in each(partial(part_of, path, sex), parts) for row in part]
    seen = np.array([row["person"] for row in rows])
    off = np.array([row["trunk_kg"] for row in rows]) - measured[seen]
    columns = (np.ones_like(tape.age), tape.age, tape.stature, tape.mass, tape.waist)
    design = np.column_stack(columns)[scanned]
    hat = design @ np.linalg.pinv(design)
    plain = np.full(len(measured), np.nan)
    plain[scanned] = leave_one_out(measured[scanned], hat @ measured[scanned], hat)
    return {
        "people": len(chosen),
        "bodies": len(rows),
        "trunk_fat_kg": float(measured[seen].mean()),
        "bias_kg": float(off.mean()),
        "bias_share": float(off.mean() / measured[seen].mean()),
        "rmse_kg": rms(off),
        "rmse_regression_kg": rms(plain[seen]),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("data", type=Path, help="folder with nhanes/")
    parser.add_argument("--people", type=int, default=60, help="of each sex")
    parser.add_argument("--workers", type=int, default=1, help="processes")
    parser.add_argument("--out", type=Path, default=RESULTS, help="file")
    asked = parser.parse_args()
    report = {
        "commit": commit(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        **{sex: compared(asked.data / NHANES, sex, asked.people, asked.workers) for sex in SEXES},
    }
    asked.out.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


if __name__ == "__main__":
    main()
