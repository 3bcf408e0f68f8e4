"""Damped Gauss–Newton of many small problems, all in step (Levenberg, Marquardt).

Each problem has its own damping: a step that does not lower its energy is taken back and damped
more. What a problem's unknowns are, the caller knows: they are arrays with a row a problem.
"""

from collections.abc import Callable

import numpy as np

from corporeal._typing import Float64, NumpyArray

Unknowns = tuple[NumpyArray, ...]
"""Arrays with a row a problem."""
Slope = tuple[Float64[NumpyArray, "N"], Float64[NumpyArray, "N m"]]
"""Energy of every problem, and its gradient."""

_DAMPING, _LEAST, _MOST = 1e-5, 1e-9, 1e3
"""Share of the matrix's diagonal that is added: at first, at least, at most."""
_FLOOR = 1e-8
"""Of the largest diagonal: for unknowns that move nothing."""


def descend_many(
    slope: Callable[[Unknowns, NumpyArray], Slope],
    metric: Callable[[Unknowns], Float64[NumpyArray, "N m m"]],
    moved: Callable[[Unknowns, NumpyArray], Unknowns],
    start: Unknowns,
    *,
    iterations: int,
    tolerance: float,
    longest: float,
) -> Unknowns:
    """Minimise every problem by itself.

    `slope` is given unknowns and the problems' numbers; `metric` is JᵀJ or something like it; no
    number of a step is larger than `longest`, and a problem is done when none is larger than
    `tolerance`.
    """
    here = tuple(part.copy() for part in start)
    count = len(here[0])
    active = np.arange(count)
    energies, gradients = slope(here, active)
    damping = np.full(count, _DAMPING)
    for _ in range(iterations):
        now = tuple(part[active] for part in here)
        steps = _damped(metric(now), gradients[active], damping[active], longest)
        there = moved(now, steps)
        reached, slopes = slope(there, active)
        better = reached < energies[active]
        taken, refused = active[better], active[~better]
        for part, fresh in zip(here, there, strict=True):
            part[taken] = fresh[better]
        energies[taken], gradients[taken] = reached[better], slopes[better]
        damping[taken] = np.maximum(0.2 * damping[taken], _LEAST)
        damping[refused] = np.minimum(np.maximum(10 * damping[refused], 1e-3), _MOST)
        moving = np.abs(steps).max(axis=1) > tolerance
        active = active[moving & (damping[active] < _MOST)]
        if not len(active):
            break
    return here


def _damped(
    matrices: NumpyArray, gradients: NumpyArray, damping: NumpyArray, longest: float
) -> NumpyArray:
    """−(H + μ diag H)⁻¹ g, shortened."""
    diagonal = np.einsum("naa->na", matrices)
    size = np.arange(matrices.shape[1])
    floor = _FLOOR * diagonal.max(axis=1, keepdims=True)
    matrices[:, size, size] += damping[:, None] * diagonal + floor
    steps = -np.linalg.solve(matrices, gradients[..., None])[..., 0]
    furthest = np.abs(steps).max(axis=1, keepdims=True)
    return steps * np.minimum(1.0, longest / np.maximum(furthest, 1e-300))
