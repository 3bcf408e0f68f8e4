"""Plane sections and tape lengths against closed forms, and the compiled path against them."""

import numpy as np
import pytest
from scipy.special import ellipe
from solids import box, circle, icosphere, star, tube

from corporeal.errors import InputError
from corporeal.geometry import section_cpu
from corporeal.geometry.section import (
    convex_hull,
    convex_tape_length,
    plane_axes,
    plane_section,
    polyline_length,
    section_loops,
)
from corporeal.geometry.surface import unique_edges

UP = np.array([0.0, 1.0, 0.0])


def tape_around(solid, origin, normal):
    segments = plane_section(*solid, np.asarray(origin), np.asarray(normal))
    return convex_tape_length(segments.reshape(-1, 3), np.asarray(normal))


def test_tape_around_a_cylinder():
    """A regular n-gon prism has girth 2 n r sin(π/n), which tends to 2πr."""
    n, radius = 96, 0.17
    length = tape_around(tube(circle(radius, n), 1.0), [0, 0.31, 0], UP)
    assert length == pytest.approx(2 * n * radius * np.sin(np.pi / n), rel=1e-12)
    assert length == pytest.approx(2 * np.pi * radius, rel=2e-4)


@pytest.mark.parametrize("height", [0.0, 0.3, -0.5])
def test_tape_around_an_ellipsoid(height):
    """The section at y = h of semi-axes (a, b, c) is an ellipse; its perimeter is 4 a E(e²)."""
    a, b, c = 0.20, 0.90, 0.12
    vertices, triangles = icosphere(5)
    shrink = np.sqrt(1 - (height / b) ** 2)
    exact = 4 * a * shrink * ellipe(1 - (c / a) ** 2)
    length = tape_around((vertices * [a, b, c], triangles), [0, height, 0], UP)
    # chords of an icosphere of edge ~0.035 lie inside by at most edge²/8 of the radius
    assert length == pytest.approx(exact, rel=1e-3)
    assert length < exact


def test_tape_around_a_sphere_along_a_slanted_plane():
    """Every plane at distance d from the centre of a unit sphere cuts a circle of √(1−d²)."""
    normal = np.array([1.0, 2.0, -2.0]) / 3
    length = tape_around(icosphere(5), 0.4 * normal, normal)
    assert length == pytest.approx(2 * np.pi * np.sqrt(1 - 0.16), rel=1e-3)


def test_tape_spans_the_hollows_of_a_star():
    """Section length of a star is 2·tips edges; its tape is the polygon of its tips."""
    tips, outer, inner = 7, 0.3, 0.1
    solid = tube(star(outer, inner, tips), 1.0)
    segments = plane_section(*solid, np.array([0, 0.5, 0]), UP)
    edge = np.sqrt(outer**2 + inner**2 - 2 * outer * inner * np.cos(np.pi / tips))
    assert np.linalg.norm(segments[:, 1] - segments[:, 0], axis=1).sum() == pytest.approx(
        2 * tips * edge
    )
    polygon = 2 * tips * outer * np.sin(np.pi / tips)
    assert convex_tape_length(segments.reshape(-1, 3), UP) == pytest.approx(polygon, rel=1e-12)


def test_tape_around_a_box():
    assert tape_around(box(0.4, 1.0, 0.2), [0, 0.1, 0], UP) == pytest.approx(1.2)


def test_two_legs_give_two_loops():
    left, right = tube(circle(0.1, 12), 1.0), tube(circle(0.1, 12) + np.array([0.5, 0]), 1.0)
    vertices = np.concatenate([left[0], right[0]])
    triangles = np.concatenate([left[1], right[1] + len(left[0])])
    loops = section_loops(plane_section(vertices, triangles, np.array([0, 0.4, 0]), UP))
    assert len(loops) == 2
    sides = 24 * 0.1 * np.sin(np.pi / 12)
    for loop in loops:
        closed = polyline_length(np.concatenate([loop, loop[:1]]))
        assert closed == pytest.approx(sides, rel=1e-12)


