"""Under the skin in the studio: layers, bones with their joints, and growth that can be undone."""

import numpy as np
import pytest
from studio_session import Visitor

from corporeal.assets.anatomy import BoneMesh
from corporeal.body.body import Body
from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.layered_body import LayeredBody
from corporeal.body.layers import Layers
from corporeal.formats.layers import read_layers, write_layers
from corporeal.geometry.surface_tree import SurfaceTree
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.viewer.jobs.layers import bone_weights, kept_under
from corporeal.viewer.packets import Packet


@pytest.fixture(scope="module")
def model():
    return PhenotypeModel()


@pytest.fixture(scope="module")
def thin(model) -> LayeredBody:
    """Layers 10 mm and 30 mm under the skin, everywhere but in the head."""
    from corporeal.anatomy.template import layered_region
    from corporeal.geometry.surface import vertex_normals

    identity, template = model.prepare(), model.template
    skin = np.asarray(identity.rest_vertices, np.float64)
    inwards = -vertex_normals(skin, template.mesh.triangles)
    layered = layered_region(template)
    depth = np.where(layered, 1.0, 0.0)[:, None]
    layers = Layers(
        skin,
        skin + 0.01 * depth * inwards,
        skin + 0.03 * depth * inwards,
        template.mesh.triangles,
        layered,
        Composition(20.0, 25.0),
        {"body_mass": 70.0, "sex": "male"},
    )
    return LayeredBody(Body(template, identity, {}), layers)


@pytest.fixture
def visitor(tmp_path):
    made = Visitor(tmp_path)
    yield made
    made.session.close()


class Waiting:
    """Stands for the session's background: keeps what was asked, and answers when told."""

    def __init__(self, real) -> None:
        self._real = real
        self.asked: list[tuple] = []

    def __getattr__(self, name):
        return getattr(self._real, name)

    def spawn(self, name, job, done) -> None:
        if name == "layers":
            self.asked.append((job.arguments, done))
        else:
            self._real.spawn(name, job, done)


def grown_file(thin: LayeredBody, path, more: float) -> str:
    """A layers file whose skin lies `more` metres further out, as growth would write it."""
    layers, body = thin.layers, thin.body
    away = layers.skin - layers.muscle
    skin = layers.skin + more / 0.01 * away
    moved = Layers(
        skin, layers.muscle, layers.bone, layers.triangles, layers.layered, layers.composition
    )
    identity = Identity(skin, body.identity.joints, body.identity.parameters)
    write_layers(path, LayeredBody(Body(body.template, identity, {}), moved))
    return str(path)


def answer(path: str) -> Packet:
    return Packet("inside", {"masses": {"fat": 20.0}, "bones": [], "file": path}, {})


def test_layers_are_made_only_when_they_are_wanted(visitor, thin, tmp_path):
    session = visitor.session
    session.background = waiting = Waiting(session.background)
    visitor.ask("change", path=["look", "ground"], value=False)
    assert not waiting.asked
    visitor.ask("change", path=["look", "muscle"], value=True)
    ((arguments, done),) = waiting.asked
    assert arguments[1:4] == ({}, str(tmp_path / "inside/layers.npz"), False)
    assert arguments[5] is None  # nobody was scanned
    done(answer(grown_file(thin, tmp_path / "layers.npz", 0.0)))
    assert session.grown_file is None
    # both read-outs of the person's fat are that of the layers
    assert visitor.said("facts")[-1].fields["values"]["fat_mass"] == 20.0
    session.stage.seek(0.0)
    assert session.inside.muscle is not None
    session.inside.muscle.jump(session.stage.moment)
    assert session.inside.muscle.skin.shape == thin.layers.muscle.shape
    visitor.ask("change", path=["look", "bone"], value=True)
    assert len(waiting.asked) == 1


