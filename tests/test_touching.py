"""Contacts that sleep: rates from bones, rows that stay as they are, flesh around them."""

from dataclasses import fields, replace

import numpy as np
import pytest
import synthetic

from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.evaluation.flesh_health import FleshHealth
from corporeal.evaluation.held_poses import HELD_POSES, joint_rotations
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.contact.blending_reference import BlendingReference
from corporeal.physics.contact.contacts import Contacts
from corporeal.physics.contact.rules import ASLEEP, FORGET
from corporeal.physics.contact.touching import Movement, Touching, TouchingEdges, seen_apart
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.simulation import (
    ProjectiveSimulation,
    SimulationState,
)
from corporeal.physics.fast_projective_skinning.take import depth_notes
from corporeal.physics.solver.calming import DROWSY, LEAST, calmed, part_of_way

TEMPLATE = synthetic.arm_template(rings=24, sides=12)
JOINT_COUNT = len(synthetic.PARENTS)
FOLD = 2.6
"""Radians: one half of the arm lies in the other."""


@pytest.fixture(scope="module")
def simulation() -> ProjectiveSimulation:
    return ProjectiveSimulation(TEMPLATE, ProjectiveControls(collisions="global"))


@pytest.fixture(scope="module")
def identity() -> Identity:
    return synthetic.identity_of(TEMPLATE)


@pytest.fixture(scope="module")
def held(simulation: ProjectiveSimulation, identity: Identity) -> SimulationState:
    return simulation.start(identity, folded())


def folded(angle: float = FOLD) -> Pose:
    turn = np.zeros((JOINT_COUNT, 3))
    turn[2, 2] = angle
    return Pose(turn, np.zeros(3))


def turned(pose: Pose, rotation: np.ndarray) -> Pose:
    """The pose with its root turned."""
    rotations = np.array(pose.joint_rotations)
    rotations[0] = rotation
    return Pose(rotations, np.asarray(pose.root_translation))


def touching_of(state: SimulationState) -> Touching:
    assert state.flesh.touching is not None
    return state.flesh.touching


def same(one: Touching | TouchingEdges, other: Touching | TouchingEdges) -> bool:
    """All but the rates, to rounding: vectors go into the world and back."""
    if isinstance(one, Touching) and isinstance(other, Touching):
        if one.edges is None or other.edges is None:
            if one.edges is not other.edges:
                return False
        elif not same(one.edges, other.edges):
            return False
    names = [field.name for field in fields(one) if field.name not in ("rates", "edges")]
    return all(
        np.shape(getattr(one, name)) == np.shape(getattr(other, name))
        and np.allclose(getattr(one, name), getattr(other, name), rtol=0, atol=1e-13)
        for name in names
    )


def rows_of(
    simulation: ProjectiveSimulation, state: SimulationState, movement: Movement | None = None
) -> tuple[Contacts, Touching]:
    body = simulation.body(state.identity)
    rows, touching = body.self_contacts(state.flesh, frames_of(simulation, state), movement)
    assert rows is not None
    assert touching is not None
    return rows, touching


def frames_of(simulation: ProjectiveSimulation, state: SimulationState) -> np.ndarray:
    return np.ascontiguousarray(simulation.body(state.identity).frames(state.pose))


def still(simulation: ProjectiveSimulation, state: SimulationState, seconds: float) -> Movement:
    frames = frames_of(simulation, state)
    nowhere = np.zeros_like(state.flesh.positions)
    return Movement(np.stack([frames, frames]), nowhere, seconds)


def test_bones_that_move_as_one_move_nothing_apart() -> None:
    """Rigid motion of all joints: nothing. A turn by α of the joint that the vertices alone go
    with: what is at a distance r from its axis moves by 2 r sin(α/2) against what is not."""
    random = np.random.default_rng(0)
    triangles = np.array([[0, 1, 2], [3, 4, 5]])
    reference = BlendingReference(
        random.normal(size=(6, 3)), triangles, np.zeros((2, 3)), np.array([0, 0, 0, 1, 1, 1]), 0.0
    )
    corners, sides = np.array([[3, 0, 1, 2], [4, 0, 1, 2]]), np.array([[1, *[-1 / 3] * 3]] * 2)
    points, moves = random.normal(size=(2, 3)), np.tile(np.eye(4), (2, 1, 1))
    moves[:, :3, :3] = matrix_from_axis_angle(np.array([0.3, -0.2, 0.5]))
    moves[:, :3, 3] = [1.0, 2.0, 3.0]
    assert reference.moved_apart(points, corners, sides, moves).max() < 1e-12
    angle, moves = 0.4, np.tile(np.eye(4), (2, 1, 1))
    moves[1, :3, :3] = matrix_from_axis_angle(np.array([0.0, 0.0, angle]))
    expected = 2.0 * np.hypot(points[:, 0], points[:, 1]) * np.sin(angle / 2)
    np.testing.assert_allclose(
        reference.moved_apart(points, corners, sides, moves), expected, rtol=1e-12
    )


