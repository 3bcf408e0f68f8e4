"""Collisions on a device, on JAX's CPU backend, against the CPU's detection."""

from dataclasses import fields, replace
from typing import Literal

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic
from abstract_gpu import an_h200

from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.errors import SolverError
from corporeal.physics.contact.gpu.detection import Capacity, require_capacity, vertices_inside
from corporeal.physics.contact.gpu.lists import chosen, listed, running_total, sorted_order
from corporeal.physics.contact.gpu.release import reference_at
from corporeal.physics.contact.gpu.skin_contacts import skin_contacts
from corporeal.physics.contact.gpu.touching import (
    DeviceMovement,
    DeviceTouching,
    displacements,
    moved_apart,
)
from corporeal.physics.contact.rules import ASLEEP, FORGET
from corporeal.physics.contact.touching import Movement, Touching
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    _bones,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.fast_projective_skinning.gpu.contacts import (
    base_points,
    collisions_of,
    device_touching,
    host_touching,
)
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body, device_skin
from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.gpu.contact_kernels import kernel_contacts
from corporeal.physics.solver.gpu.contacts import (
    contact_forces,
    contact_rows,
    free_places,
    moved_by,
)
from corporeal.physics.solver.gpu.inverse import DenseInverse
from corporeal.physics.solver.gpu.step import SolverOptions
from corporeal.physics.solver.integration import StepRule, resting
from corporeal.skinning.kinematics import forward_kinematics

RANDOM = np.random.default_rng(8)


@pytest.mark.parametrize("count", [1, 512, 513, 5000])
def test_running_totals(count: int) -> None:
    counts = RANDOM.integers(0, 9, count)
    np.testing.assert_array_equal(running_total(jnp.asarray(counts)), np.cumsum(counts))


def test_sorting_keeps_the_order_of_equals() -> None:
    keys = RANDOM.integers(0, 40, 700)
    np.testing.assert_array_equal(sorted_order(jnp.asarray(keys)), np.argsort(keys, kind="stable"))


def test_lists_of_fixed_length() -> None:
    owner, rank, used = listed(jnp.array([2, 0, 3]), 7)
    assert int(used) == 5
    np.testing.assert_array_equal(owner[:5], [0, 0, 2, 2, 2])
    np.testing.assert_array_equal(rank[:5], [0, 1, 0, 1, 2])
    flags = RANDOM.random(300) < 0.2
    places, count = chosen(jnp.asarray(flags), 100)
    assert int(count) == flags.sum()
    np.testing.assert_array_equal(places[: flags.sum()], np.flatnonzero(flags))
    assert (np.asarray(places[flags.sum() :]) == 300).all()
    np.testing.assert_array_equal(chosen(jnp.asarray(flags), 10)[0], np.flatnonzero(flags)[:10])


@pytest.fixture(scope="module")
def folded():
    """An arm folded onto itself, of plain flesh: skin inside skin."""
    template = synthetic.arm_template(24, 12)
    identity = synthetic.identity_of(template)
    plain = ProjectiveControls(volume=0.0, untangled=False)
    simulation = ProjectiveSimulation(template, replace(plain, collisions="global"))
    body = simulation.body(identity)
    body.skin_contacts().edged = False  # as on a device
    turn = np.zeros((len(synthetic.PARENTS), 3))
    turn[2, 2] = 2.6
    frames = forward_kinematics(turn, body.joints, synthetic.PARENTS, np.zeros(3))
    apart = ProjectiveSimulation(template, plain)
    positions = apart.start(identity, Pose(turn, np.zeros(3))).flesh.positions
    return body, frames, positions


def test_detection_finds_what_the_cpu_finds(folded) -> None:
    """The same vertices, each in a prism that the CPU reports as well."""
    body, frames, positions = folded
    finder, count = body.skin_contacts(), body.model.vertex_count
    skin = device_skin(finder, body.model)
    base = base_points(skin, jnp.asarray(frames, jnp.float32))
    np.testing.assert_allclose(base.T, finder.detection.base_points(frames), atol=1e-6)
    flat = jnp.asarray(positions[:count].T, jnp.float32)
    hits, full = jax.jit(vertices_inside, static_argnums=3)(
        skin, flat, base, Capacity(64, 2**15, 2**15)
    )
    found = finder.detect(np.ascontiguousarray(positions[:count]), frames)
    assert len(found) > 5
    assert not full
    inside = np.flatnonzero(np.asarray(hits) < len(body.model.triangles))
    assert set(inside) == set(found[:, 0])
    reported = set(map(tuple, found.tolist()))
    assert all((v, int(hits[v])) in reported for v in inside)


