"""Flags of the deformers' controls: one a row of their tables."""

from dataclasses import field, fields, make_dataclass
from typing import TYPE_CHECKING, Annotated, Any, Literal

import tyro

from corporeal.body.parameter import Parameter
from corporeal.physics.fast_projective_skinning.settings import COLLISIONS
from corporeal.pipelines.controls import all_controls

SWITCHES = {
    "sliding": ("no-sliding", 0.0),
    "dynamics": ("static", 0.0),
    "ground": ("ground", 1.0),
    "loop": ("loop", 1.0),
}
"""Controls that are on or off: the flag that changes their default, and the value it sets."""
WORDS: dict[str, tuple[str, ...]] = {"collisions": COLLISIONS}
"""Controls whose numbers have names, from 0 on."""


def _field(row: Parameter) -> tuple[str, Any, Any]:
    if row.name in SWITCHES:
        argument = tyro.conf.arg(name=SWITCHES[row.name][0], help=row.meaning)
        return row.name, Annotated[bool, argument], field(default=False)
    if row.name in WORDS:
        argument = tyro.conf.arg(help=row.meaning)
        return row.name, Annotated[Literal[WORDS[row.name]] | None, argument], field(default=None)
    unit = f" {row.unit}" if row.unit else ""
    bounds = f"{row.low:g} to {row.high:g}{unit}, else {row.default:g}"
    argument = tyro.conf.arg(
        name=row.name.replace("_", "-"),
        help=f"{row.meaning}; {bounds}",
        help_behavior_hint="",
        metavar="X",
    )
    return row.name, Annotated[float | None, argument], field(default=None)


if TYPE_CHECKING:

    class ControlFlags:
        """Any control of any deformer."""

        def __init__(self, **controls: Any) -> None: ...

else:
    ControlFlags = make_dataclass("ControlFlags", map(_field, all_controls()), frozen=True)


def given_controls(flags: ControlFlags) -> dict[str, float]:
    """What the user set, as numbers by the control's name."""
    values: dict[str, float] = {}
    for entry in fields(flags):  # pyright: ignore[reportArgumentType]
        value = getattr(flags, entry.name)
        if entry.name in SWITCHES:
            if value:
                values[entry.name] = SWITCHES[entry.name][1]
        elif value is not None:
            words = WORDS.get(entry.name, ())
            values[entry.name] = float(words.index(value)) if words else value
    return values


def flags_of(controls: dict[str, float]) -> ControlFlags:
    """The flags that give these controls."""
    flags: dict[str, Any] = {}
    for name, value in controls.items():
        if name in SWITCHES:
            flags[name] = value == SWITCHES[name][1]
        else:
            flags[name] = WORDS[name][round(value)] if name in WORDS else value
    return ControlFlags(**flags)
