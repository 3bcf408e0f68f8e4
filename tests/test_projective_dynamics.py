"""Projective Dynamics against closed forms and conservation laws."""

import numpy as np
import pytest
from constraints.anchor import anchor_constraint
from constraints.spring import spring_constraint
from flesh import bar

from corporeal.errors import InputError
from corporeal.physics.materials import (
    Material,
    damping_from_velocity_share,
    stiffness_from_strain_weight,
)
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.integration import (
    State,
    StepRule,
    rebased,
    resting,
)
from corporeal.physics.solver.prestress import balancing_stress, natural_stretch
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

GRAVITY = np.array([0.0, -9.81, 0.0])
NOWHERE = np.empty((0, 3))
SOLVERS = {"reference": ReferenceSolver, "cpu": CpuSolver}


def solid(
    anchored: np.ndarray | None = None, stiffness: float = 2e4, cells=(3, 2, 2)
) -> tuple[np.ndarray, System]:
    """A bar of 0.3 × 0.1 × 0.1 m."""
    rest, tetrahedra = bar(cells, (0.3, 0.1, 0.1))
    held = np.zeros(len(rest), bool) if anchored is None else anchored
    masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
    return rest, System(masses, held, (strain_constraint(rest, tetrahedra, stiffness),))


def held_bar(cells=(6, 2, 2), stiffness: float = 2e4) -> tuple[np.ndarray, System]:
    """The bar with its end x = 0 held."""
    rest, _ = bar(cells, (0.3, 0.1, 0.1))
    return solid(rest[:, 0] == 0, stiffness, cells)


def oscillator(stiffness: float = 40.0) -> System:
    """One kilogram drawn to the origin by `stiffness` N/m: a linear spring."""
    anchor = anchor_constraint(np.array([0]), np.zeros((1, 3)), stiffness, 1)
    return System(np.ones(1), np.zeros(1, bool), (anchor,))


def swing(rule: StepRule, steps: int, stiffness: float = 40.0) -> np.ndarray:
    """x of the oscillator, let go at 1 m."""
    solver = ReferenceSolver(oscillator(stiffness), rule)
    state, places = resting(np.array([[1.0, 0, 0]]), rule.step), []
    for _ in range(steps):
        state = solver.step(state, NOWHERE)
        places.append(state.positions[0, 0])
    return np.array(places)


@pytest.mark.parametrize("name", SOLVERS)
def test_free_fall(name: str) -> None:
    """Without anchors z = g t²/2 + (first-order start) and no strain: implicit Euler gives exactly
    g h² n(n+1)/2 for every vertex."""
    rest, system = solid()
    rule = StepRule(0.01, 3, integrator="implicit-euler")
    solver = SOLVERS[name](system, rule)
    state = resting(rest, rule.step)
    for _ in range(20):
        state = solver.step(state, NOWHERE, system.masses[:, None] * GRAVITY)
    fallen = GRAVITY * 0.01**2 * 20 * 21 / 2
    np.testing.assert_allclose(state.positions - rest, np.tile(fallen, (len(rest), 1)), atol=2e-6)


def test_free_fall_of_the_default_rule() -> None:
    """BDF2 is of second order, so that after its first step it falls by g t²/2 up to O(h²)."""
    rest, system = solid()
    errors = []
    for step in (0.01, 0.005):
        solver = ReferenceSolver(system, StepRule(step, 2))
        state = resting(rest, step)
        for _ in range(round(0.4 / step)):
            state = solver.step(state, NOWHERE, system.masses[:, None] * GRAVITY)
        errors.append(abs((state.positions - rest)[0, 1] + 9.81 * 0.4**2 / 2))
    assert errors[0] < 9.81 * 0.01 * 0.4
    assert errors[1] < 0.6 * errors[0]


