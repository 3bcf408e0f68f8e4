"""One person's SMPL laid out so that a pose costs one matrix product and one pass of skinning."""

from math import prod

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.runtime.arrays import namespace_of
from corporeal.runtime.threads import over_slices
from corporeal.skinning.geometric import GeometricSkinning
from corporeal.skinning.prepared import common_batch, flatten_batch, result_array

_POSES_AT_ONCE = 32
"""So many rest skins are held between the product and the skinning: 6 MB on the default body, which
stays in the cache."""
_POSES_A_SLICE = 4


def pose_features(joint_rotations: Float[Array, "*batch J 3"]) -> Float[Array, "*batch P"]:
    """R(θ) − R(θ*): nine numbers a joint without the root, zero in the zero pose."""
    xp = namespace_of(joint_rotations)
    matrices = matrix_from_axis_angle(joint_rotations[..., 1:, :])
    differences = matrices - xp.eye(3, dtype=matrices.dtype)
    return xp.reshape(differences, (*differences.shape[:-3], -1))


class PosedSkin:
    """Rest skin and pose offsets of one identity in the lanes of the skinning kernel."""

    def __init__(
        self,
        skinning: GeometricSkinning,
        identity: Identity,
        pose_offsets: Float[NumpyArray, "P V 3"],
        dtype: Array,
    ) -> None:
        blocks = skinning.template_blocks(np.dtype(dtype))
        exact = blocks.weights.dtype
        rest = np.asarray(identity.rest_vertices, exact)
        self._blocks, self._kernel = blocks, skinning.kernel()
        self._rest = blocks.rest_lanes(rest[None]).reshape(-1)
        self._offsets = blocks.rest_lanes(pose_offsets.astype(exact)).reshape(len(pose_offsets), -1)
        self._joints = np.asarray(identity.joints, np.float64)
        self._parents = np.asarray(skinning.template.skeleton.parents, np.int32)
        self._vertex_count = len(rest)

    def vertices(
        self, pose: Pose, out: NumpyArray | None = None
    ) -> Float[NumpyArray, "*batch V 3"]:
        """Posed skin, metres."""
        rotations, translation = pose.joint_rotations, pose.root_translation
        batch = common_batch(rotations.shape[:-2], translation.shape[:-1])
        count, joints = prod(batch), len(self._parents)
        if pose.joint_count != joints:
            raise InputError(f"pose has {pose.joint_count} joints; the model has {joints}.")
        rotations, translation = (
            flatten_batch(rotations, batch, 2),
            flatten_batch(translation, batch, 1),
        )
        shape = (*batch, self._vertex_count, 3)
        result = result_array(shape, self._blocks.weights.dtype, out)
        flat = result.reshape(-1, self._vertex_count, 3)
        for first in range(0, count, _POSES_AT_ONCE):
            some = slice(first, min(first + _POSES_AT_ONCE, count))
            self._pose_some(rotations[some], translation[some], flat[some])
        return result

    def _pose_some(self, rotations: NumpyArray, translation: NumpyArray, out: NumpyArray) -> None:
        blocks, count = self._blocks, len(rotations)
        features = pose_features(rotations.astype(np.float64))
        # t_P = t̄ + b_S + Σ_n (R_n(θ) − R_n(θ*)) p_n
        rest = features.astype(self._offsets.dtype) @ self._offsets
        rest += self._rest
        rest = rest.reshape(count, *blocks.vertices.shape[:1], 3, blocks.vertices.shape[1])
        joints = np.ascontiguousarray(np.broadcast_to(self._joints, (count, *self._joints.shape)))
        own = np.arange(count, dtype=np.int32)

        def work(first: int, last: int) -> None:
            self._kernel(
                rotations, translation, own, joints, self._parents, blocks.starts, blocks.joints,
                blocks.weights, rest, blocks.vertices, out, first, last,
            )  # fmt: skip

        over_slices(work, count, _POSES_A_SLICE)
