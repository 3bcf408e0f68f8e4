"""The Cholesky factor against SciPy's direct solve, with both kernels, and how one is chosen."""

import sys
import warnings
from collections.abc import Iterator

import numpy as np
import pytest
from scipy.sparse import block_diag, csc_array, diags_array, kron, random_array
from scipy.sparse.linalg import LinearOperator, cg, splu, spsolve

from corporeal.cli.doctor import check_cholesky
from corporeal.errors import InputError, SolverError
from corporeal.numerics import cholesky
from corporeal.numerics.cholesky import KERNEL_SETTING, CholeskyFactor, kernel_choice

KERNELS: tuple[cholesky.Kernel, ...] = ("vector", "plain")
UNIT = 2.0**-24
"""Largest relative rounding of single precision."""


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


@pytest.mark.parametrize("name", MATRICES)
def test_inverts_as_numpy_does(name: str) -> None:
    """Also where the number of unknowns is no multiple of three; precision as above."""
    matrix = MATRICES[name]
    expected = np.linalg.inv(matrix.toarray())
    found = CholeskyFactor(matrix).inverse()
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


def test_refuses_what_is_not_positive_definite() -> None:
    with pytest.raises(SolverError, match="not positive definite"):
        CholeskyFactor(csc_array(np.array([[1.0, 2.0], [2.0, 1.0]])))


@pytest.mark.parametrize("name", MATRICES)
def test_the_plain_kernel_solves_as_scipy_does(name: str) -> None:
    """As above; and within the same of the vector kernel, which adds in another order."""
    matrix = MATRICES[name]
    right = np.random.default_rng(2).normal(size=(matrix.shape[0], 4)).astype(np.float32)
    found = {kernel: np.empty_like(right) for kernel in KERNELS}
    for kernel, answer in found.items():
        CholeskyFactor(matrix, kernel).solve(right, answer)
    expected = np.asarray(spsolve(matrix, right.astype(np.float64))).reshape(right.shape)
    largest = np.abs(expected).max()
    assert np.abs(found["plain"] - expected).max() < 1e-5 * largest
    assert np.abs(found["plain"] - found["vector"]).max() < 1e-5 * largest


SIDE = 224
CONDITION = 1e8


@pytest.fixture(scope="module")
def stiff() -> tuple[csc_array, dict[str, CholeskyFactor]]:
    """The free Laplacian of a square grid plus a shift that makes its condition exactly 1e8.

    Its eigenvalues are 4 sin²(πi/2n) + 4 sin²(πj/2n) + shift, i and j from 0 to n − 1.
    """
    ends = np.full(SIDE, 2.0)
    ends[[0, -1]] = 1.0
    line = diags_array([-np.ones(SIDE - 1), ends, -np.ones(SIDE - 1)], offsets=[-1, 0, 1])
    one = diags_array(np.ones(SIDE))
    shift = 8 * np.cos(np.pi / (2 * SIDE)) ** 2 / (CONDITION - 1)
    matrix = csc_array(kron(line, one) + kron(one, line) + shift * diags_array(np.ones(SIDE**2)))
    return matrix, {kernel: CholeskyFactor(matrix, kernel) for kernel in KERNELS}


def test_kernels_agree_at_fifty_thousand_unknowns_and_condition_1e8(stiff) -> None:
    """Every number of both kernels to its own rounding, and to SciPy's.

    The matrix is an M-matrix: neither W nor the inverse M has a number of the wrong sign, so with a
    right side above 0 nothing cancels and the error of each number is its count of roundings,
    whatever the condition. The separators that a path to the root passes hold about 4 sides, down
    and up 8 sides of sums, each rounding once; roundings of either sign add up as a root, and four
    of its deviations are allowed.
    """
    matrix, factors = stiff
    assert matrix.shape[0] >= 50_000
    right = np.random.default_rng(3).uniform(0.5, 1.0, (matrix.shape[0], 3)).astype(np.float32)
    expected = splu(matrix).solve(right.astype(np.float64))
    tolerance = 4 * np.sqrt(8 * SIDE) * UNIT
    found = {kernel: np.empty_like(right) for kernel in KERNELS}
    for kernel, answer in found.items():
        factors[kernel].solve(right, answer)
        np.testing.assert_allclose(answer, expected, rtol=tolerance)
    np.testing.assert_allclose(found["plain"], found["vector"], rtol=tolerance)


