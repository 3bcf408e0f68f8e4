"""Several scans of one person: one shape for all (Pons-Moll 2015, eq. 3), then one mesh.

The model stage is solved for the common β and all poses at once: the normal equations have the form
of an arrow, so every scan's pose is eliminated (its Schur complement added to β's), β is solved
for, and the poses follow. The free meshes are then coupled to the model scan by scan, β held, and
the person's own mesh d is the one that best explains all of them,

    min_d Σ_k Σ_v s_kv ‖B_kv d_v − U_kv‖² + λ Σ_e w_e ‖d_i − d_j‖²

with U_k the free offsets, B_k the blended matrices and s_kv 1 where scan k shows vertex v.
"""

import numpy as np
from scipy.sparse import csc_array, diags_array

from corporeal._typing import Bool, Float64, NumpyArray
from corporeal.body.identity import Identity
from corporeal.errors import InputError
from corporeal.registration.coupled_stage import Coupled, edge_laplacian
from corporeal.registration.model_stage import (
    PRIOR,
    ModelFit,
    ModelStage,
    equations,
    limited,
    solved_damped,
)
from corporeal.registration.person_model import PersonModel, PersonState
from corporeal.registration.scan_surface import ScanSurface

TOGETHER = (
    ModelStage(3, 0.03, 0.1, 40, 4000, fingers=True, back=0.4),
    ModelStage(4, 0.015, 0.05, 80, 6000, fingers=True, back=0.3),
)
"""Stages after every scan has a first fit of its own."""
_SMOOTH = 1e-7
"""λ over the edges' weights of the coupling, with offsets in units of metres."""


def fit_together(
    model: PersonModel,
    surfaces: list[ScanSurface],
    first: list[PersonState],
    stages: tuple[ModelStage, ...] = TOGETHER,
) -> list[ModelFit]:
    """One shape, and a pose a scan; from first fits of every scan alone."""
    if not surfaces or len(surfaces) != len(first):
        raise InputError(
            f"{len(surfaces)} scans and {len(first)} first fits came; expected as many of each."
        )
    shape = np.mean([state.shape for state in first], axis=0)
    states = [PersonState(shape, state.pose) for state in first]
    posed = [model.posed(state) for state in states]
    data = [np.inf] * len(states)
    for stage in stages:
        some = [surface.some(stage.points) for surface in surfaces]
        for _ in range(stage.steps):
            steps, data = _steps(model, states, posed, some, stage)
            states = [
                model.stepped(state, body, step)
                for state, body, step in zip(states, posed, steps, strict=True)
            ]
            posed = [model.posed(state) for state in states]
    return [
        ModelFit(state, body, value, value)
        for state, body, value in zip(states, posed, data, strict=True)
    ]


def _steps(
    model: PersonModel,
    states: list[PersonState],
    posed: list,
    scans: list[ScanSurface],
    stage: ModelStage,
) -> tuple[list[Float64[NumpyArray, "P"]], list[float]]:
    """β's step from the sum of Schur complements, then every pose's."""
    found = [
        equations(model, state, body, scan, stage)
        for state, body, scan in zip(states, posed, scans, strict=True)
    ]
    shapes = found[0][0].shapes
    matrix = PRIOR * np.eye(shapes)
    right = -PRIOR * states[0].shape[:shapes]
    kept = []
    for rows, _ in found:
        own = np.flatnonzero(rows.used[shapes:]) + shapes
        across = rows.matrix[np.ix_(own, np.arange(shapes))]
        block = rows.matrix[np.ix_(own, own)].copy()
        both = solved_damped(block, np.column_stack([across, rows.right[own]]))
        matrix += rows.matrix[:shapes, :shapes] - across.T @ both[:, :shapes]
        right += rows.right[:shapes] - across.T @ both[:, shapes]
        kept.append((own, both))
    beta = solved_damped(matrix, right) if shapes else right
    steps = []
    for (rows, _), (own, both) in zip(found, kept, strict=True):
        step = np.zeros(len(rows.right))
        step[:shapes] = beta
        step[own] = both[:, shapes] - both[:, :shapes] @ beta
        steps.append(limited(step, shapes))
    return steps, [value for _, value in found]


def person_mesh(
    model: PersonModel, coupled: list[Coupled], seen: list[Bool[NumpyArray, "V"]]
) -> Identity:
    """The person's own rest mesh: what best explains all coupled meshes, smoothly."""
    from scipy.sparse.linalg import splu

    shape = coupled[0].state.shape
    rest = model.space.vertices(shape)
    count = len(rest)
    mass, pull = np.full(count, 1e-3), np.zeros((count, 3))
    for one, shown in zip(coupled, seen, strict=True):
        blended = model.posed(one.state).blend.blended
        offset = one.vertices - one.model_vertices
        # B is nearly a rotation: Bᵀ U is the offset in the zero pose
        back = np.einsum("vji,vj->vi", blended, offset)
        size = np.maximum(np.einsum("vij,vij->v", blended, blended) / 3.0, 0.25)
        mass += shown * size
        pull += shown[:, None] * back
    laplacian = edge_laplacian(model.template, rest)
    system = csc_array(_SMOOTH * len(coupled) * laplacian + diags_array(mass))
    offsets = splu(system, permc_spec="MMD_AT_PLUS_A").solve(pull)
    joints = model.space.joints(shape)
    ground = np.array([0.0, (rest + offsets)[:, 1].min(), 0.0])
    return Identity(rest + offsets - ground, joints - ground, {})
