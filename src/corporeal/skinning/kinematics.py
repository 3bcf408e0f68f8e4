"""Forward kinematics: from joint rotations to the rigid frame of every joint.

Conventions (SMPL's): at rest every joint frame has the world's axes and stands at its rest joint;
a joint turns about itself in its parent's frame; the root turns about its own rest position, and
the root translation is added last.
"""

from functools import lru_cache

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.geometry.transforms import transform_from_parts
from corporeal.runtime.arrays import namespace_of


def forward_kinematics(
    joint_rotations: Float[Array, "*#batch J 3"],
    joints: Float[Array, "*#batch J 3"],
    parents: tuple[int, ...],
    root_translation: Float[Array, "*#batch 3"],
) -> Float[Array, "..."]:
    """World frame of every joint, `*batch J 4 4`.

    `joint_rotations` are parent-relative axis-angle vectors in radians, `joints` the rest positions
    and `root_translation` the shift of the root, both in metres. One matrix product for every
    level of the tree, so that compiled programs stay short.
    """
    if not joint_rotations.shape[-2] == joints.shape[-2] == len(parents):
        raise InputError(
            f"kinematics got {joint_rotations.shape[-2]} joint rotations, {joints.shape[-2]} "
            f"joints and {len(parents)} parents; expected as many of each."
        )
    xp = namespace_of(joint_rotations, joints)
    # l_j = x_j − x_parent(j);  the root hangs in the world, moved by the translation
    bone = joints[..., 1:, :] - joints[..., np.asarray(parents[1:], int), :]
    root = joints[..., :1, :] + root_translation[..., None, :]
    batch = np.broadcast_shapes(bone.shape[:-2], root.shape[:-2])
    offset = xp.concat(
        [xp.broadcast_to(root, (*batch, 1, 3)), xp.broadcast_to(bone, (*batch, *bone.shape[-2:]))],
        axis=-2,
    )
    parent_from_joint = transform_from_parts(matrix_from_axis_angle(joint_rotations), offset)
    levels, places_of_parents, order = tree_levels(parents)
    world_levels = [parent_from_joint[..., :1, :, :]]
    for level, places in zip(levels[1:], places_of_parents[1:], strict=True):
        # G_j = G_parent(j) · L_j
        above = world_levels[-1][..., places, :, :]
        world_levels.append(_product(above, parent_from_joint[..., level, :, :]))
    return xp.concat(world_levels, axis=-3)[..., order, :, :]


def rest_to_world(
    world_from_joint: Float[Array, "*#batch J 4 4"], joints: Float[Array, "*#batch J 3"]
) -> Float[Array, "..."]:
    """`world_from_rest`, `*batch J 4 4`: what moves a rest-pose point along with each joint.

    A_j = G_j · (I, −x_j), since the rest frame of joint j is a pure shift by x_j (metres).
    """
    xp = namespace_of(world_from_joint, joints)
    rotation = world_from_joint[..., :3, :3]
    turned = xp.sum(rotation * joints[..., None, :], axis=-1)
    return transform_from_parts(rotation, world_from_joint[..., :3, 3] - turned)


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
