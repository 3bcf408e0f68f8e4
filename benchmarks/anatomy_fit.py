"""Fits layers into sampled bodies: nesting, mass balance, time.

    python benchmarks/anatomy_fit.py --bodies 40 --out benchmarks/results/anatomy_fit.json

Bodies have BMI 16 to 45, both sexes, 1.45 to 2.05 m. Writes JSON with commit and machine; the slow
full run takes --bodies 1000.
"""

import argparse
import json
import os
import platform
import subprocess
import time
from pathlib import Path

import numpy as np

from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.nesting import check_nesting
from corporeal.anthropometry.solve import SolvedBody, solve_measurements
from corporeal.errors import InputError

BMI = (16.0, 45.0)
STATURES = {"female": (1.45, 1.9), "male": (1.55, 2.05)}


def sample(seed: int) -> tuple[str, float, SolvedBody]:
    """A body: sex, age in years, shape."""
    random = np.random.default_rng(seed)
    sex = ("female", "male")[seed % 2]
    age = float(random.uniform(20, 75))
    stature = float(random.uniform(*STATURES[sex]))
    mass = float(random.uniform(*BMI)) * stature**2
    return sex, age, solve_measurements({"stature": stature, "mass": mass}, sex, age)


def fitted(seed: int) -> dict[str, float | str | bool]:
    """One body's row of the table."""
    sex, age, body = sample(seed)
    wanted = predict_composition(body.identity, age, sex).composition
    start, processor = time.perf_counter(), time.process_time()
    layers = fit_layers(body.identity, sex, wanted)
    seconds, processor = time.perf_counter() - start, time.process_time() - processor
    nesting = check_nesting(layers)
    held, metadata = layers.composition, layers.metadata
    assert held is not None
    assert metadata is not None
    return {
        "seed": seed,
        "sex": sex,
        "stature": body.measurements.stature,
        "bmi": body.measurements.bmi,
        "fat_error": held.fat_mass - wanted.fat_mass,
        "muscle_error": held.muscle_mass - wanted.muscle_mass,
        "fat_asked": wanted.fat_mass,
        "muscle_asked": wanted.muscle_mass,
        "muscularity": metadata["muscularity"],
        "visceral_fat": metadata["visceral_fat"],
        "rounds": metadata["rounds"],
        "collisions": metadata["collisions"],
        "untangled_mm": 1e3 * float(metadata["untangled"]),
        "sound": nesting.sound,
        "muscle_outside": nesting.muscle_outside,
        "bone_outside": nesting.bone_outside,
        "worst_mm": 1e3 * nesting.worst,
        "inverted_prisms": nesting.inverted_prisms,
        "inverted_tetrahedra": nesting.inverted_tetrahedra,
        "seconds": seconds,
        "processor_seconds": processor,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument(
        "--out", type=Path, default=Path("benchmarks/results/anatomy_fit.json"), help="file"
    )
    arguments = parser.parse_args()
    rows, refused = [], []
    fitted(arguments.first)  # compile and factor
    for seed in range(arguments.first, arguments.first + arguments.bodies):
        try:
            rows.append(fitted(seed))
        except InputError as error:
            refused.append({"seed": seed, "why": str(error)})
    table = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    worst = np.argsort(-(np.abs(table["fat_error"]) + np.abs(table["muscle_error"])))[:5]
    summary = {
        "bodies": len(rows),
        "refused": len(refused),
        "sound": int(table["sound"].sum()),
        "worst_mm": float(table["worst_mm"].max()),
        "inverted_prisms": int(table["inverted_prisms"].sum()),
        "inverted_tetrahedra": int(table["inverted_tetrahedra"].sum()),
        "fat_mean_abs_error_kg": float(np.abs(table["fat_error"]).mean()),
        "muscle_mean_abs_error_kg": float(np.abs(table["muscle_error"]).mean()),
        "seconds_median": float(np.median(table["seconds"])),
        "processor_seconds_median": float(np.median(table["processor_seconds"])),
        "worst_balance": [rows[i] for i in worst],
        "unsound": [row for row in rows if not row["sound"]],
    }
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    report = {
        "commit": commit.stdout.strip(),
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "load": os.getloadavg()[0],
        "summary": summary,
        "refused": refused,
        "rows": rows,
    }
    arguments.out.write_text(json.dumps(report, indent=1, default=float) + "\n")
    print(json.dumps({k: v for k, v in summary.items() if not isinstance(v, list)}, indent=1))


if __name__ == "__main__":
    main()
