"""A known SMPL on a coarse default body: the truth of fitting and training tests."""

from functools import cache

from scipy.sparse import csr_array

from corporeal.body.linear_model import Blending, LinearBodyModel
from corporeal.evaluation.known_smpl import KnownSmpl, known_smpl
from corporeal.models.smpl.fitting.fit_pose import edge_differences

LARGE_PARTS = [0, 1, 2, 3, 4, 5, 6, 9, 16, 17, 18, 19]
"""Trunk, thighs, shins, upper and lower arms."""


@cache
def known(
    vertex_count: int = 900, pose_scale: float = 0.02, blending: Blending = "lbs"
) -> KnownSmpl:
    """The model and its rigged template."""
    return known_smpl(vertex_count, pose_scale=pose_scale, blending=blending)


def model(vertex_count: int = 900) -> LinearBodyModel:
    """The model alone."""
    return known(vertex_count).model


@cache
def edges(vertex_count: int = 900) -> csr_array:
    """Differences along the edges of the mesh."""
    return edge_differences(model(vertex_count).triangles, model(vertex_count).vertex_count)
