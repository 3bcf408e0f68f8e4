"""One person's skin with pose correctives, laid out so that a pose is two compiled passes."""

from dataclasses import dataclass
from math import prod

import numpy as np

from corporeal._typing import Array, Float, Float64, Int, NumpyArray
from corporeal.body.correctives import PoseCorrectives, driving_joints
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.runtime.arrays import namespace_of
from corporeal.runtime.threads import over_slices
from corporeal.skinning.blocks import SkinBlocks
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.geometric import GeometricSkinning
from corporeal.skinning.prepared import (
    aligned_zeros,
    common_batch,
    flatten_batch,
    result_array,
)

_POSES_AT_ONCE = 256
"""So many poses go through the tiles together; their joints' motions take 0.6 MB."""
_POSES_A_SLICE = 16
"""Fewer poses are not worth waking a thread for their joints' motions."""
_WORK_A_SLICE = 8192
"""Nor are fewer tiles, times poses, times correctives for what is done with them."""
_WHOLE = 32767
"""Correctives are held as whole numbers up to this where skins are in float32: half the memory to
read, and 0.002 mm off where a corrective moves a vertex by 5 cm."""


def pose_features(joint_rotations: Float[Array, "*batch J 3"]) -> Float[Array, "*batch P"]:
    """R(θ) − R(θ*): nine numbers a joint without the root, zero in the zero pose."""
    xp = namespace_of(joint_rotations)
    matrices = matrix_from_axis_angle(joint_rotations[..., 1:, :])
    differences = matrices - xp.eye(3, dtype=matrices.dtype)
    return xp.reshape(differences, (*differences.shape[:-3], -1))


@dataclass(frozen=True)
class PackedCorrectives:
    """Correctives in the lanes of a skin kernel, for all people of one template."""

    drivers: Int[NumpyArray, "d"]
    """Joints that drive."""
    shares: Float64[NumpyArray, "P k"]
    """Share of every pose feature in every weight, times the size of the shapes' unit."""
    shapes: NumpyArray
    """B × k × 48: rest-pose displacements; metres, or whole numbers."""


def pack_correctives(
    correctives: PoseCorrectives | None, skinning: GeometricSkinning, blocks: SkinBlocks
) -> PackedCorrectives | None:
    """Lay correctives out for a kernel of the blocks' dtype; None where there are none."""
    if correctives is None:
        return None
    from corporeal.models.smpl.posing_cpu import STRIDE

    drivers = driving_joints(correctives, skinning.template.skeleton)
    exact = blocks.weights.dtype
    count = len(correctives.offsets)
    padded = count + -count % STRIDE
    shares = np.zeros((correctives.feature_weights.shape[1], padded))
    shares[:, :count] = correctives.feature_weights.T
    kind = np.dtype(np.int16) if exact == np.float32 else exact
    shapes = np.zeros((len(blocks.vertices), padded, blocks.vertices.shape[1] * 3), kind)
    for k, offsets in enumerate(np.asarray(correctives.offsets)):
        lanes = blocks.rest_lanes(offsets[None]).reshape(len(shapes), -1)
        if kind == np.int16:
            unit = float(np.abs(lanes).max()) / _WHOLE or 1.0
            shares[:, k] *= unit
            lanes = np.rint(lanes / unit)
        shapes[:, k] = lanes
    return PackedCorrectives(np.asarray(drivers, np.int32), shares, shapes)


class PosedSkin:
    """Rest skin of one identity in the lanes of the skin kernel, with packed correctives."""

    def __init__(
        self,
        skinning: GeometricSkinning,
        identity: Identity,
        correctives: PackedCorrectives,
        blocks: SkinBlocks,
    ) -> None:
        from corporeal.models.smpl.posing_cpu import MATRIX_ROWS
        from corporeal.skinning.dual_quaternion_cpu import joint_motions_dual
        from corporeal.skinning.linear_cpu import joint_motions_linear

        rest = np.asarray(identity.rest_vertices, blocks.weights.dtype)
        self._blocks, self._correctives = blocks, correctives
        if isinstance(skinning, DualQuaternionSkinning):
            self._joint_motions, self._motion_size = joint_motions_dual, 8
        else:
            self._joint_motions, self._motion_size = joint_motions_linear, MATRIX_ROWS
        self._rest = blocks.rest_lanes(rest[None]).reshape(len(blocks.vertices), -1)
        self._joints = np.array(identity.joints, np.float64)
        self._parents = np.asarray(skinning.template.skeleton.parents, np.int32)
        self._vertex_count = len(rest)

    def vertices(
        self, pose: Pose, out: NumpyArray | None = None
    ) -> Float[NumpyArray, "*batch V 3"]:
        """Posed skin, metres."""
        rotations, translation = pose.joint_rotations, pose.root_translation
        batch = common_batch(rotations.shape[:-2], translation.shape[:-1])
        rotations = flatten_batch(rotations, batch, 2)
        translation = flatten_batch(translation, batch, 1)
        shape = (*batch, self._vertex_count, 3)
        result = result_array(shape, self._blocks.weights.dtype, out)
        flat = result.reshape(-1, self._vertex_count, 3)

        for start in range(0, prod(batch), _POSES_AT_ONCE):
            some = slice(start, start + _POSES_AT_ONCE)
            self._pose_some(rotations[some], translation[some], flat[some])
        return result

    def _pose_some(
        self,
        rotations: Float[NumpyArray, "n J 3"],
        translation: Float[NumpyArray, "n 3"],
        out: Float[NumpyArray, "n V 3"],
    ) -> None:
        """The joints' motions and w(θ), pose by pose; then t_P = t̄ + b_S + Σ_b w_b(θ) d_b and the
        skin, tile by tile."""
        from corporeal.models.smpl.posing_cpu import (
            BLOCK,
            MANY,
            TILE,
            TOGETHER,
            correct_and_skin,
            corrective_coefficients,
        )

        blocks, packed, count = self._blocks, self._correctives, len(rotations)
        move_joints = self._joint_motions
        weights = np.empty((count, packed.shares.shape[1]), out.dtype)
        motions = np.empty((count, len(self._parents), self._motion_size), out.dtype)

        def move(first: int, last: int) -> None:
            move_joints(rotations, translation, self._joints, self._parents, motions, first, last)
            corrective_coefficients(rotations, packed.drivers, packed.shares, weights, first, last)

        def skin(first: int, last: int) -> None:
            rows = packed.shares.shape[1] if count >= MANY else 0
            correct_and_skin(
                weights, packed.shapes, self._rest, motions, blocks.starts, blocks.joints,
                blocks.weights, blocks.vertices, aligned_zeros((rows, TILE, BLOCK), out.dtype),
                aligned_zeros((TOGETHER, TILE, BLOCK), out.dtype), out, first, last,
            )  # fmt: skip

        over_slices(move, count, _POSES_A_SLICE)
        work_a_tile = max(count * packed.shares.shape[1], 1)
        over_slices(skin, -(-len(self._rest) // TILE), max(_WORK_A_SLICE // work_a_tile, 1))
