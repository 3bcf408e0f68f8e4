"""Solved bodies against people of ANSUR II that the population was not fitted to."""

import numpy as np
import public_data
import pytest

from corporeal.anthropometry.asked import tolerance
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.survey import HELD_BACK, Survey, read_survey, split
from corporeal.anthropometry.validation import compare
from corporeal.errors import FormatError
from corporeal.models.phenotype.model import PhenotypeModel

ANSUR = public_data.folder("ansur2")
GENDERS = {"female": 0.0, "male": 1.0}


def first(people, count):
    return Survey(people.dimensions[:count], people.ages[:count])


@pytest.fixture(scope="module", params=GENDERS)
def people(request):
    return GENDERS[request.param], *split(read_survey(ANSUR / f"ansur2_{request.param}.csv"))


@pytest.fixture(scope="module")
def model():
    return PhenotypeModel()


@pytest.mark.data("ansur2")
def test_units_are_metres_and_kilograms(people):
    _, kept, held = people
    assert len(held.ages) == HELD_BACK
    everyone = np.concatenate([kept.dimensions, held.dimensions])
    stature, mass = everyone[:, NAMES.index("stature")], everyone[:, NAMES.index("mass")]
    assert 1.3 < stature.min() < stature.max() < 2.1
    assert 30 < mass.min() < mass.max() < 160


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("stature,Age\n1700,30\n", encoding="utf-8")
    with pytest.raises(FormatError, match="lacks the columns"):
        read_survey(path)


@pytest.mark.data("ansur2")
@pytest.mark.parametrize("given", [("stature", "mass"), ("stature", "mass", "waist_circumference")])
def test_given_dimensions_of_people_are_met_and_the_others_followed(model, people, given):
    """Six people a sex: given to tolerance; the mean ratio to regression below 1.1."""
    gender, kept, held = people
    found = compare(model, gender, kept, first(held, 6), given)
    for name in given:
        assert np.abs(found.residuals[:, NAMES.index(name)]).max() < tolerance(name)
    assert np.mean(list(found.ratios.values())) < 1.1


@pytest.mark.slow
@pytest.mark.data("ansur2")
@pytest.mark.parametrize("given", [("stature", "mass"), ("stature", "mass", "waist_circumference")])
def test_two_hundred_people(model, people, given):
    """All held-back people: every dimension not given within 1.15 times the regression's RMSE.

    A guard against getting worse, not a held-out figure: choices were made on these people.
    """
    gender, kept, held = people
    found = compare(model, gender, kept, held, given)
    for name in given:
        assert np.abs(found.residuals[:, NAMES.index(name)]).max() < tolerance(name)
    assert {name: r for name, r in found.ratios.items() if r > 1.15} == {}
