"""Self-intersection against rational arithmetic and configurations whose answer is known."""

from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest

from corporeal.errors import InputError
from corporeal.geometry.intersection import intersecting_triangle_pairs


def _exact(point):
    return [Fraction(float(x)) for x in point]


def _minus(a, b):
    return [x - y for x, y in zip(a, b, strict=True)]


def _cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def _dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def _clip(polygon, normal, offset):
    """The part of a convex polygon (or segment, or point) where normal · x ≤ offset."""
    kept = []
    for i, here in enumerate(polygon):
        there = polygon[(i + 1) % len(polygon)]
        at_here, at_there = _dot(normal, here) - offset, _dot(normal, there) - offset
        if at_here <= 0:
            kept.append(here)
        if at_here * at_there < 0:
            share = at_here / (at_here - at_there)
            kept.append([h + share * (t - h) for h, t in zip(here, there, strict=True)])
    return kept


def _common_points(first, second):
    """Corners of the intersection of two triangles, by clipping one by the other, in rationals.

    A triangle is the set between its plane's two half-spaces and within its three sides; this is
    an algorithm unlike the one under test, and it makes no rounding error.
    """
    a, b, c = second
    normal = _cross(_minus(b, a), _minus(c, a))
    polygon = first
    for sign in (1, -1):
        signed = [sign * x for x in normal]
        polygon = _clip(polygon, signed, _dot(signed, a)) if polygon else []
    for start, end in ((a, b), (b, c), (c, a)):
        outward = _cross(_minus(end, start), normal)
        polygon = _clip(polygon, outward, _dot(outward, start)) if polygon else []
    return polygon


def _reference_pairs(vertices, triangles):
    """Every pair by brute force; common corners and edges are taken away from what is shared."""
    exact = [[_exact(vertices[i]) for i in triangle] for triangle in triangles]
    low, high = vertices[triangles].min(axis=1), vertices[triangles].max(axis=1)
    pairs = []
    for i, j in combinations(range(len(triangles)), 2):
        if (low[i] > high[j]).any() or (low[j] > high[i]).any():
            continue
        common = [_exact(vertices[k]) for k in set(triangles[i]) & set(triangles[j])]
        points = _common_points(exact[i], exact[j])
        if len(common) == 2:  # beyond the edge: off its line
            along = _minus(common[1], common[0])
            points = [p for p in points if any(_cross(along, _minus(p, common[0])))]
        elif len(common) == 1:
            points = [p for p in points if p != common[0]]
        if points:
            pairs.append((i, j))
    return pairs


def _found(vertices, triangles):
    pairs = intersecting_triangle_pairs(np.asarray(vertices, float), np.asarray(triangles))
    return [tuple(pair) for pair in pairs.tolist()]


@pytest.mark.parametrize("seed", range(6))
def test_equals_rational_clipping_on_random_soups(seed):
    """Random triangles that share corners now and then, in general position."""
    rng = np.random.default_rng(seed)
    vertices = rng.normal(size=(40, 3))
    triangles = np.array([rng.choice(40, 3, replace=False) for _ in range(40)])
    expected = _reference_pairs(vertices, triangles)
    assert len(expected) > 20
    assert _found(vertices, triangles) == expected


@pytest.mark.parametrize("seed", range(6))
def test_equals_rational_clipping_on_a_lattice(seed):
    """Corners on a 3×3×3 lattice: nearly every pair is coplanar or touching somewhere."""
    rng = np.random.default_rng(seed)
    lattice = np.stack(np.meshgrid(*[np.arange(3.0)] * 3, indexing="ij"), axis=-1).reshape(-1, 3)
    triangles = []
    while len(triangles) < 40:
        corners = rng.choice(27, 3, replace=False)
        a, b, c = lattice[corners]
        if np.any(np.cross(b - a, c - a)):
            triangles.append(corners)
    vertices = lattice * 0.1 + 0.7  # rounded: exactly coplanar no longer, and not by a hair
    for points in (lattice, vertices):
        assert _found(points, np.array(triangles)) == _reference_pairs(points, np.array(triangles))


def _sphere(centre, radius, rings=10, segments=14):
    """A closed latitude–longitude sphere."""
    polar = np.linspace(0, np.pi, rings + 1)[1:-1]
    around = np.arange(segments) * 2 * np.pi / segments
    body = np.stack(
        [
            np.outer(np.sin(polar), np.cos(around)),
            np.outer(np.cos(polar), np.ones(segments)),
            np.outer(np.sin(polar), np.sin(around)),
        ],
        axis=-1,
    ).reshape(-1, 3)
    vertices = np.concatenate([body, [[0, 1, 0], [0, -1, 0]]]) * radius + centre
    last, faces = len(body), []
    for s in range(segments):
        t = (s + 1) % segments
        faces += [[last, t, s], [last + 1, (rings - 2) * segments + s, (rings - 2) * segments + t]]
        for r in range(rings - 2):
            a, b = r * segments + s, r * segments + t
            c, d = b + segments, a + segments
            faces += [[a, b, c], [a, c, d]]
    return vertices, np.array(faces)


