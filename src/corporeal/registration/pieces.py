"""Pieces of a cloud: points that can be reached from each other in short steps."""

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray


def piece_labels(points: Float64[NumpyArray, "n 3"], link: float) -> Int[NumpyArray, "n"]:
    """Number of the piece of every point; neighbours within `link` are in one piece."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components
    from scipy.spatial import KDTree

    count = len(points)
    distances, near = KDTree(points).query(points, min(12, count), distance_upper_bound=link)
    rows = np.repeat(np.arange(count), min(12, count))
    columns, kept = np.asarray(near).reshape(-1), np.isfinite(distances).reshape(-1)
    ones = np.ones(int(kept.sum()), np.int8)
    graph = coo_array((ones, (rows[kept], columns[kept])), shape=(count, count))
    return connected_components(graph, directed=False)[1].astype(np.int64)
