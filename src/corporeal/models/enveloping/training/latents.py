"""Other coordinates for the same people: white ones, principal ones."""

from dataclasses import replace

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.models.enveloping.training.problem import Estimate


def whitened(estimate: Estimate) -> Estimate:
    """The same people, x of mean 0 and unit covariance as eq. 13 has it.

    x = L x' + m with L lower triangular, so that offsets go on depending on the first ones alone.
    """
    mean = estimate.x.mean(axis=0)
    moved = estimate.x - mean
    covariance = moved.T @ moved / len(moved)
    lower = np.linalg.cholesky(covariance + 1e-9 * np.trace(covariance) * np.eye(len(covariance)))
    return _changed(estimate, mean, lower, np.linalg.solve(lower, moved.T).T)


def principal(estimate: Estimate) -> Estimate:
    """The same people, x turned to the principal axes of the dress shape, the largest first: what
    offsets will depend on."""
    flat = np.asarray(estimate.dress[1:], np.float64).reshape(estimate.x.shape[1], -1)
    _, vectors = np.linalg.eigh(flat @ flat.T)
    turn = vectors[:, ::-1]
    return _changed(estimate, np.zeros(len(turn)), turn, estimate.x @ turn)


def _changed(estimate: Estimate, mean: NumpyArray, matrix: NumpyArray, x: NumpyArray) -> Estimate:
    """Rows of c̄ and W for x = matrix x' + mean."""
    whole = np.eye(len(mean) + 1)
    whole[1:, 0], whole[1:, 1:] = mean, matrix

    def rows(values: NumpyArray) -> NumpyArray:
        used = len(values)
        return np.tensordot(whole[:used, :used].T, values, axes=1).astype(values.dtype)

    return replace(
        estimate, x=x, dress=rows(estimate.dress), bones=rows(estimate.bones),
        offsets=tuple(rows(k) for k in estimate.offsets),
    )  # fmt: skip
