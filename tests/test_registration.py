"""Registration: parts with closed forms, a whole scan of a small cloud, and what is refused."""

import numpy as np
import pytest
from scanned_people import drawn_cloud, drawn_person

from corporeal.body.pose import Pose, RotationPose
from corporeal.body.raw_scan import RawScan
from corporeal.errors import FormatError, InputError
from corporeal.formats.raw_scans import read_landmarks, read_raw_scan
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.colouring import bake_texture
from corporeal.registration.coupled_stage import (
    CoupledStage,
    barycentric,
    couple,
    edge_laplacian,
    matches,
)
from corporeal.registration.marker_fit import fit_markers
from corporeal.registration.marker_sets import known_spots, marker_vertices
from corporeal.registration.model_jacobian import model_jacobian
from corporeal.registration.model_stage import ModelStage, equations, fit_model, nearest
from corporeal.registration.orientation import outward_normals
from corporeal.registration.person_model import PersonState, person_model
from corporeal.registration.preparing import prepare
from corporeal.registration.register import register_scan
from corporeal.registration.scan_surface import ScanSurface, cell_means
from corporeal.registration.soundness import mended, rings_around, unsound_triangles
from corporeal.registration.together import fit_together
from corporeal.registration.unseen_limbs import lacks_legs


def _surface(count: int) -> ScanSurface:
    points, normals, _ = drawn_cloud(count)
    return ScanSurface(points, normals, np.ones(len(points)), 0.01)


def test_jacobian_meets_finite_differences() -> None:
    """∂x by shape, rotations and translation against central differences, step 1e-6."""
    model = person_model().cut(np.arange(0, 13380, 900))
    state = drawn_person()
    posed = model.posed(state, corrected=False)
    shapes = 4
    exact = model.jacobian(posed, shapes)
    size = exact.shape[2]
    for column in (0, 3, shapes + 1, shapes + 3 * 16 + 2, size - 2):
        step = np.zeros(size)
        step[column] = 1e-6
        ends = [
            model.posed(model.stepped(state, posed, sign * step), corrected=False).vertices
            for sign in (1.0, -1.0)
        ]
        slope = (ends[0] - ends[1]) / 2e-6
        np.testing.assert_allclose(exact[:, :, column], slope, atol=2e-7)


def test_operator_is_the_dense_jacobian() -> None:
    """The sparse operator's products against the dense derivative, single precision."""
    model = person_model()
    posed = model.posed(drawn_person(), corrected=False)
    operator = model_jacobian(model, posed, 3)
    rows = np.arange(0, 13380, 700)
    dense = model.jacobian(posed, 3, rows)
    random = np.random.default_rng(0)
    step = random.normal(size=operator.size)
    np.testing.assert_allclose(operator.apply(step)[rows], dense @ step, atol=2e-5)
    force = random.normal(size=posed.vertices.shape)
    assert np.vdot(operator.apply(step), force) == pytest.approx(
        operator.transposed(force) @ step, rel=1e-4
    )


def test_rotations_stay_rotations_over_many_steps() -> None:
    """RᵀR = I to rounding after 200 steps; without projection errors double down the tree."""
    model = person_model().cut(np.array([0, 5000]))
    state = drawn_person()
    random = np.random.default_rng(1)
    for _ in range(200):
        posed = model.posed(state, corrected=False)
        step = 0.05 * random.normal(size=3 * model.joint_count + 3)
        state = model.stepped(state, posed, step)
    product = np.swapaxes(state.pose.rotations, 1, 2) @ state.pose.rotations
    np.testing.assert_allclose(product, np.broadcast_to(np.eye(3), product.shape), atol=1e-12)


def test_barycentric_and_matches() -> None:
    """Points of a triangle come back from their coordinates; the nearest point is the foot."""
    corners = np.array([[[0.0, 0, 0], [1, 0, 0], [0, 2, 0]]])
    shares = np.array([[0.2, 0.3, 0.5]])
    point = np.einsum("nk,nkc->nc", shares, corners)
    np.testing.assert_allclose(barycentric(point, corners), shares, atol=1e-12)
    found = matches(corners[0], np.array([[0, 1, 2]]), point + np.array([0.0, 0.0, 0.3]))
    np.testing.assert_allclose(found.feet, point, atol=1e-12)


