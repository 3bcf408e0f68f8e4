"""An engine that reads our `.glb` shows the vertices that the deformer made."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from client_files import validation_issues
from glb_reader import GlbReader
from small_body import small_animation, small_identity, small_mesh, small_template

from corporeal.assets.eyes import default_eyes
from corporeal.body.attachment import Attachment
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.gltf import engine_weights, split_seams, write_glb
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.pipelines.deformers import make_deformer


def eye(template_joint: int) -> Attachment:
    """A tetrahedron beside the tube."""
    corners = np.array([[0.1, 1, 0.1], [0.14, 1, 0.1], [0.1, 1.04, 0.1], [0.1, 1, 0.14]])
    triangles = np.array([[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    return Attachment("left_eye", Mesh(corners, triangles), np.full((4, 3), 0.5), template_joint)


@pytest.fixture(scope="module")
def glb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("glb") / "tube.glb"
    animation = small_animation()
    colours = np.linspace(0, 1, animation.template.mesh.vertex_count * 3).reshape(-1, 3)
    write_glb(
        path,
        animation.template,
        animation.identity,
        animation=animation,
        attachments=[eye(2)],
        vertex_colours=colours,
    )
    return path


@pytest.mark.parametrize("frame", [0, 3, 6])
def test_playback_equals_the_animation(glb: Path, frame: int) -> None:
    """glTF's skinning formula gives our vertices to 0.01 mm: float32 at 1 m is 1e-7, few steps."""
    reader, animation = GlbReader(glb), small_animation()
    count = animation.template.mesh.vertex_count
    played = reader.skinned(reader.node("body"), frame)
    expected = np.asarray(animation.vertices)[frame]
    assert np.abs(played[:count] - expected).max() < 1e-5
    copies = reader.json["meshes"][0]["extras"]["source_vertices"]
    assert len(copies) == len(played) - count > 0
    assert np.abs(played[count:] - expected[copies]).max() < 1e-5


@pytest.mark.parametrize("frame", [0, 3, 6])
def test_attachment_follows_its_joint(glb: Path, frame: int) -> None:
    """World place = world_from_joint · (rest place − rest joint)."""
    reader, animation = GlbReader(glb), small_animation()
    node = reader.node("left_eye")
    mesh = reader.json["nodes"][node]["mesh"]
    world = reader.world_matrices(frame)[node]
    played = reader.attribute(mesh, "POSITION") @ world[:3, :3].T + world[:3, 3]
    frame_matrix = np.asarray(animation.world_from_joint)[frame, 2]
    local = np.asarray(eye(2).mesh.vertices) - np.asarray(animation.identity.joints)[2]
    expected = local @ frame_matrix[:3, :3].T + frame_matrix[:3, 3]
    assert np.abs(played - expected).max() < 1e-5


def test_structure_is_what_engines_expect(glb: Path) -> None:
    reader = GlbReader(glb)
    document = reader.json
    roots = document["scenes"][0]["nodes"]
    assert [document["nodes"][root]["name"] for root in roots] == ["root", "body"]
    skin = document["skins"][0]
    assert [document["nodes"][j]["name"] for j in skin["joints"]] == [
        "root",
        "middle",
        "head",
        "branch",
    ]
    assert skin["skeleton"] == roots[0]
    assert all("sparse" not in accessor for accessor in document["accessors"])
    paths = [c["target"]["path"] for c in document["animations"][0]["channels"]]
    assert paths.count("rotation") == 4
    assert paths.count("translation") == 1, "only the root travels"
    times = reader.accessor(document["animations"][0]["samplers"][0]["input"])
    assert np.allclose(times, np.arange(7) / 24, atol=1e-7)


def test_triangles_and_texture_survive(glb: Path) -> None:
    """Every corner keeps its vertex and its texture coordinate; glTF's v axis points down."""
    reader, mesh = GlbReader(glb), small_mesh()
    corners = reader.accessor(reader.json["meshes"][0]["primitives"][0]["indices"])
    source = np.r_[
        np.arange(mesh.vertex_count), reader.json["meshes"][0]["extras"]["source_vertices"]
    ]
    assert mesh.uv is not None
    assert mesh.uv_triangles is not None
    assert np.array_equal(source[corners], mesh.triangles.ravel())
    uv = reader.attribute(0, "TEXCOORD_0")[corners]
    assert np.allclose(uv * [1, -1] + [0, 1], mesh.uv[mesh.uv_triangles.ravel()], atol=1e-6)


def test_normals_point_outward_with_unit_length(glb: Path) -> None:
    """On the tube the normal is the radial direction."""
    reader = GlbReader(glb)
    position, normal = reader.attribute(0, "POSITION"), reader.attribute(0, "NORMAL")
    assert np.allclose(np.linalg.norm(normal, axis=1), 1, atol=1e-6)
    radial = position[:, [0, 2]] / np.linalg.norm(position[:, [0, 2]], axis=1, keepdims=True)
    assert (np.sum(normal[:, [0, 2]] * radial, axis=1) > 0.9).all()


