"""PCA and a correction: it finds what is bent, and is PCA where nothing carries over."""

import numpy as np
import pytest

from corporeal.dynamics.neural.training.residual_decoder import fit_residual
from corporeal.errors import InputError


def bent(seed: int, how: float) -> np.ndarray:
    """A parabola z² in the third component, of two latent numbers; otherwise noise."""
    random = np.random.default_rng(seed)
    latent = random.normal(size=(400, 2)) * (3.0, 2.0)
    third = how * (latent[:, :1] ** 2 - latent[:, 1:] ** 2) / 5 + 0.02 * random.normal(
        size=(400, 1)
    )
    return np.concatenate([latent, third], axis=1)


def test_a_parabola_is_learned():
    """Of a new sequence less than a fifth of what PCA leaves out is left."""
    decoder = fit_residual([bent(n, 1.0) for n in range(4)], 2)
    new = bent(9, 1.0)
    left = new[:, 2] - decoder.correction(new[:, :2], 3)[:, 2]
    assert np.std(left) < 0.2 * np.std(new[:, 2])
    np.testing.assert_array_equal(decoder.correction(np.zeros((1, 2)), 3), 0.0)


def test_where_sequences_disagree_it_is_pca():
    """Every sequence bends the other way: nothing that was left out is predicted, and the share of
    the correction is 0."""
    decoder = fit_residual([bent(n, (-1.0) ** n) for n in range(4)], 2)
    assert decoder.share == 0.0
    with pytest.raises(InputError, match="fewer numbers"):
        fit_residual([bent(0, 1.0)] * 2, 3)
