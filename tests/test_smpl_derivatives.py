"""Derivatives of a posed skin against finite differences."""

import linear_models
import numpy as np

from corporeal.geometry.rotations import axis_angle_from_matrix, matrix_from_axis_angle
from corporeal.models.smpl import equations
from corporeal.models.smpl.linearised import PoseState, SkinnedPerson, turned


def person(seed: int = 0) -> tuple[SkinnedPerson, PoseState]:
    data = linear_models.random_model(vertex_count=50, seed=seed)
    random = np.random.default_rng(seed + 100)
    subject = SkinnedPerson(
        data.mean_vertices,
        data.joint_regressor @ data.mean_vertices,
        data.weights.dense(),
        data.pose_offsets,
        data.parents,
    )
    rotations = matrix_from_axis_angle(random.normal(0, 0.7, (24, 3)))
    return subject, PoseState(rotations, random.normal(size=3))


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


def test_derivative_by_pose() -> None:
    """Central differences along every one of the 75 directions; error of order step²."""
    subject, pose = person()
    posed = subject.posed(pose)
    slope, step = posed.by_pose(), 1e-6
    for column in range(75):
        way = np.zeros(75)
        way[column] = step
        ahead = subject.posed(turned(pose, posed.world, subject.parents, way)).vertices
        back = subject.posed(turned(pose, posed.world, subject.parents, -way)).vertices
        np.testing.assert_allclose(slope[:, :, column], (ahead - back) / (2 * step), atol=1e-8)


def test_derivative_by_shape() -> None:
    """The skin is linear in shape when joints are: one whole step is exact."""
    subject, pose = person(1)
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
    )
    difference = changed.posed(pose).vertices - subject.posed(pose).vertices
    np.testing.assert_allclose(slope @ betas, difference, atol=1e-12)
