"""Curves over time that authored motions are made of."""

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.units import GRAVITY


def smooth_step(phase: Float[NumpyArray, "*batch"]) -> Float[NumpyArray, "*batch"]:
    """Minimum-jerk rise from 0 to 1 over phases 0 to 1, at rest at both ends; clamped outside.

    s(x) = 10 x³ − 15 x⁴ + 6 x⁵ (Flash and Hogan 1985).
    """
    x = np.clip(phase, 0.0, 1.0)
    return x**3 * (10.0 + x * (6.0 * x - 15.0))


def bump(phase: Float[NumpyArray, "*batch"]) -> Float[NumpyArray, "*batch"]:
    """Rise to 1 at phase ½ and back to 0, smooth to the second derivative: 64 x³ (1 − x)³."""
    x = np.clip(phase, 0.0, 1.0)
    return 64.0 * (x * (1.0 - x)) ** 3


def quintic(
    phase: Float[NumpyArray, "N"],
    duration: float,
    start: tuple[float, float, float],
    end: tuple[float, float, float],
) -> Float[NumpyArray, "N"]:
    """The quintic with given (position, velocity, acceleration) at phases 0 and 1."""
    (p0, v0, a0), (p1, v1, a1) = start, end
    v0, v1 = v0 * duration, v1 * duration
    a0, a1 = a0 * duration**2, a1 * duration**2
    rise, x = p1 - p0, phase
    c3 = 10 * rise - 6 * v0 - 4 * v1 - 1.5 * a0 + 0.5 * a1
    c4 = -15 * rise + 8 * v0 + 7 * v1 + 1.5 * a0 - a1
    c5 = 6 * rise - 3 * v0 - 3 * v1 - 0.5 * a0 + 0.5 * a1
    return p0 + x * (v0 + x * (a0 / 2 + x * (c3 + x * (c4 + x * c5))))


def ballistic(
    phase: Float[NumpyArray, "N"], duration: float, start: float, end: float
) -> Float[NumpyArray, "N"]:
    """Height in free flight from `start` to `end` metres, lasting `duration` seconds."""
    time = phase * duration
    return start + takeoff_speed(duration, start, end) * time - 0.5 * GRAVITY * time**2


def takeoff_speed(duration: float, start: float, end: float) -> float:
    """Upward speed, m/s, that lets a flight from `start` to `end` last `duration` seconds."""
    return (end - start) / duration + 0.5 * GRAVITY * duration


def sway(
    time: Float[NumpyArray, "N"], generator: np.random.Generator, slowest: float = 0.3
) -> Float[NumpyArray, "N"]:
    """A slow aimless curve with root mean square about 1: three incommensurate sines.

    `slowest` is the lowest frequency, Hz. No two periods of a motion are then quite the same.
    """
    frequencies = slowest * np.array([1.0, 1.618, 2.718])
    phases = generator.uniform(0.0, 2 * np.pi, 3)
    amplitudes = np.array([1.0, 0.6, 0.4])
    waves = np.sin(2 * np.pi * frequencies * time[:, None] + phases) @ amplitudes
    return waves / np.sqrt(0.5 * np.sum(amplitudes**2))
