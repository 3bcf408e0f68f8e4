"""Scans as strangers bring them: what stands about the person, hollow surfaces, spoilt numbers."""

from functools import cache

import numpy as np
import pytest

from corporeal.body.mesh import Mesh
from corporeal.body.raw_scan import RawScan
from corporeal.errors import InputError
from corporeal.formats.raw_scans import read_raw_scan
from corporeal.geometry.surface import vertex_adjacency
from corporeal.registration.cloud import sample_surface
from corporeal.registration.coupled_stage import matches
from corporeal.registration.flat_things import flat_things
from corporeal.registration.model_stage import FINE, ModelStage, as_it_lies, fit_model
from corporeal.registration.other_things import without_other_things
from corporeal.registration.person_model import person_model
from corporeal.registration.plausible import require_hope, require_human
from corporeal.registration.preparing import prepare
from corporeal.registration.scan_surface import ScanSurface
from corporeal.registration.soundness import crossing_triangles, mended, unsound_triangles

POINTS = 9000
"""Of the person, about 1.4 cm apart."""


@cache
def _person() -> tuple[np.ndarray, np.ndarray]:
    """Points and normals of the mean person, standing on y = 0."""
    model = person_model()
    vertices = model.space.mean_vertices - [0.0, model.space.mean_vertices[:, 1].min(), 0.0]
    cloud = sample_surface(Mesh(vertices, np.asarray(model.template.mesh.triangles)), POINTS)
    return cloud.points, cloud.normals


def _plate(radius: float, thick: float) -> np.ndarray:
    """A closed disc whose top is at y = 0, evenly covered."""
    random = np.random.default_rng(2)
    turn = random.uniform(0.0, 2.0 * np.pi, 6000)
    out = np.where(np.arange(6000) < 1000, radius, radius * np.sqrt(random.random(6000)))
    side = random.uniform(-thick, 0.0, 6000)
    y = np.where(np.arange(6000) < 1000, side, np.where(random.random(6000) < 0.5, 0.0, -thick))
    return np.stack([out * np.cos(turn), y, out * np.sin(turn)], axis=1)


def _box(
    middle: tuple[float, float, float], sizes: tuple[float, float, float], count: int = 6000
) -> np.ndarray:
    random = np.random.default_rng(4)
    points = random.uniform(-0.5, 0.5, (count, 3))
    axis = random.integers(0, 3, count)
    points[np.arange(count), axis] = random.choice([-0.5, 0.5], count)
    return points * sizes + middle


def test_a_person_is_not_flat() -> None:
    """No patch of skin is taken for a thing."""
    points, _ = _person()
    found = flat_things(points, points)
    assert found.up is None
    assert found.points.mean() == 0.0


def test_a_plate_goes_with_its_rim_and_bottom() -> None:
    """All of a plate 5 cm thick is taken away, and of the person nothing above her soles: the rim
    lies beneath the top, on which everything else stands."""
    person, _ = _person()
    plate = _plate(0.45, 0.05)
    both = np.concatenate([person, plate])
    found = flat_things(both, both)
    assert found.up is not None
    assert found.up[1] > 0.999
    assert found.points[len(person) :].mean() > 0.999
    assert person[found.points[: len(person)], 1].max() < 0.03
    tilted = both[:, [2, 0, 1]]
    assert flat_things(tilted, tilted).up == pytest.approx([0.0, 0.0, 1.0], abs=0.01)


def test_a_box_beside_a_person_is_no_part_of_her() -> None:
    """Of a box as large as herself, 10 cm from a hand, nothing is left, and she is left whole."""
    person, _ = _person()
    box = _box((person[:, 0].max() + 0.4, 0.5, 0.0), (0.6, 1.0, 0.5))
    found = prepare(RawScan(np.concatenate([person, box])), "m")
    assert found.points[:, 0].max() < person[:, 0].max() + 0.02
    assert np.ptp(found.points, axis=0) == pytest.approx(np.ptp(person, axis=0), abs=0.03)
    assert "flat faces" in " ".join(found.remarks)


def test_a_cube_is_refused_at_once() -> None:
    """What has flat faces alone is told to be so, without a fit."""
    with pytest.raises(InputError, match="flat things and no person"):
        prepare(RawScan(_box((0.0, 0.8, 0.0), (1.6, 1.6, 1.6), 30_000)))


