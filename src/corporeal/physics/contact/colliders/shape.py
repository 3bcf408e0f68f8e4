"""What every shape of a collider is from outside."""

from typing import Protocol, TypeAlias, runtime_checkable

from corporeal._typing import Float64, NumpyArray

Distances: TypeAlias = tuple[Float64[NumpyArray, "n"], Float64[NumpyArray, "n 3"]]
"""Signed distances (metres, negative inside) and unit vectors out of the solid."""


@runtime_checkable
class ColliderShape(Protocol):
    """A solid in coordinates of its own, metres, y up."""

    def distances(self, points: Float64[NumpyArray, "n 3"]) -> Distances:
        """Signed distances (negative inside) and unit vectors out of the solid."""
        ...
