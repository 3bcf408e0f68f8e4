"""Colliders, wind, static balance and loops on a device, against the CPU simulation."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic

from corporeal.body.grab import grab_vertex
from corporeal.body.motion import Motion
from corporeal.errors import InputError, SolverError
from corporeal.physics.contact.colliders.box import Box
from corporeal.physics.contact.colliders.capsule import Capsule
from corporeal.physics.contact.colliders.collider import Collider, placed
from corporeal.physics.contact.colliders.ground import Ground
from corporeal.physics.contact.colliders.mesh import MeshSolid
from corporeal.physics.contact.colliders.sphere import Sphere
from corporeal.physics.contact.gpu.detection import Capacity
from corporeal.physics.contact.gpu.environment import _distances, wind_forces
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment, Environment
from corporeal.physics.fast_projective_skinning.gpu.environment import device_world
from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body, device_surface
from corporeal.physics.fast_projective_skinning.gpu.take import device_posed_vertices
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.wind import Wind

TEMPLATE = synthetic.arm_template()
IDENTITY = synthetic.identity_of(TEMPLATE)


def clip_of(settings: ProjectiveControls, world: Environment | None = None, frames: int = 7):
    """An arm that bends a little in some frames."""
    rotations = np.zeros((frames, len(synthetic.PARENTS), 3))
    rotations[:, 1, 2] = 0.01 * np.sin(2 * np.pi * np.arange(frames) / (frames - 1))
    motion = Motion("sway", 60.0, rotations, np.zeros((frames, 3)), TEMPLATE.skeleton)
    simulation = ProjectiveSimulation(TEMPLATE, settings)
    outside = BoundEnvironment(simulation.body(IDENTITY), world)
    return make_clip(simulation, outside, IDENTITY, motion)


def test_distances_are_those_of_the_shapes() -> None:
    """Float32 against the CPU's shapes in float64, inside and outside."""
    shapes = (Ground(), Box((0.4, 0.2, 0.3)), Sphere(0.25), Capsule(0.1, 0.3))
    body = ProjectiveSimulation(TEMPLATE).body(IDENTITY)
    outside = BoundEnvironment(body, Environment(tuple(placed(shape) for shape in shapes)))
    world = device_world(
        outside,
        device_body(body),
        np.eye(2, dtype=np.float32),
        np.zeros(2),
        np.zeros((2, 3)),
        False,
    )
    assert world is not None
    points = np.random.default_rng(1).uniform(-0.4, 0.4, size=(200, 3))
    each = np.repeat(points.T[:, None], len(shapes), axis=1).astype(np.float32)
    distance, normals = _distances(world, each)
    for number, shape in enumerate(shapes):
        expected, away = shape.distances(points)
        np.testing.assert_allclose(distance[number], expected, atol=1e-6)
        np.testing.assert_allclose(normals[:, number].T, away, atol=1e-5)


def test_wind_is_that_of_the_cpu() -> None:
    random, body = np.random.default_rng(2), ProjectiveSimulation(TEMPLATE).body(IDENTITY)
    skin, triangles = np.asarray(body.surface.vertices), np.asarray(body.surface.triangles)
    speeds, wind = random.normal(size=skin.shape), Wind(np.array([8.0, 1.0, -3.0]))
    expected = wind.forces(skin, speeds, triangles)
    world = device_world(
        BoundEnvironment(body, Environment(wind=wind)), device_body(body),
        np.eye(2, dtype=np.float32), np.zeros(2), np.zeros((2, 3)), False,
    )  # fmt: skip
    assert world is not None
    flat = (skin.T.astype(np.float32), speeds.T.astype(np.float32))
    found = wind_forces(world, device_surface(triangles, len(skin)), *flat)
    np.testing.assert_allclose(found.T, expected, atol=1e-5 * np.abs(expected).max())


def ball(friction: float) -> Collider:
    """A ball that has come 8 mm into the arm's side."""
    low = np.asarray(IDENTITY.rest_vertices)[:, 1].min()
    middle = float(np.asarray(IDENTITY.joints)[2, 0] + np.asarray(IDENTITY.joints)[1, 0]) / 2
    return placed(Sphere(0.05), (middle, float(low) - 0.05 + 0.008, 0.0), friction=friction)


@pytest.mark.parametrize("dynamics", [True, False], ids=["moving", "static"])
def test_a_ball_dents_as_on_the_cpu(dynamics: bool) -> None:
    """Both solve the same rows; the CPU by Gauss–Seidel to 1e-5 m. Without the ball the skin is
    millimetres elsewhere."""
    settings = ProjectiveControls(dynamics=dynamics)
    world = Environment((ball(0.0),))
    expected, found = (
        clip_of(settings, world).posed_vertices(),
        device_posed_vertices(clip_of(settings, world), "cpu"),
    )
    free = clip_of(settings).posed_vertices()
    assert np.abs(expected - free).max() > 2e-3
    assert np.abs(found - expected).max() < 2e-4


@pytest.mark.parametrize("dynamics", [True, False], ids=["moving", "static"])
def test_grabs_draw_as_on_the_cpu(dynamics: bool) -> None:
    """A point of the full skin drawn 3 cm out by a spring; it is known to the matrix of the global
    step here, and a row beside it on the CPU. Wind blows as well; no collider is near."""
    settings, skin = ProjectiveControls(dynamics=dynamics), np.asarray(IDENTITY.rest_vertices)
    middle = np.asarray(IDENTITY.joints)[1:3].mean(axis=0)
    vertex = int(np.argmin(np.linalg.norm(skin - middle - [0.0, 0.05, 0.0], axis=1)))
    world = Environment(
        wind=Wind(np.array([0.0, 0.0, 8.0])),
        grabs=(grab_vertex(vertex, skin[vertex] + [0.0, 0.03, 0.0], 800.0),),
    )
    clip = clip_of(settings, world)
    expected, found, free = (
        clip.posed_vertices(),
        device_posed_vertices(clip, "cpu"),
        clip_of(settings).posed_vertices(),
    )
    assert np.abs(expected[-1] - free[-1]).max() > 5e-3
    assert np.abs(found - expected).max() < 1e-4


def test_loops_close_as_on_the_cpu() -> None:
    """The last frame of a sway is its first; both engines run it until nothing changes."""
    settings = ProjectiveControls(loop=True, damping_ratio=1.0, volume=0.0)
    found, expected = (
        device_posed_vertices(clip_of(settings), "cpu"),
        clip_of(settings).posed_vertices(),
    )
    np.testing.assert_allclose(found, expected, atol=3e-5)
    np.testing.assert_allclose(found[0], found[-1], atol=2e-4)


def test_room_grows_unless_it_was_given() -> None:
    """Contacts that do not fit are an error in a given room; otherwise the clip is run again."""
    low = float(np.asarray(IDENTITY.rest_vertices)[:, 1].min())
    settings = ProjectiveControls()
    world = Environment((placed(Ground(), (0.0, low + 0.01, 0.0)),))
    with pytest.raises(SolverError, match="vertices near colliders"):
        device_posed_vertices(clip_of(settings, world), "cpu", Capacity(8, 2**12, 2**12, touches=1))
    assert np.isfinite(device_posed_vertices(clip_of(settings, world), "cpu")).all()


def test_a_mesh_is_refused() -> None:
    mesh = replace(TEMPLATE.mesh, triangles=np.asarray(TEMPLATE.mesh.triangles)[:, ::-1])
    world = Environment((placed(MeshSolid(mesh)),))
    with pytest.raises(InputError, match="MeshSolid"):
        device_posed_vertices(clip_of(ProjectiveControls(), world), "cpu")
