"""Enveloping weights s, given everything else (eq. 8 and 10).

The skin is linear in the weights; with Σ_l s_l = 1 the residual is Σ_l s_l (M_l v̄ − e), and

    min_s  Σ_i s_iᵀ H_i s_i / σ_v² + ‖U² s‖² / σ_s²,   s ≥ 0,  Σ_l s_il = 1,  0 outside its region,

is found by accelerated projected gradients (Beck, Teboulle 2009), with a step of its own for every
vertex. Left is the mirror image of right.
"""

from dataclasses import replace

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.models.enveloping.training.problem import Estimate, Problem, Scans, corrected_rest

_STEPS = 60
_SMOOTHEST = 16.0
"""Largest eigenvalue of (U²)ᵀU² at most: |U| ≤ 2."""
_MOST = 6
"""Influences that a vertex may choose from."""


def with_weights(
    problem: Problem, scans: Scans, estimate: Estimate, steps: int = _STEPS
) -> Estimate:
    """The estimate with better weights."""
    columns = _candidates(problem, estimate)
    hessians = _hessians(problem, scans, estimate, columns)
    start = np.take_along_axis(estimate.weights, columns, axis=1)
    smooth = estimate.variances.observation / estimate.variances.weights
    found = _descend(problem, columns, hessians, start, smooth, steps)
    weights = np.zeros_like(estimate.weights)
    np.put_along_axis(weights, columns, found, axis=1)
    return replace(estimate, weights=mirrored_weights(problem, weights))


def smoothed_weights(
    problem: Problem, weights: Float64[NumpyArray, "V L"], steps: int = 20
) -> Float64[NumpyArray, "V L"]:
    """Weights that the prior alone has smoothed within their regions (4.1.2)."""
    columns = np.argsort(-(weights + 1e-9 * problem.allowed), axis=1, kind="stable")[:, :_MOST]
    none = np.zeros((len(weights), columns.shape[1], columns.shape[1]))
    start = np.take_along_axis(weights, columns, axis=1)
    found = _descend(problem, columns, none, start, 1.0, steps)
    smooth = np.zeros_like(weights)
    np.put_along_axis(smooth, columns, found, axis=1)
    return mirrored_weights(problem, smooth)


def mirrored_weights(
    problem: Problem, weights: Float64[NumpyArray, "V L"]
) -> Float64[NumpyArray, "V L"]:
    """Half of the weights and half of their mirror images; rows sum to one."""
    if problem.mirror is not None:
        weights = 0.5 * (weights + weights[problem.mirror][:, problem.mirror_influences])
    return weights / weights.sum(axis=1, keepdims=True)


def _candidates(problem: Problem, estimate: Estimate) -> NumpyArray:
    """The influences that a vertex may follow: those with weight, then those allowed."""
    rank = estimate.weights + 1e-9 * problem.allowed
    return np.argsort(-rank, axis=1, kind="stable")[:, :_MOST]


def _hessians(
    problem: Problem, scans: Scans, estimate: Estimate, columns: NumpyArray
) -> Float64[NumpyArray, "V c c"]:
    """Σ_α c (M_l v̄ − e)ᵀ (M_m v̄ − e) of every vertex."""
    total = np.zeros((len(columns), columns.shape[1], columns.shape[1]), np.float32)
    joints = estimate.joints(problem)
    for scan in range(len(scans.people)):
        which = np.array([scan])
        person = joints[scans.people[which]]
        state = problem.rig.state(estimate.pose(which), person)
        rest = corrected_rest(problem, estimate, scans, which)[0]
        turns = state.world_rotations[0].astype(np.float32)[columns]
        moved = np.matmul(turns, rest[:, None, :, None])[..., 0]
        seen = scans.confidence[scan].astype(np.float32)[:, None, None]
        shift = state.translations[0].astype(np.float32)[columns]
        off = np.where(seen > 0, moved + shift - scans.vertices[scan][:, None], 0.0)
        total += np.matmul(seen * off, np.swapaxes(off, 1, 2))
    return total.astype(np.float64)


def _descend(
    problem: Problem, columns: NumpyArray, hessians: NumpyArray, start: NumpyArray,
    smooth: float, steps: int,
) -> NumpyArray:  # fmt: skip
    allowed = np.take_along_axis(problem.allowed, columns, axis=1)
    operator = problem.umbrella
    shape = problem.allowed.shape
    size = np.abs(hessians).sum(axis=2).max(axis=1) + smooth * _SMOOTHEST
    step = 1.0 / np.maximum(size, 1e-30)[:, None]

    def gradient(values: NumpyArray) -> NumpyArray:
        dense = np.zeros(shape)
        np.put_along_axis(dense, columns, values, axis=1)
        twice = operator.T @ (operator.T @ (operator @ (operator @ dense)))
        return np.einsum("vcd,vd->vc", hessians, values) + smooth * np.take_along_axis(
            twice, columns, axis=1
        )

    here = ahead = on_simplex(start, allowed)
    speed = 1.0
    for _ in range(steps):
        there = on_simplex(ahead - step * gradient(ahead), allowed)
        faster = 0.5 * (1 + np.sqrt(1 + 4 * speed * speed))
        ahead = there + (speed - 1) / faster * (there - here)
        here, speed = there, faster
    return here


def on_simplex(values: NumpyArray, allowed: NumpyArray) -> NumpyArray:
    """The nearest rows with entries of at least 0 that sum to one, 0 where not allowed."""
    low = np.where(allowed, values, -np.inf)
    order = -np.sort(-low, axis=1)
    sums = np.cumsum(np.where(np.isfinite(order), order, 0.0), axis=1)
    ranks = np.arange(1, values.shape[1] + 1)
    with np.errstate(invalid="ignore"):
        held = np.isfinite(order) & (order - (sums - 1) / ranks > 0)
    count = np.maximum(held.sum(axis=1), 1)
    level = (np.take_along_axis(sums, count[:, None] - 1, axis=1) - 1) / count[:, None]
    return np.where(allowed, np.maximum(values - level, 0.0), 0.0)
