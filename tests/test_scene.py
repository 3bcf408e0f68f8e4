"""Cameras, colours, words, clothes: what goes into a picture besides triangles."""

import itertools
import math

import numpy as np
import pytest
from jaxtyping import TypeCheckError
from picture_props import ball, rolling_ball

from corporeal.appearance.wardrobe import underwear
from corporeal.assets.default_body import load_default_body
from corporeal.body.attachment import Attachment
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.errors import InputError, OutputError
from corporeal.formats.png import read_png
from corporeal.geometry.laplacian import cotangent_laplacian
from corporeal.scene.camera import Camera, direction_from, frame
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.colour_map import ColourScale, monotone_curve, ramp, rgb_from_oklab
from corporeal.scene.drape import Drape
from corporeal.scene.labels import label_bodies
from corporeal.scene.legend import draw_legend, legend_box, srgb_bytes
from corporeal.scene.lineup import line_up, travel
from corporeal.scene.materials import PLAIN_COLOUR, skin_tone
from corporeal.scene.picture import at_rest, picture
from corporeal.scene.scene import DECAL_SIZE, Decal, Garment, Surface
from corporeal.scene.sheet import contact_sheet
from corporeal.scene.studio import Light
from corporeal.scene.text import Text, write_text


def pixels_of(camera, points, width, height):
    matrix = camera.pixel_from_world(width, height)
    seen = points @ matrix[:, :3].T + matrix[:, 3]
    return seen[:, :2] / seen[:, 2:], seen[:, 2]


def test_projection_equals_the_textbook_matrices():
    """Look-at and frustum matrices as OpenGL defines them, then the viewport transform."""
    camera = Camera((1.0, 2.0, 4.0), (-0.3, 0.8, 0.1), math.radians(35))
    width, height, near, far = 320, 200, 0.1, 100.0
    eye, target = np.array(camera.eye), np.array(camera.target)
    z = (eye - target) / np.linalg.norm(eye - target)
    x = np.cross([0, 1, 0], z) / np.linalg.norm(np.cross([0, 1, 0], z))
    view = np.eye(4)
    view[:3, :3] = [x, np.cross(z, x), z]
    view[:3, 3] = -view[:3, :3] @ eye
    top = near * math.tan(camera.field_of_view / 2)
    right = top * width / height
    frustum = np.zeros((4, 4))
    frustum[0, 0], frustum[1, 1] = near / right, near / top
    frustum[2, 2:] = -(far + near) / (far - near), -2 * far * near / (far - near)
    frustum[3, 2] = -1
    points = np.random.default_rng(0).normal(size=(50, 3))
    clip = np.c_[points, np.ones(50)] @ (frustum @ view).T
    device = clip[:, :2] / clip[:, 3:]
    expected = np.c_[(device[:, 0] + 1) * width / 2, (1 - device[:, 1]) * height / 2]
    found, depth = pixels_of(camera, points, width, height)
    np.testing.assert_allclose(found, expected, rtol=1e-10)
    np.testing.assert_allclose(depth, clip[:, 3], rtol=1e-12)


@pytest.mark.parametrize(("width", "height"), [(300, 500), (640, 200)])
def test_framing_holds_all_points_and_touches_its_bounds(width, height):
    points = np.random.default_rng(1).normal(size=(200, 3)) * (0.4, 0.9, 0.3)
    margin, bottom, right = 0.05, 0.1, 0.07
    camera = frame(points, width / height, azimuth=0.7, margin=margin, bottom=bottom, right=right)
    found, depth = pixels_of(camera, points, width, height)
    assert depth.min() > 0
    part = found / (width, height)
    room = [part[:, 0].min() - margin, 1 - margin - right - part[:, 0].max()]
    room += [part[:, 1].min() - margin, 1 - margin - bottom - part[:, 1].max()]
    assert min(room) > -1e-9
    across, down = room[0] + room[1], room[2] + room[3]
    assert min(across, down) == pytest.approx(0, abs=1e-9)
    angle = camera.field_of_view
    longer = 2 * math.atan(math.tan(angle / 2) * max(width / height, 1))
    assert longer == pytest.approx(math.radians(22))


