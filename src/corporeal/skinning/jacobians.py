"""Linear and dual-quaternion blend skinning with their exact derivatives.

Joint k of the posed tree moves a point by A_k x = Q_k x + τ_k (`KinematicState`). A blend gives
every vertex an affine motion t'_v = B_v x_v + c_v. Rotations change on their manifold: joint j
turns by a small vector δ_j in the world's axes, about its centre g_j, and takes its descendants
along (`kinematics.rotate_joints`),

    dQ_k = [δ_j]ₓ Q_k,   dg_k = δ_j × (g_k − g_j)          for k among the descendants of j, j too.

Linear blending (Magnenat-Thalmann et al. 1988): B_v = Σ_k w_vk Q_k, c_v = Σ_k w_vk τ_k, and

    ∂t'_v: δ_j × Σ_{k desc. of j} w_vk (A_k x_v − g_j).

Dual quaternions (Kavan et al. 2008): with b̂_v = Σ_k ± w_vk q̂_k, real part b and dual part d, and
n = ‖b‖², t'_v = (b x b* + 2 d b*) / n; every descendant of j changes by dq̂ = ½ (δ + ε g_j × δ) q̂.

In both, B_v is the derivative by the rest vertex, c_v is linear in the translations τ while the
rotations are held, and these are linear in the rest joints:

    τ_k = Σ_m D_km (Q_parent(m) − Q_m) j_m,     D_km = 1 where k is a descendant of m, or is it.

The classes are written once for NumPy, JAX and PyTorch and take batches of poses;
the derivative by rotations is in `sparse_jacobians` again, compiled and sparse, for NumPy.

======= ====================================================== ==========================
Q_k     world rotation of joint k                              `world_rotations`    J 3 3
g_k     posed joint centre, metres                             `centres`            J 3
τ_k     where joint k's motion takes the origin, metres        `translations`       J 3
B_v     blended matrix                                         `blended`            V 3 3
D_kj    1 where joint k is a descendant of j, or is it         `descendants`        J J
======= ====================================================== ==========================
"""

from abc import ABC, abstractmethod

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.geometry.rotations import (
    conjugate_quaternion,
    cross_matrix,
    multiply_quaternions,
)
from corporeal.geometry.transforms import dual_quaternion_from_parts
from corporeal.runtime.arrays import as_kind_of, full_precision, namespace_of
from corporeal.skinning.dual_quaternion import rigid_rows
from corporeal.skinning.kinematics import (
    KinematicState,
    descendants,
    joint_centres,
    parent_rotations,
    rotated,
)
from corporeal.skinning.linear import blend_linear


class Blend(ABC):
    """The vertices' motions in one pose or a batch; all arrays of the weights' dtype."""

    blended: Float[Array, "*batch V 3 3"]
    """B_v = ∂t'_v/∂x_v."""
    shifts: Float[Array, "*batch V 3"]
    """c_v, metres."""

    def moved(self, points: Float[Array, "*#batch V 3"]) -> Float[Array, "..."]:
        """t'_v = B_v x_v + c_v, `*batch V 3`, metres."""
        return rotated(self.blended, points) + self.shifts

    @abstractmethod
    def by_translations(self, maps: Float[Array, "*#batch J 3 m"]) -> Float[Array, "..."]:
        """∂t'_v, `*batch V 3 m`, by what moves the joints' translations τ_k by `maps`."""

    @abstractmethod
    def by_rotations(
        self,
        points: Float[Array, "*#batch V 3"],
        centres: Float[Array, "*#batch J 3"],
        parents: tuple[int, ...],
    ) -> Float[Array, "..."]:
        """∂t'_v/∂δ_j, `*batch V 3 J 3`, metres a radian."""

    @abstractmethod
    def by_weights(
        self, points: Float[Array, "*#batch V 3"], candidates: Int[NumpyArray, "V c"]
    ) -> Float[Array, "..."]:
        """∂t'_v by the weight of each candidate joint, `*batch V c 3`, metres."""


