"""Rigid motions as 4×4 matrices and as unit dual quaternions.

A transform is called `target_from_source`, so that neighbours cancel:
`world_from_joint @ joint_from_rest = world_from_rest`.
"""

import numpy as np

from corporeal._typing import Array, Float
from corporeal.geometry.rotations import (
    conjugate_quaternion,
    matrix_from_quaternion,
    multiply_quaternions,
    quaternion_from_matrix,
)
from corporeal.runtime.arrays import namespace_of


def transform_from_parts(
    rotation: Float[Array, "*#batch 3 3"], translation: Float[Array, "*#batch 3"]
) -> Float[Array, "..."]:
    """4×4 matrix that turns by `rotation`, then moves by `translation` (metres)."""
    xp = namespace_of(rotation, translation)
    batch = np.broadcast_shapes(rotation.shape[:-2], translation.shape[:-1])
    rotation = xp.broadcast_to(rotation, (*batch, 3, 3))
    translation = xp.broadcast_to(translation, (*batch, 3))
    top = xp.concat([rotation, translation[..., None]], axis=-1)
    zero = xp.zeros_like(top[..., :1, :3])
    bottom = xp.concat([zero, zero[..., :1] + 1.0], axis=-1)
    return xp.concat([top, bottom], axis=-2)


def invert_rigid(transform: Float[Array, "*batch 4 4"]) -> Float[Array, "*batch 4 4"]:
    """Inverse of a rigid motion: (Rᵀ, −Rᵀ t)."""
    xp = namespace_of(transform)
    rotation = xp.matrix_transpose(transform[..., :3, :3])
    translation = -xp.sum(rotation * transform[..., None, :3, 3], axis=-1)
    return transform_from_parts(rotation, translation)


def transform_points(
    transform: Float[Array, "*#batch 4 4"], points: Float[Array, "*#batch n 3"]
) -> Float[Array, "..."]:
    """`transform` applied to points (metres): one matrix for all n points of a batch entry."""
    xp = namespace_of(transform, points)
    turned = xp.matmul(points, xp.matrix_transpose(transform[..., :3, :3]))
    return turned + transform[..., None, :3, 3]


def dual_quaternion_from_rigid(
    transform: Float[Array, "*batch 4 4"],
) -> Float[Array, "*batch 8"]:
    """Unit dual quaternion (real wxyz, then dual wxyz) of a rigid motion."""
    return dual_quaternion_from_parts(transform[..., :3, :3], transform[..., :3, 3])


def dual_quaternion_from_parts(
    rotation: Float[Array, "*batch 3 3"], translation: Float[Array, "*batch 3"]
) -> Float[Array, "*batch 8"]:
    """The same of a rotation and the translation (metres) after it.

    q₀ + ε q_ε with q_ε = ½ (0, t) q₀ (Kavan et al. 2008, eq. 4).
    """
    xp = namespace_of(rotation, translation)
    real = quaternion_from_matrix(rotation)
    pure = xp.concat([xp.zeros_like(translation[..., :1]), translation], axis=-1)
    return xp.concat([real, 0.5 * multiply_quaternions(pure, real)], axis=-1)


def rigid_from_dual_quaternion(
    dual_quaternion: Float[Array, "*batch 8"],
) -> Float[Array, "*batch 4 4"]:
    """Rigid motion of a dual quaternion that need not be unit: divided by its real part's norm.

    t = 2 (w₀ d − w_ε r + r × d) for c₀ = (w₀, r), c_ε = (w_ε, d) (Kavan et al. 2008, algorithm 1).
    """
    xp = namespace_of(dual_quaternion)
    real, dual = dual_quaternion[..., :4], dual_quaternion[..., 4:]
    norm = xp.sqrt(xp.sum(real * real, axis=-1, keepdims=True))
    real, dual = real / norm, dual / norm
    shift = 2.0 * multiply_quaternions(dual, conjugate_quaternion(real))
    return transform_from_parts(matrix_from_quaternion(real), shift[..., 1:])
