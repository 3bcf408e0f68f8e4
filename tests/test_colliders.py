"""Colliders: distances against closed forms, and soft solids that fall, slide and are pushed."""

import numpy as np
import pytest
from flesh import bar

from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.geometry.transforms import invert_rigid, transform_points
from corporeal.physics.contact.colliders.box import Box
from corporeal.physics.contact.colliders.capsule import Capsule
from corporeal.physics.contact.colliders.collider import Collider, MovingSkin, Touch, placed
from corporeal.physics.contact.colliders.ground import Ground
from corporeal.physics.contact.colliders.mesh import MeshSolid
from corporeal.physics.contact.colliders.shape import ColliderShape
from corporeal.physics.contact.colliders.sphere import Sphere
from corporeal.physics.contact.contacts import joined, no_contacts
from corporeal.physics.solver.constraints.strain import strain_constraint
from corporeal.physics.solver.integration import State, StepRule, resting
from corporeal.physics.solver.reference import ReferenceSolver
from corporeal.physics.solver.system import System, tetrahedral_masses

GRAVITY = np.array([0.0, -9.81, 0.0])
STEP = 1 / 120
NO_ANCHORS = np.zeros((0, 3))


def box_mesh(size: tuple[float, float, float], turn: int = 1) -> Mesh:
    """Twelve triangles round a box with its middle at the origin."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)])
    quads = [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    triangles = [t for a, b, c, d in quads for t in ((a, b, c), (a, c, d))]
    return Mesh(0.5 * corners * size, np.array(triangles)[:, ::turn])


SHAPES: dict[str, ColliderShape] = {
    "ground": Ground(),
    "box": Box((0.6, 0.2, 0.5)),
    "sphere": Sphere(0.4),
    "capsule": Capsule(0.2, 0.5),
    "mesh": MeshSolid(box_mesh((0.6, 0.2, 0.5))),
}


@pytest.mark.parametrize("name", SHAPES)
def test_normals_are_gradients_of_distances_with_length_one(name: str) -> None:
    """|∇d| = 1 almost everywhere, and its central difference is the normal."""
    shape, eps = SHAPES[name], 1e-6
    points = np.random.default_rng(3).uniform(-0.7, 0.7, (200, 3))
    distance, normals = shape.distances(points)
    assert (distance < 0).any()
    assert (distance > 0).any()
    slopes = [
        (shape.distances(points + eps * axis)[0] - shape.distances(points - eps * axis)[0])
        / (2 * eps)
        for axis in np.eye(3)
    ]
    smooth = np.linalg.norm(np.stack(slopes, axis=1) - normals, axis=1) < 1e-4
    assert smooth.mean() > 0.98  # the rest stands on a crease inside
    np.testing.assert_allclose(np.linalg.norm(normals, axis=1), 1.0, rtol=1e-12)


def test_distances_are_those_of_closed_forms() -> None:
    points = np.array([[0.0, 0.7, 0.0], [0.5, 0.0, 0.0], [0.0, 0.05, 0.0]])
    np.testing.assert_allclose(Sphere(0.4).distances(points)[0], [0.3, 0.1, -0.35])
    np.testing.assert_allclose(Capsule(0.2, 0.5).distances(points)[0], [0.25, 0.3, -0.2])
    np.testing.assert_allclose(Box((0.6, 0.2, 0.5)).distances(points)[0], [0.6, 0.2, -0.05])
    np.testing.assert_allclose(Ground().distances(points)[0], points[:, 1])


def test_a_mesh_of_a_box_is_the_box() -> None:
    points = np.random.default_rng(4).uniform(-0.7, 0.7, (300, 3))
    exact, normals = SHAPES["box"].distances(points)
    found, found_normals = SHAPES["mesh"].distances(points)
    np.testing.assert_allclose(found, exact, atol=1e-12)
    np.testing.assert_allclose(found_normals[exact > 0], normals[exact > 0], atol=1e-9)
    _, on_face = SHAPES["mesh"].distances(np.array([[0.1, 0.1, 0.07]]))
    np.testing.assert_allclose(on_face, [[0, 1, 0]], atol=1e-12)


class Solid:
    """A free soft block, stepped in a world of colliders."""

    def __init__(
        self,
        colliders: list[Collider],
        size: tuple[float, float, float] = (0.2, 0.1, 0.2),
        shape: tuple[int, int, int] = (2, 1, 2),
        stiffness: float = 2e4,
        damping: float = 0.0,
        integrator: str = "bdf2",
    ) -> None:
        rest, self.tetrahedra = bar(shape, size)
        self.rest = rest - [size[0] / 2, 0.0, size[2] / 2]
        self.masses = tetrahedral_masses(self.rest, self.tetrahedra, 1000.0)
        strain = strain_constraint(
            self.rest, self.tetrahedra, np.full(len(self.tetrahedra), stiffness)
        )
        system = System(self.masses, np.zeros(len(rest), bool), (strain,))
        rule = StepRule(STEP, 5, damping, integrator)  # pyright: ignore[reportArgumentType]
        self.solver = ReferenceSolver(system, rule)
        self.colliders, self.time = colliders, 0.0
        self.state: State = resting(self.rest, STEP)
        self.contacts = no_contacts()

    def lift(self, height: float, velocity: tuple[float, float, float] = (0, 0, 0)) -> None:
        speed = np.broadcast_to(np.asarray(velocity, float), self.rest.shape).copy()
        self.state = resting(self.rest + np.array([0.0, height, 0.0]), STEP, speed)

    def step(self) -> None:
        skin = MovingSkin(np.arange(len(self.rest)), self.state.positions, self.state.velocities)
        rows = joined([c.contacts(skin, self.time, STEP) for c in self.colliders])
        weight = self.masses[:, None] * GRAVITY
        self.state = self.solver.step(self.state, NO_ANCHORS, weight, contacts=rows)
        self.contacts, self.time = rows, self.time + STEP

    def depth(self) -> float:
        """Deepest vertex in any collider, metres."""
        return max(
            -c.shape.distances(
                transform_points(invert_rigid(c.at(self.time)), self.state.positions)
            )[0].min()
            for c in self.colliders
        )

    def energy(self) -> float:
        """Kinetic, elastic, of height and of contact springs, joules."""
        speed, place = self.state.velocities, self.state.positions
        kinetic = 0.5 * np.sum(self.masses[:, None] * speed**2)
        pressed = np.minimum(self.contacts.gaps(place), 0.0)
        springs = 0.5 * np.sum(pressed**2) * Touch().stiffness
        height = -np.sum(self.masses[:, None] * GRAVITY * place)
        return float(kinetic + self.solver.energy(place) + height + springs)


TOPS = {"ground": 0.0, "box": 0.1, "sphere": 0.4, "capsule": 0.2, "mesh": 0.1}


@pytest.mark.parametrize("name", SHAPES)
def test_a_dropped_block_comes_to_rest_on_each(name: str) -> None:
    """Two centimetres of fall, drag 20/s: 0.75 s later it lies still, no deeper than where one
    vertex carries it all; the capsule lies on its side."""
    lying = (0.0, 0.0, np.pi / 2) if name == "capsule" else (0.0, 0.0, 0.0)
    solid = Solid([placed(SHAPES[name], rotation=lying)], damping=20.0)
    solid.lift(TOPS[name] + 0.02)
    for _ in range(90):
        solid.step()
    assert solid.depth() < 1.01 * solid.masses.sum() * 9.81 / Touch().stiffness
    assert solid.depth() > 0.0  # it touches
    assert np.abs(solid.state.velocities).max() < 0.01
    assert len(solid.contacts) > 0


def test_a_standing_bar_is_compressed_as_elasticity_says() -> None:
    """A bar of height L on a plane gets shorter by ρ g L²/(2E), within 1 %; its foot sinks into the
    contact springs by its weight over their stiffness."""
    height, stiffness = 0.4, 4e4
    ground = placed(Ground(), friction=0.0)
    solid = Solid([ground], (0.1, height, 0.1), (1, 8, 1), stiffness, damping=40.0)
    for _ in range(120):
        solid.step()
    place = solid.state.positions[:, 1]
    foot, top = solid.rest[:, 1] == 0.0, solid.rest[:, 1] == height
    shorter = height - (place[top].mean() - place[foot].mean())
    assert shorter == pytest.approx(1000 * 9.81 * height**2 / (2 * stiffness), rel=0.01)
    springs = foot.sum() * Touch().stiffness
    assert place[foot].mean() == pytest.approx(-solid.masses.sum() * 9.81 / springs, rel=0.01)


def test_energy_does_not_grow_in_a_bounce() -> None:
    """Implicit Euler dissipates: what a block has when dropped it never exceeds."""
    solid = Solid([placed(Ground(), friction=0.0)], integrator="implicit-euler")
    solid.lift(0.05)
    start, last = solid.energy(), np.inf
    for _ in range(50):
        solid.step()
        last = min(last, solid.energy())
        assert solid.energy() < start + 1e-3 * abs(start)
    assert last < 0.95 * start  # it did hit


def test_momentum_changes_by_the_impulse_of_gravity_and_contact() -> None:
    """Σ m Δv = h (Σ m g + Σ λ n) in every step of a landing, λ = w · depth."""
    solid = Solid([placed(Ground(), friction=0.0)], integrator="implicit-euler")
    solid.lift(0.01)
    touched = 0
    for _ in range(25):
        before = solid.masses @ solid.state.velocities
        solid.step()
        gaps = solid.contacts.gaps(solid.state.positions)
        forces = solid.contacts.weights * np.maximum(-gaps, 0.0)
        impulse = STEP * (solid.masses.sum() * GRAVITY + forces @ solid.contacts.normals)
        change = solid.masses @ solid.state.velocities - before
        np.testing.assert_allclose(change, impulse, atol=1e-6 * solid.masses.sum())
        touched += bool((forces > 0).any())
    assert touched > 8


def test_a_moving_box_pushes() -> None:
    """A wall that comes at 0.5 m/s takes a block on slippery ground along, at its own speed."""
    times = np.array([0.0, 1.0])
    places = np.tile(np.eye(4), (2, 1, 1))
    places[:, :3, 3] = [[-0.25, 0.1, 0.0], [0.25, 0.1, 0.0]]
    wall = Collider(Box((0.2, 0.4, 0.6)), times, places, friction=0.0)
    solid = Solid([placed(Ground(), friction=0.0), wall], damping=0.0)
    for _ in range(110):
        solid.step()
    pushed = np.average(solid.state.velocities[:, 0], weights=solid.masses)
    assert pushed >= 0.45  # it may leap ahead of the wall, but is not left behind
    assert solid.depth() < 1e-3
    np.testing.assert_allclose(wall.at(0.5)[:3, 3], [0.0, 0.1, 0.0], atol=1e-12)


def test_a_sliding_block_stops_where_coulomb_says() -> None:
    """From 0.8 m/s it slides v²/(2μg); friction lags a step behind, which takes the share of the
    speed that is lost in a step, up to 10 % here."""
    friction = 0.5
    solid = Solid([placed(Ground(), friction=friction)], stiffness=2e5)
    for _ in range(30):
        solid.step()
    sunk = solid.state.positions
    speed = np.zeros_like(sunk)
    speed[:, 0] = 0.8
    solid.state = resting(sunk, STEP, speed)
    start = np.average(sunk[:, 0], weights=solid.masses)
    for _ in range(int(1.3 * 0.8 / (friction * 9.81) / STEP)):
        solid.step()
    way = np.average(solid.state.positions[:, 0], weights=solid.masses) - start
    assert way == pytest.approx(0.8**2 / (2 * friction * 9.81), rel=0.1)


@pytest.mark.parametrize(("slope", "holds"), [(0.3, True), (0.7, False)])
def test_a_slope_holds_or_lets_slip(slope: float, holds: bool) -> None:
    """μ = 0.5 holds below atan 0.5 = 0.46 rad; above, the block slides with g (sin − μ cos)."""
    tilted = placed(Ground(), rotation=(0.0, 0.0, slope))
    solid = Solid([tilted], stiffness=2e5, size=(0.2, 0.05, 0.2))
    turn = tilted.at(0.0)[:3, :3]
    solid.state = resting(solid.rest @ turn.T, STEP)
    for _ in range(60):
        solid.step()
    way = -np.average(
        (solid.state.positions - solid.rest @ turn.T) @ turn[:, 0], weights=solid.masses
    )
    if holds:
        assert abs(way) < 4e-3
    else:
        slide = 9.81 * (np.sin(slope) - 0.5 * np.cos(slope))
        assert way == pytest.approx(0.5 * slide * 0.5**2, rel=0.1)


def test_flesh_is_not_pressed_beyond_its_bone() -> None:
    """A bone held 2 cm under the ground leaves its skin there."""
    skin = MovingSkin(
        np.arange(2),
        np.array([[0.0, -0.03, 0.0], [1.0, -0.03, 0.0]]),
        np.zeros((2, 3)),
        np.array([[0.0, -0.02, 0.0], [1.0, 0.02, 0.0]]),
    )
    rows = placed(Ground(), friction=0.0).contacts(skin, 0.0, STEP)
    np.testing.assert_allclose(rows.offsets, [-0.02, 0.0])


def test_what_cannot_be_a_collider_is_refused() -> None:
    for make, words in (
        (lambda: Sphere(0.0), "sphere radius"),
        (lambda: Capsule(0.1, -1.0), "capsule radius and length"),
        (lambda: Box((1.0, np.inf, 1.0)), "box edges"),
        (lambda: MeshSolid(box_mesh((1, 1, 1), -1)), "encloses -1"),
        (lambda: placed(Ground(), friction=-1.0), "friction -1"),
        (lambda: Collider(Ground(), np.zeros(2), np.tile(np.eye(4), (2, 1, 1))), "do not rise"),
        (lambda: Collider(Ground(), np.zeros(0), np.zeros((0, 4, 4))), "no placement"),
        (lambda: Collider(Ground(), np.zeros(1), 2 * np.eye(4)[None]), "not rigid"),
        (lambda: placed(Ground(), position=(np.nan, 0.0, 0.0)), "not finite"),
        (lambda: Touch(reach=0.0), "touch has reach 0"),
    ):
        with pytest.raises(InputError, match=words):
            make()
