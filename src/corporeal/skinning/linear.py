"""Linear blend skinning: every vertex moves by the weighted mean of its joints' motions."""

from math import prod
from weakref import WeakKeyDictionary

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.template import Template
from corporeal.runtime.arrays import as_one_kind, dtype_name, full_precision, namespace_of
from corporeal.skinning.blocks import SkinBlocks, pack_consecutive_blocks
from corporeal.skinning.geometric import GeometricSkinning, MotionRows, blend_rows
from corporeal.skinning.prepared import SkinKernel


def blend_linear(
    world_from_rest: Float[Array, "*batch J rows 4"], weights: Float[Array, "V J"]
) -> Float[Array, "*batch V 3 4"]:
    """Blended motion of every vertex: T_v = Σ_j w_vj A_j (Magnenat-Thalmann et al. 1988).

    The last of four rows, (0, 0, 0, 1), may be left out.
    """
    xp = namespace_of(world_from_rest, weights)
    entries = _blend_entries(world_from_rest, weights)
    vertices_first = xp.matrix_transpose(entries)
    return xp.reshape(vertices_first, (*vertices_first.shape[:-1], 3, 4))


def skin_matrix(
    rest_vertices: Float[NumpyArray, "V 3"], weights: Float[NumpyArray, "V J"]
) -> Float[NumpyArray, "V 4*J"]:
    """P with rows (w_vj x_v, w_vj) for j = 1 … J: the skin of one identity is linear, x' = P A."""
    homogeneous = np.concatenate([rest_vertices, np.ones_like(rest_vertices[:, :1])], axis=-1)
    return (weights[:, :, None] * homogeneous[:, None, :]).reshape(len(weights), -1)


def skin_linear(
    world_from_rest: Float[Array, "*batch J 4 4"], matrix: Float[Array, "V 4*J"]
) -> Float[Array, "*batch V 3"]:
    """x'_v = Σ_j A_j (w_vj x_v, w_vj), as one matrix product for all joints and vertices."""
    xp = namespace_of(matrix, world_from_rest)
    columns = xp.matrix_transpose(world_from_rest[..., :3, :])
    columns = xp.reshape(columns, (*columns.shape[:-3], -1, 3))
    with full_precision(xp):
        return xp.matmul(matrix, columns)


def skin_one_pose(
    world_from_rest: Float[Array, "J 4 4"],
    weights: Float[Array, "V J"],
    rest_vertices: Float[Array, "V 3"],
) -> Float[Array, "V 3"]:
    """x'_v = (Σ_j w_vj A_j) (x_v, 1) for a single pose, without any batch axis."""
    xp = namespace_of(world_from_rest, weights)
    motions = xp.reshape(_blend_entries(world_from_rest, weights), (3, 4, -1))
    points = xp.matrix_transpose(rest_vertices)
    homogeneous = xp.concat([points, xp.ones_like(points[:1, :])], axis=0)
    # x'_vr = Σ_c T_vrc x_vc
    return xp.matrix_transpose(xp.sum(motions * homogeneous, axis=1))


def _blend_entries(
    world_from_rest: Float[Array, "*batch J rows 4"], weights: Float[Array, "V J"]
) -> Float[Array, "*batch 12 V"]:
    """The twelve entries of T_v = Σ_j w_vj A_j, each for all vertices."""
    batch, joint_count = world_from_rest.shape[:-3], weights.shape[1]
    xp = namespace_of(world_from_rest, weights)
    entries = xp.reshape(world_from_rest[..., :3, :], (*batch, joint_count, 12))
    return blend_rows(entries, weights)


class LinearBlendSkinning(GeometricSkinning):
    """Deformer `lbs`: fast and exact for rigid motions; loses volume where joints twist."""

    name = "lbs"
    title = "Linear blending"
    summary = "linear blend skinning"
    references = ("magnenat1988jointdependent",)
    is_linear_blend = True

    def __init__(self, template: Template) -> None:
        super().__init__(template)
        self._dense: dict[str, NumpyArray] = {}
        self._matrices: WeakKeyDictionary[Identity, dict[str, NumpyArray]] = WeakKeyDictionary()

    def blend(self, world_from_rest: Float[Array, "*batch J 4 4"]) -> MotionRows:
        """Motion of every vertex: the weighted mean of its joints' motions."""
        weights = self._dense_weights(dtype_name(world_from_rest))
        entries = _blend_entries(*as_one_kind(world_from_rest, weights))
        return tuple(tuple(entries[..., 4 * r + c, :] for c in range(4)) for r in range(3))

    def _skin(
        self, identity: Identity, world_from_rest: Float[Array, "*batch J 4 4"]
    ) -> Float[Array, "*batch V 3"]:
        """Blended for one pose, one matrix product for many poses of a single NumPy identity.

        Each is the faster there, forward and backward, in JAX on a CPU; a batch axis of length one
        would cost a factor of four.
        """
        rest, dtype = identity.rest_vertices, dtype_name(world_from_rest)
        batch = np.broadcast_shapes(world_from_rest.shape[:-3], rest.shape[:-2])
        if prod(batch) == 1:
            arrays = as_one_kind(world_from_rest, self._dense_weights(dtype), rest)
            xp = namespace_of(*arrays)
            one_pose = xp.reshape(arrays[0], world_from_rest.shape[-3:])
            one_body = xp.reshape(arrays[2], rest.shape[-2:])
            moved = skin_one_pose(one_pose, arrays[1], one_body)
            return xp.reshape(moved, (*batch, *moved.shape))
        if isinstance(rest, np.ndarray) and rest.ndim == 2:
            by_dtype = self._matrices.setdefault(identity, {})
            if dtype not in by_dtype:
                by_dtype[dtype] = skin_matrix(rest.astype(dtype), self._dense_weights(dtype))
            return skin_linear(*as_one_kind(world_from_rest, by_dtype[dtype]))
        return super()._skin(identity, world_from_rest)

    def _dense_weights(self, dtype: str) -> Float[NumpyArray, "V J"]:
        if dtype not in self._dense:
            self._dense[dtype] = self.template.weights.dense().astype(dtype)
        return self._dense[dtype]

    def pack(self, dtype: np.dtype) -> SkinBlocks:
        """Consecutive vertices side by side, where that is worth it."""
        return pack_consecutive_blocks(self.template.weights, dtype)

    def kernel(self) -> SkinKernel:
        """Blend of the joints' motions, vertex by vertex."""
        from corporeal.skinning.linear_cpu import pose_and_skin_linear

        return pose_and_skin_linear
