"""Fat and muscle of one body: the shipped models, the waist on the mesh, what is refused."""

import json
from dataclasses import replace

import numpy as np
import pytest

from corporeal.anatomy.composition import stored
from corporeal.anatomy.composition.model import (
    AGE_KNOTS,
    FAT_CEILING,
    FAT_FLOOR,
    GIRTH_COLUMNS,
    GIRTH_KNOTS,
    SHARE_BOUNDS,
    STOUTNESS_COLUMN,
)
from corporeal.anatomy.composition.muscle import (
    HEAD_FAT_FREE,
    limb_lean_mass,
    muscle_from_limbs,
    muscle_from_size,
    trunk_fat_free,
)
from corporeal.anatomy.composition.predict import DOMAIN, predict_composition, predict_from_tape
from corporeal.anatomy.composition.stored import load_models, model_from, stored_form
from corporeal.anatomy.composition.tape import Tape
from corporeal.anatomy.composition.waist import crest_waist, iliac_crest
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.standing import standing_map
from corporeal.body.measurements import Measurements
from corporeal.errors import AssetError, InputError
from corporeal.geometry.section import convex_tape_length, plane_section, section_loops
from corporeal.models.phenotype.model import PhenotypeModel

SEXES = ("female", "male")


@pytest.fixture(scope="module")
def model():
    return PhenotypeModel()


@pytest.fixture(scope="module")
def woman(model):
    return model.prepare({"gender": 0.0, "weight": 0.6})


def everyone() -> Tape:
    """A grid over the whole domain: BMI 16–48, ages 18–80, whatever waist people can have."""
    stature, bmi, ratio, age = (
        axis.reshape(-1)
        for axis in np.meshgrid(
            [1.45, 1.7, 2.05],
            np.linspace(16, 48, 17),
            np.linspace(0.36, 1.0, 65),
            [18.0, 30.0, 45.0, 60.0, 80.0],
            indexing="ij",
        )
    )
    tape = Tape(stature, bmi * stature**2, ratio * stature, age)
    known = DOMAIN["mass over waist² × stature"]
    return tape.only((tape.stoutness >= known.low) & (tape.stoutness <= known.high))


@pytest.mark.parametrize("sex", SEXES)
def test_fat_rises_with_the_waist_at_fixed_mass(sex):
    tape, fitted = everyone(), load_models()[sex]
    tape = tape.only(1.01 * tape.girth_ratio <= DOMAIN["waist over stature"].high)
    wider = replace(tape, waist=1.01 * tape.waist)
    assert (fitted.fat_percentage(wider) - fitted.fat_percentage(tape) > -1e-9).all()


@pytest.mark.parametrize("sex", SEXES)
def test_fat_and_muscle_rise_where_mass_and_girth_grow_together(sex):
    """Growth all round at one height, m ∝ c²: more fat in per cent and in kg, more muscle too."""
    tape, fitted = everyone(), load_models()[sex]
    tape = tape.only(tape.girth_ratio < 0.98)
    grown = replace(tape, waist=1.01 * tape.waist, mass=1.01**2 * tape.mass)
    assert (fitted.fat_percentage(grown) > fitted.fat_percentage(tape)).all()
    assert (fitted.muscle_mass(grown) > fitted.muscle_mass(tape)).all()


@pytest.mark.parametrize("sex", SEXES)
def test_mass_without_waist_adds_fat_free_mass(sex):
    tape, fitted = everyone(), load_models()[sex]
    heavier = replace(tape, mass=1.01 * tape.mass)

    def fat_free(people):
        return people.mass * (1 - fitted.fat_percentage(people) / 100)

    assert (fat_free(heavier) > fat_free(tape)).all()


@pytest.mark.parametrize("sex", SEXES)
def test_the_coefficients_themselves_promise_the_rise(sex):
    """Steps of R are at least 0 and 2 β_s, to the nine digits that are stored."""
    coefficients = load_models()[sex].fat_coefficients
    steps = GIRTH_KNOTS.steps() @ coefficients[GIRTH_COLUMNS]
    assert steps.min() >= max(0.0, 2 * coefficients[STOUTNESS_COLUMN]) - 1e-6


