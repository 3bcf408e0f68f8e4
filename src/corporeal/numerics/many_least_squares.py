"""Levenberg–Marquardt for many small bounded problems of one form, side by side.

Each problem keeps its own damping and stops by itself (`numerics.bounded_least_squares` has the
step); all that are still running are evaluated together, which is where the time goes.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.numerics.bounded_least_squares import bounded_step

ManyResiduals = Callable[
    [Int[NumpyArray, "a"], Float[NumpyArray, "a K"]],
    tuple[Float[NumpyArray, "a R"], Float[NumpyArray, "a R K"]],
]
"""Numbers of the problems asked about, and their values → residuals and Jacobians."""
_LEAST_DAMPING: Final = 1e-9
_MOST_DAMPING: Final = 1e6
_TRUSTED: Final = 10.0
"""A step may promise so many times the tolerance and still be the last."""


@dataclass(frozen=True, eq=False)
class ManyResults:
    """Where each problem stopped."""

    values: Float[NumpyArray, "n K"]
    costs: Float[NumpyArray, "n"]
    """½‖r‖² there."""
    iterations: Int[NumpyArray, "n"]


def minimise_many(
    residuals: ManyResiduals,
    start: Float[NumpyArray, "n K"],
    low: Float[NumpyArray, "K"],
    high: Float[NumpyArray, "K"],
    *,
    iterations: int = 40,
    tolerance: float = 0.3,
) -> ManyResults:
    """Minimise each from its `start`; one stops when a step lowers its cost by < `tolerance`.

    A step that promised much more and gave little (it met a kink) is no reason to stop.
    """
    values = np.clip(start, low, high)
    residual, jacobian = residuals(np.arange(len(values)), values)
    costs = 0.5 * (residual**2).sum(axis=1)
    damping = np.full(len(values), 1e-3)
    counts = np.zeros(len(values), np.int64)
    running = np.arange(len(values))
    for _ in range(iterations):
        if len(running) == 0:
            break
        steps = [
            bounded_step(residual[i], jacobian[i], values[i], (low, high), float(damping[i]))
            for i in running
        ]
        trial = np.clip(values[running] + np.array(steps), low, high)
        moved = trial - values[running]
        # ½‖r‖² − ½‖r + J δ‖²: what the linear model promises
        linear = residual[running] + np.einsum("ark,ak->ar", jacobian[running], moved)
        promised = costs[running] - 0.5 * (linear**2).sum(axis=1)
        new_residual, new_jacobian = residuals(running, trial)
        new_costs = 0.5 * (new_residual**2).sum(axis=1)
        gain = costs[running] - new_costs
        better = gain > 0
        still = np.abs(moved).max(axis=1) < 1e-9
        stuck = ~better & (still | (damping[running] > _MOST_DAMPING))
        converged = better & (gain < tolerance) & (promised < _TRUSTED * tolerance)
        counts[running] += 1
        damping[running] = np.where(
            better, np.maximum(damping[running] / 5, _LEAST_DAMPING), 10 * damping[running]
        )
        taken = running[better]
        values[taken], costs[taken] = trial[better], new_costs[better]
        residual[taken], jacobian[taken] = new_residual[better], new_jacobian[better]
        running = running[~(stuck | converged)]
    return ManyResults(values, costs, counts)
