"""Passes over many skins, and the solvers on them, against Jacobians and differences."""

from dataclasses import replace

import numpy as np
import pytest
import smpl_truth

from corporeal.body.linear_model import Blending
from corporeal.body.pose import RotationPose
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.smpl.features import Features, feature_slopes, feature_values
from corporeal.models.smpl.fitting.corrective_hessian import offset_rows, part_sums
from corporeal.models.smpl.fitting.edge_poses import first_poses
from corporeal.models.smpl.fitting.fit_pose import edge_differences, person_of
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.fitting.many_people import solve_people
from corporeal.models.smpl.fitting.many_poses import _Problem, solve_poses
from corporeal.models.smpl.training.posed_joints import JointRule, solve_poses_and_joints
from corporeal.numerics.many_least_squares import descend_many
from corporeal.skinning.gradients import influences_of, posed_blocks, skin_gradient
from corporeal.skinning.jacobians import translation_maps
from corporeal.skinning.kinematics import rotate_joints
from corporeal.skinning.normal_matrices import (
    rotation_normal_matrices,
    rotation_translation_products,
    skin_moments,
)

COUNT = 3


def some(blending: Blending = "lbs") -> tuple[SkinnedPerson, RotationPose, np.ndarray]:
    """One person, poses near the truth, and registrations of the truth."""
    _, meshes, truth = smpl_truth.sampled(120, 2, 8, pose_scale=0.005, blending=blending)
    own = meshes.of_subject(0)[:COUNT]
    rotation_vectors = np.random.default_rng(3).normal(0, 0.05, (COUNT, 24, 3))
    poses = truth.poses(own)
    near = RotationPose(
        poses.rotations @ matrix_from_axis_angle(rotation_vectors), poses.translation + 0.01
    )
    return truth.person(0), near, meshes.vertices[own]


@pytest.mark.parametrize("blending", ["lbs", "dqs"])
def test_a_pass_is_the_posed_skin(blending: Blending) -> None:
    """Distances, Bᵀ r and skins of `SkinnedPerson.posed`, to rounding."""
    person, poses, targets = some(blending)
    influences, points = influences_of(person.weights), person.corrected(poses.rotations)
    tree = person.kinematics(poses)
    passed = skin_gradient(blending, influences, points, tree, targets)
    _, moved = posed_blocks(blending, influences, points, np.arange(COUNT), tree)
    for n in range(COUNT):
        posed = person.posed(poses[n])
        off = posed.vertices - targets[n]
        np.testing.assert_allclose(moved[n], posed.vertices, atol=1e-12)
        np.testing.assert_allclose(passed.squares[n], np.sum(off**2), rtol=1e-10)
        distance = np.linalg.norm(off, axis=1).mean()
        np.testing.assert_allclose(passed.distances[n], distance, rtol=1e-10)
        back = np.einsum("vba,vb->va", posed.blend.blended, off)
        np.testing.assert_allclose(passed.back[n], back, atol=1e-12)


@pytest.mark.parametrize("blending", ["lbs", "dqs"])
@pytest.mark.parametrize("features", ["rotations", "angles", "quaternions"])
def test_gradient_by_turns(blending: Blending, features: Features) -> None:
    """Central differences of the energy, step 1e-6: relative 1e-6 of the largest entry."""
    person, poses, targets = some(blending)
    size = {"rotations": 9, "angles": 3, "quaternions": 4}[features]
    offsets = person.pose_offsets.reshape(23, 9, -1, 3)[:, :size].reshape(23 * size, -1, 3)
    problem = _Problem(replace(person, pose_offsets=offsets, features=features))
    _, gradient, _ = problem.slope(poses, targets)
    world = person.kinematics(poses).world_rotations
    step = 1e-6
    for column in (0, 7, 22, 40, 58, 71, 73):
        turn = np.zeros((COUNT, 75))
        turn[:, column] = step
        ahead, behind = (
            problem.slope(rotate_joints(poses, world, person.parents, sign * turn), targets)[0]
            for sign in (1, -1)
        )
        expected = (ahead - behind) / (2 * step)
        scale = np.abs(gradient).max()
        np.testing.assert_allclose(gradient[:, column], expected, atol=1e-6 * scale)


@pytest.mark.parametrize("features", ["rotations", "angles", "quaternions"])
def test_features_and_their_slopes(features: Features) -> None:
    """Zero at rest; slopes by differences of the joints' turns in the world."""
    person, poses, _ = some()
    still = np.tile(np.eye(3), (1, 24, 1, 1))
    np.testing.assert_allclose(feature_values(features, still), 0, atol=1e-12)
    world = person.kinematics(poses).world_rotations
    slopes = feature_slopes(features, poses.rotations, world, person.parents)
    step = 1e-6
    for axis in range(3):
        turn = np.zeros((COUNT, 25, 3))
        turn[:, 5, axis] = step
        ends = [
            feature_values(
                features,
                rotate_joints(poses, world, person.parents, s * turn.reshape(COUNT, -1)).rotations,
            )
            for s in (1, -1)
        ]
        change = ((ends[0] - ends[1]) / (2 * step)).reshape(COUNT, 23, -1)
        np.testing.assert_allclose(slopes[:, 4, :, axis], change[:, 4], atol=1e-8)
        np.testing.assert_allclose(np.delete(change, 4, axis=1), 0, atol=1e-8)


