"""SMPL's fast paths equal its equations, and the equations what the paper says of them."""

from dataclasses import replace

import linear_models
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.models.smpl import equations
from corporeal.models.smpl.model import SmplModel
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning


def printed(model: SmplModel, betas: np.ndarray, theta: np.ndarray) -> np.ndarray:
    """The paper's M(β, θ)."""
    data = model.data
    return equations.smpl(
        betas,
        theta,
        data.mean_vertices,
        data.weights.dense(),
        data.shape_offsets,
        data.joint_regressor,
        data.pose_offsets,
        data.parents,
    )


def test_rodrigues_is_a_rotation() -> None:
    """Equation 1, with its last term mended, against SciPy's rotations; at zero too."""
    random = np.random.default_rng(1)
    for omega in [np.zeros(3), *random.normal(size=(20, 3))]:
        np.testing.assert_allclose(
            equations.rodrigues(omega), Rotation.from_rotvec(omega).as_matrix(), atol=1e-15
        )


def test_printed_equation_one_is_no_rotation() -> None:
    """With cos instead of 1 − cos the zero vector would give I + ω̂², so the mending is needed."""
    omega = np.array([0.0, 0.0, 1e-9])
    hat = np.array([[0, -1.0, 0], [1, 0, 0], [0, 0, 0]])
    misprinted = np.eye(3) + hat * np.sin(1e-9) + hat @ hat * np.cos(1e-9)
    assert np.abs(misprinted - equations.rodrigues(omega)).max() > 0.9


@pytest.mark.parametrize("count", [1, 7, 70])
def test_fast_path_equals_the_equations(count: int) -> None:
    """Batches through the kernel, in float64 to rounding and in float32 to 1e−5 m."""
    model = SmplModel(linear_models.random_model())
    random = np.random.default_rng(2)
    betas = random.normal(size=10)
    theta = random.normal(0, 0.6, (count, 24, 3))
    moved = random.normal(size=(count, 3))
    identity = model.prepare(betas)
    expected = np.stack([printed(model, betas, t) for t in theta]) + moved[:, None]
    came = model.vertices(identity, Pose(theta, moved))
    np.testing.assert_allclose(came, expected, atol=1e-12)
    single = model.vertices(identity, Pose(theta.astype(np.float32), moved.astype(np.float32)))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, expected, atol=1e-5)


def test_a_batch_of_people() -> None:
    """Identity and pose broadcast: three people, two poses."""
    model = SmplModel(linear_models.random_model())
    random = np.random.default_rng(3)
    betas, theta = random.normal(size=(3, 1, 10)), random.normal(0, 0.5, (2, 24, 3))
    came = model.vertices(model.prepare(betas), Pose(theta, np.zeros((2, 3))))
    assert came.shape == (3, 2, 300, 3)
    for i in range(3):
        for j in range(2):
            np.testing.assert_allclose(
                came[i, j], printed(model, betas[i, 0], theta[j]), atol=1e-12
            )


def test_jax_equals_numpy_and_differentiates() -> None:
    """The same numbers, and a gradient that finite differences confirm."""
    jax = pytest.importorskip("jax")
    from jax import numpy as jnp

    with jax.enable_x64(True):
        model = SmplModel(linear_models.random_model(vertex_count=40))
        random = np.random.default_rng(4)
        betas, theta = random.normal(size=4), random.normal(0, 0.6, (24, 3))

        @jax.jit
        def reach(values: jax.Array) -> jax.Array:
            identity = model.prepare(values[:4])
            pose = Pose(values[4:76].reshape(24, 3), values[76:])
            return model.vertices(identity, pose)

        values = jnp.concatenate([betas, theta.ravel(), jnp.zeros(3)])
        expected = printed(model, np.pad(betas, (0, 6)), theta)
        np.testing.assert_allclose(np.asarray(reach(values)), expected, atol=1e-12)
        way = jnp.asarray(random.normal(size=79))
        _, slope = jax.jvp(reach, (values,), (way,))
        step = 1e-6  # central differences: error of order step² against values of order one
        difference = (reach(values + step * way) - reach(values - step * way)) / (2 * step)
        np.testing.assert_allclose(np.asarray(slope), np.asarray(difference), atol=1e-8)


def test_dual_quaternions() -> None:
    """DQS is dual-quaternion skinning of the rest skin with its pose offsets."""
    model = SmplModel(linear_models.random_model(blending="dqs"))
    random = np.random.default_rng(5)
    identity = model.prepare(random.normal(size=10))
    pose = Pose(random.normal(0, 0.5, (24, 3)), np.zeros(3))
    skinning = DualQuaternionSkinning(model.template)
    rest = identity.rest_vertices + model.pose_offsets(pose)
    expected = skinning.vertices(Identity(rest, identity.joints, {}), pose)
    np.testing.assert_allclose(model.vertices(identity, pose), expected, atol=1e-12)


def test_zero_pose_is_the_person() -> None:
    """B_P(θ*) = 0: at rest the person is T̄ + B_S(β), and joints are 𝒥 of that."""
    model = SmplModel(linear_models.random_model())
    betas = np.random.default_rng(6).normal(size=10)
    identity = model.prepare(betas)
    came = model.vertices(identity, Pose(np.zeros((24, 3)), np.zeros(3)))
    expected = model.data.mean_vertices + np.tensordot(betas, model.data.shape_offsets, axes=1)
    np.testing.assert_allclose(came, expected, atol=1e-13)
    np.testing.assert_allclose(identity.joints, model.data.joint_regressor @ expected, atol=1e-13)


def test_called_as_smplx_is() -> None:
    """Flat axis-angles with the root apart; what is left out is zero."""
    model = SmplModel(linear_models.random_model())
    random = np.random.default_rng(7)
    betas, body = random.normal(size=(2, 10)), random.normal(0, 0.5, (2, 69))
    orient, transl = random.normal(size=(2, 3)), random.normal(size=(2, 3))
    came = model(betas=betas, body_pose=body, global_orient=orient, transl=transl)
    theta = np.concatenate([orient, body], axis=1).reshape(2, 24, 3)
    expected = [printed(model, b, t) + x for b, t, x in zip(betas, theta, transl, strict=True)]
    np.testing.assert_allclose(came.vertices, np.stack(expected), atol=1e-12)
    np.testing.assert_allclose(came.full_pose.reshape(2, 24, 3), theta)
    np.testing.assert_allclose(came.joints[:, 0], model.prepare(betas).joints[:, 0] + transl)
    np.testing.assert_allclose(model().vertices, model.data.mean_vertices, atol=1e-13)
    with pytest.raises(InputError, match="body_pose has 63 numbers; expected 69"):
        model(body_pose=np.zeros((1, 63)))
    with pytest.raises(InputError, match="11 shape coefficients came; the model has 10"):
        model(betas=np.zeros((1, 11)))


def test_noun_refuses_what_does_not_fit() -> None:
    """Counts that disagree, and a regressor that would leave joints behind."""
    good = linear_models.random_model(vertex_count=20)
    weights = linear_models.random_model(vertex_count=19).weights
    regressor = good.joint_regressor.copy()
    regressor[3] *= 0.5
    with pytest.raises(InputError, match="20 mean vertices and weights for 19"):
        replace(good, weights=weights)
    with pytest.raises(InputError, match="198 pose offsets and 24 joints; expected 207"):
        replace(good, pose_offsets=good.pose_offsets[:198])
    with pytest.raises(InputError, match=r"row 3 sums to 0\.5"):
        replace(good, joint_regressor=regressor)
