"""A skinned body model that is additive in its rest pose: what SMPL's files hold."""

from typing import Literal

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass

Blending = Literal["lbs", "dqs"]
"""How joints move the skin: linear blend skinning, or dual-quaternion skinning."""


@pytree_dataclass(static=("joint_names", "parents", "blending"))
class LinearBodyModel:
    """Mean shape, blend shapes of identity and pose, joints from the skin, skin weights."""

    triangles: Int[NumpyArray, "F 3"]
    """Corner indices, counter-clockwise seen from outside."""
    mean_vertices: Float[NumpyArray, "V 3"]
    """The mean person in the zero pose, metres."""
    shape_offsets: Float[NumpyArray, "S V 3"]
    """Offset of every shape coefficient of one, metres."""
    pose_offsets: Float[NumpyArray, "P V 3"]
    """Offset of every pose feature of one, metres; nine features a joint, without the root."""
    joint_regressor: Float[NumpyArray, "J V"]
    """Joint centres are these weighted sums of rest vertices."""
    weights: SkinWeights
    """Skin weights of every vertex."""
    joint_names: tuple[str, ...]
    """Unique names, parents before children."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""
    blending: Blending = "lbs"
    """How joint motions are blended: `lbs`, or `dqbs` for dual quaternions."""

    def check(self) -> None:
        """Raise `InputError` unless counts agree, indices are in range and numbers finite."""
        require_finite("model mean vertices", self.mean_vertices)
        require_finite("model shape offsets", self.shape_offsets)
        require_finite("model pose offsets", self.pose_offsets)
        require_finite("model joint regressor", self.joint_regressor)
        vertices, joints = self.vertex_count, len(self.parents)
        require_indices("model triangles", self.triangles, vertices)
        counts = {
            "shape offsets": self.shape_offsets.shape[1],
            "pose offsets": self.pose_offsets.shape[1],
            "joint regressor": self.joint_regressor.shape[1],
            "weights": len(self.weights.values),
        }
        for what, count in counts.items():
            if count != vertices:
                raise InputError(
                    f"model has {vertices} mean vertices and {what} for {count}; expected as many."
                )
        if not len(self.joint_names) == self.joint_regressor.shape[0] == joints:
            raise InputError(
                f"model has {joints} parents, {len(self.joint_names)} joint names and a regressor "
                f"of {self.joint_regressor.shape[0]} joints; expected as many of each."
            )
        if self.weights.joint_count != joints:
            raise InputError(
                f"model has {joints} joints and weights for {self.weights.joint_count}; "
                f"expected as many."
            )
        if self.pose_count != 9 * (joints - 1):
            raise InputError(
                f"model has {self.pose_count} pose offsets and {joints} joints; expected "
                f"{9 * (joints - 1)}, nine a joint without the root."
            )
        sums = self.joint_regressor.sum(axis=1)
        if np.abs(sums - 1).max() > 1e-3:
            worst = int(np.abs(sums - 1).argmax())
            raise InputError(
                f"model joint regressor row {worst} sums to {sums[worst]:.4f}; expected 1, so that "
                f"joints move along when the body does."
            )

    @property
    def vertex_count(self) -> int:
        """Number V of vertices."""
        return self.mean_vertices.shape[0]

    @property
    def joint_count(self) -> int:
        """Number J of joints."""
        return len(self.parents)

    @property
    def shape_count(self) -> int:
        """Number S of shape coefficients."""
        return self.shape_offsets.shape[0]

    @property
    def pose_count(self) -> int:
        """How many pose features there are."""
        return self.pose_offsets.shape[0]
