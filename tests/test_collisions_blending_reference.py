"""Where bones alone would put the skin, and contacts that let go of what comes back by itself."""

import numpy as np
import pytest
import synthetic

from corporeal.body.mesh import Mesh
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.physics.contact.blending_reference import BlendingReference
from corporeal.physics.contact.cpu.release import release_contacts
from corporeal.physics.contact.rules import DOUBT, TORN
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.skinning.kinematics import forward_kinematics

JOINTS = np.array([[0.04, 0.0, 0.0], [0.4, 0.0, 0.0], [0.7, 0.0, 0.0]])
PARENTS = (-1, 0, 1)


@pytest.fixture(scope="module")
def template() -> Template:
    """A limb of 0.8 m, 9 cm thick, with a joint in its middle."""
    capsule = synthetic.arm_template(rings=24, sides=12).mesh
    vertices = np.asarray(capsule.vertices) * [0.8, 0.45, 0.45]
    mesh = Mesh(vertices, capsule.triangles[:, ::-1].copy())
    skeleton = Skeleton(("root", "middle", "end"), PARENTS, JOINTS)
    weights = SkinWeights.from_dense(np.eye(3)[np.digitize(vertices[:, 0], [0.4, 0.7])], 1)
    return Template(mesh, skeleton, weights, ("limb",), np.zeros(len(vertices), np.int32))


def homes_of(template: Template) -> BlendingReference:
    rest = np.asarray(template.mesh.vertices, float)
    owners = np.digitize(rest[:, 0], [0.4])
    return BlendingReference(
        rest, np.asarray(template.mesh.triangles, np.int64), JOINTS, owners, 1.2
    )


def test_homes_of_a_stiff_limb_are_certain(template: Template) -> None:
    """x ↦ R (x − j) + j + t for all vertices, and no doubt, where all joints turn as one."""
    rest, turn = np.asarray(template.mesh.vertices, float), np.array([0.3, -1.1, 0.4])
    rotations, shift = np.array([turn, [0, 0, 0], [0, 0, 0]]), np.array([2.0, 0.5, -1.0])
    frames = forward_kinematics(rotations, JOINTS, PARENTS, shift)
    blending_reference, doubts = homes_of(template).at(frames)
    expected = (rest - JOINTS[0]) @ matrix_from_axis_angle(turn).T + JOINTS[0] + shift
    np.testing.assert_allclose(blending_reference, expected, atol=1e-12)
    assert doubts.max() < 1e-12


def test_bones_disagree_beside_a_bent_joint(template: Template) -> None:
    """Far from the joint skin goes with its own bone; over it, half a turn of both is between."""
    rest = np.asarray(template.mesh.vertices, float)
    rotations = np.array([[0, 0, 0], [0, 0, 2.0], [0, 0, 0]])
    frames = forward_kinematics(rotations, JOINTS, PARENTS, np.zeros(3))
    blending_reference, doubts = homes_of(template).at(frames)
    near = rest[:, 0] < 0.2
    np.testing.assert_allclose(blending_reference[near], rest[near], atol=1e-12)
    assert doubts[near].max() < 1e-12
    over = np.abs(rest[:, 0] - 0.4) < 0.03
    # two opinions, a turn of 2 rad apart, in halves: |x − j| sin 1 from their mean
    across = np.linalg.norm(rest[over] - JOINTS[1], axis=1)
    assert 0.5 < (doubts[over] / (across * np.sin(1.0))).mean() < 1.1


def settled(home_gap: float, doubt: float, overlapping: bool) -> tuple[int, float]:
    """A vertex 1 mm over a triangle of 2 cm of flesh, `home_gap` metres over it at home: how many
    pairs are left, and how far that one may push."""
    triangles = np.array([[1, 2, 3]])
    home = np.array([[0.2, 0.2, home_gap], [0, 0, 0], [1, 0, 0], [0, 1, 0]], float)
    points = home.copy()
    points[0, 2] = 1e-3
    over = np.array([overlapping, False, False, False])
    furthest = np.array([np.inf])
    count = release_contacts(
        0, np.zeros(4, bool), points, home, np.array([doubt, 0.0, 0.0, 0.0]), over,
        np.array([0.02]), triangles, 5e-3, np.array([[0, 0]]), np.array([[0.6, 0.2, 0.2]]),
        np.array([[0.0, 0.0, 1.0]]), np.array([1e-3]), np.array([-1]), furthest,
    )  # fmt: skip
    return count, float(furthest[0])


def test_contacts_push_no_further_than_home() -> None:
    """Without overlap at home the gap there is the limit, and the thickness of flesh; what bones
    disagree about adds to both. With overlap there is no limit."""
    assert settled(3e-4, 0.0, False) == (1, pytest.approx(3e-4))
    assert settled(-2e-3, 0.0, False) == (1, pytest.approx(-2e-3))
    assert settled(-6e-3, 0.0, False)[0] == 0  # more than 5 mm below where it is: let go
    assert settled(-6e-3, 4e-3, False) == (1, pytest.approx(-6e-3 + DOUBT * 4e-3))
    torn = TORN * 0.02
    assert settled(0.9 * torn, 0.0, False)[0] == 1
    assert settled(1.1 * torn, 0.0, False)[0] == 0
    assert settled(-0.5, 0.0, True) == (1, np.inf)


def test_a_tangled_limb_comes_back(template: Template) -> None:
    """Half turns of all joints in twelve frames, then left alone in the zero pose: the skin is back
    within a millimetre, with contacts found all the while."""
    identity = synthetic.identity_of(template)
    moving = ProjectiveSimulation(
        template,
        ProjectiveControls(collisions="global"),
        preparations=Preparations(template),
        cuts=False,
    )
    random, state, touched = np.random.default_rng(5), moving.start(identity), 0
    for _ in range(12):
        axes = random.normal(size=(3, 3))
        axes *= np.pi / np.linalg.norm(axes, axis=1, keepdims=True)
        state = moving.step(state, Pose(axes, np.zeros(3)), 1 / 30)
        touched = max(touched, len(state.flesh.touching))  # pyright: ignore[reportArgumentType]
    assert touched > 50
    for _ in range(90):
        state = moving.step(state, Pose(np.zeros((3, 3)), np.zeros(3)), 1 / 30)
    assert np.abs(moving.skin(state) - identity.rest_vertices).max() < 1e-3
