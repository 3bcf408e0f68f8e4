"""Skeleton–skin coupling: how posed bones carry the inner surface.

Komaritzan 2022, section 3.2.2: half-rotated joints (figure 3.5), anchor rings (figure 3.6)
and the projection back onto bones and joints, which together let the skin slide (figure 3.7).
"""

from collections.abc import Mapping

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Int, NumpyArray
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.geometry.rotations import (
    matrix_from_quaternion,
    multiply_quaternions,
    quaternion_from_axis_angle,
    quaternion_from_matrix,
)
from corporeal.physics.coupling.anchors import Bindings, bind_sliding, bind_sticking, make_rings
from corporeal.physics.coupling.blended import BlendedCarrier
from corporeal.physics.coupling.loose_bones import bind_above
from corporeal.physics.volumetric_mesh.bones import VolumetricSkeleton
from corporeal.physics.volumetric_mesh.model import VolumetricModel
from corporeal.runtime.threads import over_slices
from corporeal.skinning.kinematics import motions_between


class Coupling:
    """Moves the inner surface and the carried skin along with the joints.

    Joints may also move apart: a bone's inner vertices are then stretched along it. `twisting`
    names joints whose turn about the bone that ends in them is spread evenly along that bone, as
    wrists do with forearms. With `sliding=False` inner vertices stick to the bone or joint they lie
    on. `follow_shares` (`loose_bones.follow_shares`) tell by joint how much of every skin vertex
    follows it: flesh over its bone that does so by less than half hangs on the bone above.
    """

    def __init__(
        self,
        model: VolumetricModel,
        skeleton: Skeleton,
        sliding: bool = True,
        twisting: tuple[str, ...] = (),
        follow_shares: Mapping[str, Float[NumpyArray, "V"]] | None = None,
    ) -> None:
        self.model = model
        self.skeleton = skeleton
        self.sliding = sliding
        self.carried_vertices = np.flatnonzero(model.carried)
        plain = bind_sliding(model, make_rings(model.bones)) if sliding else bind_sticking(model)
        self.bindings, above = bind_above(model, skeleton, plain, follow_shares or {})
        self._joints = np.asarray(skeleton.joints, np.float64)
        carried = self.carried_vertices
        self.skin_carrier = BlendedCarrier(
            csr_array(model.carriers[carried]), np.asarray(model.skin)[carried], self._joints
        )
        self._parents = np.asarray(skeleton.parents, np.int64)
        self.anchor_points = anchor_points(model.bones, self.bindings)
        self._capsule_places = model.bones.capsule_places()
        self._node_bones = model.bones.node_bones()
        self._bone_joints = model.bones.bone_joints
        self._axes = model.bones.directions()
        self.twisting = np.zeros(skeleton.joint_count, bool)
        self.twisting[[skeleton.index(name) for name in twisting]] = True
        self.projected = (
            sliding
            & ~model.free_inner
            & ~above
            & ((self.bindings.bone_shares < 1) | (model.inner_nodes >= 0))
        )
        self.allowed = self._rest_depths()

    def inner_positions(
        self, world_from_joint: Float[NumpyArray, "*batch J 4 4"]
    ) -> Float[NumpyArray, "*batch V 3"]:
        """Where the inner vertices are while the joints are at `world_from_joint` (metres).

        Free inner vertices are given where their virtual bone would carry them: a first guess.
        """
        frames = self._frames(world_from_joint)
        moved = self._move(frames)
        return moved.reshape(*world_from_joint.shape[:-3], -1, 3)

    def carried_skin(
        self, world_from_joint: Float[NumpyArray, "*batch J 4 4"]
    ) -> Float[NumpyArray, "*batch R 3"]:
        """Where the skin vertices `carried_vertices` are (metres)."""
        self._frames(world_from_joint)
        return self.skin_carrier.carriers(np.asarray(world_from_joint, np.float64))

    def carriers(
        self, world_from_joint: Float[NumpyArray, "*batch J 4 4"]
    ) -> Float[NumpyArray, "*batch n 3"]:
        """Where bones put each of the 2V vertices: inner and carried ones where they are, simulated
        skin where its inner copy is (metres)."""
        inner = self.inner_positions(world_from_joint)
        carried = np.concatenate([inner, inner], axis=-2)
        carried[..., self.carried_vertices, :] = self.carried_skin(world_from_joint)
        return carried

    def carry(
        self,
        positions: Float[NumpyArray, "n 3"],
        before: Float[NumpyArray, "J 4 4"],
        after: Float[NumpyArray, "J 4 4"],
    ) -> Float[NumpyArray, "n 3"]:
        """The 2V vertices moved rigidly with the bones they lie on, from one pose to another."""
        motion = motions_between(before, after, self._joints)
        each = motion[np.tile(self._bone_joints[self.bindings.bones], 2)]
        return np.einsum("nij,nj->ni", each[:, :3, :3], positions) + each[:, :3, 3]

    def _frames(self, world_from_joint: Float[NumpyArray, "*batch J 4 4"]) -> NumpyArray:
        if world_from_joint.shape[-3] != len(self._joints):
            raise InputError(
                f"coupling got frames of {world_from_joint.shape[-3]} joints for a skeleton of "
                f"{len(self._joints)}; expected one a joint."
            )
        return np.asarray(world_from_joint, np.float64).reshape(-1, len(self._joints), 4, 4)

    def _move(self, frames: Float[NumpyArray, "k J 4 4"]) -> Float[NumpyArray, "k V 3"]:
        """Inner vertices at several frames; what is small is done for all at once."""
        skeleton = self.model.bones
        twists = np.zeros((len(frames), len(self._parents)))
        if self.twisting.any():
            twists = joint_twists(frames, self._parents, self._joints) * self.twisting
        turns = node_rotations(frames, self._parents, self._joints, skeleton, twists)
        # one layout in memory, whatever the number of frames: kernels compile once
        nodes = np.ascontiguousarray(node_positions(frames, self._joints, skeleton))
        bone_rotations = frames[:, self._bone_joints, :3, :3]
        tips = nodes.shape[1] - len(self._parents)
        twists = np.pad(twists, ((0, 0), (0, tips)))[:, skeleton.bones[:, 1]]
        moved = np.empty((len(frames), self.model.vertex_count, 3))

        def work(start: int, stop: int) -> None:
            for k in range(start, stop):
                moved[k] = self._move_one(nodes[k], turns[k], bone_rotations[k], twists[k])

        over_slices(work, len(frames))
        return moved

    def _move_one(
        self,
        nodes: Float[NumpyArray, "n 3"],
        node_turns: Float[NumpyArray, "n 3 3"],
        bone_rotations: Float[NumpyArray, "b 3 3"],
        twists: Float[NumpyArray, "b"],
    ) -> Float[NumpyArray, "V 3"]:
        from corporeal.physics.coupling.cpu import combine_anchors, project_outward

        skeleton, bindings = self.model.bones, self.bindings
        positions = combine_anchors(
            bindings.nodes,
            bindings.bones,
            bindings.bone_shares,
            *self.anchor_points,
            skeleton.nodes,
            nodes,
            skeleton.bones,
            np.ascontiguousarray(node_turns),
            np.ascontiguousarray(bone_rotations),
            self._axes,
            np.ascontiguousarray(twists),
        )
        if self.sliding:
            project_outward(
                positions,
                self.projected,
                self.allowed,
                bindings.nodes,
                *self._posed_elements(nodes),
            )
        return positions

    def _posed_elements(self, nodes: Float[NumpyArray, "n 3"]) -> tuple[NumpyArray, ...]:
        """Spheres and capsules while the nodes are at `nodes`, for the compiled functions."""
        bones = self.model.bones
        start, end = nodes[bones.bones[:, 0]], nodes[bones.bones[:, 1]]
        axis, places = end - start, self._capsule_places
        low, high = start + places[:, :1] * axis, start + places[:, 1:] * axis
        return nodes, bones.node_radii, self._node_bones, low, high, bones.bone_radii

    def _rest_depths(self) -> Float[NumpyArray, "V"]:
        """How deep inside bones and joints a vertex already is at rest (0 or negative, metres)."""
        from corporeal.physics.coupling.cpu import signed_distances

        skeleton, bindings = self.model.bones, self.bindings
        elements = self._posed_elements(skeleton.nodes)
        distances = signed_distances(self.model.inner, bindings.nodes, *elements)
        return np.minimum(distances, 0.0)


