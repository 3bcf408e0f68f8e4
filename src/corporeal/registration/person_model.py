"""The body that registration lays onto scans: any person of the shape space, in any pose.

========= ====================================================================
β          shape, standard deviations (`person_space`)
Q_k, τ_k   rotation and translation of joint k (`skinning.kinematics`)
x_v        Σ_k w_vk (Q_k (r_v(β) + b_v(θ)) + τ_k), metres
========= ====================================================================

Skin weights w and pose blend shapes b are those of the shipped SMPL (Loper 2015), with fingers. The
unknowns of a step are β, a rotation vector of every joint in the world's axes, and the translation;
b is held during a step. A model may be cut down to some of its vertices, and to the body's joints
with the fingers held, for coarse work.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.pose import Pose, RotationPose
from corporeal.body.template import Template
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    matrix_from_axis_angle,
    quaternion_from_matrix,
)
from corporeal.geometry.surface import vertex_normals
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.registration.person_space import COMPONENTS, PersonSpace, person_space
from corporeal.registration.pose_prior import PosePrior, pose_prior, with_straight_twists
from corporeal.skinning.jacobians import LinearBlend, by_shape
from corporeal.skinning.kinematics import (
    KinematicState,
    kinematic_state,
    rotate_joints,
    rotated,
)
from corporeal.skinning.sparse_jacobians import SkinSupport, rotation_jacobian, skin_support

BODY_JOINTS = 22
"""Joints of the body; those after them are fingers."""


@dataclass(frozen=True, eq=False)
class PersonState:
    """Shape and pose."""

    shape: Float64[NumpyArray, "K"]
    """β, standard deviations; all of the space's."""
    pose: RotationPose
    """Parent-relative rotations of all joints, and the root's translation, metres."""

    @property
    def axis_angles(self) -> Pose:
        """The pose as rotation vectors, radians."""
        return Pose(axis_angle_from_matrix(self.pose.rotations), self.pose.translation)


@dataclass(frozen=True, eq=False)
class PosedPerson:
    """A model in a state."""

    vertices: Float64[NumpyArray, "v 3"]
    """Posed skin, metres."""
    normals: Float64[NumpyArray, "v 3"]
    """Unit, outwards."""
    rest: Float64[NumpyArray, "v 3"]
    """Rest skin with the pose's blend shapes, metres."""
    kinematics: KinematicState
    """The posed joints."""
    blend: LinearBlend
    """The vertices' affine motions."""


