"""Fit what the measurement solver knows of people, and write it into the package.

    python tools/fit_population.py "$CORPOREAL_DATA"/ansur2

Reads the two ANSUR II files (millimetres; mass in tenths of a kilogram), leaves out the people that
the tests hold back, and writes `src/corporeal/anthropometry/data/population.npz`: coefficients
only, nobody's record, with its provenance beside it. Bodies are fitted to `--people` of each sex;
that takes most of the time.
"""

import argparse
from dataclasses import fields
from pathlib import Path

import numpy as np
from provenance import write_provenance

from corporeal.anthropometry.companions import companion_spreads, expected_readings, with_build
from corporeal.anthropometry.definitions import COMPANIONS, NAMES
from corporeal.anthropometry.population import ASSET, Population
from corporeal.anthropometry.sensitivity import sensitivity
from corporeal.anthropometry.shape_space import SLIDERS, ShapeSpace, unknowns_of
from corporeal.anthropometry.survey import SEED, read_survey, split
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.numerics.bounded_least_squares import minimise

FIT_AGE = 30.0
"""Age of the fitted bodies; the unknowns of other ages are offsets from these."""
CLOSE = 0.07
"""How closely these fits follow a dimension, as a share of how much people differ in it."""
SLIDER_SPREAD, MODIFIER_SPREAD = 0.3, 0.4
"""Prior spread of the unknowns in these fits."""
FLOOR = 0.08
"""Least spread of any unknown in the shipped prior."""
RIDGE = 1e-2


def fitted(
    space: ShapeSpace, person: np.ndarray, close: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Unknowns of the body closest to one person; `close` is the σ of every log dimension."""
    centre = np.where(np.arange(len(space.low)) < len(SLIDERS), 0.5, 0.0)
    width = np.where(np.arange(len(space.low)) < len(SLIDERS), SLIDER_SPREAD, MODIFIER_SPREAD)
    wanted = wanted_readings(space, person)
    centre = with_build(centre, space.names, person[:-1], person[-1], space.fixed["gender"])

    def residuals(unknowns: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        now = sensitivity(space, unknowns)
        relative = now.by_unknown / now.values[:, None]
        return (
            np.concatenate([(np.log(now.values) - wanted) / close, (unknowns - centre) / width]),
            np.concatenate([relative / close[:, None], np.diag(1 / width)]),
        )

    return minimise(residuals, start, space.low, space.high, iterations=15).values


def wanted_readings(space: ShapeSpace, person: np.ndarray) -> np.ndarray:
    """Logarithms of all that is read off the bare body of a person of (log dimensions, age)."""
    return expected_readings(person[:-1], person[-1], space.fixed["gender"])


def fit_shapes(
    space: ShapeSpace, people: np.ndarray, close: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Unknowns of the body of each person, and log residuals of its dimensions."""
    start = _average(space)
    shapes, errors = [], []
    for person in people:
        shapes.append(fitted(space, person, close, start))
        errors.append(
            np.log(sensitivity(space, shapes[-1]).values) - wanted_readings(space, person)
        )
        start = np.mean(shapes, axis=0)
    return np.array(shapes), np.array(errors)


def regress(
    people: np.ndarray, shapes: np.ndarray, mean: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Ridge regression of unknowns on (log dimensions, age): value at the mean, slopes, spread."""
    scale = people.std(axis=0)
    inputs = np.concatenate([np.ones((len(people), 1)), (people - mean) / scale], axis=1)
    penalty = RIDGE * len(people) * np.diag(np.r_[0.0, np.ones(len(mean))])
    solved = np.linalg.solve(inputs.T @ inputs + penalty, inputs.T @ shapes)
    left = shapes - inputs @ solved
    covariance = left.T @ left / len(people) + FLOOR**2 * np.eye(shapes.shape[1])
    return solved[0], (solved[1:] / scale[:, None]).T, covariance


def fit_sex(model: PhenotypeModel, path: Path, gender: float, count: int) -> Population:
    """Everything about one sex."""
    kept = split(read_survey(path))[0].logarithms
    mean, covariance = kept.mean(axis=0), np.cov(kept.T)
    drawn = np.random.default_rng(SEED).choice(len(kept), count, replace=False)
    space = ShapeSpace(model, gender, FIT_AGE)
    close = np.append(CLOSE * np.sqrt(np.diag(covariance))[:-1], companion_spreads(gender))
    shapes, errors = fit_shapes(space, kept[drawn], close)
    report(path.stem, errors)
    value, slopes, spread = regress(kept[drawn], shapes, mean)
    return Population(mean, covariance, value, slopes, spread)


def report(name: str, errors: np.ndarray) -> None:
    """Print how closely bodies follow people, dimension by dimension."""
    print(f"{name}: log residuals in percent (mean, sd)")
    for k, dimension in enumerate((*NAMES, *(c.name for c in COMPANIONS))):
        row = errors[:, k]
        print(f"  {dimension:28s} {100 * row.mean():6.2f} {100 * row.std():6.2f}")


def _average(space: ShapeSpace) -> np.ndarray:
    return np.where(np.arange(len(space.low)) < len(SLIDERS), 0.5, 0.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("ansur", type=Path, help="folder with ansur2_female.csv, ansur2_male.csv")
    parser.add_argument("--people", type=int, default=250, help="bodies to fit, each sex")
    arguments = parser.parse_args()
    model = PhenotypeModel()
    unknowns = np.array([unknown.name for unknown in unknowns_of(model)])
    arrays = {"names": np.array(NAMES), "unknown_names": unknowns}
    for gender, sex in ((0.0, "female"), (1.0, "male")):
        path = arguments.ansur / f"ansur2_{sex}.csv"
        found = fit_sex(model, path, gender, arguments.people)
        for field in fields(found):
            arrays[f"{sex}_{field.name}"] = getattr(found, field.name).astype(np.float32)
    out = Path(__file__).parents[1] / "src/corporeal/anthropometry" / ASSET
    out.parent.mkdir(exist_ok=True)
    np.savez_compressed(out, **arrays)
    assets = Path(__file__).parents[1] / "src/corporeal/assets/data"
    write_provenance(
        out,
        title="mean and covariance of body dimensions, and of shape unknowns given them",
        licence="Apache-2.0, as the package; the survey is in the public domain",
        origin="coefficients fitted to ANSUR II (US Army, 2012, public release) on the default "
        "body; see docs/methods/measurements-to-shape.md",
        command="python tools/fit_population.py $CORPOREAL_DATA/ansur2 "
        f"--people {arguments.people}",
        sources=[
            arguments.ansur / "ansur2_female.csv",
            arguments.ansur / "ansur2_male.csv",
            assets / "default_body.npz.xz",
            assets / "adiposity.npz.xz",
            assets / "proportions.npz.xz",
        ],
    )
    print(f"wrote {out} ({out.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
