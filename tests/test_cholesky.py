"""The Cholesky factor against SciPy's direct solve."""

import numpy as np
import pytest
from scipy.sparse import block_diag, csc_array, diags_array, kron, random_array
from scipy.sparse.linalg import spsolve

from corporeal.errors import SolverError
from corporeal.numerics.cholesky import CholeskyFactor


def grid(side: int) -> csc_array:
    """The Laplacian of a square grid, plus one."""
    line = diags_array(
        [-np.ones(side - 1), 2 * np.ones(side), -np.ones(side - 1)], offsets=[-1, 0, 1]
    )
    one = diags_array(np.ones(side))
    return csc_array(kron(line, one) + kron(one, line) + 0.1 * diags_array(np.ones(side**2)))


def scattered(size: int) -> csc_array:
    """A random matrix, its diagonal large enough."""
    entries = csc_array(random_array((size, size), density=0.02, rng=np.random.default_rng(1)))
    return csc_array(entries + entries.T + diags_array(np.full(size, 10.0)))


MATRICES = {
    "one unknown": csc_array(np.array([[4.0]])),
    "diagonal": csc_array(diags_array(np.arange(1.0, 40.0))),
    "grid": grid(30),
    "parts": csc_array(block_diag([grid(5), grid(9), np.array([[2.0]]), grid(12)])),
    "scattered": scattered(300),
    "dense": csc_array(np.eye(70) + 0.01 * np.ones((70, 70))),
}


@pytest.mark.parametrize("columns", [3, 1, 7])
@pytest.mark.parametrize("name", MATRICES)
def test_solves_as_scipy_does(name: str, columns: int) -> None:
    """To single precision times the condition number, below 100."""
    matrix = MATRICES[name]
    right = np.random.default_rng(0).normal(size=(matrix.shape[0], columns)).astype(np.float32)
    answer = np.empty_like(right)
    CholeskyFactor(matrix).solve(right, answer)
    expected = np.asarray(spsolve(matrix, right.astype(np.float64))).reshape(answer.shape)
    assert np.abs(answer - expected).max() < 1e-5 * np.abs(expected).max()


def test_refuses_what_is_not_positive_definite() -> None:
    with pytest.raises(SolverError, match="not positive definite"):
        CholeskyFactor(csc_array(np.array([[1.0, 2.0], [2.0, 1.0]])))