def _lying(points: np.ndarray, normals: np.ndarray):
    """A surface, and the mean person where `_person` has her."""
    model = person_model()
    start = model.start()
    low = model.space.mean_vertices[:, 1].min()
    start.pose.translation[1] -= low
    surface = ScanSurface(points, normals, np.ones(len(points)), 0.014)
    return model, surface, as_it_lies(model, surface, start, ModelStage(1, 0.015, 0.05, 0, 2000))


def test_a_stool_under_the_body_is_left_out() -> None:
    """A column of a sixth of the points, 7 cm from a hand at its nearest, is left out, the person
    is not; scattered outliers stay, which are nobody's."""
    person, normals = _person()
    random = np.random.default_rng(7)
    turn = random.uniform(0.0, 2.0 * np.pi, 1800)
    column = np.stack([np.cos(turn), random.uniform(-0.1, 1.1, 1800), np.sin(turn)], axis=1)
    column = column * [0.08, 1.0, 0.08] + [person[:, 0].max() + 0.16, 0.0, 0.0]
    loose = random.uniform((-0.3, 0.0, 0.7), (0.3, 0.6, 1.3), (20, 3))
    points = np.concatenate([person, column, loose])
    every = np.concatenate([normals, np.tile([0.0, 1.0, 0.0], (1820, 1))])
    model, surface, fit = _lying(points, every)
    left, share = without_other_things(model, surface, fit, np.zeros((0, 3)))
    assert share == pytest.approx(1800 / len(points), abs=0.002)
    assert len(left.points) >= POINTS
    require_human(model, left, fit, share)


def test_most_of_a_scan_is_no_other_thing() -> None:
    """A ball three times as large as the person's scan is not left out, and then refused."""
    person, normals = _person()
    way = np.random.default_rng(8).normal(size=(3 * POINTS, 3))
    way /= np.linalg.norm(way, axis=1, keepdims=True)
    points = np.concatenate([person, 0.5 * way + [2.5, 1.0, 0.0]])
    model, surface, fit = _lying(points, np.concatenate([normals, way]))
    left, share = without_other_things(model, surface, fit, np.zeros((0, 3)))
    assert share == 0.0
    assert left is surface
    with pytest.raises(InputError, match="does not look like one person"):
        require_hope(model, surface, fit)


@pytest.mark.parametrize("inside_out", [False, True])
def test_the_inside_of_a_hollow_surface_is_left_out(inside_out: bool) -> None:
    """Of two walls 8 mm apart the outer one is kept, whichever way the file turns them; a body with
    one wall is not hollow."""
    model = person_model()
    triangles = np.asarray(model.template.mesh.triangles)
    outer = model.space.mean_vertices
    inner = outer - 8e-3 * model.rest_normals
    both = np.concatenate([triangles, triangles[:, ::-1] + len(outer)])
    both = both[:, ::-1] if inside_out else both
    found = prepare(RawScan(np.concatenate([outer, inner]), both), "m")
    assert "hollow" in " ".join(found.remarks)
    feet = matches(outer, triangles, found.points).feet
    away = np.linalg.norm(found.points - feet, axis=1)
    assert np.mean(away < 2e-3) > 0.93  # the mouth's walls and ears have no outside of their own
    assert "hollow" not in " ".join(prepare(RawScan(outer, triangles), "m").remarks)


def test_points_of_a_ply_that_are_no_numbers_are_dropped(tmp_path) -> None:
    """The reader of scans gives back what the file has; `prepare` drops it with a remark."""
    person, _ = _person()
    spoilt = person.astype(">f4")
    spoilt[::50] = np.nan
    head = f"ply\nformat binary_big_endian 1.0\nelement vertex {len(spoilt)}\n"
    head += "property float x\nproperty float y\nproperty float z\nend_header\n"
    (tmp_path / "a.ply").write_bytes(head.encode() + spoilt.tobytes())
    found = prepare(read_raw_scan(tmp_path / "a.ply"))
    assert found.remarks[0] == f"{len(person[::50])} points that are not finite were dropped."
    assert np.ptp(found.points, axis=0) == pytest.approx(np.ptp(person, axis=0), abs=0.02)