def test_edge_laplacian_holds_translations() -> None:
    """Edges do not feel a shift of all vertices, and feel everything else."""
    model = person_model()
    rest = model.space.mean_vertices
    laplacian = edge_laplacian(model.template, rest)
    shifted = laplacian @ np.ones((len(rest), 3))
    assert np.abs(shifted).max() < 1e-9 * np.abs(laplacian.diagonal()).max()
    random = np.random.default_rng(0).normal(size=len(rest))
    assert random @ (laplacian @ random) > 0


def test_outward_normals_of_a_sphere() -> None:
    """A sphere's normals are its radii, whichever way neighbours' planes happened to face."""
    random = np.random.default_rng(0)
    points = random.normal(size=(3000, 3))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    normals = outward_normals(points)
    assert (np.sum(normals * points, axis=1) > 0.9).mean() > 0.99
    inverted = outward_normals(points, -points)
    assert (np.sum(inverted * points, axis=1) > 0.99).all()


def test_nearest_asks_for_the_same_facing() -> None:
    """Of two sheets a centimetre apart, the one that faces the same way is taken."""
    points = np.array([[0.0, 0.0, 0.0]])
    others = np.array([[0.0, 0.0, 0.001], [0.0, 0.0, 0.01]])
    facing = np.array([[0.0, 0.0, -1.0], [0.0, 0.0, 1.0]])
    assert nearest(points, np.array([[0.0, 0.0, 1.0]]), others, facing)[0] == 1


def test_model_stage_finds_shape_and_pose() -> None:
    """From a pose 0.1 rad off, points of the model's own skin are met within their spacing."""
    model = person_model()
    coarse = model.cut(np.arange(0, 13380, 12))
    truth = drawn_person()
    off = RotationPose(
        truth.pose.rotations @ matrix_from_axis_angle(np.full((52, 3), 0.03)),
        truth.pose.translation + 0.03,
    )
    start = PersonState(np.zeros(model.space.count), off)
    stages = (ModelStage(6, 0.08, 0.3, 10, 1500), ModelStage(6, 0.03, 0.1, 20, 1500))
    fit = fit_model(coarse, _surface(1500), start, stages)
    _, _, vertices = drawn_cloud(10)
    error = np.linalg.norm(fit.posed.vertices - vertices[::12], axis=1)
    before = np.linalg.norm(coarse.posed(start).vertices - vertices[::12], axis=1)
    assert np.median(error) < 0.012 < 0.2 * np.median(before) + 0.012


def test_the_shapes_prior_counts_as_often_as_a_stage_says() -> None:
    """By Gauss and Markov: held k times, the shape is shorter by the prior's measure, and goes to
    the mean as k grows; where a scan lacks both legs it is held more."""
    model = person_model().cut(np.arange(0, 13380, 24))
    lengths = []
    for held in (1.0, 8.0, 1e9):
        stages = (ModelStage(4, 0.05, 0.3, 10, 800, shape_prior=held),)
        start = PersonState(np.zeros(model.space.count), drawn_person().pose)
        lengths.append(np.linalg.norm(fit_model(model, _surface(800), start, stages).state.shape))
    assert lengths[0] > lengths[1] > lengths[2]
    assert lengths[2] < 1e-3
    assert lacks_legs((("left", "leg"), ("right", "arm"), ("right", "leg")))
    assert not lacks_legs((("left", "leg"), ("left", "arm")))


def test_one_scan_together_is_one_scan_alone() -> None:
    """Eliminating the pose gives the same step as solving for shape and pose at once."""
    model = person_model().cut(np.arange(0, 13380, 30))
    state, surface = drawn_person(), _surface(400)
    stage = ModelStage(1, 0.05, 0.2, 5, 400)
    alone = fit_model(model, surface, state, (stage,))
    together = fit_together(model, [surface], [state], (stage,))[0]
    np.testing.assert_allclose(together.state.shape, alone.state.shape, atol=1e-4)
    np.testing.assert_allclose(together.state.pose.rotations, alone.state.pose.rotations, atol=1e-4)
    with pytest.raises(InputError, match="as many of each"):
        fit_together(model, [surface], [])


