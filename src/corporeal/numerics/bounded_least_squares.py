"""Bounded nonlinear least squares: Levenberg–Marquardt on the variables that are free to move.

Minimise ½‖r(θ)‖² subject to low ≤ θ ≤ high. Each step solves

    (JᵀJ + λ diag(JᵀJ)) δ = −Jᵀr

over the variables not held at a bound (a variable at a bound is held while the gradient pushes it
outwards), then clips to the bounds. The matrix is dense, symmetric positive definite, K × K.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from corporeal._typing import Float, NumpyArray

Residuals = Callable[
    [Float[NumpyArray, "K"]], tuple[Float[NumpyArray, "R"], Float[NumpyArray, "R K"]]
]


@dataclass(frozen=True, eq=False)
class LeastSquaresResult:
    """Where the minimiser stopped, and why."""

    values: Float[NumpyArray, "K"]
    cost: float
    """½‖r‖² there."""
    iterations: int
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
    values = np.clip(start, low, high)
    residual, jacobian = residuals(values)
    cost, damping = 0.5 * float(residual @ residual), 1e-3
    for iteration in range(1, iterations + 1):
        step = bounded_step(residual, jacobian, values, (low, high), damping)
        trial = np.clip(values + step, low, high)
        new_residual, new_jacobian = residuals(trial)
        new_cost = 0.5 * float(new_residual @ new_residual)
        if new_cost >= cost:
            if damping > 1e6 or np.abs(trial - values).max() < 1e-9:
                return LeastSquaresResult(values, cost, iteration, "no further descent")
            damping = max(10 * damping, 1e-3)
            continue
        gain = cost - new_cost
        values, residual, jacobian, cost = trial, new_residual, new_jacobian, new_cost
        damping = max(damping / 5, 1e-9)
        if gain < tolerance:
            return LeastSquaresResult(values, cost, iteration, "converged")
    return LeastSquaresResult(values, cost, iterations, f"stopped after {iterations} iterations")


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
