"""Pose blend shapes P, given everything else: a ridge regression for every vertex.

In the rest frame, with B_nv the blended rotation and d_nv what the skin without P misses,

    min_P  Σ_n ‖B_nv Σ_f F_nf p_fv − d_nv‖² + λ_P ‖P‖².

Were every B a rotation, one Gram matrix FᵀF + λ_P I would serve all vertices. Blended rotations
shrink a little, so that Gram matrix is the preconditioner of a few conjugate-gradient steps, for
all vertices of a block at once.
"""

from dataclasses import replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from corporeal._typing import Bool, Float, Float64, NumpyArray
from corporeal.models.smpl.training.estimate import Estimate, PosedMeshes

_BLOCK = 1024
"""Vertices at a time: bounds the memory to about 100 kB a registration."""
_STEPS = 30
_TOLERANCE = 1e-8
"""Of the residual's square, against that of the right-hand side."""


def solved_pose_shapes(
    meshes: PosedMeshes,
    estimate: Estimate,
    strength: float,
    support: Bool[NumpyArray, "V J"] | None = None,
) -> Float64[NumpyArray, "P V 3"]:
    """The best pose blend shapes; `strength` is λ_P, in registrations' worth of squared features.

    `support` says which joints may move a vertex (the sparse model, section 5.2).
    """
    vertex_count = estimate.weights.shape[0]
    features = estimate.features()
    gram = features.T @ features + strength * np.eye(features.shape[1])
    factor = cho_factor(gram)
    shapes = np.zeros((features.shape[1], vertex_count, 3))
    for first in range(0, vertex_count, _BLOCK):
        some = slice(first, min(first + _BLOCK, vertex_count))
        blended, missing = _rest_frame(meshes, estimate, some)
        allowed = None
        if support is not None:
            allowed = np.repeat(support[some, 1:].T, 9, axis=0)[:, :, None]
        start = estimate.pose_offsets[:, some]
        shapes[:, some] = _ridge(features, blended, missing, strength, factor, start, allowed)
    return shapes


def _rest_frame(
    meshes: PosedMeshes, estimate: Estimate, some: slice
) -> tuple[Float[NumpyArray, "N v 3 3"], Float[NumpyArray, "N v 3"]]:
    """B_nv, and d_nv: what the skin without pose blend shapes misses, of some vertices."""
    part = replace(
        estimate,
        weights=estimate.weights[some],
        rests=estimate.rests[:, some],
        pose_offsets=estimate.pose_offsets[:, some],
    )
    count, size = len(meshes.subjects), len(part.weights)
    blended, missing = np.empty((count, size, 3, 3)), np.empty((count, size, 3))
    for n, subject in enumerate(meshes.subjects.tolist()):
        blend = part.blend(n, subject)
        blended[n] = blend.blended
        plain = blend.moved(part.rests[subject]) + part.translations[n]
        missing[n] = meshes.vertices[n, some] - plain
    return blended, missing


def _ridge(
    features: Float64[NumpyArray, "N P"],
    blended: Float64[NumpyArray, "N v 3 3"],
    missing: Float64[NumpyArray, "N v 3"],
    strength: float,
    factor: tuple[NumpyArray, bool],
    start: Float64[NumpyArray, "P v 3"],
    allowed: Bool[NumpyArray, "P v 1"] | None,
) -> Float64[NumpyArray, "P v 3"]:
    """Preconditioned conjugate gradients, one recurrence for each vertex."""
    metric = np.einsum("nvba,nvbc->nvac", blended, blended)

    def kept(values: NumpyArray) -> NumpyArray:
        return values if allowed is None else np.where(allowed, values, 0.0)

    def applied(shapes: NumpyArray) -> NumpyArray:
        offsets = np.tensordot(features, shapes, axes=1)
        offsets = np.einsum("nvab,nvb->nva", metric, offsets)
        return kept(np.tensordot(features.T, offsets, axes=1) + strength * shapes)

    def preconditioned(values: NumpyArray) -> NumpyArray:
        return kept(cho_solve(factor, values.reshape(len(values), -1)).reshape(values.shape))

    def dot(left: NumpyArray, right: NumpyArray) -> NumpyArray:
        return np.einsum("fva,fva->v", left, right)

    in_rest = np.einsum("nvba,nvb->nva", blended, missing)
    right = kept(np.tensordot(features.T, in_rest, axes=1))
    shapes = kept(start)
    residual = right - applied(shapes)
    way = preconditioned(residual)
    product = dot(residual, way)
    least = _TOLERANCE * np.maximum(dot(right, preconditioned(right)), 1e-300)
    for _ in range(_STEPS):
        if (product <= least).all():
            break
        image = applied(way)
        length = product / np.maximum(dot(way, image), 1e-300)
        shapes = shapes + length[:, None] * way
        residual = residual - length[:, None] * image
        fresh = preconditioned(residual)
        after = dot(residual, fresh)
        way = fresh + (after / np.maximum(product, 1e-300))[:, None] * way
        product = after
    return shapes
