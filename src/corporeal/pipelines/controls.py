"""The deformers' controls, by name: what a flag or a config may set."""

from collections.abc import Mapping
from functools import cache

import numpy as np

from corporeal.body.parameter import Parameter
from corporeal.errors import InputError
from corporeal.pipelines.deformers import DEFORMERS, deformer_class


@cache
def control_tables() -> dict[str, tuple[Parameter, ...]]:
    """Every deformer's table of controls."""
    return {name: deformer_class(name).controls for name in DEFORMERS}


def all_controls() -> tuple[Parameter, ...]:
    """Every control of any deformer once, in the order of the tables."""
    known: dict[str, Parameter] = {}
    for table in control_tables().values():
        for row in table:
            known.setdefault(row.name, row)
    return tuple(known.values())


def require_controls(deformer: str, controls: Mapping[str, float]) -> None:
    """Refuse controls that the deformer does not have, with the list of those it has."""
    table = {row.name: row for row in deformer_class(deformer).controls}
    if unknown := sorted(set(controls) - set(table)):
        has = f"it has {', '.join(table)}" if table else "it has none"
        others = [name for name, rows in control_tables().items() if unknown[0] in _names(rows)]
        use = f" Use --deformer {others[0]}." if others else ""
        raise InputError(f"deformer {deformer!r} has no control {', '.join(unknown)}; {has}.{use}")
    for name, value in controls.items():
        row = table[name]
        if not row.low <= value <= row.high:
            unit = f" {row.unit}" if row.unit else ""
            raise InputError(
                f"control {name} is {value:g}{unit}; expected {row.low:g} to {row.high:g}{unit} "
                f"({row.meaning})."
            )


def as_arrays(controls: Mapping[str, float]) -> dict[str, np.ndarray]:
    """Controls as deformers take them."""
    return {name: np.asarray(value, np.float64) for name, value in controls.items()}


def _names(rows: tuple[Parameter, ...]) -> set[str]:
    return {row.name for row in rows}
