"""Autoregressions fitted for what they are used for: to run free, from the motion alone.

Least squares one frame ahead (eq. 23) is answered well by δ_k ≈ 2 δ_{k−1} − δ_{k−2}, whatever the
motion does; run free such a model has little to say, and noise in δ pulls its poles inward.
Steiglitz and McBride (1965, IEEE Transactions on Automatic Control 10(4), 461) filter inputs and
coefficients by 1/A(z) of the fit before and fit again: errors one frame ahead of what is filtered
are errors of the free run. Last the inputs are fitted with the poles held, which is linear.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve
from scipy.signal import lfilter

from corporeal._typing import Float64, NumpyArray
from corporeal.dynamics.autoregression import Fitted, Moments, Ridge, fit, summed, take_moments


@dataclass(frozen=True)
class CodedTake:
    """A take as coefficients: what a predictor learns from."""

    subject: str
    """Whose."""
    sequence: str
    """What they do."""
    controls: Float64[NumpyArray, "N c"]
    """Control vectors."""
    deltas: Float64[NumpyArray, "N D"]
    """True coefficients."""


def fit_free_running(
    takes: Sequence[CodedTake],
    weights: Mapping[str, float],
    first: Fitted,
    settings: Ridge,
    iterations: int = 3,
) -> Fitted:
    """Start from `first`, refit every coefficient to run free; takes weigh by their subjects'.

    `weights` are those of a frame of each subject; subjects of weight 0 are left out.
    """
    if settings.order == 0 or iterations == 0:
        return first
    used = [take for take in takes if weights.get(take.subject, 0.0) > 0]
    each = [weights[take.subject] for take in used]
    inputs, history = first.inputs.copy(), first.history.copy()
    constants = first.constants.copy()
    for d in range(inputs.shape[0]):
        for _ in range(iterations):
            moments = summed(
                _filtered(take, d, history[:, d]).scaled(weight)
                for take, weight in zip(used, each, strict=True)
            )
            again = fit(moments, settings)
            moved = np.abs(again.history[:, 0] - history[:, d]).max()
            history[:, d] = again.history[:, 0]
            if moved < 1e-4:
                break
        inputs[d], constants[d] = _held_poles(used, each, d, history[:, d], settings)
    return Fitted(inputs, history, constants)


def _filtered(take: CodedTake, d: int, history: NumpyArray) -> Moments:
    """Moments of one coefficient and all inputs, both filtered by 1/A(z)."""
    recursion = np.concatenate([[1.0], -history])
    return take_moments(
        np.asarray(lfilter([1.0], recursion, take.controls, axis=0)),
        np.asarray(lfilter([1.0], recursion, take.deltas[:, d : d + 1], axis=0)),
    )


def _held_poles(
    takes: Sequence[CodedTake],
    weights: Sequence[float],
    d: int,
    history: NumpyArray,
    settings: Ridge,
) -> tuple[NumpyArray, float]:
    """B and b of the free run with these poles: ridge regression of δ on filtered inputs."""
    recursion = np.concatenate([[1.0], -history])
    size = takes[0].controls.shape[1] + 1
    square, right, count = np.zeros((size, size)), np.zeros(size), 0.0
    for take, weight in zip(takes, weights, strict=True):
        ones = np.full((len(take.controls), 1), float(settings.constant))
        driving = np.concatenate([take.controls, ones], axis=1)
        rows = np.asarray(lfilter([1.0], recursion, driving, axis=0))
        square += weight * (rows.T @ rows)
        right += weight * (rows.T @ take.deltas[:, d])
        count += weight * len(rows)
    scale = np.sqrt(np.maximum(np.diag(square) / count, 0.0))
    still = scale < 1e-12
    scale = np.where(still, 1.0, scale)
    penalty = np.where(still, count, settings.strength * count + 1e-12 * count)
    found = cho_solve(cho_factor(square / np.outer(scale, scale) + np.diag(penalty)), right / scale)
    found = np.where(still, 0.0, found / scale)
    return found[:-1], float(found[-1])
