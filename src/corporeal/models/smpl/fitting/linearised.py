"""A posed SMPL skin and its exact derivatives by pose and shape, for fitting and training.

Skinning and its derivatives are those of `skinning.jacobians`. What SMPL adds are the pose blend
shapes: with x_v = t_v + Σ_n f_n p_nv the rest vertex after its pose offsets, a rotation δ_j of
joint j (in the world's axes) changes the joint's own features f_n and so the vertex by

    B_v Σ_n p_nv ∂f_n/∂δ_j.
"""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.linear_model import Blending
from corporeal.body.pose import RotationPose
from corporeal.models.smpl.features import SIZES, Features, feature_slopes, feature_values
from corporeal.skinning.jacobians import (
    Blend,
    by_shape,
    make_blend,
)
from corporeal.skinning.kinematics import KinematicState, descendants, kinematic_state
from corporeal.skinning.sparse_jacobians import SkinSupport, rotation_jacobian, skin_support


@dataclass(frozen=True)
class SkinnedPerson:
    """One person, ready to be posed and differentiated; all arrays of one dtype."""

    rest: Float[NumpyArray, "V 3"]
    """Zero pose, metres."""
    joints: Float[NumpyArray, "J 3"]
    """Metres."""
    weights: Float[NumpyArray, "V J"]
    """Skin weights; every row sums to 1."""
    pose_offsets: Float[NumpyArray, "P V 3"]
    """Offset of every pose feature of one, metres."""
    parents: tuple[int, ...]
    """Parent of every joint, −1 for the root."""
    blending: Blending = "lbs"
    """How joint motions are blended."""
    features: Features = "rotations"
    """What drives the pose offsets."""

    @property
    def descendants(self) -> Float64[NumpyArray, "J J"]:
        """Row k, column j: 1 where joint k is a descendant of joint j, or is it."""
        return descendants(self.parents)

    @cached_property
    def support(self) -> SkinSupport:
        """Which joints move a vertex."""
        return skin_support(self.weights, self.parents)

    @cached_property
    def bare(self) -> bool:
        """Whether there are no pose offsets but 0."""
        return not self.pose_offsets.any()

    def with_shape(
        self, rest: Float[NumpyArray, "V 3"], joints: Float[NumpyArray, "J 3"]
    ) -> "SkinnedPerson":
        """The same weights and pose offsets on another rest shape, metres."""
        person = replace(self, rest=rest, joints=joints)
        vars(person).update(support=self.support, bare=self.bare)  # they do not depend on shape
        return person

    def kinematics(self, poses: RotationPose) -> KinematicState:
        """The person's kinematic tree in one pose or many, float64."""
        return kinematic_state(
            RotationPose(
                np.asarray(poses.rotations, np.float64), np.asarray(poses.translation, np.float64)
            ),
            self.joints,
            self.parents,
        )

    def corrected(self, rotations: Float[NumpyArray, "N J 3 3"]) -> Float[NumpyArray, "N V 3"]:
        """Rest vertices with their pose offsets in N poses, x = t + Σ_n f_n p_n, metres."""
        if self.bare:
            return np.repeat(self.rest[None], len(rotations), axis=0)
        features = feature_values(self.features, rotations).astype(self.rest.dtype)
        # one product for all poses
        offsets = features @ self.pose_offsets.reshape(len(self.pose_offsets), -1)
        return offsets.reshape(len(offsets), -1, 3) + self.rest

    def posed(self, pose: RotationPose) -> "Posed":
        """The skin in one pose, with what its derivatives need."""
        state = self.kinematics(pose)
        corrected = self.corrected(pose.rotations[None])[0]
        blend = make_blend(self.blending, self.weights, state.world_rotations, state.translations)
        return Posed(self, pose, state, blend, corrected, blend.moved(corrected))


@dataclass(frozen=True)
class Posed:
    """A posed skin."""

    person: SkinnedPerson
    """Who is posed."""
    pose: RotationPose
    """Joint rotations and translation."""
    state: KinematicState
    """World rotations and centres of the joints."""
    blend: Blend
    """Joint motions, blended for every vertex."""
    corrected: Float[NumpyArray, "V 3"]
    """Rest vertices with their pose offsets, metres."""
    vertices: Float[NumpyArray, "V 3"]
    """Metres."""

    def by_pose(self) -> Float[NumpyArray, "V 3 n"]:
        """Derivative of every vertex by δ of every joint, then by the translation: n = 3 J + 3."""
        person = self.person
        slope = np.zeros((len(self.vertices), 3, len(person.parents) + 1, 3), self.vertices.dtype)
        rotation_jacobian(
            person.blending, person.support, self.corrected[None], _alone(self.state),
            person.parents, slope[None],
        )  # fmt: skip
        if not person.bare:
            slope[:, :, 1:-1] += self._by_features()
        slope[:, :, -1] = np.eye(3)
        return slope.reshape(len(slope), 3, -1)

    def _by_features(self) -> Float[NumpyArray, "V 3 k 3"]:
        """What the pose blend shapes add: B_v Σ_n p_nv ∂f_n/∂δ_j, for every joint but the root."""
        person, state = self.person, _alone(self.state)
        size, rotations = SIZES[person.features], self.pose.rotations[None]
        slopes = feature_slopes(person.features, rotations, state.world_rotations, person.parents)
        slopes = slopes[0].astype(self.vertices.dtype)
        offsets = person.pose_offsets.reshape(len(slopes), size, -1)
        # e_jvac = Σ_n p_jnva T_jnc
        each = np.matmul(np.swapaxes(offsets, 1, 2), slopes).reshape(len(slopes), -1, 3, 3)
        return np.einsum("vab,jvbc->vajc", self.blend.blended, each, optimize=True)

    def by_shape(
        self,
        shape_offsets: Float[NumpyArray, "S V 3"],
        joint_offsets: Float[NumpyArray, "S J 3"],
    ) -> Float[NumpyArray, "V 3 S"]:
        """Derivative of every vertex by shape coefficients that move rest skin and joints so."""
        return by_shape(
            self.blend,
            self.state.world_rotations,
            self.person.parents,
            shape_offsets,
            joint_offsets,
        )


def _alone(state: KinematicState) -> KinematicState:
    """One pose as a batch of one."""
    return state[None]
