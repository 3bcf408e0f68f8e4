"""Derivatives of kinematics and skinning: automatic differentiation, and compiled against plain.

JAX differentiates the array-API code forwards, so what it finds is independent of the formulas
that are tested; both round to some 1e-15 of values of about 1.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from corporeal.body.linear_model import Blending
from corporeal.body.pose import Pose, RotationPose
from corporeal.geometry.rotations import cross_matrix, matrix_from_axis_angle
from corporeal.skinning.jacobians import (
    by_shape,
    centres_by_rotations,
    make_blend,
    translation_maps,
)
from corporeal.skinning.kinematics import (
    KinematicState,
    descendants,
    forward_kinematics,
    joint_centres,
    kinematic_state,
    relative_rotations,
    rotate_joints,
)
from corporeal.skinning.sparse_jacobians import rotation_jacobian, skin_support

PARENTS = (-1, 0, 1, 1, 3, 0)
COUNT, VERTICES, POSES = len(PARENTS), 9, 2
BLENDINGS = pytest.mark.parametrize("blending", ["lbs", "dqs"])


def body(seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray, RotationPose]:
    """Rest vertices, joints, weights of one to three joints a vertex, and two poses."""
    random = np.random.default_rng(seed)
    weights = np.zeros((VERTICES, COUNT))
    for v, row in enumerate(weights):
        size = 1 + v % 3
        row[random.choice(COUNT, size, replace=False)] = random.dirichlet(np.ones(size))
    rotations = matrix_from_axis_angle(random.normal(0, 0.7, (POSES, COUNT, 3)))
    pose = RotationPose(rotations, random.normal(size=(POSES, 3)))
    return random.normal(size=(VERTICES, 3)), random.normal(size=(COUNT, 3)), weights, pose


def test_axis_angles_and_matrices_are_one_kinematics() -> None:
    """`forward_kinematics` of vectors, `kinematic_state` of their matrices; g_k = Q_k j_k + τ_k."""
    _, joints, _, _ = body()
    random = np.random.default_rng(1)
    pose = Pose(random.normal(size=(POSES, COUNT, 3)), random.normal(size=(POSES, 3)))
    frames = forward_kinematics(pose.joint_rotations, joints, PARENTS, pose.root_translation)
    state = kinematic_state(RotationPose.from_axis_angle(pose), joints, PARENTS)
    np.testing.assert_array_equal(state.world_rotations, frames[..., :3, :3])
    np.testing.assert_array_equal(state.centres, frames[..., :3, 3])
    moved = np.einsum("njab,jb->nja", state.world_rotations, joints) + state.translations
    np.testing.assert_allclose(moved, state.centres, atol=1e-14)


def test_relations_of_the_tree() -> None:
    """Ancestors by walking up; local rotations and centres come back from the world's."""
    _, joints, _, pose = body()
    below = descendants(PARENTS)
    for k in range(COUNT):
        line, joint = set(), k
        while joint >= 0:
            line.add(joint)
            joint = PARENTS[joint]
        assert set(np.flatnonzero(below[k])) == line
    state = kinematic_state(pose, joints, PARENTS)
    local = relative_rotations(state.world_rotations, PARENTS)
    np.testing.assert_allclose(local, pose.rotations, atol=1e-14)
    centres = joint_centres(state.world_rotations, joints, PARENTS)
    np.testing.assert_allclose(centres + pose.translation[:, None], state.centres, atol=1e-14)
    vectors = np.random.default_rng(2).normal(size=(2, 5, 3))
    product = (cross_matrix(vectors[0]) @ vectors[1][..., None])[..., 0]
    np.testing.assert_allclose(product, np.cross(*vectors), atol=1e-15)


def test_a_rotation_step_turns_all_descendants_about_the_joint() -> None:
    """exp(δ_j) in the world: Q_k ← exp(δ_j) Q_k and g_k ← g_j + exp(δ_j)(g_k − g_j) below j."""
    _, joints, _, pose = body()
    state = kinematic_state(pose, joints, PARENTS)
    step = np.zeros((POSES, 3 * COUNT + 3))
    step[:, 3:6], step[:, -3:] = [0.4, -1.1, 0.3], [1.0, 2.0, 3.0]
    after = kinematic_state(
        rotate_joints(pose, state.world_rotations, PARENTS, step), joints, PARENTS
    )
    turn, held = matrix_from_axis_angle(step[0, 3:6]), descendants(PARENTS)[:, 1] == 0
    centre = state.centres[:, 1, None]
    turned = centre + (state.centres - centre) @ turn.T
    expected = np.where(held[:, None], state.centres, turned) + step[0, -3:]
    np.testing.assert_allclose(after.centres, expected, atol=1e-14)
    rotations = np.where(held[:, None, None], state.world_rotations, turn @ state.world_rotations)
    np.testing.assert_allclose(after.world_rotations, rotations, atol=1e-14)


def skinned(blending: Blending, weights, step, joints, points, pose) -> tuple:
    """Posed vertices and joint centres after a rotation step, traced by JAX."""
    here = kinematic_state(pose, joints, PARENTS)
    after = rotate_joints(pose, here.world_rotations, PARENTS, step)
    state = kinematic_state(after, joints, PARENTS)
    blend = make_blend(blending, weights, state.world_rotations, state.translations)
    return blend.moved(points), state.centres


