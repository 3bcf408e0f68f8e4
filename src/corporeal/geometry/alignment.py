"""The rotation that carries one set of vectors nearest to another (Kabsch 1976).

    R = argmin Σ_i w_i ‖b_i − R a_i‖² over SO(3) = argmax tr(Rᵀ M),   M = Σ_i w_i b_i a_iᵀ

With M = U Σ Vᵀ that is R = U diag(1, 1, det(U Vᵀ)) Vᵀ: where a reflection would be nearest, the
direction that says least gives way. Points are first taken from their middles.
"""

import numpy as np

from corporeal._typing import Bool, Float, Float64, NumpyArray

LEAST_SHARE = 1e-9
"""The second singular value of M over its largest, below which a turn is open."""


def best_rotation(
    source: Float[NumpyArray, "*#batch n 3"],
    target: Float[NumpyArray, "*#batch n 3"],
    weights: Float[NumpyArray, "*#batch n"] | None = None,
) -> Float64[NumpyArray, "*batch 3 3"]:
    """R that takes `source` nearest to `target`, paired, in the sense of squares."""
    return nearest_rotation(paired_products(source, target, weights))


def paired_products(
    source: Float[NumpyArray, "*#batch n 3"],
    target: Float[NumpyArray, "*#batch n 3"],
    weights: Float[NumpyArray, "*#batch n"] | None = None,
) -> Float64[NumpyArray, "*batch 3 3"]:
    """M = Σ_i w_i b_i a_iᵀ of vectors a (source) and b (target)."""
    weighted = target if weights is None else weights[..., None] * target
    # M_xy = Σ_i b_ix a_iy
    return np.einsum("...ix,...iy->...xy", weighted, source).astype(np.float64)


def nearest_rotation(
    matrices: Float[NumpyArray, "*batch 3 3"],
) -> Float64[NumpyArray, "*batch 3 3"]:
    """The rotation R with the largest tr(Rᵀ M) for every matrix M; the identity for zero."""
    left, _, right = np.linalg.svd(np.asarray(matrices, np.float64))
    left[..., 2] *= np.sign(np.linalg.det(left @ right))[..., None]
    return left @ right


def turns_known(
    matrices: Float[NumpyArray, "*batch 3 3"], least: float = LEAST_SHARE
) -> Bool[NumpyArray, "*batch"]:
    """Whether M tells a rotation: not where all vectors lie on one line, or there are none."""
    values = np.linalg.svd(np.asarray(matrices, np.float64), compute_uv=False)
    return np.asarray(values[..., 1] > np.maximum(least * values[..., 0], 1e-300))
