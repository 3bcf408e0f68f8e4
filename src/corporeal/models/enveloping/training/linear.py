"""Dress shapes and offsets of all people, given poses, weights and latents: linear least squares.

With B_αi the blended rotation, t_αi what joints add and c the confidence, every scan says

    √c_αi B_αi (Σ_m y_αm v̄_mi + Σ_dk Σ_m y_αm ω_αdk k_mdki) = √c_αi (e_αi − t_αi),   y = (1, x),

and eq. 11 holds offsets together along edges. Sparse, symmetric and positive definite; solved by
conjugate gradients on symmetric unknowns (4.1.5: left is the mirror image of right), with the Gram
matrices of the features as preconditioner.
"""

from dataclasses import dataclass, replace

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from corporeal._typing import Float, NumpyArray
from corporeal.body.enveloping import coordinates
from corporeal.models.enveloping.training.free_poses import FreePoses
from corporeal.models.enveloping.training.problem import (
    FLIP,
    Estimate,
    Problem,
    Scans,
    blended_motions,
    driver_features,
)
from corporeal.runtime.threads import over_slices

Unknown = list[NumpyArray]
"""Rows of the dress shape, then of every driver's offsets."""
_SCANS_AT_ONCE = 64


@dataclass(frozen=True)
class LinearSolve:
    """How far conjugate gradients go."""

    iterations: int = 15
    """At most so many steps."""
    tolerance: float = 1e-4
    """Of the preconditioned residual, against that of the right-hand side."""
    individual_hold: float = 30.0
    """How much harder eq. 11 holds what latent coordinates add to offsets."""


def with_linear_parts(
    problem: Problem,
    scans: Scans,
    estimate: Estimate,
    offset_rows: int,
    settings: LinearSolve | None = None,
    offset_latents: Float[NumpyArray, "B s"] | None = None,
    *,
    free: bool = False,
) -> Estimate:
    """The estimate with the best dress shapes and offsets; `offset_rows` is 0 to leave offsets
    out, 1 for those of the mean character, or 1 and the latent coordinates they depend on.

    `offset_latents` take the place of x where offsets are concerned, to try other dependences.
    With `free`, poses follow as far as that is linear. Dress shapes that are known (`own`) stay.
    """
    settings = settings or LinearSolve()
    causes = estimate.x if offset_latents is None else offset_latents
    poses = FreePoses(problem, scans, estimate) if free else None
    system = _System(problem, scans, estimate, offset_rows, settings.individual_hold, causes, poses)
    start = [np.asarray(estimate.dress if estimate.own is None else estimate.dress[:0], np.float32)]
    if offset_rows:
        start += [_rows(k, offset_rows) for k in estimate.offsets]
    found = _conjugate_gradients(system, start, settings)
    offsets = tuple(found[1:]) if offset_rows else estimate.offsets
    if poses is not None:
        estimate = poses.moved(problem, estimate, system.residuals(found))
    dress = found[0] if estimate.own is None else estimate.dress
    return replace(estimate, dress=dress, offsets=offsets)


def _rows(offsets: NumpyArray, count: int) -> NumpyArray:
    """The first rows; zeros where there are not so many."""
    made = np.zeros((count, *offsets.shape[1:]), np.float32)
    made[: len(offsets)] = offsets[:count]
    return made


