"""Folds: patches of skin that touch each other, told apart by what connects them.

Vertices that touch are of one fold if a way over edges of the skin between such vertices, or a pair
that touches, leads from one to the other.
"""

import numpy as np
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components

from corporeal._typing import Bool, Int, NumpyArray


class Folds:
    """Folds of one skin."""

    def __init__(self, adjacency: csr_array) -> None:
        """`adjacency` of the skin's vertices, V × V, above 0 where an edge is."""
        edges = coo_array(adjacency)
        self._edges = np.stack([edges.row, edges.col]).astype(np.int64)
        self._count = int(adjacency.shape[0])  # pyright: ignore[reportOptionalSubscript]

    def of(
        self, touching: Int[NumpyArray, "m 4"], chosen: Int[NumpyArray, "k"]
    ) -> Bool[NumpyArray, "V"]:
        """Vertices of the folds that the `chosen` vertices are of, one edge around them included.

        `touching` are the vertices of pairs that touch: one, and the corners of its triangle."""
        touches = np.zeros(self._count, bool)
        touches[touching] = True
        touches[chosen] = True
        start, end = self._edges[:, touches[self._edges].all(axis=0)]
        links = np.concatenate([np.repeat(touching[:, 0], 3), start])
        others = np.concatenate([touching[:, 1:].ravel(), end])
        graph = coo_array((np.ones(len(links), np.int8), (links, others)), (self._count,) * 2)
        _, labels = connected_components(graph, directed=False)
        found = touches & np.isin(labels, labels[chosen])
        found[self._edges[1, found[self._edges[0]]]] = True
        return found
