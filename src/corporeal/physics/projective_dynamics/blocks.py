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
    """Nine inverse edges (1/m), the weight (J), and for the volume of prisms: c, the share v, and
    the stiffness against volume over that against strain."""
    heads: Int[NumpyArray, "blocks 16"]
    """First lane of the prism that a lane belongs to."""
    keeps_volume: bool


@dataclass(frozen=True)
class PrismRows:
    """What the volume of prisms needs of every tetrahedron; see `PrismVolumeConstraint`."""

    prisms: Int[NumpyArray, "T"]
    rest_factors: Float64[NumpyArray, "T"]
    shares: Float64[NumpyArray, "T"]
    ratios: Float64[NumpyArray, "T"]


def pack_tetrahedra(
    tetrahedra: Int[NumpyArray, "T 4"],
    inverse_edges: Float64[NumpyArray, "T 3 3"],
    weights: Float64[NumpyArray, "T"],
    volume: PrismRows | None = None,
) -> TetrahedronBlocks:
    """The tetrahedra in their order, 16 a block; those of one prism in the same block."""
    count = len(tetrahedra)
    lanes = np.arange(count) if volume is None else _lanes_by_prism(volume.prisms)
    blocks = -(-(int(lanes[-1]) + 1) // LANES)
    chosen, present = np.zeros(blocks * LANES, np.int64), np.zeros(blocks * LANES, bool)
    chosen[lanes], present[lanes] = np.arange(count), True
    columns = [inverse_edges.reshape(count, 9)[chosen], (weights[chosen] * present)[:, None]]
    heads = np.arange(blocks * LANES)
    if volume is None:
        columns.append(np.zeros((blocks * LANES, 3)))
    else:
        rows = np.stack([volume.rest_factors, volume.shares, volume.ratios], axis=1)
        columns.append(rows[chosen] * present[:, None])
        heads[lanes] = lanes[_first_of_run(volume.prisms)]
    rest = np.concatenate(columns, axis=1).reshape(blocks, LANES, 13)
    return TetrahedronBlocks(
        np.ascontiguousarray(
            tetrahedra[chosen].reshape(blocks, LANES, 4).transpose(0, 2, 1), dtype=np.int32
        ),
        np.ascontiguousarray(rest.transpose(0, 2, 1), dtype=np.float32),
        np.ascontiguousarray((heads % LANES).reshape(blocks, LANES), dtype=np.int32),
        volume is not None,
    )


def _first_of_run(prisms: Int[NumpyArray, "T"]) -> Int[NumpyArray, "T"]:
    """Index of the first tetrahedron of the run of one prism that every tetrahedron is in."""
    starts = np.flatnonzero(np.diff(prisms, prepend=prisms[0] - 1))
    return np.repeat(starts, np.diff(starts, append=len(prisms)))


def _lanes_by_prism(prisms: Int[NumpyArray, "T"]) -> Int[NumpyArray, "T"]:
    """Lanes, counted through all blocks, so that no run of one prism crosses into a new block."""
    starts = np.flatnonzero(np.diff(prisms, prepend=prisms[0] - 1))
    lanes, lane = np.empty(len(prisms), np.int64), 0
    for start, size in zip(starts, np.diff(starts, append=len(prisms)), strict=True):
        if lane % LANES + size > LANES:
            lane += LANES - lane % LANES
        lanes[start : start + size] = np.arange(lane, lane + size)
        lane += size
    return lanes
