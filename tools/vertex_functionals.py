"""Points and lengths of a body as fixed linear functions of its skin vertices."""

import numpy as np


def point_weights(relative: np.ndarray, noise_m: float) -> np.ndarray:
    """Weights (n,) with sum 1 such that Σ_v w_v x_v is a given point, over many shapes.

    `relative` (shapes, n, 3) holds x_v minus that point. Minimises the mean squared miss plus
    that caused by noise of `noise_m` on every vertex: min_w |Σ_v w_v r_v|² + noise² |w|².
    """
    count = relative.shape[1]
    rows = relative.transpose(0, 2, 1).reshape(-1, count)
    gram = rows.T @ rows / len(relative) + noise_m**2 * np.eye(count)
    weights = np.linalg.solve(gram, np.ones(count))
    return weights / weights.sum()


def length_weights(relative: np.ndarray, lengths: np.ndarray, noise_m: float) -> np.ndarray:
    """Weights (n, 3) such that Σ_vc w_vc x_vc is a given length, over many shapes.

    `relative` (shapes, n, 3) holds x_v minus a point; the length must not depend on where the body
    stands, so the weights of every coordinate are made to sum to 0.
    """
    centred = relative - relative.mean(axis=1, keepdims=True)
    rows = centred.reshape(len(relative), -1)
    gram = rows @ rows.T + noise_m**2 * np.eye(len(rows))
    weights = (rows.T @ np.linalg.solve(gram, lengths)).reshape(-1, 3)
    return weights - weights.mean(axis=0)
