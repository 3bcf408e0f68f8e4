"""The shape space {T̄, S}, from one registration each of many people.

Loper et al. 2015, section 4.2: every registration is brought to the zero pose, then principal
components are taken. The pose is found from edges (eq. 15), first with the average person, then
with the shape space of the round before; the shape that, posed, is the registration follows from a
linear system, since joints come from the shape itself:

    B_v t_v + Σ_m C_vm j_m = y_v,   j = 𝒥 t   ⇒   (I + 𝒥 B⁻¹ C) j = 𝒥 B⁻¹ y.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.models.smpl.blends import make_blend
from corporeal.models.smpl.fitting import fit_pose, fit_pose_and_shape, person_of
from corporeal.models.smpl.linearised import PoseState, chained
from corporeal.models.smpl.training.subjects import joint_maps
from corporeal.numerics.principal import PrincipalComponents, principal_components

_PIECE = 64
"""Registrations at a time when components are taken."""


@dataclass(frozen=True)
class ShapeTraining:
    """Settings."""

    count: int = 10
    """Shape coefficients."""
    rounds: int = 2
    """How often poses are found: first with the average person, then with the space so far."""
    seed: int = 0
    """Of the random sketch."""


def in_zero_pose(
    model: LinearBodyModel, vertices: Float[NumpyArray, "V 3"], pose: PoseState
) -> Float64[NumpyArray, "V 3"]:
    """The shape that is `vertices` when posed so, its joints being its own (`𝒥 t`)."""
    joint_count = model.joint_count
    world, _ = chained(pose.rotations, np.zeros((joint_count, 3)), model.parents)
    weights, still = model.weights.dense(), np.zeros((joint_count, 3))
    blend = make_blend(model.blending, weights, world, still)
    by_joints = blend.carried(joint_maps(world, model.parents))
    features = (pose.rotations[1:] - np.eye(3)).reshape(-1)
    offsets = np.tensordot(features, model.pose_offsets, axes=1)
    sides = np.concatenate(
        [by_joints, (vertices - pose.translation)[:, :, None].astype(np.float64)], axis=2
    )
    unposed = np.linalg.solve(blend.blended, sides)
    unposed[:, :, -1] -= offsets
    # 𝒥 of every column
    joints = np.tensordot(model.joint_regressor, unposed, axes=1).reshape(3 * joint_count, -1)
    found = np.linalg.solve(np.eye(3 * joint_count) + joints[:, :-1], joints[:, -1])
    return unposed[:, :, -1] - unposed[:, :, :-1] @ found


def train_shape(
    registrations: Float[NumpyArray, "M V 3"],
    model: LinearBodyModel,
    edges: csr_array,
    settings: ShapeTraining,
) -> tuple[LinearBodyModel, PrincipalComponents]:
    """The model with its mean and shape space from these people; one coefficient is one
    standard deviation."""
    found = None
    for turn in range(max(settings.rounds, 1)):
        rests = np.stack([_normalised(model, v, edges, turn > 0) for v in registrations])

        def pieces(rests: NumpyArray = rests) -> Iterator[NumpyArray]:
            flat = rests.reshape(len(rests), -1)
            return (flat[i : i + _PIECE] for i in range(0, len(flat), _PIECE))

        found = principal_components(pieces, settings.count, settings.seed)
        model = _with_shapes(model, found)
    assert found is not None
    return model, found


def _normalised(
    model: LinearBodyModel, vertices: NumpyArray, edges: csr_array, with_shape: bool
) -> NumpyArray:
    target = np.asarray(vertices, np.float64)
    pose = fit_pose(person_of(model), target, edges, by="edges").pose
    if with_shape:
        pose = fit_pose_and_shape(model, target, edges, start=pose).pose
    rest = in_zero_pose(model, target, pose)
    # where a body stands is pose, not shape: all have their root joint in one place
    root = model.joint_regressor[0]
    return rest - root @ rest + root @ model.mean_vertices


def _with_shapes(model: LinearBodyModel, found: PrincipalComponents) -> LinearBodyModel:
    shapes = (found.directions * found.deviations[:, None]).reshape(-1, model.vertex_count, 3)
    return LinearBodyModel(
        model.triangles,
        found.mean.reshape(-1, 3),
        shapes,
        model.pose_offsets,
        model.joint_regressor,
        model.weights,
        model.joint_names,
        model.parents,
        model.blending,
    )
