"""Folds: patches of skin that touch, told apart by what connects them."""

import numpy as np
from scipy.sparse import csr_array

from corporeal.geometry.surface import vertex_adjacency
from corporeal.physics.contact.folds import Folds


def strip(count: int) -> np.ndarray:
    """Triangles of a strip of `count` vertices: i, i + 1, i + 2."""
    first = np.arange(count - 2)
    return np.stack([first, first + 1, first + 2], axis=1)


TOUCHING = np.array([[2, 10, 11, 12], [20, 26, 27, 28]])
"""On a strip of 30 vertices, 2 touches the triangle 10, 11, 12 and 20 touches 26, 27, 28."""
FIRST = [0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14]
"""One of the two folds: both its sides, and one edge (two vertices) around."""
NONE = np.zeros(0, np.int64)
AWAKE, ASLEEP = np.zeros(2, bool), np.ones(2, bool)


def barred(deep: list[int], asleep: np.ndarray, edged: list[int]) -> np.ndarray:
    folds = Folds(csr_array(vertex_adjacency(strip(30), 30)))
    found = folds.barred(TOUCHING, np.array(deep, np.int64), asleep, np.array(edged, np.int64))
    return np.flatnonzero(found)


def test_a_fold_is_what_edges_and_pairs_connect() -> None:
    """Two pairs far from each other on a strip are of two folds, what touches nothing of none, and
    a chosen vertex that touches nothing of its own."""
    folds = Folds(csr_array(vertex_adjacency(strip(30), 30)))
    labels = folds.labels(TOUCHING, np.array([17]))
    assert len(set(labels[[2, 10, 11, 12]])) == len(set(labels[[20, 26, 27, 28]])) == 1
    assert len({labels[2], labels[20], labels[17]}) == 3
    assert min(labels[2], labels[20], labels[17]) >= 0
    others = np.setdiff1d(np.arange(30), [*TOUCHING.ravel(), 17])
    assert (labels[others] == -1).all()


def test_a_fold_with_a_deep_vertex_has_no_rows_of_edges() -> None:
    """Whichever of its vertices is deep, whether it has such rows or not, awake or asleep; the
    other fold may have some."""
    for deep, edged, asleep in (([2], [], AWAKE), ([11], [10], AWAKE), ([2], [12, 20], ASLEEP)):
        np.testing.assert_array_equal(barred(deep, asleep, edged), FIRST)


def test_a_fold_that_sleeps_does_not_win_rows_of_edges() -> None:
    """Awake it may; asleep it keeps those that it has; one that is new, whose pairs are no rows
    yet, may."""
    assert len(barred([], AWAKE, [])) == 0
    np.testing.assert_array_equal(barred([], ASLEEP, [27]), FIRST)
    assert len(barred([], ASLEEP, [11, 27])) == 0
    np.testing.assert_array_equal(barred([], np.array([True]), []), FIRST)
    assert len(barred([], np.zeros(0, bool), [])) == 0


def test_nothing_touches_nothing() -> None:
    """No pair, no fold, whatever the last vertex is."""
    folds = Folds(csr_array(vertex_adjacency(strip(30), 30)))
    found = folds.barred(np.zeros((0, 4), np.int64), NONE, np.zeros(0, bool), np.array([29]))
    assert not found.any()
