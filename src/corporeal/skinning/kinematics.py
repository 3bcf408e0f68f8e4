"""Forward kinematics: from joint rotations to the rigid frame of every joint.

Conventions (SMPL's): at rest every joint frame has the world's axes and stands at its rest joint;
a joint turns about itself in its parent's frame; the root turns about its own rest position, and
the root translation is added last.

Written once for NumPy, JAX and PyTorch; `kinematics_cpu` is the same, compiled. Derivatives are in
`jacobians`.
"""

from functools import lru_cache
from typing import Any

import numpy as np

from corporeal._typing import Array, Float, Float64, Int, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.geometry.transforms import transform_from_parts
from corporeal.runtime.arrays import as_kind_of, as_one_kind, namespace_of
from corporeal.runtime.pytree_dataclass import pytree_dataclass


@pytree_dataclass()
class KinematicState:
    """The posed kinematic tree: joint k moves a rest point by x ↦ Q_k x + τ_k.

    The root's translation is included.
    """

    world_rotations: Float[Array, "*batch J 3 3"]
    """Q_k: rotation of joint k in the world."""
    centres: Float[Array, "*batch J 3"]
    """g_k: posed joint centre, metres."""
    translations: Float[Array, "*batch J 3"]
    """τ_k = g_k − Q_k j_k, metres."""

    def __getitem__(self, which: Any) -> "KinematicState":
        """Some of a batch of poses; `which` indexes its first axis."""
        return KinematicState(
            self.world_rotations[which], self.centres[which], self.translations[which]
        )


def forward_kinematics(
    joint_rotations: Float[Array, "*#batch J 3"],
    joints: Float[Array, "*#batch J 3"],
    parents: tuple[int, ...],
    root_translation: Float[Array, "*#batch 3"],
) -> Float[Array, "..."]:
    """World frame of every joint, `*batch J 4 4`, from axis-angle vectors.

    `joint_rotations` are parent-relative axis-angle vectors in radians, `joints` the rest positions
    and `root_translation` the shift of the root, both in metres.
    """
    return world_transforms(
        matrix_from_axis_angle(joint_rotations), joints, parents, root_translation
    )


def world_transforms(
    rotations: Float[Array, "*#batch J 3 3"],
    joints: Float[Array, "*#batch J 3"],
    parents: tuple[int, ...],
    root_translation: Float[Array, "*#batch 3"],
) -> Float[Array, "..."]:
    """World frame of every joint, `*batch J 4 4`, from parent-relative rotation matrices.

    `joints` are the rest positions, `root_translation` the shift of the root, both in metres. One
    matrix product for every level of the tree, so that compiled programs stay short.
    """
    if not rotations.shape[-3] == joints.shape[-2] == len(parents):
        raise InputError(
            f"kinematics got {rotations.shape[-3]} joint rotations, {joints.shape[-2]} "
            f"joints and {len(parents)} parents; expected as many of each."
        )
    xp = namespace_of(rotations, joints)
    # l_j = x_j − x_parent(j);  the root hangs in the world, moved by the translation
    bone = joints[..., 1:, :] - joints[..., np.asarray(parents[1:], int), :]
    root = joints[..., :1, :] + root_translation[..., None, :]
    batch = np.broadcast_shapes(bone.shape[:-2], root.shape[:-2])
    offset = xp.concat(
        [xp.broadcast_to(root, (*batch, 1, 3)), xp.broadcast_to(bone, (*batch, *bone.shape[-2:]))],
        axis=-2,
    )
    parent_from_joint = transform_from_parts(rotations, offset)
    levels, places_of_parents, order = tree_levels(parents)
    world_levels = [parent_from_joint[..., :1, :, :]]
    for level, places in zip(levels[1:], places_of_parents[1:], strict=True):
        # G_j = G_parent(j) · L_j
        above = world_levels[-1][..., places, :, :]
        world_levels.append(_product(above, parent_from_joint[..., level, :, :]))
    return xp.concat(world_levels, axis=-3)[..., order, :, :]


def kinematic_state(
    pose: RotationPose, joints: Float[Array, "*#batch J 3"], parents: tuple[int, ...]
) -> KinematicState:
    """The tree of `joints` (rest positions, metres) in a pose, in the rotations' dtype.

    One skeleton serves a batch of poses, or there is one for each.
    """
    rotations, joints, translation = as_one_kind(pose.rotations, joints, pose.translation)
    frames = world_transforms(rotations, joints, parents, translation)
    world_rotations, centres = frames[..., :3, :3], frames[..., :3, 3]
    return KinematicState(world_rotations, centres, centres - rotated(world_rotations, joints))


def joint_centres(
    world_rotations: Float[Array, "*#batch J 3 3"],
    joints: Float[Array, "*#batch J 3"],
    parents: tuple[int, ...],
) -> Float[Array, "..."]:
    """Posed joint centres from world rotations, `*batch J 3`, metres: g_k = g_p + Q_p (j_k − j_p).

    The root stays at its rest position. Linear in `joints`, so that offsets of rest joints give
    the offsets of posed ones.
    """
    above = np.asarray(parents[1:], int)
    bones = joints[..., 1:, :] - joints[..., above, :]
    steps = rotated(world_rotations[..., above, :, :], bones)
    xp = namespace_of(steps)
    root = xp.broadcast_to(joints[..., 0, :], (*steps.shape[:-2], 3))
    centres = [root]
    for k, parent in enumerate(parents[1:]):
        centres.append(centres[parent] + steps[..., k, :])
    return xp.stack(centres, axis=-2)


