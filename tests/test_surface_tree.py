"""Distance and winding number against closed forms and brute force."""

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.geometry.surface_tree import SurfaceTree


def cube(side: float = 1.0):
    """A closed cube centred at the origin: 8 vertices, 12 triangles."""
    corners = np.array([[x, y, z] for x in (-1, 1) for y in (-1, 1) for z in (-1, 1)], float)
    quads = np.array(
        [[0, 1, 3, 2], [4, 6, 7, 5], [0, 4, 5, 1], [2, 3, 7, 6], [0, 2, 6, 4], [1, 5, 7, 3]]
    )
    return corners * side / 2, quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)


def test_distance_to_a_cube_is_its_closed_form():
    """Signed distance of a cube of half side h: |max(q, 0)| + min(max q, 0) with q = |x| − h."""
    points = np.random.default_rng(1).uniform(-1.2, 1.2, (4000, 3))
    q = np.abs(points) - 0.5
    expected = np.linalg.norm(np.maximum(q, 0), axis=1) + np.minimum(q.max(axis=1), 0)
    np.testing.assert_allclose(SurfaceTree(*cube()).signed_distance(points), expected, atol=1e-12)


def test_winding_of_nested_cubes_counts_them():
    outer, faces = cube(2.0)
    inner, _ = cube(1.0)
    tree = SurfaceTree(np.concatenate([outer, inner]), np.concatenate([faces, faces + 8]))
    points = np.array([[0.0, 0.1, 0.2], [0.7, 0.0, 0.1], [3.0, 0.0, 0.0]])
    np.testing.assert_allclose(tree.winding(points), [2.0, 1.0, 0.0], atol=0.02)


@pytest.fixture(scope="module")
def body():
    mesh = load_default_body().template.mesh
    return np.asarray(mesh.vertices, float), mesh.triangles


def test_dipoles_stay_within_their_stated_error_on_the_body(body):
    """Against the sum of all solid angles, by the same formula with no far boxes."""
    from corporeal.geometry.surface_tree_cpu import winding_numbers

    tree = SurfaceTree(*body)
    points = np.random.default_rng(2).uniform(body[0].min(0), body[0].max(0), (200, 3))
    exact = np.empty(200)
    winding_numbers(points, tree._corners, tree._nodes, tree._moments, 1e9, 0, 200, exact)
    assert np.abs(exact - exact.round()).max() < 1e-9
    assert np.abs(tree.winding(points) - exact).max() < 0.1


def test_closest_triangle_holds_the_closest_point(body):
    tree = SurfaceTree(*body)
    points = np.random.default_rng(3).uniform(body[0].min(0), body[0].max(0), (50, 3))
    found, triangle = tree.closest(points)
    corners = body[0][body[1]]
    for point, place, face in zip(points, found, triangle, strict=True):
        a, b, c = corners[face]
        shares = np.linalg.lstsq(np.stack([b - a, c - a], 1), place - a, rcond=None)[0]
        np.testing.assert_allclose(a + shares @ np.stack([b - a, c - a]), place, atol=1e-9)
        assert shares.min() > -1e-9
        assert shares.sum() < 1 + 1e-9
        nearest = np.linalg.norm(body[0] - point, axis=1).min()
        assert np.linalg.norm(place - point) <= nearest + 1e-12
