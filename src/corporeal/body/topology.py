"""Which surface a set of vertices belongs to: a fingerprint of the faces, not of the shape."""

import hashlib

import numpy as np

from corporeal._typing import Int, NumpyArray


def topology_hash(triangles: Int[NumpyArray, "F 3"], vertex_count: int) -> str:
    """SHA-256, in hex, of the number of vertices and the triangles in their order.

    Two surfaces with the same hash have the same vertices in the same order; their shapes differ.
    """
    content = np.array([vertex_count, len(triangles)], "<i8").tobytes()
    return hashlib.sha256(content + triangles.astype("<i8").tobytes()).hexdigest()
