"""A knob: one row of the table that drives sliders, flags, defaults and tests."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Parameter:
    """A named number, or vector of numbers, that a model or deformer takes."""

    name: str
    """In tables, flags and files."""
    low: float
    """Smallest value, in `unit`."""
    high: float
    """Largest value, in `unit`."""
    default: float
    """Value unless given, in `unit`."""
    meaning: str
    """What it does, in words."""
    unit: str = ""
    """Unit of the numbers; empty where there is none."""
    size: int = 1
    """How many numbers; 1 for a single one."""
