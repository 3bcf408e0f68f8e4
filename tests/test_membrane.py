"""The skin as a membrane: what damps its creases, and how it comes to its limit."""

import math
from dataclasses import replace

import numpy as np
import pytest

from corporeal.physics.solver.constraints.strain import StrainConstraint, strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.gpu.creasing import creasing_forces
from corporeal.physics.solver.gpu.elements import elements_of, flesh_of, system_matrix
from corporeal.physics.solver.gpu.solver import GpuSolver
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.membrane import CREASING, membrane_of
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System
from corporeal.physics.untangling.cpu import CompiledUntangling
from corporeal.physics.untangling.gpu import limits_after
from corporeal.physics.untangling.reference import (
    COMES,
    PULLED_TO,
    STIFFENS,
    Untangling,
    untangling_of,
)

SIDE, STEP = 7, 1 / 120
RULE = StepRule(STEP, 40, 0.0, "bdf2", viscosity=0.006)


def slab() -> tuple[System, np.ndarray]:
    """Columns of flesh, 2 cm wide and high, between anchors below and skin above."""
    grid = np.stack(np.meshgrid(np.arange(SIDE), np.arange(SIDE), indexing="ij"), -1).reshape(-1, 2)
    above = np.concatenate([0.02 * grid, np.full((len(grid), 1), 0.02)], axis=1)
    points = np.concatenate([above, above * [1.0, 1.0, 0.0]])
    corner = (np.arange(SIDE - 1)[:, None] * SIDE + np.arange(SIDE - 1)).ravel()
    a, b, c, d = corner, corner + SIDE, corner + SIDE + 1, corner + 1
    skin = np.concatenate([np.stack([a, b, c], 1), np.stack([a, c, d], 1)])
    below = skin + len(grid)
    (i, j, k), (u, v, w) = skin.T, below.T
    tetrahedra = np.concatenate(
        [np.stack(t, 1) for t in ((u, v, w, k), (u, v, k, j), (u, j, k, i))]
    )
    edges = points[tetrahedra[:, 1:]] - points[tetrahedra[:, :1]]
    turned = np.linalg.det(edges) < 0
    tetrahedra[turned] = tetrahedra[turned][:, [1, 0, 2, 3]]
    strain = strain_constraint(points, tetrahedra, 1e4)
    anchored = np.arange(len(points)) >= len(grid)
    masses = np.where(anchored, 0.0, 4e-3)
    membrane = membrane_of(points, skin, strain, anchored)
    return System(masses, anchored, (strain,), untangled=True, membrane=membrane), points


