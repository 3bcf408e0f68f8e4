"""The rasteriser against closed forms: coverage, depth, order, shadow, averaging, refusal."""

import math
from fractions import Fraction

import numpy as np
import pytest
from picture_props import ball

from corporeal.errors import InputError
from corporeal.scene import raster_cpu, shade_cpu
from corporeal.scene.camera import Camera, focal_length
from corporeal.scene.normals_cpu import angle_weighted_normals
from corporeal.scene.raster import MAXIMUM_EDGE, cover_solid, render
from corporeal.scene.refine import refine
from corporeal.scene.scene import Actor, Garment, Scene, Surface
from corporeal.scene.studio import Backdrop, Light, StudioLights
from corporeal.scene.visibility import ShadowQuality, disc_directions, sky_directions, visibility

FRONT = Camera((0.0, 0.0, 5.0), (0.0, 0.0, 0.0), math.radians(40))


def draw(corners, triangles, width, height, near=0.01):
    """Triangle seen and depth at every sample; corners are (column·w, row·w, w)."""
    corners = np.asarray(corners, np.float64)
    triangles = np.asarray(triangles, np.int32)
    boxes = np.empty((len(triangles), 4), np.int32)
    raster_cpu.sample_boxes(corners, triangles, near, width, height, boxes)
    seen = np.empty((height, width), np.int32)
    inverse = np.empty((height, width))
    cover_solid(corners, triangles, boxes, near, seen, inverse)
    return seen, inverse


def project(camera, vertices, width, height):
    matrix = camera.pixel_from_world(width, height)
    return vertices @ matrix[:, :3].T + matrix[:, 3]


def linear(level):
    """Display light of 8-bit sRGB (IEC 61966-2-1)."""
    signal = np.asarray(level) / 255
    return np.where(signal <= 0.04045, signal / 12.92, ((signal + 0.055) / 1.055) ** 2.4)


def test_a_triangle_covers_the_samples_whose_centres_lie_in_it():
    """Half-plane tests in exact fractions."""
    points = [(3, 2), (41, 9), (17, 37)]
    corners = [(x * 2.0, y * 2.0, 2.0) for x, y in points]
    seen, inverse = draw(corners, [[0, 1, 2]], 48, 40)
    for row in range(40):
        for column in range(48):
            x, y = Fraction(2 * column + 1, 2), Fraction(2 * row + 1, 2)
            sides = [
                (bx - ax) * (y - ay) - (by - ay) * (x - ax)
                for (ax, ay), (bx, by) in zip(points, points[1:] + points[:1], strict=True)
            ]
            inside = all(s >= 0 for s in sides) or all(s <= 0 for s in sides)
            assert (seen[row, column] == 0) == inside
    np.testing.assert_allclose(inverse[seen == 0], 0.5, rtol=1e-12)


def test_no_gap_between_triangles_that_share_edges():
    """A jittered sheet in perspective covers its picture; each inner sample is seen."""
    generator = np.random.default_rng(5)
    n = 15
    grid = np.stack(np.meshgrid(np.arange(n), np.arange(n), indexing="ij"), -1).reshape(-1, 2)
    flat = grid * 10.0 - 20 + generator.uniform(-3, 3, grid.shape)
    depth = generator.uniform(1, 4, (len(grid), 1))
    corners = np.concatenate([flat * depth, depth], axis=1)
    a = np.arange(n * n).reshape(n, n)[:-1, :-1].ravel()
    triangles = np.concatenate([np.c_[a, a + 1, a + n], np.c_[a + 1, a + n + 1, a + n]])
    seen, _ = draw(corners, triangles, 97, 97)
    assert (seen >= 0).all()


def test_attributes_are_interpolated_in_perspective():
    """Reference: where the sample's ray meets the plane, by solving 3 × 3 equations."""
    corners = np.array([[10.0, 20.0, 1.0], [240.0, 60.0, 4.0], [60.0, 280.0, 2.0]])
    attributes = np.array([[1.0, 0.0], [0.0, 2.0], [-3.0, 5.0]])
    out = np.empty(2)
    for x, y in ((20.5, 30.5), (30.5, 60.5), (40.5, 40.5)):
        beta = np.linalg.solve(corners.T, [x, y, 1.0])
        shade_cpu.interpolate(corners, 0, 1, 2, x, y, attributes, out)
        np.testing.assert_allclose(out, beta / beta.sum() @ attributes, rtol=1e-12)


