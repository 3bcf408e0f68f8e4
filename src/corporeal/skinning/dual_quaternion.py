"""Dual-quaternion skinning: every vertex moves rigidly, by a blend of its joints' motions.

Kavan, Collins, Žára, O'Sullivan: Geometric Skinning with Approximate Dual Quaternion Blending,
ACM Transactions on Graphics 27(4), 2008.
"""

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.body.template import Template
from corporeal.geometry.transforms import dual_quaternion_from_rigid, rigid_from_dual_quaternion
from corporeal.runtime.arrays import as_one_kind, namespace_of
from corporeal.skinning.geometric import GeometricSkinning
from corporeal.skinning.prepared import SkinKernel


def blend_dual_quaternions(
    world_from_rest: Float[Array, "*batch J 4 4"],
    joint_indices: Int[NumpyArray, "V K"],
    weights: Float[Array, "V K"],
) -> Float[Array, "*batch V 3 4"]:
    """Rigid motion of every vertex: b_v = Σ_k ± w_vk q_k, made unit (Kavan et al. 2008, eq. 6).

    q and −q are one motion, so each joint's quaternion takes the sign that agrees with the most
    influential joint's, which must stand in slot 0.
    """
    xp = namespace_of(world_from_rest, weights)
    motions = dual_quaternion_from_rigid(world_from_rest)[..., joint_indices, :]
    # q_k · q_0 of the real parts
    agreement = xp.sum(motions[..., :4] * motions[..., :1, :4], axis=-1)
    signed = xp.where(agreement < 0, -weights, weights)
    # b_v = Σ_k ± w_vk q_k
    blended = xp.sum(signed[..., None] * motions, axis=-2)
    return rigid_from_dual_quaternion(blended)[..., :3, :]


class DualQuaternionSkinning(GeometricSkinning):
    """Deformer `dqs`: keeps volume where joints twist; bulges a little where they bend."""

    name = "dqs"

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        order = np.argsort(-template.weights.values, axis=1, kind="stable")
        self._joint_indices = np.take_along_axis(template.weights.joint_indices, order, axis=1)
        self._values = np.take_along_axis(template.weights.values, order, axis=1)

    def blend(self, world_from_rest: Float[Array, "*batch J 4 4"]) -> Float[Array, "*batch V 3 4"]:
        """Motion of every vertex: a unit dual quaternion's, from its joints' motions."""
        world_from_rest, weights = as_one_kind(world_from_rest, self._values)
        return blend_dual_quaternions(world_from_rest, self._joint_indices, weights)

    def _kernel(self) -> SkinKernel:
        from corporeal.skinning.dual_quaternion_cpu import pose_and_skin_dual

        return pose_and_skin_dual
