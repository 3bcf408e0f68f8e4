"""The volume of patches, compiled: how far each is from its volume at rest, what pushes it back.

See `constraints.patch_volume`.
"""

import numpy as np

from corporeal.physics.projective_dynamics.blocks import LANES
from corporeal.physics.projective_dynamics.constraints.patch_volume import LEAST_NORM
from corporeal.physics.projective_dynamics.cpu import (
    DETERMINANT,
    OFFSET,
    SCRATCH,
    SQUARE,
    gather_edges,
    measure_deformation,
)
from corporeal.runtime.kernels import kernel


@kernel()
def patch_sums(corners, rest, volume, patches, positions, sums, first, last):
    """Add J and Σ v c² ‖cof F‖² of the blocks `first` … `last` − 1 to the patches in `sums`."""
    edges = np.empty(15 * LANES, np.float32)
    work = np.empty(SCRATCH, np.float32)
    for block in range(first, last):
        gather_edges(corners[block], positions, edges)
        for k in range(3):
            measure_deformation(rest[block, k], edges[3 * k * LANES :], work)
            for l in range(LANES):
                patch, factor = patches[block, k, l], volume[block, k, 0, l]
                weighted = factor * volume[block, k, 1, l]
                square = work[SQUARE + l]
                minors = 0.25 * (square * square - work[OFFSET + l])
                sums[patch, 0] += weighted * work[DETERMINANT + l]
                sums[patch, 1] += weighted * factor * minors


@kernel()
def patch_pushes(sums, volume, patches, pressures, push):
    """q of every tetrahedron, J: its weight against losing volume times c (1 − J)/Σ v c² ‖cof F‖².

    The sums, one array a thread, are emptied.
    """
    for patch in range(len(pressures)):
        ratio, norm = 0.0, 0.0
        for s in range(len(sums)):
            ratio += sums[s, patch, 0]
            norm += sums[s, patch, 1]
            sums[s, patch, 0] = 0.0
            sums[s, patch, 1] = 0.0
        pressures[patch] = np.float32((1.0 - ratio) / max(norm, LEAST_NORM))
    for block in range(len(push)):
        for k in range(3):
            for l in range(LANES):
                push[block, k, l] = (
                    volume[block, k, 2, l]
                    * volume[block, k, 0, l]
                    * pressures[patches[block, k, l]]
                )
