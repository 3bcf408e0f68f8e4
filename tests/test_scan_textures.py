"""Pictures on scans, carried to the default body and into a .glb; values on foreign topologies."""

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.raw_scan import RawScan, ScanTexture
from corporeal.errors import InputError
from corporeal.formats.glb_texture import embed_glb_texture, read_glb_texture
from corporeal.formats.gltf import write_glb
from corporeal.formats.gltf_scene import read_gltf_scene
from corporeal.formats.png import write_png
from corporeal.formats.raw_scans import read_raw_scan
from corporeal.geometry.pictures import picture_colours
from corporeal.registration.colouring import carry_texture
from corporeal.registration.foreign import attach, carried_landmarks


def _gradient(size: int) -> np.ndarray:
    """Red is u, green is v."""
    across = (np.arange(size) + 0.5) / size
    u, v = np.meshgrid(across, 1.0 - across)
    return np.rint(255 * np.stack([u, v, 0 * u], axis=2)).astype(np.uint8)


def test_colours_of_a_linear_picture_are_its_coordinates() -> None:
    """Between pixels a linear picture is exact to its rounding; beyond 1 it begins again."""
    uv = np.random.default_rng(0).uniform(0.05, 0.95, (50, 2))
    for shift in (0.0, 3.0, -2.0):
        colours = picture_colours(_gradient(64), uv + shift)
        np.testing.assert_allclose(colours[:, :2], uv, atol=0.6 / 255)


def test_scan_texture_is_carried_to_the_same_place() -> None:
    """A scan that is the default body itself, with its own texture coordinates, in centimetres:
    every texel gets the colour that the picture has there. Its half is missing: the rest is filled
    from what is near, so no texel stays black in blue."""
    body = load_default_body()
    mesh = body.template.mesh
    assert mesh.uv is not None
    assert mesh.uv_triangles is not None
    vertices = 100.0 * np.asarray(mesh.vertices, np.float64)
    pixels = _gradient(256)
    texture = ScanTexture(np.asarray(mesh.uv, np.float64), np.asarray(mesh.uv_triangles), pixels)
    scan = RawScan(vertices, np.asarray(mesh.triangles), texture=texture)
    carried = carry_texture(scan, mesh, vertices, 3.0, 256)
    apart = np.abs(carried.astype(int) - pixels.astype(int)).max(axis=2)
    # seams and the gutters around islands take their neighbours' colours
    assert np.median(apart) <= 1
    assert (apart <= 3).mean() > 0.5
    with pytest.raises(InputError, match="no texture"):
        carry_texture(RawScan(vertices, np.asarray(mesh.triangles)), mesh, vertices, 3.0, 64)


def test_picture_goes_into_a_character_and_back(tmp_path) -> None:
    """Pixels survive; vertex colours go; a material that is not there is refused."""
    body = load_default_body()
    path = tmp_path / "a.glb"
    colours = np.full((body.template.mesh.vertex_count, 3), 0.3, np.float32)
    template = body.template
    identity = Identity(template.mesh.vertices, template.skeleton.joints, {})
    write_glb(path, template, identity, vertex_colours=colours)
    assert read_glb_texture(path) is None
    pixels = _gradient(32)
    embed_glb_texture(path, pixels)
    np.testing.assert_array_equal(read_glb_texture(path), pixels)
    assert read_gltf_scene(path).meshes[0].primitives[0].colours is None
    with pytest.raises(InputError, match="no material"):
        embed_glb_texture(path, pixels, "hat")


def test_obj_with_a_picture(tmp_path) -> None:
    """Corners take the picture's colours; a picture outside the folder is not looked for."""
    write_png(tmp_path / "skin.png", _gradient(64))
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd -s 1 1 1 skin.png\n")
    rows = "mtllib a.mtl\nv 0 0 0\nv 1 0 0\nv 0 1 0\nvt 0.25 0.25\nvt 0.75 0.25\nvt 0.25 0.75\n"
    (tmp_path / "a.obj").write_text(rows + "f 1/1 2/2 3/3\n")
    scan = read_raw_scan(tmp_path / "a.obj")
    assert scan.texture is not None
    assert scan.colours is not None
    wanted = [[0.25, 0.25], [0.75, 0.25], [0.25, 0.75]]
    np.testing.assert_allclose(scan.colours[:, :2], wanted, atol=0.01)
    (tmp_path / "a.mtl").write_text("newmtl m\nmap_Kd ../../elsewhere/other.png\n")
    assert read_raw_scan(tmp_path / "a.obj").texture is None


def test_values_go_to_another_topology_and_back() -> None:
    """A linear function of place is the same on a plane of other triangles; what is far is told."""
    grid = np.stack(np.meshgrid(np.linspace(0, 1, 5), np.linspace(0, 1, 5)), axis=-1).reshape(-1, 2)
    coarse = np.column_stack([grid, np.zeros(25)])
    rows = [(5 * r + c, 5 * r + c + 1, 5 * r + c + 6) for r in range(4) for c in range(4)]
    rows += [(5 * r + c, 5 * r + c + 6, 5 * r + c + 5) for r in range(4) for c in range(4)]
    triangles = np.array(rows)
    points = np.array([[0.3, 0.4, 0.01], [0.71, 0.13, 0.0], [3.0, 0.0, 0.0]])
    held = attach(points, coarse, triangles)
    values = held.on(coarse @ [2.0, -1.0, 0.0])
    np.testing.assert_allclose(values[:2], points[:2] @ [2.0, -1.0, 0.0], atol=1e-12)
    np.testing.assert_array_equal(held.within(0.1), [True, True, False])
    moved = coarse + np.array([0.0, 0.0, 5.0])
    mark = carried_landmarks({"navel": points[1]}, coarse, triangles, moved)["navel"]
    np.testing.assert_allclose(mark, [0.71, 0.13, 5.0], atol=1e-12)
