"""From measurements to bodies: the minimiser, the population, the solver and its refusals."""

import numpy as np
import pytest

from corporeal.anthropometry.asked import asked_dimensions, tolerance
from corporeal.anthropometry.definitions import NAMES
from corporeal.anthropometry.measure import measure
from corporeal.anthropometry.population import Population, people
from corporeal.anthropometry.solve import solve_measurements
from corporeal.errors import InputError, UnreachableError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.numerics.bounded_least_squares import minimise


@pytest.fixture(scope="module")
def model():
    return PhenotypeModel()


def free(count):
    return np.full(count, -np.inf), np.full(count, np.inf)


def test_a_linear_problem_ends_at_the_normal_equations():
    rng = np.random.default_rng(0)
    matrix, right = rng.standard_normal((20, 5)), rng.standard_normal(20)
    found = minimise(lambda x: (matrix @ x - right, matrix), np.zeros(5), *free(5), tolerance=1e-16)
    assert np.allclose(found.values, np.linalg.lstsq(matrix, right, rcond=None)[0], atol=1e-6)


def test_rosenbrock_is_solved():
    """r = (10 (y − x²), 1 − x) vanishes at (1, 1)."""

    def residuals(x):
        jacobian = np.array([[-20 * x[0], 10.0], [-1.0, 0.0]])
        return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]), jacobian

    found = minimise(residuals, np.array([-1.2, 1.0]), *free(2), iterations=200, tolerance=1e-16)
    assert np.allclose(found.values, 1, atol=1e-5)


def test_a_bound_holds_and_the_others_make_up_for_it():
    """min (x + y − 2)² + (x − y)² with x ≤ 0.5: the optimum on the bound is y = 1.

    There ∂/∂y = 2(x + y − 2) − 2(x − y) = 4y − 4 = 0.
    """
    matrix = np.array([[1.0, 1.0], [1.0, -1.0]])
    low, high = np.array([-9.0, -9.0]), np.array([0.5, 9.0])
    found = minimise(
        lambda x: (matrix @ x - [2.0, 0.0], matrix), np.zeros(2), low, high, tolerance=1e-16
    )
    assert np.allclose(found.values, [0.5, 1.0], atol=1e-6)
    assert found.status == "converged" or "descent" in found.status


def test_conditioning_a_gaussian_is_linear_regression():
    """On a sample's own moments the conditional mean is exactly its least-squares fit."""
    rng = np.random.default_rng(1)
    mixing = rng.standard_normal((4, 4))
    sample = rng.standard_normal((500, 4)) @ mixing + [1, 2, 3, 4]
    nothing = np.zeros((0, 0))
    crowd = Population(
        sample.mean(axis=0), np.cov(sample.T), np.zeros(0), np.zeros((0, 4)), nothing
    )
    given = np.array([True, False, False, True])
    mean, covariance = crowd.conditional(given, np.array([0.5, 3.0]))
    inputs = np.column_stack([np.ones(500), sample[:, given]])
    fitted = np.linalg.lstsq(inputs, sample[:, ~given], rcond=None)[0]
    assert np.allclose(mean, np.array([1, 0.5, 3.0]) @ fitted)
    left = sample[:, ~given] - inputs @ fitted
    assert np.allclose(covariance, left.T @ left / 499)


@pytest.mark.parametrize("gender", [0.0, 0.4, 1.0])
def test_the_shipped_population_is_sound(gender):
    crowd = people(gender, ("muscle", "weight", "a new one"))
    assert np.linalg.eigvalsh(crowd.covariance).min() > 0
    assert np.linalg.eigvalsh(crowd.shape_covariance).min() > 0
    means = np.exp(crowd.mean[:-1])
    assert 1.55 < means[NAMES.index("stature")] < 1.80
    assert crowd.shape(crowd.mean)[2] == 0


CASES = (
    ({"stature": 1.63}, "female"),
    ({"height": 1.70, "mass": 82.0, "waist": 0.88}, "female"),
    ({"stature": 1.76, "mass": 85.0}, "male"),
    ({"mass": 70.0, "chest": 0.97, "hips": 0.99, "inseam": 0.80, "neck": 0.36}, 0.5),
    ({"stature": 1.72, "mass": 16.2 * 1.72**2}, "male"),
    ({"stature": 1.66, "mass": 47.5 * 1.66**2}, "female"),
)


