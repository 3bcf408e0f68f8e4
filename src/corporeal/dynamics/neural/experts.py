"""Linear predictors within the network: those of DMPL, one a training person, as oscillators.

Pons-Moll 2015, eq. 20, δ_k = B u_k + a₁ δ_{k−1} + a₂ δ_{k−2} with the poles p, p̄ is one damped
oscillator a coefficient,

    x_k = p x_{k−1} + q B u_k,    δ_k = Re(c x_k),    c = 2 A / q,  A = p / (p − p̄),

exactly so at the rate of its training, and with p = e^{−(α − iω)h}, q = α (1 − p)/(α − iω)
(`recurrence`) at any other. α > 0 for every stable predictor: bounded movement gives bounded
coefficients, and stillness none; movement beyond the limits of the training counts as they do. A
body's coefficients are the mean of all people's with shares by body mass and gender (eq. 21). Flesh
that is s² times as stiff as a person's swings s times as fast and gives way s² times less; damping
turns α.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.dynamics import Predictors
from corporeal.dynamics.neural.features import MOVEMENT_SIZE
from corporeal.dynamics.neural.recurrence import Poles, poles
from corporeal.dynamics.stationarity import poles as roots_of
from corporeal.errors import InputError
from corporeal.runtime.arrays import namespace_of

TISSUE: Final = (10, 12)
"""Places of the logarithms of stiffness and of the damping ratio among a person's numbers."""
_APART: Final = 0.02
"""Radians a frame by which a double pole on the real axis is opened."""
_NO_POLE: Final = 1e-6


def layout(oscillators: int, count: int) -> dict[str, tuple[int, ...]]:
    """Shapes of all arrays, by name, for `count` coefficients."""
    if count < 1 or oscillators % count:
        raise InputError(
            f"linear predictors of a neural model have {oscillators} oscillators for {count} "
            f"coefficients; expected as many for every person."
        )
    rows = ("decay", "frequency", "read_re", "read_im", "skip")
    return {
        "expert_in": (MOVEMENT_SIZE, oscillators),
        "expert_limits": (MOVEMENT_SIZE,),
        **{f"expert_{name}": (oscillators,) for name in rows},
        "expert_tissue": (2, oscillators),
        "expert_tissue_scale": (2,),
        "expert_share": (count,),
    }


def expert_parameters(
    predictors: Predictors,
    tissue: Float[NumpyArray, "n 2"],
    tissue_scale: Float[NumpyArray, "2"],
    share: Float[NumpyArray, "D"],
) -> dict[str, NumpyArray]:
    """Arrays of the network from predictors that movement drives (`features.movement`).

    `tissue` are every person's own standardised stiffness and damping, `tissue_scale` what they
    were divided by, `share` the experts' part in every coefficient.
    """
    people, order, count = predictors.history.shape
    history = np.zeros((2, people * count))
    history[:order] = np.moveaxis(np.asarray(predictors.history), 1, 0).reshape(order, -1)
    pole = roots_of(history)[:, 0] if order else np.zeros(people * count, complex)
    other = roots_of(history)[:, 1] if order else pole
    if np.any((np.abs(np.imag(pole)) < 1e-9) & (np.abs(pole - other) > 1e-6)):
        raise InputError(
            "a linear predictor has two different poles on the real axis; expected swings, double "
            "poles or none: those that are fitted to run free (--fitting free-run)."
        )
    none = np.abs(pole) < _NO_POLE
    real = ~none & (np.abs(np.angle(pole)) < _APART)
    pole = np.where(real, np.abs(pole) * np.exp(1j * _APART), pole)
    pole = np.where(none, 0.5 * np.exp(0.5j), pole)
    pole = np.real(pole) + 1j * np.abs(np.imag(pole))
    alpha, omega = -predictors.fps * np.log(np.abs(pole)), predictors.fps * np.angle(pole)
    at_rate = poles(alpha, omega, 1.0 / predictors.fps)
    read = 2 * pole / (pole - np.conj(pole)) / (at_rate.take_re + 1j * at_rate.take_im)
    read[none] = 0.0
    made = {
        "expert_limits": np.asarray(predictors.limits),
        "expert_in": np.asarray(predictors.inputs).reshape(people * count, -1).T,
        "expert_decay": alpha,
        "expert_frequency": omega,
        "expert_read_re": read.real,
        "expert_read_im": read.imag,
        "expert_skip": none.astype(np.float64),
        "expert_tissue": np.repeat(np.asarray(tissue).T, count, axis=1),
        "expert_tissue_scale": np.asarray(tissue_scale),
        "expert_share": np.asarray(share),
    }
    return {name: np.ascontiguousarray(value, np.float32) for name, value in made.items()}


def expert_poles(
    parameters: Mapping[str, Any], person: Float[Array, "*n q"], seconds: float
) -> Poles:
    """The oscillators for a person's tissue and frames `seconds` apart."""
    xp = namespace_of(person)
    faster, damped = tissue_factors(parameters, person, xp)
    alpha = parameters["expert_decay"] * faster * damped
    return poles(alpha, parameters["expert_frequency"] * faster, seconds)


def tissue_factors(
    parameters: Mapping[str, Any], person: Float[Array, "*n q"], xp: Any
) -> tuple[Float[Array, "*n l"], Float[Array, "*n l"]]:
    """s and the factor of damping, of every oscillator."""
    own, scale = parameters["expert_tissue"], parameters["expert_tissue_scale"]
    stiffer = scale[0] * (person[..., TISSUE[0], None] - own[0])
    damped = scale[1] * (person[..., TISSUE[1], None] - own[1])
    return xp.exp(0.5 * stiffer), xp.exp(damped)


def expert_coefficients(
    parameters: Mapping[str, Any],
    movement: Float[Array, "*n m"],
    person: Float[Array, "*n q"],
    shares: Float[Array, "*n e"],
    bank: Poles,
    memory: Callable[[int, Poles, Any], Any],
) -> Float[Array, "*n d"]:
    """s ⊙ Σ_j α_j y_j; the state is that of `memory`'s last bank."""
    xp = namespace_of(movement)
    limits = parameters["expert_limits"]
    drive = xp.clip(movement, -limits, limits) @ parameters["expert_in"]
    x_re, x_im = memory(-1, bank, (drive, xp.zeros_like(drive)))
    faster, _ = tissue_factors(parameters, person, xp)
    y = parameters["expert_read_re"] * x_re - parameters["expert_read_im"] * x_im
    y = (y + parameters["expert_skip"] * drive) / (faster * faster)
    count = np.shape(parameters["expert_share"])[0]
    by_person = xp.reshape(y, (*y.shape[:-1], y.shape[-1] // count, count))
    return parameters["expert_share"] * xp.sum(shares[..., None] * by_person, axis=-2)
