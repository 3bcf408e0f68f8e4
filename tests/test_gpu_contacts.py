"""Collisions on a device, on JAX's CPU backend, against the CPU's detection."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic

from corporeal.body.pose import Pose
from corporeal.errors import SolverError
from corporeal.physics.contact.gpu.detection import Capacity, require_capacity, vertices_inside
from corporeal.physics.contact.gpu.lists import chosen, listed, running_total, sorted_order
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.gpu.clip import clip_frames, device_state, run_clip
from corporeal.physics.fast_projective_skinning.gpu.contacts import (
    Collisions,
    base_points,
    no_pairs,
)
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body, device_skin
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


def test_collisions_do_what_they_do_on_the_cpu_and_too_little_room_is_an_error(folded) -> None:
    """Two frames from the same state. The CPU may keep two pairs for one vertex and the device
    keeps one, so that single vertices differ: against what collisions do in all, by a fifth at
    most. A list for a single contact raises instead of dropping the others."""
    body, frames, positions = folded
    prepared, skin = device_body(body), device_skin(body.skin_contacts(), body.model)
    rule = StepRule(1 / 120, 5, 10.0)
    path, origins = clip_frames(np.repeat(frames[None, None], 5, axis=0))
    solver_state = device_state(prepared, [resting(positions, 1 / 120)], origins[0], 1 / 120)
    inverse = prepared.inverse(rule, dense=True)
    assert isinstance(inverse, DenseInverse)
    collisions = Collisions(skin, inverse.matrix, no_pairs(prepared))
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
    assert int(touched.counts[0]) > 3
    chosen_vertices = np.asarray(prepared.order)[: prepared.free_count]
    found = np.asarray(last.positions[..., 0]).T + origins[-1]
    expected = two_frames(body, frames, positions, True)[chosen_vertices]
    without = two_frames(body, frames, positions, False)[chosen_vertices]
    effect = np.sqrt(((expected - without) ** 2).mean())
    assert effect > 1e-4
    assert np.sqrt(((found - expected) ** 2).mean()) < 0.2 * effect
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


def two_frames(body, frames: np.ndarray, positions: np.ndarray, collide: bool) -> np.ndarray:
    """Two frames of two steps on the CPU, with a skeleton that stands still."""
    state, pairs, finder = resting(positions, 1 / 120), None, body.skin_contacts()
    anchors = body.carriers(frames)[body.system.anchored]
    for _ in range(2):
        rows, pairs = finder.contacts(state.positions, frames, pairs)
        for _ in range(2):
            state = body.solver(1 / 120).step(
                state, anchors, body.weight, contacts=rows if collide else None
            )
    return state.positions


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
    made = jax.jit(kernel_contacts, static_argnums=5).trace(*shapes, 3)
    assert "_moved" in made.lower(lowering_platforms=("cuda",)).as_text()
