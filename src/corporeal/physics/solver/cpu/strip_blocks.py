"""Strips of tetrahedra laid out for the compiled local step."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray
from corporeal.physics.solver.cpu.strips import MISSING, chain_strips, strip_edges

LANES = 16
QUAD = 4
"""Rows of three numbers are padded to four, so that a vertex is one vector."""


@dataclass(frozen=True)
class StripBlocks:
    """Blocks of 16 strips, lane by lane; what is missing has no weight."""

    corners: Int[NumpyArray, "blocks 6 16"]
    """Vertices of every strip."""
    rest: Float32[NumpyArray, "blocks 3 10 16"]
    """Of each tetrahedron: nine inverse edges (1/m), along the strip, and the weight (J)."""


def pack_tetrahedra(
    tetrahedra: Int[NumpyArray, "T 4"],
    inverse_edges: Float64[NumpyArray, "T 3 3"],
    weights: Float64[NumpyArray, "T"],
) -> StripBlocks:
    """The tetrahedra in strips, 16 a block; strips begin where vertex numbers are small."""
    strips = chain_strips(tetrahedra)
    blocks = -(-len(strips.members) // LANES)
    lanes = np.minimum(np.arange(blocks * LANES), len(strips.members) - 1)
    corners, members = _smaller_first(strips.corners, strips.members)
    corners, members = corners[lanes], members[lanes]
    present = (members != MISSING) & (np.arange(blocks * LANES) < len(strips.members))[:, None]
    members = np.where(members == MISSING, members[:, :1], members)
    rest = np.zeros((blocks * LANES, 3, 10))
    for k in range(3):
        here = present[:, k]
        at = members[here, k]
        rest[here, k, :9] = strip_edges(
            tetrahedra[at], inverse_edges[at], corners[here, k : k + 4]
        ).reshape(-1, 9)
        rest[here, k, 9] = weights[at]
    return StripBlocks(
        _by_lanes(corners, blocks).astype(np.int32),
        _by_lanes(rest, blocks).astype(np.float32),
    )


def _smaller_first(
    corners: Int[NumpyArray, "n 6"], members: Int[NumpyArray, "n 3"]
) -> tuple[Int[NumpyArray, "n 6"], Int[NumpyArray, "n 3"]]:
    """Full strips turned round where that puts smaller vertex numbers first."""
    larger = corners[:, :3].sum(axis=1) > corners[:, 3:].sum(axis=1)
    turn = (larger & (members != MISSING).all(axis=1))[:, None]
    return np.where(turn, corners[:, ::-1], corners), np.where(turn, members[:, ::-1], members)


def _by_lanes(values: NumpyArray, blocks: int) -> NumpyArray:
    """One row a strip → blocks with the lanes last."""
    return np.ascontiguousarray(
        np.moveaxis(values.reshape(blocks, LANES, *values.shape[1:]), 1, -1)
    )
