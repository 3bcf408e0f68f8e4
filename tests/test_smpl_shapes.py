"""The shape space is found again from people in other poses."""

import numpy as np
import smpl_truth

from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.smpl.fitting.fit_pose import edge_differences, fit_pose_and_shape, person_of
from corporeal.models.smpl.training.shape_training import (
    ShapeTraining,
    in_zero_pose,
    train_shape,
)


def test_a_shape_comes_back_from_any_pose() -> None:
    """Posing by the model's own joints and taking the pose away again is exact."""
    model, meshes, truth = smpl_truth.sampled(300, 4, 8)
    for n in range(8):
        came = in_zero_pose(model, meshes.vertices[n], truth.pose(n))
        np.testing.assert_allclose(came, truth.rest_shapes[meshes.subjects[n]], atol=1e-9)


def test_shape_space_of_standing_people() -> None:
    """Thirty people, each near the zero pose: six directions meet new people within 2 mm."""
    model, _, _ = smpl_truth.sampled(300, 4, 8)
    edges = edge_differences(model.triangles, model.vertex_count)
    random = np.random.default_rng(5)
    people = []
    for _ in range(30):
        rotation_vectors = random.normal(0, 0.08, (24, 3))
        pose = RotationPose(matrix_from_axis_angle(rotation_vectors), random.normal(size=3))
        people.append(person_of(model, random.normal(0, 0.6, 6)).posed(pose).vertices)
    learned, found = train_shape(np.stack(people), model, edges, ShapeTraining(count=6, rounds=3))
    assert found.explained[5] > 0.995
    # pose and shape share what both can explain (an old person's stoop); new people are met all
    # the same
    for _ in range(3):
        pose = RotationPose(matrix_from_axis_angle(random.normal(0, 0.3, (24, 3))), np.zeros(3))
        target = person_of(model, random.normal(0, 0.6, 6)).posed(pose).vertices
        assert fit_pose_and_shape(learned, target, edges).mean_distance < 0.002


def standing(model: LinearBodyModel, count: int) -> tuple[np.ndarray, np.ndarray]:
    """People near the zero pose, and the same people in it."""
    random = np.random.default_rng(8)
    posed, rest_shapes = [], []
    for _ in range(count):
        person = person_of(model, random.normal(0, 0.6, 6))
        pose = RotationPose(matrix_from_axis_angle(random.normal(0, 0.08, (24, 3))), np.zeros(3))
        posed.append(person.posed(pose).vertices)
        rest_shapes.append(person.rest)
    return np.stack(posed), np.stack(rest_shapes)


def outside(model: LinearBodyModel, rest_shapes: np.ndarray) -> float:
    """Mean distance of people from the shape space, metres; where they stand does not count."""
    root = model.joint_regressor[0]
    away = (rest_shapes - model.mean_vertices).reshape(len(rest_shapes), -1)
    away = away - np.tile((rest_shapes - model.mean_vertices).transpose(0, 2, 1) @ root, len(root))
    basis, _ = np.linalg.qr(model.shape_offsets.reshape(model.shape_count, -1).T)
    left = away - away @ basis @ basis.T
    return float(np.linalg.norm(left.reshape(rest_shapes.shape), axis=2).mean())


def test_people_with_many_registrations_say_what_the_zero_pose_is() -> None:
    """Beside people whose zero pose is known, others are brought to the same: true people lie
    nearer to the space than to one of the others alone."""
    model, _, _ = smpl_truth.sampled(300, 4, 8)
    edges = edge_differences(model.triangles, model.vertex_count)
    posed, rest_shapes = standing(model, 24)
    settings = ShapeTraining(count=6, rounds=1)
    alone, _ = train_shape(posed[12:], model, edges, settings)
    beside, found = train_shape(posed[12:], model, edges, settings, rest_shapes[:12])
    assert found.count == 24
    assert outside(beside, rest_shapes[12:]) < 0.5 * outside(alone, rest_shapes[12:])


def test_rest_skins_alone_are_a_shape_space() -> None:
    """Nobody needs to stand: six directions of twelve people are those that made them."""
    model, _, _ = smpl_truth.sampled(300, 4, 8)
    edges = edge_differences(model.triangles, model.vertex_count)
    _, rest_shapes = standing(model, 12)
    nobody = np.zeros((0, model.vertex_count, 3))
    learned, _ = train_shape(nobody, model, edges, ShapeTraining(count=6), rest_shapes)
    assert outside(learned, rest_shapes) < 1e-9
