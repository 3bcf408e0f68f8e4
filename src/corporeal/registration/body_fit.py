"""Lay the articulated body onto a surface: robust nearest points, Gauss-Newton steps.

E = Σ_v d² / (d² + σ²) over nearest points both ways (body → surface and surface → body), with
d² = (n · (x_v − q_v))² + κ |x_v − q_v|² (Geman and McClure 1985), σ shrinking from stage to stage;
plus β² and (log(L_jᵀ₀ L_j)/τ_j)² for shapes and poses far from the first guess.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.geometry.rotations import axis_angle_from_matrix
from corporeal.geometry.surface import vertex_normals
from corporeal.registration.articulated import (
    BODY_JOINTS,
    ArticulatedBody,
    PosedArticulatedBody,
    Stance,
    pose_body,
    stepped,
)
from corporeal.registration.cloud import Cloud
from corporeal.skinning.kinematics import parent_rotations

_FREE = {
    "pelvis": (2.0, 2.0, 2.0),
    "hip": (0.35, 0.25, 0.35),
    "knee": (0.35, 0.06, 0.06),
    "ankle": (0.3, 0.2, 0.15),
    "foot": (0.1, 0.05, 0.05),
    "spine": (0.12, 0.08, 0.08),
    "neck": (0.2, 0.15, 0.12),
    "head": (0.2, 0.15, 0.12),
    "collar": (0.05, 0.15, 0.15),
    "shoulder": (0.4, 0.5, 0.5),
    "elbow": (0.15, 0.5, 0.2),
    "wrist": (0.4, 0.2, 0.25),
}
"""τ: how far joints are likely to be from the first guess, radians about x, y, z."""
_PRIOR = 5e-4
"""Weight of one standard deviation of one prior against all nearest points."""


class FitStage(NamedTuple):
    """One pass of steps."""

    steps: int
    """Gauss–Newton steps."""
    sigma: float
    """Distance from which on points count as outliers, metres."""
    point_share: float
    """κ: weight of the distance along the surface."""
    shapes: int
    """Components of shape that may change."""
    points: int
    """Points of the surface that look for the body."""


COARSE = (FitStage(8, 0.30, 1.0, 0, 500), FitStage(8, 0.15, 0.5, 2, 500))
FINE = (
    FitStage(8, 0.10, 0.3, 6, 2500),
    FitStage(10, 0.05, 0.1, 16, 2500),
    FitStage(8, 0.025, 0.05, 16, 2500),
)


@dataclass(frozen=True)
class BodyFit:
    """A stance, and how well it lies on the surface."""

    stance: Stance
    """Shape, pose and place that fit best."""
    posed: PosedArticulatedBody
    """The body in that stance."""
    energy: float
    """Mean of ρ over the nearest points at the last σ; 0 is perfect, 1 is nothing near."""


def fit_body(
    body: ArticulatedBody, surface: Cloud, first: Stance, stages: tuple[FitStage, ...]
) -> BodyFit:
    """Gauss-Newton from a first guess, stage by stage."""
    freedom = _freedom(body)
    stance, posed, energy = first, pose_body(body, first), np.inf
    for stage in stages:
        for _ in range(stage.steps):
            rows, energy = _data_rows(body, surface, posed, stage)
            step = _solve(rows, stance, first, posed, body, freedom, stage)
            stance = stepped(stance, posed, body.parents, step)
            posed = pose_body(body, stance)
    return BodyFit(stance, posed, energy)


def _data_rows(
    body: ArticulatedBody, surface: Cloud, posed: PosedArticulatedBody, stage: FitStage
) -> tuple[tuple[NumpyArray, NumpyArray], float]:
    """Normal matrix and right-hand side of the nearest points, and their mean ρ."""
    normals = vertex_normals(posed.vertices, body.triangles)
    skin = Cloud(posed.vertices, normals)
    few = slice(None, None, max(1, len(surface.points) // stage.points))
    seen, facing = surface.points[few], surface.normals[few]
    to_surface = surface.nearest(posed.vertices, normals)
    to_skin = skin.nearest(seen, facing)
    targets = np.concatenate([surface.points[to_surface], seen])
    planes = np.concatenate([surface.normals[to_surface], facing])
    vertices = np.concatenate([np.arange(len(normals)), to_skin])
    share = np.repeat([0.5 / len(normals), 0.5 / len(seen)], [len(normals), len(seen)])
    gap = targets - posed.vertices[vertices]
    squared = np.sum(gap * planes, axis=1) ** 2 + stage.point_share * np.sum(gap * gap, axis=1)
    agree = np.sum(normals[vertices] * planes, axis=1) > 0.2
    rho = np.where(agree, squared / (squared + stage.sigma**2), 1.0)
    weight = np.where(agree, stage.sigma**2 / (squared + stage.sigma**2) ** 2, 0.0) * share
    metric = planes[:, :, None] * planes[:, None, :] + stage.point_share * np.eye(3)
    metric *= weight[:, None, None]
    # all rows of one vertex are summed first, since they share its derivatives
    count = len(normals)
    blocks, pulls = np.zeros((count, 3, 3)), np.zeros((count, 3))
    np.add.at(blocks, vertices, metric)
    np.add.at(pulls, vertices, np.einsum("nij,nj->ni", metric, gap))
    scaled = np.einsum("vij,vjp->vip", blocks, posed.jacobian)
    parameters = posed.jacobian.shape[2]
    matrix = posed.jacobian.reshape(-1, parameters).T @ scaled.reshape(-1, parameters)
    right = np.einsum("vip,vi->p", posed.jacobian, pulls)
    return (matrix, right), float(np.sum(share * rho))


def _solve(
    rows: tuple[NumpyArray, NumpyArray],
    stance: Stance,
    first: Stance,
    posed: PosedArticulatedBody,
    body: ArticulatedBody,
    freedom: Float[NumpyArray, "b 3"],
    stage: FitStage,
) -> Float[NumpyArray, "P"]:
    """The step: nearest points and priors together, damped."""
    matrix, right = rows[0].copy(), rows[1].copy()
    shapes = len(stance.shape)
    diagonal = np.arange(shapes)
    matrix[diagonal, diagonal] += _PRIOR
    right[:shapes] -= _PRIOR * stance.shape
    away = axis_angle_from_matrix(stance.pose.rotations @ np.swapaxes(first.pose.rotations, -1, -2))
    frames = parent_rotations(posed.world_rotations, body.parents)
    for joint, above in enumerate(frames):
        place = slice(shapes + 3 * joint, shapes + 3 * joint + 3)
        stiff = _PRIOR * (above / freedom[joint] ** 2) @ above.T
        matrix[place, place] += stiff
        right[place] -= _PRIOR * above @ (away[joint] / freedom[joint] ** 2)
    used = np.r_[0 : stage.shapes, shapes : len(right)]
    matrix = matrix[np.ix_(used, used)]
    matrix[np.diag_indices_from(matrix)] += 1e-6 * np.trace(matrix) / len(used)
    step = np.zeros(len(right))
    step[used] = np.linalg.solve(matrix, right[used])
    return np.clip(step, -0.5, 0.5)


def _freedom(body: ArticulatedBody) -> Float[NumpyArray, "b 3"]:
    def of(name: str) -> tuple[float, float, float]:
        return next(_FREE[part] for part in _FREE if part in name)

    return np.array([of(name) for name in body.skeleton.names[:BODY_JOINTS]])