def joint_twists(
    frames: Float[NumpyArray, "*batch J 4 4"],
    parents: Int[NumpyArray, "J"],
    joints: Float[NumpyArray, "J 3"],
) -> Float[NumpyArray, "*batch J"]:
    """Turn of every joint about the bone that ends in it, against its parent, −π to π radians.

    The twist of a quaternion (w, v) about a is 2 atan2(v · a, w).
    """
    turn = np.ascontiguousarray(frames[..., :3, :3])
    relative = quaternion_from_matrix(np.swapaxes(turn[..., parents, :, :], -1, -2) @ turn)
    along = np.sum(relative[..., 1:] * _incoming_axes(joints, parents), axis=-1)
    twist = 2.0 * np.arctan2(along, relative[..., 0])
    twist[..., 0] = 0.0
    return twist


def node_rotations(
    frames: Float[NumpyArray, "*batch J 4 4"],
    parents: Int[NumpyArray, "J"],
    joints: Float[NumpyArray, "J 3"],
    skeleton: VolumetricSkeleton,
    twists: Float[NumpyArray, "*batch J"],
) -> Float[NumpyArray, "*batch n 3 3"]:
    """Half-rotated joints: the quaternion mean of the bone that comes in and those that go out.

    All bones that leave a joint turn with it, so the mean is that of the parent's and the joint's
    rotation; the root and the tips of leaves turn with their only bone. A bone that comes in
    twisted (`twists`, radians) has the turn of its far end.
    """
    quaternion = quaternion_from_matrix(np.ascontiguousarray(frames[..., :3, :3]))
    axis_angle = twists[..., None] * _incoming_axes(joints, parents)
    above = multiply_quaternions(
        quaternion[..., parents, :], quaternion_from_axis_angle(axis_angle)
    )
    above[..., 0, :] = quaternion[..., 0, :]
    above = np.where(np.sum(above * quaternion, axis=-1, keepdims=True) < 0, -above, above)
    mean = above + quaternion
    halved = matrix_from_quaternion(mean / np.linalg.norm(mean, axis=-1, keepdims=True))
    tips = skeleton.node_joints[len(parents) :]
    return np.concatenate([halved, frames[..., tips, :3, :3]], axis=-3)


