"""Fitting people: splines, least squares under inequalities, and the errors on NHANES."""

import numpy as np
import public_data
import pytest
from scipy.interpolate import BSpline
from scipy.optimize import minimize

from corporeal.anatomy.composition.constrained import (
    allowed_directions,
    hat_matrix,
    leave_one_out,
)
from corporeal.anatomy.composition.model import (
    FAT_COLUMNS,
    FAT_FLOOR,
    FLOOR_WIDTH,
    fat_design,
    floored,
    muscle_design,
)
from corporeal.anatomy.composition.people import ScannedPeople, read_people
from corporeal.anatomy.composition.percentiles import KYLE_2001, fat_percentiles
from corporeal.anatomy.composition.splines import Knots
from corporeal.anatomy.composition.stored import load_models
from corporeal.anatomy.composition.tape import Tape
from corporeal.anatomy.composition.train import fit_fat, fit_people
from corporeal.anatomy.composition.validation import held_out, linear_errors, rms
from corporeal.errors import FormatError, InputError
from corporeal.numerics.inequality_least_squares import constrained_least_squares

NHANES = public_data.folder("nhanes") / "nhanes_2017_2018_body_dxa.csv"
KNOTS = Knots(-1.0, 2.0, 6)
WORST = {"female": 3.6, "male": 3.15}
"""Points of per cent on people left out."""


def crowd(count: int, seed: int = 0) -> Tape:
    """Made-up adults with correlated stature, mass and waist."""
    draw = np.random.default_rng(seed)
    stature = draw.normal(1.7, 0.07, count)
    bmi = np.exp(draw.normal(np.log(27), 0.2, count))
    waist = stature * (0.56 + 0.6 * np.log(bmi / 27) * 0.6 + draw.normal(0, 0.02, count))
    return Tape(stature, bmi * stature**2, waist, draw.uniform(18, 60, count))


def shipped_truth(tape: Tape) -> np.ndarray:
    return load_models()["male"].fat_percentage(tape)


def test_bumps_are_those_of_scipy():
    x = np.linspace(-1.0, 2.0, 101)
    places = KNOTS.low + KNOTS.spacing * np.arange(-3, KNOTS.interval_count + 4)
    expected = BSpline(places, np.eye(KNOTS.coefficient_count), 3)(x)
    np.testing.assert_allclose(KNOTS.bumps(x), expected, atol=1e-12)
    assert KNOTS.bumps(x).sum(axis=1) == pytest.approx(1.0)


def test_beyond_the_knots_a_curve_stays():
    np.testing.assert_array_equal(
        KNOTS.bumps(np.array([-9.0, 9.0])), KNOTS.bumps(np.array([-1.0, 2.0]))
    )


def test_a_line_has_even_steps_and_no_bends():
    """Coefficients at the bumps' centres give f(x) = x, slope 1 and no change of slope."""
    centres = KNOTS.low + KNOTS.spacing * np.arange(-1, KNOTS.interval_count + 2)
    x = np.linspace(-1.0, 2.0, 13)
    np.testing.assert_allclose(KNOTS.bumps(x) @ centres, x, atol=1e-12)
    np.testing.assert_allclose(KNOTS.steps() @ centres, 1.0)
    np.testing.assert_allclose(KNOTS.bends() @ centres, 0.0, atol=1e-12)


