"""What a deformer can be told: a frozen dataclass of typed fields, with unit, range and help.

    @dataclass(frozen=True, kw_only=True)
    class BulgeControls(Controls):
        height: float = control(0.01, low=0.0, high=0.1, unit="m", help="how far the skin rises")
        breathing: bool = control(True, help="it rises and falls", off="it stays")

The fields are the only source of the deformer's flags, sliders, checks, JSON and documentation.
"""

import math
from collections.abc import Mapping
from dataclasses import Field, dataclass, field, fields, replace
from functools import cache
from typing import Any, Literal, TypeAlias, TypeVar, cast, get_args, get_origin, get_type_hints

import numpy as np

from corporeal.errors import InputError

ControlValue: TypeAlias = float | int | bool | str
"""A plain value, as JSON holds it: a number, a count, a switch, or a word."""
Kind: TypeAlias = Literal["number", "count", "switch", "choice"]

C = TypeVar("C", bound="Controls")
_KEY = "corporeal control"
_KINDS: dict[Any, Kind] = {float: "number", int: "count", bool: "switch"}


@dataclass(frozen=True)
class _Declared:
    """What `control` keeps in a field's metadata."""

    help: str
    unit: str
    low: float
    high: float
    slider: tuple[float, float] | None
    logarithmic: bool
    off: str
    off_flag: str
    choices: Mapping[str, str]
    advanced: bool
    live: bool


def control(
    default: Any,
    *,
    help: str,
    unit: str = "",
    low: float = 0.0,
    high: float = 0.0,
    slider: tuple[float, float] | None = None,
    logarithmic: bool = False,
    off: str = "",
    off_flag: str = "",
    choices: Mapping[str, str] | None = None,
    advanced: bool = False,
    live: bool = True,
) -> Any:
    """A field of `Controls`: its default, and what people are told about it.

    `help` is one clause without a full stop. Numbers (`float`, `int`) have a range, both ends
    included, in `unit`; `slider` is the part of it that a slider shows, `logarithmic` how. Switches
    (`bool`) say in `off` what it means to be off, and may name the flag that switches them off
    (`no-NAME` unless given). Choices (`Literal` of words) say in `choices` what each word means.
    `advanced` ones come last; those that are not `live` are for whole clips, and have no slider.
    """
    declared = _Declared(
        help, unit, low, high, slider, logarithmic, off, off_flag, choices or {}, advanced, live
    )
    return field(default=default, metadata={_KEY: declared})


def inherited_control(parent: "type[Controls]", name: str, **changes: Any) -> Any:
    """The control `name` of `parent` for a subclass, with some of it told anew.

    `changes` are arguments of `control` and its default; everything else is the parent's.
    """
    entry = next(entry for entry in fields(parent) if entry.name == name)
    default = changes.pop("default", entry.default)
    return field(default=default, metadata={_KEY: replace(entry.metadata[_KEY], **changes)})


@dataclass(frozen=True)
class Control:
    """One control, as read from its field."""

    name: str
    """Of the field, as JSON has it."""
    kind: Kind
    """`number`, `count`, `switch` or `choice`."""
    default: ControlValue
    """Value unless given, in `unit`."""
    help: str
    """What it is; of a switch, what it does when on."""
    unit: str
    """Unit of a number; empty where there is none."""
    low: float
    """Smallest number, included, in `unit`."""
    high: float
    """Largest number, included, in `unit`."""
    slider: tuple[float, float]
    """Range of a slider, in `unit`."""
    logarithmic: bool
    """Whether a slider goes by ratios."""
    off: str
    """What a switch does when off."""
    off_flag: str
    """Name of the flag that switches it off, without dashes."""
    choices: Mapping[str, str]
    """The words of a choice, and what they mean."""
    advanced: bool
    """Whether it comes last, for those who know it."""
    live: bool
    """Whether it may change while a body moves; else it is for whole clips."""

    @property
    def flag(self) -> str:
        """Its name on the command line, without the two dashes."""
        return self.name.replace("_", "-")

    @property
    def range_text(self) -> str:
        """Values that it takes, in words; empty for a switch."""
        if self.kind == "switch":
            return ""
        if self.kind == "choice":
            return ", ".join(self.choices)
        unit = f" {self.unit}" if self.unit else ""
        return f"{self.low:g} to {self.high:g}{unit}"

    @property
    def default_text(self) -> str:
        """Its default, in words."""
        if self.kind == "switch":
            return self.help if self.default else self.off
        return self.default if isinstance(self.default, str) else f"{self.default:g}"

    def read(self, value: Any) -> ControlValue:
        """The plain value of what came; raises `InputError` for another type, or out of range.

        NumPy numbers count as numbers. Switches and choices also come as numbers, which is how
        manifests and sessions up to version 0.1 hold them: 0 and 1; 0, 1, … in the words' order.
        """
        if isinstance(value, str):
            return self._word(value)
        if isinstance(value, np.ndarray | np.generic) and value.size == 1:
            value = value.reshape(()).item()
        if not isinstance(value, bool | int | float):
            raise self._refused(value)
        number = float(value)
        if self.kind == "switch":
            if number not in (0.0, 1.0):
                raise self._refused(value)
            return bool(number)
        if isinstance(value, bool):
            raise self._refused(value)
        if self.kind == "choice":
            words = tuple(self.choices)
            if number not in range(len(words)):
                raise self._refused(value)
            return words[int(number)]
        if not self.low <= number <= self.high or (self.kind == "count" and number % 1):
            raise self._refused(value)
        return int(number) if self.kind == "count" else number

    def _word(self, value: str) -> str:
        if self.kind != "choice" or value not in self.choices:
            raise self._refused(value)
        return value

    def _refused(self, value: Any) -> InputError:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        expected = {
            "number": self.range_text if is_number else f"one number, {self.range_text}",
            "count": f"a whole number, {self.range_text}",
            "switch": "on or off (true or false)",
            "choice": f"one of {self.range_text}",
        }[self.kind]
        came = f"{value:g} {self.unit}".rstrip() if is_number else repr(value)[:60]
        return InputError(f"control {self.name} is {came}; expected {expected} ({self.help}).")


