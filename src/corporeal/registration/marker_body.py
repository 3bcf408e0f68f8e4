"""Markers on a body: where they are in any pose of any person, and how that changes.

Marker i sits beside vertex v_i of the rest skin, at an offset o_i, and moves with that vertex:

    x_i(β, o, θ) = Σ_j w_ij (Q_j (r_i(β) + b_i(θ) + o_i) + τ_j)

The unknowns of a step are β, rotation vectors of the body's joints in their parents' axes, so that
one joint's steps of neighbouring frames can be compared, and the translation. Many poses at once.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.person_model import BODY_JOINTS, PersonModel
from corporeal.skinning.jacobians import LinearBlend, by_shape
from corporeal.skinning.kinematics import (
    KinematicState,
    kinematic_state,
    parent_rotations,
)
from corporeal.skinning.sparse_jacobians import rotation_jacobian

RADIUS = 9.5e-3
"""Of a marker, metres."""
NOISE = 4e-3
"""Metres of a marker's place about each axis at first, noise and soft tissue together."""
_LEAST_NOISE, _MOST_NOISE = 3e-3, 2.5e-2
"""Between these, every marker's own is taken from the clip."""
POSE_SIZE = 3 * BODY_JOINTS + 3
"""Unknowns of a pose: fingers are held."""


@dataclass(frozen=True, eq=False)
class PosedMarkers:
    """Markers in some poses."""

    places: Float64[NumpyArray, "N m 3"]
    """Metres."""
    rest: Float64[NumpyArray, "N m 3"]
    """In the zero pose, with the poses' blend shapes, metres."""
    kinematics: KinematicState
    """The posed joints."""
    blend: LinearBlend
    """The markers' affine motions."""

    def back(self, vectors: Float64[NumpyArray, "N m 3"]) -> Float64[NumpyArray, "N m 3"]:
        """World vectors in the zero pose: the blended matrices are nearly rotations."""
        return np.einsum("nmji,nmj->nmi", self.blend.blended, vectors)


class MarkerBody:
    """A shape space and a skin, of the markers alone."""

    def __init__(self, model: PersonModel, vertices: Int[NumpyArray, "m"]) -> None:
        self.whole = model
        self.model = model.cut(vertices)
        self.likely_offsets = RADIUS * model.rest_normals[vertices]
        self.offsets = self.likely_offsets.copy()
        self.noise = np.full(len(vertices), NOISE)
        self.prior = model.prior

    @property
    def parents(self) -> tuple[int, ...]:
        """Parent of every joint."""
        return self.model.parents

    @cached_property
    def relaxed(self) -> Float64[NumpyArray, "J 3 3"]:
        """The likeliest rotations of all joints: what fingers keep."""
        mean = self.prior.mean.copy()
        mean[:BODY_JOINTS] = 0.0
        return matrix_from_axis_angle(mean)

    def learn_noise(self, gap: Float64[NumpyArray, "N m 3"]) -> None:
        """Take every marker's noise from what is left: soft tissue moves under some, not others."""
        good = np.isfinite(gap).all(axis=2)
        squares = np.where(good, np.sum(gap * gap, axis=2), 0.0) / 3.0
        found = np.sqrt((squares.sum(axis=0) + 4 * NOISE**2) / (good.sum(axis=0) + 4))
        self.noise = np.clip(found, _LEAST_NOISE, _MOST_NOISE)

    def posed(self, shape: Float64[NumpyArray, "K"], poses: RotationPose) -> PosedMarkers:
        """The markers of one person in poses."""
        model = self.model
        rest = model.space.vertices(shape) + self.offsets
        rest = rest + np.stack(
            [
                model.pose_offsets(RotationPose(turns, place))
                for turns, place in zip(poses.rotations, poses.translation, strict=True)
            ]
        )
        kinematics = kinematic_state(poses, model.space.joints(shape), self.parents)
        blend = LinearBlend(model.weights, kinematics.world_rotations, kinematics.translations)
        return PosedMarkers(blend.moved(rest), rest, kinematics, blend)

    def jacobian(self, posed: PosedMarkers, shapes: int) -> Float64[NumpyArray, "N m 3 P"]:
        """∂x by the first `shapes` of β, the body's joints in their parents' axes, translation."""
        count, markers = posed.places.shape[:2]
        joints = self.model.joint_count
        world = np.zeros((count, markers, 3, joints, 3))
        rotation_jacobian(
            "lbs", self.model.support, posed.rest, posed.kinematics, self.parents, world
        )
        above = parent_rotations(posed.kinematics.world_rotations, self.parents)
        # Σ_b ∂x_a/∂δ_jb (P_j)_bc, δ = P ω
        local = np.einsum("nmajb,njbc->nmajc", world[:, :, :, :BODY_JOINTS], above[:, :BODY_JOINTS])
        result = np.empty((count, markers, 3, shapes + POSE_SIZE))
        if shapes:
            space = self.model.space
            result[..., :shapes] = by_shape(
                posed.blend,
                posed.kinematics.world_rotations,
                self.parents,
                space.vertex_shapes[:shapes],
                space.joint_shapes[:shapes],
            )
        result[..., shapes:-3] = local.reshape(count, markers, 3, -1)
        result[..., -3:] = np.eye(3)
        return result


def stepped(poses: RotationPose, steps: Float64[NumpyArray, "N p"]) -> RotationPose:
    """Poses turned by steps in the parents' axes: R_j ← exp(ω_j) R_j."""
    turns = matrix_from_axis_angle(steps[:, :-3].reshape(len(steps), BODY_JOINTS, 3))
    rotations = poses.rotations.copy()
    rotations[:, :BODY_JOINTS] = turns @ rotations[:, :BODY_JOINTS]
    return replace(poses, rotations=rotations, translation=poses.translation + steps[:, -3:])
