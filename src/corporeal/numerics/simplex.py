"""Many small least-squares problems on the simplex, with few numbers above zero.

    min_w  ½ wᵀGw − bᵀw,   w ≥ 0,  Σ w = 1,  at most m of c above zero.

All sets of at most m are solved by their Lagrange conditions, every problem at once, and the best
one without a negative number is taken: exact, where an active-set method with a limit on the count
is not. The sets number Σ_{s ≤ m} c!/(s!(c−s)!): 56 for four of six.
"""

from itertools import combinations

import numpy as np

from corporeal._typing import Float64, NumpyArray
from corporeal.errors import InputError


def least_on_simplex(
    products: Float64[NumpyArray, "N c c"], right: Float64[NumpyArray, "N c"], most: int
) -> Float64[NumpyArray, "N c"]:
    """The minimiser w of every problem; G symmetric and positive definite, `most` is m."""
    problem_count, count = right.shape
    if most < 1:
        raise InputError(f"at most {most} numbers may be above zero; expected at least 1.")
    best = np.full(problem_count, np.inf)
    chosen = np.zeros((problem_count, count))
    for size in range(1, min(most, count) + 1):
        for members in combinations(range(count), size):
            some = np.array(members)
            inner = products[:, some[:, None], some]
            sides = np.stack([right[:, some], np.ones((problem_count, size))], axis=2)
            solved = np.linalg.solve(inner, sides)
            # w = G⁻¹ (b + μ 1) with μ from Σ w = 1
            multiplier = (1.0 - solved[:, :, 0].sum(axis=1)) / solved[:, :, 1].sum(axis=1)
            weights = solved[:, :, 0] + multiplier[:, None] * solved[:, :, 1]
            value = 0.5 * np.einsum("va,vab,vb->v", weights, inner, weights)
            value -= np.sum(right[:, some] * weights, axis=1)
            better = (weights.min(axis=1) >= 0) & (value < best)
            best[better] = value[better]
            rows = np.zeros((int(better.sum()), count))
            rows[:, some] = weights[better]
            chosen[better] = rows
    return chosen
