"""Bones with volume: joints as spheres, bones as capsules between them.

Komaritzan 2022, section 3.2.1, "Bones and Joints".
"""

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray
from corporeal.body.checks import require_finite, require_indices
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.physics.volumetric_mesh.mirrored_bones import (
    MirroredBones,
    mirrored_bones,
    nearest_bones,
)
from corporeal.runtime.pytree_dataclass import pytree_dataclass

SKIN_SHARE = 0.75
"""A bone's automatic radius, as a share of its distance to the skin."""
LEAST_SHARE = 0.1
"""A bone's least automatic radius, as a share of the median distance of the vertices nearest to it.
A bone that touches the skin or leaves it would otherwise be a line, about which flesh can spin."""
SHORTEST_TIP = 0.5
"""A leaf joint's bone reaches at least this share of the way to the skin."""


@pytree_dataclass()
class VolumetricSkeleton:
    """Spheres and capsules along the bone lines; n nodes (joints, then tips of leaves), b bones.

    The capsule of a bone stands between the spheres at its ends: its round caps touch them when
    the bone is short, and leave a gap for the joint to move otherwise.
    """

    nodes: Float[NumpyArray, "n 3"]
    """Rest positions, metres: node j < J is joint j."""
    node_joints: Int[NumpyArray, "n"]
    """Joint whose frame carries the node."""
    node_radii: Float[NumpyArray, "n"]
    """Metres."""
    bones: Int[NumpyArray, "b 2"]
    """Nodes where a bone starts (nearer the root) and ends."""
    bone_radii: Float[NumpyArray, "b"]
    """Metres."""
    virtual: Bool[NumpyArray, "b"]
    """Bones that give shape to the model but hold no flesh."""

    def check(self) -> None:
        """Raise `InputError` unless nodes are finite, indices in range and radii 0 or more."""
        require_finite("bone nodes", self.nodes)
        require_indices("bones", self.bones, len(self.nodes))
        for what, radii in (("joint", self.node_radii), ("bone", self.bone_radii)):
            require_finite(f"{what} radii", radii)
            if (radii < 0).any():
                raise InputError(
                    f"{what} radii reach down to {radii.min():g} m; expected 0 or more."
                )

    @property
    def bone_joints(self) -> Int[NumpyArray, "b"]:
        """Joint whose frame turns the bone."""
        return self.node_joints[self.bones[:, 0]]

    @property
    def lengths(self) -> Float[NumpyArray, "b"]:
        """Length of every bone line, metres."""
        return np.linalg.norm(self.nodes[self.bones[:, 1]] - self.nodes[self.bones[:, 0]], axis=1)

    def directions(self) -> Float[NumpyArray, "b 3"]:
        """Unit vectors along the bones; zero for a bone without length."""
        axis = self.nodes[self.bones[:, 1]] - self.nodes[self.bones[:, 0]]
        length = self.lengths[:, None]
        return np.divide(axis, length, out=np.zeros_like(axis), where=length > 0)

    def capsule_places(self) -> Float[NumpyArray, "b 2"]:
        """Where the capsule's axis starts and ends, as shares of the bone line from 0 to 1."""
        start, end, length = self.bones[:, 0], self.bones[:, 1], self.lengths
        low = self.node_radii[start] + self.bone_radii
        high = length - self.node_radii[end] - self.bone_radii
        places = np.stack([low, np.maximum(high, low)], axis=1)
        scale = np.divide(1.0, length, out=np.zeros_like(length), where=length > 0)
        return np.clip(places * scale[:, None], 0.0, 1.0)

    def node_bones(self) -> Int[NumpyArray, "n m"]:
        """The bones that meet at every node, filled up with −1."""
        degree = np.bincount(self.bones.ravel(), minlength=len(self.nodes))
        table = np.full((len(self.nodes), int(degree.max(initial=1))), -1)
        taken = np.zeros(len(self.nodes), np.int64)
        for bone, ends in enumerate(self.bones):
            for node in ends:
                table[node, taken[node]] = bone
                taken[node] += 1
        return table

    def leaf_nodes(self) -> Bool[NumpyArray, "n"]:
        """Nodes at which one bone ends and none starts."""
        leaf = np.zeros(len(self.nodes), bool)
        leaf[self.bones[:, 1]] = True
        leaf[self.bones[:, 0]] = False
        return leaf


