"""Inverse skinning undoes skinning, and says where it cannot."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic

from corporeal.body.pose import Pose
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.pipelines.deformers import make_deformer
from corporeal.skinning.unposing import damped_offsets, inverse_matrices, unpose

TEMPLATE = synthetic.arm_template()
IDENTITY = synthetic.identity_of(TEMPLATE)


@pytest.mark.parametrize("name", ["lbs", "dqs"])
@pytest.mark.parametrize("frames", [3, 37])
def test_unpose_undoes_pose(name: str, frames: int) -> None:
    """unpose(pose(x)) = x within 1e−6 m, in fact within rounding × condition; any x, not just
    the rest shape."""
    deformer = make_deformer(name, TEMPLATE)
    poses = synthetic.random_motion(TEMPLATE, frames, seed=11).poses
    offsets = np.random.default_rng(3).normal(scale=0.02, size=IDENTITY.rest_vertices.shape)
    bumpy = synthetic.Identity(IDENTITY.rest_vertices + offsets, IDENTITY.joints, {})
    result = unpose(deformer, IDENTITY, poses, deformer.vertices(bumpy, poses))
    error = np.abs(result.rest_vertices - bumpy.rest_vertices).max(axis=-1)
    assert error.max() < 1e-6
    assert (error < 100 * np.finfo(float).eps * result.condition).all()


def test_conditions() -> None:
    """1 for every rigid motion; above 1 where linear skinning squashes."""
    poses = synthetic.random_motion(TEMPLATE, 5).poses
    dual, linear = make_deformer("dqs", TEMPLATE), make_deformer("lbs", TEMPLATE)
    vertices = linear.vertices(IDENTITY, poses)
    np.testing.assert_allclose(unpose(dual, IDENTITY, poses, vertices).condition, 1, atol=1e-13)
    condition = unpose(linear, IDENTITY, poses, vertices).condition
    rigid = TEMPLATE.weights.values[:, 0] == 1
    np.testing.assert_allclose(condition[:, rigid], 1, atol=1e-13)
    assert condition[:, ~rigid].max() > 1.5


def test_condition_bounds_the_true_condition_number() -> None:
    """κ₂/3 ≤ ‖M‖_F ‖M⁻¹‖_F / 3 ≤ κ₂, by the singular values."""
    deformer = make_deformer("lbs", TEMPLATE)
    poses = synthetic.random_motion(TEMPLATE, 4, seed=2).poses
    condition = unpose(deformer, IDENTITY, poses, deformer.vertices(IDENTITY, poses)).condition
    matrices = np.stack([np.stack(row[:3]) for row in deformer.vertex_motions(IDENTITY, poses)])
    true = np.linalg.cond(np.moveaxis(matrices, (0, 1), (-2, -1)))
    assert (condition <= true * (1 + 1e-9)).all()
    assert (condition >= true / 3 * (1 - 1e-9)).all()


def test_singular_vertices_fall_back_to_the_identity() -> None:
    """Half of a 180° twist has no inverse: its condition says so, and nothing is infinite."""
    half = np.tile([[0.5, 0.5, 0, 0, 0]], (TEMPLATE.mesh.vertex_count, 1))
    template = synthetic.with_weights(TEMPLATE, SkinWeights.from_dense(half))
    rotations = np.zeros((5, 3))
    rotations[1, 0] = np.pi
    pose = Pose(rotations, np.zeros(3))
    deformer = make_deformer("lbs", template)
    result = unpose(deformer, IDENTITY, pose, deformer.vertices(IDENTITY, pose))
    assert (result.condition > 1e13).all()
    np.testing.assert_array_equal(result.rest_vertices, IDENTITY.rest_vertices)


def test_jax_equals_numpy() -> None:
    deformer = make_deformer("lbs", TEMPLATE)
    poses = synthetic.random_motion(TEMPLATE, 3).poses
    vertices = deformer.vertices(IDENTITY, poses)
    expected = unpose(deformer, IDENTITY, poses, vertices)
    with jax.enable_x64(True):
        result = unpose(deformer, IDENTITY, jax.tree.map(jnp.asarray, poses), jnp.asarray(vertices))
        np.testing.assert_allclose(result.rest_vertices, expected.rest_vertices, atol=1e-12)


def test_wrong_vertex_count_is_refused() -> None:
    deformer = make_deformer("lbs", TEMPLATE)
    pose = Pose(np.zeros((5, 3)), np.zeros(3))
    with pytest.raises(InputError, match="got 7 vertices to unpose; the template has 122"):
        unpose(deformer, IDENTITY, pose, np.zeros((7, 3)))


def test_inverse_matrices_are_inverses() -> None:
    """M⁻¹ M = I within rounding times the condition, of any invertible matrices."""
    matrices = np.random.default_rng(4).normal(size=(50, 3, 3))
    product = inverse_matrices(matrices) @ matrices
    bound = 100 * np.finfo(float).eps * np.linalg.cond(matrices)
    assert (np.abs(product - np.eye(3)).max(axis=(1, 2)) < bound).all()


def test_damped_offsets_are_exact_where_they_can_be_and_small_elsewhere() -> None:
    """A direction shrunk to 0.1 comes back in full; one shrunk to 1e-9 is left at zero."""
    turn = synthetic.random_motion(TEMPLATE, 1).poses.joint_rotations[0, 0]
    rotation = np.asarray(matrix_from_axis_angle(turn))
    offsets = np.array([[0.3, -0.2, 0.5], [0.3, -0.2, 0.5]])
    matrices = rotation @ np.stack([np.diag([1.0, 1.0, 0.1]), np.diag([1.0, 1.0, 1e-9])])
    gaps = np.einsum("vij,vj->vi", matrices, offsets)
    found = damped_offsets(matrices, gaps, damping=1e-3, refine_above=1e-12)
    np.testing.assert_allclose(found[0], offsets[0], atol=1e-10)
    np.testing.assert_allclose(found[1], [0.3, -0.2, 0.0], atol=1e-5)
