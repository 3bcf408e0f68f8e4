"""Moving-least-squares upsampling."""

from functools import cache

import numpy as np
import pytest
from solids import icosphere

from corporeal.assets.default_body import load_default_body
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.geometry.geodesics_cpu import geodesic_neighbours
from corporeal.geometry.moving_least_squares import kernel_weights, moving_least_squares
from corporeal.geometry.surface import vertex_normals
from corporeal.physics.upsampling.upsampling import Upsampler, build_upsampler
from corporeal.physics.volumetric_mesh.simulation_mesh import (
    SimulationMesh,
    decimate,
    simulation_mesh,
)


@cache
def sphere() -> tuple[Mesh, SimulationMesh, Upsampler]:
    """An egg of 2 562 vertices and its simulation mesh of 600."""
    vertices, triangles = icosphere(4)
    mesh = Mesh(vertices * [1.0, 1.5, 0.8], triangles)
    coarse = decimate(mesh, np.zeros(len(vertices), int), np.array([600]))
    return mesh, coarse, build_upsampler(mesh, coarse)


@cache
def body() -> tuple[Mesh, SimulationMesh, Upsampler]:
    template = load_default_body().template
    coarse = simulation_mesh(template)
    return template.mesh, coarse, build_upsampler(template.mesh, coarse)


@pytest.mark.parametrize("case", [sphere, body])
def test_weights_sum_to_one_and_reproduce_the_rest_shape(case):
    """Partition of unity and linear reproduction: any affine map comes through exactly."""
    mesh, coarse, upsampler = case()
    fine = np.asarray(mesh.vertices, float)
    np.testing.assert_allclose(upsampler.weights.sum(axis=1), 1.0, atol=1e-9)
    np.testing.assert_allclose(upsampler.normal_weights.sum(axis=1), 1.0, atol=1e-9)
    assert (upsampler.degrees >= 1).all()
    affine = np.array([[1.0, 0.3, -0.2], [0.1, 0.7, 0.5], [-0.4, 0.2, 1.2]])
    moved = fine @ affine.T + [1.0, -2.0, 0.5]
    found = upsampler.upsample(moved[coarse.vertex_indices])
    np.testing.assert_allclose(found, moved, atol=2e-9)


def test_quadratic_bending_is_reproduced():
    """Rows of degree 2 give back x ↦ (x + y², y − xz, z + x²) exactly."""
    mesh, coarse, upsampler = sphere()
    x, y, z = np.asarray(mesh.vertices, float).T
    bent = np.stack([x + y * y, y - x * z, z + x * x], axis=1)
    found = upsampler.upsample(bent[coarse.vertex_indices])
    quadratic = upsampler.degrees == 2
    assert quadratic.mean() > 0.95
    # an egg is a quadric: K is singular everywhere, and the pseudo-inverse must still do it
    np.testing.assert_allclose(found[quadratic], bent[quadratic], atol=1e-5)


def test_weights_do_not_amplify():
    for case in (sphere, body):
        assert np.abs(case()[2].weights).sum(axis=1).max() <= 4.0


def test_a_batch_is_every_frame_alone_and_keeps_its_precision():
    mesh, coarse, upsampler = sphere()
    frames = np.random.default_rng(0).normal(size=(2, 3, coarse.vertex_count, 3))
    fine = upsampler.upsample(frames.astype(np.float32))
    assert fine.shape == (2, 3, mesh.vertex_count, 3)
    assert fine.dtype == np.float32
    np.testing.assert_allclose(fine[1, 2], upsampler.upsample(frames[1, 2]), atol=1e-5)


def test_normals_at_rest_are_the_skins():
    """Linear reproduction in the normals: all of the egg's, and the body's but for its cavities."""
    mesh, coarse, upsampler = sphere()
    fine = np.asarray(mesh.vertices, float)
    normals = vertex_normals(fine[coarse.vertex_indices], coarse.triangles)
    found = upsampler.upsample_normals(normals)
    np.testing.assert_allclose(np.linalg.norm(found, axis=1), 1.0, atol=1e-12)
    cosine = np.sum(found * vertex_normals(fine, mesh.triangles), axis=1)
    assert cosine.min() > 0.99