def make_blend(
    kind: Blending,
    weights: Float[Array, "V J"],
    world_rotations: Float[Array, "*batch J 3 3"],
    translations: Float[Array, "*batch J 3"],
) -> Blend:
    """The motions of vertices that follow joints by `weights`, which sum to one a vertex."""
    made = LinearBlend if kind == "lbs" else DualQuaternionBlend
    return made(weights, world_rotations, translations)


class LinearBlend(Blend):
    """Linear blend skinning."""

    def __init__(
        self,
        weights: Float[Array, "V J"],
        world_rotations: Float[Array, "*batch J 3 3"],
        translations: Float[Array, "*batch J 3"],
    ) -> None:
        xp = namespace_of(world_rotations, weights)
        self._weights = weights if xp is namespace_of(weights) else xp.asarray(weights)
        motions = xp.concat([world_rotations, translations[..., None]], axis=-1)
        self._motions = xp.astype(motions, self._weights.dtype)
        blended = blend_linear(self._motions, self._weights)
        self.blended, self.shifts = blended[..., :3], blended[..., 3]

    def by_translations(self, maps: Float[Array, "*#batch J 3 m"]) -> Float[Array, "..."]:
        """Σ_k w_vk ∂τ_k."""
        xp = namespace_of(maps, self._weights)
        rows = xp.reshape(maps, (*maps.shape[:-2], -1))
        with full_precision(xp):
            flat = xp.matmul(self._weights, xp.astype(rows, self._weights.dtype))
        return xp.reshape(flat, (*flat.shape[:-1], 3, -1))

    def by_rotations(
        self,
        points: Float[Array, "*#batch V 3"],
        centres: Float[Array, "*#batch J 3"],
        parents: tuple[int, ...],
    ) -> Float[Array, "..."]:
        """δ × m with m_vj = Σ_{k desc. of j} w_vk (A_k x_v − g_j)."""
        below = as_kind_of(self._weights, descendants(parents))
        moved = self._by_joints(points) * self._weights[..., None]
        centres = as_kind_of(self._weights, centres)
        arms = _gathered(moved, below)
        xp = namespace_of(arms)
        with full_precision(xp):
            mass = xp.matmul(self._weights, below)
        arms = arms - mass[..., None] * centres[..., None, :, :]
        # δ × m = −[m]ₓ δ
        return xp.moveaxis(-cross_matrix(arms), -2, -3)

    def by_weights(
        self, points: Float[Array, "*#batch V 3"], candidates: Int[NumpyArray, "V c"]
    ) -> Float[Array, "..."]:
        """A_k x_v."""
        motions = self._motions[..., candidates, :, :]
        return rotated(motions[..., :3], points[..., None, :]) + motions[..., 3]

    def _by_joints(self, points: Array) -> Float[Array, "*batch V J 3"]:
        xp = namespace_of(points, self._motions)
        batch, count = self._motions.shape[:-3], self._motions.shape[-3]
        columns = xp.reshape(self._motions[..., :3], (*batch, 3 * count, 3))
        with full_precision(xp):
            turned = xp.matmul(points, xp.matrix_transpose(columns))
        turned = xp.reshape(turned, (*turned.shape[:-1], count, 3))
        return turned + self._motions[..., None, :, :, 3]


