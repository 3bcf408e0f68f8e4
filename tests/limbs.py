"""Tubes with skeletons inside, for the tests of volumetric models."""

import numpy as np
from solids import circle, tube

from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.skinning.kinematics import forward_kinematics


def limb(rings: int = 41, around: int = 24) -> tuple[Mesh, Skeleton]:
    """A straight tube of radius 5 cm and height 1 m, with joints at 0.1, 0.5 and 0.8 m."""
    vertices, triangles = tube(circle(0.05, around), 1.0, rings)
    joints = np.array([[0.0, 0.1, 0.0], [0.0, 0.5, 0.0], [0.0, 0.8, 0.0]])
    return Mesh(vertices, triangles), Skeleton(("root", "middle", "last"), (-1, 0, 1), joints)


def posed(skeleton: Skeleton, rotations: dict[str, list[float]], shift=(0.0, 0.0, 0.0)):
    """Frames of all joints, J × 4 × 4, for some axis-angle rotations (radians)."""
    angles = np.zeros((skeleton.joint_count, 3))
    for name, rotation in rotations.items():
        angles[skeleton.index(name)] = rotation
    joints = np.asarray(skeleton.joints, float)
    return forward_kinematics(angles, joints, skeleton.parents, np.asarray(shift, float))
