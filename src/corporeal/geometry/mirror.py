"""Mirror images in the sagittal plane x = 0: of surfaces, and of trees of joints."""

import numpy as np

from corporeal._typing import Bool, Float, Float64, Int, NumpyArray
from corporeal.geometry.surface import edge_triangles

TOLERANCE = 1e-4
"""Metres that a vertex may be from the mirror image of another to be taken for it."""
JOINT_TOLERANCE = 1e-2
"""The same for joints, of which few are near each other."""
EXACT = 1e-6
"""Metres: below this, what differs from its mirror image is rounding (of float32 numbers)."""
REFLECTION: Float64[NumpyArray, "3"] = np.array([-1.0, 1.0, 1.0])
"""Factors that mirror a place."""


def mirror_map(
    vertices: Float[NumpyArray, "V 3"],
    triangles: Int[NumpyArray, "F 3"],
    tolerance: float = TOLERANCE,
) -> Int[NumpyArray, "V"] | None:
    """Index of every vertex's mirror image; None where a surface is not its own mirror image.

    Places agree within `tolerance` (metres), each vertex is the image of its image, and images of
    edges are edges; the two halves of a quad may be split along different diagonals.
    """
    from scipy.spatial import KDTree

    points = np.asarray(vertices, np.float64)
    if len(points) == 0:
        return None
    apart, image = KDTree(points).query(points * REFLECTION)
    image = np.asarray(image, np.int64)
    if apart.max() > tolerance or not np.array_equal(image[image], np.arange(len(points))):
        return None
    return image if _maps_edges(np.asarray(triangles, np.int64), image) else None


def sides(vertices: Float[NumpyArray, "V 3"], mirror: Int[NumpyArray, "V"]) -> Int[NumpyArray, "V"]:
    """1 for vertices on the side x > 0, −1 for their images, 0 for those that are their own."""
    x = np.asarray(vertices, np.float64)[:, 0]
    own = mirror == np.arange(len(mirror))
    ahead = (x > x[mirror]) | ((x == x[mirror]) & (np.arange(len(mirror)) < mirror))
    return np.where(own, 0, np.where(ahead, 1, -1))


def can_be_halved(triangles: Int[NumpyArray, "F 3"], side: Int[NumpyArray, "V"]) -> bool:
    """Whether the plane runs along edges: every triangle is on one side, and as many on each."""
    corner = side[np.asarray(triangles)]
    left, right = (corner > 0).any(axis=1), (corner < 0).any(axis=1)
    return bool((left != right).all() and left.sum() == right.sum())


def mirrored_triangles(
    triangles: Int[NumpyArray, "F 3"],
    mirror: Int[NumpyArray, "V"],
    side: Int[NumpyArray, "V"],
) -> Int[NumpyArray, "F 3"]:
    """The triangles on the side x > 0 and their mirror images: quads that were split along
    different diagonals are alike then. As they came where the surface cannot be halved."""
    triangles = np.asarray(triangles)
    if not can_be_halved(triangles, side):
        return triangles
    half = triangles[(side[triangles] > 0).any(axis=1)]
    return np.concatenate([half, mirror[half][:, ::-1]])


def mirror_joints(
    joints: Float[NumpyArray, "J 3"],
    parents: Int[NumpyArray, "J"],
    tolerance: float = JOINT_TOLERANCE,
) -> Int[NumpyArray, "J"] | None:
    """Index of every joint's mirror image: the nearest child of its parent's image; None where one
    is further than `tolerance` (metres) away. Parents (−1 for the root) come before children."""
    places = np.asarray(joints, np.float64)
    image = np.zeros(len(places), np.int64)
    for joint, parent in enumerate(parents):
        siblings = np.flatnonzero(parents == (image[parent] if parent >= 0 else -1))
        if len(siblings) == 0:
            return None
        apart = np.linalg.norm(places[siblings] - places[joint] * REFLECTION, axis=1)
        if apart.min() > tolerance:
            return None
        image[joint] = siblings[apart.argmin()]
    return image if np.array_equal(image[image], np.arange(len(image))) else None


def _maps_edges(triangles: Int[NumpyArray, "F 3"], image: Int[NumpyArray, "V"]) -> bool:
    """Whether the image of every edge is an edge, or the other diagonal of the quad there."""
    edges, beside = edge_triangles(triangles)
    lost = ~_are_edges(edges, image[edges])
    if (beside[lost] < 0).any():
        return False
    # the corner of either triangle that is not on the edge
    across = triangles[beside[lost]].sum(axis=2) - edges[lost].sum(axis=1, keepdims=True)
    return bool(_are_edges(edges, image[across]).all())


def _are_edges(
    edges: Int[NumpyArray, "E 2"], pairs: Int[NumpyArray, "n 2"]
) -> Bool[NumpyArray, "n"]:
    """Which pairs of vertices are among the edges."""
    count = int(max(edges.max(initial=0), pairs.max(initial=0))) + 1
    known = edges.min(axis=1).astype(np.int64) * count + edges.max(axis=1)
    return np.isin(pairs.min(axis=1).astype(np.int64) * count + pairs.max(axis=1), known)