def test_a_held_fold_sleeps_and_holds_still(
    simulation: ProjectiveSimulation, held: SimulationState
) -> None:
    """From static balance on, rows stay the same, and no vertex moves by a tenth of a millimetre a
    frame."""
    state, moved = held, []
    assert len(touching_of(held)) > 20
    for _ in range(30):
        before, state = state, simulation.step(state, folded(), 1 / 60)
        assert same(touching_of(state), touching_of(before))
        moved.append(np.abs(state.flesh.positions - before.flesh.positions).max())
    assert max(moved) < 1e-4
    assert (touching_of(state).rates < ASLEEP).all()


def test_sleeping_rows_turn_with_the_body(
    simulation: ProjectiveSimulation, identity: Identity, held: SimulationState
) -> None:
    """Turned as a whole, flesh and skeleton have the same rows, turned: nothing wakes."""
    rotation = np.array([0.0, 0.9, 0.0])
    turn = matrix_from_axis_angle(rotation)
    body = simulation.body(identity)
    root = np.asarray(body.joints)[0]
    around = replace(
        held,
        flesh=replace(held.flesh, positions=(held.flesh.positions - root) @ turn.T + root),
        pose=turned(held.pose, rotation),
    )
    first, then = frames_of(simulation, held), frames_of(simulation, around)
    movement = Movement(np.stack([first, then]), np.zeros_like(held.flesh.positions), 1 / 60)
    rows, touching = rows_of(simulation, around, movement)
    before, _ = rows_of(simulation, held, still(simulation, held, 1 / 60))
    assert (touching.rates < ASLEEP).all()
    np.testing.assert_allclose(rows.normals, before.normals @ turn.T, atol=1e-12)
    np.testing.assert_allclose(rows.gaps(around.flesh.positions), before.gaps(held.flesh.positions))


def test_rates_fade_when_bones_stop(
    simulation: ProjectiveSimulation, held: SimulationState
) -> None:
    """By e in `FORGET` seconds; awake ones are those that changed in full a moment ago."""
    lively = replace(touching_of(held), rates=np.ones(len(touching_of(held))))
    state = replace(held, flesh=replace(held.flesh, touching=lively))
    _, touching = rows_of(simulation, state, still(simulation, held, FORGET))
    known = {tuple(pair) for pair in lively.pairs.tolist()}
    kept = np.array([tuple(pair) in known for pair in touching.pairs.tolist()])
    assert kept.sum() > 20
    np.testing.assert_allclose(touching.rates[kept], np.exp(-1.0), rtol=1e-12)


def test_moving_bones_wake_what_they_move(
    simulation: ProjectiveSimulation, held: SimulationState
) -> None:
    """The joint of the fold moves on by a degree: its rows take on something new, and all of it at
    a large turn."""
    rates = []
    for turn in (0.02, 0.8):
        frames = [frames_of(simulation, replace(held, pose=folded(FOLD + t))) for t in (0.0, turn)]
        movement = Movement(np.stack(frames), np.zeros_like(held.flesh.positions), 1 / 60)
        rates.append(rows_of(simulation, held, movement)[1].rates)
    assert ASLEEP < np.median(rates[0]) < 1.0
    assert np.median(rates[1]) == 1.0


def test_what_bones_do_not_press_together_never_sleeps(
    simulation: ProjectiveSimulation, held: SimulationState
) -> None:
    """Folded flesh whose bones are straight, and still: not one of its rows may hold it."""
    assert (touching_of(held).rates < ASLEEP).any()
    straight = replace(held, pose=folded(0.0))
    _, touching = rows_of(simulation, straight, still(simulation, straight, 1 / 60))
    assert (touching.rates == 1.0).all()


def test_friction_holds_where_a_row_fell_asleep(
    simulation: ProjectiveSimulation, held: SimulationState
) -> None:
    """Slip is measured from the kept place, however far the vertex has gone since; without
    movement given, rows are made anew, and held where they are."""
    rows, touching = rows_of(simulation, held, still(simulation, held, 1 / 60))
    moved = held.flesh.positions.copy()
    moved[np.unique(touching.pairs[:, 0])] += [1e-3, 0.0, 0.0]
    state = replace(held, flesh=replace(held.flesh, positions=moved))
    later, _ = rows_of(simulation, state, still(simulation, held, 1 / 60))
    assert rows.held is not None
    assert later.held is not None
    np.testing.assert_allclose(later.held, rows.held, atol=1e-15)
    anew, _ = rows_of(simulation, held)
    assert anew.held is not None
    places = seen_apart(held.flesh.positions, anew.vertices, anew.coefficients)
    np.testing.assert_allclose(anew.held, places, atol=1e-15)


