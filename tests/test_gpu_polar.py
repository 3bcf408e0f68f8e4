"""The rotation closest to a matrix in closed form, in float32, against singular values."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from corporeal.physics.solver.gpu.polar import closest_rotation
from corporeal.physics.solver.polar import closest_rotations, rotation_variant_svd


def rotations(matrices: np.ndarray) -> np.ndarray:
    entries = [jnp.asarray(matrices[:, k // 3, k % 3], jnp.float32) for k in range(9)]
    return np.stack([np.asarray(e) for e in closest_rotation(entries)], axis=1).reshape(-1, 3, 3)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 1e2])
def test_any_matrix_mirrored_or_not(scale: float) -> None:
    """Half of random matrices mirror. Where two rotations are not nearly as close (σ₂ + σ₃ above a
    tenth of σ₁) rounding of 6e-8 is enlarged by less than 100."""
    matrices = scale * np.random.default_rng(1).normal(size=(4000, 3, 3))
    stretch = rotation_variant_svd(matrices)[1]
    clear = (stretch[:, 1] + stretch[:, 2]) > 0.1 * stretch[:, 0]
    assert (np.linalg.det(matrices[clear]) < 0).mean() > 0.3
    found = rotations(matrices)
    assert np.abs(found - closest_rotations(matrices))[clear].max() < 6e-6
    assert np.isfinite(found).all()


def test_flat_matrices_and_nothing() -> None:
    """A flat element has one closest rotation; no matrix at all must not give what is no number."""
    flat = np.random.default_rng(2).normal(size=(500, 3, 3)) * [1.0, 1.0, 0.0]
    stretch = rotation_variant_svd(flat)[1]
    clear = stretch[:, 1] > 0.1 * stretch[:, 0]
    assert np.abs(rotations(flat) - closest_rotations(flat))[clear].max() < 6e-6
    assert np.isfinite(rotations(np.zeros((1, 3, 3)))).all()


def test_the_derivative_is_that_of_differences() -> None:
    """d/dε R(F + ε E), central differences of step 1e-5 in float64: error ∝ 1e-10."""
    random = np.random.default_rng(3)
    matrix, options = np.eye(3) + 0.3 * random.normal(size=(3, 3)), random.normal(size=(3, 3))

    @jax.jit
    def turned(share: jax.Array) -> jax.Array:
        entries = (jnp.asarray(matrix) + share * jnp.asarray(options)).ravel()
        return jnp.stack(closest_rotation(list(entries)))

    with jax.enable_x64(True):
        slope = jax.jacfwd(turned)(jnp.float64(0.0))
        step = 1e-5
        differences = (turned(jnp.float64(step)) - turned(jnp.float64(-step))) / (2 * step)
        np.testing.assert_allclose(slope, differences, atol=1e-8)
