"""Numbers as people type them: `mass=82` means 82.0."""

from typing import TypeAlias

Number: TypeAlias = float | int
"""A real number; whole ones may be written without a point."""


def as_float(value: Number | None) -> float | None:
    """A number as the pipelines take it; None stays None."""
    return None if value is None else float(value)