class DualQuaternionBlend(Blend):
    """Dual-quaternion blend skinning."""

    def __init__(
        self,
        weights: Float[Array, "V J"],
        world_rotations: Float[Array, "*batch J 3 3"],
        translations: Float[Array, "*batch J 3"],
    ) -> None:
        xp = namespace_of(world_rotations, weights)
        pivots = np.asarray(weights).argmax(axis=1)
        weights = weights if xp is namespace_of(weights) else xp.asarray(weights)
        motions = dual_quaternion_from_parts(world_rotations, translations)
        real, dual = motions[..., :4], motions[..., 4:]
        with full_precision(xp):
            agreement = xp.matmul(real[..., pivots, :], xp.matrix_transpose(real))
            # −q̂ is the same motion: each has the sign of the vertex's most influential joint
            signs = xp.where(agreement < 0, -1.0, 1.0)
            self._signs = xp.astype(signs, weights.dtype)
            self._joint_real = xp.astype(real, weights.dtype)
            self._joint_dual = xp.astype(dual, weights.dtype)
            self._signed = weights * self._signs
            self._real = xp.matmul(self._signed, self._joint_real)
            self._dual = xp.matmul(self._signed, self._joint_dual)
        self._square = xp.sum(self._real**2, axis=-1)
        rows = rigid_rows(*(q[..., i] for q in (self._real, self._dual) for i in range(4)))
        self.blended = xp.stack([xp.stack(row[:3], axis=-1) for row in rows], axis=-2)
        self.shifts = xp.stack([row[3] for row in rows], axis=-1)

    def by_translations(self, maps: Float[Array, "*#batch J 3 m"]) -> Float[Array, "..."]:
        """∂c = 2 vec(∂d b*) / n from ∂d = Σ_k ± w_vk ½ ∂τ_k q_k."""
        xp = namespace_of(maps, self._real)
        columns = xp.astype(xp.matrix_transpose(maps), self._real.dtype)  # J m 3
        each = 0.5 * multiply_quaternions(_pure(columns), self._joint_real[..., None, :])
        rows = xp.reshape(each, (*each.shape[:-2], -1))
        with full_precision(xp):
            dual = xp.matmul(self._signed, rows)
        dual = xp.reshape(dual, (*dual.shape[:-1], -1, 4))
        back = conjugate_quaternion(self._real)[..., None, :]
        moved = multiply_quaternions(dual, back)[..., 1:]
        return xp.matrix_transpose(2.0 * moved / self._square[..., None, None])

    def by_rotations(
        self,
        points: Float[Array, "*#batch V 3"],
        centres: Float[Array, "*#batch J 3"],
        parents: tuple[int, ...],
    ) -> Float[Array, "..."]:
        """From db = ½ δ H, dd = ½ δ D + ½ (g_j × δ) H; H, D the sums over descendants of j."""
        xp = namespace_of(points, self._real)
        below = as_kind_of(self._real, descendants(parents))
        centres = as_kind_of(self._real, centres)
        real = _gathered(self._signed[..., None] * self._joint_real[..., None, :, :], below)
        dual = _gathered(self._signed[..., None] * self._joint_dual[..., None, :, :], below)
        columns = []
        for axis in range(3):
            turn = as_kind_of(self._real, 0.5 * np.eye(3)[axis])
            shift = _pure(rotated(cross_matrix(centres), turn))[..., None, :, :]
            change = multiply_quaternions(_pure(turn), real)
            dual_change = multiply_quaternions(_pure(turn), dual)
            dual_change = dual_change + multiply_quaternions(shift, real)
            columns.append(self._by_quaternions(points, change, dual_change))
        return xp.moveaxis(xp.stack(columns, axis=-1), -2, -3)

    def by_weights(
        self, points: Float[Array, "*#batch V 3"], candidates: Int[NumpyArray, "V c"]
    ) -> Float[Array, "..."]:
        """From db̂ = ± q̂_k."""
        signs = self._signs[..., np.arange(len(candidates))[:, None], candidates][..., None]
        return self._by_quaternions(
            points,
            signs * self._joint_real[..., candidates, :],
            signs * self._joint_dual[..., candidates, :],
        )

    def _by_quaternions(
        self,
        points: Float[Array, "*#batch V 3"],
        real: Float[Array, "*#batch V c 4"],
        dual: Float[Array, "*#batch V c 4"],
    ) -> Float[Array, "..."]:
        """dt' = (2 vec(db x b* + dd b* + d db*) − 2 t' (b · db)) / n, `*batch V c 3`."""
        xp = namespace_of(points, self._real)
        back = conjugate_quaternion(self._real)[..., None, :]
        turned = multiply_quaternions(_pure(points), conjugate_quaternion(self._real))
        change = multiply_quaternions(real, turned[..., None, :])
        change = change + multiply_quaternions(dual, back)
        change = change + multiply_quaternions(self._dual[..., None, :], conjugate_quaternion(real))
        along = xp.sum(self._real[..., None, :] * real, axis=-1, keepdims=True)
        moved = self.moved(points)[..., None, :]
        return 2.0 * (change[..., 1:] - moved * along) / self._square[..., None, None]