class _System:
    """Normal equations, applied without being formed."""

    def __init__(
        self, problem: Problem, scans: Scans, estimate: Estimate, offset_rows: int, hold: float,
        causes: NumpyArray, poses: FreePoses | None = None,
    ) -> None:  # fmt: skip
        self.problem, self.poses = problem, poses
        count, size = scans.confidence.shape
        y = coordinates(estimate.x)[scans.people].astype(np.float32)
        # no column where everybody's dress shape is known: nothing of it is looked for
        self.y, self.features = y if estimate.own is None else y[:, :0], []
        if offset_rows:
            own = coordinates(causes)[scans.people].astype(np.float32)
            self.features = [
                driver_features(omega, own[:, :offset_rows])
                for omega in problem.key_weights(estimate.rotations)
            ]
        self.offset_rows = offset_rows
        smooth = estimate.variances.observation / estimate.variances.offsets
        self.smooth = np.full(offset_rows, hold * smooth, np.float32)
        self.smooth[:1] = smooth
        self.blended = np.empty((count, size, 3, 3), np.float32)
        self.missing = np.empty((count, size, 3), np.float32)
        for first in range(0, count, _SCANS_AT_ONCE):
            some = np.arange(first, min(first + _SCANS_AT_ONCE, count))
            roots = np.sqrt(scans.confidence[some]).astype(np.float32)
            blended, shifts = blended_motions(problem, estimate, scans, some)
            self.blended[some] = roots[..., None, None] * blended
            if estimate.own is not None:
                known = estimate.own.dress[scans.people[some]].astype(np.float32)
                shifts = shifts + np.matmul(blended, known[..., None])[..., 0]
            gap = np.where(roots[..., None] > 0, scans.vertices[some] - shifts, 0.0)
            self.missing[some] = roots[..., None] * gap
        self._factor(float(scans.confidence.mean()))

    def _factor(self, share: float) -> None:
        """Cholesky factors of the features' Gram matrices; `share` of the surface is seen."""
        grams = [self.y.T @ self.y, *(f.T @ f for f in self.features)]
        holds = [
            np.zeros(len(grams[0])),
            *(6 * np.repeat(self.smooth, d.key_count) for d in self.problem.drivers),
        ]
        self.factors = [
            cho_factor(share * gram + np.diag(hold + 1e-6 * np.trace(gram) / len(gram) + 1e-9))
            if len(gram)
            else None
            for gram, hold in zip(grams, holds, strict=False)
        ]

    def offsets(self, unknown: Unknown) -> Float[NumpyArray, "N V 3"]:
        """What the unknowns are in every scan's rest pose."""
        total = np.tensordot(self.y, unknown[0], axes=1)
        for driver, features, rows in zip(
            self.problem.drivers, self.features, unknown[1:], strict=False
        ):
            made = features @ rows.reshape(features.shape[1], -1)
            total[:, driver.region] += made.reshape(len(total), -1, 3)
        return total

    def gathered(self, values: Float[NumpyArray, "N V 3"]) -> Unknown:
        """The transpose of `offsets`, made symmetric."""
        found = [np.tensordot(self.y.T, values, axes=1)]
        for driver, features in zip(self.problem.drivers, self.features, strict=False):
            here = values[:, driver.region].reshape(len(values), -1)
            shape = (self.offset_rows, driver.key_count, len(driver.region), 3)
            found.append((features.T @ here).reshape(shape))
        return found

    def right(self) -> Unknown:
        missing = self.missing
        if self.poses is not None:
            missing = missing.copy()
            self.poses.project(missing)
        values = np.matmul(np.swapaxes(self.blended, -1, -2), missing[..., None])[..., 0]
        return symmetric(self.problem, self.gathered(values))

    def residuals(self, unknown: Unknown) -> Float[NumpyArray, "N V 3"]:
        """B u − m of all scans."""
        return np.matmul(self.blended, self.offsets(unknown)[..., None])[..., 0] - self.missing

    def _metric(self, values: Float[NumpyArray, "N V 3"]) -> Float[NumpyArray, "N V 3"]:
        """Bᵀ P B of values in the rest pose."""
        from corporeal.models.smpl.training.terms_cpu import apply_metric

        blended = self.blended
        if self.poses is None:
            over_slices(lambda a, b: apply_metric(blended, values, a, b), len(values), 16)
            return values
        moved = np.matmul(blended, values[..., None])[..., 0]
        self.poses.project(moved)
        return np.matmul(np.swapaxes(blended, -1, -2), moved[..., None])[..., 0]

    def applied(self, unknown: Unknown) -> Unknown:
        found = self.gathered(self._metric(self.offsets(unknown)))
        for place, laplacian in enumerate(self.problem.driver_laplacians[: len(found) - 1]):
            rows = unknown[place + 1]
            flat = np.moveaxis(rows, 2, 0).reshape(rows.shape[2], -1)
            held = (laplacian @ flat).reshape(rows.shape[2], *rows.shape[:2], 3)
            held = np.moveaxis(held, 0, 2).astype(np.float32)
            found[place + 1] += self.smooth[:, None, None, None] * held
        return symmetric(self.problem, found)

    def preconditioned(self, values: Unknown) -> Unknown:
        found = []
        for factor, rows in zip(self.factors, values, strict=True):
            if factor is None:
                found.append(rows)
                continue
            size = len(factor[0])
            solved = cho_solve(factor, rows.reshape(size, -1), check_finite=False)
            found.append(solved.reshape(rows.shape).astype(np.float32))
        return symmetric(self.problem, found)


def symmetric(problem: Problem, unknown: Unknown) -> Unknown:
    """Half of the unknowns and half of their mirror images."""
    if problem.mirror is None:
        return unknown
    flip = FLIP.astype(np.float32)
    found = [0.5 * (unknown[0] + flip * unknown[0][:, problem.mirror])]
    for driver, rows in zip(problem.drivers, unknown[1:], strict=False):
        other = unknown[1 + driver.image]
        image = other[:, driver.image_keys][:, :, driver.image_vertices]
        found.append(0.5 * (rows + flip * image))
    return found


def _conjugate_gradients(system: _System, start: Unknown, settings: LinearSolve) -> Unknown:
    x = symmetric(system.problem, start)
    right = system.right()
    residual = [b - a for b, a in zip(right, system.applied(x), strict=True)]
    z = system.preconditioned(residual)
    direction, rho = z, _dot(residual, z)
    limit = settings.tolerance**2 * _dot(right, system.preconditioned(right))
    for _ in range(settings.iterations):
        if rho <= limit:
            break
        image = system.applied(direction)
        step = rho / _dot(direction, image)
        x = [a + np.float32(step) * b for a, b in zip(x, direction, strict=True)]
        residual = [a - np.float32(step) * b for a, b in zip(residual, image, strict=True)]
        z = system.preconditioned(residual)
        before, rho = rho, _dot(residual, z)
        ratio = np.float32(rho / before)
        direction = [a + ratio * b for a, b in zip(z, direction, strict=True)]
    return x


def _dot(left: Unknown, right: Unknown) -> float:
    return float(sum(np.vdot(a, b) for a, b in zip(left, right, strict=True)))
