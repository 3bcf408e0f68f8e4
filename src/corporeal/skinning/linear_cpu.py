"""Linear blend skinning, compiled: from joint rotations to posed vertices in one pass.

Kinematics run in float64 (a few microseconds a pose); the skin runs in the dtype of the output.
"""

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.blocks import LANES
from corporeal.skinning.kinematics_cpu import pose_joints


@kernel(fastmath=True)
def skin_blocks_linear(motions, starts, joints, weights, rest, vertices, out):
    """x'_v = Σ_k w_vk (A_k x_v), block by block, for one pose; `motions` is J×12."""
    lanes = np.empty((3, LANES), out.dtype)
    for b in range(vertices.shape[0]):
        for l in range(LANES):
            lanes[0, l] = 0
            lanes[1, l] = 0
            lanes[2, l] = 0
        for i in range(starts[b], starts[b + 1]):
            j = joints[i]
            m00, m01, m02, m03 = motions[j, 0], motions[j, 1], motions[j, 2], motions[j, 3]
            m10, m11, m12, m13 = motions[j, 4], motions[j, 5], motions[j, 6], motions[j, 7]
            m20, m21, m22, m23 = motions[j, 8], motions[j, 9], motions[j, 10], motions[j, 11]
            for l in range(LANES):
                x, y, z, w = rest[b, 0, l], rest[b, 1, l], rest[b, 2, l], weights[i, l]
                lanes[0, l] += w * (m00 * x + m01 * y + m02 * z + m03)
                lanes[1, l] += w * (m10 * x + m11 * y + m12 * z + m13)
                lanes[2, l] += w * (m20 * x + m21 * y + m22 * z + m23)
        for l in range(LANES):
            v = vertices[b, l]
            out[v, 0] = lanes[0, l]
            out[v, 1] = lanes[1, l]
            out[v, 2] = lanes[2, l]


@kernel()
def joint_motions_linear(
    joint_rotations, root_translation, rest_joints, parents, motions, first, last
):
    """Write world_from_rest of every joint, its first three rows, of the poses `first` … `last` − 1
    of one identity to `motions`, N×J×12."""
    local = np.empty((3, 3), np.float64)
    world = np.empty((parents.shape[0] + 1, 3, 4), np.float64)
    for n in range(first, last):
        pose_joints(joint_rotations[n], root_translation[n], rest_joints, parents, local, world)
        _write_motions(world, motions[n])


@kernel()
def _write_motions(world, motions):
    """Round the first rows of every joint's motion to the dtype of the skin."""
    for j in range(motions.shape[0]):
        for r in range(3):
            for c in range(4):
                motions[j, 4 * r + c] = world[j, r, c]


@kernel()
def pose_and_skin_linear(
    joint_rotations, root_translation, identity_of_pose, rest_joints, parents,
    starts, joints, weights, rest, vertices, out, first, last,
):  # fmt: skip
    """Pose and skin the poses `first` … `last` − 1 into `out`, N×V×3."""
    local = np.empty((3, 3), np.float64)
    world = np.empty((parents.shape[0] + 1, 3, 4), np.float64)
    motions = np.empty((parents.shape[0], 12), out.dtype)
    for n in range(first, last):
        i = identity_of_pose[n]
        pose_joints(joint_rotations[n], root_translation[n], rest_joints[i], parents, local, world)
        _write_motions(world, motions)
        skin_blocks_linear(motions, starts, joints, weights, rest[i], vertices, out[n])
