"""Local modifiers: one signed number for a pair of opposite targets.

`l-upperarm-fat` runs from −1 (target `…-decr` in full) over 0 to 1 (target `…-incr` in full). Where
the opposites are directions, the modifier is named after the positive one: `hip-trans-up`. A target
without an opposite is a modifier from 0 to 1 under its own name.
"""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Array, Float
from corporeal.body.parameter import Parameter
from corporeal.runtime.arrays import as_kind_of, namespace_of

OPPOSITES: Mapping[str, str] = {"decr": "incr", "down": "up", "in": "out", "backward": "forward"}


@dataclass(frozen=True)
class Modifier:
    """One signed slider."""

    parameter: Parameter
    """Name and range of the slider; 0 is no change."""
    positive: int
    """Index, among the local targets, of the target that positive values add."""
    negative: int | None
    """Index of the target that negative values add, if there is one."""


def modifiers(names: tuple[str, ...]) -> tuple[Modifier, ...]:
    """Pair up the local targets called `names`."""
    index = {name: i for i, name in enumerate(names)}
    negative_of = {}
    for name in names:
        stem, _, end = name.rpartition("-")
        opposite = f"{stem}-{OPPOSITES.get(end, '')}"
        if opposite in index:
            negative_of[opposite] = name
    negatives = set(negative_of.values())
    return tuple(
        _modifier(name, index, negative_of.get(name)) for name in names if name not in negatives
    )


def _modifier(name: str, index: Mapping[str, int], negative: str | None) -> Modifier:
    short = name.rpartition("/")[2]
    label = short.removesuffix("-incr") if negative else short
    low = -1.0 if negative else 0.0
    meaning = f"{low:g} {negative.rpartition('/')[2]} … 1 {short}" if negative else f"1: {short}"
    parameter = Parameter(label, low, 1.0, 0.0, meaning)
    return Modifier(parameter, index[name], index[negative] if negative else None)


def local_coefficients(
    macro: Float[Array, "*batch M"],
    table: tuple[Modifier, ...],
    count: int,
    changes: Mapping[str, Array | float],
) -> Float[Array, "*batch S"]:
    """Coefficients of macro and local targets side by side.

    A modifier m gives max(m, 0) to its positive and max(−m, 0) to its negative target.
    """
    by_name = {modifier.parameter.name: modifier for modifier in table}
    xp = namespace_of(macro, *changes.values())
    macro = xp.asarray(macro)
    columns: dict[int, Array] = {}
    for name, value in changes.items():
        modifier = by_name[name]
        number = as_kind_of(macro, value)
        zero = xp.zeros_like(number)
        columns[modifier.positive] = xp.maximum(number, zero)
        if modifier.negative is not None:
            columns[modifier.negative] = xp.maximum(-number, zero)
    shape = np.broadcast_shapes(macro.shape[:-1], *(column.shape for column in columns.values()))
    nothing = as_kind_of(macro, np.zeros(shape))
    local = [xp.broadcast_to(columns.get(i, nothing), shape) for i in range(count)]
    whole = [xp.broadcast_to(macro, (*shape, macro.shape[-1]))]
    return xp.concat([*whole, xp.stack(local, axis=-1)] if local else whole, axis=-1)
