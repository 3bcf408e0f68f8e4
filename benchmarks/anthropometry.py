"""Measuring and solving: time, and accuracy on 200 people of ANSUR II.

    python benchmarks/anthropometry.py "$CORPOREAL_DATA"/ansur2 [--people 100]

Bodies are solved for people of each sex that the population was not fitted to, from stature and
mass, and from these and the waist; a time is reported only if every given dimension is met to 2 mm
and 0.1 kg. Writes `benchmarks/results/anthropometry.json`.
"""

import argparse
import json
import platform
import subprocess
import time
from datetime import UTC, datetime
from pathlib import Path

import numpy as np

from corporeal.anthropometry.asked import tolerance
from corporeal.anthropometry.definitions import NAMES, dimension
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.solve import solve_measurements
from corporeal.anthropometry.survey import Survey, read_survey, split
from corporeal.anthropometry.validation import Comparison, compare
from corporeal.models.phenotype.model import PhenotypeModel

RESULTS = Path(__file__).parent / "results" / "anthropometry.json"
GIVEN = (("stature", "mass"), ("stature", "mass", "waist_circumference"))
GENDERS = {"female": 0.0, "male": 1.0}


def rows(found: Comparison) -> dict[str, dict[str, float]]:
    """Residuals of every dimension, millimetres or kilograms, and the ratio to regression."""
    table = {}
    for i, name in enumerate(NAMES):
        factor = 1.0 if dimension(name).unit == "kg" else 1e3
        errors = factor * found.residuals[:, i]
        row = {"mean": errors.mean(), "sd": errors.std(), "max": np.abs(errors).max()}
        if name in found.ratios:
            regression = factor * np.sqrt((found.regression[:, i] ** 2).mean())
            row |= {"regression_rmse": regression, "ratio": found.ratios[name]}
        table[name] = {key: round(float(value), 3) for key, value in row.items()}
    return table


def require_met(found: Comparison) -> None:
    for name in found.given:
        worst = np.abs(found.residuals[:, NAMES.index(name)]).max()
        if worst > tolerance(name):
            raise SystemExit(f"{name} was missed by {worst}; no time is reported")


def times(model: PhenotypeModel, people: Survey, gender: float) -> dict[str, float]:
    """Milliseconds of a warm solve from stature and mass, and of measuring one body.

    Processor time as well, since the machine may be shared.
    """
    solve, read, busy = [], [], []
    for person in people.dimensions[:20]:
        asked = {name: float(person[NAMES.index(name)]) for name in GIVEN[0]}
        start, busy_start = time.perf_counter(), time.process_time()
        solved = solve_measurements(asked, gender, model=model)
        middle = time.perf_counter()
        busy.append(time.process_time() - busy_start)
        measure(solved.identity)
        solve.append(middle - start)
        read.append(time.perf_counter() - middle)
    return {
        "solve_median_ms": round(1e3 * float(np.median(solve)), 1),
        "solve_max_ms": round(1e3 * max(solve), 1),
        "solve_processor_median_ms": round(1e3 * float(np.median(busy)), 1),
        "measure_median_ms": round(1e3 * float(np.median(read)), 2),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ansur", type=Path)
    parser.add_argument("--people", type=int, default=100, help="of each sex")
    arguments = parser.parse_args()
    model = PhenotypeModel()
    report: dict[str, object] = {
        "commit": subprocess.run(
            ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
        ).stdout.strip(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "units": "millimetres and kilograms",
    }
    for sex, gender in GENDERS.items():
        kept, held = split(read_survey(arguments.ansur / f"ansur2_{sex}.csv"))
        people = Survey(held.dimensions[: arguments.people], held.ages[: arguments.people])
        for given in GIVEN:
            found = compare(model, gender, kept, people, given)
            require_met(found)
            report[f"{sex} from {', '.join(given)}"] = rows(found)
            worst = max(found.ratios, key=lambda name: found.ratios[name])
            print(f"{sex} {given}: worst ratio {found.ratios[worst]:.2f} ({worst})")
        report[f"{sex} times"] = times(model, people, gender)
        print(report[f"{sex} times"])
    RESULTS.parent.mkdir(exist_ok=True)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
