"""Tetrahedra laid out for the compiled local step."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray

LANES = 16


@dataclass(frozen=True)
class TetrahedronBlocks:
    """Blocks of 16 tetrahedra, lane by lane; the last block repeats one without weight."""

    corners: Int[NumpyArray, "blocks 4 16"]
    """Vertex of every corner."""
    rest: Float32[NumpyArray, "blocks 10 16"]
    """Nine inverse edges (1/m) and the weight (J)."""


def pack_tetrahedra(
    tetrahedra: Int[NumpyArray, "T 4"],
    inverse_edges: Float64[NumpyArray, "T 3 3"],
    weights: Float64[NumpyArray, "T"],
) -> TetrahedronBlocks:
    """The tetrahedra in their order, 16 a block."""
    count = len(tetrahedra)
    blocks = -(-count // LANES)
    chosen = np.minimum(np.arange(blocks * LANES), count - 1)
    present = np.arange(blocks * LANES) < count
    rest = np.concatenate(
        [inverse_edges.reshape(count, 9)[chosen], (weights[chosen] * present)[:, None]], axis=1
    )
    return TetrahedronBlocks(
        np.ascontiguousarray(
            tetrahedra[chosen].reshape(blocks, LANES, 4).transpose(0, 2, 1), dtype=np.int32
        ),
        np.ascontiguousarray(rest.reshape(blocks, LANES, 10).transpose(0, 2, 1), dtype=np.float32),
    )
