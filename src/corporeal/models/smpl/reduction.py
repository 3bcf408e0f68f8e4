"""SMPL's pose blend shapes with fewer of them: the best morph targets for given poses.

SMPL has one blend shape a pose feature: P, 9K × 3V. With k morph targets d_b and shares B their
offsets are B_P(θ) = Σ_b (Σ_n B_bn f_n(θ)) d_b. Over poses whose features have the second moments
C = E[f fᵀ], the mean squared error ‖C^{1/2} (P − Bᵀ D)‖² is least (Eckart, Young 1936) for

    D = Uᵀ C^{1/2} P,   Bᵀ = C^{−1/2} U,   U the strongest eigenvectors of C^{1/2} P Pᵀ C^{1/2}.

Loper 2015 names this as future work (section 7).
"""

import numpy as np

from corporeal._typing import Float, Float64, NumpyArray
from corporeal.body.correctives import PoseCorrectives
from corporeal.body.linear_model import LinearBodyModel
from corporeal.errors import InputError
from corporeal.models.smpl.posing import pose_features

_LEAST = 1e-6
"""Share of the mean moment that every feature has at least, so that C can be inverted."""
_USUAL_TURN = 0.5
"""Radians about every axis."""
_USUAL_POSES = 4000
_NOTHING = 1e-7
"""Components weaker than this share of the strongest are rounding."""
_WORTH = 0.8
"""A smaller form is taken where it has less than this share of the blend shapes."""


def feature_moments(
    joint_rotations: Float[NumpyArray, "*batch J 3"],
) -> Float64[NumpyArray, "P P"]:
    """C = E[f fᵀ] over poses given as parent-relative axis-angle vectors, radians."""
    features = pose_features(np.asarray(joint_rotations, np.float64))
    flat = features.reshape(-1, features.shape[-1])
    return flat.T @ flat / len(flat)


def usual_moments(joint_count: int) -> Float64[NumpyArray, "P P"]:
    """C of poses in which every joint is turned by about half a radian, whatever the axis."""
    random = np.random.default_rng(0)
    return feature_moments(random.normal(0.0, _USUAL_TURN, (_USUAL_POSES, joint_count, 3)))


def exact_correctives(model: LinearBodyModel) -> PoseCorrectives | None:
    """The model's pose blend shapes as they are; in a smaller form where that is exact.

    None for a model without any.
    """
    flat = np.asarray(model.pose_offsets, np.float64).reshape(model.pose_count, -1)
    used = np.abs(flat).max(axis=1, initial=0) > 0
    if not used.any():
        return None
    joints = np.flatnonzero(used.reshape(-1, 9).any(axis=1))
    columns = (9 * joints[:, None] + np.arange(9)).reshape(-1)
    names = tuple(model.joint_names[joint + 1] for joint in joints)
    rows = flat[columns]
    values, vectors = np.linalg.eigh(rows @ rows.T)
    strong = values > (_NOTHING**2) * values[-1]
    if strong.sum() < _WORTH * len(columns):
        return _made(names, vectors[:, strong].T[::-1], rows)
    shares = np.eye(len(columns))
    return _made(names, shares, rows)


def reduced_correctives(
    model: LinearBodyModel, count: int, moments: Float[NumpyArray, "P P"] | None = None
) -> PoseCorrectives:
    """The `count` morph targets that stand best for the pose blend shapes.

    `moments` are those of the poses that matter (`feature_moments`); all features alike if None.
    """
    size = model.pose_count
    if not 1 <= count <= size:
        raise InputError(f"asked for {count} morph targets; expected 1 to {size}.")
    moments = np.eye(size) if moments is None else np.asarray(moments, np.float64)
    if moments.shape != (size, size):
        raise InputError(f"moments have the shape {moments.shape}; expected {(size, size)}.")
    floor = _LEAST * np.trace(moments) / size
    strengths, axes = np.linalg.eigh(moments)
    roots = np.sqrt(np.maximum(strengths, floor))
    half, back = (axes * roots) @ axes.T, (axes / roots) @ axes.T
    rows = np.asarray(model.pose_offsets, np.float64).reshape(size, -1)
    _, vectors = np.linalg.eigh(half @ (rows @ rows.T) @ half)
    strongest = vectors[:, ::-1][:, :count]
    shares = strongest.T @ back
    return _made(model.joint_names[1:], shares, rows, strongest.T @ half)


def dense_offsets(correctives: PoseCorrectives) -> Float[NumpyArray, "P V 3"]:
    """One blend shape a feature, P = Bᵀ D, metres."""
    return np.tensordot(correctives.feature_weights.T, correctives.offsets, axes=1)


def _made(
    names: tuple[str, ...],
    shares: Float64[NumpyArray, "b P"],
    rows: Float64[NumpyArray, "P n"],
    takers: Float64[NumpyArray, "b P"] | None = None,
) -> PoseCorrectives:
    offsets = (shares if takers is None else takers) @ rows
    digits = max(2, len(str(len(shares) - 1)))
    return PoseCorrectives(
        names,
        tuple(f"pose_{b:0{digits}d}" for b in range(len(shares))),
        np.ascontiguousarray(shares),
        offsets.reshape(len(shares), -1, 3),
    )