@pytest.mark.parametrize("kernel", KERNELS)
def test_either_kernel_leads_to_the_double_solution_at_condition_1e8(stiff, kernel: str) -> None:
    """Right sides of both signs: as a preconditioner either one brings SciPy's cg to a residual of
    1e-13 in a few steps, and a residual of ε leaves an error of ε times the condition."""
    matrix, factors = stiff
    count = matrix.shape[0]
    right = np.random.default_rng(4).normal(size=count)

    def precondition(residual: np.ndarray) -> np.ndarray:
        size = max(np.abs(residual).max(), 1e-300)
        answer = np.empty((count, 1), np.float32)
        factors[kernel].solve((residual.reshape(-1, 1) / size).astype(np.float32), answer)
        return size * answer[:, 0].astype(np.float64)

    found, status = cg(
        matrix, right, rtol=1e-13, maxiter=15, M=LinearOperator((count, count), precondition)
    )
    assert status == 0
    expected = splu(matrix).solve(right)
    assert np.linalg.norm(found - expected) < 1e-13 * CONDITION * np.linalg.norm(expected)


@pytest.fixture
def changed_internals(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A numba whose internals are elsewhere."""
    monkeypatch.delitem(sys.modules, "corporeal.numerics.cholesky_vector_cpu", raising=False)
    monkeypatch.setitem(sys.modules, "numba.core.cgutils", None)
    monkeypatch.delattr("numba.core.cgutils")
    monkeypatch.delenv(KERNEL_SETTING, raising=False)
    cholesky._vector_trouble.cache_clear()
    yield
    cholesky._vector_trouble.cache_clear()


def test_the_vector_kernel_is_the_default_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(KERNEL_SETTING, raising=False)
    assert kernel_choice().name == "vector"
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        CholeskyFactor(MATRICES["one unknown"])


def test_a_kernel_can_be_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """By the environment, and by an argument, which goes first."""
    monkeypatch.setenv(KERNEL_SETTING, "plain")
    assert kernel_choice().name == "plain"
    assert KERNEL_SETTING in kernel_choice().reason
    assert kernel_choice("vector").name == "vector"
    right, answer = np.full((1, 3), 2.0, np.float32), np.empty((1, 3), np.float32)
    CholeskyFactor(MATRICES["one unknown"]).solve(right, answer)
    assert (answer == 0.5).all()
    assert [finding.state for finding in check_cholesky()] == ["ok"]
    assert "plain kernel" in next(check_cholesky()).said


def test_an_unknown_kernel_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(InputError, match="the argument names the kernel 'fast'"):
        kernel_choice("fast")
    monkeypatch.setenv(KERNEL_SETTING, "ir")
    with pytest.raises(InputError, match=f"{KERNEL_SETTING} names the kernel 'ir'"):
        CholeskyFactor(MATRICES["one unknown"])
    assert next(check_cholesky()).state == "missing"


@pytest.mark.usefixtures("changed_internals")
def test_changed_internals_are_told_of_and_the_plain_kernel_solves() -> None:
    matrix = MATRICES["grid"]
    with pytest.warns(UserWarning, match=r"plain kernel.*does not work here: .*cgutils"):
        factor = CholeskyFactor(matrix)
    right, answer = np.ones((matrix.shape[0], 3), np.float32), np.empty((900, 3), np.float32)
    factor.solve(right, answer)
    np.testing.assert_allclose(answer, spsolve(matrix, right.astype(np.float64)), rtol=1e-5)
    finding = next(check_cholesky())
    assert finding.state == "optional"
    assert "cgutils" in finding.said


@pytest.mark.usefixtures("changed_internals")
def test_a_wish_for_the_vector_kernel_is_refused_where_it_cannot_be() -> None:
    with pytest.raises(SolverError, match=f"does not work here.*{KERNEL_SETTING}=plain"):
        CholeskyFactor(MATRICES["grid"], "vector")
