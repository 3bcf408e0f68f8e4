"""The device solver, on JAX's CPU backend, against the float64 reference."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from abstract_gpu import an_h200
from constraints.spring import spring_constraint
from flesh import bar
from scipy.sparse import csc_array, diags_array
from scipy.sparse.linalg import spsolve

from corporeal.errors import InputError, SolverError
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.gpu.contacts import contact_rows, row_places
from corporeal.physics.solver.gpu.elements import (
    elements_of,
    flesh_of,
    stiffness_product,
    strain_forces,
    system_matrix,
)
from corporeal.physics.solver.gpu.inverse import (
    MOST_INVERTED,
    DenseInverse,
    correction,
    global_step,
    inverse_of,
    inverted,
    inverted_on_device,
    local_inverse,
)
from corporeal.physics.solver.gpu.iterative import (
    IterativeInverse,
    iterative_inverse,
)
from corporeal.physics.solver.gpu.local_step_kernels import kernel_forces
from corporeal.physics.solver.gpu.solver import GpuSolver
from corporeal.physics.solver.gpu.step import (
    Contact,
    SolverOptions,
    SolverState,
    StepInputs,
    take_step,
)
from corporeal.physics.solver.gpu.two_level import joined_levels, two_level_inverse
from corporeal.physics.solver.integration import Patience, State, StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

REST, TETRAHEDRA = bar((8, 3, 3), (0.5, 0.15, 0.15))
MASSES = tetrahedral_masses(REST, TETRAHEDRA, 1000.0)
SYSTEM = System(MASSES, REST[:, 0] == 0, (strain_constraint(REST, TETRAHEDRA, 2e4),))
GRAVITY = MASSES[:, None] * np.array([0.0, -9.81, 0.0])


def shaken(solver, steps: int = 40, away: float = 0.0) -> State:
    """A bar held at one end, which goes up and down."""
    origin = np.array([away, 0.0, 0.0])
    state = resting(REST + origin, solver.rule.step)
    for number in range(steps):
        anchors = REST[SYSTEM.anchored] + origin + [0.0, 0.03 * np.sin(0.3 * number), 0.0]
        state = solver.step(state, anchors, GRAVITY, np.full(REST.shape, 0.1))
    return state


@pytest.mark.parametrize("integrator", ["bdf2", "implicit-euler", "static"])
def test_steps_are_those_of_the_reference(integrator) -> None:
    """Float32 rounding, 1e-7 of half a metre a step, over 40 steps; the bar bends by cm."""
    rule = StepRule(1 / 120, 5, 5.0, integrator)
    expected = shaken(ReferenceSolver(SYSTEM, rule))
    found = shaken(GpuSolver(SYSTEM, rule, REST))
    assert np.abs(expected.positions - REST).max() > 0.02
    assert np.abs(found.positions - expected.positions).max() < 2e-6
    assert np.abs(found.velocities - expected.velocities).max() < 2e-4


def test_accelerated_steps_are_those_of_the_cpu() -> None:
    """Both in float32: the combination of iterates enlarges their rounding."""
    rule = StepRule(1 / 120, 5, 5.0)
    expected = shaken(CpuSolver(SYSTEM, rule, accelerated=True))
    found = shaken(GpuSolver(SYSTEM, rule, REST, accelerated=True))
    assert np.abs(found.positions - expected.positions).max() < 1e-5


def test_steps_that_go_on_until_they_settle_are_those_of_the_reference() -> None:
    """As many iterations as the reference takes, by the same rule: the tolerance of fixed numbers,
    where three iterations alone leave a hundred times as much."""
    rule, patience = StepRule(1 / 120, 3, 5.0), Patience(settled=1e-5, most=30)
    settling = ReferenceSolver(SYSTEM, rule)

    class Patient:
        rule = settling.rule

        def step(self, *given) -> State:
            return settling.step(*given, patience=patience)

    expected = shaken(Patient(), 20)
    found = shaken(GpuSolver(SYSTEM, rule, REST, patience=patience), 20)
    hasty = shaken(GpuSolver(SYSTEM, rule, REST), 20)
    assert np.abs(found.positions - expected.positions).max() < 2e-6
    assert np.abs(hasty.positions - expected.positions).max() > 2e-4


def test_characters_settle_each_on_its_own() -> None:
    """Two at once, one that is at rest and one that falls, as each alone: float32 sums of a batch
    may be ordered otherwise."""
    rule, options = StepRule(1 / 120, 3, 5.0), SolverOptions(patience=Patience(1e-6, 30))
    solver = GpuSolver(SYSTEM, rule, REST)
    free, fixed = np.split(solver.order, [len(solver.flesh.masses)])

    def step(weights: list[float]) -> np.ndarray:
        def laid_out(rows: np.ndarray) -> jnp.ndarray:
            return jnp.asarray(np.repeat(rows.T[..., None], len(weights), axis=2), jnp.float32)

        still = laid_out(np.zeros((len(free), 3)))
        at, held = laid_out(REST[free]), laid_out(REST[fixed])
        state = SolverState(at, still, at, still, jnp.zeros((1, 0, len(weights)), jnp.float32))
        forces = laid_out(GRAVITY[free]) * jnp.asarray(weights, jnp.float32)
        inputs = StepInputs(held, forces, still, held)
        after, _ = take_step(solver.flesh, solver.inverse, rule, state, inputs, options)
        return np.asarray(after.positions)

    both = step([0.0, 30.0])
    for number, weight in enumerate((0.0, 30.0)):
        assert np.abs(both[..., number] - step([weight])[..., 0]).max() < 1e-6
    assert np.abs(both[..., 1] - both[..., 0]).max() > 1e-3


def test_a_kilometre_away_is_as_good_as_home() -> None:
    """Positions are taken from whole metres near the body."""
    rule = StepRule(1 / 120, 5, 5.0)
    home, away = (
        shaken(GpuSolver(SYSTEM, rule, REST)),
        shaken(GpuSolver(SYSTEM, rule, REST), 40, 1e3),
    )
    assert np.abs(away.positions - [1e3, 0, 0] - home.positions).max() < 2e-6


def test_results_repeat_to_the_last_bit() -> None:
    rule = StepRule(1 / 120, 5, 5.0)
    first, second = (shaken(GpuSolver(SYSTEM, rule, REST), 5).positions for _ in range(2))
    np.testing.assert_array_equal(first, second)


@pytest.mark.parametrize("batch", [1, 256])
def test_kernels_can_be_made_for_a_gpu(batch: int) -> None:
    """Triton's types are stricter than those of the interpreter, and are checked without a GPU."""
    order = np.concatenate([SYSTEM.free, np.flatnonzero(SYSTEM.anchored)])
    flesh, positions = flesh_of(elements_of(SYSTEM, order)), jnp.zeros((3, len(order), batch))
    with jax.sharding.use_abstract_mesh(an_h200()):
        made = jax.jit(kernel_forces).trace(flesh, positions)
        program = made.lower(lowering_platforms=("cuda",))
    assert "forces" in program.as_text()


