"""Maps of a person's flesh, painted on the skin: how much stiffer and denser it is where."""

from dataclasses import dataclass

from corporeal._typing import Float64, NumpyArray


@dataclass(frozen=True)
class TissueMaps:
    """Factors at every vertex of the full skin; None is 1 everywhere."""

    stiffness: Float64[NumpyArray, "W"] | None = None
    """Factor on Young's modulus."""
    mass: Float64[NumpyArray, "W"] | None = None
    """Factor on the density."""