@BLENDINGS
def test_derivatives_are_those_of_automatic_differentiation(blending: Blending) -> None:
    """By rotations, translation, rest joints and rest vertices, of two poses at once."""
    points, joints, weights, pose = body()
    state = kinematic_state(pose, joints, PARENTS)
    blend = make_blend(blending, weights, state.world_rotations, state.translations)
    by_rotations = blend.by_rotations(points, state.centres, PARENTS)
    by_joints = blend.by_translations(translation_maps(state.world_rotations, PARENTS))
    with jax.enable_x64(True):
        derive = jax.jit(
            jax.jacfwd(
                lambda step, joints, points, pose: skinned(
                    blending, weights, step, joints, points, pose
                ),
                argnums=(0, 1, 2),
            )
        )
        for n in range(POSES):
            own = jax.tree.map(jnp.asarray, pose[n])
            found, centres = derive(
                jnp.zeros(3 * COUNT + 3), jnp.asarray(joints), jnp.asarray(points), own
            )
            expected = np.asarray(found[0]).reshape(VERTICES, 3, COUNT + 1, 3)
            np.testing.assert_allclose(by_rotations[n], expected[:, :, :-1], atol=1e-13)
            np.testing.assert_allclose(
                expected[:, :, -1], np.broadcast_to(np.eye(3), (VERTICES, 3, 3)), atol=1e-13
            )
            np.testing.assert_allclose(
                by_joints[n], np.asarray(found[1]).reshape(VERTICES, 3, -1), atol=1e-13
            )
            own_vertex = np.einsum("vavb->vab", np.asarray(found[2]))
            np.testing.assert_allclose(blend.blended[n], own_vertex, atol=1e-13)
            by_centre = centres_by_rotations(state.centres, PARENTS)[n]
            expected = np.asarray(centres[0]).reshape(COUNT, 3, COUNT + 1, 3)[:, :, :-1]
            np.testing.assert_allclose(by_centre, expected, atol=1e-13)


@BLENDINGS
def test_torch_equals_numpy(blending: Blending) -> None:
    """The same array-API code: derivatives by rotations and joints to rounding."""
    torch = pytest.importorskip("torch", reason="PyTorch is an optional extra")
    points, joints, weights, pose = body(6)
    found = []
    for given in (np.array, torch.tensor):
        own = RotationPose(given(pose.rotations), given(pose.translation))
        state = kinematic_state(own, given(joints), PARENTS)
        blend = make_blend(blending, given(weights), state.world_rotations, state.translations)
        maps = translation_maps(state.world_rotations, PARENTS)
        slopes = (
            blend.by_rotations(given(points), state.centres, PARENTS),
            blend.by_translations(maps),
        )
        found.append([np.asarray(slope) for slope in slopes])
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(theirs, ours, atol=1e-13)


@BLENDINGS
def test_shape_moves_vertices_and_joints_together(blending: Blending) -> None:
    """A posed skin is linear in rest vertices and joints at once: a whole step is exact."""
    points, joints, weights, pose = body(3)
    random = np.random.default_rng(4)
    offsets, ways = random.normal(size=(4, VERTICES, 3)), random.normal(size=(4, COUNT, 3))
    betas = random.normal(size=4)

    def vertices(share: float) -> np.ndarray:
        moved = joints + share * np.tensordot(betas, ways, axes=1)
        state = kinematic_state(pose, moved, PARENTS)
        blend = make_blend(blending, weights, state.world_rotations, state.translations)
        return blend.moved(points + share * np.tensordot(betas, offsets, axes=1))

    state = kinematic_state(pose, joints, PARENTS)
    blend = make_blend(blending, weights, state.world_rotations, state.translations)
    slope = by_shape(blend, state.world_rotations, PARENTS, offsets, ways)
    np.testing.assert_allclose(slope @ betas, vertices(1.0) - vertices(0.0), atol=1e-13)


@BLENDINGS
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_compiled_equals_plain(blending: Blending, dtype: type) -> None:
    """Sparse, and written into a dense array: to rounding of the arrays' precision."""
    points, joints, weights, pose = body(5)
    state = kinematic_state(pose, joints, PARENTS)
    blend = make_blend(blending, weights, state.world_rotations, state.translations)
    expected = blend.by_rotations(points, state.centres, PARENTS)
    support = skin_support(weights.astype(dtype), PARENTS)
    many = np.repeat(points[None], POSES, axis=0).astype(dtype)
    tolerance = 32 * np.finfo(dtype).eps * np.abs(expected).max()
    dense = np.zeros((POSES, VERTICES, 3, COUNT, 3), dtype)
    rotation_jacobian(blending, support, many, state, PARENTS, dense)
    np.testing.assert_allclose(dense, expected, atol=tolerance)
    sparse = rotation_jacobian(blending, support, many, state, PARENTS)
    assert sparse.shape[3] == support.ancestors.shape[1] < COUNT
    for v, line in enumerate(support.ancestors):
        used = line[line >= 0]
        np.testing.assert_array_equal(sparse[:, v, :, : len(used)], dense[:, v][:, :, used])
        assert not sparse[:, v, :, len(used) :].any()
        assert not np.delete(dense[:, v], used, axis=2).any()


def test_a_state_can_be_cut() -> None:
    """One of a batch has that pose's arrays."""
    _, joints, _, pose = body()
    state = kinematic_state(pose, joints, PARENTS)
    one = kinematic_state(pose[1], joints, PARENTS)
    assert isinstance(state[1], KinematicState)
    np.testing.assert_array_equal(state[1].translations, one.translations)
    assert len(pose) == POSES
