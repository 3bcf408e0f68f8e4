"""Flags that come from tables: one a slider of the body model, one a measurement."""

from dataclasses import dataclass, field, fields, make_dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any

import tyro

from corporeal.anthropometry.definitions import DIMENSIONS, SHORT_NAMES
from corporeal.body.parameter import Parameter
from corporeal.models.phenotype.equations import PHENOTYPE_RULE


@dataclass(frozen=True)
class Flag:
    """A flag, and the name that the body model has for it."""

    name: str
    """On the command line, without its dashes."""
    full_name: str
    """Of the slider or measurement."""
    meaning: str
    """Help text."""
    metavar: str
    """What stands for the value in the help, with its unit."""


@cache
def slider_flags() -> tuple[Flag, ...]:
    """One a slider."""
    return tuple(
        Flag(p.name, p.name, f"{p.meaning}; {_range(p)}", "X")
        for p in (axis.parameter for axis in PHENOTYPE_RULE)
    )


@cache
def measurement_flags() -> tuple[Flag, ...]:
    """One a measurement: under the name people use, where no slider has it."""
    taken = {flag.name for flag in slider_flags()}
    short: dict[str, str] = {}
    for name, full in SHORT_NAMES.items():
        if name not in taken:
            short.setdefault(full, name)
    return tuple(
        Flag(short.get(d.name, d.name).replace("_", "-"), d.name, d.meaning, d.unit.upper())
        for d in DIMENSIONS
    )


def _range(parameter: Parameter) -> str:
    unit = f" {parameter.unit}" if parameter.unit else ""
    return f"{parameter.low:g} to {parameter.high:g}{unit}, else {parameter.default:g}"


def _fields(flags: tuple[Flag, ...], kind: type) -> list[tuple[str, Any, Any]]:
    """One optional dataclass field a flag."""
    return [(flag.full_name, _annotation(flag, kind), field(default=None)) for flag in flags]


def _annotation(flag: Flag, kind: Any) -> Any:
    argument = tyro.conf.arg(
        name=flag.name, help=flag.meaning, help_behavior_hint="", metavar=flag.metavar
    )
    return Annotated[kind | None, argument]


if TYPE_CHECKING:

    class PhenotypeFlags:
        """Any slider of `slider_flags`, as text, since a gender may be a word."""

        def __init__(self, **sliders: str) -> None: ...

    class MeasurementFlags:
        """Any measurement of `measurement_flags`, SI units."""

        def __init__(self, **measurements: float) -> None: ...

else:
    PhenotypeFlags = make_dataclass("PhenotypeFlags", _fields(slider_flags(), str), frozen=True)
    MeasurementFlags = make_dataclass(
        "MeasurementFlags", _fields(measurement_flags(), float), frozen=True
    )


def given(table: Any) -> dict[str, Any]:
    """What the user set, by the body model's names."""
    values = {f.name: getattr(table, f.name) for f in fields(table)}
    return {name: value for name, value in values.items() if value is not None}