def test_landmarks_pull_their_vertices() -> None:
    """A landmark a metre off adds a pull along the way to it, and none where names are unknown."""
    model, state = person_model(), drawn_person()
    posed = model.posed(state)
    plain = _surface(200)
    stage = ModelStage(1, 0.05, 0.2, 0, 200)
    base = equations(model, state, posed, plain, stage)[0].right
    from dataclasses import replace

    from corporeal.registration.landmarks import landmark_vertices

    vertex = landmark_vertices(model.template)["glabella"]
    marked = replace(plain, landmarks={"glabella": posed.vertices[vertex] + [1.0, 0.0, 0.0]})
    pulled = equations(model, state, posed, marked, stage)[0].right
    assert pulled[-3] - base[-3] == pytest.approx(0.02 / 0.05**2, rel=1e-9)
    unknown = replace(plain, landmarks={"nobody": np.zeros(3)})
    np.testing.assert_array_equal(equations(model, state, posed, unknown, stage)[0].right, base)


def test_coupled_mesh_reaches_a_bump_the_model_has_not() -> None:
    """Points 8 mm outside the belly pull the free mesh there, and nothing folds."""
    model, state = person_model(), drawn_person()
    points, normals, vertices = drawn_cloud(9000)
    labels = np.asarray(model.template.part_labels)
    belly = vertices[labels == model.template.part_names.index("belly")].mean(axis=0)
    near = np.exp(-np.sum((points - belly) ** 2, axis=1) / 0.08**2)
    moved = points + 0.008 * near[:, None] * normals
    surface = ScanSurface(moved, normals, np.ones(len(points)), 0.014)
    stage = CoupledStage(2, 0.02, 0.5, 0, model=False)
    coupled = couple(model, surface, state, (stage,))
    triangles = np.asarray(model.template.mesh.triangles)
    before = np.linalg.norm(matches(vertices, triangles, moved).feet - moved, axis=1)
    after = np.linalg.norm(matches(coupled.vertices, triangles, moved).feet - moved, axis=1)
    assert after[near > 0.5].mean() < 0.35 * before[near > 0.5].mean()
    assert len(unsound_triangles(coupled.vertices, vertices, triangles).folded) == 0


def test_folds_are_found_and_mended() -> None:
    """A vertex pushed past its neighbours folds its triangles; mending brings it back."""
    model = person_model()
    triangles = np.asarray(model.template.mesh.triangles)
    rest = model.space.mean_vertices
    pushed = rest.copy()
    vertex = int(np.argmax(rest[:, 2] * (np.asarray(model.template.part_labels) == 3)))
    pushed[vertex, 0] += 0.06
    wrong = unsound_triangles(pushed, rest, triangles)
    assert wrong.count > 0
    share = rings_around(triangles, wrong.folded, len(rest), 2)
    assert share[vertex] == 1.0
    repaired, left = mended(pushed, rest, triangles)
    assert left == 0
    assert np.linalg.norm(repaired[vertex] - rest[vertex]) < 0.03


def test_units_floor_and_stray_pieces_are_told() -> None:
    """A person in centimetres on a floor, with a far ball: all three are said."""
    points, _, _ = drawn_cloud(6000)
    points = points - [0.0, points[:, 1].min() - 0.002, 0.0]
    random = np.random.default_rng(0)
    floor = np.column_stack(
        [random.uniform(-1, 1, 4000), np.zeros(4000), random.uniform(-1, 1, 4000)]
    )
    ball = 0.05 * random.normal(size=(200, 3)) + [0.9, 1.5, 0.9]
    found = prepare(RawScan(100.0 * np.concatenate([points, floor, ball])))
    assert found.unit_length == 0.01
    assert found.up_hint is not None
    assert found.up_hint[1] > 0.99
    words = " ".join(found.remarks)
    assert "floor" in words
    assert "stray" in words
    assert "cm" in words
    assert np.ptp(found.points[:, 1]) == pytest.approx(np.ptp(points[:, 1]), abs=0.06)


@pytest.mark.parametrize(
    ("points", "words"),
    [
        (np.zeros((0, 3)), "empty"),
        (np.full((900, 3), np.nan), "not finite"),
        (np.random.default_rng(0).random((10, 3)), "10 points"),
        (np.zeros((900, 3)), "one place"),
        (np.random.default_rng(0).random((900, 3)) * 1e5, "none of"),
    ],
)
def test_what_is_no_scan_is_refused(points: np.ndarray, words: str) -> None:
    """Each with its reason, before anything is fitted."""
    with pytest.raises(InputError, match=words):
        register_scan(RawScan(points))


def test_two_people_are_refused() -> None:
    """Two bodies side by side are two scans."""
    points, _, _ = drawn_cloud(4000)
    with pytest.raises(InputError, match="two bodies"):
        prepare(RawScan(np.concatenate([points, points + np.array([2.2, 0, 0])])))


