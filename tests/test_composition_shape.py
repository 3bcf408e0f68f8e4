"""Komaritzan 2022's linear regressors (4.5, 4.6) on made-up pairs."""

import numpy as np
import pytest

from corporeal.anatomy.composition.shape_regression import (
    SHAPE_COUNT,
    ShapeRegressor,
    train_shape_regressor,
)
from corporeal.errors import InputError


def pairs(count, noise=0.0, seed=0):
    """Bodies with 20 coefficients of falling spread; the first 12 tell fat and muscle."""
    draw = np.random.default_rng(seed)
    coefficients = draw.normal(size=(count, 20)) / np.arange(1, 21)
    slopes = draw.normal(size=(SHAPE_COUNT, 2)) * [6.0, 3.0]
    masses = coefficients[:, :SHAPE_COUNT] @ slopes + [20.0, 30.0]
    return coefficients, masses + noise * draw.normal(size=(count, 2)), slopes


def test_linear_pairs_are_recovered_exactly():
    coefficients, masses, slopes = pairs(100)
    found = train_shape_regressor(coefficients, masses)
    np.testing.assert_allclose(found.regressor.slopes, slopes, atol=1e-9)
    np.testing.assert_allclose(found.regressor.offsets, [20.0, 30.0], atol=1e-9)
    np.testing.assert_allclose(found.mean_absolute_errors, 0.0, atol=1e-9)
    np.testing.assert_allclose(found.determination, 1.0)


def test_leave_one_out_is_that_of_refitting():
    coefficients, masses, _ = pairs(40, noise=1.0)
    found = train_shape_regressor(coefficients, masses)
    for i in range(0, 40, 8):
        rest = np.arange(40) != i
        other = train_shape_regressor(coefficients[rest], masses[rest]).regressor
        np.testing.assert_allclose(
            found.left_out_errors[i], masses[i] - other.masses(coefficients[i]), atol=1e-9
        )


def test_noise_of_a_kilogram_is_the_error_that_is_left():
    """E|e| = σ √(2/π) √(n/(n − k)) for Gaussian noise; its standard error is 0.6/√n."""
    coefficients, masses, _ = pairs(1000, noise=1.0)
    found = train_shape_regressor(coefficients, masses).mean_absolute_errors
    expected = np.sqrt(2 / np.pi) * np.sqrt(1000 / (1000 - SHAPE_COUNT - 1))
    np.testing.assert_allclose(found, expected, atol=4 * 0.6 / np.sqrt(1000))


def test_a_batch_is_its_bodies_and_extra_coefficients_are_ignored():
    coefficients, masses, _ = pairs(50)
    regressor = train_shape_regressor(coefficients, masses).regressor
    np.testing.assert_allclose(regressor.masses(coefficients), masses, atol=1e-9)
    np.testing.assert_allclose(
        regressor.masses(coefficients[3, :SHAPE_COUNT]), masses[3], atol=1e-9
    )


def test_the_thinnest_get_no_negative_fat():
    """The thesis meets one: -0.1 kg for a man of BMI 16."""
    regressor = ShapeRegressor(np.array([[5.0, 1.0]]), np.array([3.0, 25.0]))
    thin = regressor.composition(np.array([-1.0]))
    assert thin.fat_mass == 0.0
    assert thin.muscle_mass == 24.0


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda c, m: (c[:, :5], m), "has 5 shape coefficients; 12 were asked for"),
        (lambda c, m: (c[:13], m[:13]), "13 bodies cannot determine 13 coefficients"),
        (lambda c, m: (np.repeat(c[:, :1], 12, axis=1), m), "vary in 1 of 12 directions"),
        (lambda c, m: (c, m * np.nan), "fat and muscle masses: .* not finite"),
        (lambda c, m: (c * np.inf, m), "shape coefficients: .* not finite"),
    ],
)
def test_pairs_that_cannot_be_fitted_are_refused(change, message):
    coefficients, masses, _ = pairs(60)
    with pytest.raises(InputError, match=message):
        train_shape_regressor(*change(coefficients, masses))


def test_too_few_coefficients_of_a_body_are_refused():
    coefficients, masses, _ = pairs(60)
    regressor = train_shape_regressor(coefficients, masses).regressor
    with pytest.raises(InputError, match=r"4 shape coefficients came; .* trained on 12"):
        regressor.masses(coefficients[0, :4])
