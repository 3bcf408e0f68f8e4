"""Every step of pose training finds what made the data, and all together do."""

from dataclasses import replace

import numpy as np
import pytest
import smpl_truth

from corporeal.body.linear_model import Blending
from corporeal.errors import InputError
from corporeal.models.smpl.fitting.edge_poses import first_poses
from corporeal.models.smpl.fitting.fit_pose import edge_differences
from corporeal.models.smpl.training.blend_weights import candidate_joints, solved_weights
from corporeal.models.smpl.training.estimate import PosedMeshes, distances
from corporeal.models.smpl.training.initial import four_influences, initial_model
from corporeal.models.smpl.training.joint_regressor import around, solved_regressor
from corporeal.models.smpl.training.pose_shapes import Ridge, solved_pose_shapes
from corporeal.models.smpl.training.pose_training import (
    PoseTraining,
    mirrored_joints,
    train_pose,
    with_solved_poses,
)
from corporeal.models.smpl.training.subjects import SubjectRule, solved_subject

VERTICES, PEOPLE, POSES = 300, 4, 40


def hardly_held(truth_joints: int, vertices: int) -> SubjectRule:
    """Data decide alone; the ring average is there in name."""
    regressor = np.full((truth_joints, vertices), 1.0 / vertices)
    return SubjectRule(regressor, None, np.arange(truth_joints), 0.0, 0.0, 1e-9)


@pytest.mark.parametrize("blending", ["lbs", "dqs"])
def test_subjects_of_known_poses(blending: Blending) -> None:
    """T̂ and Ĵ from ten poses each, exactly: the problem is linear."""
    model, meshes, truth = smpl_truth.sampled(VERTICES, PEOPLE, POSES, blending=blending)
    blank = replace(truth, rest_shapes=0 * truth.rest_shapes, joints=0 * truth.joints)
    rest, joints = solved_subject(meshes, blank, 1, hardly_held(24, model.vertex_count))
    np.testing.assert_allclose(rest, truth.rest_shapes[1], atol=1e-6)
    np.testing.assert_allclose(joints, truth.joints[1], atol=1e-5)


