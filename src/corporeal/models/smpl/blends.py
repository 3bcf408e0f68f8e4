"""How the motions of parts become the motion of a vertex, with all that training differentiates.

Part k moves a point by A_k x = Q_k x + τ_k. A blend gives every vertex an affine motion
t'_v = B_v x_v + c_v, where c_v is linear in the shifts τ of the parts while their rotations are
held, and says how t'_v changes when a joint turns (`by_turns`) or a weight does (`by_weights`).

Linear: B_v = Σ_k w_vk Q_k. Dual quaternions (Kavan et al. 2008): with b̂_v = Σ_k ± w_vk q̂_k, real
part b and dual part d, and n = ‖b‖², t'_v = (b x b* + 2 d b*) / n; a joint that turns by δ about
g_j gives every part on it dq̂ = ½ (δ + ε g_j × δ) q̂.
"""

from abc import ABC, abstractmethod

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.geometry.rotations import (
    conjugate_quaternion,
    matrix_from_quaternion,
    multiply_quaternions,
    quaternion_from_matrix,
)


class Blend(ABC):
    """The vertices' motions in one pose; all arrays of the weights' dtype."""

    blended: Float[NumpyArray, "V 3 3"]
    """B_v."""
    shifts: Float[NumpyArray, "V 3"]
    """c_v, metres."""

    def moved(self, points: Float[NumpyArray, "V 3"]) -> Float[NumpyArray, "V 3"]:
        """t'_v = B_v x_v + c_v, metres."""
        return np.einsum("vab,vb->va", self.blended, points) + self.shifts

    @abstractmethod
    def carried(self, maps: Float[NumpyArray, "J 3 m"]) -> Float[NumpyArray, "V 3 m"]:
        """∂c_v by whatever moves the parts' shifts τ_k by `maps`, rotations held."""

    @abstractmethod
    def by_turns(
        self,
        points: Float[NumpyArray, "V 3"],
        centres: Float[NumpyArray, "J 3"],
        below: Float[NumpyArray, "J J"],
    ) -> Float[NumpyArray, "V 3 J 3"]:
        """∂t'_v by a turn δ_j of all parts below joint j about its centre, metres a radian."""

    @abstractmethod
    def by_weights(
        self, points: Float[NumpyArray, "V 3"], candidates: Int[NumpyArray, "V c"]
    ) -> Float[NumpyArray, "V c 3"]:
        """∂t'_v by the weight of each candidate joint, metres."""


def make_blend(
    kind: Blending,
    weights: Float[NumpyArray, "V J"],
    world: Float[NumpyArray, "J 3 3"],
    shifts: Float[NumpyArray, "J 3"],
) -> Blend:
    """The motions of vertices that follow parts by `weights`."""
    made = LinearBlend if kind == "lbs" else DualBlend
    return made(weights, world, shifts)


class LinearBlend(Blend):
    """Linear blend skinning."""

    def __init__(
        self,
        weights: Float[NumpyArray, "V J"],
        world: Float[NumpyArray, "J 3 3"],
        shifts: Float[NumpyArray, "J 3"],
    ) -> None:
        self._weights = weights
        self._motions = np.concatenate([world, shifts[:, :, None]], axis=2).astype(weights.dtype)
        # B_v = Σ_k w_vk A_k
        blended = (weights @ self._motions.reshape(-1, 12)).reshape(-1, 3, 4)
        self.blended, self.shifts = blended[:, :, :3], blended[:, :, 3]

    def carried(self, maps: Float[NumpyArray, "J 3 m"]) -> Float[NumpyArray, "V 3 m"]:
        """Σ_k w_vk ∂τ_k."""
        flat = self._weights @ maps.reshape(len(maps), -1).astype(self._weights.dtype)
        return flat.reshape(-1, 3, maps.shape[2])

    def by_turns(
        self,
        points: Float[NumpyArray, "V 3"],
        centres: Float[NumpyArray, "J 3"],
        below: Float[NumpyArray, "J J"],
    ) -> Float[NumpyArray, "V 3 J 3"]:
        """δ × m with m_vj = Σ_{k below j} w_vk (A_k x_v − g_j)."""
        moved = self._by_parts(points) * self._weights[:, :, None]
        arms = np.einsum("vka,kj->vja", moved, below, optimize=True)
        arms -= (self._weights @ below)[:, :, None] * centres.astype(points.dtype)
        slope = np.zeros((len(arms), 3, len(below), 3), points.dtype)
        # δ × m = −[m]ₓ δ
        x, y, z = arms[:, :, 0], arms[:, :, 1], arms[:, :, 2]
        slope[:, 0, :, 1], slope[:, 0, :, 2] = z, -y
        slope[:, 1, :, 0], slope[:, 1, :, 2] = -z, x
        slope[:, 2, :, 0], slope[:, 2, :, 1] = y, -x
        return slope

    def by_weights(
        self, points: Float[NumpyArray, "V 3"], candidates: Int[NumpyArray, "V c"]
    ) -> Float[NumpyArray, "V c 3"]:
        """A_k x_v."""
        motions = self._motions[candidates]
        return np.einsum("vkab,vb->vka", motions[..., :3], points) + motions[..., 3]

    def _by_parts(self, points: NumpyArray) -> Float[NumpyArray, "V J 3"]:
        count = len(self._motions)
        turned = points @ self._motions[:, :, :3].reshape(-1, 3).T
        return turned.reshape(-1, count, 3) + self._motions[:, :, 3]


