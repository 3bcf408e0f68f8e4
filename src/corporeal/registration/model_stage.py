"""Model-only alignment: shape and pose of the body model, by robust nearest points.

    E(β, θ) = Σ_s a_s ρ(d_s) + Σ_v a_v ρ(d_v) + λ (‖β‖² + E_θ(θ)),   ρ(d) = d²/(d² + σ²)

over points s of the scan (eq. 5 of Pons-Moll 2015, with the model in place of the free mesh), and,
more lightly, over vertices v, each with its nearest partner that faces the same way; shares a sum
to one, σ shrinks from stage to stage. d² = (n · gap)² + κ ‖gap‖², so that surfaces may slide. Every
step is a Gauss–Newton step of the normal equations, 3 × 3 blocks a vertex summed first.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.registration.landmarks import landmark_vertices
from corporeal.registration.person_model import (
    BODY_JOINTS,
    PersonModel,
    PersonState,
    PosedPerson,
)
from corporeal.registration.scan_surface import ScanSurface
from corporeal.skinning.kinematics import parent_rotations

NORMAL_REACH = 0.15
"""Metres that opposite normals count for, halved, when the nearest point is looked for."""
PRIOR = 4e-4
"""λ: weight of one standard deviation of shape or pose against all nearest points."""
_STRICT = 0.035
"""σ up to which vertices must be found back from the scan, metres."""
_MUTUAL = 0.025
"""How far off they may be found, metres."""
LANDMARK = 0.02
"""Share of all nearest points that one landmark counts as."""
_BRUTE = 1_500_000
"""Pairs up to which all distances are compared at once."""


class ModelStage(NamedTuple):
    """One pass of steps."""

    steps: int
    """Gauss–Newton steps."""
    sigma: float
    """σ: distance from which on points count as outliers, metres."""
    slide: float
    """κ: weight of the distance along the surface."""
    shapes: int
    """Components of shape that may change."""
    points: int
    """Points of the scan that look for the body."""
    fingers: bool = False
    """Whether fingers move too."""
    back: float = 0.5
    """Share of the vertices' own search, 0 to 1."""
    joints: tuple[int, ...] | None = None
    """Joints that may turn, and nothing else; all by default."""
    prior: float = 1.0
    """Factor on the pose's prior: where few points are all that is fitted, they count for more."""
    shape_prior: float = 1.0
    """The same on the shape's: parts that a scan does not show follow from those that it does."""
    strict: bool = False
    """Whether a vertex must be found back from the point it finds; where σ is small it must."""


COARSE = (ModelStage(6, 0.25, 1.0, 2, 500), ModelStage(8, 0.12, 0.6, 6, 500))
MIDDLE = (ModelStage(6, 0.08, 0.3, 10, 800), ModelStage(6, 0.05, 0.2, 12, 800))
FINE = (
    # else feet and hands that a scan lacks look for its ends, and limbs become shorter
    ModelStage(5, 0.05, 0.2, 16, 3000, strict=True),
    ModelStage(5, 0.03, 0.1, 40, 5000, fingers=True, back=0.4),
    ModelStage(6, 0.015, 0.05, 80, 8000, fingers=True, back=0.3),
)


@dataclass(frozen=True, eq=False)
class ModelFit:
    """A state, and how well it lies on the scan."""

    state: PersonState
    """Shape and pose."""
    posed: PosedPerson
    """The model in it."""
    energy: float
    """Mean of ρ at the last σ, and priors; 0 is perfect, 1 is nothing near."""
    data: float
    """Mean of ρ alone."""


def fit_model(
    model: PersonModel,
    surface: ScanSurface,
    first: PersonState,
    stages: tuple[ModelStage, ...],
) -> ModelFit:
    """Gauss–Newton from a first state, stage by stage."""
    state, posed = first, model.posed(first)
    data = np.inf
    for stage in stages:
        some = surface.some(stage.points)
        for _ in range(stage.steps):
            step, data = _solved(model, state, posed, some, stage)
            state = model.stepped(state, posed, step)
            posed = model.posed(state)
    return _judged(model, state, posed, data, stages[-1])


def as_it_lies(
    model: PersonModel, surface: ScanSurface, state: PersonState, stage: ModelStage
) -> ModelFit:
    """A state and its energy, with no step taken."""
    posed = model.posed(state)
    data = _rows(model, surface.some(stage.points), posed, stage)[2]
    return _judged(model, state, posed, data, stage)


