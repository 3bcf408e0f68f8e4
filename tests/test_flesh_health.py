"""The measures of flesh have closed forms where a whole body goes through a known map."""

import numpy as np
import pytest
import synthetic

from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.evaluation.flesh_health import FOLDED, FleshHealth
from corporeal.evaluation.held_poses import HELD_POSES, joint_rotations
from corporeal.geometry.dihedral import fold_angles
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation

TEMPLATE = synthetic.arm_template()
ROUNDING = 1e-9
"""Of ratios of volumes and lengths in float64: elements of 1e-7 m³ have volumes to about 1e-11 of
themselves."""
SHEAR = np.array([[1.2, 0.3, 0.0], [0.0, 0.9, -0.2], [0.1, 0.0, 1.1]])


def body_of(identity: Identity) -> SimulatedBody:
    return ProjectiveSimulation(TEMPLATE).body(identity)


@pytest.fixture(scope="module")
def body() -> SimulatedBody:
    return body_of(synthetic.identity_of(TEMPLATE))


@pytest.fixture(scope="module")
def health(body: SimulatedBody) -> FleshHealth:
    return FleshHealth(body)


def test_flesh_at_rest_is_well(body: SimulatedBody, health: FleshHealth):
    """J = 1 and stretch 1 everywhere; nothing is inverted, folded or changed in volume."""
    found = health.frame(body.rest)
    assert (found.inverted, found.hopeless, found.folded_edges) == (0, 0, 0)
    np.testing.assert_allclose(found.least_determinant, 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(found.largest_stretch, 1.0, rtol=ROUNDING)
    np.testing.assert_allclose(found.volume_changes, 0.0, atol=ROUNDING)


def test_the_determinant_is_that_of_the_map(body: SimulatedBody, health: FleshHealth):
    """x → A x gives every element J = det A, and every region a change of det A − 1."""
    moved = body.rest @ SHEAR.T
    np.testing.assert_allclose(health.determinants(moved), np.linalg.det(SHEAR), rtol=ROUNDING)
    changes = health.volume_changes(moved)
    np.testing.assert_allclose(changes, np.linalg.det(SHEAR) - 1.0, atol=ROUNDING)


def test_a_stretch_is_that_of_the_edge(body: SimulatedBody, health: FleshHealth):
    """‖A e‖/‖e‖ of every edge of the skin; the factor itself under a uniform scaling."""
    start, end = body.rest[health.edges].transpose(1, 0, 2)
    edge = end - start
    expected = np.linalg.norm(edge @ SHEAR.T, axis=1) / np.linalg.norm(edge, axis=1)
    np.testing.assert_allclose(health.stretches(body.rest @ SHEAR.T), expected, rtol=ROUNDING)
    np.testing.assert_allclose(health.stretches(1.3 * body.rest), 1.3, rtol=ROUNDING)
    assert health.edges.max() < body.surface.vertex_count


def test_regions_grow_with_the_cube(body: SimulatedBody, health: FleshHealth):
    """Scaled by s, every region changes by s³ − 1."""
    changes = health.volume_changes(1.1 * body.rest)
    np.testing.assert_allclose(changes, 1.1**3 - 1.0, atol=ROUNDING)


def test_a_mirrored_body_is_inside_out(body: SimulatedBody, health: FleshHealth):
    """x → −x has J = −1 everywhere: all elements are inverted, the moving and the anchored."""
    found = health.frame(body.rest * [-1.0, 1.0, 1.0])
    assert found.inverted == len(health.moving)
    assert found.inverted + found.hopeless == len(health.tetrahedra)
    np.testing.assert_allclose(found.least_determinant, -1.0, rtol=ROUNDING)


def test_a_mirrored_element_is_inverted(body: SimulatedBody, health: FleshHealth):
    """A corner reflected in the plane of the three others: that element's J is −1, and those that
    are inverted are among the elements at this corner."""
    element = int(health.moving[len(health.moving) // 2])
    corners = health.tetrahedra[element]
    free = next(c for c in corners if not body.system.anchored[c])
    a, b, c = body.rest[[v for v in corners if v != free]]
    normal = np.cross(b - a, c - a)
    normal /= np.linalg.norm(normal)
    moved = body.rest.copy()
    moved[free] -= 2.0 * ((moved[free] - a) @ normal) * normal
    determinants = health.determinants(moved)
    np.testing.assert_allclose(determinants[element], -1.0, rtol=1e3 * ROUNDING)
    around = (health.tetrahedra == free).any(axis=1)
    np.testing.assert_allclose(determinants[~around], 1.0, rtol=ROUNDING)
    assert health.frame(moved).inverted == (determinants[around] <= 0).sum() >= 1


@pytest.mark.parametrize(("degrees", "folds"), [(110.0, False), (130.0, True), (-130.0, True)])
def test_an_edge_is_folded_past_120_degrees(
    body: SimulatedBody, health: FleshHealth, degrees: float, folds: bool
):
    """A corner turned about the opposite edge, which is flat at rest, folds it by as much."""
    triangles = np.asarray(body.surface.triangles)
    edges, angles = fold_angles(body.rest[: body.surface.vertex_count], triangles)
    edge = edges[np.abs(angles).argmin()]
    assert np.abs(angles).min() < ROUNDING
    beside = triangles[np.isin(triangles, edge).sum(axis=1) == 2][0]
    (corner,) = np.setdiff1d(beside, edge)
    start, end = body.rest[edge]
    axis = (end - start) / np.linalg.norm(end - start)
    turn = np.asarray(matrix_from_axis_angle(np.deg2rad(degrees) * axis))
    moved = body.rest.copy()
    moved[corner] = start + turn @ (moved[corner] - start)
    assert (np.deg2rad(abs(degrees)) > FOLDED) == folds
    found = {tuple(sorted(pair)) for pair in health.folded(moved).tolist()}
    assert (tuple(sorted(edge.tolist())) in found) == folds
    assert health.frame(moved).folded_edges == len(found)


def pierced(skin: np.ndarray) -> np.ndarray:
    """The arm with one vertex of a middle ring pushed out through the other side."""
    middle = 55  # of 12 rings of 10
    moved = skin.copy()
    moved[middle, 1:] *= -1.3
    return moved


def test_crossings_are_pairs_that_do_not_cross_at_rest(body: SimulatedBody, health: FleshHealth):
    """None under a rotation, some where the skin is pierced; what crosses at rest does not count,
    nor does its disentangling count against others."""
    turn = np.asarray(matrix_from_axis_angle(np.array([0.3, -0.5, 0.8])))
    assert health.crossings(body.rest @ turn.T) == 0
    count = body.surface.vertex_count
    moved = np.concatenate([pierced(body.rest[:count]), body.rest[count:]])
    assert health.crossings(moved) > 0
    plain = synthetic.identity_of(TEMPLATE)
    crossed = body_of(Identity(pierced(np.asarray(plain.rest_vertices)), plain.joints, {}))
    assert FleshHealth(crossed).crossings(crossed.rest) == 0
    straight = np.concatenate([body.rest[:count], crossed.rest[count:]])
    assert FleshHealth(crossed).crossings(straight) == 0


def test_a_heavy_trunk_does_not_crumple_in_a_twist():
    """Kept right side out it has no more folded edges than plain flesh, and no element inside out:
    the anchors of the waist give way, too. Pushed open between hard ones it had 8 and 6."""
    model = PhenotypeModel()
    heavy = body_at_bmi(model, 1.0, 34.0, 1.78, 35.0)
    rotations = joint_rotations(model.template.skeleton, HELD_POSES["torso-twist"])
    found = {}
    for untangled in (False, True):
        controls = ProjectiveControls(untangled=untangled)
        simulation = ProjectiveSimulation(model.template, controls)
        shape = simulation.start(heavy, Pose(rotations, np.zeros(3))).flesh.positions
        found[untangled] = FleshHealth(simulation.body(heavy)).frame(shape)
    assert found[True].inverted == 0
    assert found[True].folded_edges <= found[False].folded_edges
    assert found[False].inverted > 100
