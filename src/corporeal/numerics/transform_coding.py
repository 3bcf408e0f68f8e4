"""Many similar rows in few bytes, with an error that is stated: transform coding.

Rows are told by coefficients along principal directions, in whole steps. All coefficients have the
same step Δ: one that varies by less than Δ/√12 is dropped, since leaving it out costs less than
rounding it (reverse water-filling: Cover, Thomas, Elements of Information Theory, 2006, section
10.3.3). The directions, each times the standard deviation along it, are rounded to steps as well.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.numerics.streamed_pca import principal_components

MOST_DIRECTIONS: Final = 2048
"""Directions at most: beyond them a code says what it reached, not what was asked for."""
MOST_PRODUCTS: Final = 2500
"""Rows up to which all of their directions are found."""
MOST_SOUGHT: Final = 1024
"""Directions that are looked for among more rows."""
PILOT: Final = 1500
"""Rows that tell how many these need."""
_BASIS_SHARE: Final = 0.15
"""Of the squared error, for rounding the directions."""
_PIECE: Final = 512
"""Rows that are made double at a time."""
_COLUMNS: Final = 4096
"""Numbers of every row that are made double at a time, likewise."""
_INT16: Final = np.iinfo(np.int16).max


@dataclass(frozen=True, eq=False)
class Code:
    """What turns rows into whole numbers and back: x ≈ mean + δ Σ_i z_i b_i, z_i = n_i Δ/σ_i."""

    mean: Float32[NumpyArray, "d"]
    """Of the rows, in their unit."""
    basis: Int[NumpyArray, "c d"]
    """Directions times standard deviations, in steps δ."""
    basis_step: float
    """δ, in the rows' unit."""
    deviations: Float32[NumpyArray, "c"]
    """σ of every coefficient, in the rows' unit."""
    step: float
    """Δ of the coefficients, in the rows' unit."""

    @property
    def count(self) -> int:
        """Number c of directions."""
        return len(self.deviations)

    def encoded(self, rows: Float32[NumpyArray, "n d"]) -> Int[NumpyArray, "n c"]:
        """Coefficients in whole steps."""
        if not self.count:
            return np.zeros((len(rows), 0), np.int32)
        weights = (rows - self.mean) @ self._duals.T
        return np.round(weights * (self.deviations / (self.step * self.basis_step))).astype(
            np.int32
        )

    def decoded(self, steps: Int[NumpyArray, "n c"]) -> Float32[NumpyArray, "n d"]:
        """The rows that whole steps stand for."""
        if not self.count:
            return np.repeat(self.mean[None], len(steps), axis=0)
        weights = steps * (self.step * self.basis_step / self.deviations)
        return self.mean + weights.astype(np.float32) @ self.basis.astype(np.float32)

    @cached_property
    def _duals(self) -> Float32[NumpyArray, "c d"]:
        """(B Bᵀ)⁻¹ B: rounded directions are not quite orthogonal, so nearest points need them."""
        made = self.basis.astype(np.float32)
        gram = made.astype(np.float64) @ made.T
        return np.linalg.solve(gram, made).astype(np.float32)


def make_code(rows: Float32[NumpyArray, "n d"], error: float, width: int = 3) -> Code:
    """A code whose error on these rows is `error` at most, root mean square over groups of `width`
    numbers (vertices), in the rows' unit; as near as `MOST_DIRECTIONS` come where that is more.

    Rows that are coded afterwards and are not among these are off by more, the more so the fewer
    these are.
    """
    if not error > 0:
        raise InputError(f"an error of {error} was asked for; expected more than 0.")
    total = error**2 * rows.shape[1] / width  # squared error a row
    allowed = (1.0 - _BASIS_SHARE) * total
    mean = rows.mean(axis=0, dtype=np.float64)
    if len(rows) < 2 or _variance(rows, mean) <= allowed:
        nothing = np.zeros((0, rows.shape[1]), np.int16)
        return Code(mean.astype(np.float32), nothing, 1.0, np.zeros(0, np.float32), 1.0)
    found = _spectrum(rows, mean, allowed)
    usable = min(MOST_DIRECTIONS, int((found.variances > 0).sum()))
    variances = found.variances[:usable]
    tail = found.left + float(found.variances[usable:].sum())
    level = water_level(variances, allowed - tail)
    count = max(1, int((variances > level).sum()))
    scaled = found.scaled(count)
    basis_step = np.sqrt(12.0 * _BASIS_SHARE * total / (count * rows.shape[1]))
    basis_step = float(max(basis_step, np.abs(scaled).max() / _INT16))
    return Code(
        mean.astype(np.float32),
        np.round(scaled / basis_step).astype(np.int16),
        basis_step,
        np.sqrt(variances[:count]).astype(np.float32),
        float(np.sqrt(12.0 * level)),
    )