@dataclass(frozen=True, kw_only=True)
class Controls:
    """All that a deformer is told, checked; this one, without fields, is that of deformers that
    are told nothing. Subclasses are frozen dataclasses whose fields are made by `control`."""

    def __post_init__(self) -> None:
        for row in self.table():
            object.__setattr__(self, row.name, row.read(getattr(self, row.name)))

    @classmethod
    def table(cls) -> tuple[Control, ...]:
        """Every control, in the order of the fields; raises `TypeError` for a field that is none
        of float, int, bool and `Literal` words, or was not made by `control`."""
        return _table(cls)

    @classmethod
    def from_mapping(cls: type[C], values: Mapping[str, Any], deformer: str = "") -> C:
        """Controls of plain values by name; what is not named keeps its default.

        Takes what manifests, sessions and scripts hold: see `Control.read`. `deformer` is whose
        they are, for the errors.
        """
        known = {row.name: row for row in cls.table()}
        if unknown := [name for name in values if name not in known]:
            has = f"it has {', '.join(known)}" if known else "it has none"
            raise InputError(
                f"deformer {deformer!r} has no control {', '.join(map(repr, unknown))}; {has}. "
                f"Leave it out, or choose a deformer that has it."
            )
        return cls(**{name: known[name].read(value) for name, value in values.items()})

    def changed(self) -> dict[str, ControlValue]:
        """Values that are not the defaults, by name: what a file need keep."""
        values = {row.name: getattr(self, row.name) for row in self.table()}
        return {
            row.name: values[row.name] for row in self.table() if values[row.name] != row.default
        }


GivenControls: TypeAlias = Controls | Mapping[str, Any] | None
"""What `animate` takes: controls, plain values by name, or None for all defaults."""


@cache
def _table(cls: type[Controls]) -> tuple[Control, ...]:
    hints = get_type_hints(cls)
    return tuple(_row(cls, entry, hints[entry.name]) for entry in fields(cls) if entry.init)


def _row(cls: type, entry: Field[Any], hint: Any) -> Control:
    declared = entry.metadata.get(_KEY)
    kind = "choice" if get_origin(hint) is Literal else _KINDS.get(hint)
    where = f"field {entry.name!r} of {cls.__name__}"
    if not isinstance(declared, _Declared) or kind is None:
        raise TypeError(
            f"{where} is no control; expected float, int, bool or Literal words, made by control()."
        )
    if kind == "choice" and tuple(declared.choices) != get_args(hint):
        raise TypeError(
            f"{where} explains the words {tuple(declared.choices)}; expected {get_args(hint)}."
        )
    if kind in ("number", "count") and not -math.inf < declared.low < declared.high < math.inf:
        raise TypeError(f"{where} is a number; say its range, finite, by `low` and `high`.")
    if kind == "switch" and not declared.off:
        raise TypeError(f"{where} is a switch; say in `off` what it means to be off.")
    row = Control(
        name=entry.name,
        kind=kind,
        default=cast(ControlValue, entry.default),
        help=declared.help,
        unit=declared.unit,
        low=declared.low,
        high=declared.high,
        slider=declared.slider or (declared.low, declared.high),
        logarithmic=declared.logarithmic,
        off=declared.off,
        off_flag=declared.off_flag or f"no-{entry.name.replace('_', '-')}",
        choices=dict(declared.choices),
        advanced=declared.advanced,
        live=declared.live,
    )
    row.read(row.default)
    return row
