"""GLB characters: written with morph targets, read back, and refused where they are damaged."""

import json
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from glb_reader import GlbReader
from small_body import small_animation, small_identity, small_mesh, small_template
from takes import eye, played_attachment, soft_character

from corporeal.body.character import Character
from corporeal.errors import FormatError, InputError
from corporeal.formats.gltf import write_glb, write_glb_character
from corporeal.formats.gltf_read import read_glb_character, read_glb_mesh
from corporeal.formats.gltf_scene import Track, read_gltf_scene
from corporeal.formats.gltf_tracks import sample
from corporeal.skinning.playback import character_joints, character_vertices

FLOAT32_M = 2e-6
"""Metres: float32 positions, quaternions and weights of a body of 1.3 m, a few steps."""


@pytest.fixture(scope="module")
def character() -> Character:
    return soft_character()


@pytest.fixture(scope="module")
def glb(character: Character, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("glb") / "soft.glb"
    write_glb_character(path, character)
    return path


def edited(path: Path, target: Path, change) -> Path:
    """A copy of a file with its JSON changed."""
    data = path.read_bytes()
    length = struct.unpack_from("<I", data, 12)[0]
    document = json.loads(data[20 : 20 + length])
    change(document)
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    rest = data[20 + length :]
    head = struct.pack("<4sII", b"glTF", 2, 20 + len(text) + len(rest))
    target.write_bytes(head + struct.pack("<I4s", len(text), b"JSON") + text + rest)
    return target


@pytest.mark.parametrize("frame", [0, 11, 23])
def test_the_formula_of_the_specification_plays_the_character(
    glb: Path, character: Character, frame: int
):
    """Morphs, then the skin, by a reader that shares nothing with the writer."""
    reader = GlbReader(glb)
    primitive = reader.json["meshes"][0]["primitives"][0]
    shaped = reader.attribute(0, "POSITION")
    for target, weight in zip(primitive["targets"], character.morph_weights[frame], strict=True):
        shaped = shaped + weight * reader.accessor(target["POSITION"])
    weights = reader.json["animations"][0]["channels"][-1]
    assert weights["target"]["path"] == "weights"
    sampler = reader.json["animations"][0]["samplers"][weights["sampler"]]
    stored = reader.accessor(sampler["output"]).reshape(24, -1)
    np.testing.assert_array_equal(stored, character.morph_weights)
    reader.json["animations"][0]["channels"].pop()
    world = reader.world_matrices(frame)
    bind = reader.accessor(reader.json["skins"][0]["inverseBindMatrices"]).reshape(-1, 4, 4)
    moves = np.stack(
        [world[node] @ bind[k].T for k, node in enumerate(reader.json["skins"][0]["joints"])]
    )
    joints, values = reader.attribute(0, "JOINTS_0"), reader.attribute(0, "WEIGHTS_0")
    blended = np.einsum("vk,vkab->vab", values, moves[joints])
    played = np.einsum("vab,vb->va", blended[:, :3, :3], shaped) + blended[:, :3, 3]
    expected = character_vertices(character, np.array([frame]))[0]
    assert np.abs(played[: len(expected)] - expected).max() < FLOAT32_M


def test_morph_normals_are_stored(glb: Path, character: Character):
    reader = GlbReader(glb)
    targets = reader.json["meshes"][0]["primitives"][0]["targets"]
    for target, normals in zip(targets, character.morph_normals, strict=True):
        np.testing.assert_array_equal(reader.accessor(target["NORMAL"])[:72], normals)


def test_the_table_is_true(glb: Path, character: Character):
    """Everything the table names comes back; what it says is lost is lost."""
    back = read_glb_character(glb)
    assert back.name == character.name
    assert back.fps == character.fps
    assert back.morph_names == character.morph_names
    assert back.template.skeleton.names == character.template.skeleton.names
    assert back.template.skeleton.parents == character.template.skeleton.parents
    mesh, old = back.template.mesh, character.template.mesh
    np.testing.assert_allclose(mesh.vertices, old.vertices, atol=1e-7)
    np.testing.assert_array_equal(mesh.triangles, old.triangles)
    np.testing.assert_allclose(mesh.uv[mesh.uv_triangles], old.uv[old.uv_triangles], atol=1e-6)
    np.testing.assert_allclose(
        back.template.weights.dense(), character.template.weights.dense(), atol=1e-6
    )
    np.testing.assert_allclose(
        back.joint_rotations_wxyz
        * np.sign(
            np.sum(
                back.joint_rotations_wxyz * character.joint_rotations_wxyz, axis=-1, keepdims=True
            )
        ),
        character.joint_rotations_wxyz,
        atol=1e-6,
    )
    np.testing.assert_allclose(back.root_translation, character.root_translation, atol=1e-6)
    np.testing.assert_allclose(back.morph_offsets, character.morph_offsets, atol=1e-8)
    np.testing.assert_allclose(back.morph_normals, character.morph_normals, atol=1e-8)
    np.testing.assert_allclose(back.morph_weights, character.morph_weights, atol=1e-8)
    np.testing.assert_allclose(back.vertex_colours, character.vertex_colours, atol=1e-6)
    assert mesh.quads is None
    assert mesh.mirror is None
    played = character_vertices(back) - character_vertices(character)
    assert np.abs(played).max() < FLOAT32_M


def test_a_rigid_part_under_a_joint_comes_back(glb: Path, character: Character):
    back = read_glb_character(glb)
    assert back.attachments[0].name == "left_eye"
    assert back.attachments[0].joint == 2
    np.testing.assert_allclose(back.attachments[0].mesh.vertices, eye().mesh.vertices, atol=1e-6)
    np.testing.assert_allclose(
        played_attachment(back, character_joints(back)),
        played_attachment(character, character_joints(character)),
        atol=FLOAT32_M,
    )


def test_an_unbaked_take_is_read_too(tmp_path: Path):
    take = small_animation()
    write_glb(tmp_path / "a.glb", take.template, take.identity, animation=take)
    back = read_glb_character(tmp_path / "a.glb")
    assert back.morph_count == 0
    assert np.abs(character_vertices(back) - take.vertices).max() < FLOAT32_M


def test_a_body_at_rest_has_one_frame(tmp_path: Path):
    template = small_template()
    write_glb(tmp_path / "a.glb", template, small_identity(template))
    back = read_glb_character(tmp_path / "a.glb")
    assert (back.name, back.frame_count) == ("rest", 1)
    np.testing.assert_allclose(
        character_vertices(back)[0], small_identity(template).rest_vertices, atol=1e-6
    )


def test_joints_with_turned_rest_axes_and_a_scaled_rig_play_the_same(
    glb: Path, character: Character, tmp_path: Path
):
    """A rig in centimetres under a node of scale 0.01, turned, is the same body elsewhere."""

    def wrap(document):
        nodes = document["nodes"]
        root = document["scenes"][0]["nodes"][0]
        half = np.sqrt(0.5)
        nodes.append({"name": "armature", "children": [root], "rotation": [0, half, 0, half]})
        document["scenes"][0]["nodes"][0] = len(nodes) - 1

    back = read_glb_character(edited(glb, tmp_path / "a.glb", wrap))
    x, y, z = np.moveaxis(character_vertices(character), -1, 0)
    assert np.abs(character_vertices(back) - np.stack([z, y, -x], -1)).max() < FLOAT32_M


def test_resampling_takes_the_asked_rate(glb: Path, character: Character):
    back = read_glb_character(glb, fps=12.0)
    assert back.frame_count == 12
    assert back.fps == 12.0
    every_other = character_vertices(character, np.arange(0, 24, 2))
    assert np.abs(character_vertices(back) - every_other).max() < 1e-4


def test_meshes_keep_their_order_and_place(glb: Path):
    """The body comes first with its 72 vertices, then the eye where its joint stands at rest."""
    mesh = read_glb_mesh(glb)
    assert mesh.vertex_count == 72 + 4
    np.testing.assert_allclose(mesh.vertices[72:], eye().mesh.vertices, atol=1e-6)
    np.testing.assert_array_equal(
        mesh.triangles[: len(small_mesh().triangles)], small_mesh().triangles
    )


def test_copies_that_do_not_hold_true_are_left_alone(glb: Path, tmp_path: Path):
    """A foreign file that names other sources keeps all its vertices."""

    def lie(document):
        extras = document["meshes"][0]["extras"]
        extras["source_vertices"] = [0 for _ in extras["source_vertices"]]

    back = read_glb_character(edited(glb, tmp_path / "a.glb", lie))
    assert back.template.mesh.vertex_count > 72


@pytest.mark.parametrize("mode", ["LINEAR", "STEP", "CUBICSPLINE"])
def test_sampling_hits_the_keys_and_holds_the_ends(mode: str):
    times, keys = np.array([0.5, 1.0, 2.0]), np.array([[1.0], [3.0], [-1.0]])
    values = keys
    if mode == "CUBICSPLINE":
        values = np.stack([0 * keys, keys, 0 * keys], axis=1).reshape(-1, 1)
    track = Track(0, "weights", mode, times, values)
    found = sample(track, np.array([0.0, 0.5, 1.0, 2.0, 9.0]))[:, 0]
    np.testing.assert_allclose(found, [1, 1, 3, -1, -1])
    middle = {"LINEAR": 2.0, "STEP": 1.0, "CUBICSPLINE": 2.0}[mode]
    np.testing.assert_allclose(sample(track, np.array([0.75]))[0, 0], middle)


def test_a_cubic_spline_with_tangents_is_the_cubic():
    """x(t) = t³ on one span is met exactly by its Hermite data."""
    values = np.array([[0.0], [0.0], [0.0], [12.0], [8.0], [12.0]])
    track = Track(0, "weights", "CUBICSPLINE", np.array([0.0, 2.0]), values)
    t = np.linspace(0, 2, 9)
    np.testing.assert_allclose(sample(track, t)[:, 0], t**3, atol=1e-12)


def test_sparse_and_normalised_accessors_are_read(glb: Path, tmp_path: Path):
    """A sparse accessor replaces rows of its base; normalised bytes become fractions."""
    scene = read_gltf_scene(glb)
    before = scene.meshes[0].primitives[0].vertices

    def sparse(document):
        position = document["meshes"][0]["primitives"][0]["attributes"]["POSITION"]
        base = document["accessors"][position]
        base["sparse"] = {
            "count": 1,
            "indices": {"bufferView": base["bufferView"], "byteOffset": 4, "componentType": 5121},
            "values": {"bufferView": base["bufferView"], "byteOffset": 12},
        }

    path = edited(glb, tmp_path / "a.glb", sparse)
    raw = GlbReader(glb)
    view = raw.json["bufferViews"][
        raw.json["accessors"][raw.json["meshes"][0]["primitives"][0]["attributes"]["POSITION"]][
            "bufferView"
        ]
    ]
    row = raw.binary[view["byteOffset"] + 4]
    after = read_gltf_scene(path).meshes[0].primitives[0].vertices
    np.testing.assert_array_equal(after[row], before[1])
    kept = np.arange(len(before)) != row
    np.testing.assert_array_equal(after[kept], before[kept])


def set_path(document, *keys_and_value):
    *keys, last, value = keys_and_value
    for key in keys:
        document = document[key]
    document[last] = value


HUGE = 2**40
EDITS = {
    "accessor beyond its view": ("accessors", 0, "count", HUGE),
    "offset beyond the view": ("accessors", 0, "byteOffset", HUGE),
    "negative count": ("accessors", 0, "count", -3),
    "count as text": ("accessors", 0, "count", "many"),
    "view beyond the file": ("bufferViews", 1, "byteLength", HUGE),
    "view before the file": ("bufferViews", 1, "byteOffset", -4),
    "stride of nothing": ("bufferViews", 1, "byteStride", 0),
    "another buffer": ("bufferViews", 1, "buffer", 1),
    "unknown component": ("accessors", 0, "componentType", 5124),
    "wrong kind": ("accessors", 0, "type", "MAT4"),
    "missing accessor": ("meshes", 0, "primitives", 0, "indices", 9999),
    "missing attribute accessor": ("meshes", 0, "primitives", 0, "attributes", "POSITION", 9999),
    "lines": ("meshes", 0, "primitives", 0, "mode", 1),
    "no primitives": ("meshes", 0, "primitives", []),
    "primitives as a number": ("meshes", 0, "primitives", 5),
    "missing child": ("nodes", 0, "children", [9999]),
    "own child": ("nodes", 0, "children", [0]),
    "two parents": ("nodes", 3, "children", [1]),
    "missing mesh": ("nodes", 4, "mesh", 77),
    "zero rotation": ("nodes", 0, "rotation", [0, 0, 0, 0]),
    "endless translation": ("nodes", 0, "translation", [1e999, 0, 0]),
    "short translation": ("nodes", 0, "translation", [0, 0]),
    "missing joint": ("skins", 0, "joints", [0, 1, 2, 555]),
    "joint twice": ("skins", 0, "joints", [0, 1, 2, 2]),
    "no joints": ("skins", 0, "joints", []),
    "fewer joints than the weights name": ("skins", 0, "joints", [0]),
    "missing sampler": ("animations", 0, "channels", 0, "sampler", 777),
    "unknown path": ("animations", 0, "channels", 0, "target", "path", "colour"),
    "unknown interpolation": ("animations", 0, "samplers", 0, "interpolation", "MAGIC"),
    "times from positions": ("animations", 0, "samplers", 0, "input", 0),
    "required extension": ("extensionsRequired", ["KHR_draco_mesh_compression"]),
    "nodes as text": ("nodes", "none"),
    "weights of another count": ("meshes", 0, "weights", [0.0]),
}


@pytest.mark.parametrize("name", EDITS)
def test_wrong_documents_are_refused(glb: Path, tmp_path: Path, name: str):
    path = edited(glb, tmp_path / "a.glb", lambda document: set_path(document, *EDITS[name]))
    with pytest.raises(FormatError) as caught:
        read_glb_character(path)
    assert "a.glb" in str(caught.value)


def test_a_small_file_cannot_fill_the_memory(glb: Path, tmp_path: Path):
    """An accessor without data stands for zeros; a billion of them are refused, not made."""

    def bomb(document):
        del document["accessors"][0]["bufferView"]
        document["accessors"][0]["count"] = 10**9

    with pytest.raises(FormatError, match="unpack to more than"):
        read_glb_character(edited(glb, tmp_path / "a.glb", bomb))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "does not start"),
        (b"glTF", "does not start"),
        (b"\x00" * 4096, "does not start"),
        (struct.pack("<4sII", b"glTF", 1, 20) + bytes(8), "version 1"),
        (struct.pack("<4sII", b"glTF", 2, 999) + bytes(8), "truncated"),
        (struct.pack("<4sIII4s", b"glTF", 2, 20, 99, b"JSON"), "past its end"),
        (struct.pack("<4sIII4s", b"glTF", 2, 20, 0, b"BIN\0"), "no JSON"),
        (struct.pack("<4sIII4s", b"glTF", 2, 24, 4, b"JSON") + b"[[[[", "cannot be read"),
        (struct.pack("<4sIII4s", b"glTF", 2, 24, 4, b"JSON") + b"[]  ", "not an object"),
        (
            struct.pack("<4sIII4s", b"glTF", 2, 20 + 400_000, 400_000, b"JSON") + b"[" * 400_000,
            "cannot be read",
        ),
    ],
)
def test_broken_containers_are_refused(tmp_path: Path, content: bytes, words: str):
    (tmp_path / "a.glb").write_bytes(content)
    with pytest.raises(FormatError, match=words):
        read_glb_mesh(tmp_path / "a.glb")


