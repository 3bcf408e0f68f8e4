"""What holds pose blend shapes besides the data: the ridge of Loper 2015, and what it did not try.

A vertex and a joint share nine offsets p_jv. Loper 2015 pulls all of them to 0 alike (λ_P). Here
the pull may also grow with the distance between vertex and joint (*locality*), fall with the size
of p_jv, so that few are left (*lasso*: Σ ‖p_jv‖ by reweighted squares, Daubechies et al. 2010), be
without end where a joint has no weight (*sparse*, section 5.2), or go to the mean of the
neighbours' offsets instead of 0 (*smoothness*).
"""

import numpy as np
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.models.smpl.features import SIZES
from corporeal.models.smpl.training.estimate import Estimate
from corporeal.models.smpl.training.pose_shapes import Ridge

_NEAR = 0.1
"""Metres: where locality doubles the pull at strength one."""
_LEAST = 1e-4
"""Metres: offsets smaller than this are pulled no harder by the lasso."""


def ridge_of(
    estimate: Estimate,
    edges: csr_array,
    *,
    strength: float,
    sparse: bool = False,
    locality: float = 0.0,
    lasso: float = 0.0,
    smoothness: float = 0.0,
) -> Ridge:
    """`strength` is λ_P, in registrations' worth of squared features.

    `locality` and `smoothness` are shares of it; `lasso` is metres: what the pull is at an offset
    of that size.
    """
    if not (sparse or locality or lasso or smoothness):
        return Ridge(strength)
    by_joint = np.full((len(estimate.parents) - 1, len(estimate.weights)), strength)
    if locality:
        by_joint = by_joint * (1 + locality * (_apart(estimate) / _NEAR) ** 2)
    size = SIZES["rotations"]
    if lasso and estimate.pose_offsets.any():
        blocks = estimate.pose_offsets.reshape(len(by_joint), size, -1, 3)
        length = np.sqrt(np.einsum("jfva,jfva->jv", blocks, blocks, optimize=True))
        by_joint = by_joint * lasso / np.maximum(length, _LEAST)
    if sparse:
        by_joint = np.where(estimate.weights[:, 1:].T == 0, np.inf, by_joint)
    about = None
    if smoothness and estimate.pose_offsets.any():
        about = _neighbours(estimate.pose_offsets, edges) * (smoothness / (1 + smoothness))
        by_joint = by_joint * (1 + smoothness)
    return Ridge(np.repeat(by_joint, size, axis=0), about)


def _apart(estimate: Estimate) -> Float64[NumpyArray, "k V"]:
    """Distance of every vertex from every joint but the root, in the mean zero pose, metres."""
    rest, joints = estimate.rest_shapes.mean(axis=0), estimate.joints.mean(axis=0)
    return np.linalg.norm(rest[None] - joints[1:, None], axis=2)


def _neighbours(
    offsets: Float[NumpyArray, "P V 3"], edges: csr_array
) -> Float[NumpyArray, "P V 3"]:
    """Mean of the offsets of every vertex's neighbours; 0 where there are none."""
    joined = abs(edges).T @ abs(edges)
    joined.setdiag(0)
    shares = joined.multiply(1 / np.maximum(joined.sum(axis=1), 1)[:, None]).tocsr()
    flat = np.moveaxis(offsets, 1, 0).reshape(offsets.shape[1], -1)
    mean = (shares @ flat).reshape(offsets.shape[1], len(offsets), 3)
    return np.moveaxis(mean, 0, 1).astype(offsets.dtype)
