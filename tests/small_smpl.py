"""A known SMPL on a coarse default body: the truth of fitting and training tests."""

from functools import cache

import numpy as np
from scipy.sparse import csr_array

from corporeal.assets.default_body import load_default_body
from corporeal.assets.smpl_view import smpl_template
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.weights import SkinWeights
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.models.smpl.fitting import edge_differences
from corporeal.physics.simulation_mesh import simulation_mesh

LARGE_PARTS = [0, 1, 2, 3, 4, 5, 6, 9, 16, 17, 18, 19]
"""Trunk, thighs, shins, upper and lower arms."""
SLIDERS = (
    {"weight": 1.0},
    {"height": 1.0},
    {"muscle": 1.0},
    {"gender": 1.0},
    {"age": 80.0},
    {"proportions": 1.0},
)


@cache
def model(vertex_count: int = 900, seed: int = 0, pose_scale: float = 0.02) -> LinearBodyModel:
    """Real shapes and weights, joints in random places among their ring, local pose offsets."""
    random = np.random.default_rng(seed)
    whole = load_default_body().template
    small = simulation_mesh(whole, vertex_count)
    kept, view = small.vertex_indices, smpl_template(whole)
    weights = SkinWeights.from_dense(view.weights.dense()[kept].astype(np.float64), 4)
    dense, parents = weights.dense(), view.skeleton.parents
    phenotype = PhenotypeModel()
    mean = np.asarray(phenotype.prepare().rest_vertices, np.float64)[kept]
    shapes = [np.asarray(phenotype.prepare(s).rest_vertices)[kept] - mean for s in SLIDERS]
    return LinearBodyModel(
        small.triangles,
        mean,
        0.5 * np.stack(shapes).astype(np.float64),
        _pose_offsets(dense, random, pose_scale),
        _regressor(dense, parents, random),
        weights,
        view.skeleton.names,
        parents,
    )


def _pose_offsets(dense: np.ndarray, random: np.random.Generator, scale: float) -> np.ndarray:
    """Offsets that fade with a joint's own influence: w (1 − w) of its part, times a random map."""
    fade = 4 * dense[:, 1:] * (1 - dense[:, 1:])
    maps = random.normal(0, scale, (dense.shape[1] - 1, 9, 3))
    return np.einsum("vj,jna->jnva", fade, maps).reshape(-1, len(dense), 3)


def _regressor(dense: np.ndarray, parents: tuple, random: np.random.Generator) -> np.ndarray:
    """Random shares of the ring between a part and its parent."""
    rows = []
    for k, parent in enumerate(parents):
        near = dense[:, k] * (dense[:, 1] + dense[:, 2] if parent < 0 else dense[:, parent])
        rows.append(near * random.uniform(0.7, 1.3, len(dense)))
    regressor = np.stack(rows)
    return regressor / regressor.sum(axis=1, keepdims=True)


@cache
def edges(vertex_count: int = 900) -> csr_array:
    """Differences along the edges of the mesh."""
    return edge_differences(model(vertex_count).triangles, model(vertex_count).vertex_count)
