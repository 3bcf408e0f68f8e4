"""Forward kinematics, compiled for one pose at a time."""

import math

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def rotation_about_axis(x, y, z, rotation):
    """Write the 3×3 matrix of the axis-angle vector (x, y, z), radians, to `rotation`."""
    x, y, z = np.float64(x), np.float64(y), np.float64(z)
    squared_angle = x * x + y * y + z * z
    angle = math.sqrt(squared_angle)
    if squared_angle > 1e-12:
        sinc = math.sin(angle) / angle
        half = math.sin(0.5 * angle) / angle
        versine = 2.0 * half * half
    else:
        sinc = 1.0 - squared_angle / 6.0
        versine = 0.5 - squared_angle / 24.0
    cosine = 1.0 - versine * squared_angle
    rotation[0, 0] = cosine + versine * x * x
    rotation[0, 1] = versine * x * y - sinc * z
    rotation[0, 2] = versine * x * z + sinc * y
    rotation[1, 0] = versine * x * y + sinc * z
    rotation[1, 1] = cosine + versine * y * y
    rotation[1, 2] = versine * y * z - sinc * x
    rotation[2, 0] = versine * x * z - sinc * y
    rotation[2, 1] = versine * y * z + sinc * x
    rotation[2, 2] = cosine + versine * z * z


@kernel()
def pose_joints(joint_rotations, root_translation, joints, parents, local, world):
    """Write world_from_rest of every joint in float64 to `world`, (J+1)×3×4; `local` is scratch.

    A_j = A_parent · (turn by R_j about the rest joint x_j):  x ↦ R_j (x − x_j) + x_j. The extra
    last row is the ground that the root stands on, moved by the root translation.
    """
    ground = parents.shape[0]
    for r in range(3):
        for c in range(3):
            world[ground, r, c] = 1.0 if r == c else 0.0
        world[ground, r, 3] = root_translation[r]
    for j in range(parents.shape[0]):
        rotation_about_axis(
            joint_rotations[j, 0], joint_rotations[j, 1], joint_rotations[j, 2], local
        )
        x, y, z = joints[j, 0], joints[j, 1], joints[j, 2]
        above = parents[j] if parents[j] >= 0 else ground
        for r in range(3):
            a, b, c = world[above, r, 0], world[above, r, 1], world[above, r, 2]
            u = a * local[0, 0] + b * local[1, 0] + c * local[2, 0]
            v = a * local[0, 1] + b * local[1, 1] + c * local[2, 1]
            w = a * local[0, 2] + b * local[1, 2] + c * local[2, 2]
            world[j, r, 0] = u
            world[j, r, 1] = v
            world[j, r, 2] = w
            world[j, r, 3] = world[above, r, 3] + (a - u) * x + (b - v) * y + (c - w) * z
