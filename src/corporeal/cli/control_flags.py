"""Flags of the deformers' controls: made from the fields of their `Controls` alone."""

from collections.abc import Callable
from dataclasses import field, fields, make_dataclass
from typing import Annotated, Any, Literal, TypeAlias

import tyro

from corporeal.body.controls import Control, ControlValue
from corporeal.errors import InputError
from corporeal.pipelines.controls import control_tables
from corporeal.pipelines.deformers import deformer_class, deformer_names, is_ready

Flags: TypeAlias = Any
"""An instance of what `control_flags` makes."""

_OFF = "_off"
"""Ends the name of the field whose flag switches a control off."""


def control_flags(deformer: str | None = None, others: bool = True) -> type:
    """A dataclass with a flag for every control, none of them set.

    A flag is that of `deformer` where it has one. With `others`, those of all deformers follow, so
    that a flag that came for the wrong one can be told from a flag that does not exist; their help
    says whose they are, and what each deformer takes for a default.
    """
    tables = control_tables()
    rows: dict[str, dict[str, Control]] = {}
    for name in ([deformer] if deformer else []) + (list(tables) if others else []):
        for row in tables[name]:
            rows.setdefault(row.name, {})[name] = row
    entries = [
        entry
        for by_deformer in rows.values()
        for entry in _entries(by_deformer, whose=deformer is None)
    ]
    made = make_dataclass("ControlFlags", entries, frozen=True)
    made.__doc__ = _heading(deformer)
    return made


def given_controls(flags: Flags) -> dict[str, ControlValue]:
    """What the user set, by the controls' names."""
    values: dict[str, ControlValue] = {}
    for entry in fields(flags):
        value, name = getattr(flags, entry.name), entry.name.removesuffix(_OFF)
        if value is None or value is False:
            continue
        if name in values:
            raise InputError(f"control {name} was switched on and off; expected one of the two.")
        values[name] = value if entry.name == name else False
    return values


def deformer_help() -> str:
    """What the flag `--deformer` says."""
    listed = [
        f"{name} ({deformer_class(name).summary}{'' if is_ready(name) else '; needs --trained'})"
        for name in deformer_names()
    ]
    return f"How the skin follows the joints: {', '.join(listed)}."


def _heading(deformer: str | None) -> str:
    if deformer is None:
        return (
            "What a deformer is told. With --deformer NAME --help you see those of one deformer "
            "alone."
        )
    return f"What {deformer} is told: {deformer_class(deformer).summary}."


def _entries(rows: dict[str, Control], whose: bool) -> list[tuple[str, Any, Any]]:
    """The fields of one control, which may belong to several deformers."""
    row = next(iter(rows.values()))
    if row.kind == "switch":
        on = _report(rows, lambda r: (r.help, _mark(r.default)), whose)
        off = _report(rows, lambda r: (r.off, _mark(not r.default)), whose)
        return [
            (row.name, _annotation(bool, row.flag, *on), field(default=False)),
            (row.name + _OFF, _annotation(bool, row.off_flag, *off), field(default=False)),
        ]
    text, hint = _report(rows, lambda r: (_with_range(r), f"(default: {r.default_text})"), whose)
    kind: Any = {"number": float, "count": int}.get(row.kind)
    metavar = {"number": "X", "count": "N"}.get(row.kind, "{" + ",".join(row.choices) + "}")
    if kind is None:
        kind = Literal[tuple(row.choices)]
    return [
        (row.name, _annotation(kind | None, row.flag, text, hint, metavar), field(default=None))
    ]


def _annotation(kind: Any, flag: str, text: str, hint: str, metavar: str | None = None) -> Any:
    argument = tyro.conf.arg(name=flag, help=text, help_behavior_hint=hint, metavar=metavar)
    return Annotated[kind, argument]


def _report(
    rows: dict[str, Control], say: Callable[[Control], tuple[str, str]], whose: bool
) -> tuple[str, str]:
    """Help and hint of a flag: the first deformer's, or with `whose` all deformers', by name, what
    they agree on once."""
    said = {name: say(row) for name, row in rows.items()}
    if not whose:
        return next(iter(said.values()))
    hints = _grouped({name: hint for name, (_, hint) in said.items()})
    hint = next(iter(hints)) if len(hints) == 1 else _listed(hints, " ")
    texts = _grouped({name: text for name, (text, _) in said.items()})
    return _listed(texts, ": "), hint


def _grouped(said: dict[str, str]) -> dict[str, list[str]]:
    """Who says each of some texts."""
    groups: dict[str, list[str]] = {}
    for name, text in said.items():
        groups.setdefault(text, []).append(name)
    return groups


def _listed(groups: dict[str, list[str]], between: str) -> str:
    return "; ".join(f"{', '.join(names)}{between}{text}" for text, names in groups.items() if text)


def _mark(is_default: ControlValue) -> str:
    return "(default)" if is_default else ""


def _with_range(row: Control) -> str:
    if row.kind == "choice":
        return f"{row.help}: {', '.join(f'{word} ({what})' for word, what in row.choices.items())}"
    return f"{row.help}; {row.range_text}"