def test_the_camera_stands_where_azimuth_and_elevation_say():
    np.testing.assert_allclose(direction_from(0.0, 0.0), (0, 0, 1), atol=1e-15)
    np.testing.assert_allclose(direction_from(math.pi / 2, 0.0), (1, 0, 0), atol=1e-15)
    np.testing.assert_allclose(direction_from(0.0, math.pi / 4)[1], math.sqrt(0.5))


@pytest.mark.parametrize(
    "wrong",
    [
        lambda: Camera((0.0, 2.0, 0.0), (0.0, 0.0, 0.0)),
        lambda: Camera((0.0, 0.0, math.nan), (0.0, 0.0, 0.0)),
        lambda: Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), field_of_view=4.0),
        lambda: Camera((0.0, 0.0, 1.0), (0.0, 0.0, 0.0), near=0.0),
        lambda: Light((0.0, 0.0, 0.0), (1.0, 1.0, 1.0)),
        lambda: Light((0.0, 1.0, 0.0), (1.0, 1.0, 1.0), angular_radius=2.0),
        lambda: frame(np.zeros((0, 3)), 1.0),
        lambda: frame(np.ones((4, 3)), 1.0, margin=0.6),
        lambda: frame(np.full((4, 3), np.inf), 1.0),
        lambda: skin_tone("plaid"),
        lambda: ColourScale(1.0, 1.0),
        lambda: ColourScale(0.0, math.inf),
        lambda: ColourScale(0.0, 1.0, ramp="jet"),
        lambda: ColourScale.spanning(np.array([1.0, np.nan])),
        lambda: Decal(np.zeros((4, 4, 4)), np.zeros((3, 2))),
        lambda: line_up([]),
    ],
)
def test_what_makes_no_picture_is_refused(wrong):
    with pytest.raises(InputError):
        wrong()


def test_surfaces_with_nan_bad_indices_or_missing_values_are_refused():
    vertices, triangles = ball(around=8)
    broken = vertices.copy()
    broken[3, 1] = np.nan
    with pytest.raises(InputError, match=r"not finite.*\(3, 1\)"):
        Surface.plain(broken, triangles)
    with pytest.raises(InputError, match="in metres"):
        Surface.plain(vertices * 1e30, triangles)
    with pytest.raises(InputError, match="indices"):
        Surface.plain(vertices, triangles + 1000)
    with pytest.raises((InputError, TypeCheckError), match="colours"):
        Surface(vertices, triangles, np.zeros((2, 3)))
    colours = np.zeros_like(vertices)
    with pytest.raises(InputError, match="garment coverage"):
        Surface(vertices, triangles, colours, garment=Garment(np.zeros(2)))
    with pytest.raises((InputError, TypeCheckError), match="gloss"):
        Surface(vertices, triangles, colours, gloss=np.zeros(2))
    decal = Decal(np.zeros((DECAL_SIZE, DECAL_SIZE, 4)), np.zeros((2, 2)))
    with pytest.raises(InputError, match="decal"):
        Surface(vertices, triangles, colours, decal=decal)


def oklab(rgb):
    """Ottosson's published matrices in the direction from RGB, with his cube root."""
    to_lms = [
        [0.4122214708, 0.5363325363, 0.0514459929],
        [0.2119034982, 0.6806995451, 0.1073969566],
        [0.0883024619, 0.2817188376, 0.6299787005],
    ]
    to_lab = [
        [0.2104542553, 0.7936177850, -0.0040720468],
        [1.9779984951, -2.4285922050, 0.4505937099],
        [0.0259040371, 0.7827717662, -0.8086757660],
    ]
    return np.cbrt(rgb @ np.array(to_lms).T) @ np.array(to_lab).T


def test_oklab_and_its_inverse():
    """Round trip, and white is (1, 0, 0); the matrices are published to ten digits."""
    colours = np.random.default_rng(2).uniform(0, 1, (100, 3))
    np.testing.assert_allclose(rgb_from_oklab(oklab(colours)), colours, atol=1e-6)
    np.testing.assert_allclose(rgb_from_oklab(np.array([1.0, 0, 0])), 1, atol=1e-6)


@pytest.mark.parametrize("name", ["dusk", "tide"])
def test_ramps_take_equal_steps_and_stay_in_gamut(name):
    """Nothing is clipped, so steps in OKLab are equal to within the curve's bending."""
    colours = ramp(name)
    assert colours.min() > 0
    assert colours.max() < 1
    lab = oklab(colours)
    steps = np.linalg.norm(np.diff(lab, axis=0), axis=1)
    assert steps.max() / steps.min() < 1.05
    if name == "dusk":
        assert (np.diff(lab[:, 0]) > 0).all()
    else:
        middle = np.argmax(lab[:, 0])
        assert middle == pytest.approx(127.5, abs=6)


