"""Where the joints are turned to."""

from corporeal._typing import Array, Float
from corporeal.body.checks import require_finite
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
