"""The joint regressor 𝒥: sparse, non-negative, its rows summing to one.

Loper et al. 2015, section 4.1: non-negative least squares (Lawson and Hanson) from the subjects'
rest vertices to their joints, with a term that the weights add up to one. Twenty subjects give
sixty equations a joint, so its support is kept to the vertices around the ring that the initial
regressor averages.
"""

import numpy as np
from scipy.optimize import nnls
from scipy.sparse import csr_array

from corporeal._typing import Float, Float64, NumpyArray

_SUM_WEIGHT = 10.0
"""Of the equation Σ = 1, metres for a sum that is wrong by one: rows are scaled to one afterwards,
which costs least where they are close to it already."""
_PULL = 1e-3
"""Towards the initial regressor, metres for a weight that is wrong by one: decides what data leave
open."""


def around(
    initial: Float[NumpyArray, "J V"], edges: csr_array, rings: int
) -> Float64[NumpyArray, "J V"]:
    """1 for the vertices within `rings` edges of those that the initial regressor uses."""
    joined = abs(edges).T @ abs(edges)
    reached = (initial > 0).astype(np.float64)
    for _ in range(rings):
        reached = ((joined @ reached.T).T > 0).astype(np.float64)
    return reached


def solved_regressor(
    rest_shapes: Float[NumpyArray, "I V 3"],
    joints: Float[NumpyArray, "I J 3"],
    initial: Float[NumpyArray, "J V"],
    support: Float[NumpyArray, "J V"],
) -> Float64[NumpyArray, "J V"]:
    """The regressor that gives every subject's joints from its rest vertices."""
    regressor = np.zeros(initial.shape)
    for j in range(len(initial)):
        used = np.flatnonzero(support[j] > 0)
        # about the joint itself, so that Σ = 1 alone places it
        columns = rest_shapes[:, used] - joints[:, j][:, None]
        data = np.moveaxis(columns, 2, 1).reshape(-1, len(used))
        rows = [data, np.full((1, len(used)), _SUM_WEIGHT), _PULL * np.eye(len(used))]
        right = [np.zeros(len(data)), [_SUM_WEIGHT], _PULL * initial[j, used]]
        found, _ = nnls(np.concatenate(rows), np.concatenate(right))
        regressor[j, used] = found / found.sum()
    return regressor
