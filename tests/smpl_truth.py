"""Registrations sampled from a known SMPL."""

from functools import cache

import numpy as np
import small_smpl

from corporeal.body.linear_model import Blending, LinearBodyModel
from corporeal.body.mesh import Mesh
from corporeal.body.registrations import Registrations, Take
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes


def template_of(model: LinearBodyModel) -> Template:
    """A rigged template with the model's weights, and joints that are not yet its own."""
    joints = model.joint_regressor @ model.mean_vertices
    return Template(
        Mesh(model.mean_vertices, model.triangles),
        Skeleton(model.joint_names, model.parents, joints),
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
    """The model, its registrations, and the truth about them."""
    model = small_smpl.model(vertex_count, pose_scale=pose_scale)
    random = np.random.default_rng(seed)
    betas = random.normal(0, 0.7, (people, model.shape_count))
    rests = model.mean_vertices + np.tensordot(betas, model.shape_offsets, axes=1)
    joints = np.einsum("jv,iva->ija", model.joint_regressor, rests)
    turns = random.normal(0, 0.45, (poses, model.joint_count, 3))
    turns[:, 0] = random.normal(0, 1.0, (poses, 3))
    truth = Estimate(
        matrix_from_axis_angle(turns),
        random.normal(0, 0.5, (poses, 3)),
        rests,
        joints,
        model.weights.dense(),
        model.pose_offsets,
        model.parents,
        blending,
    )
    subjects = np.arange(poses) % people
    vertices = [
        truth.person(s).posed(truth.pose(n)).vertices for n, s in enumerate(subjects.tolist())
    ]
    return model, PosedMeshes(np.stack(vertices), subjects), truth


def registrations_of(model: LinearBodyModel, meshes: PosedMeshes) -> Registrations:
    """The same meshes as a set of takes, one a subject."""
    takes = [
        Take(f"person{i}", "poses", 0.0, meshes.vertices[meshes.of_subject(i)].astype(np.float32))
        for i in range(meshes.subject_count)
    ]
    return Registrations("small", model.triangles, model.vertex_count, tuple(takes))
