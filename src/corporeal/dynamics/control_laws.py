"""From what a clock sees to control vectors: of joints as in the paper, or of bones."""

from typing import Any, NamedTuple, Protocol, runtime_checkable

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.dynamics import Predictors
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.dynamics.bones import BonePose, BoneSpeed, bone_speed
from corporeal.dynamics.control_vector import (
    BoneTree,
    bone_controls,
    control_vectors,
    joint_rows,
    packed_bone_controls,
    packed_controls,
    relative_turn,
)
from corporeal.geometry.rotations import matrix_from_quaternion


class Track(NamedTuple):
    """A pose, as far as it drives."""

    quaternions: Float64[NumpyArray, "k 4"]
    """Of the joints that a law looks at, wxyz."""
    root: Float64[NumpyArray, "3"]
    """Root translation, metres."""


@runtime_checkable
class ControlLaw(Protocol):
    """What a control vector is."""

    rows: NumpyArray
    """Joints that are looked at."""

    def knot(self, track: Track) -> Any:
        """What differences are taken of."""
        ...

    def speed(self, before: Any, now: Any, span: float) -> Any:
        """The first differences of two knots, `span` seconds apart."""
        ...

    def vector(self, now: Any, speed: Any, before: Any, span: float) -> Float[NumpyArray, "c"]:
        """u, from the speeds up to this knot and up to the one before."""
        ...

    def vectors(self, motion: Motion) -> Float[NumpyArray, "N c"]:
        """u of every frame of a motion at the model's own rate."""
        ...


def law_for(
    predictors: Predictors, skeleton: Skeleton, joints: Float[NumpyArray, "J 3"]
) -> ControlLaw:
    """The law that some predictors were trained with, for a body's rest joints."""
    if predictors.controls == "bones":
        return BoneLaw(predictors.joint_names, skeleton, joints)
    return JointLaw(predictors, skeleton)


class JointLaw:
    """u = {θ̇, θ̈, v, a} (Pons-Moll 2015, section 4)."""

    def __init__(self, predictors: Predictors, skeleton: Skeleton) -> None:
        self._predictors = predictors
        self.rows = joint_rows(predictors.joint_names, skeleton)

    def knot(self, track: Track) -> Track:
        """The joints themselves."""
        return track

    def speed(self, before: Track, now: Track, span: float) -> tuple[NumpyArray, NumpyArray]:
        """Angular velocities in the joints' axes, and the root's velocity in the world."""
        spin = relative_turn(before.quaternions, now.quaternions) / span
        return spin, (now.root - before.root) / span

    def vector(
        self,
        now: Track,
        speed: tuple[NumpyArray, NumpyArray],
        before: tuple[NumpyArray, NumpyArray],
        span: float,
    ) -> Float[NumpyArray, "c"]:
        """u of one knot."""
        turning, push = (speed[0] - before[0]) / span, (speed[1] - before[1]) / span
        own = matrix_from_quaternion(now.quaternions[0])
        return packed_controls(speed[0], turning, own, speed[1], push, self._predictors.gravity)

    def vectors(self, motion: Motion) -> Float[NumpyArray, "N c"]:
        """u of all frames."""
        p = self._predictors
        return control_vectors(motion, p.joint_names, p.differences, p.gravity)


class BoneLaw:
    """u = {R_bᵀ c̈_b, R_bᵀ ω̇_b}."""

    def __init__(
        self, names: tuple[str, ...], skeleton: Skeleton, joints: Float[NumpyArray, "J 3"]
    ) -> None:
        self._names, self._joints = names, joints
        self.tree = BoneTree(names, skeleton, joints)
        self.rows = self.tree.rows

    def knot(self, track: Track) -> BonePose:
        """The bones in the world."""
        return self.tree.bones(matrix_from_quaternion(track.quaternions), track.root)

    def speed(self, before: BonePose, now: BonePose, span: float) -> BoneSpeed:
        """Of the bones, in the world."""
        return bone_speed(before, now, span)

    def vector(
        self, now: BonePose, speed: BoneSpeed, before: BoneSpeed, span: float
    ) -> Float[NumpyArray, "c"]:
        """u of one knot."""
        return packed_bone_controls(now, speed, before, span)

    def vectors(self, motion: Motion) -> Float[NumpyArray, "N c"]:
        """u of all frames."""
        return bone_controls(motion, self._names, self._joints)
