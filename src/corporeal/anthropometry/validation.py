"""How well solved bodies match people: given dimensions met, the others against regression."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.solve import solve_measurements
from corporeal.anthropometry.survey import Survey
from corporeal.models.phenotype.model import PhenotypeModel


@dataclass(frozen=True, eq=False)
class Comparison:
    """Bodies solved from some dimensions of people, against all dimensions of these people."""

    given: tuple[str, ...]
    """Full names of the dimensions that the bodies were solved from."""
    residuals: Float[NumpyArray, "n M"]
    """Body minus person, metres or kilograms."""
    regression: Float[NumpyArray, "n M"]
    """Prediction by ordinary linear regression on the given dimensions, minus person."""

    @property
    def ratios(self) -> dict[str, float]:
        """RMSE of the bodies over RMSE of the regression, of every dimension not given."""
        ours = np.sqrt((self.residuals**2).mean(axis=0))
        theirs = np.sqrt((self.regression**2).mean(axis=0))
        return {
            name: float(ours[i] / theirs[i])
            for i, name in enumerate(NAMES)
            if name not in self.given
        }


def compare(
    model: PhenotypeModel,
    gender: float,
    kept: Survey,
    people: Survey,
    given: tuple[str, ...],
) -> Comparison:
    """Solve a body for each of `people` from the `given` dimensions; regress on those `kept`."""
    columns = [NAMES.index(name) for name in given]
    residuals = np.empty_like(people.dimensions)
    for row, person in enumerate(people.dimensions):
        asked = {NAMES[i]: float(person[i]) for i in columns}
        solved = solve_measurements(asked, gender, model=model)
        residuals[row] = [solved.measurements[name] for name in NAMES] - person
    regression = _regressed(kept.dimensions, people.dimensions, columns) - people.dimensions
    return Comparison(given, residuals, regression)


def _regressed(
    kept: Float[NumpyArray, "n M"], people: Float[NumpyArray, "m M"], columns: list[int]
) -> Float[NumpyArray, "m M"]:
    """All dimensions by least squares from some, fitted to `kept`."""
    inputs = [np.column_stack([np.ones(len(table)), table[:, columns]]) for table in (kept, people)]
    return inputs[1] @ np.linalg.lstsq(inputs[0], kept, rcond=None)[0]
