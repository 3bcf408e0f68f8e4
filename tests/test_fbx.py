"""FBX: the tree that is written, read by an independent parser and played by hand."""

from pathlib import Path

import numpy as np
import pytest
from fbx_reader import ReadNode, read_fbx_tree
from takes import eye, soft_character

from corporeal.body.character import Character
from corporeal.errors import OutputError
from corporeal.formats import fbx_nodes
from corporeal.formats.fbx import write_fbx
from corporeal.formats.fbx_animation import smooth_euler
from corporeal.formats.fbx_nodes import FbxNode, Int64, encode_document
from corporeal.geometry.rotations import quaternion_from_axis_angle
from corporeal.skinning.playback import character_vertices

TICKS = 46_186_158_000


@pytest.fixture(scope="module")
def character() -> Character:
    return soft_character()


@pytest.fixture(scope="module")
def tree(character: Character, tmp_path_factory: pytest.TempPathFactory) -> ReadNode:
    path = tmp_path_factory.mktemp("fbx") / "soft.fbx"
    write_fbx(path, character)
    return read_fbx_tree(path)[0]


class Scene:
    """Objects by number, and who hangs where."""

    def __init__(self, tree: ReadNode) -> None:
        self.objects = {node.properties[0]: node for node in tree.one("Objects").children}
        self.links = [node.properties for node in tree.one("Connections").children]

    def named(self, kind: str, subclass: str, name: str | None = None) -> int:
        (number,) = (
            number
            for number, node in self.objects.items()
            if (node.name, node.properties[2]) == (kind, subclass)
            and name in (None, node.properties[1].partition("\0")[0])
        )
        return number

    def below(self, number: int, kind: str, where: str | None = None) -> list[int]:
        """Numbers of the objects of a kind that hang under `number` (on its property `where`)."""
        return [
            link[1]
            for link in self.links
            if link[2] == number
            and self.objects[link[1]].name == kind
            and (where is None or link[3:] == [where])
        ]

    def curves(self, number: int, where: str) -> np.ndarray:
        """Keyed values of an animated property, one column a channel."""
        (node,) = self.below(number, "AnimationCurveNode", where)
        curves = [self.objects[c] for c in self.below(node, "AnimationCurve")]
        return np.stack([c.one("KeyValueFloat").properties[0] for c in curves], axis=-1)


def rotation(degrees: np.ndarray) -> np.ndarray:
    """FBX's default order: x turns first, then y, then z."""
    x, y, z = np.deg2rad(degrees)
    turn_x = [[1, 0, 0], [0, np.cos(x), -np.sin(x)], [0, np.sin(x), np.cos(x)]]
    turn_y = [[np.cos(y), 0, np.sin(y)], [0, 1, 0], [-np.sin(y), 0, np.cos(y)]]
    turn_z = [[np.cos(z), -np.sin(z), 0], [np.sin(z), np.cos(z), 0], [0, 0, 1]]
    return np.array(turn_z) @ np.array(turn_y) @ np.array(turn_x)


def play(scene: Scene, character: Character, frame: int) -> np.ndarray:
    """Posed vertices in metres: shapes by percent, then clusters, then 0.01."""
    geometry = scene.named("Geometry", "Mesh", "body")
    points = scene.objects[geometry].one("Vertices").properties[0].reshape(-1, 3).copy()
    deformers = scene.below(geometry, "Deformer")
    blend, skin = (
        next(d for d in deformers if scene.objects[d].properties[2] == kind)
        for kind in ("BlendShape", "Skin")
    )
    for channel in scene.below(blend, "Deformer"):
        (shape,) = (scene.objects[s] for s in scene.below(channel, "Geometry"))
        share = scene.curves(channel, "DeformPercent")[frame, 0] / 100
        rows = shape.one("Indexes").properties[0]
        points[rows] += share * shape.one("Vertices").properties[0].reshape(-1, 3)
    world: dict[int, np.ndarray] = {}
    for name, parent in zip(
        character.template.skeleton.names, character.template.skeleton.parents, strict=True
    ):
        number = scene.named("Model", "LimbNode", name)
        table = {
            p.properties[0]: p.properties[4:]
            for p in scene.objects[number].one("Properties70").children
        }
        local = np.eye(4)
        local[:3, :3] = rotation(scene.curves(number, "Lcl Rotation")[frame])
        local[:3, 3] = table["Lcl Translation"]
        if parent < 0:
            local[:3, 3] = scene.curves(number, "Lcl Translation")[frame]
            world[number] = local
        else:
            above = scene.named("Model", "LimbNode", character.template.skeleton.names[parent])
            assert number in scene.below(above, "Model")
            world[number] = world[above] @ local
    posed = np.zeros_like(points)
    total = np.zeros(len(points))
    for cluster in scene.below(skin, "Deformer"):
        (joint,) = scene.below(cluster, "Model")
        item = scene.objects[cluster]
        rows, share = item.one("Indexes").properties[0], item.one("Weights").properties[0]
        move = world[joint] @ item.one("Transform").properties[0].reshape(4, 4).T
        posed[rows] += share[:, None] * (points[rows] @ move[:3, :3].T + move[:3, 3])
        total[rows] += share
    np.testing.assert_allclose(total, 1, atol=1e-6)
    return posed / 100