def test_steps_bound_the_slope():
    coefficients = np.random.default_rng(1).normal(size=KNOTS.coefficient_count)
    x = np.linspace(-1.0, 2.0, 3001)
    slope = np.diff(KNOTS.bumps(x) @ coefficients) / np.diff(x)
    steps = KNOTS.steps() @ coefficients
    assert steps.min() - 1e-9 <= slope.min() <= slope.max() <= steps.max() + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_constrained_least_squares_is_the_optimum_of_another_solver(seed):
    """Against SLSQP on the same convex problem; and the conditions of Karush, Kuhn and Tucker."""
    draw = np.random.default_rng(seed)
    matrix, target = draw.normal(size=(30, 6)), draw.normal(size=30)
    inequalities = draw.normal(size=(8, 6))
    found, active = constrained_least_squares(matrix, target, inequalities)
    other = minimize(
        lambda x: np.sum((matrix @ x - target) ** 2),
        np.zeros(6),
        jac=lambda x: 2 * matrix.T @ (matrix @ x - target),
        constraints={
            "type": "ineq",
            "fun": lambda x: inequalities @ x,
            "jac": lambda _: inequalities,
        },
        method="SLSQP",
        options={"ftol": 1e-14},
    )
    np.testing.assert_allclose(found, other.x, atol=1e-5)
    assert (inequalities @ found).min() > -1e-10
    np.testing.assert_allclose(inequalities[active] @ found, 0.0, atol=1e-10)
    free = allowed_directions(inequalities, active)
    np.testing.assert_allclose(free.T @ matrix.T @ (matrix @ found - target), 0.0, atol=1e-9)


def test_without_inequalities_in_the_way_it_is_plain_least_squares():
    draw = np.random.default_rng(3)
    matrix, inside = draw.normal(size=(20, 4)), np.array([1.0, 2.0, 3.0, 4.0])
    found, active = constrained_least_squares(matrix, matrix @ inside, np.eye(4))
    np.testing.assert_allclose(found, inside, atol=1e-12)
    assert not active.any()


def test_leave_one_out_by_the_hat_matrix_is_that_of_refitting():
    draw = np.random.default_rng(4)
    matrix, target, penalty = draw.normal(size=(25, 5)), draw.normal(size=25), 0.7 * np.eye(5)
    hat = hat_matrix(matrix, penalty, np.eye(5))
    quick = leave_one_out(target, hat @ target, hat)
    for i in range(25):
        rest = np.arange(25) != i
        normal = matrix[rest].T @ matrix[rest] + penalty.T @ penalty
        refitted = np.linalg.solve(normal, matrix[rest].T @ target[rest])
        assert quick[i] == pytest.approx(target[i] - matrix[i] @ refitted, abs=1e-10)


def test_the_floor_is_felt_near_and_forgotten_far_away():
    """f + w ln(1 + e^((η−f)/w)): w ln 2 above the floor at η = f, η + w e^(−(η−f)/w) far above."""
    eta = np.array([-100.0, 8.0, 8.0 + 10 * FLOOR_WIDTH])
    value, slope = floored(eta, 8.0)
    np.testing.assert_allclose(value[:2], [8.0, 8.0 + FLOOR_WIDTH * np.log(2)], atol=1e-4)
    assert value[2] - eta[2] == pytest.approx(FLOOR_WIDTH * np.exp(-10), rel=1e-3)
    step = 1e-6
    rise = (floored(eta + step, 8.0)[0] - floored(eta - step, 8.0)[0]) / (2 * step)
    np.testing.assert_allclose(slope, rise, atol=1e-7)


def test_fitting_finds_the_curve_that_made_the_data():
    """Noise of 3 points over 4000 people leaves √(k/n)·3 ≈ 0.2 points of error in the curve."""
    tape = crowd(4000)
    truth = shipped_truth(tape)
    noisy = truth + np.random.default_rng(5).normal(0, 3.0, len(truth))
    fit = fit_fat(tape, noisy, "male")
    fitted = floored(fat_design(tape) @ fit.coefficients, FAT_FLOOR["male"])[0]
    assert rms(fitted - truth) < 3.0 * np.sqrt(FAT_COLUMNS / len(truth))
    assert fit.rmse == pytest.approx(3.0, rel=3 / np.sqrt(2 * len(truth)))
    assert fit.freedom < FAT_COLUMNS


