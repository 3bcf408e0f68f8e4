"""Skeletons fitted to human surfaces: exact derivatives, known joints, and refusals."""

from functools import cache

import numpy as np
import public_data
import pytest
from creatures import coarse_dragon
from solids import box, icosphere

from corporeal.body.mesh import Mesh
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.formats.registry import read_mesh
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.registration.articulated import (
    BODY_JOINTS,
    SHAPES,
    articulated_body,
    pose_body,
    stepped,
    turned,
    upright,
)
from corporeal.registration.cloud import sample_surface
from corporeal.registration.skeleton_fit import fit_skeleton
from corporeal.skinning.linear import LinearBlendSkinning

VISIBLE_HUMAN = public_data.folder("visible-human") / "VH_M_Skin.glb"


@cache
def someone() -> tuple[Mesh, np.ndarray]:
    """A heavy woman with her arms half way down, her head turned: skin and joints, metres."""
    model = PhenotypeModel()
    identity = model.prepare(
        {"gender": 0.1, "age": 44, "weight": 0.8, "muscle": 0.6, "height": 0.4}
    )
    names = model.template.skeleton.names
    rotations = np.zeros((len(names), 3))
    rotations[names.index("left_shoulder")] = [0, 0.1, -0.6]
    rotations[names.index("right_shoulder")] = [0, 0, 0.5]
    rotations[names.index("head")] = [0, 0.15, 0]
    skinning, pose = LinearBlendSkinning(model.template), Pose(rotations, np.zeros(3))
    skin = np.asarray(skinning.vertices(identity, pose), np.float64)
    joints = np.asarray(skinning.world_from_joint(identity, pose))[:, :3, 3]
    return Mesh(skin, model.template.mesh.triangles), joints


def test_derivatives_are_those_of_finite_differences():
    """Central differences of step ε err by O(ε²) and O(machine / ε): 1e-8 at ε = 1e-6."""
    body = articulated_body()
    random, epsilon = np.random.default_rng(0), 1e-6
    stance = stepped(
        upright(body),
        pose_body(body, upright(body)),
        body.parents,
        0.3 * random.normal(size=SHAPES + 3 * BODY_JOINTS + 4),
    )
    posed = pose_body(body, stance)
    for column in random.choice(posed.jacobian.shape[2], 20, replace=False):
        step = np.zeros(posed.jacobian.shape[2])
        step[column] = epsilon
        ahead, behind = (
            pose_body(body, stepped(stance, posed, body.parents, sign * step)).vertices
            for sign in (1, -1)
        )
        slope = (ahead - behind) / (2 * epsilon)
        np.testing.assert_allclose(posed.jacobian[:, :, column], slope, atol=1e-8)


def test_the_articulated_body_moves_as_linear_blend_skinning_does():
    """Fingers aside, which go with the wrist: shoulders and hips carry all below them."""
    body = articulated_body()
    pose = {"left_shoulder": [0.2, 0.0, -0.9], "right_hip": [-0.4, 0.0, 0.1]}
    posed = pose_body(body, turned(upright(body), body.skeleton, pose))
    for chain in (("left_shoulder", "left_elbow", "left_wrist"), ("right_hip", "right_knee")):
        turn = matrix_from_axis_angle(np.array(pose[chain[0]]))
        places = [body.skeleton.index(name) for name in chain]
        ways = np.diff(posed.joints[places], axis=0)
        rest = np.diff(body.joints[places], axis=0)
        np.testing.assert_allclose(ways, rest @ turn.T, atol=1e-12)


@pytest.mark.quick
def test_points_are_spread_evenly_and_look_outwards():
    vertices, triangles = icosphere(3)
    for faces in (triangles, triangles[:, ::-1]):
        cloud = sample_surface(Mesh(vertices, faces), 4000)
        assert (np.sum(cloud.points * cloud.normals, axis=1) > 0.9).all()
        np.testing.assert_allclose(cloud.points.mean(axis=0), 0.0, atol=0.02)


@pytest.mark.quick
def test_points_follow_area_and_not_triangles():
    """The faces of a box of 1 × 2 × 3, two triangles each, have 6, 3 and 2 of 11 parts of its area;
    their shares of n points are within 4 standard deviations √(p (1 − p)/n) of that."""
    count = 4000
    cloud = sample_surface(Mesh(*box(1.0, 2.0, 3.0)), count)
    found = (np.abs(cloud.normals) > 0.5).mean(axis=0)
    share = np.array([6.0, 3.0, 2.0]) / 11
    assert (np.abs(found - share) < 4 * np.sqrt(share * (1 - share) / count)).all()


def test_known_joints_are_found_on_a_turned_noisy_scan_in_centimetres_with_holes():
    """Body joints within 12 mm on average and 40 mm at worst; the benchmark has 6 and 27."""
    mesh, joints = someone()
    random = np.random.default_rng(4)
    turn = 100.0 * matrix_from_axis_angle(np.array([0.0, 2.2, 0.0]))
    vertices = (
        np.asarray(mesh.vertices) + 0.002 * random.normal(size=mesh.vertices.shape)
    ) @ turn.T
    centres = vertices[random.choice(len(vertices), 8)]
    gone = (np.linalg.norm(vertices[:, None] - centres, axis=2) < 5.0).any(axis=1)
    holed = Mesh(vertices, mesh.triangles[~gone[mesh.triangles].any(axis=1)])
    fit = fit_skeleton(holed, "+y")
    away = np.linalg.norm(np.asarray(fit.skeleton.joints) - joints @ turn.T, axis=1)[:BODY_JOINTS]
    assert away.mean() < 1.2
    assert away.max() < 4.0
    assert fit.confidence > 0.9
    assert fit.surface_distance < 1.0
    np.testing.assert_allclose(fit.turn, 2.2, atol=0.05)


@pytest.mark.parametrize("what", ["dragon", pytest.param("legs", marks=pytest.mark.slow)])
def test_what_is_no_person_is_refused(what: str):
    mesh = coarse_dragon()
    if what == "legs":
        whole, _ = someone()
        low = np.asarray(whole.vertices)[:, 1] < 0.75
        mesh = Mesh(whole.vertices, whole.triangles[low[whole.triangles].all(axis=1)])
    with pytest.raises(InputError, match="does not look like a standing person"):
        fit_skeleton(mesh, "+y")


@pytest.mark.quick
def test_too_little_to_go_by_is_refused():
    with pytest.raises(InputError, match="80 triangles"):
        fit_skeleton(Mesh(*icosphere(1)))
    vertices, triangles = icosphere(2)
    with pytest.raises(InputError, match="flat"):
        fit_skeleton(Mesh(vertices * [1.0, 0.0, 1.0], triangles), "+y")


@pytest.mark.slow
@pytest.mark.data("visible-human")
def test_a_real_body_of_foreign_topology():
    """No joints are known; the fitted body lies within 7 mm of the skin, and joints are inside."""
    from corporeal.geometry.surface_tree import SurfaceTree

    mesh = read_mesh(VISIBLE_HUMAN)
    fit = fit_skeleton(mesh)
    assert fit.up == "+y"
    assert fit.surface_distance < 0.007
    tree = SurfaceTree(np.asarray(mesh.vertices, np.float64), mesh.triangles)
    assert (tree.winding(np.asarray(fit.skeleton.joints)[:BODY_JOINTS]) > 0.5).all()
