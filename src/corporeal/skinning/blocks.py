"""Skin weights laid out for vector units: blocks of vertices that follow the same joints.

Vertices with the same joints and the same most influential joint are put side by side in blocks of
`LANES`, so that a kernel loads each joint's motion once a block and computes all lanes at once.
On the default body 13 380 vertices have about 300 such joint sets. Short blocks are filled up by
repeating their last vertex, which is then merely written twice.

Where neighbours in a mesh's own order follow much the same joints, blocks of consecutive vertices
cost a little more arithmetic (lanes have weight 0 at joints of others) and write whole cache lines.
"""

from dataclasses import dataclass

import numpy as np

from corporeal._typing import Array, Float, Int, NumpyArray
from corporeal.body.weights import SkinWeights

LANES = 16
"""Vertices a block: one 512-bit or two 256-bit registers of float32."""


_WORTH = 1.5
"""So much more arithmetic is made up for by writing consecutive vertices."""


@dataclass(frozen=True)
class SkinBlocks:
    """Weights of one template; B blocks of `lanes` vertices, n influences in all."""

    vertices: Int[NumpyArray, "B lanes"]
    """Vertex in every lane."""
    starts: Int[NumpyArray, "B+1"]
    """Influences of block b are `starts[b]` … `starts[b + 1]` − 1, the most influential first where
    the vertices were grouped by their joints."""
    joints: Int[NumpyArray, "n"]
    """Joint of every influence."""
    weights: Float[NumpyArray, "n lanes"]
    """Weight of every influence in every lane."""

    def rest_lanes(self, rest_vertices: Float[NumpyArray, "i V 3"]) -> Float[NumpyArray, "..."]:
        """Rest positions of `i` identities in lane order, `i B 3 lanes`, metres."""
        return np.ascontiguousarray(np.swapaxes(rest_vertices[:, self.vertices], -1, -2))


def pack_blocks(weights: SkinWeights, dtype: Array) -> SkinBlocks:
    """Group the vertices of `weights` by their joints into blocks."""
    joints, values = _canonical_influences(weights)
    sets, set_of_vertex = np.unique(joints, axis=0, return_inverse=True)
    by_set = np.argsort(set_of_vertex.reshape(-1), kind="stable")
    sizes = np.bincount(set_of_vertex.reshape(-1), minlength=len(sets))
    lanes, block_joints, block_weights, counts = [], [], [], []
    for joint_set, members in zip(sets, np.split(by_set, np.cumsum(sizes)[:-1]), strict=True):
        padded = np.pad(members, (0, -len(members) % LANES), mode="edge").reshape(-1, LANES)
        used = int((joint_set >= 0).sum())
        lanes.append(padded)
        counts += [used] * len(padded)
        block_joints.append(np.tile(joint_set[:used], len(padded)))
        block_weights.append(np.swapaxes(values[padded, :used], 1, 2).reshape(-1, LANES))
    return SkinBlocks(
        np.concatenate(lanes).astype(np.int32),
        np.concatenate([[0], np.cumsum(counts)]).astype(np.int32),
        np.concatenate(block_joints).astype(np.int32),
        np.concatenate(block_weights).astype(dtype),
    )


def pack_consecutive_blocks(weights: SkinWeights, dtype: Array) -> SkinBlocks:
    """Blocks of consecutive vertices, each with the joints of all its vertices in their order; as
    `pack_blocks` where the joints of neighbours differ too much. For sums over joints that do not
    ask which joint is the most influential."""
    grouped = pack_blocks(weights, dtype)
    count = len(weights.values)
    first = np.minimum(np.arange(0, count, LANES), max(count - LANES, 0))
    vertices = np.minimum(first[:, None] + np.arange(LANES), count - 1)
    dense = weights.dense().astype(dtype)[vertices]  # B lanes J
    block, joint = np.nonzero((dense > 0).any(axis=1))
    if len(joint) > _WORTH * len(grouped.joints):
        return grouped
    starts = np.searchsorted(block, np.arange(len(vertices) + 1))
    return SkinBlocks(
        vertices.astype(np.int32),
        starts.astype(np.int32),
        joint.astype(np.int32),
        np.ascontiguousarray(dense[block, :, joint]),
    )


def _canonical_influences(
    weights: SkinWeights,
) -> tuple[Int[NumpyArray, "V K"], Float[NumpyArray, "V K"]]:
    """The most influential joint first, then the others by index, then unused slots as −1."""
    order = np.argsort(-weights.values, axis=1, kind="stable")
    values = np.take_along_axis(weights.values, order, axis=1)
    joints = np.take_along_axis(weights.joint_indices, order, axis=1).astype(np.int32)
    unused = values <= 0
    rank = np.where(unused, weights.joint_count, joints)
    rank[:, 0] = -1
    order = np.argsort(rank, axis=1, kind="stable")
    joints = np.where(unused, -1, joints)
    return np.take_along_axis(joints, order, axis=1), np.take_along_axis(values, order, axis=1)
