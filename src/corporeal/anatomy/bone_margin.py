"""Detailed bones held beneath the skin by a margin.

A warp carries bones as the bone surface moves, and an affine map holds their shape; neither knows
the skin. What comes too near to it is moved inwards along the shortest way, its neighbours on the
bone with it, until every vertex is `MARGIN` deep. Skull and jaw are left as they are: the skin
lines mouth, nose and eye sockets, and they stand in those.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import block_diag, csr_array

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.assets.anatomy import BoneMesh
from corporeal.geometry.surface import vertex_adjacency
from corporeal.geometry.surface_tree import SurfaceTree

MARGIN = 0.002
"""Least depth of bone, metres: skin and its bed."""
HEAD = ("hat_skull", "hat_jaw")
"""Bones that stand in cavities which the skin lines."""
NEAR = 0.04
"""Bone farther than this from any skin is inside, metres."""
ROUNDS, DRAWN = 30, 0.7
"""Most rounds, and how much of its neighbours' way a vertex goes along."""
SPREADING = 3
"""Edges over which neighbours go along."""


def held_inside(
    bones: Sequence[BoneMesh],
    skin: Float64[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
) -> tuple[BoneMesh, ...]:
    """The bones, all but the `HEAD`'s `MARGIN` beneath `skin` (metres)."""
    tree = SurfaceTree(skin, triangles)
    points = np.concatenate([bone.vertices for bone in bones])
    joined = csr_array(
        block_diag(
            [vertex_adjacency(bone.triangles, len(bone.vertices)) for bone in bones], format="csr"
        )
    ).astype(np.float64)
    degree = np.maximum(joined.sum(axis=1), 1.0)
    below = [np.full(len(bone.vertices), bone.name not in HEAD) for bone in bones]
    watched = np.flatnonzero(np.concatenate(below))
    for _ in range(ROUNDS):
        way = np.zeros_like(points)
        way[watched] = ways_inside(points[watched], tree)
        short = np.linalg.norm(way, axis=1) > 0
        if not short.any():
            break
        drawn = way
        for _ in range(SPREADING):
            drawn = np.where(short[:, None], way, DRAWN * (joined @ drawn) / degree[:, None])
        points = points + drawn
        watched = np.flatnonzero(np.linalg.norm(drawn, axis=1) > 0)
    ends = np.cumsum([len(bone.vertices) for bone in bones])[:-1]
    return tuple(
        BoneMesh(bone.name, vertices, bone.triangles)
        for bone, vertices in zip(bones, np.split(points, ends), strict=True)
    )


def ways_inside(
    points: Float64[NumpyArray, "n 3"], tree: SurfaceTree
) -> Float64[NumpyArray, "n 3"]:
    """The shortest way of every point to `MARGIN` beneath the skin, and a tenth more; 0 for those
    that are there."""
    place, triangle = tree.closest(points)
    away = points - place
    distance = np.linalg.norm(away, axis=1)
    inside = np.ones(len(points), bool)
    near = np.flatnonzero(distance < NEAR)
    inside[near] = tree.winding(points[near]) > 0.5
    depth = np.where(inside, distance, -distance)
    wrong = np.flatnonzero(depth < MARGIN)
    inwards = -_normals(tree, triangle[wrong])
    clear = distance[wrong] > 1e-5
    sign = np.where(inside[wrong], 1.0, -1.0)[:, None]
    inwards[clear] = (sign * away[wrong] / np.maximum(distance[wrong], 1e-12)[:, None])[clear]
    way = np.zeros_like(points)
    way[wrong] = (1.1 * MARGIN - depth[wrong])[:, None] * inwards
    return way


def _normals(tree: SurfaceTree, chosen: Int[NumpyArray, "k"]) -> Float64[NumpyArray, "k 3"]:
    """Unit normals of triangles."""
    corner = tree.vertices[tree.triangles[chosen]]
    normals = np.cross(corner[:, 1] - corner[:, 0], corner[:, 2] - corner[:, 0])
    return normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-30)