def test_forces_are_what_the_matrices_say() -> None:
    """Q_fᵀ W (p − Q z) and Q_fᵀ W Q u from gathers, against sparse matrices in float64."""
    order = np.concatenate([SYSTEM.free, np.flatnonzero(SYSTEM.anchored)])
    flesh, free = flesh_of(elements_of(SYSTEM, order)), len(SYSTEM.free)
    random = np.random.default_rng(4)
    z = REST + 0.01 * random.normal(size=REST.shape)
    strain = SYSTEM.constraints[0]
    values = strain.matrix @ z
    expected = strain.matrix.T @ (strain.weights[:, None] * (strain.project(values) - values))
    batch = jnp.asarray(np.repeat(z[order].T[..., None], 3, axis=2), jnp.float32)
    for forces in (
        strain_forces(flesh, batch),
        kernel_forces(flesh, batch, interpret=True),
        kernel_forces(flesh, batch[..., :1], interpret=True),
    ):
        np.testing.assert_allclose(
            forces[..., -1], expected[SYSTEM.free].T, atol=2e-5 * np.abs(expected).max()
        )
    moved = random.normal(size=(3, free, 1)).astype(np.float32)
    expected = SYSTEM.matrix(0.0) @ moved[..., 0].T
    np.testing.assert_allclose(
        stiffness_product(flesh, jnp.asarray(moved))[..., 0].T,
        expected,
        atol=1e-5 * np.abs(expected).max(),
    )


