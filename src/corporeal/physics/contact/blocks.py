"""Skin vertices in blocks and prisms in clusters, each over one bone, for detection.

Neighbours stay neighbours in every pose, so that this is done once. What a pose brings into a prism
comes mostly from other bones: vertices over the prism's own bone have been next to it all along, at
gaps that are known from the rest shape, and it takes as much deformation to close them.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Float32, Float64, Int, NumpyArray

LANES = 16
"""Vertices a block, and prisms a cluster, at most."""
SLACK = 1e-5
"""Metres that are left for rounding in how far a point has left the rest shape."""
LARGEST_GAP = 0.05
"""Metres that gaps are known up to."""


@dataclass(frozen=True)
class SkinBlocks:
    """What detection goes through, in its order."""

    members: Int[NumpyArray, "blocks 16"]
    """Vertices of every block, −1 in lanes left over."""
    bone_starts: Int[NumpyArray, "bone_starts"]
    """The first block of every bone."""
    prisms: Int[NumpyArray, "F 6"]
    """Corners of every prism: skin, then base points behind all skin."""
    kinds: Int[NumpyArray, "F"]
    """As in `SkinDetection`."""
    numbers: Int[NumpyArray, "F"]
    """The triangle of every prism."""
    starts: Int[NumpyArray, "cluster_starts"]
    """The first prism of every cluster."""
    prism_bones: Int[NumpyArray, "F"]
    """The bone of a prism's first corner."""
    gap_starts: Int[NumpyArray, "F"]
    """Where a prism's gaps to its bone's blocks begin; −1 for one over several bones."""
    gaps: Float32[NumpyArray, "g"]
    """Metres at rest, at least."""
    rest: Float64[NumpyArray, "n 3"]
    """Skin and base points at rest, metres."""


def skin_blocks(
    skin: Float64[NumpyArray, "V 3"],
    base_points: Float64[NumpyArray, "V 3"],
    bones: Int[NumpyArray, "V"],
    bone_count: int,
    prisms: Int[NumpyArray, "F 6"],
    kinds: Int[NumpyArray, "F"],
) -> SkinBlocks:
    """The blocks of a skin at rest (metres), with the bone of every vertex."""
    from corporeal.physics.contact.cpu.detection import rest_gaps

    rest = np.ascontiguousarray(np.concatenate([skin, base_points]), np.float64)
    blocks, counts = [], []
    for bone in range(bone_count):
        own = _halved(skin, np.flatnonzero(bones == bone))
        counts.append(len(own))
        blocks += own
    members = np.full((len(blocks), LANES), -1, np.int32)
    for block, row in zip(blocks, members, strict=True):
        row[: len(block)] = block
    bone_starts = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    middles, over = rest[prisms].mean(axis=1), bones[prisms[:, :3]]
    single = (over == over[:, :1]).all(axis=1)
    clusters = [
        group
        for bone in range(bone_count)
        for group in _halved(middles, np.flatnonzero(over[:, 0] == bone))
    ]
    clusters = clusters[::2] + clusters[1::2]  # so that two threads have as much to do
    numbers = np.concatenate([np.zeros(0, np.int64), *clusters]).astype(np.int32)
    prism_bones, single = over[numbers, 0].astype(np.int32), single[numbers]
    needed = np.where(single, np.diff(bone_starts)[prism_bones], 0)
    gap_starts = np.where(single, np.cumsum(needed) - needed, -1).astype(np.int32)
    gaps = np.empty(int(needed.sum()), np.float32)
    ordered = np.ascontiguousarray(prisms[numbers])
    rest_gaps(rest, members, ordered, prism_bones, gap_starts, bone_starts, LARGEST_GAP, gaps)
    starts = np.concatenate([[0], np.cumsum([len(group) for group in clusters])]).astype(np.int32)
    return SkinBlocks(
        members, bone_starts, ordered, np.ascontiguousarray(kinds[numbers]), numbers, starts,
        prism_bones, gap_starts, gaps, rest,
    )  # fmt: skip


def _halved(
    points: Float64[NumpyArray, "n 3"], chosen: Int[NumpyArray, "k"]
) -> list[Int[NumpyArray, "m"]]:
    """Groups of at most `LANES` of the chosen points, from halving along the longest side."""
    if len(chosen) == 0:
        return []
    if len(chosen) <= LANES:
        return [chosen]
    own = points[chosen]
    along = own[:, int(np.argmax(np.ptp(own, axis=0)))]
    order = chosen[np.argsort(along, kind="stable")]
    half = LANES * max(1, round(len(order) / (2 * LANES)))
    return _halved(points, order[:half]) + _halved(points, order[half:])
