"""From many people's predictors to the one of a body: the mixture over body mass (eq. 21, 22).

Every g_j is linear in the control vector and in the shared history, so their mixture is one
autoregression again, with mixed parameters; all of them lie in the stationarity triangle, and so
does the mixture.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.body.dynamics import Predictors
from corporeal.dynamics.autoregression import Fitted
from corporeal.dynamics.equations import mixture_weights
from corporeal.dynamics.stationarity import gain

GENDER_WIDTH = 0.05
"""Kernel width of the mixture over gender, where 0 is female and 1 male."""
REACH = 4.0
"""kg/m² beyond the training's people up to which swings still grow or shrink."""


def predictor_for(
    predictors: Predictors, index: float, tau: float | None = None, gender: float | None = None
) -> Fitted:
    """The autoregression of a body of this body mass index, kg/m²; float64.

    Where the `gender` (0 female to 1 male) of the body and of the training people is known, those
    of the other have next to no share: the paper trains women and men apart.
    """
    alpha, sizes = people_shares(
        np.asarray(predictors.body_mass_indices, np.float64),
        None if predictors.genders is None else np.asarray(predictors.genders, np.float64),
        predictors.kernel_width if tau is None else tau,
        predictors.amplitude,
        index,
        gender,
    )
    scaled = alpha * sizes
    return Fitted(
        np.tensordot(scaled, np.asarray(predictors.inputs, np.float64), axes=1),
        np.tensordot(alpha, np.asarray(predictors.history, np.float64), axes=1),
        np.tensordot(scaled, np.asarray(predictors.constants, np.float64), axes=1),
    )


def people_shares(
    indices: Float64[NumpyArray, "n"],
    genders: Float64[NumpyArray, "n"] | None,
    tau: float,
    amplitude: float,
    index: float,
    gender: float | None,
) -> tuple[Float64[NumpyArray, "n"], Float64[NumpyArray, "n"]]:
    """α of every training person for a body of this index and gender, and how many times as large
    as the person's its swings are: e^{κ (a − a^j)}, within reach of the training."""
    alpha = mixture_weights(index, indices, tau)
    if gender is not None and genders is not None:
        apart = np.abs(genders - gender) / GENDER_WIDTH
        with np.errstate(divide="ignore"):
            share = np.log(alpha) - apart
        alpha = np.exp(share - share.max())
        alpha = alpha / alpha.sum()
    known = np.clip(index, indices.min() - REACH, indices.max() + REACH)
    return alpha, np.exp(amplitude * (known - indices))


def coefficient_bounds(predictors: Predictors, fitted: Fitted) -> np.ndarray:
    """Largest magnitude that every coefficient can ever reach, whatever the motion.

    |δ| ≤ (Σ_c |B_c| limit_c + |b|) Σ_k |h_k|, with h the impulse response of the history.
    """
    driven = np.abs(fitted.inputs) @ np.asarray(predictors.limits, np.float64)
    return (driven + np.abs(fitted.constants)) * gain(fitted.history)
