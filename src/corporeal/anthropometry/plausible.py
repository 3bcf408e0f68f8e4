"""Whether people have what was asked for: each value alone, and each beside the others.

A body's targets could be stretched to three metres; nobody is. A value is refused beyond `LIMIT`
standard deviations of its logarithm in the population: alone first, then given the other values
(mass 30 kg beside stature 1.75 m). Beside others the spread counts as at least `LEAST_SPREAD`,
since a surface's readings differ a little from a survey's.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from corporeal.anthropometry.asked import unit_hint
from corporeal.anthropometry.definitions import NAMES, dimension
from corporeal.anthropometry.population import Population

LIMIT: Final = 6.0
"""Standard deviations: women of 1.29 to 2.07 m, men of 1.39 to 2.22 m."""
LEAST_SPREAD: Final = 0.03
"""Share of a dimension."""


@dataclass(frozen=True)
class Refusal:
    """A value that people do not have."""

    name: str
    """Full name of the dimension."""
    value: float
    """What was asked for, metres or kilograms."""
    low: float
    """Smallest value that is accepted, metres or kilograms."""
    high: float
    """Largest value that is accepted, metres or kilograms."""
    beside: tuple[str, ...] = ()
    """What else was given, if the value alone is possible."""

    def __str__(self) -> str:
        unit = dimension(self.name).unit
        beside = f" beside {', '.join(self.beside)}" if self.beside else ""
        who = "such people" if self.beside else "people of this gender"
        return (
            f"{self.name} {self.value:g} {unit} is out of range{beside}: {who} have "
            f"{self.low:.3g} to {self.high:.3g} {unit}."
            f"{unit_hint(self.name, self.value, self.low, self.high)}"
        )


def refusals(
    asked: Mapping[str, float], crowd: Population
) -> tuple[list[Refusal], dict[str, float]]:
    """What is out of range, and the nearest values that are not."""
    values, found = dict(asked), []
    for name, value in asked.items():
        low, high = _range(name, {}, crowd)
        if not low <= value <= high:
            found.append(Refusal(name, value, low, high))
            values[name] = float(np.clip(value, low, high))
    for _ in asked:
        worst = max(values, key=lambda name: _excess(name, values, crowd))
        if _excess(worst, values, crowd) <= 0:
            break
        others = {name: value for name, value in values.items() if name != worst}
        low, high = _range(worst, others, crowd)
        if not found:
            beside = tuple(f"{n} {v:g} {dimension(n).unit}" for n, v in others.items())
            found.append(Refusal(worst, values[worst], low, high, beside))
        values[worst] = float(np.clip(values[worst], low, high))
    return found, values


def _excess(name: str, values: Mapping[str, float], crowd: Population) -> float:
    """How far, in log, a value lies outside its range beside the others; 0 or less if within."""
    others = {other: value for other, value in values.items() if other != name}
    low, high = _range(name, others, crowd)
    rounding = 1e-9
    return float(max(np.log(values[name] / high), np.log(low / values[name])) - rounding)


def _range(name: str, others: Mapping[str, float], crowd: Population) -> tuple[float, float]:
    """Least and greatest value of a dimension beside others."""
    index = NAMES.index(name)
    mean, spread = crowd.mean[index], np.sqrt(crowd.covariance[index, index])
    if others:
        given = np.zeros(len(crowd.mean), bool)
        given[[NAMES.index(other) for other in others]] = True
        ordered = [np.log(others[NAMES[i]]) for i in np.flatnonzero(given)]
        means, covariance = crowd.conditional(given, np.array(ordered))
        place = index - int(given[:index].sum())
        mean, spread = means[place], max(np.sqrt(covariance[place, place]), LEAST_SPREAD)
    return float(np.exp(mean - LIMIT * spread)), float(np.exp(mean + LIMIT * spread))
