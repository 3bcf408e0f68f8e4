"""Whole clips on a device, on JAX's CPU backend, against the CPU simulation."""

import subprocess
import sys
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
import synthetic

from corporeal.body.motion import Motion
from corporeal.errors import FormatError, InputError
from corporeal.geometry.surface import vertex_normals
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.gpu.body import load_device_body, save_device_body
from corporeal.physics.fast_projective_skinning.gpu.clip import (
    Wanted,
    clip_frames,
    device_state,
    run_clip,
)
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body
from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.solver.damping import damped_rule
from corporeal.physics.solver.gpu.elements import flesh_of
from corporeal.physics.solver.gpu.step import SolverOptions
from corporeal.physics.solver.integration import resting
from corporeal.physics.upsampling.gpu import full_normals, full_skin
from corporeal.skinning.kinematics import forward_kinematics

TEMPLATE = synthetic.arm_template()
IDENTITY = synthetic.identity_of(TEMPLATE)
RULE = damped_rule(1 / 120, 5, ProjectiveControls().damping_ratio)
WAY = SolverOptions(unrolled=1)


@pytest.fixture(scope="module")
def body() -> SimulatedBody:
    return ProjectiveSimulation(TEMPLATE, ProjectiveControls(volume=0.0)).body(IDENTITY)


def path(kind: int, frames: int) -> np.ndarray:
    """World frames of every half frame: bending, shaking or travelling."""
    time = np.arange(2 * frames + 1) / 120
    rotations = np.zeros((len(time), len(synthetic.PARENTS), 3))
    rotations[:, 1, 2] = (0.9, 0.3, 0.6)[kind] * np.sin((6, 25, 11)[kind] * time)
    rotations[:, 3, 1] = 0.5 * np.sin(9 * time)
    travel = np.stack([(0, 0, 2e3)[kind] + time, 0.05 * np.sin(20 * time), 0 * time], axis=1)
    return forward_kinematics(rotations, IDENTITY.joints, synthetic.PARENTS, travel)


def on_the_cpu(body: SimulatedBody, frames: np.ndarray) -> tuple:
    """The flesh after all steps, and where it started."""
    rest = np.asarray(body.model.vertices, np.float64)
    start = resting(body.carry(rest, _home(), frames[0]), 1 / 120)
    state, solver = start, body.solver(1 / 120)
    for before, now in pairwise(body.carriers(frames)):
        state = solver.step(state, now[body.system.anchored], body.weight, 120 * (now - before))
    return start, state


def _home() -> np.ndarray:
    zero = np.zeros((1, len(synthetic.PARENTS), 3))
    return forward_kinematics(zero, IDENTITY.joints, synthetic.PARENTS, np.zeros((1, 3)))[0]


@pytest.mark.parametrize("kind", [0, 1, 2], ids=["bending", "shaking", "travelling"])
def test_a_clip_ends_where_the_cpu_does(body: SimulatedBody, kind: int) -> None:
    """Under 1e-4 of the body's height after 120 frames, one of them two kilometres away."""
    frames = path(kind, 120)
    start, expected = on_the_cpu(body, frames)
    prepared = device_body(body)
    near, origins = clip_frames(frames[:, None])
    solver_state = device_state(prepared, [start], origins[0], 1 / 120)
    inverse = prepared.inverse(RULE)
    _, posed_vertices, _ = run_clip(
        prepared, inverse, RULE, solver_state, near, steps=2, piece=40,
        wanted=Wanted(simulated=True), options=WAY,
    )  # fmt: skip
    found = np.asarray(posed_vertices.simulated[-1, :, :, 0]).T + origins[-1]
    height = np.ptp(body.model.skin[:, 0])
    count = body.model.vertex_count
    assert np.abs(found - expected.positions[:count]).max() < 1e-4 * height
    skin = np.asarray(posed_vertices.vertices[-1, 0]) + origins[-1]
    assert np.abs(skin - body.skin(expected.positions)).max() < 1e-4 * height


def test_bones_carry_as_on_the_cpu(body: SimulatedBody) -> None:
    """Half-turned joints, sliding and projection in float32, for poses of up to two radians."""
    prepared = device_body(body)
    for turn in np.random.default_rng(6).normal(scale=0.7, size=(4, len(synthetic.PARENTS), 3)):
        frames = forward_kinematics(turn, IDENTITY.joints, synthetic.PARENTS, np.zeros(3))
        found = prepared.carried(jnp.asarray(frames, jnp.float32))[:, prepared.sources]
        np.testing.assert_allclose(found.T, body.carriers(frames)[prepared.order], atol=3e-6)


def test_skin_and_normals_are_those_of_the_cpu(body: SimulatedBody) -> None:
    prepared = device_body(body)
    skin = np.asarray(body.model.skin) + 0.01 * np.random.default_rng(7).normal(
        size=body.model.skin.shape
    )
    flat = jnp.asarray(skin.T, jnp.float32)
    np.testing.assert_allclose(full_skin(prepared.upsampler, flat), body.skin(skin), atol=1e-6)
    normals = vertex_normals(skin, np.asarray(body.model.triangles))
    found = full_normals(prepared.upsampler, prepared.surface, flat)
    np.testing.assert_allclose(found, normals, atol=1e-4)


