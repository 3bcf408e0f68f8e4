"""Pose blend shapes P, given everything else: a ridge regression for every vertex.

In the rest frame, with B_nv the blended rotation and d_nv what the skin without P misses,

    min_P  Σ_n ‖B_nv Σ_f F_nf p_fv − d_nv‖² + Σ_f λ_fv ‖p_fv − a_fv‖².

Were every B a rotation and λ one number, one Gram matrix FᵀF + λ I would serve all vertices.
Blended rotations shrink a little, so that Gram matrix, with a typical λ, is the preconditioner of a
few conjugate-gradient steps, for all vertices of a block at once; those that have converged leave
it.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.pose import RotationPose
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes
from corporeal.numerics.conjugate_gradients import conjugate_gradients_many
from corporeal.runtime.threads import over_slices
from corporeal.skinning.gradients import influences_of, posed_blocks
from corporeal.skinning.kinematics import KinematicState, kinematic_state

_BLOCK = 512
"""Vertices at a time: bounds the memory to about 50 kB a registration."""
_STEPS = 40
_TOLERANCE = 1e-8
"""Of the residual's square, against that of the right-hand side."""


@dataclass(frozen=True)
class Ridge:
    """What holds the pose blend shapes besides the data."""

    strength: Float[NumpyArray, "P V"] | float
    """λ_P, in registrations' worth of squared features; infinite where an offset must be 0."""
    about: Float[NumpyArray, "P V 3"] | None = None
    """Offsets to be close to; None for 0."""


def solved_pose_shapes(
    meshes: PosedMeshes,
    estimate: Estimate,
    ridge: Ridge,
    features: Float[NumpyArray, "N P"] | None = None,
    start: Float[NumpyArray, "P V 3"] | None = None,
) -> Float[NumpyArray, "P V 3"]:
    """The best pose blend shapes for these features (R(θ) − R(θ*) unless given).

    `start` is a guess; without one the estimate's own, or 0 for other features.
    """
    dtype, vertex_count = estimate.dtype, len(estimate.weights)
    if features is None:
        features, start = estimate.features(), estimate.pose_offsets
    count = features.shape[1]
    gram, tree = features.T @ features, _tree(meshes, estimate)
    shapes = np.zeros((count, vertex_count, 3), dtype)
    # vertices of one part are pulled alike, so that one preconditioner suits them
    order = np.argsort(estimate.weights.argmax(axis=1), kind="stable")
    for first in range(0, vertex_count, _BLOCK):
        some = order[first : first + _BLOCK]
        blended, missing = _rest_frame(meshes, estimate, tree, some)
        strength, about = np.atleast_2d(np.asarray(ridge.strength, dtype)), None
        if strength.shape[1] > 1:
            strength = strength[:, some]
        if ridge.about is not None:
            about = ridge.about[:, some].astype(dtype)
        factor = cho_factor((gram + np.diag(_typical(strength, count))).astype(dtype))
        shapes[:, some] = _ridge(
            features.astype(dtype), blended, missing, strength[..., None], about, factor,
            None if start is None else start[:, some],
        )  # fmt: skip
    return shapes


def _typical(strength: Float[NumpyArray, "p v"], count: int) -> Float64[NumpyArray, "P"]:
    """One strength a feature for all vertices: the geometric mean of those that are finite."""
    finite = np.isfinite(strength)
    logs = np.log(np.maximum(np.where(finite, strength, 1.0), 1e-12))
    mean = np.where(finite, logs, 0.0).sum(axis=1) / np.maximum(finite.sum(axis=1), 1)
    return np.broadcast_to(np.exp(mean), count)


def _tree(meshes: PosedMeshes, estimate: Estimate) -> KinematicState:
    """The kinematic tree of every registration."""
    joints = estimate.joints[meshes.subjects]
    poses = RotationPose(estimate.rotations, estimate.translations)
    return kinematic_state(poses, joints, estimate.parents)


def _rest_frame(
    meshes: PosedMeshes, estimate: Estimate, tree: KinematicState, some: NumpyArray
) -> tuple[Float[NumpyArray, "N v 3 3"], Float[NumpyArray, "N v 3"]]:
    """B_nv, and d_nv: what the skin without pose blend shapes misses, of some vertices."""
    influences, dtype = influences_of(estimate.weights[some]), estimate.dtype
    rest_shapes = estimate.rest_shapes[:, some].astype(dtype)
    blended, moved = posed_blocks(estimate.blending, influences, rest_shapes, meshes.subjects, tree)
    return blended, meshes.vertices[:, some].astype(dtype) - moved


def _ridge(
    features: Float[NumpyArray, "N P"],
    blended: Float[NumpyArray, "N v 3 3"],
    missing: Float[NumpyArray, "N v 3"],
    strength: NumpyArray,
    about: Float[NumpyArray, "P v 3"] | None,
    factor: tuple[NumpyArray, bool],
    start: Float[NumpyArray, "P v 3"] | None,
) -> Float[NumpyArray, "P v 3"]:
    """Preconditioned conjugate gradients, one recurrence for each vertex."""
    from corporeal.models.smpl.training.terms_cpu import apply_metric

    size, count = missing.shape[1], features.shape[1]
    allowed = np.broadcast_to(np.isfinite(strength), (count, size, 1))
    weights = np.broadcast_to(np.where(np.isfinite(strength), strength, 0), (count, size, 1))

    def product(matrix: NumpyArray, values: NumpyArray) -> NumpyArray:
        return (matrix @ values.reshape(len(values), -1)).reshape(len(matrix), -1, 3)

    def applied(shapes: NumpyArray, live: NumpyArray | slice) -> NumpyArray:
        offsets = product(features, shapes)
        metric = blended if isinstance(live, slice) else blended[:, live]
        over_slices(lambda a, b: apply_metric(metric, offsets, a, b), len(offsets), 16)
        image = product(features.T, offsets) + weights[:, live] * shapes
        return np.where(allowed[:, live], image, 0)

    def preconditioned(values: NumpyArray, live: NumpyArray | slice) -> NumpyArray:
        solved = cho_solve(factor, values.reshape(count, -1)).reshape(values.shape)
        return np.where(allowed[:, live], solved, 0)

    right = product(features.T, np.einsum("nvba,nvb->nva", blended, missing))
    if about is not None:
        right = right + weights * about
    right = np.where(allowed, right, 0)
    return conjugate_gradients_many(
        applied,
        preconditioned,
        right,
        None if start is None else np.where(allowed, start, 0),
        tolerance=_TOLERANCE,
        iterations=_STEPS,
    )
