"""A body on its feet: pelvis and legs found from the feet and the centre of mass."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.motions.balance import centre_of_mass
from corporeal.motions.feet import FootTrack
from corporeal.motions.legs import Leg, leg_rotations
from corporeal.skinning.kinematics import forward_kinematics

SIDES: Final = (("left", 1.0), ("right", -1.0))
_ITERATIONS: Final = 6
_TAUT: Final = 0.998
"""Share of its reach past which a planted leg pulls the pelvis down."""

Feet = tuple[FootTrack, FootTrack]
"""Left, right."""
HeightPlan = Callable[[Float[NumpyArray, "N"]], Float[NumpyArray, "N"]]
"""Wanted height of the centre of mass, from the height it has with the legs almost straight."""


@dataclass(frozen=True)
class StandingBody:
    """A skeleton with legs that can be put on the ground."""

    skeleton: Skeleton
    """Rest joints, soles on y = 0."""
    legs: tuple[Leg, Leg]
    """Left, right."""

    @staticmethod
    def from_skeleton(skeleton: Skeleton) -> "StandingBody":
        """The legs of a skeleton whose joints have SMPL's names."""
        joints = np.asarray(skeleton.joints, np.float64)

        def leg(side: str) -> Leg:
            names = ("hip", "knee", "ankle", "foot")
            hip, knee, ankle, ball = (joints[skeleton.index(f"{side}_{name}")] for name in names)
            return Leg(hip - joints[0], knee - hip, ankle - knee, ball - ankle, float(ball[1]))

        return StandingBody(skeleton, (leg("left"), leg("right")))

    @property
    def leg_length(self) -> float:
        """From hip to ankle, knee straight, metres."""
        return self.legs[0].reach

    @property
    def hip_half_width(self) -> float:
        """Distance of a hip from the plane of symmetry, metres."""
        return float(abs(self.legs[0].hip[0]))

    def solve(
        self, rotations: Float[NumpyArray, "N J 3"], feet: Feet, height_plan: HeightPlan
    ) -> tuple[Float[NumpyArray, "N J 3"], Float[NumpyArray, "N 3"]]:
        """Add legs to `rotations` and find the root's translation.

        The centre of mass stays over the feet that bear the weight, at the height that
        `height_plan` wants. Fixed-point iteration: where the root is decides how the legs bend,
        and that moves the centre of mass a little.
        """
        support = self._support(feet)
        on_ground = (
            replace(feet[0], hanging=np.zeros_like(feet[0].hanging)),
            replace(feet[1], hanging=np.zeros_like(feet[1].hanging)),
        )
        root, centre = support.copy(), support
        for _ in range(_ITERATIONS):
            root[:, 1] = self._highest(rotations, root, on_ground, taut=False)
            rotations = self._with_legs(rotations, root, on_ground)
            centre = self.centre_of_mass(rotations, root)
            root[:, [0, 2]] += support[:, [0, 2]] - centre[:, [0, 2]]
        wanted = support.copy()
        wanted[:, 1] = height_plan(centre[:, 1])
        for _ in range(_ITERATIONS):
            root = root + wanted - centre
            root[:, 1] = np.minimum(root[:, 1], self._highest(rotations, root, feet, taut=True))
            rotations = self._with_legs(rotations, root, feet)
            centre = self.centre_of_mass(rotations, root)
        return rotations, root - np.asarray(self.skeleton.joints, np.float64)[0]

    def centre_of_mass(
        self, rotations: Float[NumpyArray, "N J 3"], root: Float[NumpyArray, "N 3"]
    ) -> Float[NumpyArray, "N 3"]:
        """Centre of mass, metres, with the pelvis joint at `root`."""
        joints = np.asarray(self.skeleton.joints, np.float64)
        frames = forward_kinematics(rotations, joints, self.skeleton.parents, root - joints[0])
        return centre_of_mass(self.skeleton, frames[..., :3, 3])

    def _support(self, feet: Feet) -> Float[NumpyArray, "N 3"]:
        """The point on the ground under the centre of mass, by the load on each foot.

        With the heel down that is a third of the way from the ball to the heel; on tiptoe the ball.
        """
        total = feet[0].load + feet[1].load
        point = np.zeros_like(feet[0].ball)
        for leg, foot in zip(self.legs, feet, strict=True):
            behind = 0.35 * abs(leg.foot[2]) * np.cos(np.clip(3 * foot.heel_pitch, 0, np.pi / 2))
            share = foot.load / total
            point[:, 0] += share * foot.ball[:, 0]
            point[:, 2] += share * (foot.ball[:, 2] - behind)
        return point

    def _highest(
        self,
        rotations: Float[NumpyArray, "N J 3"],
        root: Float[NumpyArray, "N 3"],
        feet: Feet,
        *,
        taut: bool,
    ) -> Float[NumpyArray, "N"]:
        """Greatest height of the root that stretches no leg on the ground too far.

        Too far is past the foot's `stretch` or, if `taut`, past what a leg can do at all.
        """
        pelvis = matrix_from_axis_angle(rotations[:, 0])
        highest = np.full(len(root), np.inf)
        for leg, foot, (_, sign) in zip(self.legs, feet, SIDES, strict=True):
            ankle = foot.ankle(leg, sign, root, pelvis)
            hip = pelvis @ leg.hip
            across = ankle - (root + hip)
            share = _TAUT if taut else foot.stretch
            square = (share * leg.reach) ** 2 - across[:, 0] ** 2 - across[:, 2] ** 2
            height = ankle[:, 1] + np.sqrt(np.maximum(square, 0.0)) - hip[:, 1]
            bears = ~foot.hanging & (foot.carried < 1)
            highest = np.where(bears, np.minimum(highest, height), highest)
        return highest

    def _with_legs(
        self, rotations: Float[NumpyArray, "N J 3"], root: Float[NumpyArray, "N 3"], feet: Feet
    ) -> Float[NumpyArray, "N J 3"]:
        rotations = rotations.copy()
        pelvis = matrix_from_axis_angle(rotations[:, 0])
        to_pelvis = np.swapaxes(pelvis, -1, -2)
        for leg, foot, (side, sign) in zip(self.legs, feet, SIDES, strict=True):
            from_hip = foot.ankle(leg, sign, root, pelvis) - (root + pelvis @ leg.hip)
            from_hip = (to_pelvis @ from_hip[..., None])[..., 0]
            axis = np.zeros_like(root)
            axis[:, 0], axis[:, 2] = np.cos(foot.knee_out), -sign * np.sin(foot.knee_out)
            hip, knee = leg_rotations(leg, _shorten(from_hip, leg.reach), axis)
            ankle = np.swapaxes(pelvis @ hip @ knee, -1, -2) @ foot.orientation(sign)
            for name, matrix in (("hip", hip), ("knee", knee), ("ankle", ankle)):
                rotations[:, self.skeleton.index(f"{side}_{name}")] = axis_angle_from_matrix(matrix)
            # The toes stay flat while the heel is up.
            toes = self.skeleton.index(f"{side}_foot")
            rotations[:, toes] = 0.0
            rotations[:, toes, 0] = -foot.heel_pitch
        return rotations


def _shorten(vector: Float[NumpyArray, "N 3"], reach: float) -> Float[NumpyArray, "N 3"]:
    """Bring what no leg can reach within reach: intermediate iterates may ask for more."""
    length = np.linalg.norm(vector, axis=-1, keepdims=True)
    return vector * np.minimum(1.0, reach / length)
