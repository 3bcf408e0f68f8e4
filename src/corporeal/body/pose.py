"""Where the joints are turned to."""

from typing import Any

from corporeal._typing import Array, Float
from corporeal.body.checks import require_finite
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class Pose:
    """One pose or a batch of poses. All zeros is the T-pose."""

    joint_rotations: Float[Array, "*batch J 3"]
    """Parent-relative axis-angle vectors, radians; joint 0 is the root's turn in the world."""
    root_translation: Float[Array, "*batch 3"]
    """Added to every joint after the root has turned about its own rest position, metres."""

    def check(self) -> None:
        """Raise `InputError` unless all numbers are finite."""
        require_finite("pose joint rotations", self.joint_rotations)
        require_finite("pose root translation", self.root_translation)

    @property
    def joint_count(self) -> int:
        """Number J of joints."""
        return self.joint_rotations.shape[-2]


@pytree_dataclass()
class RotationPose:
    """One pose or a batch of poses as rotation matrices, for solvers that move on SO(3)."""

    rotations: Float[Array, "*batch J 3 3"]
    """R_j: every joint's rotation in its parent's frame; the root's in the world."""
    translation: Float[Array, "*batch 3"]
    """Of the root, metres."""

    @staticmethod
    def from_axis_angle(pose: Pose) -> "RotationPose":
        """The same pose; R_j = exp(θ_j)."""
        return RotationPose(matrix_from_axis_angle(pose.joint_rotations), pose.root_translation)

    def __len__(self) -> int:
        return len(self.rotations)

    def __getitem__(self, which: Any) -> "RotationPose":
        """Some of a batch; `which` indexes its first axis."""
        return RotationPose(self.rotations[which], self.translation[which])
