"""Connected parts of a surface, and seams that a file opened."""

import numpy as np

from corporeal._typing import Float, Int, NumpyArray


def connected_parts(triangles: Int[NumpyArray, "F 3"], vertex_count: int) -> Int[NumpyArray, "V"]:
    """Number of the connected part of every vertex, from 0 on; a vertex of no triangle is alone."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    corners = np.asarray(triangles)
    rows, columns = corners[:, [0, 1]].T.ravel(), corners[:, [1, 2]].T.ravel()
    ones = np.ones(len(rows), np.int8)
    graph = coo_array((ones, (rows, columns)), shape=(vertex_count, vertex_count))
    return connected_components(graph, directed=False)[1].astype(np.int64)


def closed_seams(
    vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Int[NumpyArray, "V"]:
    """The vertex that stands for every vertex once open seams are closed.

    Files split vertices where texture or normals break, and STL has three a triangle. Vertices on
    open edges that lie in the same place (as float32 numbers) are one; the first stands for all.
    """
    stand_in = np.arange(len(vertices))
    directed = np.asarray(triangles)[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    low, high = directed.min(axis=1), directed.max(axis=1)
    _, first, count = np.unique(
        low.astype(np.int64) * len(vertices) + high, return_index=True, return_counts=True
    )
    rim = np.unique(directed[first[count == 1]])
    if len(rim) == 0:
        return stand_in
    places = np.asarray(vertices, np.float32)[rim] + np.float32(0)  # −0 is 0
    _, chosen, group = np.unique(places, axis=0, return_index=True, return_inverse=True)
    stand_in[rim] = rim[chosen[group.reshape(-1)]]
    return stand_in
