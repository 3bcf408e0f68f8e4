"""Problems of nonlinear least squares for `solvers.py`: bounded ones, alone and many at once, and a
sparse robust one."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.optimize import least_squares
from scipy.sparse import csr_array, eye_array, kron, vstack
from solvers_checks import caught, require
from timing import timed

from corporeal.anthropometry import solve as measurements
from corporeal.geometry.surface import unique_edges
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.numerics.residual_blocks import LinearisedResiduals, Residuals, minimise_blocks
from corporeal.numerics.robust_kernels import Cauchy
from corporeal.population import realise as realising
from corporeal.population.sampling import sample_people as draw_people


def bounded(rounds: int) -> dict[str, Any]:
    """A body from stature and mass: `minimise` and SciPy's trust-region reflective method."""
    from corporeal.numerics.bounded_least_squares import minimise

    with caught(measurements, "minimise") as calls:
        measurements.solve_measurements({"stature": 1.70, "mass": 82.0}, gender="female")
    residuals, start, low, high = calls[0][0]
    count = [0]

    def counted(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        count[0] += 1
        return residuals(x)

    def peer(tolerance: float) -> Any:
        return _reflective(counted, start, (low, high), tolerance)

    ours = minimise(residuals, start, low, high)
    theirs = peer(1e-3)
    evaluations = {}
    for name, call in (
        ("ours", lambda: minimise(counted, start, low, high)),
        ("scipy", lambda: peer(1e-3)),
    ):
        count[0] = 0
        call()
        evaluations[name] = count[0]
    return {
        "unknowns": len(start),
        "evaluations": evaluations,
        "cost": {"ours": ours.cost, "scipy": float(theirs.cost), "best": float(peer(1e-10).cost)},
        "ours_ms": timed(lambda: minimise(residuals, start, low, high), rounds),
        "scipy_ms": timed(lambda: peer(1e-3), rounds),
    }


def _reflective(
    residuals: Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]],
    start: np.ndarray,
    bounds: tuple[np.ndarray, np.ndarray],
    tolerance: float,
) -> Any:
    """SciPy's method; it asks for residuals and Jacobian apart, which come together here."""
    kept: dict[bytes, tuple[np.ndarray, np.ndarray]] = {}

    def both(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        if x.tobytes() not in kept:
            kept.clear()
            kept[x.tobytes()] = residuals(x)
        return kept[x.tobytes()]

    inside = np.clip(start, bounds[0] + 1e-9, bounds[1] - 1e-9)
    return least_squares(lambda x: both(x)[0], inside, lambda x: both(x)[1], bounds, ftol=tolerance)


def many_bounded(rounds: int) -> dict[str, Any]:
    """Bodies of women: `minimise_many`, and SciPy's method person by person."""
    from corporeal.numerics.many_least_squares import minimise_many

    people = draw_people(0, 16, seed=1, crowd="even")
    women = people.only(np.flatnonzero(np.array(people.sexes) == "female"))
    with caught(realising, "minimise_many") as calls:
        realising.realise(PhenotypeModel(), women)
    (residuals, start, low, high), _ = calls[0]

    def peer() -> list[Any]:
        def of(i: int) -> Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]:
            def one(x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
                residual, jacobian = residuals(np.array([i]), x[None])
                return residual[0], jacobian[0]

            return one

        return [_reflective(of(i), start[i], (low, high), 1e-3) for i in range(len(start))]

    ours = minimise_many(residuals, start, low, high)
    started = time.perf_counter()
    theirs = peer()
    scipy_ms = 1e3 * (time.perf_counter() - started)
    return {
        "problems": len(start),
        "unknowns": start.shape[1],
        "median_cost": {
            "ours": float(np.median(ours.costs)),
            "scipy": float(np.median([one.cost for one in theirs])),
        },
        "ours_ms": timed(lambda: minimise_many(residuals, start, low, high), rounds),
        "scipy_ms": round(scipy_ms, 1),
    }


def small_steps(rounds: int) -> dict[str, Any]:
    """One bounded step of 1 000 random problems: all in one solve, and one after the other."""
    from corporeal.numerics.bounded_least_squares import bounded_step
    from corporeal.numerics.many_least_squares import bounded_steps

    report: dict[str, Any] = {"problems": 1000}
    damping = np.full(1000, 1e-3)
    for unknowns in (3, 8, 16, 32):
        random = np.random.default_rng(unknowns)
        residuals = random.normal(size=(1000, unknowns + 20))
        jacobians = random.normal(size=(1000, unknowns + 20, unknowns))
        bounds = np.full(unknowns, -0.1), np.full(unknowns, 0.1)
        values = np.clip(random.normal(0, 0.1, (1000, unknowns)), *bounds)
        both = (
            lambda r=residuals, j=jacobians, x=values, b=bounds: bounded_steps(r, j, x, b, damping),
            lambda r=residuals, j=jacobians, x=values, b=bounds: np.array(
                [bounded_step(r[i], j[i], x[i], b, 1e-3) for i in range(1000)]
            ),
        )
        together, apart = both[0](), both[1]()
        require("one solve for all", float(np.abs(together - apart).max()), 1e-9)
        report[f"{unknowns}_together_ms"] = timed(both[0], rounds)
        report[f"{unknowns}_apart_ms"] = timed(both[1], 1)
    return report


def sparse_robust(rounds: int) -> dict[str, Any]:
    """A skin drawn to another one with holes and outliers, kept smooth: Cauchy's kernel."""
    model = PhenotypeModel()
    mesh = model.template.mesh
    rest = np.asarray(model.prepare().rest_vertices, np.float64)
    random = np.random.default_rng(0)
    target = np.asarray(model.prepare({"weight": 1.0}).rest_vertices, np.float64)
    target = target + random.normal(0, 0.001, target.shape)
    far = random.random(len(target)) < 0.05
    target[far] += random.normal(0, 0.3, (far.sum(), 3))
    seen = np.flatnonzero(random.random(len(target)) < 0.5)
    pairs = unique_edges(np.asarray(mesh.triangles))
    rows = np.repeat(np.arange(len(pairs)), 2)
    edges = csr_array((np.tile([-1.0, 1.0], len(pairs)), (rows, pairs.ravel())))
    smooth = csr_array(kron(edges, eye_array(3)))
    pick = csr_array(
        (np.ones(len(seen)), (np.arange(len(seen)), seen)), shape=(len(seen), len(rest))
    )
    data = csr_array(kron(pick, eye_array(3)))
    kernel, scale = Cauchy(0.01), 3.0

    def residuals(x: np.ndarray) -> list[Residuals]:
        moved = x.reshape(-1, 3)
        return [
            Residuals(rest[seen] + moved[seen] - target[seen], kernel),
            Residuals(edges @ moved, weights=scale),
        ]

    def linearised(x: np.ndarray) -> list[LinearisedResiduals]:
        here = residuals(x)
        return [LinearisedResiduals(here[0], data), LinearisedResiduals(here[1], smooth)]

    def ours() -> Any:
        return minimise_blocks(
            np.zeros(rest.size), linearised, residuals, np.add, radius=100.0, tolerance=1e-5
        )

    # SciPy's kernels are of single numbers and of all of them: 1-D residuals, a kernel for both
    whole = csr_array(vstack([data, np.sqrt(scale) * smooth]))
    offset = np.concatenate([(rest[seen] - target[seen]).ravel(), np.zeros(smooth.shape[0])])

    def loss(z: np.ndarray) -> np.ndarray:
        near = np.repeat([True, False], [data.shape[0], smooth.shape[0]])
        values = np.stack([z, np.ones_like(z), np.zeros_like(z)])
        flat = 1.0 + z[near] / kernel.scale**2
        values[0, near] = kernel.scale**2 * np.log(flat)
        values[1, near], values[2, near] = 1 / flat, -1 / (kernel.scale * flat) ** 2
        return values

    def theirs() -> Any:
        return least_squares(
            lambda x: whole @ x + offset, np.zeros(rest.size), lambda x: whole,
            loss=loss, tr_solver="lsmr", ftol=1e-9, max_nfev=1000,
        )  # fmt: skip

    found = ours()
    started = time.perf_counter()
    peer = theirs()
    scipy_ms = 1e3 * (time.perf_counter() - started)
    return {
        "unknowns": rest.size,
        "residuals": whole.shape[0],
        "iterations": {"ours": found.iterations, "scipy": int(peer.nfev)},
        "cost": {
            "ours": found.energy,
            "scipy": float(peer.cost),
            "ours_at_scipys": sum(block.energy for block in residuals(peer.x)),
        },
        "ours_ms": timed(ours, min(rounds, 2)),
        "scipy_ms": round(scipy_ms, 1),
    }
