"""Products of a residual with the Jacobians of many posed skins, without writing those down.

With r = t' − target and E = ½ Σ ‖r‖², one compiled pass over the vertices (`gradients_cpu`) sums up
for every joint k what its motion needs: force_k = ∂E/∂τ_k and torque_k, by a rotation of its part
about the origin. Rotating joint j by δ_j about its centre g_j takes its descendants along,

    ∂E/∂δ_j = Σ_{k desc. of j} (torque_k − g_j × force_k),

and rest vertices pull by Bᵀ r.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.body.weights import SkinWeights
from corporeal.geometry.rotations import conjugate_quaternion, multiply_quaternions
from corporeal.runtime.threads import over_slices
from corporeal.skinning.jacobians import joint_motions
from corporeal.skinning.kinematics import KinematicState


@dataclass(frozen=True)
class SkinGradient:
    """Squared distances of N posed skins from their targets, and their derivatives."""

    squares: Float64[NumpyArray, "N"]
    """Σ_v ‖r_v‖², m²."""
    distances: Float64[NumpyArray, "N"]
    """Mean of ‖r_v‖, metres."""
    torques: Float64[NumpyArray, "N J 3"]
    """∂E by a rotation of the part of joint k about the origin, m² a radian."""
    forces: Float64[NumpyArray, "N J 3"]
    """∂E/∂τ_k, metres."""
    back: Float[NumpyArray, "N V 3"]
    """Bᵀ r in the rest frame, metres."""


def influences_of(weights: Float[NumpyArray, "V J"], most: int = 4) -> SkinWeights:
    """The largest weights of every vertex, the largest first."""
    return SkinWeights.from_dense(weights, most)


def skin_gradient(
    blending: Blending,
    influences: SkinWeights,
    points: Float[NumpyArray, "N V 3"],
    state: KinematicState,
    targets: Float[NumpyArray, "N V 3"],
) -> SkinGradient:
    """Pose `points` (rest vertices of every pose, metres) and compare with `targets`."""
    from corporeal.skinning import gradients_cpu

    count, dtype = len(points), points.dtype
    squares, distances = np.empty(count), np.empty(count)
    back = np.empty_like(points)
    linear = blending == "lbs"
    motions = joint_motions(blending, state)
    sums = np.empty(motions.shape)
    run = gradients_cpu.linear_pass if linear else gradients_cpu.dual_pass
    values, cast = influences.values.astype(dtype), motions.astype(dtype)

    def work(first: int, last: int) -> None:
        run(
            points, influences.joint_indices, values, cast, targets, back, sums, squares,
            distances, first, last,
        )  # fmt: skip

    over_slices(work, count)
    if linear:
        # torque_k = Σ_c a_c × G_c, a_c the columns of (Q | τ)
        torques = np.cross(np.swapaxes(motions, 2, 3), np.swapaxes(sums, 2, 3)).sum(axis=2)
        forces = sums[..., 3]
    else:
        torques, forces = _dual_wrench(motions, sums)
    return SkinGradient(squares, distances / points.shape[1], torques, forces, back)


def rotation_gradient(
    state: KinematicState,
    torques: Float64[NumpyArray, "N J 3"],
    forces: Float64[NumpyArray, "N J 3"],
    descendants: Float64[NumpyArray, "J J"],
) -> Float64[NumpyArray, "N m"]:
    """∂E/∂δ_j = Σ_{k desc. of j} (torque_k − g_j × force_k), then Σ_k force_k; m = 3 J + 3."""
    torque, force = descendants.T @ torques, descendants.T @ forces
    rotation_vectors = torque - np.cross(state.centres, force)
    return np.concatenate(
        [rotation_vectors.reshape(len(rotation_vectors), -1), force[:, 0]], axis=1
    )


def posed_blocks(
    blending: Blending,
    influences: SkinWeights,
    points: Float[NumpyArray, "I V 3"],
    owners: Int[NumpyArray, "N"],
    state: KinematicState,
) -> tuple[Float[NumpyArray, "N V 3 3"], Float[NumpyArray, "N V 3"]]:
    """B_v and B_v x + c_v in every pose n, of the rest vertices `points[owners[n]]`, metres."""
    from corporeal.skinning import gradients_cpu

    motions = joint_motions(blending, state)
    count, size, dtype = len(motions), points.shape[1], points.dtype
    blended, moved = np.empty((count, size, 3, 3), dtype), np.empty((count, size, 3), dtype)
    values, cast = influences.values.astype(dtype), motions.astype(dtype)
    run = gradients_cpu.linear_block if blending == "lbs" else gradients_cpu.dual_block

    def work(first: int, last: int) -> None:
        run(
            points, owners, influences.joint_indices, values, cast, blended, moved, first, last
        )  # fmt: skip

    over_slices(work, count, 4)
    return blended, moved


def _dual_wrench(motions: NumpyArray, sums: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
    """From dq̂ = ½ (δ + ε g × δ) q̂: torque = ½ vec(s_b q* + s_d d*), force = ½ vec(s_d q*)."""
    rotation_vectors, duals = motions[..., :4], motions[..., 4:]
    by_real, by_dual = sums[..., :4], sums[..., 4:]
    forces = multiply_quaternions(by_dual, conjugate_quaternion(rotation_vectors))
    torques = multiply_quaternions(by_real, conjugate_quaternion(rotation_vectors))
    torques = torques + multiply_quaternions(by_dual, conjugate_quaternion(duals))
    return 0.5 * torques[..., 1:], 0.5 * forces[..., 1:]
