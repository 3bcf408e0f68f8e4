"""The shape space is found again from people in other poses."""

import numpy as np
import smpl_truth

from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.smpl.fitting import edge_differences, fit_pose_and_shape, person_of
from corporeal.models.smpl.linearised import PoseState
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
        np.testing.assert_allclose(came, truth.rests[meshes.subjects[n]], atol=1e-9)


def test_shape_space_of_standing_people() -> None:
    """Thirty people, each near the zero pose: six directions meet new people within 2 mm."""
    model, _, _ = smpl_truth.sampled(300, 4, 8)
    edges = edge_differences(model.triangles, model.vertex_count)
    random = np.random.default_rng(5)
    people = []
    for _ in range(30):
        turns = random.normal(0, 0.08, (24, 3))
        pose = PoseState(matrix_from_axis_angle(turns), random.normal(size=3))
        people.append(person_of(model, random.normal(0, 0.6, 6)).posed(pose).vertices)
    learned, found = train_shape(np.stack(people), model, edges, ShapeTraining(count=6, rounds=3))
    assert found.explained[5] > 0.995
    # pose and shape share what both can explain (an old person's stoop); new people are met all
    # the same
    for _ in range(3):
        pose = PoseState(matrix_from_axis_angle(random.normal(0, 0.3, (24, 3))), np.zeros(3))
        target = person_of(model, random.normal(0, 0.6, 6)).posed(pose).vertices
        assert fit_pose_and_shape(learned, target, edges).mean_distance < 0.002
