"""What each solver of `numerics` earns: time and accuracy on its caller's problem, beside SciPy.

    python benchmarks/solvers.py            # all
    python benchmarks/solvers.py cholesky   # one, into the same results

The problems are not made up: the callers are run, and what they hand to the solver is caught and
given to SciPy's nearest equivalent too. Answers are compared before a time is written, or, where
two methods end in different places, their costs are written beside it. Times are the smallest and
the median of a few rounds, milliseconds.
"""

import argparse
import json
import os
import platform
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import scipy
from scipy.optimize import least_squares, nnls
from scipy.sparse import csc_array, csr_array, diags_array, eye_array, kron, vstack
from scipy.sparse.linalg import LinearOperator, cg, splu, svds

from corporeal.anthropometry import solve as measurements
from corporeal.evaluation.known_smpl import known_smpl, sample_people
from corporeal.geometry.surface import unique_edges
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.models.smpl.training import blend_weights, pose_shapes
from corporeal.numerics.cholesky import CholeskyFactor, Kernel
from corporeal.numerics.residual_blocks import LinearisedResiduals, Residuals, minimise_blocks
from corporeal.numerics.robust_kernels import Cauchy
from corporeal.numerics.streamed_pca import principal_components
from corporeal.physics.fast_projective_skinning.controls import LARGEST_STEP
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.population import realise as realising
from corporeal.population.sampling import sample_people as draw_people
from corporeal.runtime.threads import thread_count

RESULTS = Path(__file__).parent / "results" / "solvers.json"
ROUNDS = 5
SIDE = 224
"""Of the square grid: 50 176 unknowns."""


def main() -> None:
    """Measure the problems that are named, or all, and put them into the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"problems: {', '.join(PROBLEMS)}")
    names = tuple(parser.parse_args().names)
    report = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    report["machine"] = (
        f"{platform.machine()}, {thread_count()} threads, Python {platform.python_version()}, "
        f"SciPy {scipy.__version__}"
    )
    for name in names or tuple(PROBLEMS):
        began = os.getloadavg()
        found = {
            "commit": commit(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            **PROBLEMS[name](ROUNDS),
            "load": [began[0], os.getloadavg()[0]],
        }
        report[name] = found
        print(name, json.dumps(found, indent=2), flush=True)
        RESULTS.write_text(json.dumps(report, indent=2) + "\n")


def commit() -> str:
    """The checkout's commit, for the record."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


def timed(call: Callable[[], object], rounds: int) -> dict[str, float]:
    """Smallest and median milliseconds of a call."""
    call()
    times = []
    for _ in range(rounds):
        started = time.perf_counter()
        call()
        times.append(1e3 * (time.perf_counter() - started))
    return {"least": round(min(times), 4), "median": round(float(np.median(times)), 4)}


@contextmanager
def caught(module: ModuleType, name: str) -> Iterator[list[tuple[tuple, dict]]]:
    """What `module` hands to the solver that it calls `name`."""
    calls: list[tuple[tuple, dict]] = []
    solver = getattr(module, name)

    def called(*arguments: Any, **named: Any) -> Any:
        calls.append((arguments, named))
        return solver(*arguments, **named)

    setattr(module, name, called)
    try:
        yield calls
    finally:
        setattr(module, name, solver)


def require(name: str, off: float, most: float) -> float:
    """A time for another answer would be worth nothing."""
    if not off <= most:
        raise SystemExit(f"{name} differs by {off}; expected at most {most}. Nothing was timed.")
    return off


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


def cholesky(rounds: int) -> dict[str, Any]:
    """The matrix of the default body's flesh, and a grid of 50 176 unknowns and condition 1e8."""
    model = PhenotypeModel()
    simulation = ProjectiveSimulation(model.template)
    body = simulation.body(model.prepare())
    ends = np.full(SIDE, 2.0)
    ends[[0, -1]] = 1.0
    line = diags_array([-np.ones(SIDE - 1), ends, -np.ones(SIDE - 1)], offsets=[-1, 0, 1])
    one = diags_array(np.ones(SIDE))
    shift = diags_array(np.full(SIDE**2, 8e-8))
    grid = csc_array(kron(line, one) + kron(one, line) + shift)
    return {
        "body": _factors(body.solver(LARGEST_STEP)._matrix, rounds),
        "grid": _factors(grid, rounds),
    }