def test_a_plane_through_vertices_still_gives_a_closed_loop():
    """Ring 2 of 5 lies exactly in the plane."""
    vertices, triangles = tube(circle(0.1, 12), 1.0)
    loops = section_loops(plane_section(vertices, triangles, np.array([0, 0.5, 0]), UP))
    assert len(loops) == 1


def test_a_plane_that_misses_gives_nothing_and_no_tape():
    segments = plane_section(*box(1, 1, 1), np.array([0, 2.0, 0]), UP)
    assert segments.shape == (0, 2, 3)
    assert section_loops(segments) == []
    with pytest.raises(InputError, match="at least 3"):
        convex_tape_length(segments.reshape(-1, 3), UP)


def test_hull_of_a_square_with_points_inside_and_on_its_sides():
    square = np.array([[0, 0], [1, 0], [1, 1], [0, 1]], float)
    inside = np.random.default_rng(0).uniform(0.1, 0.9, (50, 2))
    sides = np.array([[0.5, 0.0], [1.0, 0.5], [0.0, 0.25]])
    hull = convex_hull(np.concatenate([inside, square, sides]))
    assert sorted(map(tuple, hull)) == sorted(map(tuple, square))
    corners = section_cpu.hull_corners(np.concatenate([inside, square, sides]))
    assert sorted(corners) == [50, 51, 52, 53]


def test_plane_axes_are_right_handed_and_orthonormal():
    normal = np.array([0.3, -2.0, 0.5])
    first, second = plane_axes(normal)
    assert np.allclose(np.cross(first, second), normal / np.linalg.norm(normal))
    assert first @ second == pytest.approx(0, abs=1e-15)


def slanted_cut():
    vertices, triangles = icosphere(3)
    vertices = vertices * [0.2, 0.9, 0.12]
    return vertices, triangles, np.array([0.01, 0.2, 0.0]), np.array([0.1, 2.0, -0.3])


def compiled_reading(vertices, edges, origin, normal, reading):
    found, share, where = section_cpu.crossings(vertices, edges, origin, normal)
    if reading == "tape":
        value, gradient = section_cpu.tape(where, *plane_axes(normal))
    else:
        value, gradient = section_cpu.extent(where, np.array([1.0, 0.0, 0.0]))
    return value, (found, share, gradient)


def test_the_compiled_tape_equals_the_reference():
    vertices, triangles, origin, normal = slanted_cut()
    value, _ = compiled_reading(vertices, unique_edges(triangles), origin, normal, "tape")
    assert value == pytest.approx(tape_around((vertices, triangles), origin, normal), rel=1e-12)


@pytest.mark.parametrize("reading", ["tape", "extent"])
def test_derivatives_by_vertices_and_plane_equal_central_differences(reading):
    """At step 1e-6 the difference errs by about 1e-9 of curvature and 1e-10 of rounding."""
    vertices, triangles, origin, normal = slanted_cut()
    edges = unique_edges(triangles)
    _, (found, share, gradient) = compiled_reading(vertices, edges, origin, normal, reading)
    index, value, by_origin, by_normal = section_cpu.pull_back(
        vertices, edges, origin, normal, found, share, gradient
    )
    rng = np.random.default_rng(3)
    step = 1e-6
    for _ in range(8):
        d_vertices = 0.1 * rng.standard_normal(vertices.shape)
        d_origin, d_normal = rng.standard_normal(3), rng.standard_normal(3)
        ends = [
            compiled_reading(
                vertices + h * d_vertices,
                edges,
                origin + h * d_origin,
                normal + h * d_normal,
                reading,
            )[0]
            for h in (step, -step)
        ]
        predicted = (value * d_vertices[index]).sum() + by_origin @ d_origin + by_normal @ d_normal
        assert predicted == pytest.approx((ends[0] - ends[1]) / (2 * step), abs=2e-6)