@pytest.mark.parametrize("frame", [0, 11, 23])
def test_playing_the_tree_by_hand_gives_the_character(
    tree: ReadNode, character: Character, frame: int
):
    """Curves are float32: angles to 1e-5°, which is 2e-7 m at 1 m; a few joints deep."""
    played = play(Scene(tree), character, frame)
    expected = character_vertices(character, np.array([frame]))[0]
    assert np.abs(played - expected).max() < 2e-6


def test_the_table_is_true(tree: ReadNode, character: Character):
    """Order, quads, texture with seams, colours, weights and morph normals are in the file."""
    scene, mesh = Scene(tree), character.template.mesh
    geometry = scene.objects[scene.named("Geometry", "Mesh", "body")]
    np.testing.assert_allclose(
        geometry.one("Vertices").properties[0].reshape(-1, 3), 100 * np.asarray(mesh.vertices)
    )
    corners = geometry.one("PolygonVertexIndex").properties[0].reshape(-1, 4)
    assert (corners[:, 3] < 0).all()
    np.testing.assert_array_equal(np.c_[corners[:, :3], ~corners[:, 3]], mesh.quads)
    texture = geometry.one("LayerElementUV")
    uv = texture.one("UV").properties[0].reshape(-1, 2)
    np.testing.assert_allclose(uv, mesh.uv)
    quad_uv = uv[texture.one("UVIndex").properties[0]].reshape(-1, 4, 2)
    np.testing.assert_allclose(quad_uv[:, :3], mesh.uv[mesh.uv_triangles[0::2]])
    np.testing.assert_allclose(quad_uv[:, 3], mesh.uv[mesh.uv_triangles[1::2, 2]])
    colours = geometry.one("LayerElementColor")
    rows = colours.one("Colors").properties[0].reshape(-1, 4)[:, :3]
    np.testing.assert_allclose(rows, character.vertex_colours)
    shapes = [o for o in scene.objects.values() if o.properties[2] == "Shape"]
    assert [s.properties[1].partition("\0")[0] for s in shapes] == list(character.morph_names)
    for shape, normals in zip(shapes, character.morph_normals, strict=True):
        np.testing.assert_allclose(shape.one("Normals").properties[0].reshape(-1, 3), normals)
    words = {node.name for node in tree.children} | {o.name for o in scene.objects.values()}
    assert not {"part_labels", "mirror"} & words


def test_the_attachment_hangs_under_its_joint_in_the_joint_s_frame(
    tree: ReadNode, character: Character
):
    scene = Scene(tree)
    model = scene.named("Model", "Mesh", "left_eye")
    joint = scene.named("Model", "LimbNode", "head")
    assert model in scene.below(joint, "Model")
    (geometry,) = scene.below(model, "Geometry")
    local = scene.objects[geometry].one("Vertices").properties[0].reshape(-1, 3)
    rest = np.asarray(character.template.skeleton.joints)[2]
    np.testing.assert_allclose(local / 100 + rest, eye().mesh.vertices, atol=1e-12)


