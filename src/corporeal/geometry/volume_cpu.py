"""Compiled volume with its gradient; must agree with `volume`."""

import numpy as np

from corporeal.runtime.kernels import kernel


@kernel()
def volume_and_gradient(vertices, triangles):
    """Enclosed volume (m³) of a closed surface, and its derivative by every vertex (m²)."""
    gradient = np.zeros(vertices.shape)
    volume = 0.0
    for f in range(len(triangles)):
        a, b, c = triangles[f, 0], triangles[f, 1], triangles[f, 2]
        ax, ay, az = vertices[a, 0], vertices[a, 1], vertices[a, 2]
        bx, by, bz = vertices[b, 0], vertices[b, 1], vertices[b, 2]
        cx, cy, cz = vertices[c, 0], vertices[c, 1], vertices[c, 2]
        # 6 V = a · (b × c), and its derivatives b × c, c × a, a × b
        px, py, pz = by * cz - bz * cy, bz * cx - bx * cz, bx * cy - by * cx
        volume += (ax * px + ay * py + az * pz) / 6.0
        gradient[a, 0] += px / 6.0
        gradient[a, 1] += py / 6.0
        gradient[a, 2] += pz / 6.0
        gradient[b, 0] += (cy * az - cz * ay) / 6.0
        gradient[b, 1] += (cz * ax - cx * az) / 6.0
        gradient[b, 2] += (cx * ay - cy * ax) / 6.0
        gradient[c, 0] += (ay * bz - az * by) / 6.0
        gradient[c, 1] += (az * bx - ax * bz) / 6.0
        gradient[c, 2] += (ax * by - ay * bx) / 6.0
    return volume, gradient
