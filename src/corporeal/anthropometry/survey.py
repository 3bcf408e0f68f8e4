"""People of the ANSUR II survey, read from its public files.

The survey's files are not part of the package; they are needed to fit the population
(`tools/fit_population.py`) and to validate the solver, never to use it.
"""

import csv
import io
from pathlib import Path
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.definitions import DIMENSIONS
from corporeal.errors import FormatError
from corporeal.runtime.input_files import read_input
from corporeal.runtime.pytree_dataclass import pytree_dataclass

_MAX_BYTES = 16 * 1024**2
HELD_BACK: Final = 100
"""People of each sex that the fit never sees."""
SEED: Final = 2012


@pytree_dataclass()
class Survey:
    """One sex."""

    dimensions: Float[NumpyArray, "n M"]
    """In the order of `DIMENSIONS`, metres and kilograms."""
    ages: Float[NumpyArray, "n"]
    """Years."""

    @property
    def logarithms(self) -> Float[NumpyArray, "n Z"]:
        """(log dimensions, age), as the population has them."""
        return np.column_stack([np.log(self.dimensions), self.ages])


def read_survey(path: Path) -> Survey:
    """Read one file (millimetres; mass in tenths of a kilogram)."""
    content = read_input(path, at_most=_MAX_BYTES)
    try:
        rows = list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"), newline="")))
    except (UnicodeDecodeError, csv.Error) as error:
        raise FormatError(f"{path} is not a table in UTF-8 text: {error}.") from error
    wanted = {*(d.ansur for d in DIMENSIONS), "Age"}
    missing = sorted(wanted - set(rows[0])) if rows else sorted(wanted)
    if missing:
        raise FormatError(
            f"{path} lacks the columns {', '.join(missing)}; expected an ANSUR II public file."
        )
    try:
        columns = [
            [float(row[d.ansur]) * (0.1 if d.unit == "kg" else 1e-3) for row in rows]
            for d in DIMENSIONS
        ]
        return Survey(np.array(columns).T, np.array([float(row["Age"]) for row in rows]))
    except (TypeError, ValueError) as error:
        raise FormatError(f"{path} holds something else than numbers: {error}.") from error


def split(survey: Survey) -> tuple[Survey, Survey]:
    """Those the population is fitted to, and those held back for validation."""
    order = np.random.default_rng(SEED).permutation(len(survey.ages))
    kept, back = order[HELD_BACK:], order[:HELD_BACK]
    return (
        Survey(survey.dimensions[kept], survey.ages[kept]),
        Survey(survey.dimensions[back], survey.ages[back]),
    )
