"""Anchor rings on bones and joints, and inner vertices as combinations of four anchors.

Komaritzan 2022, section 3.2.2 and figure 3.6. A vertex between a joint and its bone is
combined from two neighbouring anchors on the joint's ring and two on the bone's, at its angle round
the bone. Rings are polygons and the bone is round, so what the combination misses at rest is kept
as an offset that turns along: at rest every vertex is where it was.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.physics.volumetric_mesh.bones import VolumetricSkeleton
from corporeal.physics.volumetric_mesh.model import VolumetricModel
from corporeal.runtime.pytree_dataclass import pytree_dataclass

RING_SIZE = 16
"""Anchors a ring."""
REACH = 1.0 / 3.0
"""How far along a bone the sliding reaches from either joint, as a share of its length."""


@pytree_dataclass()
class Rings:
    """The rings of every bone end: b bones, 2 ends, `RING_SIZE` anchors."""

    joint_anchors: Float[NumpyArray, "b 2 ring 3"]
    """Round the joint's sphere, in the plane that halves the angle of the bones; metres."""
    bone_anchors: Float[NumpyArray, "b 2 ring 3"]
    """Round the bone, `reach` away from the joint; metres."""
    joint_normals: Float[NumpyArray, "b 2 3"]
    """Unit normals of the joints' ring planes, towards the bone."""
    reach: Float[NumpyArray, "b 2"]
    """Distance from joint to bone ring, metres."""


@pytree_dataclass()
class Bindings:
    """x = (1 − t) J(p_joint) + t B(p_bone): J moves along with a joint, B with a bone.

    p_joint and p_bone are the combinations of two anchors each, with the offset added to both.
    """

    nodes: Int[NumpyArray, "V"]
    """Node of the joint that takes part."""
    bones: Int[NumpyArray, "V"]
    """Bone that takes part."""
    bone_shares: Float[NumpyArray, "V"]
    """t: 0 moves with the joint, 1 with the bone."""
    joint_points: Float[NumpyArray, "V 3"]
    """p_joint at rest, metres."""
    bone_points: Float[NumpyArray, "V 3"]
    """p_bone at rest, metres."""


def make_rings(skeleton: VolumetricSkeleton) -> Rings:
    """Evenly sampled circles round every bone and the joints at its ends."""
    directions = skeleton.directions()
    first = _perpendicular(directions)
    places, length = skeleton.capsule_places(), skeleton.lengths
    middle = places.mean(axis=1) * length
    joint_anchors = np.empty((len(length), 2, RING_SIZE, 3))
    bone_anchors, normals = np.empty_like(joint_anchors), np.empty((len(length), 2, 3))
    reach = np.empty((len(length), 2))
    for end in range(2):
        node = skeleton.bones[:, end]
        outward = directions if end == 0 else -directions
        halving = _halving_normals(skeleton, directions, end)
        normals[:, end] = halving if end == 0 else -halving
        radius = skeleton.node_radii[node]
        wanted = np.maximum(REACH * length, radius + skeleton.bone_radii)
        reach[:, end] = np.minimum(wanted, middle if end == 0 else length - middle)
        centre = skeleton.nodes[node]
        joint_first = _carried(first, directions, halving)
        joint_anchors[:, end] = _ring(centre, joint_first, halving, radius)
        centre = centre + reach[:, end, None] * outward
        bone_anchors[:, end] = _ring(centre, first, directions, skeleton.bone_radii)
    return Rings(joint_anchors, bone_anchors, normals, reach)


def bind_sliding(model: VolumetricModel, rings: Rings) -> Bindings:
    """Every inner vertex as a combination of the four anchors around it."""
    skeleton, bones = model.bones, model.inner_bones
    ends = _nearer_ends(model)
    nodes = skeleton.bones[bones, ends]
    offset = model.inner - skeleton.nodes[nodes]
    direction = skeleton.directions()[bones]
    outward = np.where(ends[:, None] == 0, direction, -direction)
    from_joint = np.sum(offset * rings.joint_normals[bones, ends], axis=1)
    to_ring = rings.reach[bones, ends] - np.sum(offset * outward, axis=1)
    from_joint, to_ring = np.maximum(from_joint, 0.0), np.maximum(to_ring, 0.0)
    total = from_joint + to_ring
    shares = np.divide(from_joint, total, out=np.ones_like(total), where=total > 0)
    first = _perpendicular(direction)
    second = np.cross(direction, first)
    angle = np.arctan2(np.sum(offset * second, axis=1), np.sum(offset * first, axis=1))
    turn = np.mod(angle / (2.0 * np.pi), 1.0) * RING_SIZE
    before = np.floor(turn).astype(np.int64) % RING_SIZE
    part = (turn - np.floor(turn))[:, None]
    after = (before + 1) % RING_SIZE

    def between(anchors: Float[NumpyArray, "b 2 ring 3"]) -> Float[NumpyArray, "V 3"]:
        return (1.0 - part) * anchors[bones, ends, before] + part * anchors[bones, ends, after]

    joint_points, bone_points = between(rings.joint_anchors), between(rings.bone_anchors)
    # δ = x − [(1−t) p_joint + t p_bone] at rest
    missed = model.inner - (1.0 - shares[:, None]) * joint_points - shares[:, None] * bone_points
    return Bindings(nodes, bones, shares, joint_points + missed, bone_points + missed)


