"""Damped descent, conjugate gradients and the simplex, for many small problems side by side."""

import numpy as np
import pytest
from scipy.optimize import least_squares, lsq_linear, minimize
from scipy.sparse.linalg import cg

from corporeal.errors import InputError
from corporeal.numerics.bounded_least_squares import bounded_step, minimise
from corporeal.numerics.conjugate_gradients import conjugate_gradients_many
from corporeal.numerics.levenberg_marquardt import Damping, Trial, descend_damped
from corporeal.numerics.many_least_squares import bounded_steps, descend_many, minimise_many
from corporeal.numerics.simplex import least_on_simplex

DAMPING = Damping(1e-3, lambda d: d / 5, lambda d: 10 * d)


def test_the_damping_falls_with_gains_and_rises_with_refusals() -> None:
    """Energies told in advance: 3, then 2 (taken), 5 (refused), not a number (refused), 1 (taken).

    A step that ends nowhere is taken back like any that rises.
    """
    energies, asked = iter([2.0, 5.0, np.nan, 1.0]), []

    def attempt(here: int, damping: float) -> tuple[int, float, float]:
        asked.append((here, damping))
        return here + 1, next(energies), 0.5

    def ended(trial: Trial) -> str:
        return "low enough" if trial.taken and trial.gain == 1.0 and trial.damping > 0.001 else ""

    found = descend_damped((0, 3.0), attempt, ended, DAMPING, 10)
    assert [here for here, _ in asked] == [0, 1, 1, 1]
    np.testing.assert_allclose([d for _, d in asked], [1e-3, 2e-4, 2e-3, 2e-2], rtol=1e-14)
    assert (found.here, found.energy, found.iterations) == (2, 1.0, 4)
    assert found.status == "low enough"


def test_iterations_that_run_out_are_told() -> None:
    found = descend_damped((0.0, 1.0), lambda x, _: (x, 2.0, 1.0), lambda _: "", DAMPING, 3)
    assert (found.here, found.status) == (0.0, "stopped after 3 iterations")