def water_level(variances: Float64[NumpyArray, "c"], allowed: float) -> float:
    """θ with Σ min(variance, θ) = `allowed`; a tenth of the least variance where nothing is."""
    ordered = np.sort(variances)
    if allowed <= 0:
        return 0.1 * float(ordered[0])
    below = np.concatenate([[0.0], np.cumsum(ordered)[:-1]])
    levels = (allowed - below) / np.arange(len(ordered), 0, -1)
    fits = levels <= ordered
    return float(levels[np.argmax(fits)]) if fits.any() else float(ordered[-1])


@dataclass(frozen=True, eq=False)
class _Spectrum:
    """Principal directions of rows."""

    variances: Float64[NumpyArray, "c"]
    """Along each, largest first, in the rows' unit squared."""
    left: float
    """Variance outside of them."""
    scaled: Callable[[int], Float32[NumpyArray, "c d"]]
    """The first so many directions, each times the standard deviation along it."""


def _spectrum(
    rows: Float32[NumpyArray, "n d"], mean: Float64[NumpyArray, "d"], allowed: float
) -> _Spectrum:
    """All directions, from the products of rows with each other; of many rows twice as many as some
    of them need, by a randomised range finder."""
    if len(rows) <= MOST_PRODUCTS:
        return _from_products(rows, mean)
    pilot = _from_products(rows[:: -(-len(rows) // PILOT)], mean).variances
    needed = int(np.searchsorted(-(pilot.sum() - np.cumsum(pilot)), -0.3 * allowed)) + 1
    count = min(2 * needed, MOST_SOUGHT, len(rows) - 1)
    found = principal_components(lambda: _pieces(rows), count, seed=0)
    variances = found.deviations**2
    scaled = (found.deviations[:, None] * found.directions).astype(np.float32)
    left = max(found.variance - float(variances.sum()), 0.0)
    return _Spectrum(variances, left, lambda count: scaled[:count])


def _from_products(rows: Float32[NumpyArray, "n d"], mean: Float64[NumpyArray, "d"]) -> _Spectrum:
    """Exact: eigenvectors U of the centred rows' products give Uᵀ (X − mean)/√n."""
    gram = np.zeros((len(rows), len(rows)))
    for first in range(0, rows.shape[1], _COLUMNS):
        some = slice(first, first + _COLUMNS)
        part = rows[:, some].astype(np.float64) - mean[some]
        gram += part @ part.T
    values, vectors = np.linalg.eigh(gram)
    values, vectors = np.maximum(values[::-1], 0.0), vectors[:, ::-1]

    def scaled(count: int) -> Float32[NumpyArray, "c d"]:
        shares = (vectors[:, :count].T / np.sqrt(len(rows))).astype(np.float32)
        return shares @ rows - np.outer(shares.sum(axis=1), mean).astype(np.float32)

    return _Spectrum(values / len(rows), 0.0, scaled)


def _pieces(rows: Float32[NumpyArray, "n d"]) -> Sequence[NumpyArray]:
    return [rows[first : first + _PIECE] for first in range(0, len(rows), _PIECE)]


def _variance(rows: Float32[NumpyArray, "n d"], mean: Float64[NumpyArray, "d"]) -> float:
    squares = sum(float(np.sum((piece - mean) ** 2)) for piece in _pieces(rows))
    return squares / max(len(rows), 1)


def differences(steps: Int[NumpyArray, "n c"], order: int) -> Int[NumpyArray, "n c"]:
    """Differences of whole numbers along the first axis, so often; the first rows stay."""
    for _ in range(order):
        steps = np.diff(steps, axis=0, prepend=np.zeros_like(steps[:1]))
    return steps


def sums(steps: Int[NumpyArray, "n c"], order: int) -> Int[NumpyArray, "n c"]:
    """The way back from `differences`."""
    for _ in range(order):
        steps = np.cumsum(steps, axis=0)
    return steps