def _incoming_axes(
    joints: Float[NumpyArray, "J 3"], parents: Int[NumpyArray, "J"]
) -> Float[NumpyArray, "J 3"]:
    """Unit vector along the bone that ends in every joint; zero without one."""
    axis = joints - joints[np.maximum(parents, 0)]
    length = np.linalg.norm(axis, axis=1, keepdims=True)
    return np.divide(axis, length, out=np.zeros_like(axis), where=length > 0)


def node_positions(
    frames: Float[NumpyArray, "*batch J 4 4"],
    joints: Float[NumpyArray, "J 3"],
    skeleton: VolumetricSkeleton,
) -> Float[NumpyArray, "*batch n 3"]:
    """Posed joints and tips, metres."""
    owner = skeleton.node_joints
    offset = skeleton.nodes - joints[owner]
    each = frames[..., owner, :, :]
    return np.einsum("...nij,nj->...ni", each[..., :3, :3], offset) + each[..., :3, 3]


def anchor_points(
    skeleton: VolumetricSkeleton, bindings: Bindings
) -> tuple[Float[NumpyArray, "V 3"], Float[NumpyArray, "V 3"], Float[NumpyArray, "V"]]:
    """Anchor points seen from the joint and from the bone's start, and their places on the bone."""
    starts = skeleton.nodes[skeleton.bones[bindings.bones, 0]]
    from_joint = bindings.joint_points - skeleton.nodes[bindings.nodes]
    from_start = bindings.bone_points - starts
    along = np.sum(from_start * skeleton.directions()[bindings.bones], axis=1)
    length = skeleton.lengths[bindings.bones]
    places = np.divide(along, length, out=np.zeros_like(along), where=length > 0)
    return from_joint, from_start, np.clip(places, 0.0, 1.0)