def curve(times: np.ndarray, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """a exp(−b t) + c and its derivatives; x is … × 3."""
    fall = np.exp(-x[..., 1:2] * times)
    values = x[..., :1] * fall + x[..., 2:]
    slopes = [fall, -x[..., :1] * times * fall, np.ones_like(values)]
    return values, np.stack(slopes, axis=-1)


def decays() -> tuple[np.ndarray, np.ndarray]:
    """Times, and noisy decays whose best rates lie within and beyond [0.5, 2]."""
    random = np.random.default_rng(0)
    times = np.linspace(0, 3, 30)
    truth = np.stack(
        [random.uniform(1, 3, 12), random.uniform(0.2, 3, 12), random.uniform(-1, 1, 12)], axis=1
    )
    return times, curve(times, truth)[0] + random.normal(0, 0.01, (12, 30))


LOW, HIGH = np.array([0.0, 0.5, -2.0]), np.array([5.0, 2.0, 2.0])


def test_many_bounded_fits_are_those_of_scipy_one_by_one() -> None:
    """Costs to 1e-8 and values to its root times the condition (about 30): both end where a step
    gains less than 1e-14."""
    times, seen = decays()

    def residuals(rows: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found, slopes = curve(times, values)
        return found - seen[rows], slopes

    start = np.tile([1.0, 1.0, 0.0], (12, 1))
    many = minimise_many(residuals, start, LOW, HIGH, tolerance=1e-14, iterations=200)
    at_bound = 0
    for i in range(12):
        peer = least_squares(
            lambda x, i=i: curve(times, x)[0] - seen[i], start[i],
            lambda x: curve(times, x)[1], bounds=(LOW, HIGH), xtol=1e-14, ftol=1e-14, gtol=1e-14,
        )  # fmt: skip
        assert many.costs[i] == pytest.approx(peer.cost, rel=1e-8)
        np.testing.assert_allclose(many.values[i], peer.x, atol=1e-4)
        at_bound += bool(many.values[i, 1] in (0.5, 2.0))
    assert at_bound >= 3
    assert (many.iterations > 0).all()


@pytest.mark.parametrize("unknowns", [1, 5, 32, 33])
def test_steps_of_many_are_those_of_one(unknowns: int) -> None:
    """Within, at and beyond bounds; 1e-10 is 1e-16 times the condition, below 1e6 with 1e-4 on the
    diagonal."""
    random = np.random.default_rng(unknowns)
    residuals, jacobians = random.normal(size=(50, 45)), random.normal(size=(50, 45, unknowns))
    low, high = np.full(unknowns, -0.1), np.full(unknowns, 0.1)
    values = np.clip(random.normal(0, 0.1, (50, unknowns)), low, high)
    damping = 10.0 ** random.uniform(-4, 2, 50)
    found = bounded_steps(residuals, jacobians, values, (low, high), damping)
    for i in range(50):
        one = bounded_step(residuals[i], jacobians[i], values[i], (low, high), float(damping[i]))
        np.testing.assert_allclose(found[i], one, rtol=1e-10, atol=1e-13)


def test_one_bounded_fit_is_that_of_many() -> None:
    """The same steps: alone and in company, where the stopping rules agree."""
    times, seen = decays()

    def residuals(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found, slopes = curve(times, values)
        return found - seen[0], slopes

    alone = minimise(residuals, np.array([1.0, 1.0, 0.0]), LOW, HIGH, tolerance=1e-14)
    many = minimise_many(
        lambda rows, values: tuple(part[None] for part in residuals(values[0])),
        np.array([[1.0, 1.0, 0.0]]), LOW, HIGH, tolerance=1e-14,
    )  # fmt: skip
    np.testing.assert_allclose(many.values[0], alone.values, rtol=1e-6)


@pytest.mark.parametrize("seed", range(8))
def test_bounded_linear_problems_end_where_scipys_do(seed: int) -> None:
    """The first step stays in the box; in a wide one it is the answer by itself."""
    random = np.random.default_rng(seed)
    matrix, right = random.normal(size=(12, 5)), 2 * random.normal(size=12)
    low, high = np.full(5, -0.2), np.full(5, 0.2)
    step = bounded_step(-right, matrix, np.zeros(5), (low, high), 0.0)
    assert (np.abs(step) <= 0.2).all()
    wide = bounded_step(-right, matrix, np.zeros(5), (100 * low, 100 * high), 0.0)
    np.testing.assert_allclose(wide, np.linalg.lstsq(matrix, right)[0], rtol=1e-10)
    found = minimise(
        lambda x: (matrix @ x - right, matrix), np.zeros(5), low, high,
        tolerance=1e-14, iterations=100,
    )  # fmt: skip
    peer = lsq_linear(matrix, right, (low, high), tol=1e-14)
    assert found.cost == pytest.approx(peer.cost, rel=1e-9)


def test_problems_end_by_themselves() -> None:
    """x² = a from 2, a problem each: the square root, and those that are done are not asked."""
    wanted, asked = np.array([4.0, 2.0, 9.0, 1e-4]), []

    def slope(state: tuple, which: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        asked.append(len(which))
        off = state[0][:, 0] ** 2 - wanted[which]
        return 0.5 * off**2, (2 * state[0][:, 0] * off)[:, None]

    found = descend_many(
        slope,
        lambda state: (4 * state[0] ** 2)[:, :, None],
        lambda state, steps: (state[0] + steps,),
        (np.full((4, 1), 2.0),),
        iterations=60,
        tolerance=1e-10,
        longest=0.7,
    )
    np.testing.assert_allclose(found[0][:, 0], np.sqrt(wanted), atol=1e-8)
    assert asked[0] == 4
    assert asked[-1] < 4


def systems(condition: float) -> tuple[np.ndarray, np.ndarray]:
    """Seven symmetric matrices of 12 unknowns with this condition, and right sides."""
    random = np.random.default_rng(5)
    spectrum = np.geomspace(1, condition, 12)
    axes = np.linalg.qr(random.normal(size=(7, 12, 12)))[0]
    matrices = (axes * spectrum) @ np.swapaxes(axes, 1, 2)
    return matrices, random.normal(size=(7, 12))


def packed(values: np.ndarray) -> np.ndarray:
    """Seven columns of 12 as 4 × 7 × 3."""
    return np.swapaxes(values.reshape(7, 4, 3), 0, 1).copy()


@pytest.mark.parametrize("condition", [1.0, 1e2, 1e4])
def test_conjugate_gradients_of_many_are_the_solutions(condition: float) -> None:
    """Of plain and of preconditioned recurrences, from zero and from a guess; r·A₀⁻¹r ≤ τ b·A₀⁻¹b
    leaves a relative error of √τ times the condition. SciPy's cg agrees."""
    matrices, rights = systems(condition)
    asked: list[int] = []

    def flat(values: np.ndarray) -> np.ndarray:
        return np.swapaxes(values, 0, 1).reshape(values.shape[1], 12)

    def product(values: np.ndarray, some: np.ndarray | slice) -> np.ndarray:
        asked.append(values.shape[1])
        image = np.einsum("vij,vj->vi", matrices[some], flat(values))
        return np.swapaxes(image.reshape(-1, 4, 3), 0, 1)

    diagonals = np.einsum("vii->vi", matrices)

    def scaled(values: np.ndarray, some: np.ndarray | slice) -> np.ndarray:
        image = flat(values) / diagonals[some]
        return np.swapaxes(image.reshape(-1, 4, 3), 0, 1)

    expected = packed(np.linalg.solve(matrices, rights[..., None])[..., 0])
    guess = expected * 1.5
    guess[:, 2] = expected[:, 2]
    for precondition in (lambda values, some: values, scaled):
        for start in (None, guess):
            asked.clear()
            found = conjugate_gradients_many(
                product, precondition, packed(rights), start, tolerance=1e-24, iterations=200
            )
            off = np.linalg.norm(found - expected, axis=(0, 2))
            # 1e-12 asked, but no less than rounding leaves
            assert (off < 1e-11 * condition * np.linalg.norm(expected, axis=(0, 2))).all()
    assert asked[0] == 7
    assert condition == 1.0 or min(asked[1:]) < 7  # the one guessed right has left
    assert guess[0, 0, 0] == 1.5 * expected[0, 0, 0]  # the caller's start is as it was
    peer, status = cg(matrices[3], rights[3], rtol=1e-12, maxiter=500)
    assert status == 0
    np.testing.assert_allclose(flat(found)[3], peer, rtol=0, atol=1e-11 * condition)


def test_conjugate_gradients_stop_when_told() -> None:
    """After k of n steps the error in A's norm is at most 2 ((√κ−1)/(√κ+1))^k of the first."""
    matrices, rights = systems(1e2)

    def product(values: np.ndarray, some: np.ndarray | slice) -> np.ndarray:
        return np.einsum("vij,jva->iva", matrices[some], values)

    right = rights.T[:, :, None].copy()
    exact = np.linalg.solve(matrices, rights[..., None])[..., 0].T[:, :, None]

    def size(values: np.ndarray) -> np.ndarray:
        return np.sqrt(np.einsum("iva,vij,jva->v", values, matrices, values))

    for count in (1, 3, 6):
        found = conjugate_gradients_many(
            product, lambda values, some: values, right, tolerance=0.0, iterations=count
        )
        bound = 2 * (9 / 11) ** count
        assert (size(found - exact) <= bound * size(exact)).all()
        assert (size(found - exact) > 1e-6 * size(exact)).any()


def simplex_problems(count: int) -> tuple[np.ndarray, np.ndarray]:
    random = np.random.default_rng(6)
    rows = random.normal(size=(20, 9, count))
    return np.swapaxes(rows, 1, 2) @ rows, random.normal(0, 3, (20, count))


def test_the_simplex_minimum_is_that_of_scipy() -> None:
    """Without a limit on the count the problem is convex: SLSQP's optimum, to its 1e-8."""
    products, right = simplex_problems(5)
    found = least_on_simplex(products, right, 5)
    for i in range(20):
        peer = minimize(
            lambda w, i=i: 0.5 * w @ products[i] @ w - right[i] @ w,
            np.full(5, 0.2),
            jac=lambda w, i=i: products[i] @ w - right[i],
            bounds=[(0, 1)] * 5,
            constraints={"type": "eq", "fun": lambda w: w.sum() - 1},
            method="SLSQP",
            options={"ftol": 1e-14, "maxiter": 500},
        )
        mine = 0.5 * found[i] @ products[i] @ found[i] - right[i] @ found[i]
        assert mine == pytest.approx(peer.fun, rel=1e-7, abs=1e-9)
    np.testing.assert_allclose(found.sum(axis=1), 1, atol=1e-12)
    assert (found >= 0).all()


def test_at_most_so_many_are_above_zero() -> None:
    """One above zero is the best corner, argmin ½ G_kk − b_k."""
    products, right = simplex_problems(6)
    found = least_on_simplex(products, right, 1)
    best = np.argmin(0.5 * np.einsum("vkk->vk", products) - right, axis=1)
    np.testing.assert_allclose(found, np.eye(6)[best], atol=1e-15)
    assert (np.count_nonzero(least_on_simplex(products, right, 3), axis=1) <= 3).all()


def test_a_simplex_of_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="at most 0 numbers may be above zero"):
        least_on_simplex(np.eye(2)[None], np.zeros((1, 2)), 0)