def _judged(
    model: PersonModel, state: PersonState, posed: PosedPerson, data: float, stage: ModelStage
) -> ModelFit:
    pose = stage.prior * model.prior.energy(state.pose)
    shape = stage.shape_prior * float(state.shape @ state.shape)
    return ModelFit(state, posed, data + PRIOR * (pose + shape), data)


def nearest(
    points: Float64[NumpyArray, "n 3"],
    normals: Float64[NumpyArray, "n 3"],
    others: Float64[NumpyArray, "m 3"],
    other_normals: Float64[NumpyArray, "m 3"],
) -> Int[NumpyArray, "n"]:
    """For each point the nearest of others that also faces the same way."""
    mine = np.hstack([points, NORMAL_REACH * normals])
    theirs = np.hstack([others, NORMAL_REACH * other_normals])
    if len(mine) * len(theirs) <= _BRUTE:
        squares = np.sum(theirs**2, axis=1)[None] - 2.0 * mine @ theirs.T
        return np.argmin(squares, axis=1)
    from scipy.spatial import KDTree

    return np.asarray(KDTree(theirs).query(mine)[1])


def _rows(
    model: PersonModel, scan: ScanSurface, posed: PosedPerson, stage: ModelStage
) -> tuple[Float64[NumpyArray, "v 3 3"], Float64[NumpyArray, "v 3"], float]:
    """3 × 3 blocks and pulls of every vertex, and the mean of ρ."""
    count = len(posed.vertices)
    to_skin = nearest(scan.points, scan.normals, posed.vertices, posed.normals)
    searching = np.arange(0, count, max(1, count // stage.points))
    to_scan = nearest(
        posed.vertices[searching], posed.normals[searching], scan.points, scan.normals
    )
    vertices = np.concatenate([to_skin, searching])
    targets = np.concatenate([scan.points, scan.points[to_scan]])
    planes = np.concatenate([posed.normals[to_skin], scan.normals[to_scan]])
    agree = np.concatenate(
        [
            np.sum(scan.normals * posed.normals[to_skin], axis=1),
            np.sum(scan.normals[to_scan] * posed.normals[searching], axis=1),
        ]
    )
    share = np.concatenate(
        [
            (1.0 - stage.back) * scan.weights / max(scan.weights.sum(), 1e-12),
            np.full(len(searching), stage.back / len(searching)),
        ]
    )
    back = to_skin[to_scan]
    # a leg that the scan lacks, or that lies elsewhere, finds the other, which is found already
    limbs = model.limbs
    rival = (limbs[searching] != 0) & (limbs[searching] == -limbs[back])
    good = np.concatenate([agree[: len(to_skin)] > 0.2, (agree[len(to_skin) :] > 0.2) & ~rival])
    if stage.strict or stage.sigma <= _STRICT:
        # a vertex in a hole finds the rim, whose own nearest vertex lies elsewhere
        beyond = np.linalg.norm(posed.vertices[back] - posed.vertices[searching], axis=1)
        share[len(to_skin) :] *= beyond < _MUTUAL
    gap = targets - posed.vertices[vertices]
    along = np.sum(gap * planes, axis=1)
    squares = along**2 + stage.slide * np.sum(gap * gap, axis=1)
    rho = np.where(good, squares / (squares + stage.sigma**2), 1.0)
    weight = np.where(good, stage.sigma**2 / (squares + stage.sigma**2) ** 2, 0.0) * share
    # Σ weight (n nᵀ + κ I), one vertex after the other
    blocks, pulls = np.empty((count, 3, 3)), np.empty((count, 3))
    force = weight[:, None] * (along[:, None] * planes + stage.slide * gap)
    for a in range(3):
        pulls[:, a] = np.bincount(vertices, force[:, a], count)
        for b in range(a, 3):
            entry = planes[:, a] * planes[:, b] + (stage.slide if a == b else 0.0)
            blocks[:, a, b] = blocks[:, b, a] = np.bincount(vertices, weight * entry, count)
    return blocks, pulls, float(np.sum(share * rho))


@dataclass(frozen=True, eq=False)
class Equations:
    """Normal equations of one scan's step: shapes, rotations, translation."""

    matrix: Float64[NumpyArray, "P P"]
    """JᵀWJ and the priors."""
    right: Float64[NumpyArray, "P"]
    """Jᵀ W gap, less the priors' pull."""
    used: NumpyArray
    """Which unknowns may move."""
    shapes: int
    """How many of the first unknowns are shapes."""


def equations(
    model: PersonModel,
    state: PersonState,
    posed: PosedPerson,
    scan: ScanSurface,
    stage: ModelStage,
) -> tuple[Equations, float]:
    """The equations of a step from a state, and the mean of ρ there."""
    blocks, pulls, data = _rows(model, scan, posed, stage)
    hit = np.flatnonzero(np.trace(blocks, axis1=1, axis2=2) > 0)
    shapes = min(stage.shapes, model.space.count)
    rows = None if len(hit) > 0.7 * len(blocks) else hit
    jacobian = model.jacobian(posed, shapes, rows)
    if rows is not None:
        blocks, pulls = blocks[hit], pulls[hit]
    size = jacobian.shape[2]
    scaled = np.matmul(blocks, jacobian)
    matrix = jacobian.reshape(-1, size).T @ scaled.reshape(-1, size)
    right = np.tensordot(pulls.reshape(-1), jacobian.reshape(-1, size), 1)
    _add_landmarks(model, posed, scan, stage, shapes, matrix, right)
    frames = parent_rotations(posed.kinematics.world_rotations, model.parents)
    prior = model.prior
    prior.add_to(matrix, right, state.pose, frames, shapes, stage.prior * PRIOR)
    used = np.ones(size, bool)
    if not stage.fingers:
        used[shapes + 3 * BODY_JOINTS : -3] = False
    if stage.joints is not None:
        used[:] = False
        for joint in stage.joints:
            used[shapes + 3 * joint : shapes + 3 * joint + 3] = True
    return Equations(matrix, right, used, shapes), data


def _add_landmarks(
    model: PersonModel,
    posed: PosedPerson,
    scan: ScanSurface,
    stage: ModelStage,
    shapes: int,
    matrix: Float64[NumpyArray, "P P"],
    right: Float64[NumpyArray, "P"],
) -> None:
    """Known places pull their vertices, with a share of all points that is `LANDMARK` each."""
    if not (scan.landmarks and model.whole):
        return
    table = landmark_vertices(model.template)
    names = [name for name in scan.landmarks if name in table]
    if not names:
        return
    rows = np.array([table[name] for name in names])
    gap = np.stack([scan.landmarks[name] for name in names]) - posed.vertices[rows]
    jacobian = model.jacobian(posed, shapes, rows).reshape(3 * len(rows), -1)
    weight = LANDMARK / stage.sigma**2
    matrix += weight * jacobian.T @ jacobian
    right += weight * jacobian.T @ gap.reshape(-1)


def _solved(
    model: PersonModel,
    state: PersonState,
    posed: PosedPerson,
    scan: ScanSurface,
    stage: ModelStage,
) -> tuple[Float64[NumpyArray, "P"], float]:
    """The step of one scan, and the mean of ρ before it."""
    found, data = equations(model, state, posed, scan, stage)
    matrix, right, shapes = found.matrix, found.right, found.shapes
    prior = stage.shape_prior * PRIOR
    matrix[np.arange(shapes), np.arange(shapes)] += prior
    right[:shapes] -= prior * state.shape[:shapes]
    step = np.zeros(len(right))
    step[found.used] = solved_damped(matrix[np.ix_(found.used, found.used)], right[found.used])
    return limited(step, shapes), data


def solved_damped(
    matrix: Float64[NumpyArray, "n n"], right: NumpyArray
) -> Float64[NumpyArray, "n ..."]:
    """A⁻¹ b with a little added to the diagonal."""
    matrix[np.diag_indices_from(matrix)] += 1e-7 * np.trace(matrix) / len(matrix)
    return np.linalg.solve(matrix, right)


def limited(step: Float64[NumpyArray, "P"], shapes: int) -> Float64[NumpyArray, "P"]:
    """The step, none of its turns above half a radian, no shape above 1½ deviations."""
    bound = np.where(np.arange(len(step)) < shapes, 1.5, 0.5)
    return np.clip(step, -bound, bound)
