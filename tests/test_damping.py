"""Damping ratios of the solvers against the characteristic polynomial of a step."""

import jax.numpy as jnp
import numpy as np
import pytest
from flesh import bar

from corporeal.errors import InputError
from corporeal.physics.fast_projective_skinning.controls import LARGEST_STEP, ProjectiveControls
from corporeal.physics.fast_projective_skinning.gpu.materials import MaterialTake, simulated
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.damping import (
    damped_rule,
    slowest_decay,
    swing_frequency,
    swing_ratio,
)
from corporeal.physics.solver.gpu.elements import elements_of, flesh_of
from corporeal.physics.solver.gpu.solver import GpuSolver, device_order
from corporeal.physics.solver.integration import State, StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

FREQUENCIES = (1.0, 2.0, 3.0, 5.0, 8.0, 10.0)
CORNERS = np.array([[0.0, 0, 0], [1, 0, 0], [0, 0, 1], [0, 1, 0]])
"""Metres: the last corner stands one metre above the others."""


def oscillator(frequency: float) -> System:
    """A corner of one kilogram above three anchors: drawn up it swings with `frequency` Hz, exactly
    linearly, since W = k/2 (y − 1)²; drawn aside √2 times more slowly, since it then strains and
    turns in equal shares."""
    stiffness = 6.0 * (2.0 * np.pi * frequency) ** 2  # E V = ω² m · 1 m², V = 1/6 m³
    strain = strain_constraint(CORNERS, np.array([[0, 1, 2, 3]]), stiffness)
    masses = np.array([0.0, 0.0, 0.0, 1.0])
    return System(masses, np.array([True, True, True, False]), (strain,))


def solver_of(name: str, system: System, rule: StepRule, rest: np.ndarray):
    if name == "gpu":
        return GpuSolver(system, rule, rest)
    return {"reference": ReferenceSolver, "cpu": CpuSolver}[name](system, rule)


def swung(name: str, system: System, rule: StepRule, pull: np.ndarray, steps: int) -> np.ndarray:
    """How far the corner is from rest after every step, along the `pull` (metres) it is let go
    from."""
    solver = solver_of(name, system, rule, CORNERS)
    state = resting(CORNERS + np.outer(system.masses, pull), rule.step)
    places = []
    for _ in range(steps):
        state = solver.step(state, CORNERS[:3])
        places.append((state.positions[3] - CORNERS[3]) @ pull / np.linalg.norm(pull))
    return np.array(places)


def measured(places: np.ndarray, step: float) -> tuple[float, float]:
    """Ratio and frequency (Hz): x_{n+1} = 2 Re q x_n − |q|² x_{n−1} fitted to the places, whose
    logarithmic decrement a step is −ln |q|."""
    rows = np.stack([places[1:-1], places[:-2]], axis=1)
    double, square = np.linalg.lstsq(rows, places[2:], rcond=None)[0]
    rate = np.log(complex(double, np.sqrt(-4 * square - double**2)) / 2) / step
    return -rate.real / abs(rate), abs(rate.imag) / (2 * np.pi)


@pytest.mark.parametrize("frequency", FREQUENCIES)
@pytest.mark.parametrize("name", ["reference", "cpu", "gpu"])
def test_swings_have_the_ratio_that_was_asked_for(name: str, frequency: float) -> None:
    """The logarithmic decrement is that of the polynomial's root, between ζ and 2ζ.

    The other two roots fall by 2 more in a step at 10 Hz and by 2.9 at 1 Hz: to 1e-5 of the swing
    after 15 steps. In float32 a place of 1 m is rounded by 1e-7 m, and the least swing that is
    fitted is of 0.2 m · 0.85³⁶ = 6e-4 m.
    """
    ratio = ProjectiveControls().damping_ratio
    rule = damped_rule(LARGEST_STEP, 2, ratio)
    found = swung(name, oscillator(frequency), rule, np.array([0.0, 0.2, 0.0]), 36)[15:]
    decay, swings = measured(found, rule.step)
    assert ratio <= decay <= 2 * ratio
    accuracy = 1e-5 if name == "reference" else 2e-3
    assert decay == pytest.approx(swing_ratio(frequency, rule), rel=accuracy)
    assert swings == pytest.approx(swing_frequency(frequency, rule), rel=accuracy)