def test_euler_oscillator_follows_its_recurrence() -> None:
    """(1 + ω²h²) x_{n+1} = x_n + h μ-damped velocity: exactly, with drag d as μ = 1/(1 + d h)."""
    step, drag, stiffness = 0.02, 1.5, 40.0
    rule = StepRule(step, 1, damping=drag, integrator="implicit-euler")
    places = swing(rule, 100, stiffness)
    before, now, expected = 1.0, 1.0, []
    for _ in range(100):
        kept = 1 + drag * step
        after = ((1 + kept) * now - before) / (kept + stiffness * step**2)
        before, now = now, after
        expected.append(after)
    np.testing.assert_allclose(places, expected, rtol=0, atol=1e-12)


def test_spring_has_its_period_and_decay() -> None:
    """x = e^{−dt/2} (cos ωt + d/2ω sin ωt), ω² = k/m − d²/4. BDF2 starts from a past
    without acceleration, which shifts the phase by less than ωh/2, and errs by (ωh)² after."""
    step, drag, stiffness = 1 / 240, 2.0, 40.0
    places = swing(StepRule(step, 1, damping=drag), 480, stiffness)
    time = step * np.arange(1, 481)
    omega = np.sqrt(stiffness - drag**2 / 4)
    exact = np.exp(-drag * time / 2) * (
        np.cos(omega * time) + drag / (2 * omega) * np.sin(omega * time)
    )
    assert np.abs(places - exact).max() < 0.5 * omega * step + 4 * (omega * step) ** 2
    late = np.abs(places[-120:]).max() / np.abs(exact[-120:]).max()
    assert late == pytest.approx(1.0, abs=0.02)


def test_nonlinear_spring_mass_hangs_where_it_must() -> None:
    """A mass on a spring with EA/L = 50 N/m rests m g/k below its length."""
    rest = np.array([[0.0, 0, 0], [0, -0.5, 0]])
    spring = spring_constraint(rest, np.array([[0, 1]]), 25.0)
    system = System(np.array([0.0, 1.0]), np.array([True, False]), (spring,))
    solver = ReferenceSolver(system, StepRule(0.02, 10, damping=8.0))
    state = resting(rest, 0.02)
    for _ in range(400):
        state = solver.step(state, rest[:1], np.array([[0.0, 0, 0], GRAVITY]))
    assert state.positions[1, 1] == pytest.approx(-0.5 - 9.81 / 50.0, abs=1e-9)


@pytest.mark.parametrize("name", SOLVERS)
def test_momentum_is_conserved_without_anchors(name: str) -> None:
    """Internal forces sum to zero: a shaken free bar keeps Σ m v, in every iteration count.

    The CPU solver keeps it to float32 of the largest momentum.
    """
    rest, system = solid()
    solver = SOLVERS[name](system, StepRule(0.01, 2))
    random = np.random.default_rng(5)
    state = resting(rest, 0.01, random.normal(size=rest.shape))
    before = system.masses @ state.velocities
    for _ in range(30):
        state = solver.step(state, NOWHERE)
    scale = (system.masses[:, None] * np.abs(state.velocities)).sum()
    tolerance = 1e-9 if name == "reference" else 3e-5
    np.testing.assert_allclose(system.masses @ state.velocities, before, atol=tolerance * scale)


def test_energy_never_grows_in_implicit_euler() -> None:
    """½ m v² + W falls in every step for quadratic W with a fixed anchor: ω h = 0.6."""
    rule = StepRule(0.1, 1, integrator="implicit-euler")
    solver, state = ReferenceSolver(oscillator(36.0), rule), resting(np.array([[1.0, 0, 0]]), 0.1)
    energies = [18.0]
    for _ in range(80):
        state = solver.step(state, NOWHERE)
        energies.append(0.5 * (state.velocities**2).sum() + solver.energy(state.positions))
    assert (np.diff(energies) <= 0).all()


