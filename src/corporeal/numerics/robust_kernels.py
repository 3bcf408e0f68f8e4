"""Robust kernels: how much a residual counts, by its squared length s.

A kernel ρ replaces s in ½ Σ s, such that far outliers pull less; its derivative w = ρ'(s) is the
weight of the residual in iteratively reweighted least squares. All have ρ(0) = 0 and w(0) = 1, are
in the residuals' unit squared, and turn from square to flat at the length `scale`, σ:

Squared          s                                   1
Huber            s, 2σ√s − σ² beyond σ               1, σ/√s           (Huber 1964)
Cauchy           σ² log(1 + s/σ²)                    1/(1 + s/σ²)
GemanMcClure     s/(1 + s/σ²), at most σ²            1/(1 + s/σ²)²     (Geman, McClure 1985)

The first two are convex; the last two have further minima, so that a start far off, or a σ that
shrinks from step to step, matters.
"""

import math
from dataclasses import dataclass
from typing import Protocol, runtime_checkable

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError


@runtime_checkable
class RobustKernel(Protocol):
    """A function of squared lengths, and its derivative."""

    def loss(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """ρ(s)."""
        ...

    def weight(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """ρ'(s)."""
        ...


@dataclass(frozen=True)
class Squared:
    """ρ(s) = s: plain least squares."""

    def loss(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """s itself."""
        return squares

    def weight(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """One."""
        return np.ones_like(squares)


@dataclass(frozen=True)
class Huber:
    """ρ(s) = s up to σ², then 2σ√s − σ²: an outlier pulls with a constant force."""

    scale: float
    """σ, the residuals' unit."""

    def __post_init__(self) -> None:
        _require_scale(self.scale)

    def loss(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """ρ(s)."""
        square = self.scale**2
        far = 2 * self.scale * np.sqrt(np.maximum(squares, square)) - square
        return np.where(squares <= square, squares, far)

    def weight(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """min(1, σ/√s)."""
        return self.scale / np.sqrt(np.maximum(squares, self.scale**2))


@dataclass(frozen=True)
class Cauchy:
    """ρ(s) = σ² log(1 + s/σ²): an outlier pulls less the further it is."""

    scale: float
    """σ, the residuals' unit."""

    def __post_init__(self) -> None:
        _require_scale(self.scale)

    def loss(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """ρ(s)."""
        return self.scale**2 * np.log1p(squares / self.scale**2)

    def weight(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """1/(1 + s/σ²)."""
        return 1.0 / (1.0 + squares / self.scale**2)


@dataclass(frozen=True)
class GemanMcClure:
    """ρ(s) = s/(1 + s/σ²): an outlier costs σ² at most, and hardly pulls."""

    scale: float
    """σ, the residuals' unit."""

    def __post_init__(self) -> None:
        _require_scale(self.scale)

    def loss(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """ρ(s)."""
        return squares / (1.0 + squares / self.scale**2)

    def weight(self, squares: Float64[NumpyArray, "m"]) -> Float64[NumpyArray, "m"]:
        """1/(1 + s/σ²)²."""
        return 1.0 / (1.0 + squares / self.scale**2) ** 2


def _require_scale(scale: float) -> None:
    if not (math.isfinite(scale) and scale > 0):
        raise InputError(
            f"the scale of a robust kernel is {scale}; expected a finite number above 0, in the "
            f"residuals' unit."
        )
