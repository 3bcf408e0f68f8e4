"""Linear problems for `solvers.py`: sparse factors, principal components, conjugate gradients, and
least squares on the simplex."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import csc_array, diags_array, kron
from scipy.sparse.linalg import LinearOperator, cg, splu, svds
from solvers_checks import caught, require
from timing import timed

from corporeal.evaluation.known_smpl import known_smpl, sample_people
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.models.smpl.training import blend_weights, pose_shapes
from corporeal.numerics.cholesky import CholeskyFactor, Kernel
from corporeal.numerics.streamed_pca import principal_components
from corporeal.physics.fast_projective_skinning.controls import LARGEST_STEP
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation

SIDE = 224
"""Of the square grid: 50 176 unknowns."""


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
