"""Edges, normals and areas of surfaces whose closed forms are known."""

import numpy as np
import pytest
from solids import box, icosphere

from corporeal.geometry.surface import (
    edge_triangles,
    surface_area,
    triangle_area_vectors,
    triangle_areas,
    unique_edges,
    vertex_adjacency,
    vertex_normals,
)


def test_euler_characteristic_of_a_sphere():
    """V − E + F = 2 for every closed surface of genus 0."""
    vertices, triangles = icosphere(2)
    assert len(vertices) - len(unique_edges(triangles)) + len(triangles) == 2


def test_every_edge_of_a_closed_surface_has_two_triangles_that_hold_it():
    _, triangles = icosphere(1)
    edges, pairs = edge_triangles(triangles)
    assert np.array_equal(edges, unique_edges(triangles))
    for edge, pair in zip(edges, pairs, strict=True):
        assert pair[0] != pair[1]
        assert all(set(edge) <= set(triangles[t]) for t in pair)


def test_a_border_edge_has_one_triangle():
    edges, pairs = edge_triangles(np.array([[0, 1, 2]]))
    assert edges.tolist() == [[0, 1], [0, 2], [1, 2]]
    assert pairs.tolist() == [[0, -1]] * 3


def test_adjacency_is_symmetric_and_counts_every_edge_twice():
    vertices, triangles = icosphere(2)
    adjacency = vertex_adjacency(triangles, len(vertices))
    assert (adjacency != adjacency.T).nnz == 0
    assert adjacency.nnz == 2 * len(unique_edges(triangles))


def test_box_area_and_its_sum_over_triangles():
    """A box has area 2(ab + bc + ca)."""
    vertices, triangles = box(0.3, 0.5, 0.7)
    expected = 2 * (0.3 * 0.5 + 0.5 * 0.7 + 0.7 * 0.3)
    assert surface_area(vertices, triangles) == pytest.approx(expected, rel=1e-14)
    assert triangle_areas(vertices, triangles).sum() == pytest.approx(expected, rel=1e-14)


def test_area_vectors_of_a_closed_surface_cancel():
    vertices, triangles = icosphere(2)
    assert np.abs(triangle_area_vectors(vertices, triangles).sum(axis=0)).max() < 1e-13


def test_sphere_normals_point_along_the_radius():
    """On the icosphere of one subdivision level the normal deviates by less than its edge angle."""
    vertices, triangles = icosphere(3)
    normals = vertex_normals(vertices, triangles)
    assert (normals * vertices).sum(axis=1).min() > np.cos(0.02)


def test_a_batch_gives_what_its_members_give():
    vertices, triangles = icosphere(1)
    batch = np.stack([vertices, 2 * vertices])
    assert np.allclose(vertex_normals(batch, triangles)[1], vertex_normals(vertices, triangles))
    areas = surface_area(batch, triangles)
    assert areas[1] == pytest.approx(4 * areas[0])


def test_an_unused_vertex_has_no_normal():
    vertices, triangles = box(1, 1, 1)
    stray = np.concatenate([vertices, [[9.0, 9.0, 9.0]]])
    assert np.array_equal(vertex_normals(stray, triangles)[-1], np.zeros(3))
