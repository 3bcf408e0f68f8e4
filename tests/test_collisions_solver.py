"""Contacts in the solvers: closed forms, one side only, reference and compiled alike."""

import flesh
import numpy as np
import pytest

from corporeal.errors import InputError
from corporeal.physics.contact.contacts import Contacts, joined, no_contacts
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.protocol import Solver
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

STIFFNESS = 12e3


def hanging_bar() -> tuple[System, np.ndarray]:
    """A bar of flesh, 0.1 × 0.1 × 0.3 m, held at z = 0."""
    rest, tetrahedra = flesh.bar((2, 2, 6), (0.1, 0.1, 0.3))
    strain = strain_constraint(rest, tetrahedra, STIFFNESS)
    masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
    return System(masses, rest[:, 2] == 0, (strain,)), rest


def end_rows(rest: np.ndarray, wall: float, weight: float, two_sided: bool = False) -> Contacts:
    """The bar's end must stay at z ≥ `wall` metres."""
    end = np.flatnonzero(rest[:, 2] > 0.3 - 1e-9)
    count = len(end)
    return Contacts(
        np.repeat(end[:, None], 4, axis=1),
        np.tile([1.0, 0.0, 0.0, 0.0], (count, 1)),
        np.tile([0.0, 0.0, 1.0], (count, 1)),
        np.full(count, wall),
        np.full(count, weight),
        np.full(count, two_sided),
    )


def converged(solver: Solver, rest: np.ndarray, contacts: Contacts | None) -> np.ndarray:
    state = resting(rest, solver.rule.step)
    for _ in range(6):
        state = solver.step(state, rest[solver.system.anchored], contacts=contacts)
    return state.positions


SOLVERS = (ReferenceSolver, CpuSolver)


@pytest.mark.parametrize("make", SOLVERS)
def test_a_stretched_bar_balances_its_contacts(make: type) -> None:
    """A bar of length L and section A, whose end must stay beyond L + s by springs of w each, n of
    them, is stretched uniformly to e with E A e/L = n w (s − e): there is no Poisson effect."""
    system, rest = hanging_bar()
    weight, wall = 50.0, 0.03
    solver = make(system, StepRule(1.0, 30, 0.0, "static"))
    contacts = end_rows(rest, 0.3 + wall, weight)
    reached = converged(solver, rest, contacts)
    stiffness, springs = STIFFNESS * 0.01 / 0.3, weight * len(contacts)
    expected = springs * wall / (springs + stiffness)
    end = rest[:, 2] > 0.3 - 1e-9
    mean = (reached - rest)[end, 2].mean()
    assert mean == pytest.approx(expected, rel=0.02)


@pytest.mark.parametrize("make", SOLVERS)
def test_rows_push_and_never_pull(make: type) -> None:
    """Behind the wall by 2 cm a one-sided row is as none; a two-sided one pulls the end back."""
    system, rest = hanging_bar()
    solver = make(system, StepRule(1.0, 30, 0.0, "static"))
    end = rest[:, 2] > 0.3 - 1e-9
    away = converged(solver, rest, end_rows(rest, 0.28, 1e6))
    np.testing.assert_allclose(away, rest, atol=1e-6)
    held = converged(solver, rest, end_rows(rest, 0.28, 1e6, two_sided=True))
    np.testing.assert_allclose(held[end, 2], 0.28, atol=1e-4)


def test_stiff_contacts_leave_a_thousandth() -> None:
    """With weights a thousand times the flesh's, a thousandth of the overlap is left after ten
    iterations of one step."""
    system, rest = hanging_bar()
    solver = CpuSolver(system, StepRule(1.0, 10, 0.0, "static"), accelerated=True)
    contacts = end_rows(rest, 0.33, 1e6)
    state = solver.step(resting(rest, 1.0), rest[system.anchored], contacts=contacts)
    assert -contacts.gaps(state.positions).min() < 1e-3 * 0.03


def test_a_pair_is_blind_to_translation() -> None:
    """A row between a vertex and a triangle far from the origin gives the same forces as near it,
    and momentum is conserved: the sum of what a row pushes is zero."""
    rest, tetrahedra = flesh.bar((2, 2, 2), (0.1, 0.1, 0.1))
    strain = strain_constraint(rest, tetrahedra, STIFFNESS)
    masses = tetrahedral_masses(rest, tetrahedra, 1000.0)
    system = System(masses, np.zeros(len(rest), bool), (strain,))
    contacts = Contacts(
        np.array([[0, 26, 25, 23]]),
        np.array([[1.0, -0.5, -0.3, -0.2]]),
        np.array([[0.6, 0.0, 0.8]]),
        np.array([-0.05]),
        np.array([1e5]),
        np.array([False]),
    )
    for solver in (make(system, StepRule(1 / 120, 5)) for make in SOLVERS):
        near = solver.step(resting(rest, 1 / 120), np.zeros((0, 3)), contacts=contacts)
        far = solver.step(resting(rest + 100.0, 1 / 120), np.zeros((0, 3)), contacts=contacts)
        np.testing.assert_allclose(far.positions - 100.0, near.positions, atol=2e-6)
        momentum = masses @ near.velocities
        assert np.abs(masses[:, None] * near.velocities).max() > 1e-3
        np.testing.assert_allclose(momentum, 0.0, atol=1e-5)


def test_reference_and_compiled_agree_with_many_contacts() -> None:
    """Sixty dynamic steps against a wall that comes and goes: 1e-4 of the bar's length."""
    system, rest = hanging_bar()
    rule = StepRule(1 / 120, 5, 5.0)
    ends = []
    for make in SOLVERS:
        solver, state = make(system, rule), resting(rest, rule.step)
        for step in range(60):
            contacts = end_rows(rest, 0.3 + 0.03 * np.sin(0.3 * step), 1e4)
            state = solver.step(state, rest[system.anchored], contacts=contacts)
        ends.append(state.positions)
    assert np.abs(ends[0] - rest).max() > 0.01
    np.testing.assert_allclose(ends[1], ends[0], atol=3e-5)


def test_weights_that_are_not_positive_are_refused() -> None:
    with pytest.raises(InputError, match="contact weights"):
        end_rows(np.array([[0.0, 0.0, 0.3]]), 0.0, 0.0)


def test_no_contacts_are_as_none() -> None:
    system, rest = hanging_bar()
    solver = CpuSolver(system, StepRule(1 / 120, 5))
    state = resting(rest, 1 / 120)
    forces = system.masses[:, None] * np.array([0.0, 0.0, 9.81])
    plain = solver.step(state, rest[system.anchored], forces)
    empty = solver.step(state, rest[system.anchored], forces, contacts=joined([no_contacts()]))
    np.testing.assert_array_equal(plain.positions, empty.positions)
