"""Linear blend skinning, compiled: from joint rotations to posed vertices in one pass.

Kinematics run in float64 (a few microseconds a pose); the skin runs in the dtype of the output.
"""

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.blocks import LANES
from corporeal.skinning.kinematics_cpu import pose_joints


@kernel(fastmath=True)
def skin_blocks_linear(motions, starts, joints, weights, rest, vertices, out):
    """x'_v = Σ_k w_vk (A_k x_v), block by block, for one pose; `motions` is J×3×4."""
    lanes = np.empty((3, LANES), out.dtype)
    for b in range(vertices.shape[0]):
        lanes[:] = 0
        for i in range(starts[b], starts[b + 1]):
            motion = motions[joints[i]]
            m00, m01, m02, m03 = motion[0, 0], motion[0, 1], motion[0, 2], motion[0, 3]
            m10, m11, m12, m13 = motion[1, 0], motion[1, 1], motion[1, 2], motion[1, 3]
            m20, m21, m22, m23 = motion[2, 0], motion[2, 1], motion[2, 2], motion[2, 3]
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
def pose_and_skin_linear(
    joint_rotations, root_translation, identity_of_pose, rest_joints, parents,
    starts, joints, weights, rest, vertices, out, first, last,
):  # fmt: skip
    """Pose and skin the poses `first` … `last` − 1 into `out`, N×V×3."""
    local = np.empty((3, 3), np.float64)
    world = np.empty((parents.shape[0] + 1, 3, 4), np.float64)
    motions = np.empty((parents.shape[0], 3, 4), out.dtype)
    for n in range(first, last):
        i = identity_of_pose[n]
        pose_joints(joint_rotations[n], root_translation[n], rest_joints[i], parents, local, world)
        motions[:] = world[:-1]
        skin_blocks_linear(motions, starts, joints, weights, rest[i], vertices, out[n])