def test_energy_never_grows_in_bdf2() -> None:
    """Dahlquist's energy of BDF2, (|u_n|² + |2u_n − u_{n−1}|²)/4, falls for quadratic W."""
    solver = ReferenceSolver(oscillator(36.0), StepRule(0.1, 1))
    state = resting(np.array([[1.0, 0, 0]]), 0.1)

    def energy(x: np.ndarray, v: np.ndarray) -> float:
        return float(18.0 * (x**2).sum() + 0.5 * (v**2).sum())

    energies = []
    for _ in range(80):
        state = solver.step(state, NOWHERE)
        doubled = energy(
            2 * state.positions - state.earlier_positions,
            2 * state.velocities - state.earlier_velocities,
        )
        energies.append((energy(state.positions, state.velocities) + doubled) / 4)
    assert (np.diff(energies) <= 1e-12).all()


def test_shaken_bar_with_fixed_end_loses_energy() -> None:
    """The nonlinear bar too: kinetic and strain energy together fall from step to step."""
    rest, system = held_bar()
    solver = ReferenceSolver(system, StepRule(0.01, 20, integrator="implicit-euler"))
    state = resting(rest, 0.01, np.random.default_rng(6).normal(size=rest.shape))
    energies = []
    for _ in range(40):
        state = solver.step(state, rest[system.anchored])
        kinetic = 0.5 * system.masses @ (state.velocities**2).sum(axis=1)
        energies.append(kinetic + solver.energy(state.positions))
    assert (np.diff(energies) < 1e-9 * energies[0]).all()


@pytest.mark.parametrize("name", SOLVERS)
def test_hanging_bar(name: str) -> None:
    """Held at the top, u(s) = ρ g (L s − s²/2)/E below it, exactly, as the material has no Poisson
    effect. Lumped masses are off by the cell size squared: (1/24)² of the sag and less."""
    rest, system = held_bar((24, 1, 1), stiffness=2e4)
    solver = SOLVERS[name](system, StepRule(1.0, 400, integrator="static"))
    pull = system.masses[:, None] * np.array([9.81, 0, 0])
    state = resting(rest, 1.0)
    for _ in range(4):
        state = solver.step(state, rest[system.anchored], pull)
    length, depth = 0.3, rest[:, 0]
    exact = 1000 * 9.81 * (length * depth - depth**2 / 2) / 2e4
    sag = (state.positions - rest)[:, 0]
    assert exact.max() == pytest.approx(0.0220725)
    np.testing.assert_allclose(sag, exact, atol=0.02 * exact.max())
    middle = sag[np.isclose(depth, length)].mean()
    assert middle == pytest.approx(exact.max(), rel=1e-3)


def test_cpu_matches_the_reference_after_sixty_steps() -> None:
    """Within 1e-4 of the body's height, 0.3 m, under gravity, drag and a moving anchor."""
    rest, system = held_bar((12, 3, 3))
    rule = StepRule(1 / 120, 5, damping=5.0)
    states: dict[str, State] = {}
    for name, solver_of in SOLVERS.items():
        solver, state = solver_of(system, rule), resting(rest, rule.step)
        for frame in range(60):
            anchors = rest[system.anchored] + [0, 0.05 * np.sin(0.3 * frame), 0]
            state = solver.step(state, anchors, system.masses[:, None] * GRAVITY)
        states[name] = state
    moved = np.abs(states["reference"].positions - rest).max()
    difference = np.abs(states["cpu"].positions - states["reference"].positions).max()
    assert moved > 0.01
    assert difference < 1e-4 * 0.3


def test_cpu_takes_other_constraints_along() -> None:
    """Strain with springs and soft anchors: the same as the reference to float32."""
    rest, system = held_bar()
    pairs = np.array([[0, len(rest) - 1]])
    anchor = anchor_constraint(np.array([len(rest) - 1]), rest[-1:] + 0.05, 30.0, len(rest))
    more = System(
        system.masses,
        system.anchored,
        (*system.constraints, spring_constraint(rest, pairs, 10.0), anchor),
    )
    rule = StepRule(0.01, 5)
    results = []
    for solver in (ReferenceSolver(more, rule), CpuSolver(more, rule, polar_tolerance=1e-7)):
        state = resting(rest, 0.01)
        for _ in range(20):
            state = solver.step(state, rest[more.anchored])
        results.append(state.positions)
    assert np.abs(results[0] - rest).max() > 1e-3
    np.testing.assert_allclose(results[1], results[0], atol=1e-5)


