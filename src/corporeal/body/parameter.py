"""A knob: one row of the table that drives sliders, flags, defaults and tests."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A named number, or vector of numbers, that a model or deformer takes."""

    name: str
    low: float
    high: float
    default: float
    meaning: str
    unit: str = ""
    size: int = 1
