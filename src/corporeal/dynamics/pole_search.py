"""Autoregressions fitted to run free, their poles found on a grid by motions that are left out.

With poles held, the free run is linear in the inputs B: δ = B ũ with ũ the control vectors filtered
by 1/A(z), a ridge regression (variable projection: Golub and Pereyra 1973). So for every pair of
poles of a grid B is solved for, and every coefficient takes the pair whose predictions of motions
that were left out, one motion after the other, are best. All poles of the grid lie within the
stationarity triangle, and so does every mixture.
"""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.signal import lfilter

from corporeal._typing import Float64, NumpyArray
from corporeal.dynamics.autoregression import Fitted, Ridge
from corporeal.dynamics.free_running import CodedTake
from corporeal.errors import InputError

_HERTZ = (2.0, 2.5, 3.0, 3.5, 4.0, 4.5, 5.0, 6.0, 8.0)
_RADII = (0.8, 0.9, 0.95)
_REAL = (0.6, 0.85)
_FIRST_ORDER = (0.3, 0.5, 0.7, 0.8, 0.9, 0.95)


def pole_grid(order: int, radius: float, fps: float = 60.0) -> Float64[NumpyArray, "g m"]:
    """(a₁ … a_m) of the poles that are tried: swings of 2 to 8 Hz, fast and slow decays, none."""
    if order == 0:
        return np.zeros((1, 0))
    if order == 1:
        return np.array([[0.0], *([min(r, radius)] for r in _FIRST_ORDER)])
    pairs = [(0.0, 0.0), *((r, 0.0) for r in _REAL)]
    pairs += [(min(r, radius), hertz) for hertz in _HERTZ for r in _RADII]
    return np.array([[2 * r * np.cos(2 * np.pi * f / fps), -(r**2)] for r, f in pairs])


class PoleMoments:
    """Sums of takes filtered by pole after pole, kept for fits of other people, weights and ridges:
    they are most of a fit's cost. Single precision; some megabytes a take."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, tuple[float, ...]], _Sums] = {}
        self._takes: dict[int, CodedTake] = {}  # so that no number is given twice

    def of(self, take: CodedTake, poles: NumpyArray) -> "_Sums":
        """Σ ũ ũᵀ, Σ ũ δ and Σ δ² of a take."""
        key = (id(take), tuple(float(a) for a in poles))
        if key not in self._kept:
            self._takes[id(take)] = take
            square, mixed, size = _moments(take, poles)
            self._kept[key] = square.astype(np.float32), mixed.astype(np.float32), size
        return self._kept[key]


def search_poles(
    takes: Sequence[CodedTake],
    weights: Sequence[Mapping[str, float]],
    settings: Ridge,
    factors: Sequence[tuple[float, float]] | None = None,
    kept: PoleMoments | None = None,
) -> list[Fitted]:
    """One model for each entry of `weights`: weight of a frame of every subject.

    `factors` are what control vectors and coefficients of every take count as, times theirs.
    """
    if settings.constant:
        raise InputError(
            "a constant offset came with predictors that are fitted to run free, which have none. "
            "Leave --constant out, or fit one frame ahead (--fitting one-ahead)."
        )
    grid = pole_grid(settings.order, settings.radius)
    motions = list(dict.fromkeys(take.sequence for take in takes))
    size, count = takes[0].controls.shape[1], takes[0].deltas.shape[1]
    least = [np.full(count, np.inf) for _ in weights]
    inputs = [np.zeros((size, count)) for _ in weights]
    history = [np.zeros((settings.order, count)) for _ in weights]
    each_factor = [(1.0, 1.0)] * len(takes) if factors is None else factors
    for poles in grid:
        moments = []
        for take, (u, d) in zip(takes, each_factor, strict=True):
            square, mixed, size_of = _moments(take, poles) if kept is None else kept.of(take, poles)
            moments.append((u * u * square, u * d * mixed, d * d * size_of))
        for person, each in enumerate(weights):
            by_motion = list(_by_motion(takes, moments, motions, each))
            error, found = _left_out(by_motion, settings.strength)
            better = error < least[person]
            least[person][better] = error[better]
            inputs[person][:, better] = found[:, better]
            history[person][:, better] = poles[:, None]
    return [
        Fitted(np.ascontiguousarray(B.T), a, np.zeros(count))
        for B, a in zip(inputs, history, strict=True)
    ]


_Sums = tuple[NumpyArray, NumpyArray, NumpyArray]
"""Σ ũ ũᵀ, Σ ũ δ and Σ δ²."""


def _moments(take: CodedTake, poles: NumpyArray) -> _Sums:
    seen = lfilter([1.0], np.concatenate([[1.0], -poles]), take.controls, axis=0)
    seen = np.asarray(seen)
    return seen.T @ seen, seen.T @ take.deltas, np.sum(take.deltas**2, axis=0)


def _by_motion(
    takes: Sequence[CodedTake],
    moments: Sequence[_Sums],
    motions: Sequence[str],
    weights: Mapping[str, float],
) -> Iterator[_Sums]:
    """Weighted sums of all takes of one motion after the other."""
    for motion in motions:
        some = [
            (weights.get(take.subject, 0.0), sums)
            for take, sums in zip(takes, moments, strict=True)
            if take.sequence == motion and weights.get(take.subject, 0.0) > 0
        ]
        if some:
            scaled = [(w * a, w * b, w * c) for w, (a, b, c) in some]
            squares, mixed, sizes = (np.sum(part, axis=0) for part in zip(*scaled, strict=True))
            yield squares, mixed, sizes


def _left_out(parts: Sequence[_Sums], ridge: float) -> tuple[NumpyArray, NumpyArray]:
    """Squared error of every coefficient over left-out parts, and B of all parts together."""
    square = np.sum([sums[0] for sums in parts], axis=0)
    mixed = np.sum([sums[1] for sums in parts], axis=0)
    whole = _ridge_solution(square, mixed, ridge)
    error = np.zeros(whole.shape[1])
    for own_square, own_mixed, own in parts:
        found = whole
        if len(parts) > 1:
            found = _ridge_solution(square - own_square, mixed - own_mixed, ridge)
        error += own - 2 * np.sum(found * own_mixed, axis=0)
        error += np.sum(found * (own_square @ found), axis=0)
    return error, whole


def _ridge_solution(square: NumpyArray, mixed: NumpyArray, ridge: float) -> NumpyArray:
    """(S + ridge diag S)⁻¹ M; inputs that never moved have no effect."""
    size = np.diag(square)
    floor = 1e-9 * max(float(size.mean()), 1e-300)
    penalty = ridge * size + floor
    found = cho_solve(cho_factor(square + np.diag(penalty)), mixed)
    found[size <= floor] = 0.0
    return found
