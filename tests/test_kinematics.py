"""Forward kinematics against closed forms and an independent joint-by-joint recursion."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import synthetic
from scipy.spatial.transform import Rotation

from corporeal.errors import InputError
from corporeal.skinning.kinematics import forward_kinematics, rest_to_world, tree_levels

PARENTS = synthetic.PARENTS
JOINTS = synthetic.arm_template().skeleton.joints


def reference_frames(rotations, joints, parents, translation) -> np.ndarray:
    """SMPL's recursion, one joint at a time, with SciPy's rotations."""
    frames = np.zeros((len(parents), 4, 4))
    for j, parent in enumerate(parents):
        local = np.eye(4)
        local[:3, :3] = Rotation.from_rotvec(rotations[j]).as_matrix()
        local[:3, 3] = joints[j] - (joints[parent] if parent >= 0 else 0)
        frames[j] = local if parent < 0 else frames[parent] @ local
    frames[:, :3, 3] += translation
    return frames


def test_equals_the_recursion() -> None:
    random = np.random.default_rng(1)
    rotations, translation = random.normal(size=(4, 5, 3)), random.normal(size=(4, 3))
    frames = forward_kinematics(rotations, JOINTS, PARENTS, translation)
    expected = [
        reference_frames(r, JOINTS, PARENTS, t) for r, t in zip(rotations, translation, strict=True)
    ]
    np.testing.assert_allclose(frames, expected, atol=1e-14)


def test_quarter_turn_of_a_middle_joint() -> None:
    """Joint 1 turned 90° about z swings everything after it from +x to +y; closed form."""
    rotations = np.zeros((5, 3))
    rotations[1, 2] = np.pi / 2
    frames = forward_kinematics(rotations, JOINTS, PARENTS, np.zeros(3))
    np.testing.assert_allclose(frames[2, :3, 3], [0.3, 0.3, 0], atol=1e-15)
    np.testing.assert_allclose(frames[3, :3, 3], [0.2, 0, 0], atol=1e-15)
    np.testing.assert_allclose(frames[4, :3, :3], [[0, -1, 0], [1, 0, 0], [0, 0, 1]], atol=1e-15)


def test_root_turns_about_its_own_joint() -> None:
    """However far the root stands from the origin, its turn leaves it there; translation adds."""
    joints = JOINTS + np.array([0.0, 0.9, 0.0])
    rotations = np.zeros((5, 3))
    rotations[0] = [0.3, -0.8, 0.5]
    frames = forward_kinematics(rotations, joints, PARENTS, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(frames[0, :3, 3], joints[0] + [1, 2, 3], atol=1e-15)


def test_rest_frames_have_world_axes() -> None:
    frames = forward_kinematics(np.zeros((5, 3)), JOINTS, PARENTS, np.zeros(3))
    np.testing.assert_array_equal(frames[:, :3, :3], np.broadcast_to(np.eye(3), (5, 3, 3)))
    np.testing.assert_allclose(frames[:, :3, 3], JOINTS, atol=1e-16)
    motions = rest_to_world(frames, JOINTS)
    np.testing.assert_allclose(motions, np.broadcast_to(np.eye(4), (5, 4, 4)), atol=1e-16)


def test_batches_broadcast() -> None:
    """Two identities against three poses give all six pairs."""
    random = np.random.default_rng(2)
    rotations, translation = random.normal(size=(3, 5, 3)), random.normal(size=(3, 3))
    joints = np.stack([JOINTS, 2 * JOINTS])[:, None]
    frames = forward_kinematics(rotations, joints, PARENTS, translation)
    assert frames.shape == (2, 3, 5, 4, 4)
    alone = forward_kinematics(rotations[2], 2 * JOINTS, PARENTS, translation[2])
    np.testing.assert_array_equal(frames[1, 2], alone)


def test_gradient_equals_finite_differences() -> None:
    """Derivative with respect to pose and joints, at zero pose and away from it."""
    random = np.random.default_rng(3)
    probe = random.normal(size=(5, 4, 4))
    with jax.enable_x64(True):
        for pose in (np.zeros((5, 3)), random.normal(size=(5, 3))):

            def score(rotations, joints):
                frames = forward_kinematics(rotations, joints, PARENTS, jnp.zeros(3))
                return (probe * frames).sum()

            gradients = jax.jit(jax.grad(score, argnums=(0, 1)))(
                jnp.asarray(pose), jnp.asarray(JOINTS)
            )
            direction = random.normal(size=(2, 5, 3))
            h = 1e-6
            ahead = score(pose + h * direction[0], JOINTS + h * direction[1])
            behind = score(pose - h * direction[0], JOINTS - h * direction[1])
            slope = sum((g * d).sum() for g, d in zip(gradients, direction, strict=True))
            np.testing.assert_allclose(slope, (ahead - behind) / (2 * h), rtol=1e-7)


def test_levels_hold_every_joint_once() -> None:
    levels, above, order = tree_levels(PARENTS)
    assert [level.tolist() for level in levels] == [[0], [1], [2, 3], [4]]
    assert [places.tolist() for places in above[1:]] == [[0], [0, 0], [1]]
    np.testing.assert_array_equal(np.concatenate(levels)[order], np.arange(5))


def test_wrong_counts_are_refused() -> None:
    with pytest.raises(InputError, match="got 5 joint rotations, 5 joints and 4 parents"):
        forward_kinematics(np.zeros((5, 3)), JOINTS, PARENTS[:4], np.zeros(3))