def _factors(matrix: csc_array, rounds: int) -> dict[str, Any]:
    """Three columns, by both kernels and by SciPy."""
    rows = matrix.shape[0]
    right = np.random.default_rng(0).uniform(0.5, 1.0, (rows, 3)).astype(np.float32)
    double = right.astype(np.float64)
    peer = splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True})
    expected = peer.solve(double)
    report: dict[str, Any] = {"unknowns": rows}
    kernels: tuple[Kernel, ...] = ("vector", "plain")
    for kernel in kernels:
        factor, answer = CholeskyFactor(matrix, kernel), np.empty_like(right)
        factor.solve(right, answer)
        off = np.abs(answer - expected).max() / np.abs(expected).max()
        report[f"{kernel}_off"] = require(kernel, float(off), 1e-3)
        report[f"{kernel}_ms"] = timed(lambda f=factor, a=answer: f.solve(right, a), 40 * rounds)
    report["scipy_double_ms"] = timed(lambda: peer.solve(double), rounds)
    report["factor_ms"] = timed(lambda: CholeskyFactor(matrix), 1)
    report["scipy_factor_ms"] = timed(
        lambda: splu(matrix, permc_spec="MMD_AT_PLUS_A", options={"SymmetricMode": True}), 1
    )
    return report


def pca(rounds: int) -> dict[str, Any]:
    """Ten components of 400 skins, 64 rows at a time; SciPy's svds through the same pieces."""
    model = PhenotypeModel()
    random = np.random.default_rng(0)
    count = 400
    sliders = {p.name: random.uniform(p.low, p.high, count) for p in model.parameters}
    rows = np.asarray(model.prepare(sliders).rest_vertices, np.float32).reshape(count, -1)
    passes = [0]

    def pieces() -> Iterator[np.ndarray]:
        passes[0] += 1
        return (rows[i : i + 64] for i in range(0, count, 64))

    def ours() -> Any:
        return principal_components(pieces, 10, seed=0)

    def theirs() -> Any:
        mean = sum(piece.sum(axis=0, dtype=np.float64) for piece in pieces()) / count
        operator = LinearOperator(
            rows.shape,
            matvec=lambda x: np.concatenate(
                [np.asarray(p, np.float64) @ x - mean @ x for p in pieces()]
            ),
            rmatvec=lambda y: _transposed(pieces(), y) - mean * y.sum(),
            dtype=np.float64,
        )
        return svds(operator, 10, random_state=0)

    seen = {}
    for name, call in (("ours", ours), ("scipy", theirs)):
        passes[0] = 0
        call()
        seen[name] = passes[0]
    centred = rows - rows.mean(axis=0, dtype=np.float64)
    exact = np.linalg.svd(centred, full_matrices=False)[1][:10] / np.sqrt(count - 1)
    peer = np.sort(theirs()[1])[::-1] / np.sqrt(count - 1)
    return {
        "rows": list(rows.shape),
        "passes": seen,
        "largest_off": {
            "ours": float(np.abs(ours().deviations / exact - 1).max()),
            "scipy": float(np.abs(peer / exact - 1).max()),
        },
        "ours_ms": timed(ours, min(rounds, 3)),
        "scipy_ms": timed(theirs, 1),
        "numpy_in_memory_ms": timed(lambda: np.linalg.svd(centred, full_matrices=False), 1),
    }


def _transposed(pieces: Iterator[np.ndarray], values: np.ndarray) -> np.ndarray:
    """Aᵀ y, piece by piece."""
    total, at = np.zeros(0), 0
    for piece in pieces:
        part = np.asarray(piece, np.float64).T @ values[at : at + len(piece)].ravel()
        total, at = (part if at == 0 else total + part), at + len(piece)
    return total


