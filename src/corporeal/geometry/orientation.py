"""Triangles that all look outwards, on a surface where some are turned over."""

import numpy as np

from corporeal._typing import Bool, Float, Int, NumpyArray


def turned_over(
    vertices: Float[NumpyArray, "V 3"], triangles: Int[NumpyArray, "F 3"]
) -> Bool[NumpyArray, "F"]:
    """Triangles to reverse so that neighbours agree and every connected part encloses a positive
    volume; none on parts that have one side only.

    Every triangle stands twice in a graph, as it is and reversed; neighbours that agree join like
    copies, others unlike ones. Its connected components are the ways to orient a part.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    count = len(triangles)
    first, second, agree = _neighbours(triangles)
    other = np.where(agree, second, second + count)
    rows = np.concatenate([first, first + count])
    columns = np.concatenate([other, (other + count) % (2 * count)])
    ones = np.ones(len(rows), np.int8)
    graph = coo_array((ones, (rows, columns)), shape=(2 * count, 2 * count))
    labels = connected_components(graph, directed=False)[1]
    as_is, reversed_ = labels[:count], labels[count:]
    way = np.minimum(as_is, reversed_)  # one of the two ways, for every part
    turned = (reversed_ == way) & (as_is != reversed_)
    oriented = np.where(turned[:, None], triangles[:, ::-1], triangles)
    one_sided = as_is == reversed_
    return (turned ^ (_volumes(vertices[oriented], way) < 0)) & ~one_sided


def _volumes(
    corners: Float[NumpyArray, "F 3 3"], parts: Int[NumpyArray, "F"]
) -> Float[NumpyArray, "F"]:
    """What the part of every triangle encloses, about the part's middle; signed, six times."""
    _, part = np.unique(parts, return_inverse=True)
    part = part.reshape(-1)
    count = np.bincount(part)
    middles = corners.mean(axis=1)
    centre = np.stack([np.bincount(part, middles[:, k]) / count for k in range(3)], axis=1)
    a, b, c = np.moveaxis(corners - centre[part][:, None], 1, 0)
    return np.bincount(part, np.sum(a * np.cross(b, c), axis=1))[part]


def _neighbours(
    triangles: Int[NumpyArray, "F 3"],
) -> tuple[Int[NumpyArray, "n"], Int[NumpyArray, "n"], Bool[NumpyArray, "n"]]:
    """Pairs of triangles at edges of two, and whether they go along it in opposite directions."""
    directed = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    owner = np.repeat(np.arange(len(triangles)), 3)
    upwards = directed[:, 0] < directed[:, 1]
    low, high = directed.min(axis=1), directed.max(axis=1)
    order = np.lexsort((high, low))
    same = (low[order][1:] == low[order][:-1]) & (high[order][1:] == high[order][:-1])
    starts = np.flatnonzero(same & ~np.r_[False, same[:-1]] & ~np.r_[same[1:], False])
    one, two = order[starts], order[starts + 1]
    return owner[one], owner[two], upwards[one] != upwards[two]
