"""Fitting finds the pose and shape that made a mesh."""

import numpy as np
import pytest
import small_smpl

from corporeal.body.pose import RotationPose
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.smpl.fitting.fit_pose import (
    edge_differences,
    fit_pose,
    fit_pose_and_shape,
    person_of,
)


def random_pose(seed: int, scale: float = 0.5) -> RotationPose:
    random = np.random.default_rng(seed)
    rotation_vectors = random.normal(0, scale, (24, 3))
    rotation_vectors[0] = random.normal(0, 2.0, 3)  # standing anywhere, facing anywhere
    return RotationPose(matrix_from_axis_angle(rotation_vectors), random.normal(0, 3.0, 3))


@pytest.mark.parametrize("seed", range(4))
def test_pose_of_a_known_person(seed: int) -> None:
    """From nothing but the mesh, to a tenth of a micrometre, whatever the body is turned to."""
    model = small_smpl.model()
    person, edges = person_of(model), small_smpl.edges()
    pose = random_pose(seed)
    target = person.posed(pose).vertices
    found = fit_pose(person, target, edges)
    assert found.converged
    assert found.mean_distance < 1e-7
    np.testing.assert_allclose(person.posed(found.pose).vertices, target, atol=1e-6)


def test_edges_find_the_pose_of_another_person() -> None:
    """Eq. 15 with the average person: the pose of a broader one within two and a half degrees on
    average (1.3 to 2.3 over six random truths on surfaces of 913 and 914 vertices)."""
    model = small_smpl.model()
    edges, pose = small_smpl.edges(), random_pose(5, 0.3)
    other = person_of(model, np.array([0.5, -0.5]))
    found = fit_pose(person_of(model), other.posed(pose).vertices, edges, by="edges")
    rotation_vectors = np.swapaxes(found.pose.rotations, 1, 2) @ pose.rotations
    angles = np.arccos(np.clip((np.trace(rotation_vectors, axis1=1, axis2=2) - 1) / 2, -1, 1))
    assert np.degrees(angles[small_smpl.LARGE_PARTS]).mean() < 2.5


@pytest.mark.parametrize("seed", [7, 8])
def test_pose_and_shape_together(seed: int) -> None:
    """Six coefficients and 75 numbers of pose from one mesh."""
    model = small_smpl.model()
    betas = np.random.default_rng(seed).normal(size=6)
    pose = random_pose(seed)
    target = person_of(model, betas).posed(pose).vertices
    found = fit_pose_and_shape(model, target, small_smpl.edges())
    assert found.mean_distance < 1e-6
    np.testing.assert_allclose(found.betas, betas, atol=1e-3)


def test_single_precision_is_enough() -> None:
    """float32 finds the same pose to a hundredth of a millimetre."""
    model, edges = small_smpl.model(), small_smpl.edges()
    person, pose = person_of(model, dtype=np.float32), random_pose(9)
    pose = RotationPose(pose.rotations, 0.1 * pose.translation)
    target = person_of(model).posed(pose).vertices
    found = fit_pose(person, target.astype(np.float32), edges)
    assert found.mean_distance < 1e-5


def test_what_does_not_fit_is_refused() -> None:
    """Another topology, numbers that are not finite."""
    model, edges = small_smpl.model(), small_smpl.edges()
    person = person_of(model)
    with pytest.raises(InputError, match="Register it to the model's topology first"):
        fit_pose(person, np.zeros((7, 3)), edges)
    broken = person.rest.copy()
    broken[4] = np.nan
    with pytest.raises(InputError, match="3 numbers that are not finite"):
        fit_pose(person, broken, edges)
    with pytest.raises(InputError, match="asked for 7 shape coefficients; the model has 6"):
        fit_pose_and_shape(model, person.rest, edges, shape_count=7)


def test_every_edge_once() -> None:
    """Two triangles with one edge in common have five edges; differences are end less start."""
    edges = edge_differences(np.array([[0, 1, 2], [2, 1, 3]]), 4)
    points = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 5]])
    assert edges.shape == (5, 4)
    lengths = np.sort(np.linalg.norm(edges @ points, axis=1))
    np.testing.assert_allclose(lengths, np.sort([1, 2, 5**0.5, 26**0.5, 29**0.5]))
