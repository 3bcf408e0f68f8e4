"""Mirror maps of surfaces and joints, and coarse surfaces that are mirror images of themselves."""

import numpy as np
import pytest
from solids import icosphere

from corporeal.assets.default_body import load_default_body
from corporeal.body.mesh import Mesh
from corporeal.geometry.mirror import (
    REFLECTION,
    can_be_halved,
    mirror_joints,
    mirror_map,
    mirrored_triangles,
    sides,
)
from corporeal.geometry.surface import surface_area
from corporeal.physics.volumetric_mesh.prisms import signed_volumes, split_prisms
from corporeal.physics.volumetric_mesh.simulation_mesh import SimulationMesh, decimate


def globe(rings: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """A unit sphere of circles about y, with meridians on x = 0; every quad is split the same way
    round, so that diagonals are not mirrored."""
    down = np.pi * np.arange(1, rings)[:, None] / rings
    around = 2 * np.pi * np.arange(columns)[None] / columns
    x, z = np.sin(down) * np.sin(around), np.sin(down) * np.cos(around)
    y = np.broadcast_to(np.cos(down), x.shape)
    vertices = np.concatenate([np.stack([x, y, z], -1).reshape(-1, 3), [[0, 1, 0], [0, -1, 0]]])
    number = np.arange((rings - 1) * columns).reshape(rings - 1, columns)
    right = np.roll(number, -1, axis=1)
    a, b, c, d = number[:-1], number[1:], right[1:], right[:-1]
    faces = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    top = np.stack([np.full(columns, len(vertices) - 2), number[0], right[0]], axis=1)
    bottom = np.stack([np.full(columns, len(vertices) - 1), right[-1], number[-1]], axis=1)
    return vertices, np.concatenate([faces, top, bottom])


def oriented(triangles: np.ndarray) -> set[tuple[int, ...]]:
    """Triangles that begin with their smallest corner."""
    shift = triangles.argmin(axis=1)[:, None] + np.arange(3)
    return set(map(tuple, np.take_along_axis(triangles, shift % 3, axis=1).tolist()))


def coarse_globe(target: int) -> tuple[np.ndarray, SimulationMesh]:
    vertices, triangles = globe(24, 32)
    mesh = Mesh(vertices, triangles, mirror=mirror_map(vertices, triangles))
    return vertices, decimate(mesh, np.zeros(len(vertices), int), np.array([target]))


def test_a_sphere_is_its_own_mirror_image():
    """Images are within rounding, the map is its own inverse, and a mesh may be split along other
    diagonals on the other side."""
    vertices, triangles = globe(12, 16)
    mirror = mirror_map(vertices, triangles)
    assert mirror is not None
    np.testing.assert_allclose(vertices[mirror] * REFLECTION, vertices, atol=1e-15)
    np.testing.assert_array_equal(mirror[mirror], np.arange(len(vertices)))
    side = sides(vertices, mirror)
    np.testing.assert_array_equal(side[mirror], -side)
    assert (np.abs(vertices[side == 0, 0]) < 1e-15).all()
    assert (vertices[side > 0, 0] > 0).all()
    assert oriented(triangles) != oriented(mirror[triangles][:, ::-1])
    alike = mirrored_triangles(triangles, mirror, side)
    assert oriented(alike) == oriented(mirror[alike][:, ::-1])
    assert len(alike) == len(triangles)


@pytest.mark.parametrize("moved", [0, 100])
def test_a_dented_sphere_has_no_mirror_image(moved: int):
    vertices, triangles = globe(12, 16)
    vertices[moved + 1] *= 0.999
    assert mirror_map(vertices, triangles) is None
    assert mirror_map(vertices, triangles, tolerance=0.01) is not None


def test_other_edges_have_no_mirror_image():
    """Vertices of a globe, with a net that joins each circle to the next two columns further on:
    images of edges are neither edges nor other diagonals."""
    vertices, triangles = globe(12, 16)
    sheared = triangles.copy()
    body = sheared < 11 * 16
    ring, column = sheared // 16, sheared % 16
    sheared[body] = (ring * 16 + (column + 2 * ring) % 16)[body]
    assert mirror_map(vertices, sheared) is None


def test_the_default_body_is_found_to_be_mirrored_as_it_says():
    mesh = load_default_body().template.mesh
    found = mirror_map(np.asarray(mesh.vertices), mesh.triangles)
    np.testing.assert_array_equal(found, mesh.mirror)


def test_joints_are_mirrored_by_tree_and_place():
    """On the default body left and right names exchange; a joint off the plane has no image."""
    skeleton = load_default_body().template.skeleton
    parents = np.array(skeleton.parents)
    images = mirror_joints(np.asarray(skeleton.joints), parents)
    assert images is not None
    exchange = {"left": "right", "right": "left"}
    for name, image in zip(skeleton.names, images, strict=True):
        side, _, rest = name.partition("_")
        other = f"{exchange[side]}_{rest}" if side in exchange else name
        assert skeleton.names[image] == other
    moved = np.asarray(skeleton.joints, float).copy()
    moved[skeleton.index("left_elbow"), 1] += 0.02
    assert mirror_joints(moved, parents) is None


@pytest.mark.parametrize("target", [300, 60, 4])
def test_a_symmetric_surface_is_decimated_symmetrically(target: int):
    """Kept vertices and triangles are mirror images, and the surface stays closed (Euler number 2,
    every directed edge once), down to the fewest vertices that collapses allow."""
    vertices, coarse = coarse_globe(target)
    mirror = coarse.mirror
    assert mirror is not None
    kept = vertices[coarse.vertex_indices]
    np.testing.assert_allclose(kept[mirror] * REFLECTION, kept, atol=1e-15)
    assert oriented(coarse.triangles) == oriented(mirror[coarse.triangles][:, ::-1])
    directed = coarse.triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2)
    there, back = (set(map(tuple, pairs.tolist())) for pairs in (directed, directed[:, ::-1]))
    assert there == back
    assert len(there) == len(directed)
    assert coarse.vertex_count - len(directed) // 2 + len(coarse.triangles) == 2
    assert target <= coarse.vertex_count <= max(target + 1, 16)