def test_stretching_joints_are_refused_in_words(tmp_path: Path):
    take = small_animation()
    world = np.asarray(take.world_from_joint).copy()
    world[3, 2, :3, 3] += [0.02, 0, 0]
    take = replace(take, world_from_joint=world)
    write_glb(tmp_path / "a.glb", take.template, take.identity, animation=take)
    with pytest.raises(FormatError, match=r"joint 'head' moves .* mm away"):
        read_glb_character(tmp_path / "a.glb")


def test_scaled_joints_are_refused_in_words(glb: Path, tmp_path: Path):
    path = edited(glb, tmp_path / "a.glb", lambda d: set_path(d, "nodes", 2, "scale", [1, 2, 1]))
    with pytest.raises(FormatError, match="scales or shears"):
        read_glb_character(path)


def test_what_was_asked_must_be_there(glb: Path, tmp_path: Path):
    with pytest.raises(InputError, match="1 animations; number 3"):
        read_glb_character(glb, animation=3)
    with pytest.raises(InputError, match="fps is 0"):
        read_glb_character(glb, fps=0.0)
    with pytest.raises(InputError, match="no file"):
        read_glb_character(tmp_path / "none.glb")

    def unskinned(document):
        for node in document["nodes"]:
            node.pop("skin", None)

    with pytest.raises(FormatError, match="no skinned surface"):
        read_glb_character(edited(glb, tmp_path / "a.glb", unskinned))
