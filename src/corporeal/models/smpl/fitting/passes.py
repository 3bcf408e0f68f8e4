"""Energy and exact derivatives of many posed skins, without Jacobians.

A pass over the vertices sums up what the parts' motions need (`skins_cpu`); a turn δ_j of all parts
below joint j about its centre g_j then changes E = ½ Σ ‖t' − target‖² by

    ∂E/∂δ_j = Σ_{k below j} (torque_k − g_j × force_k)  +  Σ_n (∂E/∂f_n) ∂f_n/∂δ_j,

force_k being ∂E/∂τ_k, and the last term the pose blend shapes': ∂E/∂f_n = Σ_v p_nv · Bᵀ r.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.body.weights import SkinWeights
from corporeal.geometry.rotations import (
    conjugate_quaternion,
    multiply_quaternions,
    quaternion_from_matrix,
)
from corporeal.models.smpl.fitting.chains import Chains
from corporeal.runtime.threads import over_slices


@dataclass(frozen=True)
class SkinPass:
    """What one pass found, of N registrations."""

    squares: Float64[NumpyArray, "N"]
    """Σ_v ‖r_v‖², m²."""
    distances: Float64[NumpyArray, "N"]
    """Mean of ‖r_v‖, metres."""
    torques: Float64[NumpyArray, "N J 3"]
    """∂E by a turn of part k about the origin."""
    forces: Float64[NumpyArray, "N J 3"]
    """∂E/∂τ_k, metres."""
    back: Float[NumpyArray, "N V 3"]
    """Bᵀ r in the rest frame, metres."""


def influences_of(weights: Float[NumpyArray, "V J"], most: int = 4) -> SkinWeights:
    """The largest weights of every vertex, the largest first."""
    return SkinWeights.from_dense(weights, most)


def pass_over(
    blending: Blending,
    influences: SkinWeights,
    points: Float[NumpyArray, "N V 3"],
    chains: Chains,
    targets: Float[NumpyArray, "N V 3"],
) -> SkinPass:
    """Pose `points` (rest skin with its offsets) and compare with `targets`."""
    from corporeal.models.smpl import posed_vertices_cpu as skins_cpu

    count, dtype = len(points), points.dtype
    squares, distances = np.empty(count), np.empty(count)
    back = np.empty_like(points)
    linear = blending == "lbs"
    motions = motions_of(blending, chains)
    sums = np.empty(motions.shape)
    run = skins_cpu.linear_pass if linear else skins_cpu.dual_pass
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
    return SkinPass(squares, distances / points.shape[1], torques, forces, back)


def posed_blocks(
    blending: Blending,
    influences: SkinWeights,
    points: Float[NumpyArray, "I V 3"],
    owners: Int[NumpyArray, "N"],
    motions: Float[NumpyArray, "N J *m"],
) -> tuple[Float[NumpyArray, "N V 3 3"], Float[NumpyArray, "N V 3"]]:
    """B_v and B_v x + c_v in every pose n, of the skin `points[owners[n]]`; see `motions_of`."""
    from corporeal.models.smpl import posed_vertices_cpu as skins_cpu

    count, size, dtype = len(motions), points.shape[1], points.dtype
    blended, moved = np.empty((count, size, 3, 3), dtype), np.empty((count, size, 3), dtype)
    values, cast = influences.values.astype(dtype), motions.astype(dtype)
    run = skins_cpu.linear_block if blending == "lbs" else skins_cpu.dual_block

    def work(first: int, last: int) -> None:
        run(
            points, owners, influences.joint_indices, values, cast, blended, moved, first, last
        )  # fmt: skip

    over_slices(work, count, 4)
    return blended, moved


def motions_of(blending: Blending, chains: Chains) -> Float64[NumpyArray, "N J *m"]:
    """The parts' motions as the blend takes them: (Q | τ), 3 × 4, or q̂, 8 numbers."""
    return _affine(chains) if blending == "lbs" else dual_quaternions(chains)


def dual_quaternions(chains: Chains) -> Float64[NumpyArray, "N J 8"]:
    """q̂_k = q + ε ½ τ q of every part."""
    turns = quaternion_from_matrix(chains.world)
    duals = 0.5 * multiply_quaternions(_pure(chains.shifts), turns)
    return np.concatenate([turns, duals], axis=-1)


def _affine(chains: Chains) -> Float64[NumpyArray, "N J 3 4"]:
    return np.concatenate([chains.world, chains.shifts[..., None]], axis=-1)


def _dual_wrench(motions: NumpyArray, sums: NumpyArray) -> tuple[NumpyArray, NumpyArray]:
    """From dq̂ = ½ (δ + ε g × δ) q̂: torque = ½ vec(s_b q* + s_d d*), force = ½ vec(s_d q*)."""
    turns, duals = motions[..., :4], motions[..., 4:]
    by_real, by_dual = sums[..., :4], sums[..., 4:]
    forces = multiply_quaternions(by_dual, conjugate_quaternion(turns))
    torques = multiply_quaternions(by_real, conjugate_quaternion(turns))
    torques = torques + multiply_quaternions(by_dual, conjugate_quaternion(duals))
    return 0.5 * torques[..., 1:], 0.5 * forces[..., 1:]


def _pure(vectors: NumpyArray) -> NumpyArray:
    return np.concatenate([np.zeros_like(vectors[..., :1]), vectors], axis=-1)
