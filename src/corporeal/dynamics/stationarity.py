"""Autoregressions that die away: least squares within the stationarity triangle, and poles.

x_k = a₁ x_{k−1} + a₂ x_{k−2} + … has both poles within the radius r of the origin if and only if
(a₁/r, a₂/r²) lies in the triangle |a₁| + a₂ ≤ 1, a₂ ≥ −1. The triangle is convex, so every mixture
of autoregressions in it is in it.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray

_CORNERS = np.array([[2.0, -1.0], [-2.0, -1.0], [0.0, 1.0]])
"""(a₁, a₂) of the triangle for the radius 1."""


def constrained(
    hessian: Float64[NumpyArray, "D m m"], slope: Float64[NumpyArray, "D m"], radius: float
) -> Float64[NumpyArray, "D m"]:
    """argmin ½ aᵀ H a − gᵀ a with all poles within `radius`, for every row; m is 0, 1 or 2.

    H is symmetric and positive definite. The least over the triangle is the free minimum, if that
    is inside, or the best of the minima over its three edges: exact, without iteration.
    """
    order = hessian.shape[-1]
    if order == 0:
        return np.zeros_like(slope)
    free = np.linalg.solve(hessian, slope[..., None])[..., 0]
    if order == 1:
        return np.clip(free, -radius, radius)
    corners = _CORNERS * [radius, radius**2]
    outside = np.flatnonzero(~inside(free, radius))
    if not len(outside):
        return free
    H, g = hessian[outside], slope[outside]
    best, least = free[outside].copy(), np.full(len(outside), np.inf)
    for one, other in ((0, 1), (1, 2), (2, 0)):
        way = corners[other] - corners[one]
        # along a = p + s q: s = qᵀ (g − H p) / qᵀ H q, kept within the edge
        pull = (g - H @ corners[one]) @ way
        share = np.clip(pull / np.einsum("i,dij,j->d", way, H, way), 0.0, 1.0)
        candidate = corners[one] + share[:, None] * way
        value = 0.5 * np.einsum("di,dij,dj->d", candidate, H, candidate)
        value -= np.sum(g * candidate, axis=1)
        better = value < least
        best[better], least[better] = candidate[better], value[better]
    free[outside] = best
    return free


def inside(history: Float64[NumpyArray, "*batch 2"], radius: float = 1.0) -> NumpyArray:
    """Whether both poles of (a₁, a₂) lie within `radius`."""
    first, second = history[..., 0] / radius, history[..., 1] / radius**2
    return (np.abs(first) + second <= 1) & (second >= -1)


def poles(history: Float64[NumpyArray, "m D"]) -> NumpyArray:
    """The roots z of z² = a₁ z + a₂ (of z = a₁ for order 1), D × m, complex."""
    if len(history) < 2:
        return history.T.astype(np.complex128)
    root = np.sqrt((history[0] ** 2 + 4 * history[1]).astype(np.complex128))
    return np.stack([0.5 * (history[0] + root), 0.5 * (history[0] - root)], axis=1)


def largest_pole(history: Float64[NumpyArray, "m D"]) -> float:
    """Largest magnitude of a pole; 0 without history."""
    return float(np.abs(poles(history)).max(initial=0.0))


def gain(history: Float64[NumpyArray, "m D"], frames: int = 4096) -> Float64[NumpyArray, "D"]:
    """Σ_k |h_k| of the impulse response h: the largest answer to inputs of at most 1."""
    order, count = history.shape
    before = np.zeros((2, count))
    total, answer = np.ones(count), np.ones(count)
    for _ in range(frames):
        before = np.stack([answer, before[0]])
        answer = np.sum(history * before[:order], axis=0)
        total += np.abs(answer)
        if np.abs(answer).max(initial=0.0) < 1e-12 and np.abs(before).max(initial=0.0) < 1e-12:
            break
    return total