def test_the_nearer_triangle_is_seen_whatever_the_order():
    square = np.array([[0, 0, 1], [90, 0, 1], [0, 90, 1]], float)
    corners = np.concatenate([3.0 * square, 2.0 * square])
    for triangles, nearer in (([[0, 1, 2], [3, 4, 5]], 1), ([[3, 4, 5], [0, 1, 2]], 0)):
        seen, inverse = draw(corners, triangles, 20, 20)
        assert (seen == nearer).all()
        np.testing.assert_allclose(inverse, 0.5)


def test_triangles_that_cut_each_other_part_where_their_depths_are_equal():
    """1/w is linear over the picture, falling on one and rising on the other: equal midway."""
    inverse_left, inverse_right = np.array([1.0, 0.2]), np.array([0.2, 1.0])
    place = np.array([[0, -200], [0, 281], [100, 40.5]])
    corners = []
    for at_left, at_right in (inverse_left, inverse_right):
        w = 1 / np.array([at_left, at_left, at_right])
        corners.append(np.c_[place * w[:, None], w])
    seen, _ = draw(np.concatenate(corners), [[0, 1, 2], [3, 4, 5]], 100, 80)
    assert (seen[40, :50] == 0).all()
    assert (seen[40, 50:99] == 1).all()


def test_a_sphere_has_the_silhouette_and_depth_of_perspective():
    """Outline radius f r / √(d² − r²) pixels; nearest depth d − r.

    The polyhedron's outline is short of it by at most (π/n)²/2, its area by twice that; counting
    samples adds less than the outline's length times a hundredth of a sample.
    """
    around, size, r, d = 256, 600, 1.0, 5.0
    vertices, triangles = ball(r, around=around)
    seen, inverse = draw(project(FRONT, vertices, size, size), triangles, size, size)
    outline = focal_length(FRONT.field_of_view, size) * r / math.sqrt(d * d - r * r)
    tolerance = math.pi * outline**2 * (math.pi / around) ** 2 * 2 + 2 * math.pi * outline * 0.01
    assert (seen >= 0).sum() == pytest.approx(math.pi * outline**2, abs=tolerance)
    assert 1 / inverse.max() == pytest.approx(d - r, abs=2 * r * (math.pi / around) ** 2)


def test_a_floor_that_runs_behind_the_camera_is_cut_at_the_near_plane():
    """Every row below the horizon is floor, down to the row where its depth is `near`."""
    height, near = 100, 0.5
    camera = Camera((0.0, 1.0, 0.0), (0.0, 1.0, -1.0), math.radians(90), near)
    floor = np.array([[-900, 0, -900], [900, 0, -900], [900, 0, 900], [-900, 0, 900]], float)
    corners = project(camera, floor, 60, height)
    seen, _ = draw(corners, [[0, 1, 2], [0, 2, 3]], 60, height, near)
    row = np.arange(height) + 0.5
    depth = 50 / np.where(row > 50, row - 50, np.nan)  # focal length 50, one metre up
    inside = (depth >= near) & (depth <= 900)
    np.testing.assert_array_equal(seen >= 0, np.repeat(inside[:, None], 60, axis=1))


def test_what_is_behind_the_camera_is_not_seen():
    vertices, triangles = ball(1.0, (0, 0, 9))
    seen, _ = draw(project(FRONT, vertices, 50, 50), triangles, 50, 50)
    assert (seen == -1).all()


def test_normals_of_a_sphere_are_its_radii():
    """By symmetry exact at the poles; elsewhere within the ring's step squared."""
    vertices, triangles = ball(2.0, around=64)
    normals = np.empty_like(vertices)
    angle_weighted_normals(vertices, triangles, normals)
    np.testing.assert_allclose(normals, vertices / 2, atol=(2 * math.pi / 64) ** 2)
    np.testing.assert_allclose(normals[-2:], [[0, 1, 0], [0, -1, 0]], atol=1e-12)


def _see(vertices, triangles, studio, ground, quality=None):
    normals = np.empty(vertices.shape, np.float32)
    points = vertices.astype(np.float32)
    angle_weighted_normals(points, triangles, normals)
    quality = quality or ShadowQuality(map_size=256, ground_size=200)
    return normals, *visibility(points, normals, triangles, studio, ground, quality)