@pytest.mark.parametrize("sex", SEXES)
def test_predictions_stay_within_bounds_and_leave_room_for_bone_and_organs(sex):
    tape, fitted = everyone(), load_models()[sex]
    fat, muscle = fitted.fat_percentage(tape), fitted.muscle_mass(tape)
    assert fat.min() > FAT_FLOOR[sex]
    assert fat.max() <= FAT_CEILING
    share = fitted.muscle_share(tape)
    assert SHARE_BOUNDS[0] <= share.min() <= share.max() <= SHARE_BOUNDS[1]
    assert (tape.mass * (1 - fat / 100) - muscle > 0.35 * tape.mass * (1 - fat / 100)).all()


def test_men_are_leaner_than_women_of_the_same_size():
    tape = everyone()
    tape = tape.only((tape.girth_ratio < 0.7) & (tape.bmi < 40) & (tape.stoutness > 45))
    models = load_models()
    assert (models["male"].fat_percentage(tape) < models["female"].fat_percentage(tape)).all()
    assert (models["male"].muscle_mass(tape) > models["female"].muscle_mass(tape)).all()


def test_beyond_the_oldest_measured_age_the_estimate_stays_and_the_interval_widens():
    at_60 = predict_from_tape(1.7, 80.0, 0.95, AGE_KNOTS.high, "male")
    at_80 = predict_from_tape(1.7, 80.0, 0.95, 80.0, "male")
    assert at_60.composition.fat_mass == at_80.composition.fat_mass
    assert np.ptp(at_80.fat_interval) > 1.1 * np.ptp(at_60.fat_interval)


def test_an_estimate_adds_up():
    found = predict_from_tape(1.75, 75.0, 0.86, 35.0, "male")
    masses = found.composition
    assert found.fat_interval[0] < masses.fat_mass < found.fat_interval[1]
    assert found.muscle_interval[0] < masses.muscle_mass < found.muscle_interval[1]
    assert found.fat_percentage == pytest.approx(100 * masses.fat_mass / 75.0)
    assert masses.fat_mass + masses.muscle_mass + found.remaining_mass == pytest.approx(75.0)


def test_a_gender_between_the_two_is_the_mean_of_both():
    woman, man, between = (
        predict_from_tape(1.7, 70.0, 0.85, 30.0, gender).composition
        for gender in ("female", "male", 0.5)
    )
    assert between.fat_mass == pytest.approx((woman.fat_mass + man.fat_mass) / 2)
    assert between.muscle_mass == pytest.approx((woman.muscle_mass + man.muscle_mass) / 2)


@pytest.mark.parametrize(
    ("person", "message"),
    [
        ((1.7, 70.0, 0.85, 12.0), "age is 12 years; .* 18 to 80"),
        ((1.7, 70.0, 0.85, 95.0), "age is 95"),
        ((1.7, 70.0, 0.85, float("nan")), "age is nan"),
        ((170.0, 70.0, 85.0, 30.0), "stature is 170 m; .* Give metres"),
        ((1.7, 30.0, 0.6, 30.0), "BMI is 10.38 kg/m²"),
        ((1.7, 70.0, 85.0, 30.0), "waist over stature is 50;"),
        ((1.7, 70.0, 1.30, 30.0), "mass over waist² × stature is 24.36 kg/m³"),
        ((1.7, 120.0, 0.75, 30.0), "measure the waist again"),
        ((1.7, -70.0, 0.85, 30.0), "mass must be finite and above 0"),
    ],
)
def test_people_outside_the_fit_are_refused(person, message):
    with pytest.raises(InputError, match=message):
        predict_from_tape(*person, "male")


@pytest.mark.parametrize("gender", ["man", 1.5, -0.1, float("nan")])
def test_an_unknown_gender_is_refused(gender):
    with pytest.raises(InputError, match="expected 'female', 'male' or a number"):
        predict_from_tape(1.7, 70.0, 0.85, 30.0, gender)