def inflate_skeleton(
    mesh: Mesh,
    skeleton: Skeleton,
    *,
    radii: Float[NumpyArray, "J"] | None = None,
    radius_factor: float = 1.0,
    virtual_bones: tuple[str, ...] = (),
) -> VolumetricSkeleton:
    """Give the bone lines volume.

    `radii` (metres) are those of the joints, and of the bones that end in them; without them each
    bone takes 75 % of its distance to the skin (at least `LEAST_SHARE`), times `radius_factor`, and
    each joint the largest of its bones. Either way radii that do not fit, r₁ + r₂ + 2 r_b > l_b,
    are scaled by l_b / (r₁ + r₂ + 2 r_b).
    `virtual_bones` are named by the joint they end in; a virtual leaf's tip is virtual, too. A bone
    and its mirror image are scaled together where mesh and skeleton are symmetric.
    """
    vertices = np.ascontiguousarray(mesh.vertices, np.float64)
    triangles = np.ascontiguousarray(mesh.triangles, np.int64)
    nodes, node_joints, bones = _bone_lines(skeleton, vertices, triangles)
    virtual_joints = np.zeros(skeleton.joint_count, bool)
    virtual_joints[[skeleton.index(name) for name in virtual_bones]] = True
    mirrored = mirrored_bones(vertices, mesh.mirror, nodes, bones)
    if radii is None:
        bone_radii = radius_factor * _automatic_radii(nodes, bones, vertices, triangles, mirrored)
    else:
        bone_radii = _given_radii(radii, skeleton)[node_joints[bones[:, 1]]]
    node_radii = np.zeros(len(nodes))
    np.maximum.at(node_radii, bones.ravel(), np.repeat(bone_radii, 2))
    if radii is not None:
        node_radii[: skeleton.joint_count] = radii
    images = np.arange(len(bones)) if mirrored is None else mirrored.bones
    fitted = _fit_lengths(nodes, bones, node_radii, bone_radii, images)
    return VolumetricSkeleton(
        nodes, node_joints, fitted[0], bones, fitted[1], virtual_joints[node_joints[bones[:, 1]]]
    )


def _given_radii(radii: Float[NumpyArray, "J"], skeleton: Skeleton) -> Float[NumpyArray, "J"]:
    if len(radii) != skeleton.joint_count:
        raise InputError(
            f"{len(radii)} radii came for {skeleton.joint_count} joints; expected one a joint."
        )
    return np.asarray(radii, np.float64)


def _bone_lines(
    skeleton: Skeleton, vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> tuple[Float[NumpyArray, "n 3"], Int[NumpyArray, "n"], Int[NumpyArray, "b 2"]]:
    """Joints and tips, their joints, and the lines between them.

    A leaf joint's line goes on in its parent bone's direction: to where it is as far from the skin
    ahead as the joint is from the skin around it.
    """
    from corporeal.physics.volumetric_mesh.distances_cpu import (
        ray_exit_distances,
        segment_surface_distances,
    )

    joints = np.asarray(skeleton.joints, np.float64)
    parents = np.asarray(skeleton.parents)
    leaves = np.setdiff1d(np.arange(len(joints)), parents)
    axis = joints[leaves] - joints[np.maximum(parents[leaves], 0)]
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    axis = np.divide(axis, length, out=np.zeros_like(axis), where=length > 0)
    ahead = ray_exit_distances(joints[leaves], axis, vertices, triangles)
    around = segment_surface_distances(joints[leaves], joints[leaves], vertices, triangles)
    ahead = np.where(np.isfinite(ahead), ahead, 0.0)
    reach = np.maximum(ahead - around, SHORTEST_TIP * ahead)
    tips = joints[leaves] + reach[:, None] * axis
    inner = np.stack([parents[1:], np.arange(1, len(joints))], axis=1)
    outer = np.stack([leaves, len(joints) + np.arange(len(leaves))], axis=1)
    nodes = np.concatenate([joints, tips])
    return nodes, np.concatenate([np.arange(len(joints)), leaves]), np.concatenate([inner, outer])


def _automatic_radii(
    nodes: Float[NumpyArray, "n 3"],
    bones: Int[NumpyArray, "b 2"],
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    mirrored: MirroredBones | None,
) -> Float[NumpyArray, "b"]:
    from corporeal.physics.volumetric_mesh.distances_cpu import segment_surface_distances

    starts, ends = nodes[bones[:, 0]], nodes[bones[:, 1]]
    distances = segment_surface_distances(starts, ends, vertices, triangles)
    radii = SKIN_SHARE * np.where(np.isfinite(distances), distances, 0.0)
    nearest, places = nearest_bones(vertices, nodes, bones, mirrored)
    feet = starts[nearest] + places[:, None] * (ends - starts)[nearest]
    away = np.linalg.norm(vertices - feet, axis=1)
    for bone in np.unique(nearest):
        radii[bone] = max(radii[bone], LEAST_SHARE * float(np.median(away[nearest == bone])))
    return radii


def _fit_lengths(
    nodes: Float[NumpyArray, "n 3"],
    bones: Int[NumpyArray, "b 2"],
    node_radii: Float[NumpyArray, "n"],
    bone_radii: Float[NumpyArray, "b"],
    images: Int[NumpyArray, "b"],
) -> tuple[Float[NumpyArray, "n"], Float[NumpyArray, "b"]]:
    """Scale radii until two spheres and a capsule fit on every bone; one pass, since none grows.

    A bone without length has no capsule, and leaves its sphere alone. A bone and its mirror image
    (`images`) take their turn together; a sphere between them is scaled by the smaller factor.
    """
    node_radii, bone_radii = node_radii.copy(), bone_radii.copy()
    for index in np.flatnonzero(images >= np.arange(len(bones))):
        node_scales = np.ones(len(nodes))
        for bone in {int(index), int(images[index])}:
            start, end = bones[bone]
            length = float(np.linalg.norm(nodes[end] - nodes[start]))
            needed = node_radii[start] + node_radii[end] + 2.0 * bone_radii[bone]
            if length == 0.0:
                bone_radii[bone] = 0.0
            elif needed > length:
                scale = length / needed
                bone_radii[bone] *= scale
                node_scales[[start, end]] = np.minimum(node_scales[[start, end]], scale)
        node_radii *= node_scales
    return node_radii, bone_radii
