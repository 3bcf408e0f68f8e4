"""Linear recurrent units: memory that cannot blow up.

Orvieto, Smith, Gu, Fernando, Gulcehre, Pascanu, De: Resurrecting Recurrent Neural Networks for Long
Sequences, ICML 2023. A bank of damped oscillators, each a complex number x that decays and turns,

    ẋ = −(α − i ω) x + u,     α > 0,

driven by the frame's input u, which is held until the next frame:

    x_t = p x_{t−1} + q u_t,  p = e^{−(α − i ω) h},  q = α (1 − p) / (α − i ω),

for frames h seconds apart: the same oscillators at any frame rate, which flesh has as well. Since
|p| < 1 whatever was learned, a bounded input gives a bounded state, and a constant one a state that
comes to rest. q is scaled so that an oscillator without frequency has a gain of 1.

Everything here is written in real and imaginary parts, for NumPy and JAX alike.
"""

from typing import NamedTuple

from corporeal._typing import Array, Float
from corporeal.runtime.arrays import namespace_of

SLOWEST, FASTEST = 0.8, 120.0
"""1/s: what training may choose α between."""
SETTLING = 4.5
"""1/s: no oscillator decays slower, whatever was learned, so that 2 s of stillness leave 0.01 % of
its swing, metres of it after poses that no body takes. Captured flesh falls by e within 0.11 to
0.25 s, by 4 to 9 1/s. What rang longer was noise."""


class Poles(NamedTuple):
    """Oscillators at one frame rate; each field has one entry an oscillator."""

    keep_re: Float[Array, "*n s"]
    """Re p."""
    keep_im: Float[Array, "*n s"]
    """Im p."""
    take_re: Float[Array, "*n s"]
    """Re q."""
    take_im: Float[Array, "*n s"]
    """Im q."""


def decay(raw: Float[Array, "*n s"]) -> Float[Array, "*n s"]:
    """α in 1/s from a number without bounds, between `SLOWEST` and `FASTEST`, geometrically; not
    below `SETTLING`."""
    xp = namespace_of(raw)
    share = 0.5 * (1.0 + xp.tanh(0.5 * raw))
    return xp.clip(SLOWEST * (FASTEST / SLOWEST) ** share, SETTLING, FASTEST)


def poles(alpha: Float[Array, "*n s"], omega: Float[Array, "*n s"], seconds: float) -> Poles:
    """p and q of oscillators that decay by `alpha` (1/s) and turn by `omega` (rad/s)."""
    xp = namespace_of(alpha, omega)
    size = xp.exp(-alpha * seconds)
    keep_re, keep_im = size * xp.cos(omega * seconds), size * xp.sin(omega * seconds)
    # α (1 − p) / (α − i ω) = α (1 − p) (α + i ω) / (α² + ω²)
    scale = alpha / (alpha * alpha + omega * omega)
    one_re, one_im = 1.0 - keep_re, -keep_im
    take_re = scale * (one_re * alpha - one_im * omega)
    take_im = scale * (one_re * omega + one_im * alpha)
    return Poles(keep_re, keep_im, take_re, take_im)


def advance(
    poles: Poles,
    state: tuple[Float[Array, "*n s"], Float[Array, "*n s"]],
    drive: tuple[Float[Array, "*n s"], Float[Array, "*n s"]],
) -> tuple[Float[Array, "*n s"], Float[Array, "*n s"]]:
    """x_t = p x_{t−1} + q u_t; real and imaginary parts in and out."""
    (x_re, x_im), (u_re, u_im) = state, taken(poles, drive)
    return (
        poles.keep_re * x_re - poles.keep_im * x_im + u_re,
        poles.keep_re * x_im + poles.keep_im * x_re + u_im,
    )


def taken(
    poles: Poles, drive: tuple[Float[Array, "*n s"], Float[Array, "*n s"]]
) -> tuple[Float[Array, "*n s"], Float[Array, "*n s"]]:
    """q u."""
    u_re, u_im = drive
    return (
        poles.take_re * u_re - poles.take_im * u_im,
        poles.take_re * u_im + poles.take_im * u_re,
    )


def at_rest(
    poles: Poles, drive: tuple[Float[Array, "*n s"], Float[Array, "*n s"]]
) -> tuple[Float[Array, "*n s"], Float[Array, "*n s"]]:
    """x = q u / (1 − p): where a constant input leads."""
    u_re, u_im = taken(poles, drive)
    one_re, one_im = 1.0 - poles.keep_re, -poles.keep_im
    size = one_re * one_re + one_im * one_im
    return (u_re * one_re + u_im * one_im) / size, (u_im * one_re - u_re * one_im) / size
