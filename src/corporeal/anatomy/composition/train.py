"""Fitting a sex: penalised least squares under inequalities, by Gauss–Newton steps on the floor."""

from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anatomy.composition.constrained import (
    allowed_directions,
    hat_matrix,
    leave_one_out,
)
from corporeal.anatomy.composition.model import (
    AGE_COLUMNS,
    AGE_KNOTS,
    FAT_COLUMNS,
    FAT_FLOOR,
    GIRTH_COLUMNS,
    GIRTH_KNOTS,
    STOUTNESS_COLUMN,
    CompositionModel,
    fat_design,
    floored,
    muscle_design,
)
from corporeal.anatomy.composition.muscle import KIM_ERROR
from corporeal.anatomy.composition.people import ScannedPeople
from corporeal.anatomy.composition.tape import Tape
from corporeal.errors import InputError, SolverError
from corporeal.numerics.inequality_least_squares import constrained_least_squares

AGE_STIFFNESS: Final = 1e3
GIRTH_STIFFNESS: Final = 0.03
"""Weights of squared changes of slope, the same for both sexes."""
ITERATIONS: Final = 30
CONVERGED: Final = 1e-9
"""Largest change of a coefficient, points, that ends the steps."""
SMALLEST: Final = 60
"""People without whom a fit is not begun."""


@dataclass(frozen=True, eq=False)
class FatFit:
    """A fit of fat percentage, and how well it does on people it has not seen."""

    coefficients: Float[NumpyArray, "k"]
    """Of the k basis functions, points of per cent of fat."""
    leverage: Float[NumpyArray, "k k"]
    """Covariance of the coefficients over the residual variance."""
    left_out_errors: Float[NumpyArray, "n"]
    """Measured minus predicted by the fit to all others, points of per cent."""
    freedom: float
    """Effective number of coefficients."""

    @property
    def rmse(self) -> float:
        """Leave-one-out root mean square error, points of per cent."""
        return float(np.sqrt(np.mean(self.left_out_errors**2)))


def fit_fat(tape: Tape, fat_percentage: Float[NumpyArray, "n"], sex: str) -> FatFit:
    """Fit fat percentage to people of one sex.

    At the minimum the fit is linear in small changes of the data, with hat matrix H; the error
    without person i is then (y_i − ŷ_i)/(1 − H_ii), exact where the floor is far and the same
    inequalities hold the fit back.
    """
    if len(fat_percentage) < SMALLEST:
        raise InputError(
            f"{len(fat_percentage)} people cannot carry {FAT_COLUMNS} coefficients; give at least "
            f"{SMALLEST} of each sex."
        )
    design, penalty, rising = fat_design(tape), _penalty(), _rising()
    floor, level = FAT_FLOOR[sex], np.zeros(len(penalty))
    coefficients = np.zeros(FAT_COLUMNS)
    coefficients[0] = fat_percentage.mean()
    change = np.inf
    for _ in range(ITERATIONS):
        fitted, slope = floored(design @ coefficients, floor)
        sloped = slope[:, None] * design
        target = fat_percentage - fitted + sloped @ coefficients
        rows = np.concatenate([sloped, penalty])
        moved, active = constrained_least_squares(rows, np.concatenate([target, level]), rising)
        change, coefficients = np.abs(moved - coefficients).max(), moved
        if change < CONVERGED:
            break
    else:
        raise SolverError(
            f"the fit of fat still moved by {change:.2g} points after {ITERATIONS} steps; look for "
            f"records that are not in metres, kilograms and per cent."
        )
    directions = allowed_directions(rising, active)
    held = rows @ directions
    leverage = directions @ np.linalg.solve(held.T @ held, directions.T)
    hat = hat_matrix(sloped, penalty, directions)
    errors = leave_one_out(fat_percentage, floored(design @ coefficients, floor)[0], hat)
    return FatFit(coefficients, leverage, errors, float(np.trace(hat)))


def fit_people(people: ScannedPeople) -> tuple[CompositionModel, FatFit, Float[NumpyArray, "m"]]:
    """The model of a sex, the fit of its fat, and leave-one-out errors of muscle, kg.

    Errors of muscle are about the relation from DXA, for those whose trunk was scanned.
    """
    fat = fit_fat(people.tape, people.fat_percentage, people.sex)
    scanned = np.isfinite(people.muscle_mass)
    seen = people.only(scanned)
    design, share = muscle_design(seen.tape), seen.muscle_mass / seen.fat_free_mass
    coefficients, *_ = np.linalg.lstsq(design, share)
    hat = design @ np.linalg.pinv(design)
    share_errors = leave_one_out(share, design @ coefficients, hat)
    fat_guess = (people.fat_percentage - fat.left_out_errors)[scanned]
    guess = (share - share_errors) * seen.tape.mass * (1 - fat_guess / 100)
    muscle_errors = seen.muscle_mass - guess
    relative = np.hypot(np.sqrt(np.mean(muscle_errors**2)), KIM_ERROR) / seen.muscle_mass.mean()
    predicted = people.fat_percentage - fat.left_out_errors
    spread = _spread(predicted, fat.left_out_errors)
    model = CompositionModel(
        FAT_FLOOR[people.sex], fat.coefficients, fat.leverage, spread, coefficients, float(relative)
    )
    return model, fat, muscle_errors


def _spread(
    predicted: Float[NumpyArray, "n"], errors: Float[NumpyArray, "n"]
) -> Float[NumpyArray, "2"]:
    """Standard deviation of the errors at 30 % and its slope; E|e| = σ √(2/π) for a Gaussian."""
    rows = np.column_stack([np.ones_like(predicted), predicted - 30.0])
    fitted, *_ = np.linalg.lstsq(rows, np.sqrt(np.pi / 2) * np.abs(errors))
    return fitted


def _penalty() -> Float[NumpyArray, "p k"]:
    """Changes of slope weighted by stiffness; one more row a spline takes its mean level out."""
    blocks = []
    for knots, columns, weight in (
        (AGE_KNOTS, AGE_COLUMNS, AGE_STIFFNESS),
        (GIRTH_KNOTS, GIRTH_COLUMNS, GIRTH_STIFFNESS),
    ):
        block = np.zeros((knots.coefficient_count - 1, FAT_COLUMNS))
        block[:-1, columns] = np.sqrt(weight) * knots.bends()
        block[-1, columns] = 1.0
        blocks.append(block)
    return np.concatenate(blocks)


def _rising() -> Float[NumpyArray, "c k"]:
    """Rows g with g·x ≥ 0: steps of R, and steps of R less 2 β_s, the slope of η with ln waist."""
    following = np.zeros((GIRTH_KNOTS.coefficient_count - 1, FAT_COLUMNS))
    following[:, GIRTH_COLUMNS] = GIRTH_KNOTS.steps()
    alone = following.copy()
    alone[:, STOUTNESS_COLUMN] = -2.0
    return np.concatenate([following, alone])
