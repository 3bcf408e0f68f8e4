"""How well learned dynamics meet captured ones (Pons-Moll 2015, 6.1), in terms of coefficients.

Components are orthonormal, so the root mean square error of a frame's vertices is exact from its
coefficients and from what lies outside of them: e² = (‖δ − δ̂‖² + r²) / V. The static model has
δ̂ = 0, the oracle δ̂ = δ.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, NumpyArray


@dataclass(frozen=True)
class CodedTruth:
    """A take as coefficients, with what they leave out."""

    subject: str
    """Whose."""
    sequence: str
    """What they do."""
    deltas: Float64[NumpyArray, "N D"]
    """True coefficients, metres of an orthonormal basis."""
    outside: Float64[NumpyArray, "N"]
    """r²: squared length of a frame's dynamics outside of the basis, m²."""


@dataclass(frozen=True)
class Errors:
    """Mean over frames of the root mean square over vertices, metres."""

    static: float
    """Without dynamics."""
    oracle: float
    """With the true coefficients."""
    model: float
    """With the predicted ones."""

    @property
    def closed(self) -> float:
        """Share of the way from static to oracle that the model goes; below 0 it is worse than
        static."""
        return (self.static - self.model) / max(self.static - self.oracle, 1e-12)


def frame_errors(
    truth: CodedTruth, predicted: Float64[NumpyArray, "N D"], vertex_count: int
) -> Float64[NumpyArray, "3 N"]:
    """Static, oracle and model error of every frame, metres."""
    inside = np.sum(truth.deltas**2, axis=1)
    off = np.sum((truth.deltas - predicted) ** 2, axis=1)
    rest = np.maximum(truth.outside, 0.0)
    return np.sqrt(np.stack([inside + rest, rest, off + rest]) / vertex_count)


def mean_errors(rows: list[Float64[NumpyArray, "3 n"]]) -> Errors:
    """Over all frames of some takes."""
    static, oracle, model = np.concatenate(rows, axis=1).mean(axis=1)
    return Errors(float(static), float(oracle), float(model))


@dataclass(frozen=True)
class SignalMatch:
    """How alike two signals are."""

    correlation: float
    """Of the two, −1 to 1."""
    amplitude: float
    """Standard deviation of the predicted over that of the true one."""
    lag: int
    """Frames by which the predicted one is late, at the best correlation."""


def signal_match(
    true: Float64[NumpyArray, "N"], predicted: Float64[NumpyArray, "N"], most_lag: int = 6
) -> SignalMatch:
    """Compare two signals of the same frames."""
    deviation = max(float(np.std(true)), 1e-12)
    lags = range(-most_lag, most_lag + 1)
    scores = [_correlation(true, predicted, lag) for lag in lags]
    return SignalMatch(
        _correlation(true, predicted, 0),
        float(np.std(predicted)) / deviation,
        lags[int(np.argmax(scores))],
    )


def _correlation(true: NumpyArray, predicted: NumpyArray, lag: int) -> float:
    """Of true_k and predicted_{k + lag}."""
    count = len(true) - abs(lag)
    one = true[:count] if lag >= 0 else true[-lag:]
    two = predicted[lag:] if lag >= 0 else predicted[:count]
    one, two = one - one.mean(), two - two.mean()
    size = np.sqrt(np.sum(one**2) * np.sum(two**2))
    return float(np.sum(one * two) / size) if size > 0 else 0.0
