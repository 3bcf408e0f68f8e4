"""Tetrahedra chained into strips: every one once, whatever the mesh."""

import numpy as np
import pytest

from corporeal.physics.solver.cpu.strips import MISSING, chain_strips, strip_edges


def prism_row(count: int) -> np.ndarray:
    """`count` prisms side by side, three tetrahedra each, vertices 3k, 3k + 1, 3k + 2 a layer."""
    corners = np.arange(6) + 3 * np.arange(count)[:, None]
    return np.concatenate([corners[:, [[0, 1, 2, 5], [0, 1, 5, 4], [0, 4, 5, 3]]]]).reshape(-1, 4)


@pytest.mark.parametrize("seed", range(4))
def test_every_tetrahedron_is_in_one_strip(seed: int) -> None:
    """Four corners in a row have the vertices of their member; shuffled, torn and alone as well,
    with three tetrahedra on one face, and with some that are there twice."""
    random = np.random.default_rng(seed)
    mesh = np.concatenate([prism_row(20), [[0, 1, 2, 99], [0, 1, 2, 98], [200, 201, 202, 203]]])
    mesh = np.concatenate([mesh, mesh[random.integers(0, len(mesh), 10)]])
    mesh = random.permuted(random.permutation(mesh)[: 40 + 10 * seed], axis=1)
    strips = chain_strips(mesh)
    members = strips.members[strips.members != MISSING]
    assert sorted(members) == list(range(len(mesh)))
    for k in range(3):
        here = strips.members[:, k] != MISSING
        along = strips.corners[here, k : k + 4]
        assert (np.sort(along) == np.sort(mesh[strips.members[here, k]])).all()


def test_prisms_stay_together() -> None:
    """Three tetrahedra a strip where the mesh is made of prisms."""
    strips = chain_strips(prism_row(30))
    assert len(strips.members) == 30


def test_gradients_along_a_strip() -> None:
    """G E = G' D for the edges E from the first corner and D from corner to corner."""
    random = np.random.default_rng(0)
    points, tetrahedra = random.normal(size=(8, 3)), np.array([[5, 2, 7, 0], [1, 4, 6, 3]])
    inverse = random.normal(size=(2, 3, 3))
    corners = tetrahedra[:, [2, 0, 3, 1]]
    fan = points[tetrahedra[:, 1:]] - points[tetrahedra[:, :1]]
    chain = np.diff(points[corners], axis=1)
    along = strip_edges(tetrahedra, inverse, corners)
    np.testing.assert_allclose(along @ chain, inverse @ fan, atol=1e-12)
