"""Registrations sampled from a known SMPL."""

from functools import cache

import numpy as np
import small_smpl

from corporeal.body.linear_model import Blending, LinearBodyModel
from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.evaluation.known_smpl import registrations_of, sample_people
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes

__all__ = ["registrations_of", "sampled", "template_of"]


def template_of(model: LinearBodyModel) -> Template:
    """A rigged template with the model's weights and joints."""
    return Template(
        Mesh(model.mean_vertices, model.triangles),
        Skeleton(model.joint_names, model.parents, model.joint_regressor @ model.mean_vertices),
        model.weights,
        ("body",),
        np.zeros(model.vertex_count, np.int64),
    )


@cache
def sampled(
    vertex_count: int,
    people: int,
    poses: int,
    seed: int = 0,
    pose_scale: float = 0.02,
    blending: Blending = "lbs",
) -> tuple[LinearBodyModel, PosedMeshes, Estimate]:
    """The model, its registrations in double precision, and the truth about them."""
    known = small_smpl.known(vertex_count, pose_scale, blending)
    meshes, truth = sample_people(known, people, poses, seed, dtype=np.float64)
    return known.model, meshes, truth