def test_pairs_of_another_skin_are_refused(
    simulation: ProjectiveSimulation, held: SimulationState
) -> None:
    touching = touching_of(held)
    foreign = replace(touching, pairs=touching.pairs + np.array([[10**6, 0]]))
    state = replace(held, flesh=replace(held.flesh, touching=foreign))
    with pytest.raises(InputError, match="Give the state of this body"):
        rows_of(simulation, state)


def test_flesh_goes_a_part_of_its_way_and_less_the_deeper_sleep_is() -> None:
    """At a rate that has just fallen below the limit `DROWSY` of it; at a sixteenth of that rate
    half as much; never less than `LEAST`. Where bones carried it to is where the way begins."""
    parts = part_of_way(np.array([ASLEEP, ASLEEP / 16, 0.0]))
    np.testing.assert_allclose(parts, [DROWSY, DROWSY / 2, LEAST])
    there, carried = np.ones((1, 3)), np.full((1, 3), 0.2)
    np.testing.assert_allclose(
        calmed(there, carried, np.full((1, 1), 0.25, np.float32)), 0.2 + 0.25 * 0.8
    )


@pytest.fixture(scope="module")
def model() -> PhenotypeModel:
    return PhenotypeModel()


def test_a_twisted_trunk_touches_nothing(model: PhenotypeModel) -> None:
    """Skin of the back gets into the prisms of the collar bone, but faces the way that they do: as
    a contact it turned 28 elements inside out."""
    simulation = ProjectiveSimulation(model.template, ProjectiveControls(collisions="global"))
    twist = Pose(joint_rotations(model.template.skeleton, HELD_POSES["torso-twist"]), np.zeros(3))
    state = simulation.start(model.prepare(), twist)
    assert len(touching_of(state)) == 0
    assert FleshHealth(simulation.body(state.identity)).frame(state.flesh.positions).inverted == 0


@pytest.mark.parametrize("name", ["elbows-143", "sitting"])
def test_held_folds_of_a_body_hold_still_and_keep_out(model: PhenotypeModel, name: str) -> None:
    """No vertex moves by more than 0.2 mm a frame, none is deeper inside than a millimetre, and of
    the crossing triangles that flesh without contacts has less than a sixth is left. With
    contacts that were asked anew in every frame, sitting moved by 6 mm and more than a third
    was."""
    identity = model.prepare()
    pose = Pose(joint_rotations(model.template.skeleton, HELD_POSES[name]), np.zeros(3))
    crossings = {}
    for mode in ("off", "global"):
        simulation = ProjectiveSimulation(model.template, ProjectiveControls(collisions=mode))
        state, body = simulation.start(identity, pose), simulation.body(identity)
        health, count = FleshHealth(body), body.surface.vertex_count
        crossings[mode] = health.crossings(state.flesh.positions)
        for _ in range(20 if mode == "global" else 0):
            before, state = state, simulation.step(state, pose, 1 / 60)
            moved = state.flesh.positions - before.flesh.positions
            assert np.linalg.norm(moved[:count], axis=1).max() < 2e-4
        if mode == "global":
            assert health.frame(state.flesh.positions).inverted == 0
            meter = PenetrationMeter(body.rest[:count], body.surface.triangles)
            assert meter.depths(np.ascontiguousarray(state.flesh.positions[:count])).max() < 1e-3
    assert crossings["global"] < crossings["off"] / 6


def test_what_is_deep_inside_is_measured_and_told(
    simulation: ProjectiveSimulation, held: SimulationState
) -> None:
    """A vertex that touches, put 15 mm behind its triangle along the row's normal, is as deep as
    that; skin that contacts hold is not deep, and not worth a note."""
    body = simulation.body(held.identity)
    finder, frames = body.skin_contacts(), frames_of(simulation, held)
    assert finder.deepest(held.flesh.positions, frames, touching_of(held)) < 1e-3
    rows, touching = rows_of(simulation, held)
    heights = np.sum(rows.normals * seen_apart(held.flesh.positions, *rows_parts(rows)), axis=1)
    row = int(heights.argmin())
    deep = held.flesh.positions.copy()
    deep[rows.vertices[row, 0]] -= (heights[row] + 0.015) * rows.normals[row]
    assert finder.deepest(deep, frames, touching) >= 0.015 - 1e-12
    assert finder.deepest(deep, frames, None) == 0.0
    assert depth_notes(np.array([0.0, 2e-3])) == ()
    (note,) = depth_notes(np.array([0.0, 0.0714, 0.02]))
    assert "71 mm in 2 of 3 frames, the deepest at frame 1" in note


def rows_parts(rows: Contacts) -> tuple[np.ndarray, np.ndarray]:
    """Vertices and coefficients."""
    return rows.vertices, rows.coefficients
