"""Tetrahedra laid out for the compiled local step."""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray

LANES = 16


@dataclass(frozen=True)
class TetrahedronBlocks:
    """Blocks of 16 tetrahedra, lane by lane; lanes left over repeat one without weight."""

    corners: Int[NumpyArray, "blocks 4 16"]
    """Vertex of every corner."""
    rest: Float32[NumpyArray, "blocks 13 16"]
    """Nine inverse edges (1/m), the weight (J), and for the volume of patches: c, the share v, and
    the stiffness against volume over that against strain."""
    patches: Int[NumpyArray, "blocks 16"]
    """Patch that a lane belongs to."""
    patch_count: int
    """0 where no volume is kept."""


@dataclass(frozen=True)
class PatchRows:
    """What the volume of patches needs of every tetrahedron; see `PatchVolumeConstraint`."""

    patches: Int[NumpyArray, "T"]
    rest_factors: Float64[NumpyArray, "T"]
    shares: Float64[NumpyArray, "T"]
    ratios: Float64[NumpyArray, "T"]


def pack_tetrahedra(
    tetrahedra: Int[NumpyArray, "T 4"],
    inverse_edges: Float64[NumpyArray, "T 3 3"],
    weights: Float64[NumpyArray, "T"],
    volume: PatchRows | None = None,
) -> TetrahedronBlocks:
    """The tetrahedra in their order, 16 a block."""
    count = len(tetrahedra)
    blocks = -(-count // LANES)
    chosen = np.minimum(np.arange(blocks * LANES), count - 1)
    present = np.arange(blocks * LANES) < count
    columns = [inverse_edges.reshape(count, 9)[chosen], (weights[chosen] * present)[:, None]]
    patches, patch_count = np.zeros(count, np.int64), 0
    rows = np.zeros((count, 3))
    if volume is not None:
        patches, patch_count = volume.patches, int(volume.patches.max()) + 1
        rows = np.stack([volume.rest_factors, volume.shares, volume.ratios], axis=1)
    columns.append(rows[chosen] * present[:, None])
    rest = np.concatenate(columns, axis=1).reshape(blocks, LANES, 13)
    return TetrahedronBlocks(
        np.ascontiguousarray(
            tetrahedra[chosen].reshape(blocks, LANES, 4).transpose(0, 2, 1), dtype=np.int32
        ),
        np.ascontiguousarray(rest.transpose(0, 2, 1), dtype=np.float32),
        np.ascontiguousarray(patches[chosen].reshape(blocks, LANES), dtype=np.int32),
        patch_count,
    )
