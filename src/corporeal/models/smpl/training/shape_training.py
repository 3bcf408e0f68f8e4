"""The shape space {T̄, S}, from one registration each of many people.

Loper et al. 2015, section 4.2: every registration is brought to the zero pose, then principal
components are taken. The pose is found from edges (eq. 15), first with the average person, then
together with coefficients of the space so far: that of people with many registrations, where there
are some, and of the round before; the shape that, posed, is the registration follows from a
linear system, since joints come from the shape itself:

    B_v t_v + Σ_m C_vm j_m = y_v,   j = 𝒥 t   ⇒   (I + 𝒥 B⁻¹ C) j = 𝒥 B⁻¹ y.
"""

from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import RotationPose
from corporeal.errors import InputError
from corporeal.models.smpl.fitting.edge_poses import first_poses
from corporeal.models.smpl.fitting.fit_pose import person_of
from corporeal.models.smpl.fitting.many_people import solve_people
from corporeal.numerics.streamed_pca import PrincipalComponents, principal_components
from corporeal.skinning.jacobians import make_blend, translation_maps
from corporeal.skinning.kinematics import kinematic_state
from corporeal.skinning.unposing import inverse_matrices

_PIECE = 64
"""Registrations at a time when components are taken."""


@dataclass(frozen=True)
class ShapeTraining:
    """Settings."""

    count: int = 10
    """Shape coefficients."""
    rounds: int = 2
    """How often everybody is brought to the zero pose, each time with the space so far."""
    seed: int = 0
    """Of the random sketch."""


def in_zero_pose(
    model: LinearBodyModel, vertices: Float[NumpyArray, "V 3"], pose: RotationPose
) -> Float64[NumpyArray, "V 3"]:
    """The shape that is `vertices` when posed so, its joints being its own (`𝒥 t`)."""
    count, parents = model.joint_count, model.parents
    weights, still = model.weights.dense().astype(np.float64), np.zeros((count, 3))
    world = kinematic_state(pose, still, parents).world_rotations
    features = (pose.rotations[1:] - np.eye(3)).reshape(-1).astype(model.pose_offsets.dtype)
    offsets = np.tensordot(features, model.pose_offsets, axes=1)
    wanted = np.asarray(vertices, np.float64) - pose.translation
    blended = make_blend(model.blending, weights, world, still).blended
    singular = np.linalg.det(blended) == 0
    if singular.any():
        raise InputError(
            f"{int(singular.sum())} vertices of a registration have no place in the zero pose: "
            f"their joints' blended motion is singular, as where a joint is twisted by half a "
            f"turn. Leave the registration out."
        )
    inverses = inverse_matrices(blended)
    # 𝒥 B⁻¹ C, of the few vertices that joints come from
    used = np.flatnonzero(np.abs(model.joint_regressor).max(axis=0) > 0)
    maps = translation_maps(world, parents)
    by_joints = make_blend(model.blending, weights[used], world, still).by_translations(maps)
    sides = np.concatenate([by_joints, wanted[used, :, None]], axis=2)
    unposed = inverses[used] @ sides
    unposed[:, :, -1] -= offsets[used]
    joints = np.tensordot(model.joint_regressor[:, used], unposed, axes=1).reshape(3 * count, -1)
    found = np.linalg.solve(np.eye(3 * count) + joints[:, :-1], joints[:, -1])
    shifted = make_blend(model.blending, weights, world, maps @ found).shifts
    return (inverses @ (wanted - shifted)[..., None])[..., 0] - offsets


def train_shape(
    registrations: Float[NumpyArray, "M V 3"],
    model: LinearBodyModel,
    edges: csr_array,
    settings: ShapeTraining,
    rest_shapes: Float[NumpyArray, "I V 3"] | None = None,
) -> tuple[LinearBodyModel, PrincipalComponents]:
    """The model with its mean and shape space from these people; one coefficient is one
    standard deviation.

    `rest_shapes` are more people, whose zero pose many registrations have told. Their own space is
    the first one, so that the others are brought to the same zero pose.
    """
    known = (
        np.zeros((0, model.vertex_count, 3)) if rest_shapes is None else _rooted(model, rest_shapes)
    )
    count = min(settings.count, len(known) - 1) if len(registrations) else settings.count
    found = None
    if count > 0:
        found = _components(known, count, settings.seed)
        model = _with_shapes(model, found)
    for _ in range(max(settings.rounds, 1) if len(registrations) else 0):
        used = 0 if found is None else len(found.deviations)
        people = _normalised(model, registrations, edges, used)
        found = _components(np.concatenate([people, known]), settings.count, settings.seed)
        model = _with_shapes(model, found)
    assert found is not None
    return model, found


def _components(people: Float64[NumpyArray, "M V 3"], count: int, seed: int) -> PrincipalComponents:
    flat = people.reshape(len(people), -1)
    return principal_components(
        lambda: (flat[i : i + _PIECE] for i in range(0, len(flat), _PIECE)), count, seed
    )


def _normalised(
    model: LinearBodyModel,
    registrations: Float[NumpyArray, "M V 3"],
    edges: csr_array,
    shape_count: int,
) -> Float64[NumpyArray, "M V 3"]:
    """Every person in the zero pose; the pose is found together with so many coefficients."""
    dtype = registrations.dtype
    poses = first_poses(registrations, person_of(model, dtype=dtype), edges)
    if shape_count:
        poses = solve_people(model, registrations, poses, shape_count).poses
    rest_shapes = np.empty(registrations.shape)
    for n, vertices in enumerate(registrations):
        rest_shapes[n] = in_zero_pose(model, vertices, poses[n])
    return _rooted(model, rest_shapes)


def _rooted(model: LinearBodyModel, rest_shapes: NumpyArray) -> Float64[NumpyArray, "M V 3"]:
    """Where a body stands is pose, not shape: all have their root joint in one place."""
    root = model.joint_regressor[0]
    off = root @ model.mean_vertices - np.tensordot(rest_shapes, root, axes=(1, 0))
    return rest_shapes + off[:, None]


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