def by_shape(
    blend: Blend,
    world_rotations: Float[Array, "*batch J 3 3"],
    parents: tuple[int, ...],
    vertex_offsets: Float[Array, "S V 3"],
    joint_offsets: Float[Array, "S J 3"],
) -> Float[Array, "*batch V 3 S"]:
    """∂t'_v by coefficients that move rest vertices and rest joints by these offsets, metres."""
    rotations = world_rotations[..., None, :, :, :]
    centres = joint_centres(rotations, joint_offsets, parents)
    translations = centres - rotated(rotations, joint_offsets)  # S J 3
    xp = namespace_of(translations, blend.blended)
    turned = xp.matmul(blend.blended, xp.permute_dims(vertex_offsets, (1, 2, 0)))
    return turned + blend.by_translations(xp.moveaxis(translations, -3, -1))


def translation_maps(
    world_rotations: Float[Array, "*batch J 3 3"], parents: tuple[int, ...]
) -> Float[Array, "*batch J 3 m"]:
    """∂τ_k by all rest joints, rotations held; m = 3 J: D_km (Q_parent(m) − Q_m)."""
    xp = namespace_of(world_rotations)
    rotation_vectors = parent_rotations(world_rotations, parents) - world_rotations
    rows = xp.reshape(
        xp.moveaxis(rotation_vectors, -3, -2), (*rotation_vectors.shape[:-3], 1, 3, -1)
    )
    # (k, a, m b): D_km T_mab
    return as_kind_of(rotation_vectors, np.repeat(descendants(parents), 3, axis=1)[:, None]) * rows


def centres_by_rotations(
    centres: Float[Array, "*batch J 3"], parents: tuple[int, ...]
) -> Float[Array, "*batch J 3 J 3"]:
    """∂g_k/∂δ_j of the posed joint centres, metres a radian: D_kj δ × (g_k − g_j)."""
    xp = namespace_of(centres)
    below = as_kind_of(centres, descendants(parents))
    arms = below[..., None] * (centres[..., :, None, :] - centres[..., None, :, :])
    return xp.moveaxis(-cross_matrix(arms), -2, -3)


def joint_motions(blending: Blending, state: KinematicState) -> Float[Array, "..."]:
    """The joints' motions as the blend takes them, `*batch J`: (Q | τ), 3 × 4, or q̂, 8 numbers."""
    xp = namespace_of(state.world_rotations)
    if blending == "lbs":
        return xp.concat([state.world_rotations, state.translations[..., None]], axis=-1)
    return dual_quaternion_from_parts(state.world_rotations, state.translations)


def _gathered(values: Float[Array, "*batch V J c"], below: Float[Array, "J J"]) -> Array:
    """Σ_k D_kj values_vk, `*batch V J c`, as one product of matrices."""
    xp = namespace_of(values, below)
    rows = xp.matrix_transpose(values)
    flat = xp.reshape(rows, (-1, rows.shape[-1]))
    with full_precision(xp):
        gathered = xp.matmul(flat, below)
    return xp.matrix_transpose(xp.reshape(gathered, rows.shape))


def _pure(vectors: Float[Array, "*batch 3"]) -> Float[Array, "*batch 4"]:
    xp = namespace_of(vectors)
    return xp.concat([xp.zeros_like(vectors[..., :1]), vectors], axis=-1)