def test_units_rate_and_span_are_stated(tree: ReadNode, character: Character):
    table = {
        p.properties[0]: p.properties[4]
        for p in tree.one("GlobalSettings").one("Properties70").children
    }
    assert (table["UpAxis"], table["FrontAxis"], table["CoordAxis"]) == (1, 2, 0)
    assert table["UnitScaleFactor"] == 1.0, "centimetres"
    assert table["TimeMode"] == 11, "24 frames a second"
    assert table["TimeSpanStop"] == round(23 * TICKS / 24)
    curve = next(o for o in tree.one("Objects").children if o.name == "AnimationCurve")
    np.testing.assert_array_equal(
        curve.one("KeyTime").properties[0], np.rint(np.arange(24) * TICKS / 24)
    )


def test_what_autodesk_s_reader_needs_is_there(tree: ReadNode):
    """Without these it drops animation or meshes in silence."""
    scene = Scene(tree)
    layers = [o for o in scene.objects.values() if o.name == "AnimationLayer"]
    assert [layer.has_block for layer in layers] == [True]
    for node in scene.objects.values():
        if node.name == "Model":
            names = [p.properties[0] for p in node.one("Properties70").children]
            assert "DefaultAttributeIndex" in names


def test_the_definitions_count_the_objects(tree: ReadNode):
    counts = {
        node.properties[0]: node.one("Count").properties[0]
        for node in tree.one("Definitions").all("ObjectType")
    }
    assert counts.pop("GlobalSettings") == 1
    kinds = [node.name for node in tree.one("Objects").children]
    assert counts == {kind: kinds.count(kind) for kind in kinds}


def test_the_file_ends_as_the_format_asks(tmp_path: Path, character: Character):
    """Id, padding to 16 bytes, version, 120 zeros, end mark."""
    write_fbx(tmp_path / "a.fbx", character)
    data = (tmp_path / "a.fbx").read_bytes()
    assert (len(data) - 4 - 120 - 16) % 16 == 0
    tail = read_fbx_tree(tmp_path / "a.fbx")[1]
    assert tail.startswith(bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e"))
    assert tail.endswith(bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b"))


def test_files_are_the_same_every_time(tmp_path: Path, character: Character):
    write_fbx(tmp_path / "a.fbx", character)
    write_fbx(tmp_path / "b.fbx", character)
    assert (tmp_path / "a.fbx").read_bytes() == (tmp_path / "b.fbx").read_bytes()


def test_every_property_type_survives(tmp_path: Path):
    values = (True, 7, Int64(2**40), 0.1, "gröÙ", b"\x00\xff")
    arrays = [np.arange(n, dtype=k) for n in (0, 5, 5000) for k in ("f4", "f8", "i4", "i8")]
    node = FbxNode("Top", (*values, *arrays))
    node.add("Inner", block=True)
    (tmp_path / "a.fbx").write_bytes(encode_document([node]))
    root, _ = read_fbx_tree(tmp_path / "a.fbx")
    found = root.one("Top").properties
    assert found[:6] == list(values)
    for array, expected in zip(found[6:], arrays, strict=True):
        assert array.dtype == expected.dtype
        np.testing.assert_array_equal(array, expected)
    assert root.one("Top").one("Inner").has_block


def test_a_file_beyond_four_gigabytes_is_refused(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(fbx_nodes, "_MAX_OFFSET", 100)
    with pytest.raises(OutputError, match="fewer morph targets"):
        encode_document([FbxNode("Top", (np.arange(500),))])


def test_euler_angles_never_jump():
    """Three full turns about a tilted axis: steps stay near the rotation's own speed."""
    angle = np.linspace(0, 6 * np.pi, 400)
    axis = np.array([0.6, 0.64, 0.48])
    wxyz = quaternion_from_axis_angle(angle[:, None, None] * axis)
    degrees = np.rad2deg(smooth_euler(wxyz))
    for frame in range(0, 400, 37):
        cross = np.cross(np.eye(3), axis)
        exact = np.eye(3) + np.sin(angle[frame]) * cross
        exact = exact + (1 - np.cos(angle[frame])) * cross @ cross
        np.testing.assert_allclose(rotation(degrees[frame, 0]), exact, atol=1e-9)
    assert np.abs(np.diff(degrees, axis=0)).max() < 20