def test_symmetry_costs_no_accuracy():
    """The volume that a coarse sphere misses is that of one decimated without the map, to 5 %."""
    vertices, coarse = coarse_globe(200)
    _, triangles = globe(24, 32)
    plain = decimate(Mesh(vertices, triangles), np.zeros(len(vertices), int), np.array([200]))
    assert plain.mirror is None
    assert plain.vertex_count == 200

    def missed(simulated: SimulationMesh) -> float:
        corner = vertices[simulated.vertex_indices][simulated.triangles]
        return 4 / 3 * np.pi - np.linalg.det(corner).sum() / 6

    assert missed(coarse) < 1.05 * missed(plain)


def test_an_open_sheet_keeps_its_outline():
    """A flat square over the plane, whose sides cross it: area and corners stay."""
    side = np.linspace(-0.5, 0.5, 13)
    x, y = np.meshgrid(side, side, indexing="ij")
    vertices = np.stack([x.ravel(), y.ravel(), np.zeros(x.size)], axis=1)
    corner = np.arange(13 * 13).reshape(13, 13)
    a, b, c, d = corner[:-1, :-1], corner[1:, :-1], corner[1:, 1:], corner[:-1, 1:]
    triangles = np.stack([a, b, c, a, c, d], axis=-1).reshape(-1, 3)
    mesh = Mesh(vertices, triangles, mirror=mirror_map(vertices, triangles))
    coarse = decimate(mesh, np.zeros(len(vertices), int), np.array([24]))
    assert coarse.mirror is not None
    assert coarse.vertex_count < 30
    surface = coarse.surface(vertices)
    area = surface_area(np.asarray(surface.vertices), surface.triangles)
    assert float(area) == pytest.approx(1.0, abs=1e-12)


def test_edges_across_the_plane_are_decimated_as_without_a_map():
    """An icosphere has triangles on both sides of the plane: it cannot be halved."""
    vertices, triangles = icosphere(2)
    mirror = mirror_map(vertices, triangles)
    assert mirror is not None
    assert not can_be_halved(triangles, sides(vertices, mirror))
    regions, targets = np.zeros(len(vertices), int), np.array([60])
    with_map = decimate(Mesh(vertices, triangles, mirror=mirror), regions, targets)
    without = decimate(Mesh(vertices, triangles), regions, targets)
    assert with_map.mirror is None
    np.testing.assert_array_equal(with_map.triangles, without.triangles)


def test_prisms_of_a_symmetric_surface_are_split_symmetrically():
    """Tetrahedra are mirror images of tetrahedra and fill the shell between two spheres of 1 m and
    0.5 m; by index alone they are not."""
    vertices, coarse = coarse_globe(300)
    mirror, count = coarse.mirror, coarse.vertex_count
    assert mirror is not None
    outer = vertices[coarse.vertex_indices]
    points = np.concatenate([outer, 0.5 * outer])
    both = np.concatenate([mirror, mirror + count])

    def elements(tetrahedra: np.ndarray) -> set[tuple[int, ...]]:
        return set(map(tuple, np.sort(tetrahedra, axis=1).tolist()))

    tetrahedra, _ = split_prisms(coarse.triangles, count, mirror)
    by_index, _ = split_prisms(coarse.triangles, count)
    assert elements(tetrahedra) == elements(both[tetrahedra])
    assert elements(by_index) != elements(both[by_index])
    whole = np.linalg.det(outer[coarse.triangles]).sum() / 6
    assert signed_volumes(points, tetrahedra).sum() == pytest.approx(0.875 * whole, rel=1e-12)
    assert (signed_volumes(points, tetrahedra) > 0).all()