def test_acceleration_finds_the_same_shape_in_half_the_iterations() -> None:
    """Static sag of a bar: 12 accelerated iterations are closer to the end than 24 plain ones, and
    the end is the same."""
    rest, system = held_bar((6, 2, 2), stiffness=2e5)
    pull, anchors = system.masses[:, None] * GRAVITY, rest[system.anchored]

    def sagged(iterations: int, accelerated: bool) -> np.ndarray:
        rule = StepRule(1.0, iterations, integrator="static")
        solver = CpuSolver(system, rule, 1e-7, accelerated)
        return solver.step(resting(rest, 1.0), anchors, pull).positions

    end = sagged(2000, False)
    assert np.abs(sagged(200, True) - end).max() < 1e-5
    errors = [np.abs(sagged(*way) - end).max() for way in ((12, True), (24, False))]
    assert errors[0] < errors[1]


def test_cpu_refuses_what_it_cannot_speed_up() -> None:
    with pytest.raises(InputError, match="no tetrahedral strain"):
        CpuSolver(oscillator(), StepRule(0.1))


@pytest.mark.parametrize("name", SOLVERS)
def test_crushed_and_inverted_elements_come_back(name: str) -> None:
    """From a bar turned inside out, crushed flat or to a point, static iterations find the rest."""
    rest, system = held_bar((3, 1, 1))
    solver = SOLVERS[name](system, StepRule(1.0, 300, integrator="static"))
    for squash in ([-1.0, 1, 1], [0.0, 1, 1], [0.0, 0, 0], [-2.0, -2, -2]):
        start = np.where(system.anchored[:, None], rest, rest * squash)
        state = solver.step(resting(start, 1.0), rest[system.anchored])
        assert np.isfinite(state.positions).all()
        assert np.abs(state.positions - rest).max() < 1e-3


def test_rest_shape_is_neutral_under_gravity() -> None:
    """With its natural stretches the bar stands still at 1 g, in any iteration count; turned upside
    down it sags further than a bar without them."""
    rest, tetrahedra = bar((6, 2, 2), (0.3, 0.1, 0.1))
    held = rest[:, 0] == 0
    masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
    plain = strain_constraint(rest, tetrahedra, 2e5)
    weight = masses[:, None] * GRAVITY
    stretch = natural_stretch(balancing_stress(plain, held, weight))
    neutral = System(masses, held, (strain_constraint(rest, tetrahedra, 2e5, stretch),))
    rule = StepRule(1 / 120, 5, damping=10.0)
    solver, state = ReferenceSolver(neutral, rule), resting(rest, rule.step)
    for _ in range(60):
        state = solver.step(state, rest[held], weight)
    assert np.abs(state.positions - rest).max() < 1e-7
    still = StepRule(1.0, 300, integrator="static")
    over = ReferenceSolver(neutral, still).step(resting(rest, 1.0), rest[held], -weight)
    alone = System(masses, held, (plain,))
    under = ReferenceSolver(alone, still).step(resting(rest, 1.0), rest[held], -weight)
    tip = np.isclose(rest[:, 0], 0.3)
    assert (over.positions - rest)[tip, 1].mean() > 1.3 * (under.positions - rest)[tip, 1].mean()


