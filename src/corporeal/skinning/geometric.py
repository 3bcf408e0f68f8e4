"""What linear and dual-quaternion skinning share: from pose to skin, without memory."""

from abc import ABC, abstractmethod
from typing import TypeAlias
from weakref import WeakKeyDictionary

import numpy as np

from corporeal._typing import Array, Float, NumpyArray
from corporeal.body.animation import Animation
from corporeal.body.controls import GivenControls
from corporeal.body.deformer import Traits, controls_for
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.runtime.arrays import as_one_kind, full_precision, is_numpy, namespace_of
from corporeal.skinning.blocks import SkinBlocks, pack_blocks
from corporeal.skinning.kinematics import forward_kinematics, rest_to_world
from corporeal.skinning.prepared import PreparedSkin, SkinKernel

MotionRows: TypeAlias = tuple[tuple[Array, ...], ...]
"""An affine motion for every vertex, three rows of four entries, each an array `*batch V`: kept
apart so that compilers fuse what is computed from them."""


def blend_rows(
    entries: Float[Array, "*batch n c"], weights: Float[Array, "V n"]
) -> Float[Array, "*batch c V"]:
    """Σ_n w_vn e_nc as one product of dense matrices, with the vertices last.

    On JAX and PyTorch this and its gradient are far faster than gathering four joints a vertex.
    """
    xp = namespace_of(entries, weights)
    batch, (count, size) = entries.shape[:-2], entries.shape[-2:]
    flat = xp.reshape(xp.matrix_transpose(entries), (-1, count))
    with full_precision(xp):
        blended = xp.matmul(flat, xp.matrix_transpose(weights))
    return xp.reshape(blended, (*batch, size, weights.shape[0]))


def move_points(rows: MotionRows, points: Float[Array, "*batch V 3"]) -> Float[Array, "..."]:
    """Each point moved by its own affine motion: x'_v = T_v (x_v, 1), metres."""
    x, y, z = points[..., 0], points[..., 1], points[..., 2]
    moved = [a * x + b * y + c * z + d for a, b, c, d in rows]
    return namespace_of(*moved).stack(moved, axis=-1)


class GeometricSkinning(Traits, ABC):
    """A deformer that moves every vertex by a blend of its joints' motions.

    Results have the pose's kind of array (NumPy, JAX, PyTorch) and its dtype. NumPy goes through a
    compiled kernel, the others through the same equations in their own operations. An identity is
    prepared when it is first posed and remembered while it lives, so its arrays must not be changed
    in place: make a new identity instead.
    """

    template: Template

    def __init__(self, template: Template) -> None:
        self.template = template
        self._blocks: dict[np.dtype, SkinBlocks] = {}
        self._prepared: WeakKeyDictionary[Identity, dict[np.dtype, PreparedSkin]] = (
            WeakKeyDictionary()
        )

    @abstractmethod
    def blend(self, world_from_rest: Float[Array, "*batch J 4 4"]) -> MotionRows:
        """Motion of every vertex, from the motion of every joint."""

    @abstractmethod
    def kernel(self) -> SkinKernel:
        """The compiled program for NumPy arrays."""

    def _skin(
        self, identity: Identity, world_from_rest: Float[Array, "*batch J 4 4"]
    ) -> Float[Array, "*batch V 3"]:
        """Posed skin from the motion of every joint, in JAX's or PyTorch's own operations."""
        world_from_rest, rest = as_one_kind(world_from_rest, identity.rest_vertices)
        return move_points(self.blend(world_from_rest), rest)

    def vertices(
        self, identity: Identity, pose: Pose, out: NumpyArray | None = None
    ) -> Float[Array, "*batch V 3"]:
        """Posed skin, metres; the batches of identity and pose broadcast together.

        `out`, for NumPy alone, is a contiguous array of the result's shape and dtype to write to.
        """
        self.require_fit(identity, pose)
        arrays = (pose.joint_rotations, pose.root_translation)
        if is_numpy(namespace_of(*arrays, identity.rest_vertices, identity.joints)):
            return self.prepare(identity, pose.joint_rotations.dtype).vertices(pose, out)
        if out is not None:
            raise InputError("`out` is for NumPy poses alone; leave it out for JAX and PyTorch.")
        return self._skin(identity, self.world_from_rest(identity, pose))

    def prepare(self, identity: Identity, dtype: Array = np.float32) -> PreparedSkin:
        """The identity laid out for the compiled kernel; made once, while the identity lives."""
        key = np.dtype(dtype)
        by_dtype = self._prepared.setdefault(identity, {})
        if key not in by_dtype:
            parents, blocks = self.template.skeleton.parents, self.template_blocks(key)
            by_dtype[key] = PreparedSkin(identity, parents, blocks, self.kernel())
        return by_dtype[key]

    def template_blocks(self, dtype: np.dtype) -> SkinBlocks:
        """The template's weights laid out for the kernel; made once."""
        exact = np.result_type(dtype, np.float32)  # half precision is computed in single
        if exact not in self._blocks:
            self._blocks[exact] = self.pack(exact)
        return self._blocks[exact]

    def pack(self, dtype: np.dtype) -> SkinBlocks:
        """How the template's weights are laid out for this deformer's kernel."""
        return pack_blocks(self.template.weights, dtype)

    def vertex_motions(self, identity: Identity, pose: Pose) -> MotionRows:
        """The affine motion that carries each rest vertex to its posed place."""
        return self.blend(self.world_from_rest(identity, pose))

    def world_from_rest(self, identity: Identity, pose: Pose) -> Float[Array, "*batch J 4 4"]:
        """What moves a rest-pose point along with each joint."""
        world_from_joint, joints = as_one_kind(
            self.world_from_joint(identity, pose), identity.joints
        )
        return rest_to_world(world_from_joint, joints)

    def world_from_joint(self, identity: Identity, pose: Pose) -> Float[Array, "*batch J 4 4"]:
        """Rigid frame of every posed joint."""
        self.require_fit(identity, pose)
        rotations, joints, translation = as_one_kind(
            pose.joint_rotations, identity.joints, pose.root_translation
        )
        return forward_kinematics(rotations, joints, self.template.skeleton.parents, translation)

    def animate(
        self,
        identity: Identity,
        motion: Motion,
        controls: GivenControls = None,
    ) -> Animation:
        """Pose the identity by every frame of the motion; there are no controls."""
        controls_for(self.name, self.Controls, controls)
        return Animation(
            deformer=self.name,
            template=self.template,
            identity=identity,
            motion=motion,
            vertices=self.vertices(identity, motion.poses),
            world_from_joint=self.world_from_joint(identity, motion.poses),
        )

    def require_fit(self, identity: Identity, pose: Pose) -> None:
        """Raise `InputError` unless identity and pose have the template's vertices and joints."""
        expected = self.template.skeleton.joint_count
        if pose.joint_count != expected:
            raise InputError(
                f"pose has {pose.joint_count} joints; the template has {expected}. Give one "
                f"rotation a joint of {', '.join(self.template.skeleton.names[:3])}, …"
            )
        if identity.joints.shape[-2] != expected:
            raise InputError(
                f"identity has {identity.joints.shape[-2]} joints; the template has {expected}. "
                f"Prepare the identity with the model of this template."
            )
        vertex_count = self.template.mesh.vertex_count
        if identity.rest_vertices.shape[-2] != vertex_count:
            raise InputError(
                f"identity has {identity.rest_vertices.shape[-2]} vertices; the template has "
                f"{vertex_count}. Prepare the identity with the model of this template."
            )
