"""JᵀJ of many posed skins by their joints' rotations, from moments of the rest skin.

With linear blending and fixed offsets, JᵀJ needs of the vertices only

    M_kl = Σ_v w_vk w_vl (x_v, 1)(x_v, 1)ᵀ,

4 × 4 for each pair of parts that share vertices: posing a skin of any size costs the same. It is
exact there, and a good metric where pose offsets or dual quaternions add a little to it.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.weights import SkinWeights
from corporeal.geometry.rotations import cross_matrix
from corporeal.runtime.threads import over_slices
from corporeal.skinning.kinematics import KinematicState, descendants


@dataclass(frozen=True)
class Moments:
    """Of one rest skin, or of one for each pose."""

    values: Float64[NumpyArray, "n J J 4 4"]
    """M_kl; n = 1 serves all poses."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""

    @property
    def descendants(self) -> Float64[NumpyArray, "J J"]:
        """Row k, column j: 1 where joint k is a descendant of joint j, or is it."""
        return descendants(self.parents)

    @cached_property
    def pairs(self) -> Int[NumpyArray, "p 2"]:
        """Parts that share vertices."""
        return np.argwhere(np.abs(self.values).max(axis=(0, 3, 4)) > 0)


def skin_moments(
    points: Float[NumpyArray, "n V 3"],
    influences: SkinWeights,
    parents: tuple[int, ...],
) -> Moments:
    """Σ_v w_vk w_vl (x_v, 1)(x_v, 1)ᵀ."""
    from corporeal.skinning.gradients_cpu import pair_moments

    values = np.zeros((len(points), len(parents), len(parents), 4, 4))
    weights = influences.values.astype(np.float64)

    def work(first: int, last: int) -> None:
        pair_moments(points, influences.joint_indices, weights, values, first, last)

    over_slices(work, len(points))
    return Moments(values, parents)


def rotation_normal_matrices(
    moments: Moments, state: KinematicState
) -> Float64[NumpyArray, "N m m"]:
    """JᵀJ by the rotations δ of all joints, then the translation: m = 3 J + 3.

    [p]ₓᵀ[q]ₓ = (p · q) I − q pᵀ, with p the arm of a vertex about joint j, q about joint j'.
    """
    count, joint_count = len(state.world_rotations), len(moments.parents)
    below, centres = moments.descendants, state.centres
    second, first = _posed(moments, state)
    second = _summed(below, second.reshape(count, joint_count, joint_count, 9))
    second = second.reshape(count, joint_count, joint_count, 3, 3)
    first = _summed(below, first)
    mass = below.T @ moments.values[0, :, :, 3, 3] @ below  # of weights alone
    # N_jj' = Σ (A_k x − g_j)(A_l x − g_j')ᵀ
    arms = second - first[..., :, None] * centres[:, None, :, None, :]
    arms -= centres[:, :, None, :, None] * np.swapaxes(first, 1, 2)[..., None, :]
    arms += mass[..., None, None] * centres[:, :, None, :, None] * centres[:, None, :, None, :]
    size = 3 * joint_count
    result = np.zeros((count, size + 3, size + 3))
    rotation_vectors = np.trace(arms, axis1=3, axis2=4)[..., None, None] * np.eye(3)
    rotation_vectors = rotation_vectors - np.swapaxes(arms, 3, 4)
    result[:, :size, :size] = np.moveaxis(rotation_vectors, 3, 2).reshape(count, size, size)
    # the root's column gathers all parts
    mean = first[:, :, 0] - mass[:, 0, None] * centres
    result[:, :size, size:] = cross_matrix(mean).reshape(count, size, 3)
    result[:, size:, :size] = np.swapaxes(result[:, :size, size:], 1, 2)
    result[:, size:, size:] = mass[0, 0] * np.eye(3)
    return result


def rotation_translation_products(
    moments: Moments, state: KinematicState, maps: Float64[NumpyArray, "N J 3 p"]
) -> Float64[NumpyArray, "N m p"]:
    """J_θᵀ times what moves the translations τ by `maps`: [Σ_v w_vl m_vj]ₓ maps_l, summed.

    Rows are the rotations of all joints, then the translation.
    """
    count, joint_count = len(state.world_rotations), len(moments.parents)
    _, first = _posed(moments, state)
    below, mass = moments.descendants, moments.values[0, :, :, 3, 3]
    arms = (below.T @ first.reshape(count, joint_count, -1)).reshape(first.shape)
    arms -= (below.T @ mass)[:, :, None] * state.centres[:, :, None]
    rotation_vectors = np.moveaxis(
        cross_matrix(arms.reshape(count, -1, 3)).reshape(*arms.shape, 3), 2, 3
    )
    rotation_vectors = rotation_vectors.reshape(count, 3 * joint_count, 3 * joint_count)
    flat = maps.reshape(count, 3 * joint_count, -1)
    shared = np.einsum("l,nlap->nap", mass.sum(axis=0), maps)
    return np.concatenate([rotation_vectors @ flat, shared], axis=1)


def _posed(moments: Moments, state: KinematicState) -> tuple[NumpyArray, NumpyArray]:
    """Σ w w (A_k x)(A_l x)ᵀ and Σ w w A_k x of every pair of parts."""
    count, joint_count = len(state.world_rotations), len(moments.parents)
    left, right = moments.pairs.T
    motions = np.concatenate([state.world_rotations, state.translations[..., None]], axis=-1)
    half = motions[:, left] @ moments.values[:, left, right]
    second = np.zeros((count, joint_count, joint_count, 3, 3))
    first = np.zeros((count, joint_count, joint_count, 3))
    second[:, left, right] = half @ np.swapaxes(motions[:, right], -1, -2)
    first[:, left, right] = half[..., 3]
    return second, first


def _summed(below: NumpyArray, values: Float64[NumpyArray, "N J J c"]) -> NumpyArray:
    """Σ_{k desc. of j} Σ_{l desc. of j'} of every pair."""
    count, joint_count, _, width = values.shape
    rows = below.T @ values.reshape(count, joint_count, -1)
    columns = np.swapaxes(rows.reshape(count, joint_count, joint_count, width), 2, 3)
    return np.swapaxes(columns @ below, 2, 3)