@pytest.mark.parametrize("frequency", [1.0, 3.0, 10.0])
def test_shear_is_damped_like_stretch(frequency: float) -> None:
    """Aside the corner swings at f/√2 with the ratio of that frequency: viscosity goes by the
    stiffness against strain, not by Qᵀ W Q, which resists turning as well and is twice as much.

    Strain of amplitude a is linear to a² = 10⁻⁶; 60 iterations leave 2⁻⁶⁰."""
    rule = damped_rule(LARGEST_STEP, 60, 0.2)
    system = oscillator(np.sqrt(2.0) * frequency)
    found = swung("reference", system, rule, np.array([1e-3, 0.0, 0.0]), 36)[15:]
    decay, swings = measured(found, rule.step)
    assert decay == pytest.approx(swing_ratio(frequency, rule), rel=1e-4)
    assert swings == pytest.approx(swing_frequency(frequency, rule), rel=1e-4)


@pytest.mark.parametrize("step", [1 / 120, 1 / 125, 1 / 150, 1 / 200, 1 / 240, 1 / 1000])
@pytest.mark.parametrize("ratio", [0.05, 0.1, 0.2, 0.3, 0.4])
def test_the_ratio_holds_over_the_band(ratio: float, step: float) -> None:
    """Between ζ and 2ζ from 1 to 10 Hz, with the integrator's own, at every step that is taken."""
    rule = damped_rule(step, 5, ratio)
    found = np.array([swing_ratio(f, rule) for f in np.geomspace(1.0, 10.0, 60)])
    assert (found >= ratio).all()
    assert (found <= 2 * ratio).all()


def test_the_integrators_own_damping() -> None:
    """Undamped, BDF2 has (ωh)³/4 up to a share of 3 (ωh)², implicit Euler ωh/2 likewise."""
    for angle in (0.1, 0.2):
        frequency, step = angle / (2 * np.pi), 1.0
        own = swing_ratio(frequency, StepRule(step))
        assert own == pytest.approx(angle**3 / 4, rel=3 * angle**2)
        euler = swing_ratio(frequency, StepRule(step, integrator="implicit-euler"))
        assert euler == pytest.approx(angle / 2, rel=angle**2)


def test_steps_are_stable_however_stiff() -> None:
    """No swing grows: ratios are above 0 for every frequency, drag and viscosity."""
    random = np.random.default_rng(3)
    for _ in range(2000):
        step, frequency, drag, viscosity = 10 ** random.uniform([-4, -2, -3, -5], [0, 5, 4, 2])
        rule = StepRule(step, 1, drag, viscosity=viscosity)
        assert swing_ratio(frequency, rule) > 0


def test_slowest_decay_is_that_of_the_polynomial() -> None:
    """At 1 Hz steps of 1/1000 s decay like continuous time, to ωh."""
    rule = damped_rule(1e-3, 1, 0.2)
    decay = 2 * np.pi * swing_ratio(1.0, rule)
    assert slowest_decay(0.2) == pytest.approx(decay, rel=2 * np.pi * 1e-3)


def solid(held: bool) -> tuple[np.ndarray, System]:
    """A bar of 0.3 × 0.1 × 0.1 m, with its end x = 0 `held`."""
    rest, tetrahedra = bar((6, 2, 2), (0.3, 0.1, 0.1))
    masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
    anchored = (rest[:, 0] == 0) & held
    return rest, System(masses, anchored, (strain_constraint(rest, tetrahedra, 2e4),))


def moved_on(places: np.ndarray, masses: np.ndarray, seconds: float) -> np.ndarray:
    """Places (metres) that turned about y through their centre of mass, once a second, and went on
    along x with 1 m/s."""
    angle = 2 * np.pi * seconds
    matrix = np.array(
        [[np.cos(angle), 0, np.sin(angle)], [0, 1, 0], [-np.sin(angle), 0, np.cos(angle)]]
    )
    centre = masses @ places / masses.sum()
    return (places - centre) @ matrix.T + centre + [seconds, 0, 0]