@pytest.mark.parametrize(("targets", "gender"), CASES)
def test_given_measurements_are_met(model, targets, gender):
    """To 2 mm and 0.1 kg, as `measure` reads the finished body."""
    solved = solve_measurements(targets, gender, model=model)
    measured = measure(solved.identity, model.template)
    for name, value in asked_dimensions(targets).items():
        assert abs(measured[name] - value) < tolerance(name), name
        assert solved.residuals[name] == pytest.approx(measured[name] - value)
        assert solved.measurements[name] == measured[name]
    mirrored = solved.identity.rest_vertices[model.template.mesh.mirror] * [-1, 1, 1]
    assert np.abs(mirrored - solved.identity.rest_vertices).max() < 2e-3


def test_the_body_is_that_of_its_sliders_and_modifiers(model):
    solved = solve_measurements({"stature": 1.8, "mass": 80.0}, "male", model=model)
    again = model.prepare(solved.phenotype, solved.local)
    assert np.array_equal(again.rest_vertices, solved.identity.rest_vertices)
    assert solved.phenotype["gender"] == 1.0
    assert "iterations" in solved.status


def test_a_body_is_found_again_from_what_it_measures(model):
    """All dimensions of a body of the model can be met at once: they belong to one."""
    made = solve_measurements({"stature": 1.68, "mass": 66.0, "hips": 1.04}, 0.0, model=model)
    asked = {name: made.measurements[name] for name in NAMES}
    found = solve_measurements(asked, 0.0, model=model)
    assert max(abs(r) / tolerance(n) for n, r in found.residuals.items()) < 1


def test_what_is_not_given_follows_what_is(model):
    light, heavy = (
        solve_measurements({"stature": 1.75, "mass": m}, 1.0, model=model).measurements
        for m in (65.0, 95.0)
    )
    for name in ("waist_circumference", "chest_circumference", "thigh_circumference"):
        assert heavy[name] > light[name] + 0.03
    assert heavy["foot_length"] == pytest.approx(light["foot_length"], abs=0.02)


@pytest.mark.parametrize(
    ("targets", "message"),
    [
        ({}, "no measurement was given"),
        ({"girth": 1.0}, "no measurement 'girth'"),
        ({"stature": float("nan")}, "stature is nan"),
        ({"mass": -3.0}, "finite number above 0, in kilograms"),
        ({"height": 1.7, "stature": 1.7}, "given twice"),
    ],
)
def test_nonsense_is_refused(targets, message):
    with pytest.raises(InputError, match=message):
        solve_measurements(targets, 1.0)


@pytest.mark.parametrize("gender", ["man", 1.2])
def test_an_unknown_gender_is_refused(gender):
    with pytest.raises(InputError, match=r"expected.*0 \(female\)"):
        solve_measurements({"stature": 1.7}, gender)


@pytest.mark.parametrize(
    ("targets", "words"),
    [
        ({"stature": 2.9}, ["stature 2.9 m is out of range", "nearest body has stature"]),
        ({"stature": 1.7, "mass": 20.0}, ["mass 20 kg is out of range", "nearest body"]),
        ({"stature": 170.0}, ["out of range", "Did you mean 1.7 m (170 centimetres)?"]),
        ({"mass": 70_000.0}, ["Did you mean 70 kg (70000 grams)?"]),
        ({"stature": 1.75, "mass": 33.0}, ["mass 33 kg is out of range beside stature 1.75 m"]),
        ({"waist": 1.5, "hips": 0.85}, ["out of range beside", "such people have", "nearest"]),
        (
            {"stature": 1.65, "chest_height": 1.08, "axilla_height": 1.40},
            ["no body has", "together", "Change it or leave it out", "nearest body"],
        ),
    ],
)
def test_what_no_body_has_is_told_with_the_nearest_body(model, targets, words):
    with pytest.raises(UnreachableError) as raised:
        solve_measurements(targets, 0.5, model=model)
    for word in words:
        assert word in str(raised.value)
