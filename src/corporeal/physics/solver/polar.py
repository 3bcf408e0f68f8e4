"""The rotation closest to a matrix (polar decomposition), in float64.

Komaritzan 2022 (appendix A) takes Higham's Newton iteration R ← (R + R⁻ᵀ)/2 where det F > 1e-5 and
singular values elsewhere. Here are both, for whole arrays; `solver.cpu.polar` has the compiled
ones.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray

SMALLEST_DETERMINANT = 1e-5
"""Below this the Newton iteration may find a reflection, or nothing: singular values decide."""


def rotation_variant_svd(
    matrices: Float64[NumpyArray, "n 3 3"],
) -> tuple[Float64[NumpyArray, "n 3 3"], Float64[NumpyArray, "n 3"], Float64[NumpyArray, "n 3 3"]]:
    """U, σ, Vᵀ with det U = det V = 1: the smallest σ carries the sign of the determinant."""
    left, stretch, right = np.linalg.svd(matrices)
    for side, axis in ((left, 2), (right, 1)):
        flip = np.sign(np.linalg.det(side))
        np.moveaxis(side, axis, 1)[:, 2] *= flip[:, None]
        stretch[:, 2] *= flip
    return left, stretch, right


def closest_rotations(matrices: Float64[NumpyArray, "n 3 3"]) -> Float64[NumpyArray, "n 3 3"]:
    """R = U diag(1, 1, det(U Vᵀ)) Vᵀ: inverted elements flip the axis of least deformation."""
    left, _, right = rotation_variant_svd(matrices)
    return left @ right


def newton_rotations(
    matrices: Float64[NumpyArray, "n 3 3"], tolerance: float = 1e-5
) -> Float64[NumpyArray, "n 3 3"]:
    """R ← (R + R⁻ᵀ)/2 until ‖R_{k+1} − R_k‖² < `tolerance` (equation A.5); needs det > 0."""
    rotations = matrices
    while True:
        following = 0.5 * (rotations + np.linalg.inv(rotations).transpose(0, 2, 1))
        if ((following - rotations) ** 2).sum(axis=(1, 2)).max() < tolerance:
            return following
        rotations = following