def test_what_is_saved_is_what_was_made(body: SimulatedBody, tmp_path: Path) -> None:
    import jax

    prepared = device_body(body)
    save_device_body(tmp_path / "body.npz", prepared)
    loaded = load_device_body(tmp_path / "body.npz")
    for before, after in zip(jax.tree.leaves(prepared), jax.tree.leaves(loaded), strict=True):
        np.testing.assert_array_equal(before, after)
    np.savez(tmp_path / "other.npz", format=np.array("another"))
    with pytest.raises(FormatError, match="prepared for a device"):
        load_device_body(tmp_path / "other.npz")


def test_attachments_are_saved_where_there_are_some(body: SimulatedBody, tmp_path: Path) -> None:
    """Springs come back as they were; a file without them, as all were once, gives None."""
    prepared = device_body(body)
    assert prepared.elements.springs is None
    assert prepared.flesh.springs is None
    springs = np.linspace(0.0, 600.0, prepared.free_count, dtype=np.float32)
    elements = replace(prepared.elements, springs=springs)
    sprung = replace(prepared, elements=elements, flesh=flesh_of(elements))
    for made, expected in ((sprung, springs), (prepared, None)):
        save_device_body(tmp_path / "body.npz", made)
        loaded = load_device_body(tmp_path / "body.npz")
        np.testing.assert_array_equal(loaded.elements.springs, expected)
        np.testing.assert_array_equal(loaded.flesh.springs, expected)


def test_a_prepared_body_runs_without_the_cpu_engines(body: SimulatedBody, tmp_path: Path) -> None:
    """NumPy, SciPy, JAX and jaxtyping are enough to load a body and run a clip."""
    save_device_body(tmp_path / "body.npz", device_body(body))
    np.save(tmp_path / "path.npy", path(0, 2))
    code = f"""
import sys
for name in ("numba", "array_api_compat", "tyro", "tqdm", "PIL"):
    sys.modules[name] = None
import numpy as np
from corporeal.physics.contact.gpu import pairs as gpu_pairs
from corporeal.physics.fast_projective_skinning.gpu import crowd
from corporeal.physics.fast_projective_skinning.gpu import materials as gpu_materials
from corporeal.physics.fast_projective_skinning.gpu.body import load_device_body
from corporeal.physics.fast_projective_skinning.gpu.clip import clip_frames, device_state, run_clip
from corporeal.physics.solver.gpu.step import SolverOptions
from corporeal.physics.solver.integration import StepRule, resting
body = load_device_body(r"{tmp_path / "body.npz"}")
frames, origins = clip_frames(np.load(r"{tmp_path / "path.npy"}")[:, None])
rule = StepRule(1 / 120, 5, 10.0)
solver_state = device_state(body, [resting(body.rest, 1 / 120)], origins[0], 1 / 120)
options = SolverOptions(unrolled=1)
inverse = body.inverse(rule)
_, posed_vertices, _ = run_clip(body, inverse, rule, solver_state, frames, steps=2, options=options)
print(np.isfinite(np.asarray(posed_vertices.vertices)).all(), posed_vertices.vertices.shape)
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.stdout.strip() == f"True (2, 1, {TEMPLATE.mesh.vertex_count}, 3)", done.stderr


def test_the_deformer_gives_the_same_skins_on_a_device() -> None:
    """The clip that the deformer makes, through JAX: from the same quiet start."""
    rotations = np.zeros((8, len(synthetic.PARENTS), 3))
    rotations[:, 1, 2] = np.linspace(0, 0.5, 8)
    motion = Motion("bend", 60.0, rotations, np.zeros((8, 3)), TEMPLATE.skeleton)
    simulation = ProjectiveSimulation(TEMPLATE)
    clip = make_clip(simulation, BoundEnvironment(simulation.body(IDENTITY)), IDENTITY, motion)
    np.testing.assert_allclose(device_posed_vertices(clip, "cpu"), clip.posed_vertices(), atol=1e-5)


def test_what_only_the_cpu_offers_is_refused() -> None:
    motion = Motion(
        "still", 60.0, np.zeros((1, len(synthetic.PARENTS), 3)), np.zeros((1, 3)), TEMPLATE.skeleton
    )
    simulation = ProjectiveSimulation(TEMPLATE)
    clip = make_clip(simulation, BoundEnvironment(simulation.body(IDENTITY)), IDENTITY, motion)
    with pytest.raises(InputError, match="single frame"):
        device_posed_vertices(clip, "cpu")


def test_broken_pieces_are_refused(body: SimulatedBody) -> None:
    prepared = device_body(body)
    frames, origins = clip_frames(path(0, 3)[:, None])
    solver_state = device_state(prepared, [resting(prepared.rest, 1 / 120)], origins[0], 1 / 120)
    with pytest.raises(InputError, match="whole pieces"):
        run_clip(prepared, prepared.inverse(RULE), RULE, solver_state, frames, steps=2, piece=2)