def test_every_inverse_solves() -> None:
    """Dense: rounding. Local: what was left out, ε = 1e-4 against the diagonal; with ε = 0 nothing
    is. One character and several."""
    order = np.concatenate([SYSTEM.free, np.flatnonzero(SYSTEM.anchored)])
    matrix = system_matrix(elements_of(SYSTEM, order), 1e4, len(order))
    whole = inverted(matrix)
    right = np.random.default_rng(5).normal(size=(3, len(whole), 4)).astype(np.float32)
    expected = np.einsum("ij,cjb->cib", whole, right.astype(np.float64))
    forms = (
        (DenseInverse(whole.astype(np.float32)), 1e-5),
        (local_inverse(whole, 0.0), 1e-5),
        (local_inverse(whole), 2e-3),
        (DenseInverse(inverted_on_device(matrix)), 1e-4),
    )
    for inverse, tolerance in forms:
        for batch in (slice(0, 1), slice(0, 4)):
            error = correction(inverse, jnp.asarray(right[..., batch])) - expected[..., batch]
            assert np.linalg.norm(error) < tolerance * np.linalg.norm(expected[..., batch])


def test_small_bodies_take_the_dense_inverse() -> None:
    assert isinstance(inverse_of(inverted(SYSTEM.matrix(0.0))), DenseInverse)


def test_a_loose_vertex_is_named() -> None:
    matrix = SYSTEM.matrix(0.0).tolil()
    matrix[3, :] = 0.0
    matrix[:, 3] = 0.0
    with pytest.raises(SolverError, match="not positive definite"):
        inverted(matrix.tocsc())


def test_other_constraints_are_refused() -> None:
    spring = spring_constraint(REST, np.array([[0, 1]]), 1.0)
    with pytest.raises(InputError, match="SpringConstraint"):
        GpuSolver(System(MASSES, SYSTEM.anchored, (spring,)), StepRule(0.01), REST)


def test_a_step_on_contacts_is_that_of_the_cpu() -> None:
    """Five vertices below the bar's end are kept above a plane that they have sunk through by up to
    3 mm, with friction. Both solve the same dual to 1e-6 m or better."""
    rule = StepRule(1 / 120, 10, 5.0)
    state = shaken(ReferenceSolver(SYSTEM, rule), 20)
    lowest = SYSTEM.free[np.argsort(state.positions[SYSTEM.free, 1])[:5]]
    level = state.positions[lowest, 1].min() + 0.003
    contacts = Contacts(
        np.repeat(lowest[:, None], 4, axis=1),
        np.tile([1.0, 0.0, 0.0, 0.0], (5, 1)),
        np.tile([0.0, 1.0, 0.0], (5, 1)),
        np.full(5, level),
        np.full(5, 1e6),
        np.zeros(5, bool),
        np.full(5, 0.5),
    )
    anchors = state.positions[SYSTEM.anchored]
    expected = CpuSolver(SYSTEM, rule).step(state, anchors, GRAVITY, contacts=contacts)
    found = touched_step(state, anchors, contacts, rule)
    free = CpuSolver(SYSTEM, rule).step(state, anchors, GRAVITY)
    assert free.positions[lowest, 1].min() < level - 1e-3
    assert expected.positions[lowest, 1].min() > level - 1e-4
    assert np.abs(found - expected.positions[SYSTEM.free]).max() < 2e-5


def touched_step(state: State, anchors: np.ndarray, contacts: Contacts, rule: StepRule):
    """One step on the device with contacts; the free vertices in their own order."""
    order = np.concatenate([SYSTEM.free, np.flatnonzero(SYSTEM.anchored)])
    elements, free = elements_of(SYSTEM, order), len(SYSTEM.free)
    place = np.argsort(order)
    dense = inverted(system_matrix(elements, rule.inertia, len(order))).astype(np.float32)

    def laid_out(rows: np.ndarray) -> jnp.ndarray:
        return jnp.asarray(rows.T[..., None], jnp.float32)

    chosen = order[:free]
    solver_state = SolverState(
        laid_out(state.positions[chosen]),
        laid_out(state.velocities[chosen]),
        laid_out(state.earlier_positions[chosen]),
        laid_out(state.earlier_velocities[chosen]),
        jnp.zeros((1, 0, 1), jnp.float32),
    )
    inputs = StepInputs(
        laid_out(anchors),
        laid_out(GRAVITY[chosen]),
        laid_out(np.zeros((free, 3))),
        laid_out(state.positions[order[free:]]),
    )
    rows = contact_rows(
        jnp.asarray(dense),
        jnp.asarray(place[contacts.vertices]),
        jnp.asarray(contacts.coefficients, jnp.float32),
        jnp.asarray(contacts.normals.T, jnp.float32),
        jnp.asarray(contacts.offsets, jnp.float32),
    )
    begun = row_places(rows, laid_out(state.positions[order]))
    options = SolverOptions(accelerated=False, rounds=24, unrolled=1)
    flesh, inverse = flesh_of(elements), DenseInverse(jnp.asarray(dense))
    after, _ = take_step(flesh, inverse, rule, solver_state, inputs, options, Contact(rows, begun))
    return np.asarray(after.positions[..., 0]).T


