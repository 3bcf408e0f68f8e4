"""The default body as a coarse articulated model: shape, pose and place, with exact derivatives.

========= ====================================================================
β          shape: standard deviations along principal components of the phenotype
R_j, p_j   world rotation and place of joint j; L_j the rotation against the parent
s, t       size and place of the whole body
x_v        e^s Σ_j w_vj (R_j (r_v(β) − J_j(β)) + p_j) + t
========= ====================================================================

Fingers are one piece with the wrist. A turn ω of joint k in the world moves a vertex by
ω × Σ_{j below k} w_vj (y_vj − p_k), y_vj the place that joint j alone would give it.
"""

from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.volumetric_mesh.simulation_mesh import simulation_mesh
from corporeal.registration.shape_components import shape_components

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
    vertex_shapes: Float[NumpyArray, "v 3 K"]
    """Change of the skin with a standard deviation of each component, metres."""
    joints: Float[NumpyArray, "J 3"]
    joint_shapes: Float[NumpyArray, "J 3 K"]
    weights: Float[NumpyArray, "v b"]
    """Skin weights of the posed joints."""
    below: Float[NumpyArray, "b b"]
    """1 where joint j is k or below it, at [k, j]."""

    @property
    def parents(self) -> tuple[int, ...]:
        return self.skeleton.parents[:BODY_JOINTS]

    @property
    def height(self) -> float:
        """Of the mean skin, metres."""
        return float(np.ptp(self.vertices[:, 1]))


@dataclass(frozen=True)
class Stance:
    """Shape, pose and place of an articulated body."""

    shape: Float[NumpyArray, "K"]
    turns: Float[NumpyArray, "b 3 3"]
    """L_j; the first is the root's turn in the world."""
    log_size: float
    place: Float[NumpyArray, "3"]
    """Metres."""


@dataclass(frozen=True)
class Posed:
    """An articulated body in a stance."""

    vertices: Float[NumpyArray, "v 3"]
    frames: Float[NumpyArray, "b 3 3"]
    """R_j."""
    joints: Float[NumpyArray, "J 3"]
    """All joints, fingers too, metres."""
    jacobian: Float[NumpyArray, "v 3 P"]
    """Of the vertices by shape, turns (world axes), size and place."""


def upright(body: ArticulatedBody) -> Stance:
    """The mean body in the zero pose."""
    turns = np.broadcast_to(np.eye(3), (BODY_JOINTS, 3, 3)).copy()
    return Stance(np.zeros(body.vertex_shapes.shape[2]), turns, 0.0, np.zeros(3))


def turned(stance: Stance, skeleton: Skeleton, rotations: dict[str, list[float]]) -> Stance:
    """The stance with some joints at given axis-angle vectors (radians)."""
    turns = stance.turns.copy()
    for name, vector in rotations.items():
        turns[skeleton.index(name)] = matrix_from_axis_angle(np.array(vector, np.float64))
    return replace(stance, turns=turns)


def pose_body(body: ArticulatedBody, stance: Stance) -> Posed:
    """Skin, joints and derivatives in a stance."""
    rest = body.vertices + body.vertex_shapes @ stance.shape
    joints = body.joints + body.joint_shapes @ stance.shape
    frames, places = stance.turns.copy(), joints[:BODY_JOINTS].copy()
    slopes = body.joint_shapes[:BODY_JOINTS].copy()  # ∂p_j/∂β
    for joint, parent in enumerate(body.parents[1:], start=1):
        frames[joint] = frames[parent] @ stance.turns[joint]
        places[joint] = places[parent] + frames[parent] @ (joints[joint] - joints[parent])
        change = body.joint_shapes[joint] - body.joint_shapes[parent]
        slopes[joint] = slopes[parent] + frames[parent] @ change
    # y_vj = R_j (r_v − J_j) + p_j
    each = np.einsum("jab,vb->vja", frames, rest)
    each += places - np.einsum("jab,jb->ja", frames, joints[:BODY_JOINTS])
    weighted = body.weights[..., None] * each
    size = np.exp(stance.log_size)
    skin = size * weighted.sum(axis=1)
    # a_vk = Σ_{j below k} w_vj (y_vj − p_k)
    arms = np.einsum("kj,vja->vka", body.below, weighted)
    arms -= (body.weights @ body.below.T)[..., None] * places
    blended = np.einsum("vj,jab->vab", body.weights, frames)
    shift = slopes - np.einsum("jab,jbk->jak", frames, body.joint_shapes[:BODY_JOINTS])
    by_shape = np.einsum("vab,vbk->vak", blended, body.vertex_shapes)
    by_shape += np.einsum("vj,jak->vak", body.weights, shift)
    by_turn = np.moveaxis(_minus_cross(arms), 1, 2).reshape(len(rest), 3, -1)
    by_place = np.broadcast_to(np.eye(3), (len(rest), 3, 3))
    jacobian = np.concatenate([size * by_shape, size * by_turn, skin[..., None], by_place], axis=2)
    return Posed(
        skin + stance.place,
        frames,
        size * _all_joints(body, joints, frames, places) + stance.place,
        jacobian,
    )


def stepped(stance: Stance, posed: Posed, parents: tuple[int, ...], step: NumpyArray) -> Stance:
    """The stance moved by a step in the parameters of the Jacobian."""
    count = len(stance.shape)
    turns = stance.turns.copy()
    spins = matrix_from_axis_angle(step[count : count + 3 * BODY_JOINTS].reshape(-1, 3))
    for joint in range(BODY_JOINTS):
        above = posed.frames[parents[joint]] if joint else np.eye(3)
        turns[joint] = above.T @ spins[joint] @ above @ turns[joint]
    return Stance(
        stance.shape + step[:count],
        turns,
        stance.log_size + float(step[-4]),
        stance.place + step[-3:],
    )


def turn_vectors(stance: Stance) -> Float[NumpyArray, "b 3"]:
    """Axis-angle vectors against the parents, radians."""
    return axis_angle_from_matrix(stance.turns)


def _minus_cross(vectors: Float[NumpyArray, "*batch 3"]) -> Float[NumpyArray, "*batch 3 3"]:
    """M with M ω = ω × a."""
    x, y, z = np.moveaxis(vectors, -1, 0)
    zero = np.zeros_like(x)
    rows = [[zero, z, -y], [-z, zero, x], [y, -x, zero]]
    return np.stack([np.stack(row, axis=-1) for row in rows], axis=-2)


def _all_joints(
    body: ArticulatedBody, rest: NumpyArray, frames: NumpyArray, places: NumpyArray
) -> Float[NumpyArray, "J 3"]:
    """Fingers go with their wrists."""
    joints = np.empty_like(rest)
    joints[:BODY_JOINTS] = places
    for joint in range(BODY_JOINTS, len(rest)):
        wrist = _posed_ancestor(body.skeleton, joint)
        joints[joint] = places[wrist] + frames[wrist] @ (rest[joint] - rest[wrist])
    return joints


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
        _below(template.skeleton),
    )


def _folded_weights(
    dense: Float[NumpyArray, "v J"], skeleton: Skeleton
) -> Float[NumpyArray, "v b"]:
    folded = np.zeros((len(dense), BODY_JOINTS))
    for joint in range(skeleton.joint_count):
        folded[:, _posed_ancestor(skeleton, joint)] += dense[:, joint]
    return folded


def _below(skeleton: Skeleton) -> Float[NumpyArray, "b b"]:
    below = np.eye(BODY_JOINTS)
    for joint in range(BODY_JOINTS - 1, 0, -1):
        below[skeleton.parents[joint]] += below[joint]
    return below