MIDDLE = SIDE * (SIDE // 2) + SIDE // 2


def test_a_vertex_alone_is_damped_by_its_own_row_and_those_of_its_neighbours():
    """u of one vertex: b (K_i + Σ_j K_j/n_j²) u²/2 of energy; six neighbours, of six each."""
    system, _ = slab()
    assert system.membrane is not None
    stiffness, damping = system.membrane.stiffness, system.membrane.damping(system.free)
    near = [MIDDLE + step for step in (1, -1, SIDE, -SIDE, SIDE + 1, -SIDE - 1)]
    expected = CREASING * (stiffness[MIDDLE] + stiffness[near].sum() / 36.0)
    assert damping[MIDDLE, MIDDLE] == pytest.approx(expected, rel=1e-12)


def test_skin_that_moves_alike_and_slopes_are_not_damped():
    """Inside a regular mesh neither a shift nor a tilt is a crease."""
    system, points = slab()
    assert system.membrane is not None
    rows = system.membrane.differences()
    inside = np.flatnonzero(
        (points[: SIDE**2, :2] > 0.01).all(1) & (points[: SIDE**2, :2] < 0.11).all(1)
    )
    for moved in (np.ones(len(points)), points[:, 0], points[:, 1] - 2.0 * points[:, 0]):
        np.testing.assert_allclose((rows @ moved)[inside], 0.0, atol=1e-15)


def test_stiffness_is_the_least_around_a_vertex_and_none_of_anchors():
    system, _ = slab()
    strain, membrane = system.constraints[0], system.membrane
    assert isinstance(strain, StrainConstraint)
    assert membrane is not None
    held = np.asarray((strain.matrix.multiply(strain.matrix)).T @ strain.weights).ravel()
    near = [MIDDLE + step for step in (0, 1, -1, SIDE, -SIDE, SIDE + 1, -SIDE - 1)]
    assert membrane.stiffness[MIDDLE] == pytest.approx(held[near].min(), rel=1e-12)
    assert (membrane.stiffness[system.anchored] == 0.0).all()


def test_a_crease_dies_down_where_a_wave_of_all_swings_on():
    """A step after both begin with the same speed, a vertex alone has lost several times as much of
    it as skin that moves as one, against the same flesh that is not damped."""
    system, points = slab()
    plain = replace(system, membrane=None)

    def left(which: np.ndarray, flesh: System) -> float:
        velocities = np.zeros_like(points)
        velocities[which, 2] = 0.05
        state = resting(points, STEP, velocities)
        state = ReferenceSolver(flesh, RULE).step(state, points[system.anchored])
        return float(state.velocities[MIDDLE, 2]) / 0.05

    alone, together = np.array([MIDDLE]), np.arange(SIDE**2)
    assert left(together, system) == pytest.approx(left(together, plain), abs=0.02)
    assert left(alone, system) < 0.5 * left(alone, plain)


def test_static_flesh_and_plain_flesh_are_not_damped():
    """Static balance is that of strain alone, and so is flesh that may turn inside out."""
    system, _ = slab()
    assert system.creasing(1.0) is None
    assert replace(system, untangled=False).creasing(1.7) is None
    assert system.creasing(1.7) is not None


def test_compiled_and_device_solvers_damp_creases_as_the_reference_does():
    """Shaken skin, six steps: to single precision of what moves."""
    system, points = slab()
    random = np.random.default_rng(0)
    start = points.copy()
    start[: SIDE**2] += 1e-3 * random.standard_normal((SIDE**2, 3))
    anchors = points[system.anchored]

    def ended(solver) -> np.ndarray:
        state = resting(start, STEP)
        for number in range(6):
            moved = anchors + np.array([0.0, 0.0, 1e-3 * number])
            carried = np.full_like(points, [0.0, 0.0, 1e-3 / STEP])
            state = solver.step(state, moved, carried=carried)
        return state.positions

    reference = ended(ReferenceSolver(system, RULE))
    undamped = ended(ReferenceSolver(replace(system, membrane=None), RULE))
    assert np.abs(reference - undamped).max() > 1e-4
    np.testing.assert_allclose(ended(CpuSolver(system, RULE)), reference, atol=2e-7)
    np.testing.assert_allclose(ended(GpuSolver(system, RULE, points)), reference, atol=2e-7)


def test_a_device_has_the_same_matrix_and_forces():
    system, points = slab()
    order = np.concatenate([system.free[::-1], np.flatnonzero(system.anchored)])
    elements, free = elements_of(system, order), len(system.free)
    matrix = system_matrix(elements, RULE.inertia, len(points), RULE.stiffening).toarray()
    expected = system.matrix(RULE.inertia, RULE.stiffening).toarray()[::-1, ::-1]
    np.testing.assert_allclose(matrix, expected, rtol=2e-6, atol=1e-6 * expected.max())
    assert system.membrane is not None
    moved = np.random.default_rng(1).standard_normal((free, 3))
    forces = np.asarray(creasing_forces(flesh_of(elements), moved.T[..., None].astype(np.float32)))
    damping = system.membrane.damping(system.free).toarray()[::-1, ::-1]
    np.testing.assert_allclose(forces[..., 0].T, -damping @ moved, rtol=1e-4, atol=1e-2)


def stretched(by: float) -> np.ndarray:
    """The slab, drawn out along x."""
    return slab()[1] * [by, 1.0, 1.0]


def untangling() -> Untangling:
    found = untangling_of(slab()[0])
    assert found is not None
    return found


@pytest.mark.parametrize("by", [0.8, 1.2, 1.3, 1.6, 1.9, 2.4])
def test_an_edge_comes_to_its_limit_by_a_share_of_what_is_left(by: float):
    """Along x, in a step of a sixth of the time T: s + (1 − e^(−1/6)) (τ − s)."""
    skin = untangling()
    limits = skin.limits_after(stretched(by), COMES / 6.0) / skin.lengths
    points = slab()[1]
    along = np.abs(np.ptp(points[skin.edges], axis=1)) @ [0.0, 1.0, 1.0] < 1e-9
    begun = min(max(by, STIFFENS), PULLED_TO)
    expected = begun + (1.0 - math.exp(-1.0 / 6.0)) * (PULLED_TO - begun)
    np.testing.assert_allclose(limits[along], expected, rtol=1e-12)


def test_steps_of_any_length_come_as_near_in_the_same_time():
    skin = untangling()
    coarse = skin.limits_after(stretched(1.5), 1 / 60)
    half = skin.limits_after(stretched(1.5), 1 / 120) / skin.lengths
    fine = half + (1.0 - math.exp(-1 / 120 / COMES)) * (PULLED_TO - half)
    np.testing.assert_allclose(coarse / skin.lengths, fine, rtol=1e-12)


def test_compiled_and_device_limits_are_the_reference_s():
    system, _ = slab()
    skin = untangling()
    before = stretched(1.5)
    before[: SIDE**2] += 2e-3 * np.random.default_rng(2).standard_normal((SIDE**2, 3))
    expected = skin.limits_after(before, STEP)
    order = np.concatenate([system.free, np.flatnonzero(system.anchored)])
    compiled = CompiledUntangling(skin, np.argsort(order), len(system.free))
    compiled.begin(before[order], STEP)
    np.testing.assert_allclose(compiled.limits, expected, rtol=1e-12)
    flesh = flesh_of(elements_of(system, order))
    there = np.asarray(limits_after(flesh, before[order].T[..., None].astype(np.float32), STEP))
    known = {(int(i), int(j)): limit for (i, j), limit in zip(skin.edges, expected, strict=True)}
    assert flesh.ends is not None
    assert flesh.lengths is not None
    for i, (ends, lengths) in enumerate(zip(flesh.ends, flesh.lengths, strict=True)):
        for slot in np.flatnonzero(lengths > 0):
            pair = (min(i, int(ends[slot])), max(i, int(ends[slot])))
            assert there[i, slot, 0] == pytest.approx(known[pair], rel=1e-5)


def test_skin_that_is_drawn_out_fast_is_held_back_and_held_skin_is_not():
    """A step from rest may end less stretched than skin that is held."""
    skin = untangling()
    before, far = slab()[1], stretched(2.5)
    limits = skin.limits_after(before, STEP)
    moving, held = far.copy(), far.copy()
    skin.untangle(moving, limits=limits)
    skin.untangle(held)

    def stretch(positions: np.ndarray) -> float:
        ends = positions[skin.edges]
        return float(np.median(np.linalg.norm(ends[:, 1] - ends[:, 0], axis=1) / skin.lengths))

    assert stretch(moving) < stretch(held) <= stretch(far)