def test_a_sphere_throws_its_shadow_where_the_light_says():
    """Centre c − L h / L_y on the ground; area π r² / L_y. One depth texel is 2 r / 251 wide."""
    radius, centre = 0.5, np.array([0.3, 1.4, -0.2])
    key = Light((-0.4, 1.0, 0.6), (1.0, 1.0, 1.0))
    studio = StudioLights(key=key, sky=(0.0, 0.0, 0.0), ground_shadow=1.0)
    vertices, triangles = ball(radius, centre, around=128)
    _, _, shadow = _see(vertices, triangles, studio, 0.0)
    x0, z0, cell, _ = shadow.grid
    dark = 1 - shadow.left
    index = np.arange(len(dark))
    x, z = x0 + cell * index, z0 + cell * index
    found = np.array([(dark.sum(0) * x).sum(), (dark.sum(1) * z).sum()]) / dark.sum()
    expected = centre - key.unit * centre[1] / key.unit[1]
    np.testing.assert_allclose(found, expected[[0, 2]], atol=2 * radius / 251)
    texel = 2 * radius / 251
    area = math.pi * radius**2 / key.unit[1]
    assert dark.sum() * cell**2 == pytest.approx(area, abs=2 * math.pi * radius * texel * 2)


def test_a_convex_body_hides_no_sky_from_itself_and_its_back_from_the_key():
    vertices, triangles = ball(1.0, (0, 3, 0), around=48)
    studio = StudioLights(key=Light((0.0, 0.0, 1.0), (1.0, 1.0, 1.0)))
    normals, seen, _ = _see(vertices, triangles, studio, None)
    assert seen[:, 0].min() > 0.95
    assert seen[normals[:, 2] > 0.3, 1].min() > 0.95
    assert seen[normals[:, 2] < -0.3, 1].max() < 0.05


def test_inside_a_shell_there_is_no_light():
    """A small ball in the middle of a large one sees neither sky nor lamps."""
    inner, faces = ball(0.3, around=24)
    outer, shell = ball(1.0, around=48)
    joined = np.concatenate([faces, shell + len(inner)]).astype(np.int32)
    _, seen, _ = _see(np.concatenate([inner, outer]), joined, StudioLights(), None)
    assert seen[: len(inner)].max() == 0


def test_light_directions_are_unit_and_spread_as_said():
    """A disc's mean direction is its axis; the upper half sphere's mean height is one half."""
    light = Light((1.0, 2.0, -1.0), (1.0, 1.0, 1.0), math.radians(20))
    disc, sky = disc_directions(light, 64), sky_directions(64)
    for directions in (disc, sky):
        np.testing.assert_allclose(np.linalg.norm(directions, axis=1), 1, atol=1e-12)
    assert (disc @ light.unit).min() >= math.cos(light.angular_radius)
    assert sky[:, 1].mean() == pytest.approx(0.5, abs=1e-12)


def test_an_empty_scene_is_the_backdrop():
    """The paper's gradient 3s² − 2s³ and vignette, within the one level that dithering moves."""
    backdrop = Backdrop((0.2, 0.3, 0.4), (0.6, 0.5, 0.4), vignette=0.3)
    picture = render(Scene((), FRONT, StudioLights(backdrop=backdrop)), 60, 40)
    y, x = (np.arange(40) + 0.5) / 40 - 0.5, (np.arange(60) + 0.5 - 30) / 40
    s = (y + 0.5)[:, None, None]
    blend = 3 * s**2 - 2 * s**3
    radius = (x[None] ** 2 + y[:, None] ** 2) / (0.25 + 0.25 * 1.5**2)
    light = (np.array(backdrop.top) * (1 - blend) + np.array(backdrop.bottom) * blend) * (
        1 - 0.3 * radius[..., None]
    )
    np.testing.assert_allclose(picture, 255 * (1.055 * light ** (1 / 2.4) - 0.055), atol=1.0 + 1e-3)