def test_second_derivatives_are_those_of_the_jacobian() -> None:
    """JᵀJ by turns, by joints' shifts and by offsets of the rest skin, linear blending."""
    person, poses, _ = some()
    bare = replace(person, pose_offsets=np.zeros_like(person.pose_offsets))
    influences = influences_of(person.weights)
    tree = person.kinematics(poses)
    moments = skin_moments(person.rest[None], influences, person.parents)
    offsets = person.pose_offsets[:5]
    maps = translation_maps(tree.world_rotations, person.parents)
    hessians = rotation_normal_matrices(moments, tree)
    shares = rotation_translation_products(moments, tree, maps)
    parts = part_sums(person.rest, influences, offsets)
    rows, _ = offset_rows(parts, tree, moments.descendants)
    for n in range(COUNT):
        posed = bare.posed(poses[n])
        jacobian = posed.by_pose().reshape(-1, 75)
        np.testing.assert_allclose(hessians[n], jacobian.T @ jacobian, atol=1e-10)
        carried = posed.blend.by_translations(maps[n]).reshape(len(jacobian), -1)
        np.testing.assert_allclose(shares[n], jacobian.T @ carried, atol=1e-10)
        turned = np.einsum("vab,fvb->vaf", posed.blend.blended, offsets).reshape(-1, 5)
        np.testing.assert_allclose(rows[n], jacobian.T @ turned, atol=1e-10)


@pytest.mark.parametrize("blending", ["lbs", "dqs"])
def test_poses_come_back(blending: Blending) -> None:
    """From 3° off at every joint to a hundredth of a millimetre."""
    person, poses, targets = some(blending)
    found = solve_poses(person, targets, poses, iterations=40, tolerance=1e-8)
    assert found.distances.max() < 1e-5


def test_poses_from_edges_whatever_the_body_is_turned_to() -> None:
    """The right person without pose offsets is met by edges alone."""
    model, meshes, truth = smpl_truth.sampled(120, 2, 8, pose_scale=0.0)
    edges = edge_differences(model.triangles, model.vertex_count)
    own = meshes.of_subject(1)
    found = first_poses(meshes.vertices[own], truth.person(1), edges)
    again = replace(
        truth.person(1), pose_offsets=np.zeros_like(truth.pose_offsets)
    )  # small parts without a vertex of their own may turn as they like
    met = solve_poses(again, meshes.vertices[own], found, iterations=0)
    assert met.distances.max() < 1e-3


def test_people_come_back() -> None:
    """Pose and six coefficients of each registration by itself."""
    model, meshes, truth = smpl_truth.sampled(250, 4, 8, pose_scale=0.005)
    edges = edge_differences(model.triangles, model.vertex_count)
    start = first_poses(meshes.vertices, person_of(model), edges)
    found = solve_people(model, meshes.vertices, start, 6, iterations=60, tolerance=1e-7)
    assert np.median(found.distances) < 1e-5
    assert found.distances.max() < 1e-4
    rest_shapes = model.mean_vertices + np.tensordot(found.betas, model.shape_offsets, axes=1)
    apart = np.linalg.norm(rest_shapes - truth.rest_shapes[meshes.subjects], axis=2)
    assert np.median(apart) < 1e-3
    with pytest.raises(InputError, match="asked for 7 shape coefficients; the model has 6"):
        solve_people(model, meshes.vertices, start, 7)


def test_joints_come_back_with_poses() -> None:
    """Joints 15 mm off and poses that lean on them: both found, the rest skin held."""
    _, meshes, truth = smpl_truth.sampled(250, 2, 24, pose_scale=0.0)
    own = meshes.of_subject(0)
    random = np.random.default_rng(0)
    away = random.normal(size=(24, 3))
    away *= 0.015 / np.linalg.norm(away, axis=1, keepdims=True)
    person = replace(truth.person(0), joints=truth.joints[0] + away)
    leaning = solve_poses(person, meshes.vertices[own], truth.poses(own), iterations=10)
    rule = JointRule(truth.joints[0], 1e-9, np.zeros((72, 72)))
    poses, joints = solve_poses_and_joints(
        person, meshes.vertices[own], leaning.poses, rule, iterations=30
    )
    # the root's joint is a convention: only its part and the translation know it
    assert np.linalg.norm(joints - truth.joints[0], axis=1)[1:].max() < 1e-4
    np.testing.assert_allclose(poses.rotations, truth.rotations[own], atol=1e-3)


def test_descent_of_many_ends_each_by_itself() -> None:
    """½ (x² − a)² from 2: roots of several a; a problem at its end is asked no more."""
    wanted = np.array([1.0, 4.0, 9.0])
    asked: list[int] = []

    def slope(state: tuple, which: np.ndarray) -> tuple:
        asked.append(len(which))
        x = state[0][:, 0]
        off = x**2 - wanted[which]
        return 0.5 * off**2, (2 * x * off)[:, None]

    found = descend_many(
        slope,
        lambda state: (4 * state[0] ** 2)[:, :, None],
        lambda state, steps: (state[0] + steps,),
        (np.full((3, 1), 2.0),),
        iterations=50,
        tolerance=1e-10,
        longest=0.5,
    )
    np.testing.assert_allclose(found[0][:, 0], np.sqrt(wanted), atol=1e-8)
    assert asked[-1] < 3
