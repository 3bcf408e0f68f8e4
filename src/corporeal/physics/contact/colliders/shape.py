"""What every shape of a collider is from outside."""

import math
from typing import Protocol, TypeAlias, runtime_checkable

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError


def require_lengths(what: str, *lengths: float) -> None:
    """Raise `InputError` unless every length is finite and above 0 m."""
    if not all(math.isfinite(length) and length > 0.0 for length in lengths):
        raise InputError(f"{what} came as {lengths} m; expected finite numbers above 0.")


Distances: TypeAlias = tuple[Float64[NumpyArray, "n"], Float64[NumpyArray, "n 3"]]
"""Signed distances (metres, negative inside) and unit vectors out of the solid."""


@runtime_checkable
class ColliderShape(Protocol):
    """A solid in coordinates of its own, metres, y up."""

    def distances(self, points: Float64[NumpyArray, "n 3"]) -> Distances:
        """Signed distances (negative inside) and unit vectors out of the solid."""
        ...
