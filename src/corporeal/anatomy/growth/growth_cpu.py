"""Kernel of `skin`: where tetrahedra of given volumes wish their skin corners."""

import numpy as np

from corporeal.anatomy.prisms_cpu import volume_slopes
from corporeal.runtime.kernels import kernel


@kernel()
def volume_ways(points, tetrahedra, volumes, count, ways, weights):
    """Ways of the first `count` vertices to the wished volumes, added up with weights.

    The shortest way of a tetrahedron's skin corners to first order; its weight is its area.
    """
    ways[:], weights[:] = 0.0, 0.0
    slope = np.empty((4, 3))
    for t in range(len(tetrahedra)):
        missing = 6.0 * volumes[t] - volume_slopes(points, tetrahedra[t], slope)
        squared = 0.0
        for k in range(4):
            if tetrahedra[t, k] < count:
                for d in range(3):
                    squared += slope[k, d] * slope[k, d]
        if squared < 1e-24:
            continue
        weight = np.sqrt(squared)
        for k in range(4):
            vertex = tetrahedra[t, k]
            if vertex < count:
                weights[vertex] += weight
                for d in range(3):
                    ways[vertex, d] += weight * missing / squared * slope[k, d]