def test_local_detection_is_that_of_the_cpu(folded) -> None:
    """Every second vertex chosen: new pairs are theirs, between bones that are near, as the CPU
    has them; where skin is asked about everywhere, all are found as before."""
    body, frames, positions = folded
    finder, count = body.skin_contacts(), body.model.vertex_count
    chosen_vertices = np.arange(0, count, 2)
    skin = device_skin(finder, body.model, chosen_vertices)
    base = base_points(skin, jnp.asarray(frames, jnp.float32))
    flat = jnp.asarray(positions[:count].T, jnp.float32)
    capacity, none = Capacity(64, 2**15, 2**15), len(body.model.triangles)
    found = finder.detect(np.ascontiguousarray(positions[:count]), frames)
    near = found[np.isin(found[:, 0], chosen_vertices) & finder.at_joints(found)]
    assert 0 < len(set(near[:, 0])) < len(set(found[:, 0]))
    for everywhere, expected in ((True, found), (False, near)):
        hits, full = vertices_inside(skin, flat, base, capacity, everywhere)
        inside = np.flatnonzero(np.asarray(hits) < none)
        assert not full
        assert set(inside) == set(expected[:, 0])
        reported = set(map(tuple, expected.tolist()))
        assert all((v, int(hits[v])) in reported for v in inside)


def test_collisions_do_what_they_do_on_the_cpu_and_too_little_room_is_an_error(folded) -> None:
    """Two frames of two steps from the same state, touching what detection finds in it. The device
    searches for contact forces less far: against what collisions do in all, a tenth at most. A list
    for a single contact raises instead of dropping the others."""
    body, frames, positions = folded
    prepared, skin = device_body(body), device_skin(body.skin_contacts(), body.model)
    _, touching = body.skin_contacts().contacts(positions, frames)
    rule = StepRule(1 / 120, 5, 10.0)
    path, origins = clip_frames(np.repeat(frames[None, None], 5, axis=0))
    solver_state = device_state(prepared, [resting(positions, 1 / 120)], origins[0], 1 / 120)
    inverse = prepared.inverse(rule, dense=True)
    assert isinstance(inverse, DenseInverse)
    collisions = collisions_of(prepared, skin, inverse.matrix, touching)
    options, capacity = SolverOptions(rounds=8, unrolled=1), Capacity(64, 2**15, 2**15)
    last, _, touched = run_clip(
        prepared,
        inverse,
        rule,
        solver_state,
        path,
        collisions,
        steps=2,
        options=options,
        capacity=capacity,
    )
    require_capacity(touched.full, capacity)
    chosen_vertices = np.asarray(prepared.order)[: prepared.free_count]
    found = np.asarray(last.positions[..., 0]).T + origins[-1]
    expected, counts = four_steps(body, frames, positions, touching)
    assert touched.counts.tolist() == counts[1::2]
    assert min(counts) > 3
    without, _ = four_steps(body, frames, positions, None)
    expected, without = expected[chosen_vertices], without[chosen_vertices]
    effect = np.sqrt(((expected - without) ** 2).mean())
    assert effect > 1e-4
    assert np.sqrt(((found - expected) ** 2).mean()) < 0.1 * effect
    few = Capacity(1, 2**15, 2**15)
    short = options._replace(rounds=1)  # what is found does not depend on how it is pushed apart
    _, _, touched = run_clip(
        prepared,
        inverse,
        rule,
        solver_state,
        path,
        collisions,
        steps=2,
        options=short,
        capacity=few,
    )
    with pytest.raises(SolverError, match="capacity for 1 contacts"):
        require_capacity(touched.full, few)


