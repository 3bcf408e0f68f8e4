"""Finer triangles for close-ups, rounded by the vertex normals, so that outlines have no corners.

Phong tessellation (Boubekeur and Alexa 2008): every edge gets a new vertex m* = m + α (m̄ − m), with
m the edge's middle and m̄ the mean of its projections on the tangent planes at the two ends.
"""

import numpy as np

from corporeal._typing import Float32, Int, NumpyArray

ROUNDING = 0.75
"""α: 0 leaves the triangles flat; 3/4 is the authors' value."""


def refine(
    attributes: Float32[NumpyArray, "V a"], triangles: Int[NumpyArray, "F 3"]
) -> tuple[Float32[NumpyArray, "V2 a"], Int[NumpyArray, "F4 3"]]:
    """Split every triangle in four; columns 0–2 are positions, 3–5 normals, others interpolate.

    The four triangles of triangle i are 4i to 4i+3. Old vertices stay what and where they are.
    """
    directed = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1).astype(np.int64)
    keys = directed[:, 0] * len(attributes) + directed[:, 1]
    unique, inverse = np.unique(keys, return_inverse=True)
    a = attributes[unique // max(len(attributes), 1)]
    b = attributes[unique % max(len(attributes), 1)]
    middle = (a + b) / 2
    for start, end in ((a, b), (b, a)):
        away = (end[:, :3] - start[:, :3]) / 2
        height = np.sum(away * start[:, 3:6], axis=1, keepdims=True)
        middle[:, :3] -= ROUNDING / 2 * height * start[:, 3:6]
    length = np.linalg.norm(middle[:, 3:6], axis=1, keepdims=True)
    middle[:, 3:6] /= np.maximum(length, 1e-9)
    new = (len(attributes) + inverse.reshape(-1, 3)).astype(np.int32)
    (i, j, k), (p, q, r) = triangles.T, new.T
    fine = np.stack([i, p, r, p, j, q, r, q, k, p, q, r], axis=1).reshape(-1, 3)
    return np.concatenate([attributes, middle]), fine.astype(np.int32)
