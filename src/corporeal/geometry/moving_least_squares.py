"""Moving-least-squares weights.

Komaritzan 2022, section 3.2.4, equations (3.2) to (3.9).

====== ==========================================================
ψ(x)    monomials of x: (1), (1 x y z) or (1 x y z xx yy zz xy xz yz)
ω_ij    (1 − r/ρ)³ with r the geodesic distance, ρ the support radius
K_j     Σ_i ω_ij ψ_i ψ_iᵀ
N_ij    ω_ij ψ_iᵀ K_j⁺ ψ_j, so that x_j = Σ_i N_ij x_i
====== ==========================================================
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray

SMALLEST_EIGENVALUE = 1e-9
"""Of K_j against its largest; what is smaller counts as zero in the pseudo-inverse."""
REPRODUCED = 1e-9
"""How well weights must reproduce 1 and x, in units of the scaled support."""
LARGEST_SUM = 4.0
"""Largest Σ_i |N_ij|: how much weights may amplify what they are given."""


def kernel_weights(
    distances: Float[NumpyArray, "W k"], radii: Float[NumpyArray, "W"]
) -> Float[NumpyArray, "W k"]:
    """ω(r) = (1 − r/ρ)³ within ρ, else 0 (3.3); 1 for the only point at distance 0."""
    ratio = np.divide(
        distances, radii[:, None], out=np.zeros_like(distances), where=radii[:, None] > 0
    )
    return np.where(np.isfinite(distances), np.clip(1.0 - ratio, 0.0, 1.0) ** 3, 0.0)


def monomials(points: Float[NumpyArray, "*batch 3"], degree: int) -> Float[NumpyArray, "*batch m"]:
    """ψ of degree 0, 1 or 2."""
    one = np.ones_like(points[..., :1])
    if degree == 0:
        return one
    if degree == 1:
        return np.concatenate([one, points], axis=-1)
    mixed = points[..., [0, 0, 1]] * points[..., [1, 2, 2]]
    return np.concatenate([one, points, points * points, mixed], axis=-1)


def moving_least_squares(
    points: Float[NumpyArray, "W k 3"],
    at: Float[NumpyArray, "W 3"],
    kernel: Float[NumpyArray, "W k"],
    degree: int,
    largest_sum: float = LARGEST_SUM,
) -> tuple[Float[NumpyArray, "W k"], Int[NumpyArray, "W"]]:
    """Weights N_ij for evaluating at `at` what is known at `points`, and the degree each row got.

    Points are mean-centred and scaled to the unit sphere first. A row whose weights do not
    reproduce 1 and x, or amplify by more than `largest_sum`, falls back to the next lower degree.
    """
    points, at = _centred(points, at, kernel > 0)
    weights, degrees = np.zeros(kernel.shape), np.zeros(len(at), np.int64)
    open_rows = np.arange(len(at))
    for tried in range(degree, -1, -1):
        found = _weights(points[open_rows], at[open_rows], kernel[open_rows], tried)
        good = _is_good(found, points[open_rows], at[open_rows], largest_sum) | (tried == 0)
        weights[open_rows[good]], degrees[open_rows[good]] = found[good], tried
        open_rows = open_rows[~good]
    return weights, degrees


def _weights(
    points: Float[NumpyArray, "W k 3"],
    at: Float[NumpyArray, "W 3"],
    kernel: Float[NumpyArray, "W k"],
    degree: int,
) -> Float[NumpyArray, "W k"]:
    known, asked = monomials(points, degree), monomials(at, degree)
    # K_j = Σ_i ω_ij ψ_i ψ_iᵀ
    moment = np.matmul((kernel[..., None] * known).swapaxes(1, 2), known)
    values, vectors = np.linalg.eigh(moment)
    kept = values > SMALLEST_EIGENVALUE * values[:, -1:]
    inverse = np.divide(1.0, values, out=np.zeros_like(values), where=kept)
    # c_j = K_j⁺ ψ_j
    coefficients = np.einsum("wab,wb,wcb,wc->wa", vectors, inverse, vectors, asked, optimize=True)
    # N_ij = ω_ij ψ_iᵀ c_j
    return kernel * np.matmul(known, coefficients[..., None])[..., 0]


def _is_good(
    weights: Float[NumpyArray, "W k"],
    points: Float[NumpyArray, "W k 3"],
    at: Float[NumpyArray, "W 3"],
    largest_sum: float,
) -> NumpyArray:
    reproduced = np.matmul(weights[:, None], monomials(points, 1))[:, 0]
    missed = np.abs(reproduced - monomials(at, 1)).max(axis=1)
    return (missed <= REPRODUCED) & (np.abs(weights).sum(axis=1) <= largest_sum)


def _centred(
    points: Float[NumpyArray, "W k 3"], at: Float[NumpyArray, "W 3"], used: NumpyArray
) -> tuple[Float[NumpyArray, "W k 3"], Float[NumpyArray, "W 3"]]:
    count = np.maximum(used.sum(axis=1), 1)[:, None]
    mean = np.sum(points * used[..., None], axis=1) / count
    offset = (points - mean[:, None]) * used[..., None]
    size = np.linalg.norm(offset, axis=2).max(axis=1)[:, None]
    size = np.where(size > 0, size, 1.0)
    return offset / size[:, None], (at - mean) / size
