"""Registrations sampled from an SMPL that is known, to see whether training finds it again.

The known model has the default body's coarse surface, shapes of its sliders, its weights, joints in
random places near the average of their ring, and pose blend shapes that fade with a joint's
influence.
"""

from dataclasses import dataclass, replace

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.assets.smpl_view import smpl_template
from corporeal.body.linear_model import Blending, LinearBodyModel
from corporeal.body.mesh import Mesh
from corporeal.body.registrations import Registrations, Take
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes
from corporeal.models.smpl.training.initial import initial_model
from corporeal.physics.volumetric_mesh.simulation_mesh import simulation_mesh

SLIDERS = (
    {"weight": 1.0},
    {"height": 1.0},
    {"muscle": 1.0},
    {"gender": 1.0},
    {"age": 80.0},
    {"proportions": 1.0},
)
"""The shape directions, each half of what the slider does from the mean body."""


@dataclass(frozen=True)
class KnownSmpl:
    """A model, and the rigged template from which training it again starts."""

    model: LinearBodyModel
    """The known model."""
    template: Template
    """Its surface and joints with weights as a rigger would guess them."""


def known_smpl(
    vertex_count: int | None,
    seed: int = 0,
    *,
    pose_scale: float = 0.01,
    joint_offset: float = 0.015,
    blending: Blending = "lbs",
) -> KnownSmpl:
    """A random SMPL of about so many vertices (None: all of the default body's).

    `pose_scale` is the deviation of a pose offset where two parts share a vertex equally, metres a
    unit of its feature; joints lie `joint_offset` metres, or less, from the ring's average.
    """
    random = np.random.default_rng(seed)
    whole = smpl_template(load_default_body().template)
    mesh, kept = _surface(whole, vertex_count)
    weights = SkinWeights.from_dense(whole.weights.dense()[kept].astype(np.float64), 4)
    skeleton = whole.skeleton
    phenotype = PhenotypeModel()
    mean = np.asarray(phenotype.prepare().rest_vertices, np.float64)[kept]
    shapes = [np.asarray(phenotype.prepare(s).rest_vertices)[kept] - mean for s in SLIDERS]
    mesh = replace(mesh, vertices=mean)
    labels = np.zeros(len(kept), np.int64)
    template = Template(mesh, skeleton, weights, ("body",), labels)
    regressor = _near(initial_model(template).regressor, mean, random, joint_offset)
    joints = regressor @ mean
    model = LinearBodyModel(
        mesh.triangles,
        mean,
        0.5 * np.stack(shapes).astype(np.float64),
        _fading(weights.dense(), random, pose_scale),
        regressor,
        weights,
        skeleton.names,
        skeleton.parents,
        blending,
    )
    known = Skeleton(skeleton.names, skeleton.parents, joints)
    return KnownSmpl(model, Template(mesh, known, weights, ("body",), labels))


def sample_people(
    known: KnownSmpl,
    people: int,
    poses: int,
    seed: int = 1,
    *,
    bend: float = 0.45,
    dtype: type = np.float32,
) -> tuple[PosedMeshes, Estimate]:
    """So many poses of so many random people, and the truth about them.

    Every joint is turned about all axes, `bend` radians of standard deviation each.
    """
    random, model = np.random.default_rng(seed), known.model
    betas = random.normal(0, 0.7, (people, model.shape_count))
    rest_shapes = model.mean_vertices + np.tensordot(betas, model.shape_offsets, axes=1)
    rotation_vectors = random.normal(0, bend, (poses, model.joint_count, 3))
    rotation_vectors[:, 0] = random.normal(0, 1.0, (poses, 3))
    truth = Estimate(
        matrix_from_axis_angle(rotation_vectors),
        random.normal(0, 0.5, (poses, 3)),
        rest_shapes,
        np.einsum("jv,iva->ija", model.joint_regressor, rest_shapes, optimize=True),
        model.weights.dense(),
        model.pose_offsets.astype(dtype),
        model.parents,
        model.blending,
    )
    subjects = np.arange(poses) % people
    vertices = np.empty((poses, model.vertex_count, 3), dtype)
    for n, subject in enumerate(subjects.tolist()):
        vertices[n] = truth.person(subject).posed(truth.pose(n)).vertices
    return PosedMeshes(vertices, subjects), truth


def registrations_of(model: LinearBodyModel, meshes: PosedMeshes) -> Registrations:
    """The same meshes as a set of takes, one a subject."""
    takes = [
        Take(f"person{i}", "poses", 0.0, meshes.vertices[meshes.of_subject(i)].astype(np.float32))
        for i in range(meshes.subject_count)
    ]
    return Registrations("known", model.triangles, model.vertex_count, tuple(takes))


def _surface(whole: Template, vertex_count: int | None) -> tuple[Mesh, NumpyArray]:
    if vertex_count is None:
        return whole.mesh, np.arange(whole.mesh.vertex_count)
    small = simulation_mesh(load_default_body().template, vertex_count)
    vertices = np.asarray(whole.mesh.vertices)[small.vertex_indices]
    return Mesh(vertices, small.triangles), small.vertex_indices


def _fading(
    dense: Float64[NumpyArray, "V J"], random: np.random.Generator, scale: float
) -> Float64[NumpyArray, "P V 3"]:
    """Offsets that fade with a joint's own influence: w (1 − w) of its part, times a random map."""
    fade = 4 * dense[:, 1:] * (1 - dense[:, 1:])
    maps = random.normal(0, scale, (dense.shape[1] - 1, 9, 3))
    return np.einsum("vj,jna->jnva", fade, maps).reshape(-1, len(dense), 3)


def _near(
    rings: Float64[NumpyArray, "J V"],
    mean: Float64[NumpyArray, "V 3"],
    random: np.random.Generator,
    reach: float,
) -> Float64[NumpyArray, "J V"]:
    """Unequal shares of every ring, which put its joint at most `reach` from the average."""
    shares = rings * random.exponential(1.0, rings.shape) ** 2
    shares /= shares.sum(axis=1, keepdims=True)
    far = np.linalg.norm((shares - rings) @ mean, axis=1)
    blend = np.minimum(1.0, reach / np.maximum(far, 1e-9))[:, None]
    return rings + blend * (shares - rings)
