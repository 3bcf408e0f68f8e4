"""Folds: patches of skin that touch, told apart by what connects them."""

import numpy as np
from scipy.sparse import csr_array

from corporeal.geometry.surface import vertex_adjacency
from corporeal.physics.contact.folds import Folds


def strip(count: int) -> np.ndarray:
    """Triangles of a strip of `count` vertices: i, i + 1, i + 2."""
    first = np.arange(count - 2)
    return np.stack([first, first + 1, first + 2], axis=1)


def test_a_fold_is_what_edges_and_pairs_connect() -> None:
    """On a strip of 30 vertices, 2 touches the triangle 10, 11, 12 and 20 touches 26, 27, 28: two
    folds. That of vertex 2 is both its sides and one edge (two vertices) around, nothing of the
    other."""
    folds = Folds(csr_array(vertex_adjacency(strip(30), 30)))
    touching = np.array([[2, 10, 11, 12], [20, 26, 27, 28]])
    expected = np.zeros(30, bool)
    expected[[0, 1, 2, 3, 4, 8, 9, 10, 11, 12, 13, 14]] = True
    np.testing.assert_array_equal(folds.of(touching, np.array([2])), expected)
    np.testing.assert_array_equal(folds.of(touching, np.array([11])), expected)


def test_vertices_that_touch_nothing_are_their_own_fold() -> None:
    """A chosen vertex in no pair is found with its neighbours alone."""
    folds = Folds(csr_array(vertex_adjacency(strip(30), 30)))
    found = folds.of(np.array([[2, 10, 11, 12]]), np.array([20]))
    np.testing.assert_array_equal(np.flatnonzero(found), [18, 19, 20, 21, 22])