def parent_rotations(
    world_rotations: Float[Array, "*batch J 3 3"], parents: tuple[int, ...]
) -> Float[Array, "*batch J 3 3"]:
    """World rotation of every joint's parent; the root's parent is the world, with I."""
    xp = namespace_of(world_rotations)
    identity = as_kind_of(world_rotations, np.eye(3))
    root = xp.broadcast_to(identity, world_rotations[..., :1, :, :].shape)
    above = world_rotations[..., np.asarray(parents[1:], int), :, :]
    return xp.concat([root, above], axis=-3)


def relative_rotations(
    world_rotations: Float[Array, "*batch J 3 3"], parents: tuple[int, ...]
) -> Float[Array, "*batch J 3 3"]:
    """Parent-relative rotations of joints whose world rotations are known: Q_parentᵀ Q_j."""
    xp = namespace_of(world_rotations)
    above = parent_rotations(world_rotations, parents)
    return xp.matmul(xp.matrix_transpose(above), world_rotations)


def rotate_joints(
    pose: RotationPose,
    world_rotations: Float[Array, "*batch J 3 3"],
    parents: tuple[int, ...],
    steps: Float[Array, "*batch m"],
) -> RotationPose:
    """The retraction of solvers: every joint turned by its δ_j, the root moved; m = 3 J + 3.

    δ_j are axis-angle vectors in the world's axes, radians, so that all descendants of joint j are
    turned by exp(δ_j) about it: R_j ← Q_parentᵀ exp(δ_j) Q_parent R_j. The last three numbers of
    `steps` are added to the translation, metres.
    """
    count = len(parents)
    xp = namespace_of(steps, world_rotations)
    rotation_vectors = matrix_from_axis_angle(
        xp.reshape(steps[..., : 3 * count], (*steps.shape[:-1], count, 3))
    )
    above = parent_rotations(world_rotations, parents)
    local = xp.matmul(xp.matmul(xp.matrix_transpose(above), rotation_vectors), above)
    return RotationPose(
        xp.matmul(local, pose.rotations), pose.translation + steps[..., 3 * count : 3 * count + 3]
    )


@lru_cache(maxsize=64)
def descendants(parents: tuple[int, ...]) -> Float64[NumpyArray, "J J"]:
    """Row k, column j: 1 where joint k is a descendant of joint j, or is it. Read-only."""
    matrix = np.eye(len(parents))
    for k, parent in enumerate(parents):
        if parent >= 0:
            matrix[k] += matrix[parent]
    matrix.flags.writeable = False
    return matrix


def rest_to_world(
    world_from_joint: Float[Array, "*#batch J 4 4"], joints: Float[Array, "*#batch J 3"]
) -> Float[Array, "..."]:
    """`world_from_rest`, `*batch J 4 4`: what moves a rest-pose point along with each joint.

    A_j = G_j · (I, −x_j), since the rest frame of joint j is a pure shift by x_j (metres).
    """
    rotation = world_from_joint[..., :3, :3]
    xp = namespace_of(world_from_joint, joints)
    turned = xp.sum(rotation * joints[..., None, :], axis=-1)
    return transform_from_parts(rotation, world_from_joint[..., :3, 3] - turned)


def motions_between(
    before: Float[Array, "*batch J 4 4"],
    after: Float[Array, "*batch J 4 4"],
    joints: Float[Array, "J 3"],
) -> Float[Array, "*batch J 4 4"]:
    """What moves a point along with each joint from one pose to another: A'_j A_j⁻¹."""
    xp = namespace_of(before, after)
    return rest_to_world(after, joints) @ xp.linalg.inv(rest_to_world(before, joints))


def rotated(
    rotations: Float[Array, "*#batch 3 3"], vectors: Float[Array, "*#batch 3"]
) -> Float[Array, "..."]:
    """R x of every pair, `*batch 3`."""
    # Σ_c R_ac x_c
    return sum(rotations[..., c] * vectors[..., c, None] for c in range(3))  # pyright: ignore[reportReturnType]


def _product(left: Array, right: Array) -> Array:
    """Products of stacks of 4×4 matrices, as sums that compilers fuse: Σ_k a_ik b_kj."""
    return sum(left[..., :, k, None] * right[..., k, None, :] for k in range(4))


@lru_cache(maxsize=64)
def tree_levels(
    parents: tuple[int, ...],
) -> tuple[
    tuple[Int[NumpyArray, "n"], ...], tuple[Int[NumpyArray, "n"], ...], Int[NumpyArray, "J"]
]:
    """The joints of every depth, each joint's parent's place in the level above, and the way back.

    The last array says where joint j stands in the concatenation of all levels.
    """
    depth: list[int] = []
    for parent in parents:
        depth.append(0 if parent < 0 else depth[parent] + 1)
    levels = tuple(np.flatnonzero(np.equal(depth, k)) for k in range(max(depth) + 1))
    place = np.zeros(len(parents), int)
    for level in levels:
        place[level] = np.arange(len(level))
    above = tuple(place[np.asarray(parents)[level]] for level in levels)
    return levels, above, np.argsort(np.concatenate(levels))
