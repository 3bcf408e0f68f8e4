"""Sampled and realised people against ANSUR II: moments, correlations, residuals, soundness, time.

    python benchmarks/people.py "$CORPOREAL_DATA" [--count 1000] [--jobs 2] [--store people.zarr]

Draws soldiers, realises them through `corporeal people`, and compares what their bodies measure
with the survey, for women and men. A time is reported only if every body meets its stature to 2 mm
and its mass to 0.1 kg. Writes `benchmarks/results/people.json`, two figures under
`docs/pictures`. A store that was made before is used again, without a time.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import tempfile
import time
from datetime import UTC, datetime
from itertools import product
from pathlib import Path

import numpy as np
from measured_commit import commit
from people_plots import correlation_figure, moment_figure

from corporeal.anatomy.composition.people import read_people as scanned_people
from corporeal.anatomy.composition.waist import CREST_OVER_NAVEL
from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.anthropometry.definitions import NAMES, dimension
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.survey import read_survey, split
from corporeal.anthropometry.validity import baseline, validity_beside
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.people import PeopleConfig, make_people
from corporeal.population.given import survey_persons
from corporeal.population.people_store import People, read_people
from corporeal.population.realise import MATCHED, realise
from corporeal.population.reshape import reshape_body
from corporeal.population.sampling import AGES, BMIS, sample_people

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "people.json"
PICTURES = ROOT / "docs" / "pictures"
SEED = 1
ADULTS, EVEN = 4000, 80
THINNEST = 16.0  # kg/m², of a body that is made lighter
PERCENTILES = [1, 5, 25, 50, 75, 95, 99]
COLUMNS = [NAMES.index(name) for name in MATCHED]


def moments(bodies: np.ndarray, survey: np.ndarray) -> dict[str, dict[str, float]]:
    """Mean and standard deviation of every dimension, millimetres or kilograms."""
    table = {}
    for i, name in enumerate(NAMES):
        factor = 1.0 if dimension(name).unit == "kg" else 1e3
        ours, theirs = factor * bodies[:, i], factor * survey[:, i]
        row = {
            "mean": ours.mean(),
            "survey_mean": theirs.mean(),
            "sd": ours.std(ddof=1),
            "survey_sd": theirs.std(ddof=1),
            "mean_off_in_sd": (ours.mean() - theirs.mean()) / theirs.std(ddof=1),
            "sd_ratio": ours.std(ddof=1) / theirs.std(ddof=1),
        }
        table[name] = {key: round(float(value), 4) for key, value in row.items()}
    return table


def residuals(off: np.ndarray) -> dict[str, dict[str, float]]:
    """Body minus person, millimetres or kilograms."""
    table = {}
    for i, name in enumerate(NAMES):
        errors = off[:, i] * (1.0 if dimension(name).unit == "kg" else 1e3)
        row = {"mean": errors.mean(), "sd": errors.std(), "largest": np.abs(errors).max()}
        table[name] = {key: round(float(value), 3) for key, value in row.items()}
    return table


def correlations(bodies: np.ndarray, survey: np.ndarray) -> dict[str, object]:
    """Correlation matrices of the matched dimensions, and how far they are apart."""
    ours, theirs = (np.corrcoef(table[:, COLUMNS].T) for table in (bodies, survey))
    pairs = np.triu_indices(len(COLUMNS), 1)
    apart = np.abs(ours - theirs)[pairs]
    worst = int(apart.argmax())
    return {
        "bodies": np.round(ours, 3).tolist(),
        "survey": np.round(theirs, 3).tolist(),
        "largest_difference": round(float(apart.max()), 3),
        "between": [MATCHED[pairs[0][worst]], MATCHED[pairs[1][worst]]],
        "root_mean_square_difference": round(float(np.sqrt((apart**2).mean())), 4),
    }


def compared(people: People, data: Path) -> dict[str, object]:
    """All comparisons, by sex."""
    report: dict[str, object] = {}
    measured = people.measured[:, : len(NAMES)]
    for sex in ("female", "male"):
        rows = np.array(people.sex) == sex
        survey = read_survey(data / f"ansur2/ansur2_{sex}.csv").dimensions
        report[sex] = {
            "people": int(rows.sum()),
            "survey_people": len(survey),
            "moments": moments(measured[rows], survey),
            "correlations": correlations(measured[rows], survey),
            "residuals": residuals((measured - people.asked)[rows]),
        }
    return report


def held_back(data: Path) -> dict[str, object]:
    """The 100 people a sex that no fit saw: their bodies against themselves, and hips by tape."""
    model, report = PhenotypeModel(), {}
    for sex in ("female", "male"):
        persons = survey_persons(split(read_survey(data / f"ansur2/ansur2_{sex}.csv"))[1], sex)
        found = realise(model, persons)
        bodies = [measure(found.identity(i), model.template) for i in range(persons.count)]
        measured = np.array([[body[name] for name in NAMES] for body in bodies])
        fullest = np.array([body["hip_circumference"] for body in bodies])
        buttock = measured[:, NAMES.index("buttock_circumference")]
        report[sex] = {
            "people": persons.count,
            "moments": moments(measured, persons.dimensions),
            "residuals": residuals(measured - persons.dimensions),
            "hips_by_tape_over_buttock_mm": {
                "mean": round(1e3 * float((fullest - buttock).mean()), 1),
                "largest": round(1e3 * float((fullest - buttock).max()), 1),
            },
        }
    return report


def adults(data: Path) -> dict[str, object]:
    """Percentiles of drawn adults beside those of NHANES, within the ranges of both."""
    drawn = sample_people(0, ADULTS, SEED, "adults")
    report: dict[str, object] = {"people": ADULTS, "percentiles": PERCENTILES}
    for sex in ("female", "male"):
        rows = np.array(drawn.sexes) == sex
        stature, mass = (drawn.dimensions[rows, NAMES.index(n)] for n in ("stature", "mass"))
        waist = drawn.dimensions[rows, NAMES.index("waist_circumference")]
        found = scanned_people(data / "nhanes/nhanes_2017_2018_body_dxa.csv", sex, AGES)
        theirs = [
            np.concatenate([getattr(t, n) for t in (found.tape, found.unscanned)])
            for n in ("age", "stature", "bmi", "waist")
        ]
        within = (theirs[2] >= BMIS[0]) & (theirs[2] <= BMIS[1])
        theirs[3] = theirs[3] / CREST_OVER_NAVEL[sex]
        ours = (drawn.ages[rows], stature, mass / stature**2, waist)
        names = ("age_years", "stature_m", "bmi", "waist_m")
        report[sex] = {
            name: {
                "people": np.percentile(a, PERCENTILES).round(3).tolist(),
                "nhanes": np.percentile(b[within], PERCENTILES).round(3).tolist(),
            }
            for name, a, b in zip(names, ours, theirs, strict=True)
        }
    return report


def extremes(folder: Path, jobs: int) -> dict[str, object]:
    """Bodies spread evenly over BMI 16 to 48 and ages 18 to 80."""
    out = folder / "even.zarr"
    made(PeopleConfig(out, EVEN, SEED, "even"), jobs)
    people = read_people(out)
    require_met(people)
    return {
        "bmi": [round(float(people.bmi.min()), 1), round(float(people.bmi.max()), 1)],
        "age_years": [round(float(people.age.min())), round(float(people.age.max()))],
        "soundness": soundness(people),
        "residuals": residuals(people.measured[:, : len(NAMES)] - people.asked),
    }


def weight_editing() -> dict[str, object]:
    """Bodies made 30 kg heavier or lighter and 5 or 10 cm taller: what misses, and how far."""
    model = PhenotypeModel()
    off: dict[str, list[float]] = {"mass": [], "stature": [], "straight": [], "contacts": []}
    for (gender, stature), bmi in product(((0.0, 1.65), (1.0, 1.78)), (22.0, 28.0, 34.0)):
        before = body_at_bmi(model, gender, bmi, stature, age=40.0)
        old = measure(before)
        own = baseline(np.asarray(before.rest_vertices), model.template)
        for gain, taller in ((30.0, 0.0), (-30.0, 0.0), (0.0, 0.05), (0.0, 0.1)):
            if (old.mass + gain) / (old.stature + taller) ** 2 < THINNEST:
                continue
            after = reshape_body(model, before, gender, gain, taller)
            new = measure(after.identity)
            off["mass"].append(new.mass - old.mass - gain)
            off["stature"].append(1e3 * (new.stature - old.stature - taller))
            off["straight"].append(after.straight_mass - old.mass - gain)
            found = validity_beside(np.asarray(after.identity.rest_vertices), own, model.template)
            off["contacts"].append(float(len(found.new_contacts)))
    return {
        "cases": len(off["mass"]),
        "worst_mass_kg": round(float(np.abs(off["mass"]).max()), 3),
        "worst_stature_mm": round(float(np.abs(off["stature"]).max()), 3),
        "worst_mass_by_the_map_alone_kg": round(float(np.abs(off["straight"]).max()), 2),
        "contacts": int(sum(off["contacts"])),
    }


def require_met(people: People) -> None:
    off = np.abs(people.measured[:, : len(NAMES)] - people.asked)
    for name, limit in (("stature", 2e-3), ("mass", 0.1)):
        worst = off[:, NAMES.index(name)].max()
        if worst > limit:
            raise SystemExit(f"{name} was missed by {worst}; nothing is reported")


def soundness(people: People) -> dict[str, int]:
    folds, contacts = people.flaws.T
    return {
        "bodies": people.count,
        "that_meet_themselves": int((contacts > 0).sum()),
        "with_new_sharp_folds": int((folds > 0).sum()),
        "sharp_folds": int(folds.sum()),
    }


def made(config: PeopleConfig, jobs: int) -> dict[str, float]:
    """Make the store, and tell how long it took."""
    start, load = time.perf_counter(), os.getloadavg()[0]
    report = make_people(config, jobs)
    if report.failed:
        raise SystemExit(str(report.error()))
    busy = resource.getrusage(resource.RUSAGE_CHILDREN)
    return {
        "workers": jobs,
        "load_before": round(load, 2),
        "wall_s": round(time.perf_counter() - start, 1),
        "processor_s": round(busy.ru_utime + busy.ru_stime, 1),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path, help="folder with ansur2 and nhanes")
    parser.add_argument("--count", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--store", type=Path, help="keep the store here, or take it from here")
    parser.add_argument(
        "--part", action="store_true", help="held-back and extreme people alone; keep the rest"
    )
    arguments = parser.parse_args()
    if arguments.part:
        report = json.loads(RESULTS.read_text(encoding="utf-8"))
        report["held_back"] = held_back(arguments.data) | {"commit": commit()}
        with tempfile.TemporaryDirectory() as folder:
            report["extremes"] = extremes(Path(folder), arguments.jobs) | {"commit": commit()}
        RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
        return
    with tempfile.TemporaryDirectory() as folder:
        out = arguments.store or Path(folder) / "people.zarr"
        fresh = not out.exists()
        times = made(PeopleConfig(out, arguments.count, SEED, "soldiers"), arguments.jobs)
        people = read_people(out)
        require_met(people)
        report = {
            "commit": subprocess.run(
                ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=True
            ).stdout.strip(),
            "command": f"python benchmarks/people.py $CORPOREAL_DATA --count {arguments.count} "
            f"--jobs {arguments.jobs}",
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "count": people.count,
            "seed": SEED,
            "units": "millimetres and kilograms",
            "matched": MATCHED,
            "times": times if fresh else None,
            "soundness": soundness(people),
            **compared(people, arguments.data),
        }
        report["held_back"] = held_back(arguments.data)
        report["adults"] = adults(arguments.data)
        report["weight_editing"] = weight_editing()
        report["extremes"] = extremes(Path(folder), arguments.jobs)
    RESULTS.write_text(json.dumps(report, indent=1) + "\n", encoding="utf-8")
    (PICTURES / "people_moments.svg").write_text(moment_figure(report), encoding="utf-8")
    (PICTURES / "people_correlations.svg").write_text(correlation_figure(report), encoding="utf-8")
    for sex in ("female", "male"):
        found = report[sex]["correlations"]  # pyright: ignore[reportIndexIssue]
        print(f"{sex}: correlations differ by at most {found['largest_difference']}")
    print(report["soundness"], report["times"])


if __name__ == "__main__":
    main()