def test_thickness_is_the_way_from_skin_to_muscle(visitor, thin, tmp_path):
    """Every layered vertex lies 10 mm over its muscle; the others on it."""
    session = visitor.session
    session.background = waiting = Waiting(session.background)
    visitor.ask("change", path=["colour", "what"], value="layer")
    waiting.asked[0][1](answer(grown_file(thin, tmp_path / "layers.npz", 0.0)))
    layered = thin.layers.layered
    np.testing.assert_allclose(session.inside.thickness[layered], 10.0, atol=1e-3)
    np.testing.assert_allclose(session.inside.thickness[~layered], 0.0, atol=1e-3)


def test_growth_changes_the_skin_and_is_undone(visitor, thin, tmp_path):
    session = visitor.session
    session.background = waiting = Waiting(session.background)
    lean = np.asarray(session.stage.identity.rest_vertices).copy()
    visitor.ask("change", path=["growth", "belly"], value=3.0)
    arguments, done = waiting.asked[-1]
    assert arguments[1] == {"belly": 3.0}
    path = grown_file(thin, tmp_path / "grown.npz", 0.02)
    done(answer(path))
    away = np.linalg.norm(np.asarray(session.stage.identity.rest_vertices) - lean, axis=1)
    assert away[thin.layers.layered] == pytest.approx(0.02, abs=1e-4)
    assert session.grown_file == path
    visitor.ask("undo")
    np.testing.assert_array_equal(np.asarray(session.stage.identity.rest_vertices), lean)
    assert session.grown_file is None


def test_refused_growth_goes_back_to_what_was_reached(visitor):
    session = visitor.session
    session.background = waiting = Waiting(session.background)
    visitor.ask("change", path=["growth", "neck"], value=-10.0)
    assert waiting.asked
    session._refused("layers", "asked to lose 10 kg where 0.3 kg lie.")
    assert session.document.growth == {}
    assert "0.3 kg" in visitor.last_refusal


def test_a_bone_goes_with_the_joints_around_it(model, thin):
    """Small pieces in the middle of forearm and thigh are moved by elbow and hip alone."""
    joints = np.asarray(thin.body.identity.joints)
    names = model.template.skeleton.names
    bones = []
    for near, far in (("left_elbow", "left_wrist"), ("right_hip", "right_knee")):
        middle = 0.5 * (joints[names.index(near)] + joints[names.index(far)])
        corners = middle + 0.01 * np.eye(4, 3)
        bones.append(BoneMesh(near, corners, np.array([[0, 1, 2], [0, 2, 3]])))
    for bone, found in zip(bones, bone_weights(tuple(bones), thin), strict=True):
        assert sum(weight for _, weight in found) == pytest.approx(1.0)
        assert names[max(found, key=lambda row: row[1])[0]] == bone.name
        assert max(weight for _, weight in found) > 0.9


def test_bone_that_looks_out_is_put_under_the_muscle():
    """Over the unit square z = 0 (facing +z): a point above goes 1 mm below, one inside stays."""
    corners = np.array([[0.0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0]])
    triangles = np.array([[0, 1, 2], [0, 2, 3]], np.int32)
    layers = Layers(corners, corners, corners, triangles, np.zeros(4, bool))
    points = np.array([[0.5, 0.4, 0.02], [0.5, 0.4, -0.02]])
    kept = kept_under(points, SurfaceTree(corners, triangles), layers)
    np.testing.assert_allclose(kept, [[0.5, 0.4, -0.001], [0.5, 0.4, -0.02]], atol=1e-12)


@pytest.mark.slow
def test_fat_that_is_asked_for_is_gained(visitor):
    """+4 kg on the belly of the average adult: the layers hold 4 kg of fat tissue more."""
    visitor.ask("change", path=["look", "bone"], value=True)
    visitor.settle()
    before = visitor.said("inside")[-1].fields
    assert len(before["bones"]) > 50
    visitor.ask("change", path=["growth", "belly"], value=4.0)
    visitor.settle()
    after = visitor.said("inside")[-1].fields["masses"]
    assert after["body"] - before["masses"]["body"] == pytest.approx(4.0, rel=0.01)
    assert read_layers(visitor.session.grown_file).layers.metadata["fat_grown"] == 4.0