def test_several_steps_at_once_are_those_one_by_one() -> None:
    """The same programs: equal to the last bit, and the state goes on alike."""
    rule = StepRule(1 / 120, 5, 5.0)
    solver = GpuSolver(SYSTEM, rule, REST)
    path = np.stack([REST[SYSTEM.anchored] + [0.0, 0.01 * np.sin(k), 0.0] for k in range(4)])
    drawn = np.repeat(np.full((1, *REST.shape), 0.1), 4, axis=0)
    state = resting(REST, rule.step)
    together, positions = solver.steps(state, path, GRAVITY, drawn)
    for number, anchors in enumerate(path):
        state = solver.step(state, anchors, GRAVITY, drawn[number])
        np.testing.assert_allclose(positions[number], state.positions, atol=1e-7)
    for name in ("velocities", "earlier_positions", "earlier_velocities"):
        np.testing.assert_allclose(getattr(together, name), getattr(state, name), atol=1e-4)


def test_conjugate_gradients_solve_and_carry_a_step() -> None:
    """After 24 rounds 1e-3 of a solve is left at most; steps with them end where exact ones do,
    since what is left is corrected by the next iteration."""
    rule = StepRule(1 / 120, 10, 5.0)
    exact, found = (GpuSolver(SYSTEM, rule, REST) for _ in range(2))
    elements = elements_of(SYSTEM, found.order)
    matrix = system_matrix(elements, rule.inertia, len(REST))
    found.inverse = iterative_inverse(matrix)
    right = np.random.default_rng(8).normal(size=(3, len(SYSTEM.free), 2)).astype(np.float32)
    expected = correction(DenseInverse(inverted(matrix).astype(np.float32)), jnp.asarray(right))
    error = correction(found.inverse, jnp.asarray(right)) - expected
    assert np.linalg.norm(error) < 1e-3 * np.linalg.norm(expected)
    ends = [shaken(solver, 20).positions for solver in (exact, found)]
    assert np.abs(ends[0] - ends[1]).max() < 2e-6


def test_large_bodies_take_conjugate_gradients() -> None:
    """A matrix of 20 001 vertices is never inverted."""
    count = MOST_INVERTED + 1
    assert isinstance(global_step(csc_array(diags_array(np.ones(count)))), IterativeInverse)
    with pytest.raises(SolverError, match="not positive definite"):
        iterative_inverse(csc_array(diags_array(np.repeat([1.0, 0.0], [40, 1]))))


def test_two_levels_are_exact_alone_and_together() -> None:
    """Products in float32 of blocks inverted in float64, against a sparse solve; two bodies in one,
    with vertices behind the first that do not move."""
    order = np.concatenate([SYSTEM.free, np.flatnonzero(SYSTEM.anchored)])
    elements, free = elements_of(SYSTEM, order), len(SYSTEM.free)
    soft, stiff = (system_matrix(elements, inertia, len(order)) for inertia in (1e4, 1e5))
    right = np.random.default_rng(9).normal(size=(3, 2 * (free + 3), 1)).astype(np.float32)
    alone = correction(two_level_inverse(soft, 4), jnp.asarray(right[:, :free]))
    expected = spsolve(soft, right[:, :free, 0].T.astype(np.float64)).T
    assert np.linalg.norm(alone[..., 0] - expected) < 1e-6 * np.linalg.norm(expected)
    both = joined_levels([two_level_inverse(soft, 4), two_level_inverse(stiff, 3)], free + 3)
    found = np.asarray(correction(both, jnp.asarray(right)))[..., 0]
    np.testing.assert_array_equal(found[:, free : free + 3], 0.0)
    np.testing.assert_allclose(found[:, :free], alone[..., 0], atol=1e-6 * np.abs(expected).max())
    expected = spsolve(stiff, right[:, free + 3 : 2 * free + 3, 0].T.astype(np.float64)).T
    error = found[:, free + 3 : 2 * free + 3] - expected
    assert np.linalg.norm(error) < 1e-6 * np.linalg.norm(expected)