def test_symmetry_and_ring_are_what_they_say() -> None:
    """The solution makes the gradient of data, symmetry and ring terms zero, by differences."""
    model, meshes, truth = smpl_truth.sampled(VERTICES, 2, 6)
    count = model.vertex_count
    random = np.random.default_rng(0)
    mirror = np.arange(count)
    mirror[: count // 2 * 2] = mirror[: count // 2 * 2].reshape(-1, 2)[:, ::-1].ravel()
    mirror[:4] = [0, 1, 2, 3]  # some on the middle plane
    ring = random.dirichlet(np.ones(count), 24)
    rule = SubjectRule(ring, mirror, mirrored_joints(model.joint_names), 0.3, 2.0, 1.5)

    def energy(rest: np.ndarray, joints: np.ndarray) -> float:
        changed = replace(truth, rest_shapes=np.stack([rest] * 2), joints=np.stack([joints] * 2))
        person, total = changed.person(0), 0.0
        for n in meshes.of_subject(0).tolist():
            off = person.posed(truth.pose(n)).vertices - meshes.vertices[n]
            total += np.sum(off**2)
        flip = np.array([-1.0, 1, 1])
        total += rule.rest_symmetry * np.sum((rest - flip * rest[mirror]) ** 2)
        other = joints[rule.mirror_joints]
        total += rule.joint_symmetry * np.sum((joints - flip * other) ** 2)
        return total + rule.ring * np.sum((ring @ rest - joints) ** 2)

    rest, joints = solved_subject(meshes, truth, 0, rule)
    least = energy(rest, joints)
    for seed in range(5):
        random = np.random.default_rng(seed)
        dr, dj = random.normal(size=rest.shape), random.normal(size=joints.shape)
        step = 1e-4
        ahead, back = (energy(rest + s * dr, joints + s * dj) for s in (step, -step))
        curvature = (ahead + back - 2 * least) / step**2
        # quadratic: a zero slope, up to rounding of energies of order one
        assert abs(ahead - back) / (2 * step) < 1e-7 * curvature
        assert min(ahead, back) > least


def test_weights_of_known_people() -> None:
    """Four influences out of six candidates, as they were."""
    model, meshes, truth = smpl_truth.sampled(VERTICES, PEOPLE, POSES)
    initial = initial_model(smpl_truth.template_of(model))
    known = model.weights.dense()
    candidates = candidate_joints(known + 1e-3 * initial.diffused)
    blank = replace(truth, weights=initial.weights)
    came = solved_weights(meshes, blank, candidates, initial.weights, 1e-12)
    assert (came >= 0).all()
    assert ((came > 0).sum(axis=1) <= 4).all()
    np.testing.assert_allclose(came.sum(axis=1), 1, atol=1e-12)
    np.testing.assert_allclose(came, known, atol=1e-4)


def test_dual_quaternion_weights_come_closer() -> None:
    """Linearised about wrong weights, three rounds bring the known ones back to 1 %."""
    model, meshes, truth = smpl_truth.sampled(VERTICES, PEOPLE, POSES, blending="dqs")
    known = model.weights.dense()
    initial = initial_model(smpl_truth.template_of(model))
    candidates = candidate_joints(known + 1e-3 * initial.diffused)
    now = replace(truth, weights=0.5 * known + 0.5 * initial.weights)
    for _ in range(3):
        weights = solved_weights(meshes, now, candidates, initial.weights, 1e-12)
        now = replace(now, weights=weights)
    far = np.abs(now.weights - known).max(axis=1)
    assert np.median(far) < 0.01
    assert distances(meshes, now).mean() < 1e-3


def test_pose_shapes_are_the_ridge_solution() -> None:
    """Conjugate gradients end where the normal equations of each vertex, solved densely, do."""
    _, meshes, truth = smpl_truth.sampled(VERTICES, PEOPLE, POSES)
    blank = replace(truth, pose_offsets=0 * truth.pose_offsets)
    came = solved_pose_shapes(meshes, blank, Ridge(0.4))
    features = truth.features()
    posed = [blank.person(s).posed(truth.pose(n)) for n, s in enumerate(meshes.subjects.tolist())]
    for v in (0, 117, 259):
        rows = [np.kron(features[n], p.blend.blended[v]) for n, p in enumerate(posed)]
        design = np.concatenate([r.reshape(3, -1) for r in rows])
        missing = np.concatenate(
            [meshes.vertices[n, v] - p.vertices[v] for n, p in enumerate(posed)]
        )
        matrix = design.T @ design + 0.4 * np.eye(design.shape[1])
        expected = np.linalg.solve(matrix, design.T @ missing).reshape(-1, 3)
        scale = np.abs(expected).max() + 1e-6
        np.testing.assert_allclose(came[:, v], expected, atol=2e-4 * scale)


def test_sparse_pose_shapes_stay_where_they_may() -> None:
    """Offsets are zero for joints without weight, and meet the data better than none."""
    _, meshes, truth = smpl_truth.sampled(VERTICES, PEOPLE, POSES)
    support = truth.weights > 0
    blank = replace(truth, pose_offsets=0 * truth.pose_offsets)
    outside = np.repeat(~support[:, 1:].T, 9, axis=0)
    came = solved_pose_shapes(meshes, blank, Ridge(np.where(outside, np.inf, 0.01)))
    by_joint = np.abs(came).reshape(23, 9, -1, 3).max(axis=(1, 3))
    assert (by_joint[~support[:, 1:].T] == 0).all()
    before, after = distances(meshes, blank), distances(meshes, replace(blank, pose_offsets=came))
    assert after.mean() < 0.3 * before.mean()


def test_regressor_gives_the_joints_back() -> None:
    """Non-negative, rows sum to one, and twelve people's joints within a tenth of a millimetre."""
    model, _, truth = smpl_truth.sampled(VERTICES, 12, 12)
    initial = initial_model(smpl_truth.template_of(model))
    support = np.maximum(model.joint_regressor > 0, around(initial.regressor, initial.edges, 1))
    came = solved_regressor(truth.rest_shapes, truth.joints, initial.regressor, support)
    assert (came >= 0).all()
    np.testing.assert_allclose(came.sum(axis=1), 1, atol=1e-12)
    found = np.einsum("jv,iva->ija", came, truth.rest_shapes)
    assert np.linalg.norm(found - truth.joints, axis=-1).max() < 1e-4


def test_first_poses_come_close() -> None:
    """Edges of an average person, then vertices of the right one: within 0.01 mm."""
    model, meshes, truth = smpl_truth.sampled(VERTICES, PEOPLE, 8, pose_scale=0.005)
    edges = edge_differences(model.triangles, model.vertex_count)
    average = replace(truth.person(0), rest=model.mean_vertices)
    poses = first_poses(meshes.vertices, average, edges)
    begun = replace(truth, rotations=poses.rotations, translations=poses.translation)
    solved = with_solved_poses(meshes, begun, iterations=60)
    assert distances(meshes, solved).max() < 1e-5


def test_four_influences_are_four_also_among_equals() -> None:
    """The fifth is as large as the fourth: one of the two is kept, and rows sum to one."""
    weights = np.array([[0.3, 0.3, 0.2, 0.1, 0.1, 0.0], [0.0, 1.0, 0.0, 0.0, 0.0, 0.0]])
    four = four_influences(weights)
    np.testing.assert_array_equal((four > 0).sum(axis=1), [4, 1])
    np.testing.assert_allclose(four.sum(axis=1), 1, atol=1e-15)
    np.testing.assert_allclose(four[0, :3], np.array([0.3, 0.3, 0.2]) / 0.9, atol=1e-15)


def test_initial_model_of_the_template() -> None:
    """Weights sum to one with four influences; joints of the ring lie inside the body."""
    model, _, _ = smpl_truth.sampled(VERTICES, PEOPLE, 8)
    initial = initial_model(smpl_truth.template_of(model))
    np.testing.assert_allclose(initial.weights.sum(axis=1), 1, atol=1e-12)
    assert ((initial.weights > 0).sum(axis=1) <= 4).all()
    np.testing.assert_allclose(initial.regressor.sum(axis=1), 1, atol=1e-12)
    joints = initial.regressor @ model.mean_vertices
    low, high = model.mean_vertices.min(axis=0), model.mean_vertices.max(axis=0)
    assert ((joints > low) & (joints < high)).all()


def test_bad_sets_are_refused() -> None:
    """Gaps in the subjects' numbers, and nobody at all."""
    with pytest.raises(InputError, match="expected 0 to 2 without gaps"):
        PosedMeshes(np.zeros((2, 4, 3)), np.array([0, 2]))
    with pytest.raises(InputError, match="0 registrations of 0 subjects' numbers"):
        PosedMeshes(np.zeros((0, 4, 3)), np.zeros(0, int))


def test_training_lowers_the_error_turn_by_turn() -> None:
    """From edges to a model that meets forty registrations within 3 mm, never getting worse."""
    model, meshes, _ = smpl_truth.sampled(VERTICES, PEOPLE, POSES)
    settings = PoseTraining(joint_rounds=2, shape_rounds=2)
    trained = train_pose(meshes, smpl_truth.template_of(model), settings)
    means = [mean for _, mean in trained.history]
    assert means[-1] < 0.003
    assert means[-1] < 0.25 * means[1]
