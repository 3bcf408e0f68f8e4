"""Linear least squares under linear inequalities, exactly.

    minimise ‖A x − b‖²  subject to  G x ≥ 0

A has full column rank. In the coordinates y of its triangular factor this asks for the point of a
cone nearest to a given one, whose dual is least squares with non-negative unknowns (Lawson & Hanson
1974, ch. 23): y = y₀ + Fᵀu with u = argmin_{u ≥ 0} ‖Fᵀu + y₀‖, which SciPy's `nnls` solves.
"""

import numpy as np
from scipy.linalg import solve_triangular
from scipy.optimize import nnls

from corporeal._typing import Bool, Float, NumpyArray


def constrained_least_squares(
    matrix: Float[NumpyArray, "n k"],
    target: Float[NumpyArray, "n"],
    inequalities: Float[NumpyArray, "c k"],
) -> tuple[Float[NumpyArray, "k"], Bool[NumpyArray, "c"]]:
    """The minimiser, and which inequalities hold it back."""
    orthogonal, triangle = np.linalg.qr(matrix)
    free = orthogonal.T @ target
    directions = solve_triangular(triangle.T, inequalities.T, lower=True).T
    lengths = np.maximum(np.linalg.norm(directions, axis=1), np.finfo(float).tiny)
    pushes, _ = nnls((directions / lengths[:, None]).T, -free)
    moved = free + (pushes / lengths) @ directions
    return solve_triangular(triangle, moved), pushes > 0