def test_cell_means() -> None:
    """Two points in one cell become their mean; one apart stays."""
    points = np.array([[0.0, 0, 0], [0.1, 0, 0], [5.0, 0, 0]])
    places, values = cell_means(points, 1.0, np.array([1.0, 3.0, 7.0]))
    np.testing.assert_allclose(places[:, 0], [0.05, 5.0])
    np.testing.assert_allclose(values, [2.0, 7.0])


def test_scans_of_all_formats(tmp_path) -> None:
    """Points, colours and normals of PLY, OBJ and XYZ; landmarks of JSON and .lnd."""
    (tmp_path / "a.ply").write_text(
        "ply\nformat ascii 1.0\nelement vertex 2\nproperty float x\nproperty float y\n"
        "property float z\nproperty uchar red\nproperty uchar green\nproperty uchar blue\n"
        "property float nx\nproperty float ny\nproperty float nz\nend_header\n"
        "0 0 1 255 0 0 0 0 1\n1 0 0 0 255 0 1 0 0\n"
    )
    scan = read_raw_scan(tmp_path / "a.ply")
    assert scan.colours is not None
    assert scan.normals is not None
    np.testing.assert_allclose(scan.colours, [[1, 0, 0], [0, 1, 0]])
    np.testing.assert_allclose(scan.normals[1], [1, 0, 0])
    (tmp_path / "a.xyz").write_text("0 0 1\n1 2 3\n")
    np.testing.assert_allclose(read_raw_scan(tmp_path / "a.xyz").points[1], [1, 2, 3])
    (tmp_path / "a.obj").write_text("v 0 0 0 1 0 0\nv 1 0 0 0 1 0\nv 0 1 0 0 0 1\nf 1 2 3\n")
    colours = read_raw_scan(tmp_path / "a.obj").colours
    assert colours is not None
    np.testing.assert_allclose(colours, np.eye(3))
    (tmp_path / "a.json").write_text('{"glabella": [1, 2, 3]}')
    (tmp_path / "a.lnd").write_text("1 2 3 glabella\n")
    for name in ("a.json", "a.lnd"):
        np.testing.assert_allclose(read_landmarks(tmp_path / name)["glabella"], [1, 2, 3])
    with pytest.raises(InputError, match="suffix"):
        read_raw_scan(tmp_path / "a.doc")
    (tmp_path / "b.json").write_text("{}")
    with pytest.raises(FormatError, match="no landmarks"):
        read_landmarks(tmp_path / "b.json")


def test_texture_has_the_colour_of_the_scan() -> None:
    """A scan of one colour bakes a texture of that colour everywhere."""
    model = person_model()
    posed = model.posed(drawn_person())
    points, normals, _ = drawn_cloud(3000)
    colour = np.array([0.8, 0.4, 0.2])
    surface = ScanSurface(
        points, normals, np.ones(3000), 0.02, np.broadcast_to(colour, (3000, 3)).copy()
    )
    texture = bake_texture(surface, model.template.mesh, posed.vertices, 64)
    np.testing.assert_array_equal(texture, np.broadcast_to([204, 102, 51], (64, 64, 3)))


def test_markers_find_the_pose() -> None:
    """Markers on a known skin, without noise: every one lies within 6 mm, and stature is met."""
    model, state = person_model(), drawn_person()
    shape = np.zeros(model.space.count)
    shape[:5] = state.shape[:5]
    posed = model.posed(PersonState(shape, state.pose), corrected=False)
    labels = tuple(name for name in known_spots() if "." not in name)
    rest, joints = model.space.vertices(shape), model.space.joints(shape)
    table = marker_vertices(labels, model.template.skeleton, rest, joints)
    rows = np.array([table[label] for label in labels])
    places = np.repeat((posed.vertices + 0.0095 * posed.normals)[rows][None], 3, axis=0)
    places[1, 4] = np.nan
    # z up in the file
    fit = fit_markers(labels, places[..., [2, 0, 1]], table)
    assert fit.residuals.max() < 6e-3
    tall = np.ptp(fit.identity.rest_vertices[:, 1])
    assert tall == pytest.approx(np.ptp(rest[:, 1]), abs=0.02)
    with pytest.raises(InputError, match="labels that are known"):
        fit_markers(("a", "b"), np.zeros((2, 2, 3)))


