"""Bounded nonlinear least squares: Levenberg–Marquardt on the variables that are free to move.

Minimise ½‖r(θ)‖² subject to low ≤ θ ≤ high. Each step solves

    (JᵀJ + λ diag(JᵀJ)) δ = −Jᵀr

over the variables not held at a bound (a variable at a bound is held while the gradient pushes it
outwards), then clips to the bounds. The matrix is dense, symmetric positive definite, K × K.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from corporeal._typing import Float, NumpyArray
from corporeal.numerics.levenberg_marquardt import Damping, Trial, descend_damped

Residuals = Callable[
    [Float[NumpyArray, "K"]], tuple[Float[NumpyArray, "R"], Float[NumpyArray, "R K"]]
]
_Point = tuple[NumpyArray, NumpyArray, NumpyArray]
"""Values, their residuals and Jacobian."""

_DAMPING: Final = Damping(1e-3, lambda d: max(d / 5, 1e-9), lambda d: max(10 * d, 1e-3))
_TOO_STIFF: Final = 1e7


@dataclass(frozen=True, eq=False)
class LeastSquaresResult:
    """Where the minimiser stopped, and why."""

    values: Float[NumpyArray, "K"]
    """Unknowns within their bounds."""
    cost: float
    """½‖r‖² there."""
    iterations: int
    """Steps tried."""
    status: str
    """In words."""


def minimise(
    residuals: Residuals,
    start: Float[NumpyArray, "K"],
    low: Float[NumpyArray, "K"],
    high: Float[NumpyArray, "K"],
    *,
    iterations: int = 40,
    tolerance: float = 0.3,
) -> LeastSquaresResult:
    """Minimise from `start`; stop when a step lowers the cost by less than `tolerance`."""

    def attempt(here: _Point, damping: float) -> tuple[_Point, float, float]:
        values, residual, jacobian = here
        step = bounded_step(residual, jacobian, values, (low, high), damping)
        trial = np.clip(values + step, low, high)
        there = residuals(trial)
        return (trial, *there), _half_square(there[0]), float(np.abs(trial - values).max())

    def ended(trial: Trial) -> str:
        if trial.taken:
            return "converged" if trial.gain < tolerance else ""
        stuck = trial.length < 1e-9 or trial.damping > _TOO_STIFF
        return "no further descent" if stuck else ""

    values = np.clip(start, low, high)
    first = residuals(values)
    begin = (values, *first), _half_square(first[0])
    found = descend_damped(begin, attempt, ended, _DAMPING, iterations)
    return LeastSquaresResult(found.here[0], found.energy, found.iterations, found.status)


def _half_square(residual: Float[NumpyArray, "R"]) -> float:
    return 0.5 * float(residual @ residual)


def bounded_step(
    residual: Float[NumpyArray, "R"],
    jacobian: Float[NumpyArray, "R K"],
    values: Float[NumpyArray, "K"],
    bounds: tuple[Float[NumpyArray, "K"], Float[NumpyArray, "K"]],
    damping: float,
) -> Float[NumpyArray, "K"]:
    """One damped step from `values`, which stays within `bounds`."""
    low, high = bounds
    gradient = jacobian.T @ residual
    held = ((values <= low) & (gradient > 0)) | ((values >= high) & (gradient < 0))
    normal = jacobian.T @ jacobian
    step = np.zeros_like(values)
    for _ in range(len(values)):
        free = np.flatnonzero(~held)
        if len(free) == 0:
            break
        block = normal[np.ix_(free, free)]
        damped = block + damping * np.diag(np.diag(block)) + 1e-12 * np.eye(len(free))
        # Variables that an earlier round stopped at a bound keep their step.
        pull = gradient[free] + normal[np.ix_(free, np.flatnonzero(held))] @ step[held]
        step[free] = cho_solve(cho_factor(damped), -pull)
        beyond = ~held & ((values + step < low) | (values + step > high))
        if not beyond.any():
            break
        step[beyond] = np.clip(values + step, low, high)[beyond] - values[beyond]
        held |= beyond
    return step
