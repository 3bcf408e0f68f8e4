"""An autoencoder that begins as principal components and can only be better: PCA and a correction.

The encoder is that of PCA, z = B_kᵀ x; the decoder adds to B_k z what hidden units say of the
components that PCA-k leaves out,

    x̂ = B_k z + s B_rest W tanh(A z / σ + b),

A and b random (Rahimi and Recht 2007), W by ridge regression. Ridge and share s, 0 to 1, are those
that reconstruct sequences best which are left out, one after the other: where nothing carries over
to a new sequence s is 0, and the decoder is PCA's own.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError

_RIDGES = (1e-3, 1e-2, 1e-1, 1.0)


@dataclass(frozen=True, eq=False)
class ResidualDecoder:
    """What to add to principal components."""

    turn: Float64[NumpyArray, "k h"]
    """A / σ."""
    shift: Float64[NumpyArray, "h"]
    """b."""
    weights: Float64[NumpyArray, "h r"]
    """W, of the components from k on."""
    share: float
    """s."""

    def hidden(self, latent: NumpyArray) -> Float64[NumpyArray, "N h"]:
        """Hidden units of latent vectors N × k; 0 for no offset."""
        return np.tanh(np.asarray(latent, np.float64) @ self.turn + self.shift) - np.tanh(
            self.shift
        )

    def correction(self, latent: NumpyArray, rank: int) -> Float64[NumpyArray, "N c"]:
        """Coefficients of all `rank` components that are added to those of PCA-k."""
        made = np.zeros((len(latent), rank))
        made[:, latent.shape[1] :] = self.share * (self.hidden(latent) @ self.weights)
        return made


def fit_residual(
    sequences: Sequence[NumpyArray], size: int, hidden: int = 256, seed: int = 0
) -> ResidualDecoder:
    """From coefficients N × c of principal components, most variance first, by sequence."""
    if not 0 < size < sequences[0].shape[1] or len(sequences) < 2:
        raise InputError(
            f"{size} latent numbers of {sequences[0].shape[1]} components and {len(sequences)} "
            f"sequences came; expected fewer numbers than components and two sequences at least."
        )
    draw = np.random.default_rng(seed)
    rows = np.concatenate(sequences).astype(np.float64)
    scale = np.maximum(rows[:, :size].std(axis=0), 1e-12)
    turn = draw.standard_normal((size, hidden)) / scale[:, None] / np.sqrt(size)
    plain = ResidualDecoder(
        turn, draw.uniform(-1.5, 1.5, hidden), np.zeros((hidden, rows.shape[1] - size)), 0.0
    )
    parts = [_sums(plain, np.asarray(part, np.float64), size) for part in sequences]
    square, mixed = (np.sum([part[n] for part in parts], axis=0) for n in (0, 1))
    best = (0.0, _RIDGES[-1], 0.0)
    for ridge in _RIDGES:
        with_it, size_of = 0.0, 0.0
        for own_square, own_mixed in parts:
            found = _solved(square - own_square, mixed - own_mixed, ridge)
            with_it += float(np.sum(found * own_mixed))
            size_of += float(np.sum(found * (own_square @ found)))
        share = float(np.clip(with_it / max(size_of, 1e-30), 0.0, 1.0))
        gain = 2 * share * with_it - share**2 * size_of
        best = max(best, (gain, ridge, share))
    _, ridge, share = best
    return ResidualDecoder(plain.turn, plain.shift, _solved(square, mixed, ridge), share)


def _sums(plain: ResidualDecoder, rows: NumpyArray, size: int) -> tuple[NumpyArray, NumpyArray]:
    units = plain.hidden(rows[:, :size])
    return units.T @ units, units.T @ rows[:, size:]


def _solved(square: NumpyArray, mixed: NumpyArray, ridge: float) -> NumpyArray:
    strength = ridge * np.trace(square) / len(square)
    return np.linalg.solve(square + strength * np.eye(len(square)), mixed)
