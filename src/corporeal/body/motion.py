"""A sequence of poses at a steady rate."""

import math

from corporeal._typing import Array, Float
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass(static=("name", "fps"))
class Motion:
    """Poses of one skeleton over time."""

    name: str
    """Of an authored motion, or the stem of the file it came from."""
    fps: float
    """Frames a second."""
    joint_rotations: Float[Array, "N J 3"]
    """Parent-relative axis-angle vectors, radians."""
    root_translation: Float[Array, "N 3"]
    """Metres; see `Pose`."""
    skeleton: Skeleton
    """Whose joints the rotations belong to."""

    def check(self) -> None:
        """Raise `InputError` unless there are frames, a rate above 0 and a rotation for every
        joint."""
        if not (math.isfinite(self.fps) and self.fps > 0):
            raise InputError(f"motion has fps {self.fps}; expected a finite number above 0.")
        if self.joint_rotations.shape[0] == 0:
            raise InputError("motion has no frames; expected at least one.")
        if self.joint_rotations.shape[1] != self.skeleton.joint_count:
            raise InputError(
                f"motion has {self.joint_rotations.shape[1]} joint rotations a frame and its "
                f"skeleton {self.skeleton.joint_count} joints; expected as many."
            )
        _ = self.poses  # checks that the numbers are finite

    @property
    def poses(self) -> Pose:
        """All frames as one batch of poses."""
        return Pose(self.joint_rotations, self.root_translation)

    @property
    def frame_count(self) -> int:
        """Number N of frames."""
        return self.joint_rotations.shape[0]

    @property
    def duration(self) -> float:
        """Seconds from the first frame to the last."""
        return (self.frame_count - 1) / self.fps
