"""Prisms into tetrahedra: conforming, complete, and honest about thin elements."""

import numpy as np
from solids import icosphere

from corporeal.physics.volumetric_mesh.prisms import (
    degenerate_elements,
    signed_volumes,
    smallest_altitudes,
    split_prisms,
)


def shuffled_sphere() -> tuple[np.ndarray, np.ndarray]:
    vertices, triangles = icosphere(2)
    order = np.random.default_rng(3).permutation(len(vertices))
    place = np.argsort(order)
    return vertices[order], place[triangles]


def test_every_lateral_quad_is_split_by_one_diagonal():
    """Over each skin edge one of the two diagonals is an edge of the tetrahedra, never both."""
    vertices, triangles = shuffled_sphere()
    count = len(vertices)
    tetrahedra, owners = split_prisms(triangles, count)
    assert len(tetrahedra) == 3 * len(triangles)
    np.testing.assert_array_equal(np.bincount(owners), 3)
    pairs = np.concatenate(
        [tetrahedra[:, [i, j]] for i, j in ((0, 1), (0, 2), (0, 3), (1, 2), (1, 3), (2, 3))]
    )
    used = {(min(a, b), max(a, b)) for a, b in pairs.tolist()}
    edges = {
        (min(a, b), max(a, b))
        for t in triangles.tolist()
        for a, b in zip(t, t[1:] + t[:1], strict=True)
    }
    for a, b in edges:
        assert ((a, b + count) in used) != ((b, a + count) in used)


def test_inner_faces_are_shared_by_two_and_the_rest_is_skin_or_inner():
    """A conforming mesh: a face belongs to two tetrahedra, or lies on one of the two surfaces."""
    vertices, triangles = shuffled_sphere()
    tetrahedra, _ = split_prisms(triangles, len(vertices))
    faces = np.concatenate([np.delete(tetrahedra, k, axis=1) for k in range(4)])
    unique, count = np.unique(np.sort(faces, axis=1), axis=0, return_counts=True)
    assert count.max() == 2
    outer = unique[count == 1]
    assert len(outer) == 2 * len(triangles)
    inside = outer >= len(vertices)
    assert (inside.all(axis=1) | ~inside.any(axis=1)).all()


def test_no_triangle_is_cyclic():
    """A cyclic prism has no vertex that all its diagonals avoid; each triangle must have one."""
    vertices, triangles = shuffled_sphere()
    tetrahedra, owners = split_prisms(triangles, len(vertices))
    for face in range(len(triangles)):
        inner = (tetrahedra[owners == face] >= len(vertices)).sum(axis=1)
        assert sorted(inner.tolist()) == [1, 2, 3]


def test_three_volumes_add_up_to_a_straight_prism():
    """Base ½, height h, for all six orders of the corners: each third is h/6."""
    base = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1]):
        for labels in ([0, 1, 2], [0, 2, 1], [1, 0, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
            skin = np.empty((3, 3))
            skin[labels] = base  # vertex numbers in any order, the triangle still faces up
            points = np.concatenate([skin, skin - [0.0, 0.0, 0.7]])
            tetrahedra, _ = split_prisms(np.array([labels])[:, order], 3)
            np.testing.assert_allclose(signed_volumes(points, tetrahedra), 0.7 / 6, rtol=1e-14)


def test_a_shell_of_a_sphere_is_filled():
    """Volume between a triangulated sphere and its half-size copy: 7/8 of the whole."""
    vertices, triangles = shuffled_sphere()
    points = np.concatenate([vertices, 0.5 * vertices])
    tetrahedra, _ = split_prisms(triangles, len(vertices))
    volumes = signed_volumes(points, tetrahedra)
    assert (volumes > 0).all()
    corners = vertices[triangles]
    whole = np.sum(np.cross(corners[:, 0], corners[:, 1]) * corners[:, 2]) / 6
    np.testing.assert_allclose(volumes.sum(), 7 / 8 * whole, rtol=1e-12)


def test_altitudes_of_a_corner():
    """On three unit axes the smallest altitude, 1/√3, stands on the slanted face."""
    points = np.concatenate([np.zeros((1, 3)), np.eye(3)])
    found = smallest_altitudes(points, np.array([[0, 1, 2, 3]]))
    np.testing.assert_allclose(found, 1 / np.sqrt(3), rtol=1e-15)


def test_flat_and_empty_elements_are_degenerate():
    triangle = np.array([[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]])
    triangles = np.array([[0, 1, 2]])
    tetrahedra, owners = split_prisms(triangles, 3)
    for depth, degenerate in ((1.0, False), (0.1, False), (1e-3, True), (0.0, True)):
        points = np.concatenate([triangle, triangle - [0, 0, depth]])
        found = degenerate_elements(points, tetrahedra, triangles, owners)
        assert (found == degenerate).all()