@dataclass(frozen=True, eq=False)
class PersonModel:
    """A shape space, a skin and a kinematic tree."""

    template: Template
    """Topology, parts and names."""
    space: PersonSpace
    """Rest skin and joints; of this model's vertices."""
    weights: Float64[NumpyArray, "v J"]
    """Skin weights of all joints."""
    vertex_indices: Int[NumpyArray, "v"]
    """The template's vertices that this model has."""
    rest_normals: Float64[NumpyArray, "v 3"]
    """Of the mean person, unit."""
    skinning: SmplSkinning
    """Pose blend shapes."""
    prior: PosePrior
    """What poses are likely."""
    whole: bool = True
    """Whether it has all vertices, so that normals come from the triangles."""

    @property
    def parents(self) -> tuple[int, ...]:
        """Parent of every joint."""
        return self.template.skeleton.parents

    @property
    def joint_count(self) -> int:
        """Number J of joints."""
        return len(self.parents)

    @cached_property
    def support(self) -> SkinSupport:
        """Which joints move a vertex."""
        return skin_support(self.weights, self.parents)

    @cached_property
    def _correctives(self) -> tuple[Float[NumpyArray, "b p"], Float[NumpyArray, "b v3"]]:
        """Shares of features (the joints' in order) and offsets of this model's vertices."""
        correctives = self.skinning.correctives
        assert correctives is not None
        offsets = np.asarray(correctives.offsets, np.float32)[:, self.vertex_indices]
        return np.asarray(correctives.feature_weights, np.float32), offsets.reshape(
            len(offsets), -1
        )

    @cached_property
    def limbs(self) -> Int[NumpyArray, "v"]:
        """Limb of every vertex: 1 arm, 2 leg, left positive and right negative; else 0."""
        kinds = np.array([_limb(name) for name in self.template.part_names])
        return kinds[np.asarray(self.template.part_labels)[self.vertex_indices]]

    def start(self) -> PersonState:
        """The mean person in the zero pose."""
        rotations = np.broadcast_to(np.eye(3), (self.joint_count, 3, 3)).copy()
        return PersonState(np.zeros(self.space.count), RotationPose(rotations, np.zeros(3)))

    def posed(self, state: PersonState, corrected: bool = True) -> PosedPerson:
        """Skin in a state; `corrected` with pose blend shapes."""
        rest = self.space.vertices(state.shape)
        if corrected:
            rest = rest + self.pose_offsets(state.pose)
        kinematics = kinematic_state(state.pose, self.space.joints(state.shape), self.parents)
        blend = LinearBlend(self.weights, kinematics.world_rotations, kinematics.translations)
        vertices = blend.moved(rest)
        if self.whole:
            normals = vertex_normals(vertices, np.asarray(self.template.mesh.triangles))
        else:
            normals = rotated(blend.blended, self.rest_normals)
            normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        return PosedPerson(vertices, normals, rest, kinematics, blend)

    def pose_offsets(self, pose: RotationPose) -> Float64[NumpyArray, "v 3"]:
        """b_v(θ) of this model's vertices, metres."""
        shares, offsets = self._correctives
        drivers = _drivers(self.skinning)
        rotations = _without_forearm_twist(pose.rotations, self.template.skeleton.names)
        features = (rotations[drivers] - np.eye(3)).reshape(-1)
        return ((shares @ features) @ offsets).reshape(-1, 3).astype(np.float64)

    def jacobian(
        self, posed: PosedPerson, shapes: int, rows: Int[NumpyArray, "n"] | None = None
    ) -> Float64[NumpyArray, "n 3 P"]:
        """∂x by the first `shapes` of β, all joints' rotations, and the translation."""
        model = self
        blend, rest = posed.blend, posed.rest
        kinematics = posed.kinematics
        if rows is not None:
            model = self.cut(rows)
            rest = rest[rows]
            blend = LinearBlend(model.weights, kinematics.world_rotations, kinematics.translations)
        by_betas = by_shape(
            blend,
            kinematics.world_rotations,
            self.parents,
            model.space.vertex_shapes[:shapes],
            model.space.joint_shapes[:shapes],
        )
        joints = self.joint_count
        result = np.zeros((len(rest), 3, shapes + 3 * joints + 3))
        result[:, :, :shapes] = by_betas
        rotations = np.zeros((1, len(rest), 3, joints, 3))
        rotation_jacobian(
            "lbs", model.support, rest[None], kinematics[None], self.parents, rotations
        )
        result[:, :, shapes : shapes + 3 * joints] = rotations.reshape(len(rest), 3, -1)
        result[:, :, shapes + 3 * joints :] = np.eye(3)
        return result

    def stepped(self, state: PersonState, posed: PosedPerson, step: NumpyArray) -> PersonState:
        """The state moved by a step of (first shapes, rotations, translation)."""
        moves = step[-3 * self.joint_count - 3 :]
        shapes = len(step) - len(moves)
        shape = state.shape.copy()
        shape[:shapes] += step[:shapes]
        world = posed.kinematics.world_rotations
        moved = rotate_joints(state.pose, world, self.parents, moves)
        # a step doubles what a parent's matrix lacks of a rotation: Newton's step to the nearest
        turns = moved.rotations
        turns = 1.5 * turns - 0.5 * turns @ np.swapaxes(turns, -1, -2) @ turns
        return PersonState(shape, RotationPose(turns, moved.translation))

    def cut(self, rows: Int[NumpyArray, "n"]) -> "PersonModel":
        """The same with some of its vertices."""
        space = replace(
            self.space,
            mean_vertices=self.space.mean_vertices[rows],
            vertex_shapes=self.space.vertex_shapes[:, rows],
        )
        return replace(
            self,
            space=space,
            weights=self.weights[rows],
            vertex_indices=self.vertex_indices[rows],
            rest_normals=self.rest_normals[rows],
            whole=False,
        )


_LIMBS = {"upper_arm": 1, "forearm": 1, "hand": 1, "thigh": 2, "shin": 2, "foot": 2}
"""Kind of limb by the part's name without its side."""


def _limb(part: str) -> int:
    side, _, stem = part.partition("_")
    return (1 if side == "left" else -1) * _LIMBS.get(stem, 0)


def _without_forearm_twist(
    rotations: Float64[NumpyArray, "J 3 3"], names: tuple[str, ...]
) -> Float64[NumpyArray, "J 3 3"]:
    """Elbows without their turn about the forearm, which the blend shapes were not taught."""
    bent = rotations.copy()
    for side in ("left", "right"):
        elbow = names.index(f"{side}_elbow")
        w, x, _, _ = quaternion_from_matrix(rotations[elbow])
        twist = matrix_from_axis_angle(np.array([2.0 * np.arctan2(x, w), 0.0, 0.0]))
        bent[elbow] = rotations[elbow] @ twist.T
    return bent


def _drivers(skinning: SmplSkinning) -> list[int]:
    """Joints whose rotations drive the pose blend shapes, in the order of the features."""
    correctives, names = skinning.correctives, skinning.template.skeleton.names
    assert correctives is not None
    return [names.index(name) for name in correctives.joint_names]


@cache
def person_model(count: int = COMPONENTS, without: tuple[str, ...] = ()) -> PersonModel:
    """The default body as registration uses it; made once."""
    template = load_default_body().template
    skinning = SmplSkinning(template)
    weights = np.asarray(skinning.template.weights.dense(), np.float64)
    space = person_space(count, without)
    return PersonModel(
        template,
        space,
        weights / weights.sum(axis=1, keepdims=True),
        np.arange(len(weights)),
        vertex_normals(space.mean_vertices, np.asarray(template.mesh.triangles)),
        skinning,
        pose_prior(template.skeleton.names),
    )


def with_identity(
    model: PersonModel, rest: Float64[NumpyArray, "V 3"], joints: Float64[NumpyArray, "J 3"]
) -> PersonModel:
    """One known person instead of a shape space, straight arms' turns held: what sequences are
    tracked with."""
    space = PersonSpace(rest, joints, np.zeros((0, *rest.shape)), np.zeros((0, *joints.shape)))
    prior = with_straight_twists(model.prior, model.template.skeleton.names, joints)
    return replace(model, space=space, prior=prior)
