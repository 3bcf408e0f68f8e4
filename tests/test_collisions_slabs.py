"""Two slabs of flesh pressed into each other: what is left of the overlap, and that it rests."""

import flesh
import numpy as np
import pytest
from constraints.corner_springs import corner_springs

from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.contact.skin_contacts import WEIGHT
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

OVERLAP, SEED_WEIGHT = 0.01, 150.0 * 144.0
"""Metres; and Komaritzan 2022's collision weight at 60 frames a second, N/m."""


def slabs() -> tuple[System, np.ndarray, Contacts]:
    """Slabs of 12 × 12 × 2 cm, each held at its far side, their faces `OVERLAP` inside each other,
    shifted so that vertices lie over triangles; contacts of one face's vertices."""
    rest, tetrahedra = flesh.bar((6, 6, 1), (0.12, 0.12, 0.02))
    upper = rest + np.array([0.007, 0.004, 0.02 - OVERLAP])
    points = np.concatenate([rest, upper])
    both = np.concatenate([tetrahedra, tetrahedra + len(rest)])
    anchored = np.concatenate([rest[:, 2] == 0, rest[:, 2] > 0.019])
    system = System(
        tetrahedral_masses(points, both, 1000.0), anchored, (strain_constraint(points, both, 12e3),)
    )
    top = {
        tuple(np.round(rest[k, :2] / 0.02).astype(int)): k
        for k in np.flatnonzero(rest[:, 2] > 0.019)
    }
    rows, shares = [], []
    for v in np.flatnonzero(rest[:, 2] == 0) + len(rest):
        i, j = np.floor(points[v, :2] / 0.02).astype(int)
        if (i + 1, j + 1) not in top:
            continue
        x, y = points[v, :2] / 0.02 - (i, j)
        corners = [top[i, j], top[i + 1, j], top[i + 1, j + 1]]
        rows.append([v, *corners])
        shares.append([1.0, -(1 - x), -(x - y), -y])
    count = len(rows)
    contacts = Contacts(
        np.array(rows),
        np.array(shares),
        np.tile([0.0, 0.0, 1.0], (count, 1)),
        np.zeros(count),
        np.full(count, WEIGHT),
        np.zeros(count, bool),
    )
    return system, points, contacts


def left_over(positions: np.ndarray, contacts: Contacts) -> float:
    """Share of the overlap that is left, on average."""
    return float(-np.minimum(contacts.gaps(positions), 0).mean() / OVERLAP)


@pytest.mark.parametrize("integrator", ["static", "implicit-euler"])
def test_normal_rows_leave_a_thousandth_and_springs_a_fifth(integrator: str) -> None:
    """Ten iterations: the constraint along the normal leaves 0.1 % of the overlap (stiffness of a
    vertex over weight); Komaritzan 2022's springs, nearly in the plane, a fifth or more."""
    system, points, contacts = slabs()
    rule = StepRule(1 / 60, 10, 0.0, integrator)  # pyright: ignore[reportArgumentType]
    anchors = points[system.anchored]
    start = resting(points, rule.step)
    ours = CpuSolver(system, rule).step(start, anchors, contacts=contacts)
    assert left_over(points, contacts) == pytest.approx(1.0)
    assert left_over(ours.positions, contacts) < 1e-3
    springs = corner_springs(contacts, points, SEED_WEIGHT)
    sprung = System(system.masses, system.anchored, (*system.constraints, springs))
    seed = ReferenceSolver(sprung, rule).step(start, anchors)
    assert 0.2 < left_over(seed.positions, contacts) < 1.0


def test_both_sides_give_way_alike() -> None:
    """Newton's third law: two equal slabs meet halfway, and what pushes one pulls on the other."""
    system, points, contacts = slabs()
    solver = CpuSolver(system, StepRule(1.0, 30, 0.0, "static"))
    state = solver.step(resting(points, 1.0), points[system.anchored], contacts=contacts)
    moved = (state.positions - points)[:, 2]
    half = len(points) // 2
    assert moved[half:].sum() == pytest.approx(-moved[:half].sum(), rel=0.25)
    assert moved[half:].max() == pytest.approx(OVERLAP / 2, rel=0.4)


def test_resting_contact_comes_to_rest() -> None:
    """Dropped onto each other with friction, the slabs stop: after two seconds nothing moves by
    more than a micrometre a step, and the same rows carry the load."""
    system, points, contacts = slabs()
    solver = CpuSolver(system, StepRule(1 / 120, 5, 10.0), accelerated=True)
    state, before = resting(points, 1 / 120), points
    weight = system.masses[:, None] * np.array([0.0, 0.0, -9.81])
    pushing = []
    for step in range(240):
        before = state.positions
        state = solver.step(state, points[system.anchored], weight, contacts=contacts)
        if step >= 238:
            pushing.append(contacts.gaps(state.positions) < 1e-6)
    assert np.abs(state.positions - before).max() < 1e-6
    np.testing.assert_array_equal(*pushing)


def test_friction_holds_what_frictionless_rows_let_slide() -> None:
    """The upper slab's holder moves sideways by 2 mm: with friction the lower face is dragged
    along, by no more than Coulomb's share of the pressure; without, it stays."""
    system, points, contacts = slabs()
    half = len(points) // 2
    drags = []
    for share in (0.0, 0.5):
        rubbing = Contacts(
            contacts.vertices, contacts.coefficients, contacts.normals, contacts.offsets,
            contacts.weights, contacts.two_sided, np.full(len(contacts), share),
        )  # fmt: skip
        solver = CpuSolver(system, StepRule(1.0, 40, 0.0, "static"))
        state = resting(points, 1.0)
        for shift in np.linspace(0, 0.002, 5):
            anchors = points.copy()
            anchors[half:, 0] += shift
            state = solver.step(state, anchors[system.anchored], contacts=rubbing)
        drags.append((state.positions - points)[:half, 0].mean())
    assert drags[1] > 1e-4
    assert abs(drags[0]) < 0.2 * drags[1]