def test_one_sphere_meets_itself_nowhere():
    vertices, faces = _sphere(np.zeros(3), 0.1)
    assert _found(vertices, faces) == []


def test_two_overlapping_spheres_meet_along_a_closed_ring():
    """Pairs join one sphere with the other, near the circle |x − d/2| = 0, of radius √(r²−d²/4)."""
    vertices, faces = _sphere(np.zeros(3), 1.0)
    both = np.concatenate([vertices, vertices + np.array([1.2, 0.013, 0.007])])
    joined = np.concatenate([faces, faces + len(vertices)])
    pairs = intersecting_triangle_pairs(both, joined)
    assert len(pairs) > 30
    assert (pairs[:, 0] < len(faces)).all()
    assert (pairs[:, 1] >= len(faces)).all()
    centres = both[joined[pairs]].mean(axis=(1, 2))
    edge = 2 * np.pi / 14  # the longest edge bounds how far a pair's middle is from the circle
    assert np.abs(centres[:, 0] - 0.6).max() < edge
    assert np.abs(np.hypot(centres[:, 1], centres[:, 2]) - 0.8).max() < edge
    near = np.abs(both[joined].mean(axis=1)[:, 0] - 0.6) < 2 * edge
    kept = np.flatnonzero(near)
    expected = [(int(kept[i]), int(kept[j])) for i, j in _reference_pairs(both, joined[kept])]
    assert [tuple(pair) for pair in pairs.tolist()] == expected


@pytest.mark.parametrize("gap", [0.0, 1e-300, -1e-17, 1e-12])
def test_touching_counts_and_the_smallest_gap_does_not(gap):
    """A corner on another triangle's plane meets it; any float64 above 0 is off it."""
    vertices = [[-1, 0, -1], [1, 0, -1], [0, 0, 1], [0, gap, 0], [0.1, 1, 0], [-0.1, 1, 0]]
    assert (_found(vertices, [[0, 1, 2], [3, 4, 5]]) == [(0, 1)]) == (gap <= 0)


def test_neighbours_are_pairs_only_beyond_what_they_share():
    square = np.array([[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0.4, 0.9, 0], [2, 0.5, 1.0]])
    assert _found(square, [[0, 1, 2], [0, 2, 3]]) == []  # a flat edge
    assert _found(square, [[0, 1, 2], [1, 0, 5]]) == []  # a bent edge
    assert _found(square, [[0, 1, 2], [0, 1, 4]]) == [(0, 1)]  # folded back onto itself
    assert _found(square, [[0, 1, 2], [2, 3, 5]]) == []  # a common corner
    crossing = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0.5, 0.2, 1], [0.5, 0.2, -1.0]])
    assert _found(crossing, [[0, 1, 2], [0, 3, 4]]) == [(0, 1)]  # a common corner, and a cut


def test_order_of_faces_and_corners_changes_nothing():
    rng = np.random.default_rng(3)
    vertices = rng.normal(size=(60, 3))
    triangles = rng.permuted(np.tile(np.arange(60), (50, 1)), axis=1)[:, :3]
    order = rng.permutation(50)
    shuffled = np.roll(triangles[order], 1, axis=1)
    renamed = {tuple(sorted(order[list(pair)])) for pair in _found(vertices, shuffled)}
    assert renamed == set(_found(vertices, triangles))


def test_triangles_of_very_different_sizes_are_found():
    """One triangle spans a thousand small ones: the grid must list it in every cell."""
    rng = np.random.default_rng(0)
    small = rng.uniform(-1, 1, size=(1000, 1, 3)) + rng.uniform(-0.01, 0.01, size=(1000, 3, 3))
    large = np.array([[[-9.0, 0, -9], [9, 0, -9], [0, 0, 9]]])
    vertices = np.concatenate([small, large]).reshape(-1, 3)
    pairs = intersecting_triangle_pairs(vertices, np.arange(3003).reshape(-1, 3))
    crossing = (small[:, :, 1].min(axis=1) <= 0) & (small[:, :, 1].max(axis=1) >= 0)
    with_large = pairs[pairs[:, 1] == 1000, 0]
    assert np.array_equal(with_large, np.flatnonzero(crossing))


def test_vertices_that_are_not_finite_are_refused():
    with pytest.raises(InputError, match="not finite"):
        intersecting_triangle_pairs(np.full((3, 3), np.nan), np.array([[0, 1, 2]]))


def test_no_triangles_have_no_pairs():
    pairs = intersecting_triangle_pairs(np.zeros((0, 3)), np.zeros((0, 3), int))
    assert pairs.shape == (0, 2)
