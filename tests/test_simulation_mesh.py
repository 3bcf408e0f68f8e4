"""Decimation to a simulation mesh whose vertices are a subset."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from solids import icosphere

from corporeal.assets.coarse_surface import coarse_surface_of
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.tissue_maps import TissueMaps
from corporeal.errors import InputError
from corporeal.geometry.surface import edge_triangles, triangle_areas, unique_edges
from corporeal.physics.fast_projective_skinning import preparation
from corporeal.physics.fast_projective_skinning.extreme_shapes import (
    ExtremeShapes,
    template_extremes,
)
from corporeal.physics.fast_projective_skinning.preparation import Preparations
from corporeal.physics.volumetric_mesh.simulation_mesh import (
    DEFAULT_VERTEX_COUNT,
    SimulationMesh,
    decimate,
    decimated_template,
    simulation_mesh,
    spread_vertices,
    targets_of,
)


@cache
def default_simulation_mesh() -> SimulationMesh:
    return simulation_mesh(load_default_body().template)


def sheet(count: int) -> Mesh:
    """A flat square of (count+1)² vertices with a boundary, 1 m wide."""
    side = np.linspace(0, 1, count + 1)
    x, y = np.meshgrid(side, side, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange((count + 1) ** 2).reshape(count + 1, count + 1)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    return Mesh(vertices, triangles)


def closed_and_oriented(triangles: np.ndarray) -> bool:
    directed = triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    there, back = (set(map(tuple, pairs.tolist())) for pairs in (directed, directed[:, ::-1]))
    return there == back and len(there) == len(directed)


def test_a_sphere_keeps_its_topology_and_its_vertices():
    vertices, triangles = icosphere(3)
    regions = np.zeros(len(vertices), int)
    coarse = decimate(Mesh(vertices, triangles), regions, np.array([100]))
    assert coarse.vertex_count == 100
    assert len(coarse.triangles) == 2 * 100 - 4
    assert closed_and_oriented(coarse.triangles)
    surface = coarse.surface(vertices)
    np.testing.assert_array_equal(surface.vertices, vertices[coarse.vertex_indices])
    corners = surface.vertices[coarse.triangles]
    volume = np.sum(np.cross(corners[:, 0], corners[:, 1]) * corners[:, 2]) / 6
    assert volume > 0.85 * 4 / 3 * np.pi


def test_a_flat_sheet_keeps_its_area_and_its_outline():
    """Planes cost nothing, boundaries do: a square stays a square exactly."""
    mesh = sheet(12)
    coarse = decimate(mesh, np.zeros(mesh.vertex_count, int), np.array([20]))
    areas = triangle_areas(mesh.vertices[coarse.vertex_indices], coarse.triangles)
    np.testing.assert_allclose(areas.sum(), 1.0, rtol=1e-12)
    kept = set(coarse.vertex_indices.tolist())
    assert {0, 12, 12 * 13, 13 * 13 - 1} <= kept


def test_regions_lose_vertices_of_their_own_only():
    mesh = sheet(12)
    left = np.asarray(mesh.vertices)[:, 0] < 0.5
    coarse = decimate(mesh, left.astype(int), np.array([10_000, 20]))
    kept = np.zeros(mesh.vertex_count, bool)
    kept[coarse.vertex_indices] = True
    assert kept[~left].all()
    assert kept[left].sum() == 20


def test_nothing_is_done_when_nothing_is_asked():
    vertices, triangles = icosphere(1)
    coarse = decimate(Mesh(vertices, triangles), np.zeros(len(vertices), int), np.array([9999]))
    np.testing.assert_array_equal(coarse.triangles, triangles)


def test_it_stops_where_the_topology_would_change():
    """A sphere has at least four vertices, whatever is asked for."""
    vertices, triangles = icosphere(1)
    coarse = decimate(Mesh(vertices, triangles), np.zeros(len(vertices), int), np.array([0]))
    assert coarse.vertex_count >= 4
    assert closed_and_oriented(coarse.triangles)


def test_edges_of_three_faces_are_left_alone():
    mesh = sheet(6)
    fin = np.array([[0.5, 0.5, 0.3]])
    vertices = np.concatenate([mesh.vertices, fin])
    middle = 3 * 7 + 3
    triangles = np.concatenate([mesh.triangles, [[middle, middle + 1, len(vertices) - 1]]])
    coarse = decimate(Mesh(vertices, triangles), np.zeros(len(vertices), int), np.array([5]))
    assert {middle, middle + 1} <= set(coarse.vertex_indices.tolist())


def test_vertices_are_spread_by_area_up_to_what_there_is():
    """Two halves of a sheet, one wished twice as dense: 2 : 1, until the denser one is full."""
    mesh = sheet(12)
    regions = (np.asarray(mesh.vertices)[:, 0] > 0.5).astype(int)
    present = np.bincount(regions)
    few = spread_vertices(mesh, regions, np.array([2.0, 1.0]), 60)
    assert few.sum() == pytest.approx(60, abs=2)
    assert few[0] / few[1] == pytest.approx(2.0 * 7 / 6, rel=0.15)  # the middle row leans left
    many = spread_vertices(mesh, regions, np.array([2.0, 1.0]), 160)
    assert many[0] == present[0]
    np.testing.assert_array_equal(spread_vertices(mesh, regions, np.ones(2), 10_000), present)


def test_flesh_of_the_default_body_is_not_starved():
    template = load_default_body().template
    coarse = default_simulation_mesh()
    kept = np.zeros(template.mesh.vertex_count, bool)
    kept[coarse.vertex_indices] = True
    for part in ("belly", "left_breast", "right_buttock", "left_thigh", "right_thigh"):
        assert kept[template.part(part)].all()
    assert abs(coarse.vertex_count - 4700) < 50


def test_the_default_bodys_simulation_mesh_is_one_closed_sphere():
    coarse = default_simulation_mesh()
    _, pairs = edge_triangles(coarse.triangles)
    assert (pairs >= 0).all()
    edges = len(unique_edges(coarse.triangles))
    assert coarse.vertex_count - edges + len(coarse.triangles) == 2
    assert closed_and_oriented(coarse.triangles)


def test_wrong_regions_are_refused():
    mesh = sheet(3)
    with pytest.raises(InputError, match="3 region labels came for 16 vertices"):
        decimate(mesh, np.zeros(3, int), np.array([4]))
    with pytest.raises(InputError, match="regions hold indices"):
        decimate(mesh, np.ones(16, int), np.array([4]))
    with pytest.raises(InputError, match="simulation triangles"):
        SimulationMesh(np.arange(3), np.array([[0, 1, 3]]))


def test_the_coarse_surface_that_ships_is_what_decimation_makes():
    """tools/build_coarse_surface.py is to be run again when the body or the decimation changes."""
    template = load_default_body().template
    shipped = default_simulation_mesh()
    made = decimated_template(template, targets_of(template, DEFAULT_VERTEX_COUNT))
    np.testing.assert_array_equal(shipped.vertex_indices, made.vertex_indices)
    np.testing.assert_array_equal(shipped.triangles, made.triangles)
    assert shipped.mirror is not None
    assert made.mirror is not None
    np.testing.assert_array_equal(shipped.mirror, made.mirror)


def test_a_body_that_is_not_the_default_one_is_decimated_itself():
    """A vertex moved, or other targets: what ships is for the very body alone."""
    template = load_default_body().template
    moved = np.array(template.mesh.vertices, np.float64)
    moved[:, 1] *= 1.5
    taller = replace(template, mesh=replace(template.mesh, vertices=moved))
    own = simulation_mesh(taller)
    assert not np.array_equal(own.vertex_indices, default_simulation_mesh().vertex_indices)
    fewer = simulation_mesh(template, 2000)
    assert fewer.vertex_count < 2100


def test_the_crowded_vertices_that_ship_are_those_of_deep_folds():
    """Volumes beside a threshold turn over with the last bits of a static balance: one vertex in
    two hundred may differ on another machine."""
    template = load_default_body().template
    extremes = template_extremes(template, Preparations(template), "sculpted")
    shipped = coarse_surface_of(template)
    assert shipped is not None
    found = extremes.crowded(np.tile(np.arange(len(shipped.vertex_indices)), 2))
    assert found is not None
    assert np.mean(found != shipped.crowded) < 0.005


def test_flesh_with_maps_or_of_another_pose_finds_its_own_crowded_vertices(
    monkeypatch: pytest.MonkeyPatch,
):
    template = load_default_body().template
    count = template.mesh.vertex_count
    asked = []

    def crowded(self: ExtremeShapes, skin_of: np.ndarray) -> None:
        asked.append(len(skin_of))

    monkeypatch.setattr(ExtremeShapes, "crowded", crowded)
    monkeypatch.setattr(preparation, "kept_crowding", lambda key, count: None)
    monkeypatch.setattr(preparation, "keep_crowding", lambda key, made: None)
    rest = Identity(np.asarray(template.mesh.vertices), np.asarray(template.skeleton.joints), {})
    soft = Preparations(template, maps=TissueMaps(np.full(count, 0.5)))
    assert soft.of(rest, "sculpted")._crowded() is None  # pyright: ignore[reportPrivateUsage]
    plain = Preparations(template)
    assert plain.of(rest, "t-pose")._crowded() is None  # pyright: ignore[reportPrivateUsage]
    assert len(asked) == 2
    assert plain.of(rest, "sculpted")._crowded() is not None  # pyright: ignore[reportPrivateUsage]
    assert len(asked) == 2