def four_steps(
    body, frames: np.ndarray, positions: np.ndarray, touching: Touching | None
) -> tuple[np.ndarray, list[int]]:
    """Where flesh is after four steps on the CPU, with a skeleton that stands still; and how many
    contacts each had."""
    state, finder, rows = resting(positions, 1 / 120), body.skin_contacts(), None
    anchors, counts = body.carriers(frames)[body.system.anchored], []
    for _ in range(4):
        if touching is not None:
            movement = Movement(np.stack([frames, frames]), state.velocities / 120, 1 / 120)
            rows, touching = finder.contacts(state.positions, frames, touching, None, movement)
            counts.append(len(rows))
        state = body.solver(1 / 120).step(state, anchors, body.weight, contacts=rows)
    return state.positions, counts


def bent(body, turn: float) -> np.ndarray:
    """World frames of an arm bent by so much, radians."""
    turns = np.zeros((len(synthetic.PARENTS), 3))
    turns[2, 2] = turn
    return forward_kinematics(turns, body.joints, synthetic.PARENTS, np.zeros(3))


@jax.jit
def made_on_device(skin, flat, moved, begun):
    capacity = Capacity(128, 2**15, 2**15)
    base = base_points(skin, moved.frames)
    reference, unsure = reference_at(skin, moved.frames, base, capacity)
    rows, after, full = skin_contacts(skin, flat, base, reference, moved, begun, capacity)
    return rows, after, full | unsure


def on_device(body, prepared, positions, touching: Touching, movement: Movement):
    """What the device makes of a frame: rows, what was given to it, and what goes on."""
    skin = jax.device_put(device_skin(body.skin_contacts(), body.model))
    count, (before, after) = body.model.vertex_count, jnp.asarray(movement.frames, jnp.float32)
    flat, flesh = (jnp.asarray(p[:count].T, jnp.float32) for p in (positions, movement.flesh))
    moved = DeviceMovement(
        before, displacements(before, after), flesh, jnp.float32(movement.remembered)
    )
    begun = jax.device_put(device_touching(prepared, touching))
    rows, went_on, full = made_on_device(skin, flat, moved, begun)
    assert not full
    return rows, begun, went_on


def sorted_rows(touching: Touching) -> Touching:
    return touching.chosen(np.lexsort(touching.pairs.T))


@pytest.mark.parametrize("turn", [0.0, 0.02])
def test_rows_go_on_as_on_the_cpu(folded, turn: float) -> None:
    """Four frames of a bending arm, each from where the CPU is: the same pairs, and the same rows
    to float32 (1e-7 of a metre; feet are that over a push of 5 mm, squared normals likewise)."""
    body, _, positions = folded
    finder, prepared = body.skin_contacts(), device_body(body)
    _, touching = finder.contacts(positions, bent(body, 2.6))
    admitted = 0
    for frame in range(4):
        ends = [bent(body, 2.6 + turn * (frame + more)) for more in (0, 1)]
        flesh = RANDOM.normal(scale=0.05 * turn, size=positions.shape)
        movement = Movement(np.stack(ends), flesh, 1 / 60)
        rows, _, went_on = on_device(body, prepared, positions, touching, movement)
        admitted -= len(touching)
        contacts, touching = finder.contacts(positions, ends[0], touching, None, movement)
        admitted += len(touching)
        found, expected = sorted_rows(host_touching(prepared, went_on)), sorted_rows(touching)
        np.testing.assert_array_equal(found.pairs, expected.pairs)
        for name, tolerance in (
            ("shares", 1e-5), ("normals", 5e-6), ("offsets", 3e-7), ("places", 3e-7),
            ("rates", 1e-5),
        ):  # fmt: skip
            ours, theirs = getattr(found, name), getattr(expected, name)
            np.testing.assert_allclose(ours, theirs, atol=tolerance, err_msg=name)
        used = np.asarray(rows.coefficients[:, 0]) > 0.0
        rubbing = np.asarray(rows.friction)[used]
        np.testing.assert_allclose(np.sort(rubbing), np.sort(contacts.slip_limits()))
        positions = body.carry(positions, *ends) + flesh
    assert (admitted > 0) == (turn > 0.0)


