"""Fitting autoregressions with inputs (Pons-Moll 2015, eq. 20, 23 to 25) by ridge regression.

All that least squares needs of a take are its moments; they add up. So models of one person, of
all, weighted towards one, or without some takes are solved from the same few arrays, every
coefficient by itself: the inputs are eliminated (a Schur complement), which leaves a problem of two
unknowns within the stationarity triangle.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from corporeal._typing import Float64, NumpyArray
from corporeal.dynamics.stationarity import constrained
from corporeal.errors import InputError

MOST_LAGS = 2
"""Values before that moments know."""


@dataclass(frozen=True)
class Moments:
    """Sums over frames of products of the inputs (c of them) and the coefficients, now and
    before."""

    count: float
    """Frames, or their weight."""
    inputs: Float64[NumpyArray, "c c"]
    """Σ u uᵀ."""
    mixed: Float64[NumpyArray, "c l D"]
    """Σ u δ_{k−l}, l = 0, 1, 2."""
    lagged: Float64[NumpyArray, "l l D"]
    """Σ δ_{k−l} δ_{k−m} of every coefficient by itself."""

    def __add__(self, other: "Moments") -> "Moments":
        return Moments(
            self.count + other.count,
            self.inputs + other.inputs,
            self.mixed + other.mixed,
            self.lagged + other.lagged,
        )

    def scaled(self, weight: float) -> "Moments":
        """As if every frame counted so many times."""
        return Moments(
            weight * self.count, weight * self.inputs, weight * self.mixed, weight * self.lagged
        )


@dataclass(frozen=True)
class Fitted:
    """Parameters p of one model g (eq. 20)."""

    inputs: Float64[NumpyArray, "D c"]
    """B."""
    history: Float64[NumpyArray, "m D"]
    """a_l."""
    constants: Float64[NumpyArray, "D"]
    """b."""


@dataclass(frozen=True)
class Ridge:
    """How a model is fitted."""

    order: int = 2
    """How many values before are looked at, 0 to 2."""
    strength: float = 1.0
    """Ridge on inputs that are scaled to a deviation of 1, for the mean square of a frame."""
    radius: float = 0.98
    """Largest magnitude of a pole: a swing falls by e in 1/(60 (1 − radius)) seconds or sooner."""
    constant: bool = False
    """Whether there is a constant offset b, as in the paper; without one, stillness is static."""

    def __post_init__(self) -> None:
        if self.order not in (0, 1, 2):
            raise InputError(f"the order of an autoregression is {self.order}; expected 0, 1 or 2.")
        if not (0 < self.radius < 1 and self.strength >= 0):
            raise InputError(
                f"ridge strength {self.strength} and radius {self.radius}; expected at least 0, "
                f"and between 0 and 1."
            )


def take_moments(
    controls: Float64[NumpyArray, "N c"], deltas: Float64[NumpyArray, "N D"]
) -> Moments:
    """Moments of one take, from the third frame on."""
    if len(controls) != len(deltas) or len(deltas) <= MOST_LAGS:
        raise InputError(
            f"a take has {len(controls)} control vectors and {len(deltas)} frames of coefficients; "
            f"expected as many, and more than {MOST_LAGS}."
        )
    with_constant = np.c_[controls[MOST_LAGS:], np.ones(len(controls) - MOST_LAGS)]
    lags = np.stack([deltas[MOST_LAGS - lag : len(deltas) - lag] for lag in range(MOST_LAGS + 1)])
    return Moments(
        float(len(with_constant)),
        with_constant.T @ with_constant,
        np.einsum("nc,lnd->cld", with_constant, lags, optimize=True),
        # Σ_k δ_{k−l,d} δ_{k−m,d}
        np.einsum("lnd,mnd->lmd", lags, lags, optimize=True),
    )


def summed(moments: Iterable[Moments]) -> Moments:
    """Moments of all together."""
    rest = iter(moments)
    total = next(rest, None)
    if total is None:
        raise InputError("there is no take to learn from; expected at least one.")
    for more in rest:
        total = total + more
    return total


def fit(moments: Moments, settings: Ridge) -> Fitted:
    """The least of Σ_k ‖δ_k − g(u_k)‖² + ridge, each pole within the radius."""
    used = slice(None) if settings.constant else slice(None, -1)
    square, mixed = moments.inputs[used, used], moments.mixed[used]
    scale = np.sqrt(np.maximum(np.diag(square) / moments.count, 1e-30))
    penalty = np.full(len(square), settings.strength * moments.count)
    if settings.constant:
        penalty[-1] = 0.0
    still = scale < 1e-12  # an input that never moved has no effect
    penalty[still] = moments.count
    scale = np.where(still, 1.0, scale)
    factor = cho_factor(square / np.outer(scale, scale) + np.diag(penalty + 1e-12 * moments.count))
    mixed = mixed / scale[:, None, None]
    solved = cho_solve(factor, mixed.reshape(len(mixed), -1)).reshape(mixed.shape)
    # Schur complement: lags with what inputs explain taken out
    left = moments.lagged - np.einsum("cld,cmd->lmd", mixed, solved, optimize=True)
    order = settings.order
    hessian = np.moveaxis(left[1 : order + 1, 1 : order + 1], -1, 0)
    room = np.einsum("dll->d", hessian)[:, None, None] if order else np.ones((1, 1, 1))
    hessian = hessian + (1e-9 * room + 1e-300) * np.eye(order)
    history = constrained(hessian, left[1 : order + 1, 0].T, settings.radius).T
    inputs = solved[:, 0] - np.einsum("cld,ld->cd", solved[:, 1 : order + 1], history)
    inputs = inputs / scale[:, None]
    constants = inputs[-1] if settings.constant else np.zeros(inputs.shape[1])
    body = inputs[:-1] if settings.constant else inputs
    return Fitted(np.ascontiguousarray(body.T), history, constants)


def free_run(
    fitted: Fitted,
    controls: Float64[NumpyArray, "N c"],
    start: Float64[NumpyArray, "m D"] | None = None,
) -> Float64[NumpyArray, "N D"]:
    """δ̂ of all frames from the controls alone; before the first frame δ is `start`, or 0."""
    from scipy.signal import lfilter

    driven = controls @ fitted.inputs.T + fitted.constants
    order = len(fitted.history)
    if order == 0:
        return driven
    answer = np.empty_like(driven)
    for d in range(driven.shape[1]):
        recursion = np.concatenate([[1.0], -fitted.history[:, d]])
        before = np.zeros(order) if start is None else start[:, d]
        # lfilter's state: what the past adds to the next values
        state = np.array(
            [np.dot(fitted.history[lag:, d], before[: order - lag]) for lag in range(order)]
        )
        answer[:, d], _ = lfilter([1.0], recursion, driven[:, d], zi=state)
    return answer


def teacher_forced(
    fitted: Fitted, controls: Float64[NumpyArray, "N c"], deltas: Float64[NumpyArray, "N D"]
) -> Float64[NumpyArray, "N D"]:
    """One frame ahead, with the true δ of the frames before; 0 stands before the first."""
    answer = controls @ fitted.inputs.T + fitted.constants
    for lag, a in enumerate(fitted.history, start=1):
        answer[lag:] += a * deltas[:-lag]
    return answer
