"""What pose blend shapes add to JᵀJ, from sums over the rest skin.

A turn of joint j changes its features by T_j and the skin by B_v Σ_n p_nv T_jn. Products with the
turns about joints need of the vertices only

    X_kln = Σ_v w_vk w_vl (x_v, 1) p_nvᵀ,     4 × 3 for every pair of parts that share vertices,

and products with each other G_nm = Σ_v p_nv · p_mv, which takes every B_v for a rotation; the
gradient that all this serves is exact.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.weights import SkinWeights
from corporeal.runtime.threads import over_slices
from corporeal.skinning.kinematics import KinematicState


@dataclass(frozen=True)
class PartSums:
    """X_kln of one part k."""

    partners: Int[NumpyArray, "l"]
    """Parts that share vertices with it."""
    values: Float64[NumpyArray, "r c"]
    """Rows: features times 4; columns: partners times 3."""


@dataclass(frozen=True)
class CorrectiveMoments:
    """Of one rest skin and its pose blend shapes."""

    parts: tuple[PartSums, ...]
    """Sums over the vertices of every part of the skin."""
    gram: Float64[NumpyArray, "k f k f"]
    """G_nm, by joint (without the root) and its features, m²."""


def corrective_moments(
    rest: Float[NumpyArray, "V 3"],
    influences: SkinWeights,
    pose_offsets: Float[NumpyArray, "P V 3"],
) -> CorrectiveMoments:
    """Sums over all vertices."""
    count, joints = len(pose_offsets), influences.joint_count - 1
    flat = pose_offsets.reshape(count, -1)
    gram = (flat @ flat.T).astype(np.float64).reshape(joints, count // joints, joints, -1)
    return CorrectiveMoments(part_sums(rest, influences, pose_offsets), gram)


def part_sums(
    rest: Float[NumpyArray, "V 3"],
    influences: SkinWeights,
    offsets: Float[NumpyArray, "P V 3"],
) -> tuple[PartSums, ...]:
    """X_kln of every part k, for any offsets of the rest skin."""
    from corporeal.skinning.gradients_cpu import pair_offset_moments

    count = len(offsets)
    dense = influences.dense() > 0
    shared = (dense.T.astype(np.float64) @ dense) > 0
    numbers = np.full(shared.shape, -1)
    numbers[shared] = np.arange(shared.sum())
    sums = np.zeros((int(shared.sum()), count, 4, 3))
    values = influences.values.astype(np.float64)

    def work(first: int, last: int) -> None:
        pair_offset_moments(
            rest, influences.joint_indices, values, offsets, numbers, sums, first, last
        )

    over_slices(work, count)
    parts = []
    for k in range(influences.joint_count):
        partners = np.flatnonzero(shared[k])
        columns = np.moveaxis(sums[numbers[k, partners]], 0, 2)  # P 4 l 3
        parts.append(PartSums(partners, columns.reshape(4 * count, -1).copy()))
    return tuple(parts)


def add_correctives(
    hessians: Float64[NumpyArray, "N m m"],
    moments: CorrectiveMoments,
    state: KinematicState,
    slopes: Float64[NumpyArray, "N k f 3"],
    descendants: Float64[NumpyArray, "J J"],
) -> None:
    """Add to `hessians` (of turns and translation, m = 3 J + 3) what pose blend shapes do."""
    count, joints, size, _ = slopes.shape
    rows, _ = offset_rows(moments.parts, state, descendants)
    rows = rows.reshape(count, -1, joints, size)
    # Σ_n of joint j': (rows, j', f) × (j', f, 3)
    cross = np.swapaxes(np.swapaxes(rows, 1, 2) @ slopes, 1, 2)
    cross = cross.reshape(count, rows.shape[1], -1)
    hessians[:, :, 3:-3] += cross
    hessians[:, 3:-3, :] += np.swapaxes(cross, 1, 2)
    right = np.einsum("jfkg,nkgb->njfkb", moments.gram, slopes, optimize=True)
    own = np.einsum("njfa,njfkb->njakb", slopes, right, optimize=True)
    hessians[:, 3:-3, 3:-3] += own.reshape(count, 3 * joints, 3 * joints)


def offset_rows(
    parts: tuple[PartSums, ...], state: KinematicState, descendants: Float64[NumpyArray, "J J"]
) -> tuple[Float64[NumpyArray, "N m P"], Float64[NumpyArray, "N J 3 P"]]:
    """J_θᵀ times rest offsets p_n of the skin (turns, then translation), and Σ_v w_k B p_n."""
    arms, sums = _about_origin(parts, state)
    count, features = len(arms), len(parts[0].values) // 4
    width = 3 * features
    arms = (descendants.T @ arms.reshape(count, -1, width)).reshape(arms.shape)
    gathered = (descendants.T @ sums.reshape(count, -1, width)).reshape(sums.shape)
    arms -= _crossed(state.centres, gathered)
    rows = np.concatenate([arms.reshape(count, -1, features), gathered[:, 0]], axis=1)
    return rows, sums


def _about_origin(
    parts: tuple[PartSums, ...], state: KinematicState
) -> tuple[Float64[NumpyArray, "N J 3 P"], Float64[NumpyArray, "N J 3 P"]]:
    """Σ_v w_k (A_k x) × (B p) and Σ_v w_k B p, of every part k and feature."""
    count, joint_count = state.world_rotations.shape[:2]
    features = len(parts[0].values) // 4
    arms = np.empty((count, joint_count, 3, features))
    sums = np.empty_like(arms)
    for k, part in enumerate(parts):
        # Σ_l X_kln Q_lᵀ
        rotations = np.swapaxes(state.world_rotations[:, part.partners], -1, -2).reshape(
            count, -1, 3
        )
        moved = (part.values @ rotations).reshape(count, features, 4, 3)
        sums[:, k] = np.swapaxes(moved[:, :, 3], 1, 2)
        posed = state.world_rotations[:, k, None] @ moved[:, :, :3]
        posed += state.translations[:, k, None, :, None] * moved[:, :, 3, None, :]
        for axis in range(3):
            b, c = (axis + 1) % 3, (axis + 2) % 3
            arms[:, k, axis] = posed[:, :, b, c] - posed[:, :, c, b]
    return arms, sums


def _crossed(
    vectors: Float64[NumpyArray, "N J 3"], others: Float64[NumpyArray, "N J 3 P"]
) -> Float64[NumpyArray, "N J 3 P"]:
    x, y, z = (vectors[:, :, a, None] for a in range(3))
    p, q, r = others[:, :, 0], others[:, :, 1], others[:, :, 2]
    return np.stack([y * r - z * q, z * p - x * r, x * q - y * p], axis=2)