def test_leave_one_out_errors_of_the_fit_are_those_of_refitting():
    """Exact but for the bend of the floor: a hundredth of the errors' spread."""
    tape = crowd(150, seed=6)
    noisy = shipped_truth(tape) + np.random.default_rng(7).normal(0, 3.0, 150)
    quick = fit_fat(tape, noisy, "male").left_out_errors
    for i in range(0, 150, 15):
        rest = np.arange(150) != i
        fit = fit_fat(tape.only(rest), noisy[rest], "male")
        guess = floored(fat_design(tape.only(~rest)) @ fit.coefficients, FAT_FLOOR["male"])[0]
        assert quick[i] == pytest.approx(noisy[i] - guess[0], abs=0.03)


def test_too_few_people_are_refused():
    tape = crowd(40)
    with pytest.raises(InputError, match="give at least 60"):
        fit_fat(tape, shipped_truth(tape), "male")


def test_another_file_is_refused(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text("sex,age_y\nMale,30\n", encoding="utf-8")
    with pytest.raises(FormatError, match=r"lacks the columns .*waist_cm"):
        read_people(path, "male")


@pytest.fixture(scope="module", params=["female", "male"])
def people(request) -> ScannedPeople:
    return read_people(NHANES, request.param)


@pytest.mark.data("nhanes")
def test_whoever_is_left_out_is_counted(people):
    counts = people.left_out
    assert counts["kept"] == len(people.fat_percentage)
    assert counts["adults"] == sum(
        counts[key] for key in ("kept", "without tape", "without whole-body DXA")
    )
    assert np.isnan(people.muscle_mass).sum() == counts["kept without trunk DXA"]
    assert len(people.unscanned.mass) == counts["without whole-body DXA"]


@pytest.mark.data("nhanes")
def test_the_plain_linear_model_has_its_known_error(people):
    known = {"female": 4.0, "male": 3.3}[people.sex]
    assert known - 0.1 < rms(linear_errors(people.tape, people.fat_percentage)) < known


@pytest.mark.data("nhanes")
def test_people_left_out_are_predicted_better_than_the_bar(people):
    assert fit_fat(people.tape, people.fat_percentage, people.sex).rmse < WORST[people.sex]


@pytest.mark.data("nhanes")
def test_people_held_out_in_tenths_are_predicted_as_well_and_intervals_hold(people):
    """Coverage of 90 % within three binomial standard errors, √(0.09/n)."""
    found = held_out(people, fold_count=10, seed=0)
    assert rms(found.fat_errors) < WORST[people.sex]
    share = found.coverage(1.645)
    assert abs(share - 0.9) < 3 * np.sqrt(0.09 / len(found.fat_errors))
    assert abs(found.fat_errors.mean()) < 3 * WORST[people.sex] / np.sqrt(len(found.fat_errors))
    assert rms(found.muscle_errors) < 1.9


@pytest.mark.data("nhanes")
def test_the_shipped_coefficients_are_those_of_the_people(people):
    fitted, _, _ = fit_people(people)
    shipped = load_models()[people.sex]
    np.testing.assert_allclose(
        fit_values(fitted, people.tape), fit_values(shipped, people.tape), atol=1e-5
    )


def fit_values(fitted, tape):
    return np.stack(
        [fitted.fat_percentage(tape), fitted.fat_deviation(tape), fitted.muscle_mass(tape)]
    )


def test_percentiles_of_a_known_spread():
    """Of 0 … 100 each percentile is itself; the table's rows rise."""
    np.testing.assert_allclose(fat_percentiles(np.arange(101.0)), [5, 10, 25, 50, 75, 90, 95])
    assert all(np.diff(row).min() > 0 for row in KYLE_2001.values())


def test_muscle_features_hold_age_at_the_oldest_measured():
    tape = crowd(3)
    old = Tape(tape.stature, tape.mass, tape.waist, np.full(3, 75.0))
    np.testing.assert_array_equal(muscle_design(old)[:, 1], 60.0)
