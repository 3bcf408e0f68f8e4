"""How well a fit does on people it has never seen."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anatomy.composition.constrained import leave_one_out
from corporeal.anatomy.composition.people import ScannedPeople
from corporeal.anatomy.composition.tape import Tape
from corporeal.anatomy.composition.train import fit_people


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Predictions of people by models fitted without their fold."""

    fat_errors: Float[NumpyArray, "n"]
    """Measured minus predicted fat, points of per cent."""
    fat_deviations: Float[NumpyArray, "n"]
    """Standard deviation that the model gave for each, points of per cent."""
    muscle_errors: Float[NumpyArray, "n"]
    """Muscle by the relation from DXA minus predicted muscle, kg; NaN where the relation is."""

    def coverage(self, factor: float) -> float:
        """Share of people within `factor` standard deviations."""
        return float(np.mean(np.abs(self.fat_errors) <= factor * self.fat_deviations))


def held_out(people: ScannedPeople, fold_count: int, seed: int) -> HeldOut:
    """Cross-validation: everything that is fitted is fitted anew without each fold."""
    count = len(people.fat_percentage)
    order = np.random.default_rng(seed).permutation(count)
    fat, deviation, muscle = np.empty(count), np.empty(count), np.empty(count)
    for fold in range(fold_count):
        away = order[fold::fold_count]
        model, _, _ = fit_people(people.only(np.setdiff1d(order, away)))
        tape = people.tape.only(away)
        fat[away] = people.fat_percentage[away] - model.fat_percentage(tape)
        deviation[away] = model.fat_deviation(tape)
        muscle[away] = people.muscle_mass[away] - model.muscle_mass(tape)
    return HeldOut(fat, deviation, muscle)


def linear_errors(tape: Tape, fat_percentage: Float[NumpyArray, "n"]) -> Float[NumpyArray, "n"]:
    """Leave-one-out errors of the plain linear model on age, stature, mass and waist, points."""
    rows = [np.ones_like(tape.age), tape.age, tape.stature, tape.mass, tape.waist]
    design = np.column_stack(rows)
    hat = design @ np.linalg.pinv(design)
    return leave_one_out(fat_percentage, hat @ fat_percentage, hat)


def rms(errors: Float[NumpyArray, "n"]) -> float:
    """Root mean square of the errors that are there."""
    return float(np.sqrt(np.nanmean(errors**2)))
