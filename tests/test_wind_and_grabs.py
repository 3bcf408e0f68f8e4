"""Wind against closed forms; grabs as springs between a skin point and a place."""

import numpy as np
import pytest
import synthetic
from solids import circle, tube

from corporeal.body.grab import Grab, grab_vertex
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.environment import Environment
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.wind import Wind

JOINTS = len(synthetic.PARENTS)
ZERO = Pose(np.zeros((JOINTS, 3)), np.zeros(3))


@pytest.fixture(scope="module")
def template() -> Template:
    return synthetic.arm_template()


@pytest.fixture(scope="module")
def identity(template: Template) -> Identity:
    return synthetic.identity_of(template)


def plate(angle: float) -> np.ndarray:
    """A square metre whose normal is `angle` away from +x."""
    c, s = np.cos(angle), np.sin(angle)
    square = np.array([[0, 0, 0], [0, 1, 0], [0, 1, 1], [0, 0, 1]], float)
    return square @ np.array([[c, s, 0], [-s, c, 0], [0, 0, 1]])


SQUARE = np.array([[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize("angle", [0.0, 0.4, np.pi / 2])
def test_wind_on_a_plate(angle: float) -> None:
    """½ ρ c_d v² A cos α along the normal, equally on all four corners' triangles."""
    wind = Wind(np.array([5.0, 0.0, 0.0]), density=1.3, drag=1.1)
    forces = wind.forces(plate(angle), np.zeros((4, 3)), SQUARE)
    size = 0.5 * 1.3 * 1.1 * 25.0 * np.cos(angle)
    normal = np.array([np.cos(angle), np.sin(angle), 0.0])
    np.testing.assert_allclose(forces.sum(axis=0), size * normal, atol=1e-12)


def test_wind_is_felt_relative_to_what_moves() -> None:
    """Going with the wind there is none; going against it four times as much."""
    wind = Wind(np.array([5.0, 0.0, 0.0]))
    still = wind.forces(plate(0.0), np.zeros((4, 3)), SQUARE)
    along = wind.forces(plate(0.0), np.full((4, 3), [5.0, 0.0, 0.0]), SQUARE)
    against = wind.forces(plate(0.0), np.full((4, 3), [-5.0, 0.0, 0.0]), SQUARE)
    np.testing.assert_allclose(along, 0.0, atol=1e-12)
    np.testing.assert_allclose(against, 4.0 * still)


def test_wind_round_a_cylinder() -> None:
    """Across its axis: ½ ρ c_d v² ∫ cos² dA = ½ ρ c_d v² π r l, as far as 60 sides are round; the
    ends feel nothing."""
    vertices, triangles = tube(circle(0.1, 60), 2.0, 5)
    wind = Wind(np.array([4.0, 0.0, 0.0]))
    total = wind.forces(vertices, np.zeros_like(vertices), triangles).sum(axis=0)
    assert total[0] == pytest.approx(0.5 * 1.2 * 16.0 * np.pi * 0.1 * 2.0, rel=3e-3)
    np.testing.assert_allclose(total[1:], 0.0, atol=1e-9)


def test_wind_leans_on_flesh(template: Template, identity: Identity) -> None:
    simulation = ProjectiveSimulation(template)
    state, storm = simulation.start(identity), Wind(np.array([0.0, 0.0, 40.0]))
    for _ in range(20):
        state = simulation.step(state, ZERO, 1 / 60, environment=Environment(wind=storm))
    moved = (simulation.skin(state) - identity.rest_vertices)[:, 2]
    assert moved.mean() > 1e-3


@pytest.mark.parametrize("shares", [(1.0,), (0.5, 0.3, 0.2)])
def test_a_grab_pulls_with_its_spring(
    template: Template, identity: Identity, shares: tuple[float, ...]
) -> None:
    """In balance the skin is where forces k (target − point), given to the held vertices by their
    shares, would bring it; let go, it comes back."""
    simulation = ProjectiveSimulation(template, ProjectiveControls(dynamics=False))
    held = np.array([47, 48, 57])[: len(shares)]
    place = np.asarray(shares) @ np.asarray(identity.rest_vertices)[held]
    grab = Grab(held, np.asarray(shares), place + np.array([0.0, 0.0, 0.1]), stiffness=250.0)
    state = simulation.start(identity)
    for _ in range(4):
        state = simulation.step(state, ZERO, 1 / 60, environment=Environment(grabs=(grab,)))
    dragged = simulation.skin(state)
    pull = grab.stiffness * (grab.target - grab.point(dragged))
    assert 1.0 < np.linalg.norm(pull) < 24.5  # 25 N if the skin did not move
    forces = np.zeros_like(dragged)
    forces[held] = np.asarray(shares)[:, None] * pull
    pulled = simulation.start(identity)
    for _ in range(4):
        pulled = simulation.step(pulled, ZERO, 1 / 60, forces)
    furthest = np.abs(dragged - identity.rest_vertices).max()
    assert furthest > 0.004
    np.testing.assert_allclose(simulation.skin(pulled), dragged, atol=0.02 * furthest)
    for _ in range(4):
        state = simulation.step(state, ZERO, 1 / 60)
    assert np.abs(simulation.skin(state) - identity.rest_vertices).max() < 0.02 * furthest


def test_a_stiff_grab_brings_the_point_to_its_target(
    template: Template, identity: Identity
) -> None:
    """1 MN/m against flesh of some hundred N/m: the vertex is there, in a static clip as well."""
    target = np.asarray(identity.rest_vertices)[47] + np.array([0.0, 0.0, 0.02])
    world = Environment(grabs=(grab_vertex(47, target, 1e6),))
    for dynamics in (True, False):
        simulation = ProjectiveSimulation(template, ProjectiveControls(dynamics=dynamics))
        state = simulation.start(identity)
        for _ in range(20):
            state = simulation.step(state, ZERO, 1 / 60, environment=world)
        np.testing.assert_allclose(simulation.skin(state)[47], target, atol=2e-4)


def test_wrong_winds_and_grabs_are_refused(template: Template, identity: Identity) -> None:
    for make, words in (
        (lambda: Wind(np.array([np.nan, 0.0, 0.0])), "wind velocity"),
        (lambda: Wind(np.zeros(3), density=-1.0), "density -1"),
        (lambda: Wind(np.zeros(3), drag=np.inf), "drag inf"),
        (lambda: Grab(np.arange(2), np.array([0.2, 0.2]), np.zeros(3)), "sum to 1"),
        (lambda: Grab(np.arange(4), np.full(4, 0.25), np.zeros(3)), "one to three"),
        (lambda: grab_vertex(0, np.zeros(3), stiffness=0.0), "stiffness 0"),
        (lambda: grab_vertex(0, np.full(3, np.nan)), "grab target"),
    ):
        with pytest.raises(InputError, match=words):
            make()
    simulation = ProjectiveSimulation(template)
    state = simulation.start(identity)
    world = Environment(grabs=(grab_vertex(template.mesh.vertex_count, np.zeros(3)),))
    with pytest.raises(InputError, match="the skin has"):
        simulation.step(state, ZERO, 1 / 60, environment=world)
