"""Edges of skin against edges of skin: closed forms, and ridges that solvers part."""

from dataclasses import replace

import numpy as np
import pytest

from corporeal.physics.contact.blending_reference import BlendingReference
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.contact.cpu.edges import between_lines
from corporeal.physics.contact.edge_contacts import EdgeContacts
from corporeal.physics.contact.rates import Reference
from corporeal.physics.contact.rules import EDGE_CLEARANCE, EDGE_PUSH
from corporeal.physics.contact.touching import Movement, TouchingEdges, no_edges_touch
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System

PUSH = 0.05


def test_lines_are_nearest_where_the_closed_form_says() -> None:
    """One edge along x at height 0.3, one along z that it passes at known shares; both turned and
    moved anyhow. Parallel ones have no such place."""
    points = np.array([[0.0, 0.3, 0], [2, 0.3, 0], [0.5, 0, -1], [0.5, 0, 3], [0, 0, 1], [2, 0, 1]])
    random = np.random.default_rng(3)
    turn, _ = np.linalg.qr(random.normal(size=(3, 3)))
    turn *= np.sign(np.linalg.det(turn))
    points = points @ turn.T + random.normal(size=3)
    edges, normal = np.array([[0, 1], [2, 3], [4, 5]]), np.empty(3)
    s, t, gap, sound = between_lines(points, edges, 0, 1, normal)
    assert sound
    np.testing.assert_allclose([s, t], [0.25, 0.25], atol=1e-12)
    # x × z = −y: the first is above the second, against that direction
    np.testing.assert_allclose(normal, -turn[:, 1], atol=1e-12)
    assert gap == pytest.approx(-0.3)
    assert not between_lines(points, edges, 0, 2, normal)[3]


def two_roofs(height: float) -> tuple[EdgeContacts, np.ndarray]:
    """A ridge along x that faces down, over one along z that faces up, by `height` metres: ridges
    pass each other in their middles, and every vertex is in front of the other roof. At rest they
    are a metre apart."""
    lower = np.array([[0.0, 0, -1], [0, 0, 1], [0.5, -0.5, 0], [-0.5, -0.5, 0]])
    upper = np.array([[-1.0, 0, 0], [1, 0, 0], [0, 0.5, 0.5], [0, 0.5, -0.5]])
    triangles = np.array([[0, 1, 2], [1, 0, 3], [4, 5, 6], [5, 4, 7]])
    rest = np.concatenate([lower, upper + np.array([0.0, 1.0, 0.0])])
    owners, joints = np.zeros(8, np.int64), np.zeros((1, 3))
    blending = BlendingReference(rest, triangles, joints, owners, 0.0)
    contacts = EdgeContacts(rest, triangles, np.zeros(8, bool), np.ones(8), blending, PUSH)
    return contacts, np.concatenate([lower, upper + np.array([0.0, height, 0.0])])


def made(
    contacts: EdgeContacts,
    skin: np.ndarray,
    before: TouchingEdges | None = None,
    movement: Movement | None = None,
) -> tuple[Contacts, TouchingEdges]:
    before = before or no_edges_touch()
    everywhere, nowhere = np.ones(8, bool), np.zeros(8, bool)
    passing = contacts.passing(skin, everywhere, nowhere, before)
    reference = Reference(skin, np.zeros(8), everywhere)
    return contacts.rows(passing, before, skin, reference, movement)


@pytest.mark.parametrize("height", [0.5 * EDGE_CLEARANCE * PUSH, -0.2 * PUSH])
def test_ridges_are_kept_on_the_sides_that_their_skin_faces(height: float) -> None:
    """Near each other or through each other, one row pushes the upper ridge up: its gap is the
    height less the offset, and it weighs both edges' ends alike."""
    contacts, skin = two_roofs(height)
    rows, after = made(contacts, skin)
    assert len(rows) == len(after) == 1
    np.testing.assert_allclose(np.abs(rows.coefficients), 0.5, atol=1e-12)
    up = rows.normals[0, 1] * np.sign(rows.coefficients[0, rows.vertices[0] >= 4][0])
    assert up == pytest.approx(1.0)
    assert rows.gaps(skin)[0] == pytest.approx(height - rows.offsets[0], abs=1e-12)
    assert rows.offsets[0] <= EDGE_CLEARANCE * PUSH * (1 + 1e-12)
    assert rows.gaps(skin)[0] < 0


def test_far_ridges_and_those_of_buried_vertices_make_no_row() -> None:
    contacts, skin = two_roofs(2.0 * EDGE_CLEARANCE * PUSH)
    assert len(made(contacts, skin)[0]) == 0
    contacts, skin = two_roofs(-1e-3)
    buried = np.ones(8, bool)
    assert len(contacts.passing(skin, buried, buried, no_edges_touch()).pairs) == 0


def test_a_pair_keeps_its_side_and_sleeps_where_bones_rest() -> None:
    """Begun above, carried right through by 0.8 pushes: the row of before still pushes up. With
    bones that rest its rate falls, and asleep it keeps shares, normal and offset to the last
    bit."""
    contacts, skin = two_roofs(0.5 * EDGE_CLEARANCE * PUSH)
    _, before = made(contacts, skin)
    through = skin - np.where(np.arange(8) >= 4, 0.8 * PUSH, 0.0)[:, None] * [0, 1, 0]
    rows, _ = made(contacts, through, before)
    assert len(rows) == 1
    assert rows.normals[0] @ before.normals[0] == pytest.approx(1.0)
    assert rows.gaps(through)[0] < 0
    frames = np.tile(np.eye(4), (2, 1, 1, 1))
    resting = Movement(frames, np.zeros((8, 3)), 1 / 60)
    asleep = replace(before, rates=np.full(1, 1e-3))
    moved = skin + np.where(np.arange(8) >= 4, 0.1 * PUSH, 0.0)[:, None] * [0.3, 0, 0.2]
    _, after = made(contacts, moved, asleep, resting)
    for name in ("pairs", "shares", "normals", "offsets", "places"):
        np.testing.assert_array_equal(getattr(after, name), getattr(asleep, name))
    assert 0 < after.rates[0] < 1e-3


def test_crossed_ridges_part_in_both_solvers() -> None:
    """Two tetrahedra whose upper edges have passed through each other by a fifth of a push, their
    other edges held: static steps part the ridges to the clearance, each with the rows of where the
    last one ended, and both solvers agree."""
    contacts, start = two_roofs(-0.5 * EDGE_PUSH * PUSH)
    tetrahedra = np.array([[0, 1, 2, 3], [4, 5, 7, 6]])
    strain = strain_constraint(two_roofs(0.0)[1], tetrahedra, 1e4)
    anchored = np.isin(np.arange(8), [2, 3, 6, 7])
    system, rule = System(np.ones(8), anchored, (strain,)), StepRule(1.0, 10, integrator="static")
    ends = []
    for solver in (ReferenceSolver(system, rule), CpuSolver(system, rule)):
        state, touching = resting(start, 1.0), None
        for _ in range(4):
            rows, touching = made(contacts, state.positions, touching)
            assert len(rows) == 1
            state = solver.step(state, start[anchored], contacts=rows)
        ends.append(state.positions)
        ridges = state.positions[[4, 5]].mean(axis=0) - state.positions[[0, 1]].mean(axis=0)
        assert ridges[1] == pytest.approx(EDGE_CLEARANCE * PUSH, rel=0.02)
    np.testing.assert_allclose(ends[1], ends[0], atol=1e-4 * PUSH)
