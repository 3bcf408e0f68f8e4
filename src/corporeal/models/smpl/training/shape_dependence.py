"""Pose blend shapes that depend on shape coefficients, given everything else.

The features of a registration are y_c(β) f_n(θ), y = (1, β_1, …, β_m): the ridge regression of
`pose_shapes` with m + 1 times as many columns. The dependence on β is pulled to 0 harder, since few
people tell it.
"""

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.shape_correctives import ShapeCorrectives
from corporeal.errors import InputError
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes
from corporeal.models.smpl.training.pose_shapes import Ridge, solved_pose_shapes

MORPHS = 128
"""Morph targets kept."""


def shape_coefficients(
    model: LinearBodyModel, rest_shapes: Float[NumpyArray, "I V 3"], count: int
) -> Float64[NumpyArray, "I m"]:
    """The first coefficients of people whose rest shapes are known, wherever they stand."""
    if not 1 <= count <= model.shape_count:
        raise InputError(
            f"pose blend shapes were to depend on {count} shape coefficients; the model has "
            f"{model.shape_count}."
        )
    root = model.joint_regressor[0]
    centred = rest_shapes - np.tensordot(rest_shapes, root, axes=(1, 0))[:, None]
    mean = model.mean_vertices - root @ model.mean_vertices
    rows = model.shape_offsets - np.tensordot(model.shape_offsets, root, axes=(1, 0))[:, None]
    flat = rows.reshape(len(rows), -1)
    gap = (centred - mean).reshape(len(centred), -1)
    return np.linalg.solve(flat @ flat.T, flat @ gap.T).T[:, :count]


def solved_shape_dependence(
    meshes: PosedMeshes,
    estimate: Estimate,
    betas: Float64[NumpyArray, "I m"],
    *,
    ridge: float,
    dependence: float,
) -> Float[NumpyArray, "c P V 3"]:
    """P_c of every y_c; ridges are in registrations' worth of squared features."""
    features = estimate.features()
    y = np.concatenate([np.ones((len(betas), 1)), betas], axis=1)[meshes.subjects]
    both = (y[:, :, None] * features[:, None, :]).reshape(len(features), -1)
    count, size = y.shape[1], features.shape[1]
    strength = np.repeat([ridge, *[dependence] * (count - 1)], size)[:, None]
    start = np.zeros((count * size, len(estimate.weights), 3), estimate.dtype)
    start[:size] = estimate.pose_offsets
    found = solved_pose_shapes(meshes, estimate, Ridge(len(features) * strength), both, start)
    return found.reshape(count, size, *found.shape[1:])


def reduced_shape_correctives(
    joint_names: tuple[str, ...],
    shapes: Float[NumpyArray, "c P V 3"],
    estimate: Estimate,
    count: int = MORPHS,
) -> ShapeCorrectives:
    """The morph targets that stand best for them in the poses of training (Eckart, Young 1936)."""
    features = estimate.features()
    moments = features.T @ features / len(features)
    moments += 1e-6 * np.trace(moments) / len(moments) * np.eye(len(moments))
    values, vectors = np.linalg.eigh(moments)
    half = (vectors * np.sqrt(values)) @ vectors.T
    back = (vectors / np.sqrt(values)) @ vectors.T
    rows = np.concatenate([half @ s.reshape(len(s), -1) for s in np.asarray(shapes, np.float64)])
    count = min(count, len(rows))
    _, axes = np.linalg.eigh(rows @ rows.T)
    strongest = axes[:, ::-1][:, :count]
    offsets = (strongest.T @ rows).reshape(count, *shapes.shape[2:])
    parts = strongest.reshape(len(shapes), -1, count)
    shares = np.stack([(back @ part).T for part in parts])
    return ShapeCorrectives(joint_names, shares, offsets.astype(np.float32))
