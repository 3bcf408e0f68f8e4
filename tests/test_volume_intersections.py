"""Lines against spheres, cylinders and cones (appendix A), and against a whole skeleton."""

import numpy as np

from corporeal.physics.volumetric_mesh.bones import VolumetricSkeleton
from corporeal.physics.volumetric_mesh.intersections import (
    NO_HIT,
    ON_BONE,
    ON_JOINT,
    line_cylinder,
    line_frustum,
    line_sphere,
    shrink_lines,
)

X, Y = np.array([[1.0, 0.0, 0.0]]), np.array([[0.0, 1.0, 0.0]])
ORIGIN, UP = np.zeros(3), np.array([0.0, 1.0, 0.0])


def test_a_line_enters_a_sphere_where_pythagoras_says():
    """At height h a unit sphere is √(1−h²) wide: λ = 3 − √(1−h²) from x = −3."""
    heights = np.array([0.0, 0.3, 0.8])
    origins = np.stack([np.full(3, -3.0), heights, np.zeros(3)], axis=1)
    found = line_sphere(origins, np.repeat(X, 3, 0), ORIGIN, 1.0)
    np.testing.assert_allclose(found, 3 - np.sqrt(1 - heights**2), rtol=1e-15)


def test_lines_that_miss_or_start_inside_do_not_enter():
    origins = np.array([[-3.0, 1.5, 0.0], [0.0, 0.0, 0.0], [3.0, 0.0, 0.0]])
    found = line_sphere(origins, np.repeat(X, 3, 0), ORIGIN, 1.0)
    assert np.isinf(found).all()


def test_a_line_enters_a_cylinder_between_its_ends_only():
    origins = np.array([[-3.0, 0.5, 0.6], [-3.0, -0.1, 0.0], [-3.0, 2.1, 0.0]])
    found = line_cylinder(origins, np.repeat(X, 3, 0), ORIGIN, 2 * UP, 1.0)
    np.testing.assert_allclose(found[0], 3 - 0.8, rtol=1e-15)
    assert np.isinf(found[1:]).all()


def test_a_line_along_the_axis_does_not_enter_the_side():
    assert np.isinf(line_cylinder(np.array([[0.0, -1.0, 0.0]]), Y, ORIGIN, UP, 1.0)).all()


def test_a_line_enters_a_cone_where_its_radius_is_reached():
    """Radius 1 − y/2 at height y: level at y = 1 that is ½; rising at 45° from x = −1.5,
    1.5 − s = 1 − s/2 holds at s = 1, √2 along the line."""
    level = line_frustum(np.array([[-3.0, 1.0, 0.0]]), X, ORIGIN, 2 * UP, 1.0, 0.0)
    np.testing.assert_allclose(level, 2.5, rtol=1e-15)
    slant = np.array([[1.0, 1.0, 0.0]]) / np.sqrt(2)
    found = line_frustum(np.array([[-1.5, 0.0, 0.0]]), slant, ORIGIN, 2 * UP, 1.0, 0.0)
    np.testing.assert_allclose(found, np.sqrt(2), rtol=1e-14)


def test_the_first_element_of_a_skeleton_is_the_nearest_of_all():
    """The compiled search against the readable equations, over random segments."""
    nodes = np.array([[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.6, 1.6, 0.2]])
    bones = VolumetricSkeleton(
        nodes,
        np.arange(3),
        np.array([0.12, 0.2, 0.1]),
        np.array([[0, 1], [1, 2]]),
        np.array([0.15, 0.08]),
        np.zeros(2, bool),
    )
    generator = np.random.default_rng(1)
    skin = generator.normal(size=(500, 3)) * 1.5
    places = generator.random((500, 1))
    side = generator.integers(0, 2, 500)
    base = nodes[side] + places * (nodes[side + 1] - nodes[side])
    length = np.linalg.norm(base - skin, axis=1)
    lines = (skin, (base - skin) / length[:, None])
    found = [line_sphere(*lines, nodes[n], bones.node_radii[n]) for n in range(3)]
    for b, (low, high) in enumerate(bones.capsule_places()):
        start, end = nodes[bones.bones[b]]
        radius, ends = bones.bone_radii[b], bones.node_radii[bones.bones[b]]
        first, last = start + low * (end - start), start + high * (end - start)
        found.append(line_cylinder(*lines, first, last, radius))
        found.append(line_sphere(*lines, first, radius))
        found.append(line_sphere(*lines, last, radius))
        found.append(line_frustum(*lines, start, first, 0.8 * ends[0], 0.8 * radius))
        found.append(line_frustum(*lines, last, end, 0.8 * radius, 0.8 * ends[1]))
    nearest = np.min(found, axis=0)
    hits = shrink_lines(skin, base, bones)
    expected = np.minimum(nearest, length)
    np.testing.assert_allclose(hits.distances, expected, rtol=1e-12)
    np.testing.assert_array_equal(hits.kinds == NO_HIT, nearest >= length)
    assert {ON_JOINT, ON_BONE} <= set(hits.kinds.tolist())
