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

    def barred(
        self,
        touching: Int[NumpyArray, "m 4"],
        deep: Int[NumpyArray, "k"],
        asleep: Bool[NumpyArray, "b"],
        edged: Int[NumpyArray, "n"],
    ) -> Bool[NumpyArray, "V"]:
        """Vertices of the folds that may have no rows of edges, one edge around them included:
        those with a `deep` vertex, and those most of whose rows are asleep, but not one of whose
        vertices is `edged` (of a row of edges). So a fold at rest may lose such rows, not win them.

        `touching` are the vertices of pairs that touch: one, and the corners of its triangle;
        those of the rows of before, which may be `asleep`, come first."""
        labels = self.labels(touching, deep)
        of_rows = labels[touching[: len(asleep), 0]]
        # the last place is that of vertices of no fold, −1
        sleeping = np.bincount(of_rows, asleep, self._count + 1)
        barred = sleeping > 0.5 * np.bincount(of_rows, minlength=self._count + 1)
        barred[labels[edged]] = False
        barred[labels[deep]] = True
        barred[-1] = False
        return self._around(barred[labels])

    def labels(
        self, touching: Int[NumpyArray, "m 4"], chosen: Int[NumpyArray, "k"]
    ) -> Int[NumpyArray, "V"]:
        """Which fold every vertex is of, −1 for none; each of the `chosen` is of one, too."""
        touches = np.zeros(self._count, bool)
        touches[touching] = True
        touches[chosen] = True
        start, end = self._edges[:, touches[self._edges].all(axis=0)]
        links = np.concatenate([np.repeat(touching[:, 0], 3), start])
        others = np.concatenate([touching[:, 1:].ravel(), end])
        graph = coo_array((np.ones(len(links), np.int8), (links, others)), (self._count,) * 2)
        _, labels = connected_components(graph, directed=False)
        return np.where(touches, labels, -1).astype(np.int64)

    def _around(self, found: Bool[NumpyArray, "V"]) -> Bool[NumpyArray, "V"]:
        """Some vertices, and those one edge around them."""
        grown = found.copy()
        grown[self._edges[1, found[self._edges[0]]]] = True
        return grown