@pytest.mark.parametrize("name", ["reference", "cpu"])
def test_what_moves_rigidly_with_its_carriers_keeps_its_energy(name: str) -> None:
    """A free bar that turns once a second while it goes 1 m/s keeps its kinetic energy for a
    second, with drag, viscosity, both or none: to the integrator's own error, a share (Ωh)² of it.
    """
    rest, tetrahedra = bar((6, 2, 2), (0.3, 0.1, 0.1))
    masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
    strain = strain_constraint(rest, tetrahedra, 2e5)
    system = System(masses, np.zeros(len(rest), bool), (strain,))
    both, step = damped_rule(LARGEST_STEP, 10, 0.2), LARGEST_STEP
    drag = StepRule(step, 10, both.damping)
    viscosity = StepRule(step, 10, viscosity=both.viscosity)
    way = [moved_on(rest, masses, time) for time in (-2 * step, -step, 0.0, step)]
    speeds = [(way[k + 1] - way[k - 1]) / (2 * step) for k in (1, 2)]
    for rule in (StepRule(step, 10), drag, viscosity, both):
        state = State(way[2], speeds[1], way[1], speeds[0], step)
        solver = solver_of(name, system, rule, rest)
        energies = []
        for _ in range(120):
            carried = (moved_on(state.positions, masses, step) - state.positions) / step
            state = solver.step(state, np.empty((0, 3)), None, carried)
            energies.append(0.5 * (masses @ state.velocities**2).sum())
        assert energies[-1] == pytest.approx(energies[0], rel=(2 * np.pi * step) ** 2)


@pytest.mark.parametrize("carried", [True, False])
@pytest.mark.parametrize("integrator", ["bdf2", "implicit-euler"])
@pytest.mark.parametrize("name", ["cpu", "gpu"])
def test_fast_solvers_match_the_reference(name: str, integrator, carried: bool) -> None:
    """Within 1e-4 of 0.3 m after 60 steps on a shaken anchor, whether or not carriers are known;
    the damped bar is more than ten times as far from the undamped one."""
    rest, system = solid(held=True)
    rule = damped_rule(1 / 120, 5, 0.2, integrator)
    ends = []
    plain = StepRule(rule.step, rule.iterations, rule.damping, integrator)
    for solver in (
        ReferenceSolver(system, rule),
        solver_of(name, system, rule, rest),
        ReferenceSolver(system, plain),
    ):
        state, before = resting(rest, rule.step), rest
        for frame in range(60):
            now = rest + np.array([0, 0.05 * np.sin(0.3 * frame), 0])
            speed = (now - before) / rule.step if carried else None
            state, before = solver.step(state, now[system.anchored], None, speed), now
        ends.append(state.positions)
    assert np.abs(ends[1] - ends[0]).max() < 3e-5
    assert np.abs(ends[2] - ends[0]).max() > 3e-4


def test_differentiable_steps_are_damped_alike() -> None:
    """`simulated` passes where the reference does, to float32: 1e-5 m after 20 steps."""
    rest, system = solid(held=True)
    rule = damped_rule(1 / 120, 20, 0.2)
    order = device_order(system, rest)
    free = len(system.free)
    shifts = 0.02 * np.sin(0.4 * np.arange(21))[:, None, None] * [0.0, 1.0, 0.0]
    way = (rest + shifts)[:, order]
    speeds = np.diff(way, axis=0) / rule.step

    def laid_out(values: np.ndarray) -> jnp.ndarray:
        return jnp.asarray(np.swapaxes(values, -1, -2), jnp.float32)

    take = MaterialTake(
        laid_out(rest[order[:free]]),
        laid_out(way[1:, free:]),
        laid_out(speeds[:, :free]),
        jnp.zeros((20, 3, free)),
        jnp.zeros(3),
    )
    found = simulated(flesh_of(elements_of(system, order)), rule, take)[-1]
    solver, state = ReferenceSolver(system, rule), resting(rest, rule.step)
    for frame in range(20):
        now = rest + shifts[frame + 1]
        speed = np.broadcast_to((shifts[frame + 1] - shifts[frame]) / rule.step, rest.shape)
        state = solver.step(state, now[system.anchored], None, speed.copy())
    assert np.abs(state.positions - rest).max() > 1e-3
    np.testing.assert_allclose(np.asarray(found).T, state.positions[order[:free]], atol=1e-5)


def test_static_shapes_are_not_damped() -> None:
    """Without momentum there is no rate: the matrix is that without viscosity."""
    assert damped_rule(1.0, 10, 0.3, "static").stiffening == 1.0
    with pytest.raises(InputError, match="no swings"):
        swing_ratio(1.0, damped_rule(1.0, 10, 0.3, "static"))


@pytest.mark.parametrize("wrong", [-0.1, np.nan, np.inf])
def test_refuses_impossible_damping(wrong: float) -> None:
    with pytest.raises(InputError, match="damping ratio is"):
        damped_rule(0.01, 5, wrong)
    with pytest.raises(InputError, match="viscosity is"):
        StepRule(0.01, viscosity=wrong)