def bind_sticking(model: VolumetricModel) -> Bindings:
    """Inner vertices stuck to what they lie on: the half-rotated joint, or the bone."""
    nodes = model.bones.bones[model.inner_bones, _nearer_ends(model)]
    shares = np.where(model.inner_nodes >= 0, 0.0, 1.0)
    return Bindings(nodes, model.inner_bones, shares, model.inner, model.inner)


def _nearer_ends(model: VolumetricModel) -> Int[NumpyArray, "V"]:
    """0 where the bone's start is nearer, 1 for its end; on a joint's sphere, that joint."""
    skeleton, bones = model.bones, model.inner_bones
    offset = model.inner - skeleton.nodes[skeleton.bones[bones, 0]]
    along = np.sum(offset * skeleton.directions()[bones], axis=1)
    middle = (skeleton.capsule_places().mean(axis=1) * skeleton.lengths)[bones]
    at_end = np.where(
        model.inner_nodes >= 0, model.inner_nodes == skeleton.bones[bones, 1], along > middle
    )
    return at_end.astype(np.int64)


def _halving_normals(
    skeleton: VolumetricSkeleton, directions: Float[NumpyArray, "b 3"], end: int
) -> Float[NumpyArray, "b 3"]:
    """Mean direction of a bone and those that go on at its `end`, running from root to leaf."""
    beyond = np.zeros_like(skeleton.nodes)
    np.add.at(beyond, skeleton.bones[:, 1 - end], directions)
    length = np.linalg.norm(beyond, axis=1, keepdims=True)
    beyond = np.divide(beyond, length, out=np.zeros_like(beyond), where=length > 1e-9)
    normal = directions + beyond[skeleton.bones[:, end]]
    length = np.linalg.norm(normal, axis=1, keepdims=True)
    return np.where(length > 0.2, normal / np.maximum(length, 0.2), directions)


def _perpendicular(directions: Float[NumpyArray, "m 3"]) -> Float[NumpyArray, "m 3"]:
    """A unit vector across each direction; the x axis for a zero one."""
    helper = np.eye(3)[np.argmin(np.abs(directions), axis=1)]
    across = np.cross(directions, helper)
    length = np.linalg.norm(across, axis=1, keepdims=True)
    return np.where(length > 0, across / np.where(length > 0, length, 1.0), np.eye(3)[:1])


def _carried(
    vectors: Float[NumpyArray, "b 3"],
    start: Float[NumpyArray, "b 3"],
    end: Float[NumpyArray, "b 3"],
) -> Float[NumpyArray, "b 3"]:
    """Vectors turned by the smallest rotation from `start` to `end` (at most 90° apart)."""
    axis = np.cross(start, end)
    cosine = np.sum(start * end, axis=1, keepdims=True)
    along = np.sum(axis * vectors, axis=1, keepdims=True)
    turned = cosine * vectors + np.cross(axis, vectors) + axis * along / (1.0 + cosine)
    return turned / np.maximum(np.linalg.norm(turned, axis=1, keepdims=True), 1e-12)


def _ring(
    centres: Float[NumpyArray, "b 3"],
    first: Float[NumpyArray, "b 3"],
    normals: Float[NumpyArray, "b 3"],
    radii: Float[NumpyArray, "b"],
) -> Float[NumpyArray, "b ring 3"]:
    angle = 2.0 * np.pi * np.arange(RING_SIZE)[:, None] / RING_SIZE
    second = np.cross(normals, first)
    across = np.cos(angle) * first[:, None] + np.sin(angle) * second[:, None]
    return centres[:, None] + radii[:, None, None] * across
