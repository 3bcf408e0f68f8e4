"""How fast a swing dies down: from a damping ratio to a step rule, and back.

====== ============================================= =====================================
ω      undamped angular frequency of an oscillator   2π `frequency`
d, β   Rayleigh damping: drag 1/s, viscosity s       `StepRule.damping`, `.viscosity`
ζ      ratio of the decay rate to |s|, s below       `ratio`
w      what one step back multiplies a swing by      `_step_back`
====== ============================================= =====================================

In continuous time ζ = d/2ω + βω/2: least at ω₀ = √(d/β), and (√10 + 1/√10)/2 = 1.74 times that at
both ends of a decade around it. Steps change it. With D(w) = 1 − w for implicit Euler and
3/2 − 2w + w²/2 for BDF2, a swing x_n = w⁻ⁿ goes through the steps of `integration` where

    D² + h d D + h β ω² (1 − w) + h² ω² = 0,

and moves as e^{st} with s = −ln(w)/h; its ratio is −Re s/|s|. Undamped, BDF2 has (ωh)³/4 + …
"""

import math
from typing import Literal

import numpy as np
from numpy.polynomial import Polynomial

from corporeal.errors import InputError
from corporeal.physics.solver.integration import StepRule

BAND = (1.0, 10.0)
"""Hz: where flesh swings, and where its damping ratio is what was asked for, up to twice that."""
_LEAST = 1.03
"""Rayleigh's least ratio over the one asked for: steps of 1/120 s take up to 1 % of it."""


def rayleigh_coefficients(ratio: float) -> tuple[float, float]:
    """Drag d in 1/s and viscosity β in s, with which flesh has at least the damping `ratio` between
    1 and 10 Hz, and less than twice that in steps of at most 1/120 s if it is 0.05 to 0.4.

    The least is in the middle of the band: d = 1.03 ζ ω₀ and β = 1.03 ζ/ω₀, ω₀ = 2π √10 Hz.
    """
    if not (math.isfinite(ratio) and ratio >= 0.0):
        raise InputError(f"damping ratio is {ratio}; expected a finite number from 0.")
    middle = 2.0 * math.pi * math.sqrt(BAND[0] * BAND[1])
    return _LEAST * ratio * middle, _LEAST * ratio / middle


def damped_rule(
    step: float,
    iterations: int,
    ratio: float,
    integrator: Literal["bdf2", "implicit-euler", "static"] = "bdf2",
) -> StepRule:
    """The rule whose swings have a damping `ratio`; `step` in seconds."""
    drag, viscosity = rayleigh_coefficients(ratio)
    return StepRule(step, iterations, drag, integrator, viscosity)


def slowest_decay(ratio: float) -> float:
    """The rate at which a swing at the lower end of the band dies down, 1/s: (d + β ω²)/2."""
    drag, viscosity = rayleigh_coefficients(ratio)
    return 0.5 * (drag + viscosity * (2.0 * math.pi * BAND[0]) ** 2)


def swing_ratio(frequency: float, rule: StepRule) -> float:
    """Damping ratio, the integrator's own included, of an oscillator whose undamped `frequency` is
    in Hz; from 1 on it does not swing."""
    rate = _rate(frequency, rule)
    return -rate.real / abs(rate)


def swing_frequency(frequency: float, rule: StepRule) -> float:
    """How often, in Hz, an oscillator of an undamped `frequency` (Hz) swings in steps."""
    return abs(_rate(frequency, rule).imag) / (2.0 * math.pi)


def _rate(frequency: float, rule: StepRule) -> complex:
    """s of the movement e^{st} that dies down last, 1/s."""
    return -complex(np.log(_step_back(frequency, rule) + 0j)) / rule.step


def _step_back(frequency: float, rule: StepRule) -> complex:
    """The least root w of the characteristic polynomial."""
    if not rule.moving:
        raise InputError("a static rule came, which has no swings; give one with momentum.")
    h, omega = rule.step, 2.0 * math.pi * frequency
    euler = Polynomial([1.0, -1.0])
    change = Polynomial([1.5, -2.0, 0.5]) if rule.integrator == "bdf2" else euler
    drag, viscosity = h * rule.damping, h * rule.viscosity * omega**2
    roots = (change**2 + drag * change + viscosity * euler + (h * omega) ** 2).roots()
    return complex(roots[np.argmin(np.abs(roots))])