def test_scale_gives_the_ramps_ends_and_does_not_run_over():
    scale = ColourScale(-2.0, 6.0)
    ends = scale.colours(np.array([-2.0, 6.0, -99.0, 99.0]))
    np.testing.assert_allclose(ends, ramp("dusk")[[0, -1, 0, -1]])


@pytest.mark.parametrize(
    ("low", "high", "expected"),
    [
        (0, 10, [0, 2, 4, 6, 8, 10]),
        (0, 1, [0, 0.2, 0.4, 0.6, 0.8, 1.0]),
        (-3, 47, [0, 10, 20, 30, 40]),
        (0.012, 0.019, [0.012, 0.014, 0.016, 0.018]),
    ],
)
def test_ticks_are_round_numbers(low, high, expected):
    np.testing.assert_allclose(ColourScale(float(low), float(high)).ticks(), expected, atol=1e-12)


def test_srgb_bytes_at_known_values():
    """IEC 61966-2-1: 0.5 of the light is level 188; level 128 is 0.21586 of the light."""
    levels = srgb_bytes(np.array([0.0, 0.001, 0.21586, 0.5, 1.0]))
    np.testing.assert_array_equal(levels, [0, round(255 * 0.01292), 128, 188, 255])


def test_the_legend_shows_every_value_in_its_colour():
    scale = ColourScale(10.0, 30.0, "strain", "%")
    marked = draw_legend(np.full((300, 400, 3), 200, np.uint8), scale)
    column, row, width, height = legend_box(marked.shape)
    for k in (0, height // 3, height - 1):
        value = 30.0 - (k + 0.5) / height * 20.0
        expected = srgb_bytes(scale.colours(np.array([value])))[0]
        bar = marked[row + k, column : column + width]
        np.testing.assert_array_equal(bar, np.tile(expected, (width, 1)))
    assert (marked[:, : column - 120] == 200).all()
    assert (marked[row - 40 : row - 2] != 200).any(), "no title"


def test_text_is_written_where_it_was_asked_for():
    blank = np.full((40, 200, 3), 255, np.uint8)
    written = write_text(blank, [Text("abc", 150.0, 20.0, 16.0, "mm")])
    dark = np.argwhere(written.min(axis=2) < 128)
    np.testing.assert_allclose(dark.mean(axis=0), (20, 150), atol=4)
    assert (blank == 255).all(), "the picture itself was changed"


def test_labels_stand_under_their_bodies():
    camera = Camera((0.0, 1.0, 6.0), (0.0, 1.0, 0.0), math.radians(30))
    blank = np.full((300, 400, 3), 255, np.uint8)
    feet = np.array([[-1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    written = label_bodies(blank, camera, ["left", "right"], feet)
    found, _ = pixels_of(camera, feet, 400, 300)
    for half, place in ((slice(0, 200), found[0]), (slice(200, 400), found[1])):
        rows, columns = np.nonzero(written[:, half].min(axis=2) < 128)
        assert columns.mean() + half.start == pytest.approx(place[0], abs=4)
        assert rows.min() > place[1]


def test_bodies_stand_side_by_side_and_their_extents_do_not_meet():
    shown = [Performance(rolling_ball(step=s)) for s in (0.1, 0.4, 0.0)]
    lineup = line_up(shown, azimuth=0.5, gap=0.2)
    right = np.array([math.cos(0.5), 0, -math.sin(0.5)])
    ends = []
    for performance, shift in zip(shown, lineup.shifts, strict=True):
        cloud = np.asarray(performance.animation.vertices).reshape(-1, 3) + shift
        ends.append(((cloud @ right).min(), (cloud @ right).max()))
    gaps = [b[0] - a[1] for a, b in itertools.pairwise(ends)]
    np.testing.assert_allclose(gaps, 0.2, atol=1e-9)
    assert lineup.ground_height == pytest.approx(0.0, abs=1e-12)


def test_an_attachment_follows_its_joint_rigidly():
    """x' = R (x − joint) + posed joint, with R a quarter turn about y."""
    animation = rolling_ball(frames=3)
    turn = np.array([[0.0, 0, 1], [0, 1, 0], [-1, 0, 0]])
    animation.world_from_joint[2, 0, :3, :3] = turn
    points, faces = ball(0.1, (0.2, 0.6, 0.5), around=8)
    eye = Attachment("eye", Mesh(points, faces), np.zeros_like(points), 0)
    shift = np.array([3.0, 0.0, -1.0])
    actor = Wardrobe(Performance(animation, (eye,))).actor(2, shift)
    expected = (points - (0, 0.5, 0)) @ turn.T + (0.2, 0.5, 0.0) + shift
    np.testing.assert_allclose(actor.surfaces[1].vertices, expected, atol=1e-12)


def test_foreign_meshes_are_plain_and_values_become_colours():
    animation = rolling_ball(frames=2)
    body = Wardrobe(Performance(animation)).actor(0).surfaces[0]
    np.testing.assert_allclose(body.colours, np.tile(PLAIN_COLOUR, (len(body.colours), 1)))
    assert body.garment is None
    values = np.asarray(animation.vertices[..., 1])
    scale = ColourScale(0.0, 1.0, unit="m")
    coloured = Wardrobe(Performance(animation, values=values, scale=scale)).actor(1).surfaces[0]
    np.testing.assert_allclose(coloured.colours, scale.colours(values[1]), atol=1e-6)


def test_values_must_fit_the_animation_and_have_a_scale():
    animation = rolling_ball(frames=2)
    values = np.asarray(animation.vertices[..., 0])
    with pytest.raises(InputError, match="one value a frame and vertex"):
        Performance(animation, values=values[:1], scale=ColourScale(0.0, 1.0))
    with pytest.raises(InputError, match="colour scale"):
        Performance(animation, values=values)


def test_underwear_covers_what_it_should_and_is_symmetric():
    """Cloth between hip joints and over the breast; none on head, hands, feet; both sides alike."""
    template = load_default_body().template
    female = Identity(template.mesh.vertices, template.skeleton.joints, {"gender": np.float32(0)})
    male = Identity(template.mesh.vertices, template.skeleton.joints, {"gender": np.float32(1)})
    both, bottom = underwear(template, female), underwear(template, male)
    vertices = np.asarray(template.mesh.vertices)
    joint = {n: template.skeleton.joints[i] for i, n in enumerate(template.skeleton.names)}
    x, y = np.abs(vertices[:, 0]), vertices[:, 1]
    hips = np.abs(y - joint["left_hip"][1]) < 0.06
    hips &= x < 0.3
    assert bottom[hips].min() > 0
    breast = (np.abs(y - joint["spine3"][1] + 0.05) < 0.03) & (x < 0.1)
    assert both[breast].min() > 0
    assert bottom[breast].max() < 0
    bare = (y > joint["neck"][1] + 0.05) | (y < joint["left_knee"][1])
    bare |= x > joint["left_elbow"][0]
    assert both[bare].max() < 0
    assert template.mesh.mirror is not None
    np.testing.assert_allclose(both, both[template.mesh.mirror], atol=2e-3)


def test_cotangent_laplacian_of_a_flat_sheet_is_zero_on_linear_fields():
    """And the areas add up to the sheet's: one square metre."""
    vertices, triangles = sheet(9)
    laplacian, areas = cotangent_laplacian(vertices, triangles)
    inner = (np.abs(vertices[:, :2] - 0.5) < 0.45).all(axis=1)
    np.testing.assert_allclose((laplacian @ vertices)[inner], 0, atol=1e-12)
    assert areas.sum() == pytest.approx(1)


def test_cloth_bridges_small_bumps_and_leaves_the_rest():
    """A 4 mm bump of 5 mm width vanishes for the most part; bare skin does not move."""
    vertices, triangles = sheet(81)
    vertices = vertices * 0.2
    bumpy = vertices.copy()
    from_middle = np.hypot(*(vertices[:, :2] - 0.1).T)
    bumpy[:, 2] += 0.004 * np.exp(-((from_middle / 0.005) ** 2))
    coverage = 0.08 - from_middle
    draped = Drape(bumpy, triangles, coverage).over(bumpy)
    np.testing.assert_array_equal(draped[coverage <= 0], bumpy[coverage <= 0])
    assert draped[:, 2].max() < 0.4 * bumpy[:, 2].max()
    hem = (coverage > 0) & (coverage < 0.01)
    np.testing.assert_allclose(draped[hem], bumpy[hem], atol=1e-4)


def sheet(n):
    """A flat square metre of n × n vertices, facing +z."""
    x, y = np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(n * n)], axis=1)
    a = np.arange(n * n).reshape(n, n)[:-1, :-1].ravel()
    quads = np.c_[a, a + n, a + n + 1, a + 1]
    return vertices, quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3).astype(np.int32)


def test_a_still_is_drawn_and_written(tmp_path):
    animation = rolling_ball(frames=4)
    shown = [Performance(animation, label="a"), Performance(animation, label="b")]
    pixels = picture(shown, tmp_path / "p.png", width=120, height=90, samples=1, frame=99)
    np.testing.assert_array_equal(read_png(tmp_path / "p.png"), pixels)
    again = picture(shown, width=120, height=90, samples=1, frame=3)
    np.testing.assert_array_equal(again, pixels)


def test_a_body_at_rest_is_an_animation_of_one_frame():
    ball_animation = rolling_ball()
    still = at_rest(ball_animation.template, ball_animation.identity)
    np.testing.assert_array_equal(still.vertices[0], ball_animation.identity.rest_vertices)
    np.testing.assert_array_equal(still.joints[0], ball_animation.identity.joints)


def test_a_film_goes_along_with_whoever_leaves_and_with_nobody_else():
    """A ball that rolls 0.4 m a frame is followed on its way over the ground, smoothed: its mean
    place is kept; one that stays within 0.9 m is not."""
    far, near = Performance(rolling_ball(step=0.4)), Performance(rolling_ball(step=0.1))
    root = np.asarray(far.animation.world_from_joint)[:, 0, :3, 3]
    assert np.ptp(root, axis=0).max() > 0.9
    way = travel(far)
    np.testing.assert_allclose(way.mean(axis=0)[[0, 2]], root.mean(axis=0)[[0, 2]], atol=1e-6)
    assert not way[:, 1].any()
    assert not travel(near).any()
    followed = line_up([far], ways=[way])
    assert np.ptp(followed.points, axis=0).max() < np.ptp(line_up([far]).points, axis=0).max()


def test_a_sheet_has_a_row_an_animation_and_a_column_a_frame(tmp_path):
    """A rolling ball stays in the middle of its cell, since the camera goes along."""
    path = tmp_path / "sheet.png"
    contact_sheet([rolling_ball()] * 3, path, frames=4, width=320, labels=["", "", ""])
    sheet_pixels = read_png(path).astype(int)
    assert sheet_pixels.shape[1] == 320
    assert sheet_pixels.shape[0] % 3 == 0
    rows = np.split(sheet_pixels, 3)
    np.testing.assert_array_equal(rows[0], rows[2])
    cells = np.split(rows[0][:60], 4, axis=1)
    np.testing.assert_allclose(cells[0], cells[3], atol=2)


@pytest.mark.parametrize(("count", "frames"), [(0, 8), (5, 8), (1, 0), (1, 99)])
def test_sheets_of_impossible_shape_are_refused(tmp_path, count, frames):
    with pytest.raises(InputError, match="a sheet shows"):
        contact_sheet([rolling_ball()] * count, tmp_path / "s.png", frames=frames)
    assert not list(tmp_path.iterdir())


def test_a_sheet_that_cannot_be_written_is_refused_at_once(tmp_path):
    with pytest.raises(OutputError, match="does not exist"):
        contact_sheet([rolling_ball()], tmp_path / "nowhere" / "s.png")


def test_each_animation_needs_its_own_label(tmp_path):
    with pytest.raises(InputError, match="2 labels for 1 animations"):
        contact_sheet([rolling_ball()], tmp_path / "s.png", labels=["a", "b"])


def test_the_curve_through_colours_is_scipys_monotone_one():
    """Both evaluate the same cubic polynomials in double precision."""
    from scipy.interpolate import PchipInterpolator

    random = np.random.default_rng(3)
    for count in (3, 4, 6, 9):
        anchors = random.normal(size=(count, 3))
        curve = PchipInterpolator(np.linspace(0, 1, count), anchors)
        wanted = curve(np.linspace(0, 1, 257))
        np.testing.assert_allclose(monotone_curve(anchors, 257), wanted, atol=1e-12)