def test_toes_that_cross_in_the_model_are_no_trap() -> None:
    """Toes of the mean person cross already. Where a skin 1 mm off makes others cross, both sides
    must move, not that alone which does not cross in the model: that left a triangle here."""
    model = person_model()
    triangles = np.asarray(model.template.mesh.triangles)
    rest = model.space.mean_vertices
    known = crossing_triangles(rest, triangles)
    assert known.any()
    names = np.array(model.template.part_names)[np.asarray(model.template.part_labels)]
    feet = np.isin(names, ["left_foot", "right_foot"])
    off = np.random.default_rng(2).normal(size=rest.shape)
    near = vertex_adjacency(triangles, len(rest))
    for _ in range(3):
        off = 0.5 * off + 0.5 * (near @ off) / np.asarray(near.sum(axis=1)).reshape(-1, 1)
    rough = rest + feet[:, None] * 1e-3 * off / off.std()
    assert unsound_triangles(rough, rest, triangles, known).count > 0
    assert mended(rough, rest, triangles)[1] == 0


def test_mending_goes_no_further_than_it_must() -> None:
    """Two sheets of skin 20 mm outside of the model that cross by 2 mm part by millimetres; they
    are not brought back all the way."""
    x, y = np.meshgrid(np.linspace(-0.1, 0.1, 21), np.linspace(-0.1, 0.1, 21), indexing="ij")
    flat = np.stack([x, y, np.zeros_like(x)], axis=2).reshape(-1, 3)
    corner = (np.arange(20)[:, None] * 21 + np.arange(20)).reshape(-1)
    quads = corner[:, None] + np.array([0, 21, 22, 1])
    sheet = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
    triangles = np.concatenate([sheet, sheet[:, ::-1] + len(flat)])
    bump = 0.02 + 2e-3 * np.exp(-np.sum(flat[:, :2] ** 2, axis=1) / 0.03**2)
    away = np.array([0.0, 0.0, 0.021])
    model = np.concatenate([flat - away, flat + away])
    mesh = model + np.concatenate([bump, -bump])[:, None] * [0.0, 0.0, 1.0]
    assert unsound_triangles(mesh, model, triangles).count > 0
    apart, left = mended(mesh, model, triangles)
    assert left == 0
    assert np.linalg.norm(apart - mesh, axis=1).max() < 0.008


def test_feet_that_a_scan_lacks_do_not_shorten_the_legs() -> None:
    """Of a person cut at the ankles, who already lies on the scan, the first pass keeps the feet
    where they were: their vertices find the cut, whose points find the shins. How far feet go
    depends on where points happen to lie (8 to 20 mm), so three cuts are taken together."""
    person, normals = _person()
    away: dict[bool, list[float]] = {True: [], False: []}
    for cut in (0.11, 0.12, 0.13):
        kept = person[:, 1] > cut
        model, surface, fit = _lying(person[kept], normals[kept])
        feet = fit.posed.vertices[:, 1] < fit.posed.vertices[:, 1].min() + 0.05
        for strict in away:
            stage = FINE[0]._replace(strict=strict)
            found = fit_model(model, surface, fit.state, (stage,)).posed.vertices
            gone = np.linalg.norm(found - fit.posed.vertices, axis=1)[feet]
            away[strict].append(float(gone.mean()))
    assert FINE[0].strict
    assert np.mean(away[True]) < 0.015  # spacing of the points
    assert min(away[False]) > 3.0 * max(away[True])


def test_hands_beyond_the_sides_of_a_plinth_are_kept() -> None:
    """The planes of a plinth's sides have a hand each beyond them, above the plinth: all of the
    plinth goes, of her nothing above the soles."""
    person, _ = _person()
    plinth = _box((0.0, -0.175, 0.0), (2.0 * (person[:, 0].max() - 0.12), 0.35, 0.46), 9000)
    both = np.concatenate([person, plinth])
    found = flat_things(both, both)
    assert found.points[len(person) :].mean() > 0.99
    assert person[found.points[: len(person)], 1].max() < 0.03


def test_a_thin_uneven_slab_is_a_floor() -> None:
    """A slab 4 cm thick whose faces rise and fall by 4 mm, as a phone makes a patch of floor: its
    two faces lie nearer to each other than coarse points to their neighbours."""
    person, _ = _person()
    random = np.random.default_rng(11)
    across = random.uniform(-0.6, 0.6, (30_000, 2))
    top = 0.004 * np.sin(9.0 * across[:, 0]) * np.sin(7.0 * across[:, 1])
    y = top - np.where(np.arange(30_000) < 15_000, 0.0, 0.04)
    slab = np.stack([across[:, 0], y, across[:, 1]], axis=1)
    both = np.concatenate([person, slab])
    found = flat_things(both, both[::16])
    assert found.up is not None
    assert found.up[1] > 0.99
    assert found.points[len(person) :].mean() > 0.98
    assert person[found.points[: len(person)], 1].max() < 0.03
