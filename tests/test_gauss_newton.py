"""Dogleg steps, dense and sparse, and blocks of residuals with robust kernels."""

import numpy as np
import pytest
from scipy.optimize import least_squares
from scipy.sparse import csc_array, csr_array, diags_array, eye_array, kron, vstack

from corporeal.errors import InputError
from corporeal.numerics.gauss_newton import Normal, descend
from corporeal.numerics.residual_blocks import (
    LinearisedResiduals,
    Residuals,
    minimise_blocks,
    normal_of,
)
from corporeal.numerics.robust_kernels import Cauchy, GemanMcClure, Huber, RobustKernel, Squared


def rosenbrock(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """r = (10 (y − x²), 1 − x), which vanishes at (1, 1)."""
    jacobian = np.array([[-20 * x[0], 10.0], [-1.0, 0.0]])
    return np.array([10 * (x[1] - x[0] ** 2), 1 - x[0]]), jacobian


@pytest.mark.parametrize("sparse", [False, True])
def test_rosenbrock_is_solved(sparse: bool) -> None:
    def normal(x: np.ndarray) -> Normal:
        residual, jacobian = rosenbrock(x)
        matrix = jacobian.T @ jacobian
        gradient = jacobian.T @ residual
        return Normal(csc_array(matrix) if sparse else matrix, gradient, 0.5 * residual @ residual)

    def energy(x: np.ndarray) -> float:
        return 0.5 * float(np.sum(rosenbrock(x)[0] ** 2))

    found = descend(np.array([-1.2, 1.0]), normal, energy, np.add, tolerance=1e-10, iterations=100)
    assert found.converged
    np.testing.assert_allclose(found.point, 1, atol=1e-8)


def test_sparse_steps_are_the_dense_ones() -> None:
    """One step within and one beyond the radius, of one well-posed model: to 1e-12, being the
    condition (below 100) times double precision with room."""
    random = np.random.default_rng(0)
    rows = random.normal(size=(40, 12))
    matrix, gradient = rows.T @ rows, random.normal(size=12)
    for radius in (1e-3, 0.1, 1e3):
        ends = []
        for kind in (matrix, csc_array(matrix)):
            model = Normal(kind, gradient, 1.0)
            ends.append(
                descend(
                    np.zeros(12), lambda x, m=model: m, lambda x: 0.0, np.add,
                    radius=radius, iterations=1,
                ).point
            )  # fmt: skip
        np.testing.assert_allclose(ends[1], ends[0], rtol=1e-12, atol=1e-15)
        assert np.linalg.norm(ends[0]) <= radius * (1 + 1e-12)


@pytest.mark.parametrize("sparse", [False, True])
def test_unknowns_that_nothing_holds_stay(sparse: bool) -> None:
    """A singular JᵀJ is held by what is added to its diagonal."""
    matrix = np.diag([4.0, 0.0])
    kind = csc_array(matrix) if sparse else matrix

    def normal(x: np.ndarray) -> Normal:
        return Normal(kind, matrix @ x - [4.0, 0.0], 2 * (x[0] - 1) ** 2)

    found = descend(
        np.array([0.0, 3.0]), normal, lambda x: 2 * (x[0] - 1) ** 2, np.add, tolerance=1e-9
    )
    np.testing.assert_allclose(found.point, [1.0, 3.0], atol=1e-8)


def line(points: np.ndarray, values: np.ndarray, kernel: RobustKernel):
    """Blocks of a straight line a + b t through (t, y)."""
    jacobian = csr_array(np.stack([np.ones_like(points), points], axis=1))

    def residuals(x: np.ndarray) -> list[Residuals]:
        return [Residuals((x[0] + x[1] * points - values)[:, None], kernel)]

    def linearised(x: np.ndarray) -> list[LinearisedResiduals]:
        return [LinearisedResiduals(residuals(x)[0], jacobian)]

    return linearised, residuals


def with_outliers() -> tuple[np.ndarray, np.ndarray]:
    """1 + 2 t with noise of 0.05; every sixth is 3 too high."""
    random = np.random.default_rng(1)
    points = random.uniform(-1, 1, 90)
    values = 1 + 2 * points + random.normal(0, 0.05, 90)
    values[::6] += 3.0
    return points, values


@pytest.mark.parametrize(("kernel", "loss"), [(Huber(0.1), "huber"), (Cauchy(0.1), "cauchy")])
def test_robust_fits_are_those_of_scipy(kernel: RobustKernel, loss: str) -> None:
    """Both end where the gradient is below 1e-9 of its terms; the condition of JᵀwJ is below 10."""
    points, values = with_outliers()
    start = np.zeros(2)
    linearised, residuals = line(points, values, kernel)
    found = minimise_blocks(start, linearised, residuals, np.add, tolerance=1e-11, iterations=200)
    peer = least_squares(
        lambda x: x[0] + x[1] * points - values, start, loss=loss, f_scale=0.1,
        xtol=1e-14, ftol=1e-14, gtol=1e-12,
    )  # fmt: skip
    assert found.converged
    np.testing.assert_allclose(found.point, peer.x, atol=1e-7)
    assert found.energy == pytest.approx(peer.cost, rel=1e-12)


def test_geman_mcclure_forgets_outliers_that_least_squares_heeds() -> None:
    """What is left is the inliers' fit to noise: 0.05 √(2/75) ≈ 0.01; least squares is 0.5 off."""
    points, values = with_outliers()
    inliers = np.arange(90) % 6 != 0
    expected = np.polynomial.polynomial.polyfit(points[inliers], values[inliers], 1)
    fits = []
    for kernel in (Squared(), GemanMcClure(0.3)):
        linearised, residuals = line(points, values, kernel)
        fits.append(minimise_blocks(np.array([1.0, 1.0]), linearised, residuals, np.add).point)
    assert abs(fits[0][0] - expected[0]) > 0.4
    np.testing.assert_allclose(fits[1], expected, atol=0.01)


def test_a_linear_problem_takes_one_step_whatever_its_blocks() -> None:
    """A chain of n points, pulled together and held at its ends, all in 3-D: x_i on a line.

    The second step promises nothing and ends the search; ‖x‖ is below the radius.
    """
    n = 400
    differences = diags_array([-np.ones(n - 1), np.ones(n - 1)], offsets=[0, 1], shape=(n - 1, n))
    along = csr_array(kron(differences, eye_array(3)))
    first = csr_array(kron(csr_array(np.eye(1, n, 0)), eye_array(3)))
    last = csr_array(kron(csr_array(np.eye(1, n, n - 1)), eye_array(3)))
    end = np.array([[1.0, -2.0, 3.0]])

    def residuals(x: np.ndarray) -> list[Residuals]:
        points = x.reshape(-1, 3)
        ends = [Residuals(points[:1], weights=1e3), Residuals(points[-1:] - end, weights=1e3)]
        return [Residuals(np.diff(points, axis=0)), *ends]

    def linearised(x: np.ndarray) -> list[LinearisedResiduals]:
        return [
            LinearisedResiduals(block, slope)
            for block, slope in zip(residuals(x), (along, first, last), strict=True)
        ]

    found = minimise_blocks(np.zeros(3 * n), linearised, residuals, np.add, radius=1e3)
    assert found.converged
    assert found.iterations <= 3
    # Springs of 1 in a row of n − 1 and two of 1e3: the ends give way by 1e-3/(n − 1 + 2e-3).
    give = 1e-3 / (n - 1 + 2e-3)
    places = (np.arange(n) / (n - 1) * (1 - 2 * give) + give)[:, None] * end
    np.testing.assert_allclose(found.point.reshape(-1, 3), places, atol=1e-6)


def test_vectors_are_weighted_by_their_length() -> None:
    """Matrix and gradient of a block of 3-D residuals, summed by hand; the gradient is that of the
    energy by differences (h = 1e-6: h² and 1e-16/h)."""
    random = np.random.default_rng(2)
    slope, offset = random.normal(size=(15, 4)), random.normal(size=15)
    weights, kernel = random.uniform(0.5, 2, 5), Cauchy(0.8)

    def block(x: np.ndarray) -> Residuals:
        return Residuals((slope @ x - offset).reshape(5, 3), kernel, weights)

    x = random.normal(size=4)
    normal = normal_of([LinearisedResiduals(block(x), csr_array(slope))])
    matrix = np.zeros((4, 4))
    for i in range(5):
        rows, r = slope[3 * i : 3 * i + 3], block(x).values[i]
        matrix += weights[i] / (1 + r @ r / 0.64) * rows.T @ rows
    np.testing.assert_allclose(normal.matrix.toarray(), matrix, rtol=1e-12)
    steps = 1e-6 * np.eye(4)
    slopes = [(block(x + h).energy - block(x - h).energy) / 2e-6 for h in steps]
    np.testing.assert_allclose(normal.gradient, slopes, rtol=1e-7, atol=1e-8)
    assert normal.energy == pytest.approx(block(x).energy, rel=1e-14)


def test_points_on_a_circle_move_along_it() -> None:
    """`moved` is the manifold: the angle of a rotation, from 2.5 radians off."""
    target = np.array([[np.cos(0.4), np.sin(0.4)]])

    def residuals(angle: float) -> list[Residuals]:
        return [Residuals(np.array([[np.cos(angle), np.sin(angle)]]) - target)]

    def linearised(angle: float) -> list[LinearisedResiduals]:
        slope = csr_array(np.array([[-np.sin(angle)], [np.cos(angle)]]))
        return [LinearisedResiduals(residuals(angle)[0], slope)]

    found = minimise_blocks(
        2.9, linearised, residuals, lambda angle, step: angle + float(step[0]), radius=0.5
    )
    assert found.point == pytest.approx(0.4, abs=1e-6)


def test_blocks_that_do_not_fit_are_refused() -> None:
    values = np.zeros((2, 3))
    with pytest.raises(InputError, match="weights of a block of residuals go from -1 to 1"):
        Residuals(values, weights=np.array([1.0, -1.0]))
    with pytest.raises(InputError, match="expected finite numbers from 0"):
        Residuals(values, weights=np.nan)
    with pytest.raises(InputError, match="5 rows for 6 residuals"):
        LinearisedResiduals(Residuals(values), csr_array((5, 4)))
    with pytest.raises(InputError, match="no block of residuals"):
        normal_of([])
    blocks = [LinearisedResiduals(Residuals(values), csr_array((6, width))) for width in (4, 7)]
    with pytest.raises(InputError, match=r"\[4, 7\] columns"):
        normal_of(blocks)


def test_stacked_jacobians_give_the_same_matrix() -> None:
    """JᵀJ of blocks is that of all their rows, one over the other."""
    random = np.random.default_rng(3)
    parts = [csr_array(random.normal(size=(6, 5))) for _ in range(3)]
    values = [random.normal(size=(6, 1)) for _ in parts]
    normal = normal_of(
        [LinearisedResiduals(Residuals(v), j) for v, j in zip(values, parts, strict=True)]
    )
    whole, residual = vstack(parts).toarray(), np.concatenate(values).ravel()
    np.testing.assert_allclose(normal.matrix.toarray(), whole.T @ whole, rtol=1e-12)
    np.testing.assert_allclose(normal.gradient, whole.T @ residual, rtol=1e-12, atol=1e-14)
