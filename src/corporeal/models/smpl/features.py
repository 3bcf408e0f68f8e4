"""What pose blend shapes are driven by: numbers of every joint but the root, zero at rest.

SMPL takes R(θ) − R(θ*), nine a joint (eq. 9). Axis-angles and quaternions are here to be compared
with it.
"""

from typing import Literal

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    cross_matrix,
    multiply_quaternions,
    quaternion_from_matrix,
)

Features = Literal["rotations", "angles", "quaternions"]
"""R(θ) − R(θ*), axis-angle vectors in radians, or unit quaternions less that of rest."""

SIZES: dict[Features, int] = {"rotations": 9, "angles": 3, "quaternions": 4}
"""Numbers a joint."""

_TURN = np.moveaxis(cross_matrix(np.eye(3)), 0, 1)
"""([δ]ₓ)_pq = Σ_c ε_pcq δ_c."""


def feature_values(
    kind: Features, rotations: Float64[NumpyArray, "N J 3 3"]
) -> Float64[NumpyArray, "N P"]:
    """Of the joints' rotations in their parents."""
    turned = np.asarray(rotations[:, 1:], np.float64)
    if kind == "rotations":
        values = turned - np.eye(3)
    elif kind == "angles":
        values = axis_angle_from_matrix(turned)
    else:
        values = quaternion_from_matrix(turned) - [1.0, 0.0, 0.0, 0.0]
    return values.reshape(len(values), -1)


def feature_slopes(
    kind: Features,
    rotations: Float64[NumpyArray, "N J 3 3"],
    world: Float64[NumpyArray, "N J 3 3"],
    parents: tuple[int, ...],
) -> Float64[NumpyArray, "N k f 3"]:
    """∂ of every joint's own features by its rotation δ_j in the world, k = J − 1."""
    above = world[:, list(parents[1:])]
    own = np.asarray(rotations[:, 1:], np.float64)
    # in the parent the joint turns by ε = Q_parentᵀ δ: dR = [ε]ₓ R
    if kind == "rotations":
        by_turn = np.einsum("pcq,njqb->njpbc", _TURN, own, optimize=True)
    elif kind == "angles":
        by_turn = _log_slope(axis_angle_from_matrix(own))
    else:
        units = np.zeros((3, 4))
        units[:, 1:] = 0.5 * np.eye(3)
        turned = multiply_quaternions(units, quaternion_from_matrix(own)[:, :, None])
        by_turn = np.swapaxes(turned, -1, -2)
    by_turn = by_turn.reshape(*own.shape[:2], SIZES[kind], 3)
    return by_turn @ np.swapaxes(above, -1, -2)


def _log_slope(angles: Float64[NumpyArray, "N k 3"]) -> Float64[NumpyArray, "N k 3 3"]:
    """∂ log(exp(ε) R) / ∂ε = I − ½ [θ]ₓ + (1 − ½ φ cot ½φ) / φ² [θ]ₓ², φ = ‖θ‖."""
    cross = cross_matrix(angles)
    square = np.sum(angles**2, axis=-1)
    half = 0.5 * np.sqrt(np.maximum(square, 1e-12))
    ratio = (1 - half / np.tan(half)) / np.maximum(square, 1e-12)
    factor = np.where(square > 1e-6, ratio, 1 / 12)
    return np.eye(3) - 0.5 * cross + factor[..., None, None] * (cross @ cross)
