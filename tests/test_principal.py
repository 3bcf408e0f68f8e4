"""Principal components against a full decomposition."""

from collections.abc import Callable, Iterator

import numpy as np
import pytest

from corporeal.errors import InputError
from corporeal.numerics.streamed_pca import principal_components


def pieces(rows: np.ndarray, size: int) -> Callable[[], Iterator[np.ndarray]]:
    return lambda: (rows[i : i + size] for i in range(0, len(rows), size))


@pytest.mark.parametrize("size", [7, 50, 400])
def test_equals_the_full_decomposition(size: int) -> None:
    """Mean, deviations and directions, whatever the pieces; rows of a decaying spectrum."""
    random = np.random.default_rng(0)
    scales = 2.0 ** -np.arange(60)
    rows = random.normal(size=(200, 60)) * scales @ random.normal(size=(60, 300)) + 5.0
    found = principal_components(pieces(rows, size), 8, seed=1)
    centred = rows - rows.mean(axis=0)
    _, values, right = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(found.mean, rows.mean(axis=0), atol=1e-12)
    np.testing.assert_allclose(found.deviations, values[:8] / np.sqrt(199), rtol=1e-9)
    agree = np.abs(np.sum(found.directions * right[:8], axis=1))
    np.testing.assert_allclose(agree, 1, atol=1e-9)
    np.testing.assert_allclose(found.directions @ found.directions.T, np.eye(8), atol=1e-12)
    shares = np.cumsum(values**2)[:8] / np.sum(values**2)
    np.testing.assert_allclose(found.explained, shares, rtol=1e-9)


def test_too_few_rows_are_refused() -> None:
    """One row has no components; n rows have fewer than n."""
    with pytest.raises(InputError, match="1 rows came"):
        principal_components(pieces(np.zeros((1, 4)), 1), 1, seed=0)
    with pytest.raises(InputError, match="asked for 5 components of 5 rows"):
        principal_components(pieces(np.zeros((5, 9)), 2), 5, seed=0)
