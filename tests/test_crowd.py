"""Crowds give what single characters give."""

import numpy as np
import pytest
import synthetic

from corporeal.body.identity import Identity
from corporeal.errors import InputError
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.gpu.body import DeviceBody
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    SkeletonFrames,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.fast_projective_skinning.gpu.crowd import (
    assembled_people,
    assembled_states,
    run_people,
)
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.gpu.elements import system_matrix
from corporeal.physics.solver.gpu.inverse import inverted, local_inverse
from corporeal.physics.solver.gpu.step import SolverOptions, SolverState
from corporeal.physics.solver.integration import resting
from corporeal.skinning.kinematics import forward_kinematics

RULE, WAY = damped_rule(1 / 120, 4, 0.2), SolverOptions(unrolled=1)
STEPS = 12


def person(width: float, rings: int = 12) -> DeviceBody:
    template = synthetic.arm_template(rings)
    identity = synthetic.identity_of(template)
    wide = Identity(identity.rest_vertices * [1, width, 1], identity.joints * [1, width, 1], {})
    return device_body(ProjectiveSimulation(template, ProjectiveControls(volume=0.0)).body(wide))


def moved(body: DeviceBody, phase: float) -> tuple[SolverState, SkeletonFrames, np.ndarray]:
    """A turning, travelling skeleton, and flesh that begins at rest."""
    time = np.arange(STEPS + 1) / 120
    rotations = np.zeros((STEPS + 1, len(synthetic.PARENTS), 3))
    rotations[:, 1, 2] = 0.4 * (np.sin(20 * time + phase) - np.sin(phase))
    joints = synthetic.arm_template().skeleton.joints
    travel = np.stack([3 * time + 10 * phase, 0 * time, 0 * time], axis=1)
    frames, origins = clip_frames(
        forward_kinematics(rotations, joints, synthetic.PARENTS, travel)[:, None]
    )
    rest = np.asarray(body.rest, np.float64) + travel[0]
    return device_state(body, [resting(rest, 1 / 120)], origins[0], 1 / 120), frames, origins


def together(parts: list[SkeletonFrames]) -> SkeletonFrames:
    return SkeletonFrames(
        np.concatenate([p.start for p in parts]),
        np.concatenate([p.path for p in parts], axis=1),
        np.concatenate([p.shifts for p in parts], axis=2),
    )


def test_characters_of_one_body_move_each_on_its_own() -> None:
    """A batch of three against one at a time: the same sums in another order, float32."""
    body = person(1.0)
    inverse = body.inverse(RULE)
    cases = [moved(body, phase) for phase in (0.0, 0.7, 1.9)]
    both = SolverState(
        *(np.concatenate(p, axis=2) for p in zip(*(c[0] for c in cases), strict=True))
    )
    frames = together([c[1] for c in cases])
    _, crowd, _ = run_clip(body, inverse, RULE, both, frames, steps=2, options=WAY)
    for number, (solver_state, path, _) in enumerate(cases):
        _, single, _ = run_clip(body, inverse, RULE, solver_state, path, steps=2, options=WAY)
        off = np.abs(np.asarray(crowd.vertices)[:, number] - np.asarray(single.vertices)[:, 0])
        assert off.max() < 2e-6
    first, second = np.asarray(crowd.vertices)[-1, 0], np.asarray(crowd.vertices)[-1, 1]
    assert np.abs(first - second).max() > 0.01


def test_different_people_move_each_on_their_own() -> None:
    """Two bodies of different shape, one of which has fewer free vertices."""
    bodies = [person(1.0), person(1.4)]
    bodies[1] = fewer_free(bodies[1])
    assert bodies[0].free_count != bodies[1].free_count
    inverses = [local(body) for body in bodies]
    cases = [moved(body, phase) for body, phase in zip(bodies, (0.0, 1.1), strict=True)]
    people = assembled_people(bodies, inverses, RULE)
    states = assembled_states(people, [c[0] for c in cases])
    _, posed_vertices = run_people(
        people, RULE, states, together([c[1] for c in cases]), steps=2, options=WAY
    )
    for number, (solver_state, path, _) in enumerate(cases):
        _, single, _ = run_clip(
            bodies[number], inverses[number], RULE, solver_state, path, steps=2, options=WAY
        )
        off = np.abs(np.asarray(posed_vertices)[:, number] - np.asarray(single.vertices)[:, 0])
        assert off.max() < 5e-6


def fewer_free(body: DeviceBody) -> DeviceBody:
    """The same body with its last free vertex anchored where its bone carries it."""
    from dataclasses import replace

    from corporeal.physics.solver.gpu.elements import Elements, flesh_of

    count = body.free_count - 1
    old = body.elements
    assert old.springs is None  # published flesh has no attachments
    elements = Elements(old.tetrahedra, old.inverse_edges, old.weights, old.masses[:count])
    return replace(body, elements=elements, flesh=flesh_of(elements), weight=body.weight[:, :count])


def local(body: DeviceBody):
    count = len(body.order)
    return local_inverse(
        inverted(system_matrix(body.elements, RULE.inertia, count, RULE.stiffening))
    )


def test_people_need_local_inverses() -> None:
    body = person(1.0)
    with pytest.raises(InputError, match="local_inverse"):
        assembled_people([body], [body.inverse(RULE, dense=True)], RULE)
