"""Base points: where on the bone lines every skin vertex belongs.

Komaritzan 2022, section 3.2.1, "Skin Shrinking", equation (3.1) and figures 3.1 and 3.2.
"""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray
from corporeal.geometry.surface import mean_side, vertex_adjacency
from corporeal.physics.volumetric_mesh.bones import VolumetricSkeleton
from corporeal.physics.volumetric_mesh.mirrored_bones import MirroredBones, nearest_bones
from corporeal.runtime.pytree_dataclass import pytree_dataclass

SMOOTHING_SPEED = 0.5
"""λ of equation (3.1)."""
SETTLED, FURTHEST = 0.03, 0.5
"""Smoothing ends when a round moves base points by less than these shares of the mean edge, on
average and at most: what is left then is not roughness but a drift of whole limbs along their
bones, since the only points that stay are those at the tips."""
MOST_ROUNDS = 200


@pytree_dataclass()
class BasePoints:
    """A place on a bone line for every vertex."""

    bones: Int[NumpyArray, "V"]
    """Bone on whose line the place is."""
    places: Float[NumpyArray, "V"]
    """From 0 at the bone's start to 1 at its end."""

    def positions(
        self, nodes: Float[NumpyArray, "n 3"], bones: Int[NumpyArray, "b 2"]
    ) -> Float[NumpyArray, "V 3"]:
        """Where the base points are while the nodes are at `nodes` (metres)."""
        start, end = nodes[bones[self.bones, 0]], nodes[bones[self.bones, 1]]
        return start + self.places[:, None] * (end - start)


def closest_base_points(
    vertices: Float[NumpyArray, "V 3"],
    skeleton: VolumetricSkeleton,
    mirrored: MirroredBones | None = None,
) -> BasePoints:
    """The point of the bone lines nearest to every vertex (metres)."""
    points = np.asarray(vertices, np.float64)
    found = BasePoints(*nearest_bones(points, skeleton.nodes, skeleton.bones, mirrored))
    return found if mirrored is None else _alike(found, skeleton, mirrored)


def smooth_base_points(
    points: BasePoints,
    skeleton: VolumetricSkeleton,
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    mirrored: MirroredBones | None = None,
) -> tuple[BasePoints, int]:
    """Let base points slide along the stretched-out bone lines towards their neighbours' mean.

    s_i ← s_i + λ/|N(i)| Σ_{j ∈ N(i)} (s_j − s_i), then back to the nearest point of the vertex's
    bone or of one that joins it. Points at the tips of leaves stay, those of vertices on the mirror
    plane on the plane. Gives the rounds it took, too.
    """
    from corporeal.physics.volumetric_mesh.smoothing_cpu import smooth_round

    nodes = stretched_out(skeleton)
    adjacency = vertex_adjacency(triangles, len(vertices))
    indptr, indices = adjacency.indptr.astype(np.int64), adjacency.indices.astype(np.int64)
    neighbour_start, neighbour_bones = _joined_bones(skeleton.bones)
    fixed = skeleton.leaf_nodes()[skeleton.bones[points.bones, 1]] & (points.places >= 1.0)
    edge = mean_side(vertices, triangles)
    middle, middle_bones = np.zeros(len(vertices), bool), np.ones(len(skeleton.bones), bool)
    if mirrored is not None:
        middle, middle_bones = mirrored.middle_vertices, mirrored.middle_bones
    bones, places, rounds = points.bones.copy(), points.places.copy(), 0
    while rounds < MOST_ROUNDS:
        rounds += 1
        bones, places, moved, furthest = smooth_round(
            bones,
            places,
            fixed,
            nodes,
            skeleton.bones,
            indptr,
            indices,
            neighbour_start,
            neighbour_bones,
            middle,
            middle_bones,
            SMOOTHING_SPEED,
        )
        if mirrored is not None:
            same = _alike(BasePoints(bones, places), skeleton, mirrored)
            bones, places = same.bones, same.places
        if moved <= SETTLED * edge and furthest <= FURTHEST * edge:
            break
    return BasePoints(bones, places), rounds


def _alike(points: BasePoints, skeleton: VolumetricSkeleton, mirrored: MirroredBones) -> BasePoints:
    """Base points in joints, which are on several bones, on mirrored ones for mirror images."""
    at = mirrored.followers(points.positions(skeleton.nodes, skeleton.bones))
    image = mirrored.vertices
    return BasePoints(
        np.where(at, mirrored.bones[points.bones[image]], points.bones),
        np.where(at, points.places[image], points.places),
    )


def stretched_out(skeleton: VolumetricSkeleton) -> Float[NumpyArray, "n 3"]:
    """Nodes moved so that bones keep their lengths and meet at the widest angles.

    n bones at a joint take the directions of a simplex (180° for two, 120° for three, 109.5° for
    four); more than four stand evenly round the first, at the angle arccos(1/(n−1)) to its
    continuation.
    """
    children: list[list[int]] = [[] for _ in skeleton.nodes]
    for bone, (start, _) in enumerate(skeleton.bones):
        children[start].append(bone)
    nodes = np.zeros_like(skeleton.nodes)
    incoming = np.tile([0.0, 1.0, 0.0], (len(nodes), 1))
    for start in range(len(nodes)):  # joints stand in tree order, and tips come last
        outgoing = children[start]
        is_root = not (skeleton.bones[:, 1] == start).any()
        directions = _spread(incoming[start], len(outgoing), is_root)
        for bone, direction in zip(outgoing, directions, strict=True):
            end = skeleton.bones[bone, 1]
            nodes[end] = nodes[start] + skeleton.lengths[bone] * direction
            incoming[end] = direction
    return nodes


def _spread(
    axis: Float[NumpyArray, "3"], count: int, is_root: bool
) -> Float[NumpyArray, "count 3"]:
    """`count` directions away from a bone that came in along `axis`, and from each other."""
    if count == 0:
        return np.zeros((0, 3))
    if is_root:  # the first bone takes the place of the incoming one
        return np.concatenate([-axis[None], _spread(axis, count - 1, False)])
    helper = np.eye(3)[np.argmin(np.abs(axis))]
    first = np.cross(axis, helper)
    first /= np.linalg.norm(first)
    second = np.cross(axis, first)
    around = 2.0 * np.pi * np.arange(count)[:, None] / count
    cosine = 1.0 / count
    sine = np.sqrt(1.0 - cosine**2)
    return cosine * axis + sine * (np.cos(around) * first + np.sin(around) * second)


def _joined_bones(
    bones: Int[NumpyArray, "b 2"],
) -> tuple[Int[NumpyArray, "b_plus_1"], Int[NumpyArray, "m"]]:
    """For every bone itself and the bones that share a node with it, as compressed rows."""
    lists = [np.flatnonzero(np.isin(bones, ends).any(axis=1)) for ends in bones]
    starts = np.concatenate([[0], np.cumsum([len(row) for row in lists])])
    return starts.astype(np.int64), np.concatenate(lists).astype(np.int64)