def test_pixels_away_from_bodies_and_shadows_are_untouched():
    vertices, triangles = ball(0.3, (-1.0, 0.3, 0.0))
    camera = Camera((0.0, 0.5, 6.0), (0.0, 0.5, 0.0), math.radians(40))
    empty = render(Scene((), camera), 90, 60)
    drawn = render(Scene((Actor((Surface.plain(vertices, triangles),)),), camera), 90, 60)
    changed = np.flatnonzero((empty != drawn).any(axis=(0, 2)))
    assert changed.size > 5
    np.testing.assert_array_equal(drawn[:20], empty[:20])
    np.testing.assert_array_equal(drawn[:, 75:], empty[:, 75:])


def test_a_pixel_is_the_mean_of_its_samples():
    """Coverage k/s² of a lit edge mixes surface and backdrop, in light, in that proportion."""
    corner = np.array([[0.03, -9, 0], [9, -9, 0], [9, 9, 0], [0.03, 9, 0]], float)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    slab = Actor((Surface.plain(corner, triangles),))
    size = 41  # one pixel is 5·2·tan(20°)/41 = 0.0888 m; the edge lies in the middle column
    lit = linear(render(Scene((slab,), FRONT, ground_height=None), size, size, samples=4))
    paper = linear(render(Scene((), FRONT, ground_height=None), size, size))
    pixel = 10 * math.tan(math.radians(20)) / size
    centres = (np.arange(4) + 0.5) / 4 * pixel - pixel / 2
    share = float((centres >= 0.03).mean())
    assert share == 0.25
    mixed = share * lit[:, 21] + (1 - share) * paper[:, 20]
    level = 1.055 / 2.4 * 0.1 ** (1 / 2.4 - 1) * 255  # levels a unit of light, at most, above 0.1
    np.testing.assert_allclose(lit[:, 20], mixed, atol=4 / level)


def test_cloth_begins_where_its_field_is_zero():
    """The field x over a wall puts the hem at the picture's middle column."""
    corner = np.array([[-9, -9, 0], [9, -9, 0], [9, 9, 0], [-9, 9, 0]], float)
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    garment = Garment(corner[:, 0], (0.0, 0.0, 0.0))
    wall = Surface(corner, triangles, np.full((4, 3), 0.8), garment=garment)
    picture = render(Scene((Actor((wall,)),), FRONT, ground_height=None), 40, 20)
    assert picture[:, :20].min() > 120
    assert picture[:, 20:].max() < 60


def test_the_picture_does_not_depend_on_the_number_of_threads(monkeypatch):
    vertices, triangles = ball(0.8, (0.0, 0.8, 0.0))
    scene = Scene((Actor((Surface.plain(vertices, triangles),)),), FRONT)
    pictures = []
    for count in ("1", "3"):
        monkeypatch.setenv("NUMBA_NUM_THREADS", count)
        pictures.append(render(scene, 120, 100))
    np.testing.assert_array_equal(*pictures)


def test_refinement_rounds_a_sphere_and_keeps_it_closed():
    """New vertices lie nearer to the sphere than the edges' middles; every edge has two sides."""
    vertices, triangles = ball(1.0, around=16)
    attributes = np.concatenate([vertices, vertices], axis=1).astype(np.float32)
    fine, faces = refine(attributes, triangles)
    new = np.linalg.norm(fine[len(vertices) :, :3], axis=1)
    middles = np.linalg.norm(
        (vertices[triangles] + vertices[np.roll(triangles, 1, axis=1)]).reshape(-1, 3) / 2, axis=1
    )
    assert len(faces) == 4 * len(triangles)
    assert (1 - new).max() < 0.5 * (1 - middles).max()
    directed = {tuple(e) for f in faces for e in zip(f, np.roll(f, -1), strict=True)}
    assert len(directed) == 3 * len(faces)
    assert all((b, a) in directed for a, b in directed)


@pytest.mark.parametrize(
    ("width", "height", "samples", "words"),
    [
        (0, 10, 2, "at least 1 × 1"),
        (10, 10, 9, "expected 1 to 8"),
        (40_000, 40_000, 2, "smaller"),
        (MAXIMUM_EDGE + 1, 2, 1, "smaller"),
    ],
)
def test_impossible_pictures_are_refused(width, height, samples, words):
    with pytest.raises(InputError, match=words):
        render(Scene((), FRONT), width, height, samples=samples)


def test_too_much_refinement_is_refused():
    with pytest.raises(InputError, match="0 to 3"):
        render(Scene((), FRONT), 10, 10, refinement=9)