def test_points_on_a_plane_and_on_a_line_and_in_one_place():
    """Where K is singular the pseudo-inverse is enough on the plane, and lower degrees off it."""
    generator = np.random.default_rng(5)
    flat = generator.random((1, 20, 3)) * [1.0, 1.0, 0.0]
    kernel = np.ones((1, 20))
    weights, degree = moving_least_squares(flat, np.array([[0.4, 0.5, 0.0]]), kernel, 2)
    assert degree[0] == 2
    np.testing.assert_allclose(weights[0] @ flat[0] ** 2, [0.16, 0.25, 0.0], atol=1e-9)
    weights, degree = moving_least_squares(flat, np.array([[0.4, 0.5, 0.3]]), kernel, 2)
    assert degree[0] == 0
    np.testing.assert_allclose(weights, 1 / 20, atol=1e-12)
    point = np.ones((1, 20, 3))
    weights, _ = moving_least_squares(point, np.ones((1, 3)), kernel, 2)
    np.testing.assert_allclose(weights.sum(), 1.0, atol=1e-12)


def test_too_few_points_for_a_quadric_are_fitted_without_one():
    """Four corners do not determine quadratics; x is reproduced all the same."""
    corners = np.concatenate([np.zeros((1, 3)), np.eye(3)])[None]
    at = np.array([[0.2, 0.3, 0.1]])
    weights, degree = moving_least_squares(corners, at, np.ones((1, 4)), 2)
    assert degree[0] >= 1
    np.testing.assert_allclose(weights[0], [0.4, 0.2, 0.3, 0.1], atol=1e-9)


def test_the_kernel_is_a_cube_that_ends_at_the_radius():
    found = kernel_weights(np.array([[0.0, 1.0, 2.0, 3.0, np.inf]]), np.array([2.0]))
    np.testing.assert_allclose(found, [[1.0, 0.125, 0.0, 0.0, 0.0]], atol=1e-15)


def test_geodesics_over_a_flat_grid_are_straight():
    """Fast marching is exact on planes for every direction that does not run along edges only."""
    side = np.linspace(0, 1, 21)
    x, y = np.meshgrid(side, side, indexing="ij")
    points = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange(441).reshape(21, 21)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    sources = np.array([0, 220, 440])
    near, distances, radii = geodesic_neighbours(points, triangles, sources, 2)
    straight = np.linalg.norm(points[:, None] - points[sources], axis=2)
    expected = np.sort(straight, axis=1)
    np.testing.assert_allclose(distances, expected[:, :2], rtol=0.02, atol=1e-12)
    np.testing.assert_allclose(radii, expected[:, 2], rtol=0.02)
    picked = np.take_along_axis(straight, np.searchsorted(sources, near), axis=1)
    np.testing.assert_allclose(picked, expected[:, :2], rtol=0.02, atol=1e-12)


def test_geodesics_go_round_and_not_across():
    """On a unit sphere the far pole is π away along the surface, 2 m straight through."""
    vertices, triangles = icosphere(4)
    _, distances, _ = geodesic_neighbours(vertices, triangles, np.array([0]), 1)
    angle = np.arccos(np.clip(vertices @ vertices[0], -1, 1))
    np.testing.assert_allclose(distances[:, 0], angle, rtol=0.02, atol=1e-7)


def test_a_part_without_simulated_vertices_is_refused():
    vertices, triangles = icosphere(1)
    two = Mesh(
        np.concatenate([vertices, vertices + 5]),
        np.concatenate([triangles, triangles + len(vertices)]),
    )
    coarse = SimulationMesh(np.arange(len(vertices)), triangles)
    with pytest.raises(InputError, match="42 of 84 vertices are joined to no simulated vertex"):
        build_upsampler(two, coarse)


def test_a_wrong_number_of_vertices_is_refused():
    _, _, upsampler = sphere()
    with pytest.raises(InputError, match="got 5 simulated vertices; expected 600"):
        upsampler.upsample(np.zeros((5, 3)))
