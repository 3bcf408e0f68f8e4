"""How fast the joints move and turn, and how fast that changes."""

from dataclasses import dataclass
from typing import Literal

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    geodesic_angle,
    matrix_from_axis_angle,
)
from corporeal.skinning.kinematics import forward_kinematics


@dataclass(frozen=True)
class Derivatives:
    """Velocities and accelerations of every joint at every frame, by differences of second order.

    In the `world` frame they are what a camera at rest sees. In the `root` frame they are what an
    observer sees who rides on the root: the root itself is at rest, and vectors are in its axes.
    """

    frame: Literal["world", "root"]
    """In which frame the vectors are given."""
    velocity: Float[NumpyArray, "N J 3"]
    """m/s."""
    acceleration: Float[NumpyArray, "N J 3"]
    """m/s²; gravity is not in it."""
    angular_velocity: Float[NumpyArray, "N J 3"]
    """rad/s, axis times speed."""
    angular_acceleration: Float[NumpyArray, "N J 3"]
    """rad/s²."""


def derivatives(motion: Motion, frame: Literal["world", "root"] = "world") -> Derivatives:
    """Differentiate a motion of at least three frames."""
    if motion.frame_count < 3:
        raise InputError(
            f"motion has {motion.frame_count} frames; derivatives need at least 3. Add frames."
        )
    frames = world_frames(motion)
    rotation, position = frames[..., :3, :3], frames[..., :3, 3]
    if frame == "root":
        root_from_world = np.swapaxes(rotation[:, :1], -1, -2)
        position = (root_from_world @ (position - position[:, :1])[..., None])[..., 0]
        rotation = root_from_world @ rotation
    angular = angular_velocity(rotation, motion.fps)
    return Derivatives(
        frame=frame,
        velocity=_slope(position, motion.fps),
        acceleration=_curvature(position, motion.fps),
        angular_velocity=angular,
        angular_acceleration=_slope(angular, motion.fps),
    )


def world_frames(motion: Motion) -> Float[NumpyArray, "N J 4 4"]:
    """Rigid frame of every joint in the world, metres."""
    return forward_kinematics(
        np.asarray(motion.joint_rotations, np.float64),
        np.asarray(motion.skeleton.joints, np.float64),
        motion.skeleton.parents,
        np.asarray(motion.root_translation, np.float64),
    )


def in_root_axes(motion: Motion, vectors: Float[NumpyArray, "N J 3"]) -> Float[NumpyArray, "N J 3"]:
    """World vectors expressed in the axes of the root joint, frame by frame: R_rootᵀ v."""
    root = world_frames(motion)[:, :1, :3, :3]
    return (np.swapaxes(root, -1, -2) @ vectors[..., None])[..., 0]


def angular_velocity(
    rotations: Float[NumpyArray, "N J 3 3"], fps: float
) -> Float[NumpyArray, "N J 3"]:
    """Axis times speed, rad/s: half the turn from the frame before to the frame after.

    ω = log(R_{n+1} R_{n−1}ᵀ) / 2Δt; at both ends the turn to the only neighbour.
    """
    ahead = np.concatenate([rotations[1:], rotations[-1:]])
    behind = np.concatenate([rotations[:1], rotations[:-1]])
    turn = axis_angle_from_matrix(ahead @ np.swapaxes(behind, -1, -2))
    span = np.full((len(rotations), 1, 1), 2.0 / fps)
    span[[0, -1]] = 1.0 / fps
    return turn / span


def turning_speed(motion: Motion) -> Float[NumpyArray, "M J"]:
    """How fast every joint turns in its parent from each frame to the next, rad/s."""
    rotations = matrix_from_axis_angle(np.asarray(motion.joint_rotations, np.float64))
    return geodesic_angle(rotations[:-1], rotations[1:]) * motion.fps


def _slope(values: Float[NumpyArray, "N J 3"], fps: float) -> Float[NumpyArray, "N J 3"]:
    """Central differences; one-sided of the same order at both ends."""
    return np.gradient(values, 1.0 / fps, axis=0, edge_order=2)


def _curvature(values: Float[NumpyArray, "N J 3"], fps: float) -> Float[NumpyArray, "N J 3"]:
    """Second differences; the ends repeat their neighbours."""
    inner = (values[2:] - 2 * values[1:-1] + values[:-2]) * fps**2
    return np.concatenate([inner[:1], inner, inner[-1:]])