def test_a_vertex_without_faces_still_has_a_unit_normal(tmp_path: Path) -> None:
    template = small_template()
    bare = replace(template, mesh=Mesh(template.mesh.vertices, template.mesh.triangles[:2]))
    write_glb(tmp_path / "a.glb", bare, small_identity(template))
    normal = GlbReader(tmp_path / "a.glb").attribute(0, "NORMAL")
    assert np.allclose(np.linalg.norm(normal, axis=1), 1)


def test_rest_body_needs_no_animation(tmp_path: Path) -> None:
    template = small_template()
    identity = small_identity(template)
    write_glb(tmp_path / "rest.glb", template, identity)
    reader = GlbReader(tmp_path / "rest.glb")
    assert "animations" not in reader.json
    played = reader.skinned(reader.node("body"), 0)[: template.mesh.vertex_count]
    assert np.abs(played - identity.rest_vertices).max() < 1e-6


def test_a_stretching_joint_gets_a_translation_track(tmp_path: Path) -> None:
    """Frames whose joints leave their rest distance are carried, not dropped."""
    animation = small_animation()
    world = np.asarray(animation.world_from_joint).copy()
    world[3, 2, :3, 3] += [0.02, 0, 0]
    stretched = replace(animation, world_from_joint=world)
    write_glb(tmp_path / "a.glb", animation.template, animation.identity, animation=stretched)
    reader = GlbReader(tmp_path / "a.glb")
    assert np.allclose(reader.world_matrices(3)[reader.node("head")], world[3, 2], atol=1e-6)


def test_quaternions_do_not_jump(tmp_path: Path) -> None:
    """A full turn crosses the quaternion's double cover; neighbours stay in one hemisphere."""
    animation = small_animation(frames=60)
    world = np.asarray(animation.world_from_joint).copy()
    angle = np.linspace(0, 4 * np.pi, 60)
    turn = np.zeros((60, 3, 3))
    turn[:, 0, 0] = turn[:, 2, 2] = np.cos(angle)
    turn[:, 0, 2], turn[:, 2, 0], turn[:, 1, 1] = np.sin(angle), -np.sin(angle), 1
    world[:, 0, :3, :3] = turn
    spun = replace(animation, world_from_joint=world)
    write_glb(tmp_path / "a.glb", animation.template, animation.identity, animation=spun)
    reader = GlbReader(tmp_path / "a.glb")
    track = reader.accessor(reader.json["animations"][0]["samplers"][0]["output"])
    assert (np.sum(track[1:] * track[:-1], axis=1) > 0.9).all()


def test_weights_are_sorted_stably_and_cut_to_four() -> None:
    template = small_template()
    count = template.mesh.vertex_count
    joints = np.tile(np.array([3, 1, 0, 2, 0, 0], np.int32), (count, 1))
    values = np.tile([0.2, 0.3, 0.2, 0.2, 0.06, 0.04], (count, 1))
    wide = replace(template, weights=SkinWeights(joints, values, 4))
    kept_joints, kept = engine_weights(wide)
    assert kept_joints[0].tolist() == [1, 3, 0, 2]
    assert np.allclose(kept[0], np.array([0.3, 0.2, 0.2, 0.2]) / 0.9)


def test_unused_weights_name_joint_zero() -> None:
    template = small_template()
    rigid = SkinWeights(np.full((72, 1), 2, np.int32), np.ones((72, 1)), 4)
    joints, values = engine_weights(replace(template, weights=rigid))
    assert joints[5].tolist() == [2, 0, 0, 0]
    assert values[5].tolist() == [1, 0, 0, 0]


def test_a_mesh_without_texture_is_not_split() -> None:
    mesh = replace(small_mesh(), uv=None, uv_triangles=None)
    surface = split_seams(mesh)
    assert surface.uv is None
    assert np.array_equal(surface.source, np.arange(mesh.vertex_count))


def test_the_default_body_plays_to_a_hundredth_of_a_millimetre(tmp_path: Path) -> None:
    """Jumping jacks of the embedded body with its eyes: float32 at 2 m is 1e-7 a step."""
    model = PhenotypeModel()
    identity = model.prepare({"gender": 0.0, "weight": 0.7})
    motion = make_motion("jumping-jacks", identity, model.template, fps=30.0, duration=2.0)
    animation = make_deformer("lbs", model.template).animate(identity, motion)
    path = tmp_path / "woman.glb"
    eyes = default_eyes(identity)
    write_glb(path, model.template, identity, animation=animation, attachments=eyes)
    reader = GlbReader(path)
    for frame in (0, motion.frame_count // 2, motion.frame_count - 1):
        played = reader.skinned(reader.node("body"), frame)[: model.template.mesh.vertex_count]
        assert np.abs(played - animation.vertices[frame]).max() < 1e-5
    assert {eye.name for eye in eyes} <= {node["name"] for node in reader.json["nodes"]}


def test_a_batch_of_people_is_refused(tmp_path: Path) -> None:
    template = small_template()
    identity = small_identity(template)
    batch = Identity(np.stack([identity.rest_vertices] * 2), np.stack([identity.joints] * 2), {})
    with pytest.raises(InputError, match="holds one person"):
        write_glb(tmp_path / "a.glb", template, batch)
    assert list(tmp_path.iterdir()) == []


def test_khronos_validator_finds_nothing(glb: Path) -> None:
    issues = validation_issues(glb)
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"][:5]
