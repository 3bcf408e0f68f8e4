"""Units and axes of BVH files: nothing in a file says them."""

from collections.abc import Mapping
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.errors import InputError

UNITS: Final[Mapping[str, float]] = {
    "m": 1.0,
    "cm": 0.01,
    "mm": 0.001,
    "in": 0.0254,
    "cmu": 0.0254 / 0.45,
}
"""Metres a file unit. `cmu` is the unit of the Carnegie Mellon captures, an inch over 0.45."""

_LONGEST_CHAIN_M: Final = 1.15
"""Bones from a person's hips to the farthest finger or toe tip, laid end to end."""
_DOUBT: Final = 1.45
"""A unit is guessed if it brings that chain within this factor; two units are ≥ 1.48² apart."""

_SIGNED_AXES: Final = {
    f"{sign}{axis}": value * np.eye(3)[index]
    for index, axis in enumerate("xyz")
    for sign, value in (("+", 1.0), ("-", -1.0))
}


def unit_length(unit: str | float) -> float:
    """Metres of a unit: one of `UNITS` by name, or a number, which may be text, as it is."""
    length = UNITS[unit] if unit in UNITS else _number(unit)
    if not (np.isfinite(length) and length > 0):
        raise InputError(
            f"unit {unit!r}; expected one of {', '.join(UNITS)}, or a number of metres above 0."
        )
    return length


def _number(unit: str | float) -> float:
    """The number, or NaN for text that is none."""
    try:
        return float(unit)
    except ValueError:
        return np.nan


def guess_unit(source: str, longest_chain: float) -> str:
    """The unit in which `longest_chain` (file units, root to the farthest tip) fits a person."""
    if longest_chain > 0:
        factors = {
            name: abs(np.log(longest_chain * metres / _LONGEST_CHAIN_M))
            for name, metres in UNITS.items()
        }
        nearest = min(factors, key=factors.__getitem__)
        if factors[nearest] <= np.log(_DOUBT):
            return nearest
    raise InputError(
        f"{source}: the longest chain of bones measures {longest_chain:.4g}, which fits a person "
        f"in none of the units {', '.join(UNITS)}. Say the unit, or a number of metres a file unit."
    )


def axis_rotation(up: str, front: str) -> Float[NumpyArray, "3 3"]:
    """Rotation from a file's axes to ours: `up` (such as `+z`) becomes +y, `front` becomes +z."""
    for name in (up, front):
        if name not in _SIGNED_AXES:
            raise InputError(f"axis {name!r}; expected one of {', '.join(_SIGNED_AXES)}.")
    y, z = _SIGNED_AXES[up], _SIGNED_AXES[front]
    if y @ z != 0.0:
        raise InputError(f"up {up!r} and front {front!r} are one line; expected a right angle.")
    return np.stack([np.cross(y, z), y, z])


def usual_front(up: str) -> str:
    """The axis that bodies face in most files where `up` is up: +z with y up, -y with z up."""
    fronts = {"+y": "+z", "+z": "-y", "-y": "-z", "-z": "+y", "+x": "+z", "-x": "+z"}
    if up not in fronts:
        raise InputError(f"axis {up!r}; expected one of {', '.join(_SIGNED_AXES)}.")
    return fronts[up]
