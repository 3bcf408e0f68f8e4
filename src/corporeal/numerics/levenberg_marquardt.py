"""The loop of Levenberg and Marquardt, for one problem and for many side by side.

A damped step is tried; if the energy falls it is taken and damped less the next time, else it is
taken back and damped more (Marquardt 1963). What the unknowns are, how a step is found and when the
search ends, the caller knows: so bounds, manifolds, block elimination and compiled derivatives all
go through the same loop.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray

Here = TypeVar("Here")
Rows = tuple[NumpyArray, ...]
"""Arrays with a row a problem."""


@dataclass(frozen=True)
class Damping:
    """How λ of (H + λ diag H) δ = −g goes on; numbers, or arrays with one a problem."""

    first: float
    """λ of the first step."""
    after_gain: Callable[[Any], Any]
    """λ after a step that was taken."""
    after_refusal: Callable[[Any], Any]
    """λ after a step that was taken back."""


class Trial(NamedTuple):
    """What came of one step."""

    taken: bool
    """Whether the step lowered the energy, and was kept."""
    gain: float
    """Energy before less energy after."""
    length: float
    """Largest number of the step."""
    damping: float
    """λ of the next step."""


@dataclass(frozen=True)
class DampedDescent(Generic[Here]):
    """Where a search ended, and why."""

    here: Here
    """The best point."""
    energy: float
    """Its energy."""
    iterations: int
    """Steps tried."""
    status: str
    """In words."""


def descend_damped(
    start: tuple[Here, float],
    attempt: Callable[[Here, float], tuple[Here, float, float]],
    ended: Callable[[Trial], str],
    damping: Damping,
    iterations: int,
) -> DampedDescent[Here]:
    """Minimise from `start`, a point and its energy.

    `attempt(here, λ)` gives the point after one step, its energy, and the step's largest number;
    `ended` gives the reason to stop, empty while there is none.
    """
    (here, energy), strength = start, damping.first
    for count in range(1, iterations + 1):
        there, reached, length = attempt(here, strength)
        gain = energy - reached
        taken = bool(gain > 0)
        if taken:
            here, energy, strength = there, reached, damping.after_gain(strength)
        else:
            strength = damping.after_refusal(strength)
        status = ended(Trial(taken, gain, length, strength))
        if status:
            return DampedDescent(here, energy, count, status)
    return DampedDescent(here, energy, iterations, f"stopped after {iterations} iterations")


class Attempts(NamedTuple):
    """One step of every problem that still runs."""

    rows: Rows
    """Unknowns, and what else is known there."""
    energies: Float[NumpyArray, "a"]
    """Energy after each step."""
    lengths: Float[NumpyArray, "a"]
    """Largest number of each step."""
    promised: Float[NumpyArray, "a"] | None = None
    """Gain by the linear model, where the caller has it."""


class Trials(NamedTuple):
    """What came of one step of every problem that still runs."""

    attempts: Attempts
    """The steps themselves."""
    taken: Bool[NumpyArray, "a"]
    """Which of them lowered the energy, and were kept."""
    gains: Float[NumpyArray, "a"]
    """Energy before less energy after."""
    damping: Float[NumpyArray, "a"]
    """λ of the next steps."""


@dataclass(frozen=True)
class DampedDescents:
    """Where every search ended."""

    rows: Rows
    """Unknowns of every problem at its best point."""
    energies: Float[NumpyArray, "n"]
    """Energy there."""
    iterations: Int[NumpyArray, "n"]
    """Steps tried, by problem."""


def descend_damped_many(
    start: tuple[Rows, Float[NumpyArray, "n"]],
    attempt: Callable[[Rows, Int[NumpyArray, "a"], Float[NumpyArray, "a"]], Attempts],
    ended: Callable[[Trials], Bool[NumpyArray, "a"]],
    damping: Damping,
    iterations: int,
) -> DampedDescents:
    """Minimise every problem by itself, those that still run together.

    `attempt(rows, which, λ)` is given the rows of the problems `which` only; `ended` says which of
    them are done.
    """
    rows, energies = tuple(part.copy() for part in start[0]), start[1].copy()
    strengths, counts = np.full(len(energies), damping.first), np.zeros(len(energies), np.int64)
    active = np.arange(len(energies))
    for _ in range(iterations):
        if not len(active):
            break
        tried = attempt(tuple(part[active] for part in rows), active, strengths[active])
        gains = energies[active] - tried.energies
        better = gains > 0
        taken, refused = active[better], active[~better]
        for part, fresh in zip(rows, tried.rows, strict=True):
            part[taken] = fresh[better]
        energies[taken] = tried.energies[better]
        strengths[taken] = damping.after_gain(strengths[taken])
        strengths[refused] = damping.after_refusal(strengths[refused])
        counts[active] += 1
        active = active[~ended(Trials(tried, better, gains, strengths[active]))]
    return DampedDescents(rows, energies, counts)
