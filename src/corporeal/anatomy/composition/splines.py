"""Cubic B-splines on even knots: smooth curves whose slope is bounded by their coefficients.

With knots Δ apart, f(x) = Σ_i c_i B((x − low)/Δ − i) over the n + 3 bumps that reach the n
intervals. Its slope is a weighted mean of the neighbouring steps (c_{i+1} − c_i)/Δ, so bounds on
the steps are bounds on the slope everywhere (de Boor 2001, ch. X).
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, NumpyArray


@dataclass(frozen=True)
class Knots:
    """Even knots from `low` to `high`; beyond them a curve stays at its end value."""

    low: float
    """First knot, in the unit of the argument."""
    high: float
    """Last knot, in the unit of the argument."""
    interval_count: int
    """Number of intervals between knots; a curve has three coefficients more."""

    @property
    def spacing(self) -> float:
        """Distance of neighbouring knots."""
        return (self.high - self.low) / self.interval_count

    @property
    def coefficient_count(self) -> int:
        """Bumps that reach an interval."""
        return self.interval_count + 3

    def bumps(self, x: Float[NumpyArray, "n"]) -> Float[NumpyArray, "n k"]:
        """Values of all bumps at `x`; every row sums to 1."""
        place = (np.clip(x, self.low, self.high) - self.low) / self.spacing
        interval = np.minimum(place.astype(int), self.interval_count - 1)
        t = place - interval
        pieces = np.stack(
            [(1 - t) ** 3, 3 * t**3 - 6 * t**2 + 4, -3 * t**3 + 3 * t**2 + 3 * t + 1, t**3], axis=1
        )
        values = np.zeros((len(t), self.coefficient_count))
        np.put_along_axis(values, interval[:, None] + np.arange(4), pieces / 6, axis=1)
        return values

    def steps(self) -> Float[NumpyArray, "s k"]:
        """Coefficients to slopes: row i gives (c_{i+1} − c_i)/Δ."""
        return np.diff(np.eye(self.coefficient_count), axis=0) / self.spacing

    def bends(self) -> Float[NumpyArray, "b k"]:
        """Coefficients to second differences over Δ: changes of slope from knot to knot."""
        return np.diff(np.eye(self.coefficient_count), n=2, axis=0) / self.spacing