def test_a_sleeping_row_is_left_alone_to_the_last_bit(folded) -> None:
    """Still bones: rows that sleep, the CPU's, keep every bit but their rates, which fall by
    e^(−dt/τ); so they do for a vertex that has left its triangle."""
    body, frames, positions = folded
    prepared, finder = device_body(body), body.skin_contacts()
    _, touching = finder.contacts(positions, frames)
    rates = np.where(np.arange(len(touching)) % 2 == 0, 0.5 * ASLEEP, 1.0)
    touching = replace(touching, rates=rates)
    gone = touching.pairs[0, 0]
    moved = positions.copy()
    moved[gone] += 2 * finder.push * np.array([0.0, 0.0, 1.0])
    movement = Movement(np.stack([frames, frames]), np.zeros_like(positions), 1 / 60)
    rows, begun, after = on_device(body, prepared, moved, touching, movement)
    _, expected = finder.contacts(moved, frames, touching, None, movement)
    slept = np.sort(expected.pairs[expected.rates < ASLEEP, 0])  # one pair each, in the first slots
    assert len(slept) > 10
    assert gone in slept
    for name in DeviceTouching._fields[:-1]:
        then, now = (np.asarray(getattr(t, name))[..., slept] for t in (begun, after))
        np.testing.assert_array_equal(now, then, err_msg=name)
    fallen = 0.5 * ASLEEP * np.exp(-1 / 60 / FORGET)
    np.testing.assert_allclose(np.asarray(after.rates)[slept], fallen, rtol=1e-6)
    asleep = (np.asarray(rows.coefficients[:, 0]) > 0) & (np.asarray(rows.rates) < ASLEEP)
    assert asleep.sum() == len(slept)


@pytest.mark.parametrize("integrator", ["bdf2", "static"])
def test_bones_move_skin_apart_by_as_much_across_origins(
    folded, integrator: Literal["bdf2", "static"]
) -> None:
    """A body that travels by 0.2 m while its arm bends, so that the device's origin jumps by a
    metre: its sides move apart as the CPU says, to float32 of a metre."""
    body, _, positions = folded
    finder = body.skin_contacts()
    _, touching = finder.contacts(positions, bent(body, 2.6))
    path = np.stack([bent(body, 2.6), bent(body, 2.61), bent(body, 2.62)])
    path[:, :, 0, 3] += np.array([0.4, 0.6, 0.8])[:, None]
    frames, origins = clip_frames(path[:, None])
    assert np.abs(np.diff(origins[:, 0], axis=0)).max() == 1.0
    skin = jax.device_put(device_skin(finder, body.model))
    whole = jnp.concatenate([frames.start[None], frames.path])[:, 0]
    bones = _bones(skin, StepRule(1 / 60, integrator=integrator), whole, frames.shifts[..., 0])
    corners = finder._corners(touching.pairs)
    for frame in range(2):
        begin, end = path[frame], path[frame + 1]
        at = frame + (integrator == "static")
        points = (positions + path[at, 0, :3, 3])[corners[:, 0]]
        moves = Movement(np.stack([begin, end]), positions, 1 / 60).moves
        sides = np.concatenate([np.ones((len(corners), 1)), -touching.shares], axis=1)
        expected = finder.blending_reference.moved_apart(points, corners, sides, moves)
        here = jnp.asarray((points - origins[at, 0]).T, jnp.float32)
        found = moved_apart(
            skin, bones.displacements[frame], here, corners, touching.shares.T.astype(np.float32)
        )
        assert expected.max() > 1e-4
        np.testing.assert_allclose(found, expected, atol=1e-6)
        np.testing.assert_allclose(
            bones.base[frame].T + origins[at, 0],
            finder.detection.base_points(path[at]),
            atol=1e-6,
        )


