"""A small character with pose correctives, and what they are to do, by the textbook formula."""

import numpy as np
from scipy.spatial.transform import Rotation
from small_body import small_animation

from corporeal.body.character import Character
from corporeal.body.correctives import PoseCorrectives
from corporeal.pipelines.bake import bake

DRIVING = ("middle", "branch", "head")
"""Not in the skeleton's order, which is root, middle, head, branch."""
ORDER = [1, 3, 2]
MORPHS = 5


def small_character(frames: int = 7) -> Character:
    """The tube in motion, without morph targets."""
    return bake(small_animation(frames))[0]


def small_correctives(seed: int = 0) -> PoseCorrectives:
    """Random targets of centimetres, driven by three joints; one target's weight never changes."""
    random = np.random.default_rng(seed)
    shares = random.normal(size=(MORPHS, 9 * len(DRIVING)))
    shares[3] = 0
    vertices = small_character(1).template.mesh.vertex_count
    offsets = 0.01 * random.normal(size=(MORPHS, vertices, 3))
    return PoseCorrectives(DRIVING, tuple(f"bulge {b}" for b in range(MORPHS)), shares, offsets)


def random_poses(count: int = 40, joints: int = 4, seed: int = 1) -> Rotation:
    """Turns of all joints, pose after pose, uniform over all rotations; the first is the rest."""
    rotations = Rotation.random(count * joints, random_state=seed).as_matrix()
    rotations[:joints] = np.eye(3)
    rotations[joints : 2 * joints] = np.diag([1.0, -1.0, -1.0])  # half turns
    return Rotation.from_matrix(rotations)


def xyzw(poses: Rotation, joints: int = 4) -> np.ndarray:
    """Quaternions (pose, joint, xyzw); every other one with its sign turned round."""
    rows = poses.as_quat().reshape(-1, joints, 4)
    rows[1::2] *= -1
    return rows


def signed_weights(correctives: PoseCorrectives, poses: Rotation, joints: int = 4) -> np.ndarray:
    """w_b = Σ_n B_bn (R_n − I_n), summed element by element."""
    rotations = poses.as_matrix().reshape(-1, joints, 3, 3)[:, ORDER]
    weights = np.zeros((len(rotations), MORPHS))
    for joint in range(len(ORDER)):
        for row in range(3):
            for column in range(3):
                feature = rotations[:, joint, row, column] - (row == column)
                share = correctives.feature_weights[:, 9 * joint + 3 * row + column]
                weights += feature[:, None] * share
    return weights
