"""The skeleton editor: joints of a custom mesh, checked, fitted, written and tried."""

import json

import numpy as np
import pytest
from studio_session import Visitor

from corporeal.body.mesh import Mesh
from corporeal.errors import InputError
from corporeal.formats.gltf_read import read_glb_character
from corporeal.formats.obj import write_obj
from corporeal.formats.skeletons import read_skeleton
from corporeal.viewer.document import as_json, parse
from corporeal.viewer.rig import read_rig, rig_joints, skeleton_of

JOINTS = [
    {"name": "base", "parent": None, "position": [0.0, 0.1, 0.0]},
    {"name": "middle", "parent": "base", "position": [0.0, 0.5, 0.0]},
    {"name": "top", "parent": "middle", "position": [0.0, 0.9, 0.0]},
]


def column(rings: int = 24, sides: int = 16) -> Mesh:
    """A closed column of radius 0.1 from the ground to height 1."""
    angle = np.linspace(0, 2 * np.pi, sides, endpoint=False)
    circle = np.stack([0.1 * np.sin(angle), np.zeros(sides), 0.1 * np.cos(angle)], axis=1)
    heights = np.linspace(0.0, 1.0, rings)
    wall = np.concatenate([circle + np.array([0.0, height, 0.0]) for height in heights])
    vertices = np.concatenate([wall, [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0]]])
    faces = []
    for ring in range(rings - 1):
        for side in range(sides):
            a, b = ring * sides + side, ring * sides + (side + 1) % sides
            faces += [[a, b, b + sides], [a, b + sides, a + sides]]
    for side in range(sides):
        after, last = (side + 1) % sides, (rings - 1) * sides
        faces += [[len(wall), after, side], [len(wall) + 1, last + side, last + after]]
    return Mesh(vertices, np.array(faces, np.int32))


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    made = Visitor(tmp_path_factory.mktemp("tab"))
    write_obj(made.session.folder / "column.obj", column())
    made.upload("column.obj", (made.session.folder / "column.obj").read_bytes())
    yield made
    made.session.close()


def test_rigs_are_read_written_and_become_skeletons():
    rig = read_rig({"mesh": "a.obj", "up": "+z", "joints": JOINTS})
    skeleton = skeleton_of(rig)
    assert skeleton.parents == (-1, 0, 1)
    assert rig_joints(skeleton) == rig.joints
    document = parse({"rig": {"mesh": "a.obj", "up": "+z", "joints": JOINTS}})
    assert parse(json.loads(json.dumps(as_json(document)))) == document


@pytest.mark.parametrize(
    ("plain", "why"),
    [
        ([], "no object"),
        ({"mesh": "a", "bones": []}, "no object"),
        ({"up": "+x"}, "expected \\+y or \\+z"),
        ({"joints": {}}, "no list"),
        ({"joints": [{"name": "a", "parent": None}]}, "expected name, parent and position"),
        ({"joints": [{"name": " ", "parent": None, "position": [0, 0, 0]}]}, "1 to 64 letters"),
        ({"joints": [{"name": "a", "parent": "b", "position": [0, 0, 0]}]}, "which is none"),
        ({"joints": [{"name": "a", "parent": None, "position": [0, 0]}]}, "three numbers"),
        ({"joints": [{"name": "a", "parent": None, "position": [0, 0, 1e300]}]}, "three numbers"),
        ({"joints": [*JOINTS, JOINTS[0]]}, "two joints are called 'base'"),
    ],
)
def test_what_is_no_rig_is_refused(plain, why):
    with pytest.raises(InputError, match=why):
        read_rig(plain)


def test_two_roots_are_a_rig_but_no_skeleton():
    """Joints may be loose while they are placed, not when they are used."""
    loose = read_rig({"joints": [{**JOINTS[0]}, {**JOINTS[1], "parent": None}]})
    with pytest.raises(InputError, match="2 joints have no parent"):
        skeleton_of(loose)


def test_a_mesh_is_shown_and_its_skeleton_written(visitor):
    shown = visitor.said("mesh")[-1]
    assert shown.fields["name"] == visitor.session.document.rig.mesh == "column.obj"
    assert shown.arrays["vertices"].shape == (column().vertex_count, 3)
    visitor.ask("rig write", format="skel")
    assert "no joints" in visitor.last_refusal
    visitor.ask("change", path=["rig", "joints"], value=JOINTS)
    visitor.ask("rig write", format="skel")
    visitor.ask("rig write", format="glb")
    visitor.settle()
    places = {m.fields["name"]: m.fields["place"] for m in visitor.said("made")}
    written = read_skeleton(visitor.session.folder / places["column.skel"]).skeleton
    assert written.names == ("base", "middle", "top")
    np.testing.assert_array_equal(written.joints, [row["position"] for row in JOINTS])
    character = read_glb_character(visitor.session.folder / places["column.glb"])
    assert character.template.skeleton.names == written.names
    weights = character.template.weights.dense()
    np.testing.assert_allclose(weights.sum(axis=1), 1.0, atol=1e-3)
    heights = np.asarray(character.template.mesh.vertices)[:, 1]
    lowest = weights[heights < heights.min() + 0.1 * np.ptp(heights)]
    assert lowest[:, 0].mean() > 0.9


def test_joints_come_from_a_file_and_a_mesh_that_is_no_person_is_refused(visitor):
    visitor.upload("two.skel", b"2\n0 0.2 0 foot root\n0 0.8 0 head foot\n")
    assert [joint.name for joint in visitor.session.document.rig.joints] == ["foot", "head"]
    visitor.ask("rig write", format="exe")
    assert "no skeleton is written as .exe" in visitor.last_refusal
    visitor.ask("rig try", deformer="layered")
    assert "moves no custom mesh" in visitor.last_refusal
    visitor.ask("rig close")
    visitor.ask("rig find")
    assert "is not open here" in visitor.last_refusal