def conjugate(rounds: int) -> dict[str, Any]:
    """Pose blend shapes of 512 vertices: one recurrence a vertex, or SciPy's cg for each."""
    from corporeal.numerics.conjugate_gradients import conjugate_gradients_many

    known = known_smpl(1000)
    meshes, truth = sample_people(known, 4, 24, 0, dtype=np.float64)
    blank = np.zeros_like(truth.pose_offsets)
    with caught(pose_shapes, "conjugate_gradients_many") as calls:
        ridge = pose_shapes.Ridge(0.1)
        pose_shapes.solved_pose_shapes(meshes, truth, ridge, truth.features(), blank)
    (product, precondition, right, _), named = calls[0]
    named = named | {"tolerance": 1e-16}
    size = right.shape[0] * right.shape[2]

    def ours() -> np.ndarray:
        return conjugate_gradients_many(product, precondition, right, **named)

    def one(apply: Callable, v: int) -> LinearOperator:
        shape = (right.shape[0], 1, right.shape[2])
        some = np.array([v])
        return LinearOperator((size, size), lambda x: apply(x.reshape(shape), some).ravel())

    def theirs() -> np.ndarray:
        found = np.empty_like(right)
        for v in range(right.shape[1]):
            solved, status = cg(
                one(product, v), right[:, v].ravel(), rtol=1e-9, M=one(precondition, v)
            )
            require("the status of cg", status, 0)
            found[:, v] = solved.reshape(right[:, v].shape)
        return found

    started = time.perf_counter()
    peer = theirs()
    scipy_ms = 1e3 * (time.perf_counter() - started)
    off = float(np.abs(ours() - peer).max() / np.abs(peer).max())
    return {
        "systems": right.shape[1],
        "unknowns": size,
        "apart": require("SciPy's cg", off, 1e-6),
        "ours_ms": timed(ours, rounds),
        "scipy_ms": round(scipy_ms, 1),
    }


def simplex(rounds: int) -> dict[str, Any]:
    """Blend weights of every vertex, registrations having 3 mm of noise; SciPy's nnls with Σ w = 1
    as a heavy row, without the limit of four."""
    from corporeal.numerics.simplex import least_on_simplex

    known = known_smpl(1000)
    meshes, truth = sample_people(known, 4, 24, 0, dtype=np.float64)
    noise = np.random.default_rng(0).normal(0, 0.003, meshes.vertices.shape)
    meshes = replace(meshes, vertices=meshes.vertices + noise)
    candidates = blend_weights.candidate_joints(truth.weights)
    with caught(blend_weights, "least_on_simplex") as calls:
        blend_weights.solved_weights(meshes, truth, candidates, truth.weights, 1e-4)
    products, right, most = calls[0][0]

    def theirs() -> np.ndarray:
        found = np.empty_like(right)
        for v in range(len(right)):
            root = np.linalg.cholesky(products[v]).T
            side = np.linalg.solve(root.T, right[v])
            heavy = 1e4 * np.sqrt(np.trace(products[v]))
            rows = np.concatenate([root, np.full((1, len(root)), heavy)])
            found[v] = nnls(rows, np.append(side, heavy))[0]
        return found

    ours, peer = least_on_simplex(products, right, most), theirs()
    within = (peer > 1e-9).sum(axis=1) <= most
    off = float(np.abs(ours[within] - peer[within]).max())
    return {
        "problems": len(right),
        "nnls_breaks_the_limit": int((~within).sum()),
        "apart_where_it_does_not": require("nnls", off, 1e-3),
        "ours_ms": timed(lambda: least_on_simplex(products, right, most), rounds),
        "scipy_ms": timed(theirs, 1),
    }


PROBLEMS: dict[str, Callable[[int], dict[str, Any]]] = {
    problem.__name__: problem
    for problem in (
        bounded,
        many_bounded,
        small_steps,
        sparse_robust,
        cholesky,
        pca,
        conjugate,
        simplex,
    )
}

if __name__ == "__main__":
    main()
