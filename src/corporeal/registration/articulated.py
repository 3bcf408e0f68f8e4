"""The default body as a coarse articulated model: shape, pose and place, with exact derivatives.

========= ====================================================================
β          shape: standard deviations along principal components of the phenotype
R_j, p_j   world rotation and place of joint j; L_j the rotation against the parent
s, t       size and place of the whole body
x_v        e^s Σ_j w_vj (R_j (r_v(β) − J_j(β)) + p_j) + t
========= ====================================================================

Fingers are one piece with the wrist. Kinematics, skinning and their derivatives are those of
`skinning`, for a tree of the posed joints alone.
"""

from dataclasses import dataclass, replace
from functools import cache, cached_property

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.volumetric_mesh.simulation_mesh import simulation_mesh
from corporeal.registration.shape_components import shape_components
from corporeal.skinning.jacobians import (
    LinearBlend,
    by_shape,
)
from corporeal.skinning.kinematics import (
    KinematicState,
    kinematic_state,
    rotate_joints,
    rotated,
)
from corporeal.skinning.sparse_jacobians import SkinSupport, rotation_jacobian, skin_support

BODY_JOINTS = 22
"""Joints that are posed; the rest are fingers."""
SHAPES = 16
"""Principal components of shape."""
_COARSE = 1600


@dataclass(frozen=True)
class ArticulatedBody:
    """Coarse skin of the default body and how it changes."""

    skeleton: Skeleton
    """All joints of the average adult, metres."""
    vertices: Float[NumpyArray, "v 3"]
    """Mean rest skin, metres."""
    triangles: Int[NumpyArray, "f 3"]
    """Corner indices of the coarse skin."""
    vertex_shapes: Float[NumpyArray, "v 3 K"]
    """Change of the skin with a standard deviation of each component, metres."""
    joints: Float[NumpyArray, "J 3"]
    """Mean joints, metres."""
    joint_shapes: Float[NumpyArray, "J 3 K"]
    """Change of the joints with a standard deviation of each component, metres."""
    weights: Float[NumpyArray, "v b"]
    """Skin weights of the posed joints."""

    @property
    def parents(self) -> tuple[int, ...]:
        """Parent of every posed joint, −1 for the root."""
        return self.skeleton.parents[:BODY_JOINTS]

    @cached_property
    def support(self) -> SkinSupport:
        """Which posed joints move a vertex."""
        return skin_support(self.weights, self.parents)

    @cached_property
    def carriers(self) -> Int[NumpyArray, "J"]:
        """The posed joint that carries each joint: itself, or the wrist of a finger."""
        return np.array([_posed_ancestor(self.skeleton, j) for j in range(len(self.joints))])

    @property
    def height(self) -> float:
        """Of the mean skin, metres."""
        return float(np.ptp(self.vertices[:, 1]))


@dataclass(frozen=True)
class Stance:
    """Shape, pose and place of an articulated body."""

    shape: Float[NumpyArray, "K"]
    """Coefficients of the components, standard deviations."""
    pose: RotationPose
    """L_j of the posed joints; its translation is the place t, metres."""
    log_size: float
    """Logarithm of the size over the mean person's."""


@dataclass(frozen=True)
class PosedArticulatedBody:
    """An articulated body in a stance."""

    vertices: Float[NumpyArray, "v 3"]
    """Metres."""
    world_rotations: Float[NumpyArray, "b 3 3"]
    """R_j."""
    joints: Float[NumpyArray, "J 3"]
    """All joints, fingers too, metres."""
    jacobian: Float[NumpyArray, "v 3 P"]
    """Of the vertices by shape, rotations (world axes), size and place."""


def upright(body: ArticulatedBody) -> Stance:
    """The mean body in the zero pose."""
    rotations = np.broadcast_to(np.eye(3), (BODY_JOINTS, 3, 3)).copy()
    return Stance(np.zeros(body.vertex_shapes.shape[2]), RotationPose(rotations, np.zeros(3)), 0.0)


