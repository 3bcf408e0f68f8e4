"""Volume kept by pressures on a device, against the float64 reference and the CPU simulation."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import synthetic

from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.gpu.body import load_device_body, save_device_body
from corporeal.physics.fast_projective_skinning.gpu.clip import clip_frames, device_state, run_clip
from corporeal.physics.fast_projective_skinning.gpu.crowd import (
    assembled_people,
    assembled_states,
    run_people,
)
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body
from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.gpu.elements import system_matrix
from corporeal.physics.solver.gpu.inverse import inverted, local_inverse
from corporeal.physics.solver.gpu.solver import GpuSolver
from corporeal.physics.solver.gpu.step import SolverOptions
from corporeal.physics.solver.integration import resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.volume_preservation.gpu import corrected
from corporeal.skinning.kinematics import forward_kinematics

TEMPLATE = synthetic.arm_template()
IDENTITY = synthetic.identity_of(TEMPLATE)
SIMULATION = ProjectiveSimulation(TEMPLATE, ProjectiveControls(volume=50.0))
RULE = damped_rule(1 / 120, 5, 0.2)


@pytest.fixture(scope="module")
def body() -> SimulatedBody:
    return SIMULATION.body(IDENTITY)


def bending(frames: int) -> np.ndarray:
    """World frames of a joint that bends by up to a radian."""
    rotation_vectors = np.zeros((frames + 1, len(synthetic.PARENTS), 3))
    rotation_vectors[:, 1, 2] = np.sin(np.pi / 2 * np.arange(frames + 1) / frames)
    return forward_kinematics(
        rotation_vectors, IDENTITY.joints, synthetic.PARENTS, np.zeros((frames + 1, 3))
    )


def test_steps_are_those_of_the_reference(body: SimulatedBody) -> None:
    """Twelve steps of a slow bend. Volumes of litres are known to 1e-10 m³ in float32, against
    compliances of 1e-9 m³/Pa: pressures to a few Pa of hundreds, places to micrometres."""
    carriers, system = body.carriers(bending(120)[:13]), body.system
    ends = []
    for solver in (
        ReferenceSolver(system, RULE),
        GpuSolver(system, RULE, body.rest),
        ReferenceSolver(replace(system, volume_preservation=None), RULE),
    ):
        state = resting(np.asarray(body.rest, np.float64), RULE.step)
        for before, now in pairwise(carriers):
            speed = (now - before) / RULE.step
            state = solver.step(state, now[system.anchored], body.weight, speed)
        ends.append(state)
    expected, found, without = ends
    assert np.abs(expected.pressures).max() > 10.0
    pressures_off = np.abs(found.pressures - expected.pressures).max()
    assert pressures_off < 0.01 * np.abs(expected.pressures).max()
    off, effect = (
        np.sqrt(np.mean((each.positions - expected.positions) ** 2)) for each in (found, without)
    )
    assert effect > 1e-4
    assert off < 0.01 * effect


@pytest.mark.parametrize("moving", [True, False], ids=["moving", "static"])
def test_torn_flesh_counts_as_less_torn_in_motion_alone(body: SimulatedBody, moving: bool) -> None:
    """Flesh of a third of its volume: the CPU's correction, with the same gain."""
    prepared, preservation = device_body(body), body.system.volume_preservation
    assert preservation is not None
    here = prepared.preservation(RULE)
    assert here is not None
    positions, before = 0.7 * body.rest, np.full(preservation.region_count, 30.0)
    gain = np.asarray(here.gain[0], np.float64)
    expected = preservation.corrected(before, preservation.volumes(positions), gain, moving)
    found = corrected(
        here,
        before.astype(np.float32)[None, :, None],
        positions[prepared.order].T[..., None].astype(np.float32),
        moving,
    )[0, :, 0]
    gentle = preservation.corrected(before, preservation.volumes(positions), gain, True)
    assert np.array_equal(expected, gentle) == moving
    np.testing.assert_allclose(found, expected, atol=1e-3 * max(np.abs(expected).max(), 1.0))


def test_a_clip_with_kept_volume_is_that_of_the_cpu(body: SimulatedBody) -> None:
    """The deformer's clip through JAX, in balance at its start, ends where the compiled CPU solver
    ends; both in float32, both accelerated."""
    rotations = np.zeros((6, len(synthetic.PARENTS), 3))
    rotations[:, 1, 2] = np.linspace(0.0, 0.06, 6)
    motion = Motion("bend", 60.0, rotations, np.zeros((6, 3)), TEMPLATE.skeleton)
    clip = make_clip(SIMULATION, BoundEnvironment(body), IDENTITY, motion)
    np.testing.assert_allclose(device_posed_vertices(clip, "cpu"), clip.posed_vertices(), atol=3e-5)


def test_people_keep_their_own_volumes(body: SimulatedBody, tmp_path) -> None:
    """Two people of different volume ratios in one program, against each alone; one of them from a
    file. A crowd in which only some keep volume is refused."""
    settings = replace(SIMULATION.settings, volume=5.0)
    softer = device_body(ProjectiveSimulation(TEMPLATE, settings).body(IDENTITY))
    save_device_body(tmp_path / "body.npz", device_body(body))
    bodies = [load_device_body(tmp_path / "body.npz"), softer]
    frames, origins = clip_frames(bending(120)[:5, None])
    matrices = [
        system_matrix(each.elements, RULE.inertia, len(each.order), RULE.stiffening)
        for each in bodies
    ]
    inverses = [local_inverse(inverted(matrix), 0.0) for matrix in matrices]
    rest = resting(np.asarray(body.rest, np.float64) + origins[0, 0], RULE.step)
    states = [device_state(each, [rest], origins[0], RULE.step) for each in bodies]
    everybody = assembled_people(bodies, inverses, RULE)
    both = frames._replace(
        start=np.repeat(frames.start, 2, axis=0),
        path=np.repeat(frames.path, 2, axis=1),
        shifts=np.repeat(frames.shifts, 2, axis=2),
    )
    options = SolverOptions(unrolled=1)
    solver_state = assembled_states(everybody, states)
    last, posed_vertices = run_people(everybody, RULE, solver_state, both, options=options)
    for number, each in enumerate(bodies):
        preservation, start = each.preservation(RULE), states[number]
        after, alone, _ = run_clip(
            each, inverses[number], RULE, start, frames, preservation=preservation, options=options
        )
        np.testing.assert_allclose(posed_vertices[:, number], alone.vertices[:, 0], atol=2e-6)
        found, expected = last.pressures[number, :, 0], after.pressures[0, :, 0]
        np.testing.assert_allclose(found, expected, atol=0.01 * np.abs(expected).max())
    with pytest.raises(InputError, match="all or none"):
        assembled_people([bodies[0], replace(softer, volume=None)], inverses, RULE)
