"""Markers: derivatives, the clip's band matrix, priors; see test_registration for a whole fit."""

import numpy as np
import pytest

from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import (
    axis_angle_from_matrix,
    logarithm_derivative,
    matrix_from_axis_angle,
)
from corporeal.motions.girdle import collar_turn
from corporeal.registration.marker_body import POSE_SIZE, MarkerBody, stepped
from corporeal.registration.marker_clip import _solved
from corporeal.registration.marker_prior import MarkerPrior
from corporeal.registration.person_model import BODY_JOINTS, person_model


@pytest.mark.parametrize("angle", [1e-3, 1.0, 3.0])
def test_derivative_of_the_logarithm(angle: float) -> None:
    """∂ log(exp(ω) R)/∂ω against central differences of step 1e-6."""
    axis = np.array([0.6, -0.3, 0.8])
    vector = angle * axis / np.linalg.norm(axis)
    rotation, h = matrix_from_axis_angle(vector), 1e-6

    def moved(step: np.ndarray) -> np.ndarray:
        return axis_angle_from_matrix(matrix_from_axis_angle(step) @ rotation)

    numeric = np.stack([(moved(h * e) - moved(-h * e)) / (2 * h) for e in np.eye(3)], axis=1)
    np.testing.assert_allclose(logarithm_derivative(vector), numeric, atol=1e-8)


def _body() -> tuple[MarkerBody, np.ndarray, RotationPose]:
    model = person_model()
    body = MarkerBody(model, np.array([100, 4000, 8374, 10123, 12453]))
    random = np.random.default_rng(3)
    vectors = np.zeros((2, model.joint_count, 3))
    vectors[:, :BODY_JOINTS] = 0.3 * random.normal(size=(2, BODY_JOINTS, 3))
    shape = np.zeros(model.space.count)
    shape[:4] = random.normal(size=4)
    return body, shape, RotationPose(matrix_from_axis_angle(vectors), random.normal(size=(2, 3)))


def test_derivatives_of_markers() -> None:
    """By shape, by turns in the parents' axes and by the translation, against differences; pose
    blend shapes are held during a step, so they are left out."""
    body, shape, poses = _body()
    no_blend_shapes = np.zeros((5, 3))
    object.__setattr__(body.model, "pose_offsets", lambda pose: no_blend_shapes)
    jacobian = body.jacobian(body.posed(shape, poses), 4)
    h = 1e-6
    for column in range(4 + POSE_SIZE):
        step = np.zeros(4 + POSE_SIZE)
        step[column] = h
        after = []
        for sign in (1.0, -1.0):
            other = shape.copy()
            other[:4] += sign * step[:4]
            turned = stepped(poses, np.stack([sign * step[4:]] * 2))
            after.append(body.posed(other, turned).places)
        numeric = (after[0] - after[1]) / (2 * h)
        np.testing.assert_allclose(jacobian[..., column], numeric, atol=1e-7)


def test_band_matrix_is_the_dense_one() -> None:
    """Steps of a whole clip equal those of the dense normal equations with second differences."""
    random = np.random.default_rng(0)
    frames, size = 7, 4
    rows = random.normal(size=(frames, 6, size))
    matrix = np.swapaxes(rows, 1, 2) @ rows
    right, changes = random.normal(size=(frames, size)), random.normal(size=(frames - 2, size))
    weights = random.uniform(0.5, 2.0, size)
    dense = np.zeros((frames, size, frames, size))
    for k in range(frames):
        dense[k, :, k] = matrix[k]
    difference = np.zeros((frames - 2, frames))
    for k in range(frames - 2):
        difference[k, k : k + 3] = (1.0, -2.0, 1.0)
    pull = right.copy()
    for column in range(size):
        square = difference.T @ difference
        dense[:, column, :, column] += weights[column] * square
        pull[:, column] -= weights[column] * difference.T @ changes[:, column]
    wanted = np.linalg.solve(dense.reshape(frames * size, -1), pull.reshape(-1))
    found = _solved(matrix, right, changes, weights)
    np.testing.assert_allclose(found.reshape(-1), wanted, rtol=1e-6, atol=1e-7)


def test_prior_has_its_least_where_joints_share_a_motion() -> None:
    """A pose with the girdle's rhythm, an even spine and level feet is not pulled at; one without
    is pulled back."""
    model = person_model()
    names, joints = model.template.skeleton.names, model.space.mean_joints
    prior = MarkerPrior(names, joints)
    vectors = np.zeros((1, model.joint_count, 3))
    vectors[0, :BODY_JOINTS] = prior.mean
    rotations = matrix_from_axis_angle(vectors)
    for side in ("left", "right"):
        collar, shoulder = names.index(f"{side}_collar"), names.index(f"{side}_shoulder")
        rotations[0, collar] = np.eye(3)
        for _ in range(50):
            arm = rotations[0, collar] @ rotations[0, shoulder] @ prior.arms[side]
            rotations[0, collar] = collar_turn(arm[None], side)[0]
        ankle = names.index(f"{side}_ankle")
        assert np.allclose(rotations[0, ankle], np.eye(3))

    def pulls(pose: np.ndarray) -> np.ndarray:
        matrix, right = np.zeros((1, POSE_SIZE, POSE_SIZE)), np.zeros((1, POSE_SIZE))
        prior.add_to(matrix, right, RotationPose(pose, np.zeros((1, 3))), 0, 1.0)
        assert np.linalg.eigvalsh(matrix[0, :-3, :-3]).min() > 0
        return right[0, :-3].reshape(-1, 3)

    still = pulls(rotations)
    spine = names.index("spine2")
    assert np.abs(still[spine]).max() < 1e-9
    assert np.abs(still[names.index("left_ankle")]).max() < 1.0
    bent = rotations.copy()
    bent[0, spine] = matrix_from_axis_angle(np.array([0.2, 0.0, 0.0]))
    assert pulls(bent)[spine, 0] < -100.0
    lifted = rotations.copy()
    collar = names.index("left_collar")
    lifted[0, collar] = matrix_from_axis_angle(np.array([0.0, 0.0, 0.2])) @ lifted[0, collar]
    assert pulls(lifted)[collar, 2] < -10.0
