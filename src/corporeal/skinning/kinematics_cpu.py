"""Forward kinematics, compiled for one pose at a time."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def turn_about_axis(axis_angle, rotation):
    """Write the 3×3 matrix of an axis-angle vector (radians) to `rotation`."""
    x, y, z = np.float64(axis_angle[0]), np.float64(axis_angle[1]), np.float64(axis_angle[2])
    squared_angle = x * x + y * y + z * z
    angle = np.sqrt(squared_angle)
    if squared_angle > 1e-12:
        sinc = np.sin(angle) / angle
        half = np.sin(0.5 * angle) / angle
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
    last row is the ground that the root stands on, moved by the root translation; −1 finds it.
    """
    world[-1] = 0.0
    for r in range(3):
        world[-1, r, r] = 1.0
        world[-1, r, 3] = root_translation[r]
    for j in range(parents.shape[0]):
        turn_about_axis(joint_rotations[j], local)
        x, y, z = joints[j, 0], joints[j, 1], joints[j, 2]
        above = world[parents[j]]
        for r in range(3):
            a, b, c = above[r, 0], above[r, 1], above[r, 2]
            u = a * local[0, 0] + b * local[1, 0] + c * local[2, 0]
            v = a * local[0, 1] + b * local[1, 1] + c * local[2, 1]
            w = a * local[0, 2] + b * local[1, 2] + c * local[2, 2]
            world[j, r, 0], world[j, r, 1], world[j, r, 2] = u, v, w
            world[j, r, 3] = above[r, 3] + (a - u) * x + (b - v) * y + (c - w) * z
