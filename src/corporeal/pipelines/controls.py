"""The controls of all deformers, by name: what a flag, a manifest or a session may set."""

from collections.abc import Mapping
from typing import Any

from corporeal.body.controls import Control, Controls, ControlValue
from corporeal.errors import InputError
from corporeal.pipelines.deformers import deformer_class, deformer_names, in_words


def control_tables() -> dict[str, tuple[Control, ...]]:
    """Every deformer's controls."""
    return {name: deformer_class(name).Controls.table() for name in deformer_names()}


def read_controls(deformer: str, values: Mapping[str, Any]) -> Controls:
    """The deformer's controls from plain values by name; raises `InputError` for those that it
    does not have, naming a deformer that has them, and for values out of range."""
    kind = deformer_class(deformer).Controls
    known = {row.name for row in kind.table()}
    if unknown := sorted(set(values) - known):
        has = f"it has {', '.join(row.name for row in kind.table())}" if known else "it has none"
        others = [name for name, rows in control_tables().items() if unknown[0] in _names(rows)]
        use = f" Use --deformer {in_words(others)}." if others else ""
        raise InputError(f"deformer {deformer!r} has no control {', '.join(unknown)}; {has}.{use}")
    return kind.from_mapping(values, deformer)


def plain_controls(deformer: str, values: Mapping[str, Any]) -> dict[str, ControlValue]:
    """The same values, checked, as JSON should hold them: numbers, true or false, words."""
    read = read_controls(deformer, values)
    return {name: getattr(read, name) for name in values}


def control_words(kind: type[Controls], values: Mapping[str, ControlValue]) -> list[str]:
    """Words on a command line that set these controls."""
    table = {row.name: row for row in kind.table()}
    words: list[str] = []
    for name, value in values.items():
        row = table[name]
        if row.kind == "switch":
            words.append(f"--{row.flag if value else row.off_flag}")
        else:
            words += [f"--{row.flag}", value if isinstance(value, str) else f"{value:.5g}"]
    return words


def _names(rows: tuple[Control, ...]) -> set[str]:
    return {row.name for row in rows}
