"""Normals of clouds of points, all outwards.

The normal of a point is that of the plane through its neighbours. Neighbours should agree in sign:
a spanning tree of the neighbourhood graph that crosses sharp bends last carries one sign over every
connected part (Hoppe et al. 1992), and the part as a whole is turned such that it bulges outwards,
as bodies do: points lie beyond the middle of their surroundings.
"""

import numpy as np

from corporeal._typing import Float64, NumpyArray

_NEIGHBOURS = 14
_SURROUNDINGS = 60
"""Neighbours whose middle tells outwards from inwards."""


def outward_normals(
    points: Float64[NumpyArray, "n 3"], normals: Float64[NumpyArray, "n 3"] | None = None
) -> Float64[NumpyArray, "n 3"]:
    """Unit normals of points that lie on surfaces; `normals` that are known keep their relative
    signs within a connected part, and are turned as a whole."""
    from scipy.spatial import KDTree

    tree = KDTree(points)
    near = np.asarray(tree.query(points, min(_NEIGHBOURS, len(points)))[1]).reshape(len(points), -1)
    if normals is None:
        found = _plane_normals(points, near)
        found *= _tree_signs(points, found, near)[:, None]
        parts = _parts(near, len(points))
    else:
        found = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        parts = np.zeros(len(points), np.int64)
    wide = np.asarray(tree.query(points, min(_SURROUNDINGS, len(points)))[1])
    bulge = np.sum((points - points[wide].mean(axis=1)) * found, axis=1)
    votes = np.bincount(parts, np.sign(bulge))
    return found * np.where(votes < 0, -1.0, 1.0)[parts][:, None]


def _plane_normals(points: NumpyArray, near: NumpyArray) -> Float64[NumpyArray, "n 3"]:
    """The direction in which neighbours spread least."""
    around = points[near] - points[near].mean(axis=1, keepdims=True)
    return np.linalg.eigh(np.einsum("nka,nkb->nab", around, around))[1][:, :, 0]


def _graph(near: NumpyArray, count: int, lengths: NumpyArray):
    from scipy.sparse import csr_array

    rows = np.repeat(np.arange(count), near.shape[1] - 1)
    graph = csr_array((lengths, (rows, near[:, 1:].reshape(-1))), shape=(count, count))
    return graph.maximum(graph.T)


def _parts(near: NumpyArray, count: int) -> NumpyArray:
    from scipy.sparse.csgraph import connected_components

    ones = np.ones(count * (near.shape[1] - 1))
    return connected_components(_graph(near, count, ones), directed=False)[1].astype(np.int64)


def _tree_signs(points: NumpyArray, normals: NumpyArray, near: NumpyArray) -> NumpyArray:
    """±1 a point, such that neighbours on the spanning tree agree."""
    from scipy.sparse.csgraph import breadth_first_order, minimum_spanning_tree

    rows = np.repeat(np.arange(len(points)), near.shape[1] - 1)
    columns = near[:, 1:].reshape(-1)
    agreement = np.abs(np.sum(normals[rows] * normals[columns], axis=1))
    tree = minimum_spanning_tree(_graph(near, len(points), 1.0001 - np.minimum(agreement, 1.0)))
    tree = tree + tree.T
    signs, seen = np.ones(len(points)), np.zeros(len(points), bool)
    for root in range(len(points)):
        if seen[root]:
            continue
        order, before = breadth_first_order(tree, root, directed=False)
        seen[order] = True
        for node in order[1:]:
            above = before[node]
            agrees = normals[node] @ normals[above] * signs[above] >= 0
            signs[node] = 1.0 if agrees else -1.0
    return signs
