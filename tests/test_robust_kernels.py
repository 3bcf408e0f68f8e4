"""Robust kernels: closed forms, derivatives, SciPy's losses."""

import numpy as np
import pytest
from scipy.optimize import least_squares

from corporeal.errors import InputError
from corporeal.numerics.robust_kernels import Cauchy, GemanMcClure, Huber, RobustKernel, Squared

SCALE = 0.7
KERNELS: dict[str, RobustKernel] = {
    "squared": Squared(),
    "huber": Huber(SCALE),
    "cauchy": Cauchy(SCALE),
    "geman-mcclure": GemanMcClure(SCALE),
}
SQUARES = np.array([1e-6, 0.01, 0.3, 0.48, 0.5, 2.0, 40.0])
"""On both sides of SCALE² = 0.49."""


@pytest.mark.parametrize("name", KERNELS)
def test_weights_are_the_derivative(name: str) -> None:
    """ρ'(s) by central differences of h = 1e-4 s: error h² ρ'''/6 ≈ 1e-8, and rounding 1e-12."""
    kernel, step = KERNELS[name], 1e-4 * SQUARES
    slope = (kernel.loss(SQUARES + step) - kernel.loss(SQUARES - step)) / (2 * step)
    np.testing.assert_allclose(kernel.weight(SQUARES), slope, rtol=1e-7)


@pytest.mark.parametrize("name", KERNELS)
def test_small_residuals_are_squared(name: str) -> None:
    """ρ(0) = 0 and ρ'(0) = 1, so that no kernel changes what inliers weigh."""
    nothing = np.zeros(1)
    assert KERNELS[name].loss(nothing)[0] == 0
    assert KERNELS[name].weight(nothing)[0] == 1


def test_values_at_and_far_beyond_the_scale() -> None:
    """At s = σ²: σ², σ² log 2, σ²/2; far out: 2σ√s − σ², and σ² at most."""
    at, far = np.array([SCALE**2]), np.array([1e12])
    assert Huber(SCALE).loss(at)[0] == pytest.approx(SCALE**2)
    assert Cauchy(SCALE).loss(at)[0] == pytest.approx(SCALE**2 * np.log(2))
    assert GemanMcClure(SCALE).loss(at)[0] == pytest.approx(SCALE**2 / 2)
    assert Huber(SCALE).loss(far)[0] == pytest.approx(2 * SCALE * 1e6 - SCALE**2)
    assert GemanMcClure(SCALE).loss(far)[0] == pytest.approx(SCALE**2)
    assert Huber(SCALE).weight(far)[0] == pytest.approx(SCALE / 1e6)


@pytest.mark.parametrize("name", ["huber", "cauchy"])
def test_losses_are_those_of_scipy(name: str) -> None:
    """½ Σ ρ of SciPy's least squares, read off where it starts."""
    residuals = np.sqrt(SQUARES)
    there = least_squares(lambda x: residuals + 0 * x, [0.0], loss=name, f_scale=SCALE, max_nfev=1)
    assert 0.5 * KERNELS[name].loss(SQUARES).sum() == pytest.approx(there.cost, rel=1e-12)


@pytest.mark.parametrize("made", [Huber, Cauchy, GemanMcClure])
@pytest.mark.parametrize("scale", [0.0, -1.0, np.nan, np.inf])
def test_a_scale_that_is_none_is_refused(made, scale: float) -> None:
    with pytest.raises(InputError, match="scale of a robust kernel"):
        made(scale)
