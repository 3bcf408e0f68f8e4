"""The pose in which flesh is without stress, seen from the zero pose of its skeleton.

A volumetric model is made of a skin and of bones where they are in that pose, and all of physics
tells frames from there: W'_j = W_j B_jᵀ, with W_j and B_j the world rotations of a joint in a pose
and in the stress-free one, both from the zero pose. So the stress-free pose has frames without
rotation, as the zero pose has elsewhere.
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.pose import Pose
from corporeal.body.repose import Repose
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.skinning.kinematics import forward_kinematics


@dataclass(frozen=True, eq=False)
class StressFreePose:
    """One person's; without `rotations` it is the zero pose."""

    zero: Skeleton
    """Joints of the zero pose, metres."""
    rotations: Float64[NumpyArray, "J 3 3"] | None = None
    """World rotations B of the joints from there."""

    @property
    def is_zero(self) -> bool:
        """Whether it is the zero pose."""
        return self.rotations is None

    @cached_property
    def pose(self) -> Pose:
        """Joint rotations from the zero pose."""
        nowhere = np.zeros(3)
        if self.rotations is None:
            return Pose(np.zeros((self.zero.joint_count, 3)), nowhere)
        parents = np.maximum(self.zero.parents, 0)
        above = np.where(
            np.asarray(self.zero.parents)[:, None, None] < 0, np.eye(3), self.rotations[parents]
        )
        return Pose(axis_angle_from_matrix(np.swapaxes(above, 1, 2) @ self.rotations), nowhere)

    @cached_property
    def world_from_joint(self) -> Float64[NumpyArray, "J 4 4"]:
        """Frames of this pose from the zero pose."""
        pose, joints = self.pose, np.asarray(self.zero.joints, np.float64)
        return forward_kinematics(
            pose.joint_rotations, joints, self.zero.parents, pose.root_translation
        )

    @cached_property
    def skeleton(self) -> Skeleton:
        """Joints where they are in this pose, metres."""
        if self.is_zero:
            return self.zero
        joints = np.ascontiguousarray(self.world_from_joint[:, :3, 3])
        return Skeleton(self.zero.names, self.zero.parents, joints)

    def frames(self, poses: Pose) -> Float64[NumpyArray, "*batch J 4 4"]:
        """Frames of `poses`, which are told from the zero pose, from this one."""
        frames = forward_kinematics(
            np.asarray(poses.joint_rotations, np.float64),
            np.asarray(self.zero.joints, np.float64),
            self.zero.parents,
            np.asarray(poses.root_translation, np.float64),
        )
        if self.rotations is not None:
            frames[..., :3, :3] = frames[..., :3, :3] @ np.swapaxes(self.rotations, 1, 2)
        return frames

    def turn_to(self, pose: Pose) -> float:
        """The largest turn of a joint below the root on the way to a pose, radians."""
        rotations = np.asarray(pose.joint_rotations, np.float64)[1:]
        if self.rotations is not None:
            here, there = (
                matrix_from_axis_angle(np.asarray(p.joint_rotations, np.float64)[1:])
                for p in (self.pose, pose)
            )
            rotations = axis_angle_from_matrix(np.swapaxes(here, 1, 2) @ there)
        return float(np.linalg.norm(rotations, axis=1).max(initial=0.0))


def stress_free_pose(skeleton: Skeleton, repose: Repose | None) -> StressFreePose:
    """The sculpted pose of a person whose joints in the zero pose are those of `skeleton`; the zero
    pose without a `repose`."""
    if repose is None:
        return StressFreePose(skeleton)
    return StressFreePose(skeleton, repose.sculpted_rotations(skeleton.parents))


def stress_free_skin(
    vertices: Float[NumpyArray, "W 3"], skeleton: Skeleton, repose: Repose | None
) -> Float64[NumpyArray, "W 3"]:
    """The skin there of one in the zero pose, as is its `skeleton`; metres."""
    skin = np.asarray(vertices, np.float64)
    if repose is None:
        return skin
    return repose.sculpted_vertices(skin, np.asarray(skeleton.joints, np.float64))
