"""Principal components of many rows that need not fit in memory, by a randomised range finder.

Halko, Martinsson, Tropp: Finding Structure with Randomness, SIAM Review 53(2), 2011, algorithms 4.4
and 5.1: a random sketch of the range, sharpened by passes over the data, then an exact
decomposition of the small rest.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.errors import InputError

_EXTRA = 10
"""Directions of the sketch beyond those asked for."""
_PASSES = 4
"""Times that the sketch goes through the data and back: the error of a direction falls with the
ninth power of its singular value over the first one left out."""

Rows = Callable[[], Iterable[Float[NumpyArray, "n d"]]]
"""Gives the rows in pieces, the same ones each time it is called."""


@dataclass(frozen=True)
class PrincipalComponents:
    """Mean and orthonormal directions, those of most variance first."""

    mean: Float64[NumpyArray, "d"]
    """Of the rows, in their unit."""
    directions: Float64[NumpyArray, "c d"]
    """Orthonormal rows."""
    deviations: Float64[NumpyArray, "c"]
    """Standard deviation along every direction, in the rows' unit."""
    variance: float
    """Of all directions together, kept or not."""
    count: int
    """Of rows."""

    @property
    def explained(self) -> Float64[NumpyArray, "c"]:
        """Share of the variance in the first 1, 2, … directions."""
        return np.cumsum(self.deviations**2) / max(self.variance, 1e-300)


def principal_components(
    rows: Rows, count: int, seed: int, *, centred: bool = True, single: bool = False
) -> PrincipalComponents:
    """The first `count` components; the same for the same rows and seed.

    Not `centred`, deviations are about 0 and the mean is 0. In `single` precision the products with
    the rows are float32, half the time, and their sums over pieces float64.
    """
    total, number, size = _mean(rows)
    if not 0 < count < number:
        raise InputError(
            f"asked for {count} components of {number} rows; expected fewer than there are rows."
        )
    mean = total / number if centred else np.zeros(size)
    exact = np.float32 if single else np.float64
    width = min(count + _EXTRA, number, size)
    sketch = np.random.default_rng(seed).normal(size=(size, width))
    variance = 0.0
    for _ in range(_PASSES):
        sketch, _ = np.linalg.qr(sketch)
        # (AᵀA) Ω, piece by piece
        image, variance = np.zeros_like(sketch), 0.0
        narrow = sketch.astype(exact)
        for piece in rows():
            about = _about(piece, mean, exact)
            image += about.T @ (about @ narrow)
            variance += float(np.sum(about**2, dtype=np.float64))
        sketch = image
    basis, _ = np.linalg.qr(sketch)
    narrow = basis.astype(exact)
    projected = np.concatenate([_about(p, mean, exact) @ narrow for p in rows()])
    projected = projected.astype(np.float64)
    _, values, right = np.linalg.svd(projected, full_matrices=False)
    directions = (basis @ right.T).T[:count]
    largest = np.abs(directions).argmax(axis=1)
    directions *= np.sign(directions[np.arange(len(directions)), largest])[:, None]
    degrees = max(number - 1, 1) if centred else number
    deviations = values[:count] / np.sqrt(degrees)
    return PrincipalComponents(mean, directions, deviations, variance / degrees, number)


def _about(piece: NumpyArray, mean: NumpyArray, exact: type) -> NumpyArray:
    """Rows less their mean; the same array where the mean is 0."""
    some = np.asarray(piece, exact)
    return some - mean.astype(exact) if mean.any() else some


def _mean(rows: Rows) -> tuple[NumpyArray, int, int]:
    total, number = None, 0
    for piece in rows():
        some = np.asarray(np.sum(piece, axis=0, dtype=np.float64))
        total = some if total is None else total + some
        number += len(piece)
    if total is None or number < 2:
        raise InputError(f"{number} rows came; expected at least two to find components of.")
    return total, number, len(total)
