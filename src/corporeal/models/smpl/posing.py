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
from corporeal.skinning.geometric import GeometricSkinning
from corporeal.skinning.prepared import common_batch, flatten_batch, result_array

_POSES_AT_ONCE = 8
"""So many rest skins a thread holds between the two passes: 1.3 MB on the default body."""
_POSES_A_SLICE = 4
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
    shares: Float64[NumpyArray, "k P"]
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
    shares = np.zeros((padded, correctives.feature_weights.shape[1]))
    shares[:count] = correctives.feature_weights
    kind = np.dtype(np.int16) if exact == np.float32 else exact
    shapes = np.zeros((len(blocks.vertices), padded, blocks.vertices.shape[1] * 3), kind)
    for k, offsets in enumerate(np.asarray(correctives.offsets)):
        lanes = blocks.rest_lanes(offsets[None]).reshape(len(shapes), -1)
        if kind == np.int16:
            unit = float(np.abs(lanes).max()) / _WHOLE or 1.0
            shares[k] *= unit
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
        rest = np.asarray(identity.rest_vertices, blocks.weights.dtype)
        self._blocks, self._kernel = blocks, skinning.kernel()
        self._correctives = correctives
        self._rest = blocks.rest_lanes(rest[None]).reshape(len(blocks.vertices), -1)
        joints = np.asarray(identity.joints, np.float64)
        self._joints = np.array(np.broadcast_to(joints, (_POSES_AT_ONCE, *joints.shape)))
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

        def work(first: int, last: int) -> None:
            self._pose_some(rotations, translation, flat, first, last)

        over_slices(work, prod(batch), _POSES_A_SLICE)
        return result

    def _pose_some(
        self,
        rotations: NumpyArray,
        translation: NumpyArray,
        out: NumpyArray,
        first: int,
        last: int,
    ) -> None:
        """t_P = t̄ + b_S + Σ_b w_b(θ) d_b a few poses at a time, then the skin of each."""
        from corporeal.models.smpl.posing_cpu import correct_blocks, corrective_coefficients

        blocks, packed = self._blocks, self._correctives
        together = min(_POSES_AT_ONCE, last - first)
        rest = np.empty((together, *self._rest.shape), self._rest.dtype)
        lanes = rest.reshape(together, len(self._rest), 3, -1)
        weights = np.empty((last - first, len(packed.shares)), self._rest.dtype)
        some = rotations[first:last]
        corrective_coefficients(some, packed.drivers, packed.shares, weights, 0, last - first)
        own = ((np.arange(last) - first) % _POSES_AT_ONCE).astype(np.int32)
        for start in range(first, last, _POSES_AT_ONCE):
            stop = min(start + _POSES_AT_ONCE, last)
            correct_blocks(
                weights[start - first : stop - first], packed.shapes, self._rest,
                rest[: stop - start],
            )  # fmt: skip
            self._kernel(
                rotations, translation, own, self._joints, self._parents, blocks.starts,
                blocks.joints, blocks.weights, lanes, blocks.vertices, out, start, stop,
            )  # fmt: skip