def test_what_touches_goes_to_a_device_and_back(folded) -> None:
    """Up to two pairs a vertex, to float32; of a third the first two are left. Pairs of edges are
    the CPU's alone: none come back."""
    body, frames, positions = folded
    prepared = device_body(body)
    _, touching = body.skin_contacts().contacts(positions, frames)
    rates = RANDOM.random(len(touching))
    touching = replace(touching, rates=rates)
    pairs, aside = touching.pairs, np.array([0, 1])
    second = replace(touching, pairs=pairs + aside, offsets=touching.offsets + 1e-3)
    both = touching.with_others(second.chosen(np.arange(3)))
    back = sorted_rows(host_touching(prepared, device_touching(prepared, both)))
    for field in fields(Touching):
        here, there = getattr(sorted_rows(both), field.name), getattr(back, field.name)
        if field.name == "edges":
            assert there is None
            continue
        assert here.dtype == there.dtype
        np.testing.assert_allclose(there, here, rtol=1e-7)
    third = replace(touching, pairs=pairs + 2 * aside).chosen(np.arange(3))
    again = host_touching(prepared, device_touching(prepared, both.with_others(third)))
    np.testing.assert_array_equal(sorted_rows(again).pairs, sorted_rows(both).pairs)
    assert len(host_touching(prepared, device_touching(prepared, None))) == 0


def test_a_limb_held_folded_comes_to_rest() -> None:
    """Forty frames of untangled flesh in the pose that it begins in, on a device. It takes some to
    find its own balance, with fewer rounds for contact forces and sweeps than the CPU: from the
    fifth on no vertex moves by a tenth of a millimetre, and none by a hundredth in the last."""
    template = synthetic.arm_template(24, 12)
    settings = ProjectiveControls(volume=0.0, collisions="global")
    simulation = ProjectiveSimulation(template, settings)
    identity = synthetic.identity_of(template)
    turns = np.zeros((41, len(synthetic.PARENTS), 3))
    turns[:, 2, 2] = 2.6
    motion = Motion("held", 60.0, turns, np.zeros((41, 3)), template.skeleton)
    outside = BoundEnvironment(simulation.body(identity))
    skins = device_posed_vertices(make_clip(simulation, outside, identity, motion), "cpu")
    moved = np.abs(np.diff(skins, axis=0)).max(axis=(1, 2))
    assert moved[4:].max() < 1e-4
    assert moved[-1] < 1e-5


@pytest.mark.parametrize("count", [3, 300])
def test_kernels_do_what_plain_programs_do(count: int) -> None:
    """Rows of random triangles among 70 free and 9 anchored vertices; some are of no contact."""
    free = 70
    half = RANDOM.normal(size=(free, free))
    dense = jnp.asarray(1e-3 * (half @ half.T / free + np.eye(free)), jnp.float32)
    coefficients = np.array([1.0, -0.5, -0.3, -0.2]) * (RANDOM.random((count, 1)) < 0.9)
    normals = RANDOM.normal(size=(3, count))
    rows = contact_rows(
        dense,
        jnp.asarray(RANDOM.integers(0, free + 9, (count, 4)), jnp.int32),
        jnp.asarray(coefficients, jnp.float32),
        jnp.asarray(normals / np.linalg.norm(normals, axis=0), jnp.float32),
        jnp.asarray(-0.01 * RANDOM.random(count), jnp.float32),
    )
    held, begun, first = jnp.asarray(0.1 * RANDOM.normal(size=(3, 3, count)), jnp.float32)
    ahead = jnp.asarray(0.1 * RANDOM.normal(size=(3, free, 1)), jnp.float32)
    pushed, forces = kernel_contacts(rows, held, begun, ahead, first, 3, interpret=True)
    expected = contact_forces(rows, held + free_places(rows, ahead), begun, first, 3)
    assert float(jnp.abs(expected).max()) > 1.0
    tolerance = 1e-5 * float(jnp.abs(expected).max())  # sums of 300 terms in another order
    np.testing.assert_allclose(forces, expected, atol=tolerance)
    moved = moved_by(rows, expected)
    np.testing.assert_allclose(pushed, moved, atol=1e-5 * float(jnp.abs(moved).max()))
    shapes = (rows, held, begun, ahead, first)
    with jax.sharding.use_abstract_mesh(an_h200()):
        made = jax.jit(kernel_contacts, static_argnums=5).trace(*shapes, 3)
        assert "_moved" in made.lower(lowering_platforms=("cuda",)).as_text()
