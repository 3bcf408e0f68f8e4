"""What the studio gives away: files made in a process, and commands that make the same."""

import shlex
import shutil

import numpy as np
import pytest
from studio_session import Visitor

from corporeal.cli.main import main
from corporeal.formats.native import read_animation, read_body
from corporeal.viewer.command_line import command_lines
from corporeal.viewer.document import BodyChoice, Document, MotionChoice, View
from corporeal.viewer.rig import Rig, RigJoint


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    made = Visitor(tmp_path_factory.mktemp("tab"))
    yield made
    made.session.close()


def test_the_command_makes_what_the_studio_exports(visitor, tmp_path, monkeypatch):
    """Body, motion and deformer are the same to the last bit: one pipeline, called twice."""
    for path, value in (
        (["body", "sliders", "weight"], 0.8),
        (["motion"], {"name": "punching", "duration": 2.0, "seed": 3}),
        (["views"], [{"deformer": "dqs"}]),
    ):
        visitor.ask("change", path=path, value=value)
    paint = {"vertices": np.arange(50, dtype=np.uint32), "factors": np.full(50, 2.0, np.float32)}
    visitor.ask("paint", paint, what="exaggeration")
    visitor.ask("make", view=0, format="npz")
    visitor.settle()
    made = visitor.said("made")[-1].fields
    assert (made["name"], made["frames"]) == ("punching-dqs.npz", 121)
    path = visitor.session.folder / made["place"]
    exported = read_animation(path)
    assert path.stat().st_size == made["bytes"]
    monkeypatch.chdir(tmp_path)
    shutil.copy(path.with_name("exaggerated.npy"), tmp_path)
    lines = command_lines(visitor.session.document, "take.npz")
    for line in lines:
        assert main(shlex.split(line)[1:]) == 0
    scripted = read_animation(tmp_path / "take.npz")
    assert scripted.deformer == exported.deformer == "dqs"
    np.testing.assert_array_equal(scripted.vertices, exported.vertices)


def test_a_held_root_and_the_body_are_exported_too(visitor):
    visitor.ask("change", path=["motion", "root"], value="fixed")
    visitor.ask("make", view=0, format="npz")
    visitor.ask("make body")
    visitor.settle()
    places = {m.fields["name"]: m.fields["place"] for m in visitor.said("made")}
    held = read_animation(visitor.session.folder / places["punching-dqs.npz"])
    assert float(np.ptp(held.motion.root_translation, axis=0).max()) == 0.0
    body = read_body(visitor.session.folder / places["body.npz"])
    assert float(body.identity.parameters["weight"]) == pytest.approx(0.8)
    assert body.measurements["stature"] > 1.0


@pytest.mark.parametrize(
    ("fields", "why"),
    [
        ({"view": 0, "format": "exe"}, "no file is made as .exe"),
        ({"view": 0, "format": "../glb"}, "no file is made as"),
        ({"view": 7, "format": "glb"}, "body 7 was asked for"),
        ({"format": "glb"}, "lacks its field"),
    ],
)
def test_other_wishes_are_refused(visitor, fields, why):
    visitor.ask("make", **fields)
    assert why in visitor.last_refusal


def test_a_motion_that_is_not_the_tabs_own_is_never_read(visitor, tmp_path):
    """A name from the page that is a path leads nowhere, even where a file lies."""
    (tmp_path / "secret.bvh").write_text("HIERARCHY")
    secret = str(tmp_path / "secret.bvh")
    before = visitor.session.document.motion.name
    visitor.ask("change", path=["motion", "name"], value=secret)
    visitor.settle()
    visitor.ask("make", view=0, format="glb")
    assert "there is no motion" in visitor.last_refusal
    visitor.ask("change", path=["motion", "name"], value=before)
    visitor.settle()


def test_a_cancelled_export_ends_at_once(visitor):
    before = len(visitor.said("made"))
    visitor.ask("make", view=0, format="mp4")
    (name,) = [name for name in visitor.session.background.busy if name.endswith(".mp4")]
    visitor.ask("cancel", name=name)
    assert name not in visitor.session.background.busy
    visitor.settle()
    assert len(visitor.said("made")) == before


def test_commands_tell_growth_files_and_takes():
    document = Document(
        body=BodyChoice(local={"belly": 0.3}),
        motion=MotionChoice(name="my walk.bvh"),
        views=(View("lbs"), View("take:jump.npz")),
        growth={"everywhere": 2.0, "belly": -1.5},
        rig=Rig("dragon.off", "+z", (RigJoint("root", None, (0.0, 0.0, 0.0)),)),
    )
    assert command_lines(document, "take.glb") == [
        "# body.npz: save it with Out › Body at rest",
        "corporeal anatomy fit body.npz --out layers.npz",
        "corporeal anatomy grow layers.npz --mass=+2 --out grown-1.npz",
        "corporeal anatomy grow grown-1.npz --mass=-1.5 --region belly --out grown.npz",
        "corporeal animate --body grown.npz --motion 'my walk.bvh' --deformer lbs --out take-1.glb",
        "corporeal convert jump.npz take-2.glb",
        "corporeal animate --mesh dragon.off --skeleton dragon.skel --mesh-up +z --mesh-front -y "
        "--motion 'my walk.bvh' --out dragon-moved.npz",
    ]
