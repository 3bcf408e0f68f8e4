"""What was asked for: names made full, numbers checked, slips of units spotted."""

import math
from collections.abc import Mapping

from corporeal.anthropometry.definitions import DIMENSIONS, NAMES, Dimension, dimension, full_name
from corporeal.errors import InputError

_SLIPS = {
    "m": {1e-2: "centimetres", 1e-3: "millimetres", 0.0254: "inches", 0.3048: "feet"},
    "kg": {1e-3: "grams", 0.45359237: "pounds"},
}
"""Metres or kilograms a unit that people may have had in mind."""


def asked_dimensions(targets: Mapping[str, float]) -> dict[str, float]:
    """Targets by full name; raises `InputError` for unknown names and impossible numbers."""
    if not targets:
        raise InputError(f"no measurement was given; expected at least one of {', '.join(NAMES)}.")
    asked: dict[str, float] = {}
    for name, value in targets.items():
        full = full_name(name)
        if full in asked:
            raise InputError(f"{full} was given twice, the second time as {name!r}; give it once.")
        if not (math.isfinite(value) and value > 0):
            raise InputError(
                f"{name} is {value}; expected a finite number above 0, "
                f"{_unit_word(dimension(full))}."
            )
        asked[full] = float(value)
    return asked


def unit_hint(name: str, value: float, low: float, high: float) -> str:
    """A question such as " Did you mean 1.70 m (170 centimetres)?", or nothing."""
    unit = dimension(name).unit
    for factor, word in _SLIPS[unit].items():
        if low <= value * factor <= high:
            return f" Did you mean {value * factor:.3g} {unit} ({value:g} {word})?"
    return ""


def _unit_word(asked: Dimension) -> str:
    return {"m": "in metres", "kg": "in kilograms"}[asked.unit]


def tolerance(name: str) -> float:
    """How closely a given dimension must be met: 2 mm, 0.1 kg."""
    return 0.1 if DIMENSIONS[NAMES.index(name)].unit == "kg" else 2e-3
