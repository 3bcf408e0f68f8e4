"""Where the eyeball sits: centre and radius as linear functions of the socket's vertices."""

import numpy as np
from makehuman_source import METRES_PER_DELTA, MakeHumanSource
from vertex_functionals import length_weights, point_weights

NOISE_M = 2e-4
SLACK = 0.98
"""The ball is made this much smaller than the source's, which touches the lids from inside."""


def eye_arrays(
    source: MakeHumanSource, socket: np.ndarray, coefficients: np.ndarray
) -> dict[str, np.ndarray]:
    """Functionals of the left eye, fitted to the source's eyeball helper over many shapes.

    The head does not turn on the way to the T-pose, so the sculpted pose serves. `coefficients`
    (shapes, S) are in the order of the source's targets.
    """

    def shapes(vertices: np.ndarray) -> np.ndarray:
        deltas = source.target_deltas[:, vertices] * METRES_PER_DELTA
        return source.vertices[vertices] + np.tensordot(coefficients, deltas, 1)

    ball = shapes(source.group_vertices["helper-l-eye"])
    centre = ball.mean(axis=1, keepdims=True)
    radius = SLACK * np.linalg.norm(ball - centre, axis=2).mean(axis=1)
    relative = shapes(socket) - centre
    weights = point_weights(relative, NOISE_M)
    radius_weights = length_weights(relative, radius, NOISE_M)
    miss = np.linalg.norm(np.einsum("v,svc->sc", weights, relative), axis=1)
    error = np.abs(np.einsum("vc,svc->s", radius_weights, relative) - radius)
    print(f"eye centre within {1e3 * miss.max():.2f} mm, radius within {1e3 * error.max():.2f} mm")
    return {
        "socket": socket.astype(np.uint16),
        "centre_weights": weights.astype(np.float32),
        "radius_weights": radius_weights.astype(np.float32),
    }