class DualBlend(Blend):
    """Dual-quaternion blend skinning."""

    def __init__(
        self,
        weights: Float[NumpyArray, "V J"],
        world: Float[NumpyArray, "J 3 3"],
        shifts: Float[NumpyArray, "J 3"],
    ) -> None:
        dtype = weights.dtype
        turns = quaternion_from_matrix(np.asarray(world, np.float64))
        # q̂_k = q + ε ½ τ q
        duals = 0.5 * multiply_quaternions(_pure(np.asarray(shifts, np.float64)), turns)
        pivots = turns[weights.argmax(axis=1)]
        self._signs = np.where(pivots @ turns.T < 0, -1.0, 1.0).astype(dtype)
        self._turns, self._duals = turns.astype(dtype), duals.astype(dtype)
        signed = weights * self._signs
        self._signed = signed
        self._real, self._dual = signed @ self._turns, signed @ self._duals
        self._square = np.sum(self._real**2, axis=1)
        self.blended = matrix_from_quaternion(self._real / np.sqrt(self._square)[:, None])
        moved = multiply_quaternions(self._dual, conjugate_quaternion(self._real))
        self.shifts = 2.0 * moved[:, 1:] / self._square[:, None]

    def carried(self, maps: Float[NumpyArray, "J 3 m"]) -> Float[NumpyArray, "V 3 m"]:
        """c_v = Σ_k ± w_vk vec(τ_k q_k b*) / n, and vec(τ r) = (r_0 I − [r]ₓ) τ."""
        ratios = multiply_quaternions(self._turns[None], conjugate_quaternion(self._real)[:, None])
        ratios = ratios * (self._signed / self._square[:, None])[:, :, None]
        scalar, (x, y, z) = ratios[..., 0], np.moveaxis(ratios[..., 1:], -1, 0)
        rows = np.stack(
            [
                np.stack([scalar, z, -y], axis=-1),
                np.stack([-z, scalar, x], axis=-1),
                np.stack([y, -x, scalar], axis=-1),
            ],
            axis=1,
        )  # V 3 J 3
        count = len(self._signed)
        flat = rows.reshape(3 * count, -1) @ maps.reshape(-1, maps.shape[2]).astype(rows.dtype)
        return flat.reshape(count, 3, -1)

    def by_turns(
        self,
        points: Float[NumpyArray, "V 3"],
        centres: Float[NumpyArray, "J 3"],
        below: Float[NumpyArray, "J J"],
    ) -> Float[NumpyArray, "V 3 J 3"]:
        """From db = ½ δ H, dd = ½ δ D + ½ (g_j × δ) H, with H, D the sums over parts below j."""
        below = below.astype(points.dtype)
        real = np.einsum("vk,kq,kj->vjq", self._signed, self._turns, below, optimize=True)
        dual = np.einsum("vk,kq,kj->vjq", self._signed, self._duals, below, optimize=True)
        slope = np.empty((len(points), 3, below.shape[1], 3), points.dtype)
        for axis in range(3):
            turn = np.zeros(3, points.dtype)
            turn[axis] = 0.5
            shift = _pure(np.cross(centres.astype(points.dtype), turn))[None]
            change = multiply_quaternions(_pure(turn), real)
            dual_change = multiply_quaternions(_pure(turn), dual)
            dual_change = dual_change + multiply_quaternions(shift, real)
            slope[..., axis] = np.swapaxes(self._by_dual(points, change, dual_change), 1, 2)
        return slope

    def by_weights(
        self, points: Float[NumpyArray, "V 3"], candidates: Int[NumpyArray, "V c"]
    ) -> Float[NumpyArray, "V c 3"]:
        """From db̂ = ± q̂_k."""
        signs = np.take_along_axis(self._signs, candidates, axis=1)[:, :, None]
        return self._by_dual(
            points, signs * self._turns[candidates], signs * self._duals[candidates]
        )

    def _by_dual(
        self,
        points: Float[NumpyArray, "V 3"],
        real: Float[NumpyArray, "V c 4"],
        dual: Float[NumpyArray, "V c 4"],
    ) -> Float[NumpyArray, "V c 3"]:
        """dt' = (2 vec(db x b* + dd b* + d db*) − 2 t' (b · db)) / n."""
        back = conjugate_quaternion(self._real)[:, None]
        turned = multiply_quaternions(_pure(points), conjugate_quaternion(self._real))[:, None]
        change = multiply_quaternions(real, turned) + multiply_quaternions(dual, back)
        change = change + multiply_quaternions(self._dual[:, None], conjugate_quaternion(real))
        along = np.sum(self._real[:, None] * real, axis=2, keepdims=True)
        moved = self.moved(points)[:, None]
        return 2.0 * (change[..., 1:] - moved * along) / self._square[:, None, None]


def _pure(vectors: Float[NumpyArray, "*n 3"]) -> Float[NumpyArray, "*n 4"]:
    """The quaternion (0, v)."""
    return np.concatenate([np.zeros_like(vectors[..., :1]), vectors], axis=-1)
