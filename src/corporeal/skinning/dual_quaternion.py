"""Dual-quaternion skinning: every vertex moves rigidly, by a blend of its joints' motions.

Kavan, Collins, Žára, O'Sullivan: Geometric Skinning with Approximate Dual Quaternion Blending,
ACM Transactions on Graphics 27(4), 2008.
"""

from functools import cached_property

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.body.weights import SkinWeights
from corporeal.geometry.transforms import dual_quaternion_from_rigid
from corporeal.runtime.arrays import as_one_kind, namespace_of
from corporeal.skinning.geometric import GeometricSkinning, MotionRows, blend_rows
from corporeal.skinning.prepared import SkinKernel


def blend_dual_quaternions(
    world_from_rest: Float[Array, "*batch J 4 4"],
    pairs: Int[NumpyArray, "p 2"],
    weights: Float[Array, "V p"],
) -> MotionRows:
    """Rigid motion of every vertex: b_v = Σ_j ± w_vj q_j, made unit (Kavan et al. 2008, eq. 6).

    q and −q are one motion, so each joint's quaternion takes the sign that agrees with that of the
    vertex's most influential joint, its pivot. `pairs` lists the (pivot, joint) that occur, and
    `weights` the weight of every vertex for every pair: see `pair_weights`.
    """
    xp = namespace_of(world_from_rest, weights)
    motions = dual_quaternion_from_rigid(world_from_rest)
    pivots, joints = motions[..., pairs[:, 0], :4], motions[..., pairs[:, 1], :]
    # q_pivot · q_j of the real parts
    agreement = xp.sum(pivots * joints[..., :4], axis=-1, keepdims=True)
    rows = blend_rows(xp.where(agreement < 0, -joints, joints), weights)
    return rigid_rows(*(rows[..., i, :] for i in range(8)))


def rigid_rows(
    w: Array, x: Array, y: Array, z: Array, dw: Array, dx: Array, dy: Array, dz: Array
) -> MotionRows:
    """Rotation and translation of (w, r) + ε (w_ε, d), divided by the norm of its real part.

    t = 2 (w d − w_ε r + r × d) (Kavan et al. 2008, algorithm 1).
    """
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return (
        (
            1.0 - s * (y * y + z * z),
            s * (x * y - w * z),
            s * (x * z + w * y),
            s * (w * dx - dw * x + y * dz - z * dy),
        ),
        (
            s * (x * y + w * z),
            1.0 - s * (x * x + z * z),
            s * (y * z - w * x),
            s * (w * dy - dw * y + z * dx - x * dz),
        ),
        (
            s * (x * z - w * y),
            s * (y * z + w * x),
            1.0 - s * (x * x + y * y),
            s * (w * dz - dw * z + x * dy - y * dx),
        ),
    )


def pair_weights(
    weights: SkinWeights,
) -> tuple[Int[NumpyArray, "p 2"], Float[NumpyArray, "V p"]]:
    """The (pivot, joint) pairs that occur, and every vertex's weight for each of them."""
    pivots = weights.joint_indices[np.arange(len(weights.values)), weights.values.argmax(axis=1)]
    codes = pivots[:, None].astype(np.int64) * weights.joint_count + weights.joint_indices
    used, place = np.unique(codes, return_inverse=True)
    dense = np.zeros((len(codes), len(used)))
    np.add.at(dense, (np.arange(len(codes))[:, None], place.reshape(codes.shape)), weights.values)
    return np.stack(np.divmod(used, weights.joint_count), axis=-1), dense


class DualQuaternionSkinning(GeometricSkinning):
    """Deformer `dqs`: keeps volume where joints twist; bulges a little where they bend."""

    name = "dqs"
    title = "Dual quaternions"
    summary = "dual-quaternion skinning"
    references = ("kavan2007skinning",)

    @cached_property
    def _pairs(self) -> tuple[NumpyArray, NumpyArray]:
        return pair_weights(self.template.weights)

    def blend(self, world_from_rest: Float[Array, "*batch J 4 4"]) -> MotionRows:
        """Motion of every vertex: a unit dual quaternion's, from its joints' motions."""
        pairs, dense = self._pairs
        world_from_rest, weights = as_one_kind(world_from_rest, dense)
        return blend_dual_quaternions(world_from_rest, pairs, weights)

    def kernel(self) -> SkinKernel:
        """Blend of the joints' motions, vertex by vertex."""
        from corporeal.skinning.dual_quaternion_cpu import pose_and_skin_dual

        return pose_and_skin_dual