def test_massless_vertices_follow() -> None:
    """Vertices without mass stand in static balance with their neighbours at every step."""
    rest, system = held_bar()
    masses = system.masses.copy()
    light = np.isclose(rest[:, 0], 0.15)
    masses[light] = 0
    lighter = System(masses, system.anchored, system.constraints)
    solver = ReferenceSolver(lighter, StepRule(0.01, 30))
    state = resting(rest, 0.01)
    for _ in range(10):
        state = solver.step(state, rest[system.anchored], masses[:, None] * GRAVITY)
    strain = system.constraints[0]
    values = strain.matrix @ state.positions
    force = strain.matrix.T @ (strain.weights[:, None] * (strain.project(values) - values))
    assert np.abs(state.positions - rest).max() > 1e-3
    assert np.abs(force[light]).max() < 1e-3 * np.abs(force).max()


@pytest.mark.parametrize("fps", [24, 25, 30, 50, 60, 90, 100, 120])
def test_swing_does_not_depend_on_the_frame_rate(fps: int) -> None:
    """Steps of at most 1/120 s that divide a frame: frequency and decay of a 5 Hz swing within 5 %
    of the exact ones, at every frame rate."""
    count = -(-120 // fps)
    step = 1 / (fps * count)
    stiffness, drag = (2 * np.pi * 5) ** 2, 4.0
    places = swing(StepRule(step, 1, damping=drag), round(1.0 / step), stiffness)
    time = step * np.arange(1, len(places) + 1)
    crossings = np.flatnonzero(np.diff(np.sign(places)))
    between = time[crossings] - places[crossings] * step / np.diff(places)[crossings]
    frequency = 0.5 / np.diff(between).mean()
    assert frequency == pytest.approx(np.sqrt(stiffness - drag**2 / 4) / (2 * np.pi), rel=0.05)
    peaks = np.abs(places[1:-1])[np.diff(np.sign(np.diff(places))) != 0]
    halves = np.log(peaks[0] / peaks[-1]) / (len(peaks) - 1)
    amplitude = np.exp(-halves) / np.exp(-drag / 2 * 0.5 / frequency)
    assert amplitude == pytest.approx(1.0, abs=0.05)


def test_a_state_goes_on_with_another_step() -> None:
    """Rebasing keeps the acceleration: a falling body's past lies on the same parabola."""
    time, step = 1.0, 0.01
    place, speed = lambda t: GRAVITY * t**2 / 2, lambda t: GRAVITY * t
    state = State(*(f(time - s)[None] for s in (0, step) for f in (place, speed)), step)
    other = rebased(state, 0.004)
    np.testing.assert_allclose(other.earlier_positions[0], place(time - 0.004), atol=1e-12)
    np.testing.assert_allclose(other.earlier_velocities[0], speed(time - 0.004), atol=1e-12)


def test_the_seeds_numbers_in_si() -> None:
    """85 at δt 0.2 is 12.24 kPa at 60 frames a second, and μ = 1 no damping."""
    assert stiffness_from_strain_weight(85.0, 1 / 60) == pytest.approx(12_240.0)
    assert damping_from_velocity_share(1.0, 1 / 60) == 0.0
    assert damping_from_velocity_share(0.5, 0.01) == pytest.approx(100.0)


@pytest.mark.parametrize(
    "wrong", [{"stiffness": 0.0}, {"density": -1.0}, {"damping_ratio": np.nan}]
)
def test_impossible_materials_are_refused(wrong: dict[str, float]) -> None:
    with pytest.raises(InputError, match=f"material has {next(iter(wrong))}"):
        Material(**wrong)


@pytest.mark.parametrize("wrong", [{"step": 0.0}, {"iterations": 0}, {"damping": -1.0}])
def test_impossible_steps_are_refused(wrong: dict) -> None:
    with pytest.raises(InputError, match=next(iter(wrong))):
        StepRule(**{"step": 0.01, **wrong})


def test_impossible_systems_are_refused() -> None:
    rest, system = solid()
    with pytest.raises(InputError, match="vertex mass is -1"):
        System(-np.ones(len(rest)), system.anchored, system.constraints)
    with pytest.raises(InputError, match="expected as many"):
        System(np.ones(3), np.zeros(3, bool), system.constraints)
