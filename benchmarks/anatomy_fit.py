"""Fits layers into sampled bodies: nesting, mass balance, time.

    python benchmarks/anatomy_fit.py --bodies 40
    python benchmarks/anatomy_fit.py --bodies 1000   # 40 processor minutes; takes up where it ended

Bodies have BMI 16 to 45, both sexes, 1.45 to 2.05 m. Each adds its row to `anatomy_fit.jsonl` at
once; a later run leaves out what stands there already, but for rows of other source code. The
summary of all rows, with commit and machine, goes into `anatomy_fit.json`.
"""

import argparse
import json
import os
import platform
import subprocess
import time
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

import numpy as np

import corporeal.anatomy
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.fit.layers import fit_layers
from corporeal.anatomy.nesting import check_nesting
from corporeal.anthropometry.solve import SolvedBody, solve_measurements
from corporeal.errors import InputError

RESULTS = Path(__file__).parent / "results"
BMI = (16.0, 45.0)
STATURES = {"female": (1.45, 1.9), "male": (1.45, 2.05)}
"""Metres: what the phenotype space reaches at every BMI."""
LISTED = 10
"""Worst cases in the summary."""
Row = dict[str, float | str | bool]


def sample(seed: int) -> tuple[str, float, SolvedBody]:
    """A body: sex, age in years, shape."""
    random = np.random.default_rng(seed)
    sex = ("female", "male")[seed % 2]
    age = float(random.uniform(20, 75))
    stature = float(random.uniform(*STATURES[sex]))
    mass = float(random.uniform(*BMI)) * stature**2
    return sex, age, solve_measurements({"stature": stature, "mass": mass}, sex, age)


def fitted(seed: int) -> Row:
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
    thickness = np.linalg.norm(layers.skin - layers.bone, axis=1)
    return {
        "seed": seed,
        "sex": sex,
        "age": age,
        "stature": body.measurements.stature,
        "bmi": body.measurements.bmi,
        "fat_error": held.fat_mass - wanted.fat_mass,
        "muscle_error": held.muscle_mass - wanted.muscle_mass,
        "fat_asked": wanted.fat_mass,
        "muscle_asked": wanted.muscle_mass,
        "muscularity": float(metadata["muscularity"]),
        "visceral_fat": float(metadata["visceral_fat"]),
        "rounds": float(metadata["rounds"]),
        "collisions": float(metadata["collisions"]),
        "untangled_mm": 1e3 * float(metadata["untangled"]),
        "closed_vertices": int((layers.layered & (thickness == 0.0)).sum()),
        "sound": nesting.sound,
        "muscle_outside": nesting.muscle_outside,
        "bone_outside": nesting.bone_outside,
        "worst_mm": 1e3 * nesting.worst,
        "inverted_prisms": nesting.inverted_prisms,
        "inverted_tetrahedra": nesting.inverted_tetrahedra,
        "seconds": seconds,
        "processor_seconds": processor,
    }


def run(seeds: Sequence[int], file: Path, code: str) -> None:
    """Appends the row of every seed that `file` lacks, as soon as it is there."""
    left = [seed for seed in seeds if seed not in {row["seed"] for row in read_rows(file, code)}]
    if left:
        fitted(left[0])  # compile and factor
    for number, seed in enumerate(left):
        try:
            row = fitted(seed)
        except InputError as error:
            row = {"seed": seed, "refused": str(error)}
        with file.open("a") as rows:
            rows.write(json.dumps(row | {"code": code}, default=float) + "\n")
        print(f"{number + 1} of {len(left)}: body {seed}", flush=True)


def read_rows(file: Path, code: str) -> list[Row]:
    """Rows that this code made, ordered by seed."""
    if not file.exists():
        return []
    rows = [json.loads(line) for line in file.read_text().splitlines()]
    return sorted((row for row in rows if row["code"] == code), key=lambda row: row["seed"])


def source_code() -> str:
    """Eight hexadecimal digits of all that fits layers, this file included."""
    folder = Path(corporeal.anatomy.__file__).parent
    parts = ("fit", "composition", ".")
    files = sorted(file for part in parts for file in (folder / part).glob("*.py"))
    return sha256(b"".join(file.read_bytes() for file in [*files, Path(__file__)])).hexdigest()[:8]


def summary(rows: list[Row]) -> dict[str, object]:
    """What the rows say together; `rows` of fitted bodies, one at least."""
    table = {key: np.array([row[key] for row in rows]) for key in rows[0]}
    off = np.abs(table["fat_error"]) + np.abs(table["muscle_error"])
    deepest = np.argsort(-table["worst_mm"])[:LISTED]
    return {
        "bodies": len(rows),
        "bmi": [float(table["bmi"].min()), float(table["bmi"].max())],
        "stature": [float(table["stature"].min()), float(table["stature"].max())],
        "sound": int(table["sound"].sum()),
        "worst_mm": float(table["worst_mm"].max()),
        "inverted_prisms": int(table["inverted_prisms"].sum()),
        "inverted_tetrahedra": int(table["inverted_tetrahedra"].sum()),
        "bodies_with_closed_vertices": int((table["closed_vertices"] > 0).sum()),
        "fat_mean_abs_error_kg": float(np.abs(table["fat_error"]).mean()),
        "muscle_mean_abs_error_kg": float(np.abs(table["muscle_error"]).mean()),
        "fat_worst_error_kg": float(np.abs(table["fat_error"]).max()),
        "muscle_worst_error_kg": float(np.abs(table["muscle_error"]).max()),
        "seconds_median": float(np.median(table["seconds"])),
        "processor_seconds_median": float(np.median(table["processor_seconds"])),
        "processor_seconds_worst": float(table["processor_seconds"].max()),
        "worst_balance": [rows[i] for i in np.argsort(-off)[:LISTED]],
        "worst_nesting": [rows[i] for i in deepest],
        "unsound": [row for row in rows if not row["sound"]],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bodies", type=int, default=40)
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--out", type=Path, default=RESULTS / "anatomy_fit.json", help="file")
    arguments = parser.parse_args()
    file, code = arguments.out.with_suffix(".jsonl"), source_code()
    run(range(arguments.first, arguments.first + arguments.bodies), file, code)
    rows = read_rows(file, code)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    report = {
        "commit": commit.stdout.strip(),
        "code": code,
        "machine": {"processor": platform.machine(), "cores": os.cpu_count()},
        "load": os.getloadavg()[0],
        "summary": summary([row for row in rows if "refused" not in row]),
        "refused": [row for row in rows if "refused" in row],
    }
    arguments.out.write_text(json.dumps(report, indent=1, default=float) + "\n")
    shown = report["summary"] | {"refused": len(report["refused"])}
    print(json.dumps({k: v for k, v in shown.items() if not isinstance(v, list)}, indent=1))


if __name__ == "__main__":
    main()
