"""Dual-quaternion skinning, compiled: from joint rotations to posed vertices in one pass.

Kinematics run in float64 (a few microseconds a pose); the skin runs in the dtype of the output.
"""

import math

import numpy as np

from corporeal.runtime.kernels import kernel
from corporeal.skinning.blocks import LANES
from corporeal.skinning.kinematics_cpu import pose_joints


@kernel()
def write_dual_quaternion(motion, out):
    """Write the unit dual quaternion (real wxyz, dual wxyz) of a 3×4 rigid motion to `out`."""
    m00, m11, m22 = motion[0, 0], motion[1, 1], motion[2, 2]
    m01, m02, m12 = motion[0, 1], motion[0, 2], motion[1, 2]
    m10, m20, m21 = motion[1, 0], motion[2, 0], motion[2, 1]
    ww, xx = 1.0 + m00 + m11 + m22, 1.0 + m00 - m11 - m22
    yy, zz = 1.0 - m00 + m11 - m22, 1.0 - m00 - m11 + m22
    wx, wy, wz = m21 - m12, m02 - m20, m10 - m01
    xy, xz, yz = m01 + m10, m02 + m20, m12 + m21
    if ww >= xx and ww >= yy and ww >= zz:
        w, x, y, z = ww, wx, wy, wz
    elif xx >= yy and xx >= zz:
        w, x, y, z = wx, xx, xy, xz
    elif yy >= zz:
        w, x, y, z = wy, xy, yy, yz
    else:
        w, x, y, z = wz, xz, yz, zz
    scale = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    w, x, y, z = w * scale, x * scale, y * scale, z * scale
    a, b, c = motion[0, 3], motion[1, 3], motion[2, 3]
    out[0] = w
    out[1] = x
    out[2] = y
    out[3] = z
    out[4] = -0.5 * (a * x + b * y + c * z)
    out[5] = 0.5 * (a * w + b * z - c * y)
    out[6] = 0.5 * (b * w + c * x - a * z)
    out[7] = 0.5 * (c * w + a * y - b * x)


@kernel(fastmath=True)
def skin_blocks_dual(motions, starts, joints, weights, rest, vertices, out):
    """b_v = Σ_k ± w_vk q_k, then x_v is moved by b_v, for one pose; `motions` is J×8.

    x' = x + 2/|b₀|² [r × (r × x + w x + d) + w d − w_ε r],  b₀ = (w, r), b_ε = (w_ε, d).
    """
    one, two = out.dtype.type(1), out.dtype.type(2)
    lanes = np.empty((8, LANES), out.dtype)
    for b in range(vertices.shape[0]):
        for c in range(8):
            for l in range(LANES):
                lanes[c, l] = 0
        pivot = motions[joints[starts[b]]]
        for i in range(starts[b], starts[b + 1]):
            q = motions[joints[i]]
            agreement = q[0] * pivot[0] + q[1] * pivot[1] + q[2] * pivot[2] + q[3] * pivot[3]
            sign = -one if agreement < 0 else one
            q0, q1, q2, q3 = sign * q[0], sign * q[1], sign * q[2], sign * q[3]
            q4, q5, q6, q7 = sign * q[4], sign * q[5], sign * q[6], sign * q[7]
            for l in range(LANES):
                weight = weights[i, l]
                lanes[0, l] += weight * q0
                lanes[1, l] += weight * q1
                lanes[2, l] += weight * q2
                lanes[3, l] += weight * q3
                lanes[4, l] += weight * q4
                lanes[5, l] += weight * q5
                lanes[6, l] += weight * q6
                lanes[7, l] += weight * q7
        for l in range(LANES):
            w, rx, ry, rz = lanes[0, l], lanes[1, l], lanes[2, l], lanes[3, l]
            we, dx, dy, dz = lanes[4, l], lanes[5, l], lanes[6, l], lanes[7, l]
            x, y, z = rest[b, 0, l], rest[b, 1, l], rest[b, 2, l]
            scale = two / (w * w + rx * rx + ry * ry + rz * rz)
            ux = ry * z - rz * y + w * x + dx
            uy = rz * x - rx * z + w * y + dy
            uz = rx * y - ry * x + w * z + dz
            lanes[0, l] = x + scale * (ry * uz - rz * uy + w * dx - we * rx)
            lanes[1, l] = y + scale * (rz * ux - rx * uz + w * dy - we * ry)
            lanes[2, l] = z + scale * (rx * uy - ry * ux + w * dz - we * rz)
        for l in range(LANES):
            v = vertices[b, l]
            out[v, 0], out[v, 1], out[v, 2] = lanes[0, l], lanes[1, l], lanes[2, l]


@kernel()
def joint_motions_dual(
    joint_rotations, root_translation, rest_joints, parents, motions, first, last
):
    """Write the unit dual quaternion of every joint's motion from rest, of the poses `first` …
    `last` − 1 of one identity, to `motions`, N×J×8."""
    local = np.empty((3, 3), np.float64)
    world = np.empty((parents.shape[0] + 1, 3, 4), np.float64)
    for n in range(first, last):
        pose_joints(joint_rotations[n], root_translation[n], rest_joints, parents, local, world)
        for j in range(parents.shape[0]):
            write_dual_quaternion(world[j], motions[n, j])


@kernel()
def pose_and_skin_dual(
    joint_rotations, root_translation, identity_of_pose, rest_joints, parents,
    starts, joints, weights, rest, vertices, out, first, last,
):  # fmt: skip
    """Pose and skin the poses `first` … `last` − 1 into `out`, N×V×3."""
    local = np.empty((3, 3), np.float64)
    world = np.empty((parents.shape[0] + 1, 3, 4), np.float64)
    motions = np.empty((parents.shape[0], 8), out.dtype)
    for n in range(first, last):
        i = identity_of_pose[n]
        pose_joints(joint_rotations[n], root_translation[n], rest_joints[i], parents, local, world)
        for j in range(parents.shape[0]):
            write_dual_quaternion(world[j], motions[j])
        skin_blocks_dual(motions, starts, joints, weights, rest[i], vertices, out[n])
