"""Gauss–Newton with Powell's dogleg: a trust region between steepest descent and Newton's step.

Nocedal, Wright: Numerical Optimization, 2nd edition, 2006, section 4.1 and algorithm 4.1. The
problem is min ½ ‖r(x)‖², given through JᵀJ and Jᵀr, so that residuals by the hundred thousand need
not be kept. JᵀJ is a dense array for few unknowns and a sparse one for many; `residual_blocks`
makes it from blocks of residuals with robust kernels.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

import numpy as np
from scipy.sparse import csc_array, eye_array

from corporeal._typing import Float64, NumpyArray

Point = TypeVar("Point")

_LARGEST_RADIUS = 1e3
_ACCEPTED = 1e-4
"""Share of the predicted decrease below which a step is not taken."""


@dataclass(frozen=True)
class Normal:
    """The quadratic model about a point."""

    matrix: Float64[NumpyArray, "n n"] | csc_array
    """JᵀJ, or Jᵀ W J: symmetric, positive semidefinite."""
    gradient: Float64[NumpyArray, "n"]
    """Jᵀr."""
    energy: float
    """½ ‖r‖²."""


@dataclass(frozen=True)
class Descent(Generic[Point]):
    """Where the search ended."""

    point: Point
    """Where the energy is least."""
    energy: float
    """Its value there."""
    iterations: int
    """Steps tried."""
    converged: bool
    """Whether the last step was smaller than the tolerance."""


def descend(
    start: Point,
    normal: Callable[[Point], Normal],
    energy: Callable[[Point], float],
    moved: Callable[[Point, NumpyArray], Point],
    *,
    radius: float = 1.0,
    tolerance: float = 1e-6,
    iterations: int = 50,
) -> Descent[Point]:
    """Minimise from `start`; `moved(x, step)` is x ⊕ step, on whatever manifold x lives.

    Ends when a step is shorter than `tolerance`, or promises less than `tolerance`² of the energy.
    """
    point, here = start, normal(start)
    for count in range(1, iterations + 1):
        step, promised = _step(here, radius)
        length = float(np.linalg.norm(step))
        if length < tolerance or promised <= tolerance**2 * here.energy:
            return Descent(point, here.energy, count, converged=True)
        candidate = moved(point, step)
        reached = energy(candidate)
        ratio = (here.energy - reached) / promised if np.isfinite(reached) else -1.0
        if ratio < 0.25:
            radius = 0.25 * length
        elif ratio > 0.75 and length > 0.99 * radius:
            radius = min(2.0 * radius, _LARGEST_RADIUS)
        if ratio > _ACCEPTED:
            point, here = candidate, normal(candidate)
    return Descent(point, here.energy, iterations, converged=False)


def _step(here: Normal, radius: float) -> tuple[NumpyArray, float]:
    """The dogleg step within `radius`, and the decrease that the quadratic model promises."""
    newton = _solved(here.matrix, -here.gradient)
    if np.linalg.norm(newton) <= radius:
        step = newton
    else:
        square = float(here.gradient @ here.gradient)
        curvature = float(here.gradient @ here.matrix @ here.gradient)
        cauchy = -(square / max(curvature, 1e-300)) * here.gradient
        reach = float(np.linalg.norm(cauchy))
        if reach >= radius:
            step = cauchy * (radius / reach)
        else:
            step = cauchy + _share(cauchy, newton - cauchy, radius) * (newton - cauchy)
    return step, -float(here.gradient @ step + 0.5 * step @ here.matrix @ step)


def _share(start: NumpyArray, way: NumpyArray, radius: float) -> float:
    """τ in 0 … 1 with ‖start + τ way‖ = radius."""
    a, b = float(way @ way), float(start @ way)
    c = float(start @ start) - radius**2
    return (-b + np.sqrt(max(b * b - a * c, 0.0))) / a


def _solved(
    matrix: Float64[NumpyArray, "n n"] | csc_array, right: Float64[NumpyArray, "n"]
) -> Float64[NumpyArray, "n"]:
    """Solve with as little added to the diagonal as makes it positive definite."""
    size = len(right)
    scale = float(matrix.trace()) / size
    for share in (1e-10, 1e-7, 1e-4, 1e-1):
        if isinstance(matrix, csc_array):
            found = _solved_sparse(matrix, share * scale, right)
        else:
            found = _solved_dense(matrix, share * scale, right)
        if found is not None:
            return found
    return right / max(scale, 1e-300)


def _solved_dense(
    matrix: Float64[NumpyArray, "n n"], shift: float, right: Float64[NumpyArray, "n"]
) -> Float64[NumpyArray, "n"] | None:
    try:
        factor = np.linalg.cholesky(matrix + shift * np.eye(len(matrix)))
    except np.linalg.LinAlgError:
        return None
    return np.linalg.solve(factor.T, np.linalg.solve(factor, right))


def _solved_sparse(
    matrix: csc_array, shift: float, right: Float64[NumpyArray, "n"]
) -> Float64[NumpyArray, "n"] | None:
    """By SuperLU without pivoting, whose pivots are positive where the matrix is definite."""
    from scipy.sparse.linalg import splu

    shifted = csc_array(matrix + shift * eye_array(len(right)))
    try:
        factor = splu(
            shifted,
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )
    except RuntimeError:  # exactly singular
        return None
    return factor.solve(right) if (factor.U.diagonal() > 0).all() else None