def turned(stance: Stance, skeleton: Skeleton, rotations: dict[str, list[float]]) -> Stance:
    """The stance with some joints at given axis-angle vectors (radians)."""
    matrices = stance.pose.rotations.copy()
    for name, vector in rotations.items():
        matrices[skeleton.index(name)] = matrix_from_axis_angle(np.array(vector, np.float64))
    return replace(stance, pose=replace(stance.pose, rotations=matrices))


def pose_body(body: ArticulatedBody, stance: Stance) -> PosedArticulatedBody:
    """Skin, joints and derivatives in a stance."""
    rest = body.vertices + body.vertex_shapes @ stance.shape
    joints = body.joints + body.joint_shapes @ stance.shape
    place = stance.pose.translation
    state = kinematic_state(
        replace(stance.pose, translation=np.zeros(3)), joints[:BODY_JOINTS], body.parents
    )
    blend = LinearBlend(body.weights, state.world_rotations, state.translations)
    size = np.exp(stance.log_size)
    skin = size * blend.moved(rest)
    shape = by_shape(
        blend,
        state.world_rotations,
        body.parents,
        np.moveaxis(body.vertex_shapes, 2, 0),
        np.moveaxis(body.joint_shapes[:BODY_JOINTS], 2, 0),
    )
    rotations = np.zeros((1, len(rest), 3, BODY_JOINTS, 3))
    rotation_jacobian("lbs", body.support, rest[None], state[None], body.parents, rotations)
    by_place = np.broadcast_to(np.eye(3), (len(rest), 3, 3))
    jacobian = np.concatenate(
        [size * shape, size * rotations.reshape(len(rest), 3, -1), skin[..., None], by_place],
        axis=2,
    )
    return PosedArticulatedBody(
        skin + place,
        state.world_rotations,
        size * _all_joints(body, joints, state) + place,
        jacobian,
    )


def stepped(
    stance: Stance, posed: PosedArticulatedBody, parents: tuple[int, ...], step: NumpyArray
) -> Stance:
    """The stance moved by a step in the parameters of the Jacobian."""
    count = len(stance.shape)
    moves = np.concatenate([step[count : count + 3 * BODY_JOINTS], step[-3:]])
    return Stance(
        stance.shape + step[:count],
        rotate_joints(stance.pose, posed.world_rotations, parents, moves),
        stance.log_size + float(step[-4]),
    )


def _all_joints(
    body: ArticulatedBody, rest: Float[NumpyArray, "J 3"], state: KinematicState
) -> Float[NumpyArray, "J 3"]:
    """Posed joints: fingers go with their wrists."""
    carriers = body.carriers
    return rotated(state.world_rotations[carriers], rest) + state.translations[carriers]


def _posed_ancestor(skeleton: Skeleton, joint: int) -> int:
    while joint >= BODY_JOINTS:
        joint = skeleton.parents[joint]
    return joint


@cache
def articulated_body() -> ArticulatedBody:
    """The default body; prepared once."""
    model = PhenotypeModel()
    template = model.template
    coarse = simulation_mesh(template, _COARSE)
    kept = coarse.vertex_indices
    shapes = shape_components(model, kept, SHAPES)
    return ArticulatedBody(
        template.skeleton,
        shapes.vertices,
        coarse.triangles,
        shapes.vertex_shapes,
        shapes.joints,
        shapes.joint_shapes,
        _folded_weights(template.weights.dense()[kept], template.skeleton),
    )


def _folded_weights(
    dense: Float[NumpyArray, "v J"], skeleton: Skeleton
) -> Float[NumpyArray, "v b"]:
    folded = np.zeros((len(dense), BODY_JOINTS))
    for joint in range(skeleton.joint_count):
        folded[:, _posed_ancestor(skeleton, joint)] += dense[:, joint]
    return folded