def test_the_crest_is_where_ansur_has_it_and_the_tape_is_the_hull_of_a_section(model, woman):
    """Height from the measured crotch and neck; girth by another slicer and another hull."""
    measured, landmark = measure(woman), iliac_crest(0.0)
    assert sum(landmark.shares) == pytest.approx(1.0)
    low, high = measured["crotch_height"], measured["cervicale_height"]
    expected = low + 0.347 * (high - low)
    points = standing_map(model.template)(
        np.asarray(woman.rest_vertices, float), np.asarray(woman.joints, float)
    )
    skin = points[: model.template.mesh.vertex_count]
    ground = skin[:, 1].min()
    height = np.dot(landmark.shares, points[list(landmark.members), 1]) - ground
    assert height == pytest.approx(expected, abs=1e-9)
    level = np.array([0.0, expected + ground, 0.0])
    segments = plane_section(skin, model.template.mesh.triangles, level, np.array([0.0, 1.0, 0.0]))
    trunk = min(section_loops(segments), key=lambda loop: abs(loop[:, 0].mean()))
    around = convex_tape_length(trunk, np.array([0.0, 1.0, 0.0]))
    assert crest_waist(woman, 0.0) == pytest.approx(around, abs=1e-6)


def test_a_body_and_its_measurements_agree(woman):
    """The waist is converted to 1.5 % at worst; fat changes by less than 55 points a unit of ln."""
    by_mesh = predict_composition(woman, 30.0, "female")
    by_navel = predict_composition(measure(woman), 30.0, "female")
    assert by_mesh.fat_percentage == pytest.approx(by_navel.fat_percentage, abs=0.015 * 55)


def test_measurements_without_a_waist_are_refused():
    bare = Measurements(
        {"stature": 1.7, "mass": 70.0, "volume": 0.07, "surface_area": 1.8, "bmi": 24.2}
    )
    with pytest.raises(InputError, match="waist_circumference"):
        predict_composition(bare, 30.0, "female")


def test_muscle_of_the_published_relations():
    """Kim: 1.13·20 − 0.02·40 + 0.61 + 0.97; Lee: 0.244·70 + 7.8·1.75 + 6.6 − 0.098·40 − 3.3."""
    one = np.ones(1)
    assert muscle_from_limbs(20 * one, 40 * one, "male")[0] == pytest.approx(23.38)
    assert muscle_from_limbs(20 * one, 40 * one, "female")[0] == pytest.approx(22.77)
    assert muscle_from_size(70 * one, 1.75 * one, 40 * one, "male")[0] == pytest.approx(30.11)


def test_limbs_are_what_trunk_and_head_leave():
    """A trunk with 10 kg fat at 25 % has 30 kg without fat; bone mineral is 5.5 % of the limbs."""
    trunk = trunk_fat_free(np.array([10.0]), np.array([25.0]))
    assert trunk[0] == pytest.approx(30.0)
    limbs = limb_lean_mass(np.array([30.0 + HEAD_FAT_FREE["male"] + 20.0]), trunk, "male")
    assert limbs[0] == pytest.approx(0.945 * 20.0)


def test_a_stored_model_comes_back_and_a_damaged_one_is_refused():
    fitted = load_models()["female"]
    form = json.loads(json.dumps(stored_form(fitted)))
    again = model_from(form)
    np.testing.assert_allclose(again.fat_leverage, fitted.fat_leverage, rtol=1e-8)
    with pytest.raises(AssetError, match="lacks fat_spread"):
        model_from({key: value for key, value in form.items() if key != "fat_spread"})
    with pytest.raises(AssetError, match="has 3 coefficients"):
        model_from({**form, "fat_coefficients": [1.0, 2.0, 3.0]})


def test_a_missing_file_is_an_asset_error(monkeypatch):
    monkeypatch.setattr(stored, "ASSET", "data/none.json")
    with pytest.raises(AssetError, match="install corporeal again"):
        load_models.__wrapped__()
