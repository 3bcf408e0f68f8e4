"""What a fit under inequalities still moves with: directions, hat matrix, errors left out.

The fit itself is `numerics.inequality_least_squares`.
"""

import numpy as np
from scipy.linalg import null_space

from corporeal._typing import Bool, Float, NumpyArray


def allowed_directions(
    inequalities: Float[NumpyArray, "c k"], active: Bool[NumpyArray, "c"]
) -> Float[NumpyArray, "k m"]:
    """Orthonormal directions in which the minimiser can still move (columns)."""
    if not active.any():
        return np.eye(inequalities.shape[1])
    return null_space(inequalities[active])


def hat_matrix(
    matrix: Float[NumpyArray, "n k"],
    penalty: Float[NumpyArray, "p k"],
    directions: Float[NumpyArray, "k m"],
) -> Float[NumpyArray, "n n"]:
    """H in fitted = H · target, for the penalised fit that moves in these directions only."""
    design, stiffness = matrix @ directions, penalty @ directions
    return design @ np.linalg.solve(design.T @ design + stiffness.T @ stiffness, design.T)


def leave_one_out(
    target: Float[NumpyArray, "n"], fitted: Float[NumpyArray, "n"], hat: Float[NumpyArray, "n n"]
) -> Float[NumpyArray, "n"]:
    """Residual of each person by a fit without them: (y_i − ŷ_i)/(1 − H_ii)."""
    return (target - fitted) / (1 - np.diag(hat))