def test_space_tells_the_sexes() -> None:
    """Most women drawn from the survey lie on one side of the discriminant."""
    from corporeal.models.phenotype.model import PhenotypeModel

    space = person_model().space
    flat = space.vertex_shapes.reshape(space.count, -1)
    gram = flat @ flat.T + 1e-6 * np.eye(space.count)
    for gender, wanted in ((0.0, False), (1.0, True)):
        body = PhenotypeModel().prepare({"gender": gender, "age": 30.0})
        offset = np.asarray(body.rest_vertices - body.joints[0]) - space.mean_vertices
        shape = np.linalg.solve(gram, flat @ offset.reshape(-1))
        assert (space.maleness(shape) > 0.5) is wanted


@pytest.mark.slow
def test_a_whole_scan_is_registered() -> None:
    """A cloud of the model's own skin with noise, turned and in millimetres: 4 mm, same person."""
    points, _, vertices = drawn_cloud(60_000)
    random = np.random.default_rng(0)
    noisy = points + 4e-4 * random.normal(size=points.shape)
    found = register_scan(RawScan(1e3 * noisy[:, [2, 0, 1]]))
    mine = found.placement.back(found.registered.vertices)[:, [1, 2, 0]] / 1e3
    assert np.linalg.norm(mine - vertices, axis=1).mean() < 4e-3
    assert found.registered.quality.unsound == 0
    pose = found.registered.pose
    assert isinstance(pose, Pose)


def test_shipped_space_is_the_one_that_is_drawn() -> None:
    """The coefficients that ship span the people drawn anew; signs of components are free."""
    from corporeal.assets.archive import read_archive
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.registration.person_space import space_coefficients

    stored, drawn = read_archive("person_space"), space_coefficients(PhenotypeModel())
    np.testing.assert_allclose(stored["mean"], drawn.mean, atol=1e-5)
    first = slice(0, 20)  # later ones lie so near to each other in size that they may mix
    products = np.sum(stored["shares"][first] * drawn.shares[first], axis=1)
    lengths = np.linalg.norm(stored["shares"][first], axis=1) * np.linalg.norm(
        drawn.shares[first], axis=1
    )
    np.testing.assert_allclose(np.abs(products) / lengths, 1.0, atol=1e-3)


def test_spread_of_what_a_scan_does_not_show() -> None:
    """Shown vertices are known to millimetres, unseen legs less; the more is shown, the better."""
    from corporeal.registration.uncertainty import SHOWN, rest_spread

    model = person_model()
    height = model.space.mean_vertices[:, 1]
    spreads = []
    for least in (0.0, -0.4):
        seen = height > least
        spread = rest_spread(seen)
        np.testing.assert_allclose(spread[seen], SHOWN)
        spreads.append(spread[height < -0.4].mean())
    assert spreads[0] > spreads[1] > SHOWN


def test_shape_is_known_whatever_the_pose_is() -> None:
    """The precision of the shape is the inverse of its block of the inverse of all; and an unseen
    hand is known less well than if the pose were given."""
    from corporeal.registration import uncertainty

    random = np.random.default_rng(2)
    shown, turned = random.normal(size=(4, 30)), random.normal(size=(30, 3))
    likely = np.array([0.3, 1.0, 2.0])
    rows = np.hstack([shown.T, turned])
    whole = 2.5 * rows.T @ rows + np.diag([*np.ones(4), *likely**-2.0])
    found = uncertainty.marginal_precision(shown, turned, 2.5, likely)
    np.testing.assert_allclose(found, np.linalg.inv(np.linalg.inv(whole)[:4, :4]), rtol=1e-9)

    model = person_model()
    labels = np.array(model.template.part_names)[np.asarray(model.template.part_labels)]
    seen = ~np.isin(labels, ("left_forearm", "left_hand"))
    spread = uncertainty.rest_spread(seen)[labels == "left_hand"].mean()
    shapes = uncertainty.SPREAD * model.space.vertex_shapes
    shapes = shapes - shapes[:, seen].mean(axis=1, keepdims=True)
    given = np.linalg.cholesky(
        uncertainty.marginal_precision(
            shapes[:, seen].reshape(len(shapes), -1),
            np.zeros((3 * int(seen.sum()), 1)),
            1.0 / (uncertainty.ALIKE_AFAR * uncertainty.SHOWN**2),
            np.ones(1),
        )
    )
    hand = shapes[:, labels == "left_hand"].reshape(len(shapes), -1)
    held = np.sqrt(np.square(np.linalg.solve(given, hand)).sum(axis=0).mean())
    assert spread > 1.1 * held
