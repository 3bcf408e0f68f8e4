"""Given persons: some of their dimensions are known, the others are what such people have."""

from collections.abc import Mapping

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.asked import asked_dimensions
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.plausible import refusals
from corporeal.anthropometry.population import AGES, people
from corporeal.anthropometry.solve import GENDERS
from corporeal.anthropometry.survey import Survey
from corporeal.errors import InputError
from corporeal.population.sampling import AGES as ADULT_AGES
from corporeal.population.sampling import Persons


def survey_persons(survey: Survey, sex: str) -> Persons:
    """People of ANSUR II, named by their row; those of 17 years count as 18."""
    count = len(survey.ages)
    names = tuple(f"{sex}{row:04d}" for row in range(count))
    return Persons(names, (sex,) * count, np.maximum(survey.ages, ADULT_AGES[0]), survey.dimensions)


def completed(sex: str, age: float, measured: Mapping[str, float]) -> Float[NumpyArray, "M"]:
    """All dimensions of a person of whom stature, mass and any others are known, SI units.

    Those not known are at their conditional mean in ANSUR II. Raises `InputError` for what nobody
    has.
    """
    asked = asked_dimensions(measured)
    missing = [needed for needed in ("stature", "mass") if needed not in asked]
    if missing:
        raise InputError(f"there is no {' and no '.join(missing)}; every person needs both.")
    crowd = people(GENDERS[sex], ())
    refused, _ = refusals(asked, crowd)
    if refused:
        raise InputError(" ".join(str(refusal) for refusal in refused))
    values = np.full(len(crowd.mean), np.nan)
    for name, value in asked.items():
        values[NAMES.index(name)] = np.log(value)
    values[-1] = np.clip(age, *AGES)
    given = np.isfinite(values)
    values[~given] = crowd.conditional(given, values[given])[0]
    return np.exp(values[:-1])
