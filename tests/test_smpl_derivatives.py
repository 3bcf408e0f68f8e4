"""Derivatives of a posed skin against finite differences."""

from dataclasses import replace

import linear_models
import numpy as np
import pytest

from corporeal.body.identity import Identity
from corporeal.body.linear_model import Blending
from corporeal.body.pose import Pose, RotationPose
from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.models.smpl import equations
from corporeal.models.smpl.fitting.linearised import SkinnedPerson
from corporeal.models.smpl.model import SmplModel
from corporeal.skinning.kinematics import rotate_joints


def person(seed: int = 0, blending: Blending = "lbs") -> tuple[SkinnedPerson, RotationPose]:
    data = linear_models.random_model(vertex_count=50, seed=seed)
    random = np.random.default_rng(seed + 100)
    subject = SkinnedPerson(
        data.mean_vertices,
        data.joint_regressor @ data.mean_vertices,
        data.weights.dense(),
        data.pose_offsets,
        data.parents,
        blending,
    )
    rotations = matrix_from_axis_angle(random.normal(0, 0.7, (24, 3)))
    return subject, RotationPose(rotations, random.normal(size=3))


def test_posed_skin_equals_the_equations() -> None:
    """Eq. 2 to 9, with the root's translation added."""
    subject, pose = person()
    theta = axis_angle_from_matrix(pose.rotations)
    expected = equations.linear_blend_skinning(
        subject.rest + equations.pose_blend_shapes(theta, subject.pose_offsets),
        subject.joints,
        theta,
        subject.weights,
        subject.parents,
    )
    np.testing.assert_allclose(
        subject.posed(pose).vertices, expected + pose.translation, atol=1e-12
    )


def test_dual_blend_equals_dual_quaternion_skinning() -> None:
    """The deformer `dqs`, on the rest skin with its pose offsets."""
    data = linear_models.random_model(vertex_count=50, blending="dqs")
    subject, pose = person(blending="dqs")
    model = SmplModel(data)
    identity = Identity(data.mean_vertices, subject.joints, {})
    theta = axis_angle_from_matrix(pose.rotations)
    expected = model.vertices(identity, Pose(theta, pose.translation))
    np.testing.assert_allclose(subject.posed(pose).vertices, expected, atol=1e-12)


@pytest.mark.parametrize("blending", ["lbs", "dqs"])
def test_derivative_by_pose(blending: Blending) -> None:
    """Central differences along every one of the 75 directions; error of order step²."""
    subject, pose = person(blending=blending)
    posed = subject.posed(pose)
    slope, step = posed.by_pose(), 1e-6
    world = posed.state.world_rotations
    for column in range(75):
        way = np.zeros(75)
        way[column] = step
        ahead = subject.posed(rotate_joints(pose, world, subject.parents, way)).vertices
        back = subject.posed(rotate_joints(pose, world, subject.parents, -way)).vertices
        np.testing.assert_allclose(slope[:, :, column], (ahead - back) / (2 * step), atol=1e-8)


@pytest.mark.parametrize("blending", ["lbs", "dqs"])
def test_derivative_by_shape(blending: Blending) -> None:
    """The skin is linear in shape when joints are: one whole step is exact."""
    subject, pose = person(1, blending)
    random = np.random.default_rng(3)
    offsets, joints = random.normal(size=(4, 50, 3)), random.normal(size=(4, 24, 3))
    slope = subject.posed(pose).by_shape(offsets, joints)
    betas = random.normal(size=4)
    changed = SkinnedPerson(
        subject.rest + np.tensordot(betas, offsets, axes=1),
        subject.joints + np.tensordot(betas, joints, axes=1),
        subject.weights,
        subject.pose_offsets,
        subject.parents,
        blending,
    )
    difference = changed.posed(pose).vertices - subject.posed(pose).vertices
    np.testing.assert_allclose(slope @ betas, difference, atol=1e-12)


@pytest.mark.parametrize("blending", ["lbs", "dqs"])
def test_derivative_by_weights(blending: Blending) -> None:
    """Central differences by each weight by itself; error of order step²."""
    subject, pose = person(2, blending)
    posed = subject.posed(pose)
    candidates = np.argsort(-subject.weights, axis=1)[:, :4]
    slope, step = posed.blend.by_weights(posed.corrected, candidates), 1e-6
    for column in range(4):
        changed = []
        for sign in (step, -step):
            weights = subject.weights.copy()
            weights[np.arange(len(weights)), candidates[:, column]] += sign
            changed.append(replace(subject, weights=weights).posed(pose).vertices)
        difference = (changed[0] - changed[1]) / (2 * step)
        np.testing.assert_allclose(slope[:, column], difference, atol=1e-7)
