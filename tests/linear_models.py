"""Made-up SMPL models for tests."""

import numpy as np

from corporeal.body.linear_model import Blending, LinearBodyModel
from corporeal.body.weights import SkinWeights

SMPL_PARENTS = (-1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19, 20, 21)


def random_model(
    vertex_count: int = 300, shape_count: int = 10, seed: int = 0, blending: Blending = "lbs"
) -> LinearBodyModel:
    """A random cloud on SMPL's tree: four influences, centimetres of shape and pose offsets."""
    random = np.random.default_rng(seed)
    joint_count = len(SMPL_PARENTS)
    weights = np.zeros((vertex_count, joint_count))
    for row in weights:
        row[random.choice(joint_count, 4, replace=False)] = random.dirichlet(np.ones(4))
    return LinearBodyModel(
        random.integers(0, vertex_count, (2 * vertex_count, 3)),
        random.uniform(-1, 1, (vertex_count, 3)),
        random.normal(0, 0.02, (shape_count, vertex_count, 3)),
        random.normal(0, 0.01, (9 * (joint_count - 1), vertex_count, 3)),
        random.dirichlet(np.full(vertex_count, 0.05), joint_count),
        SkinWeights.from_dense(weights),
        tuple(f"joint{j}" for j in range(joint_count)),
        SMPL_PARENTS,
        blending,
    )
