"""Compiled volume with its gradient; must agree with `volume`."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def volume_and_gradient(vertices, triangles):
    """Enclosed volume (m³) of a closed surface, and its derivative by every vertex (m²)."""
    gradient = np.zeros(vertices.shape)
    volume = 0.0
    for f in range(len(triangles)):
        for k in range(3):
            a, b, c = triangles[f, k], triangles[f, (k + 1) % 3], triangles[f, (k + 2) % 3]
            for i in range(3):
                j, l = (i + 1) % 3, (i + 2) % 3
                normal = vertices[b, j] * vertices[c, l] - vertices[b, l] * vertices[c, j]
                gradient[a, i] += normal / 6.0
                volume += vertices[a, i] * normal / 18.0
    return volume, gradient
