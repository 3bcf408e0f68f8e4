"""Files given to the studio: read in a process with limits, kept under safe names, then shown."""

import json
import os
import time

import numpy as np
import public_data
import pytest
from clips import write_authored_clip
from studio_session import Visitor

from corporeal.body.animation import Animation
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.native import write_animation, write_body, write_motion
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.viewer.document import as_json
from corporeal.viewer.job_process import REFUSED, Job, JobProcess, Limits
from corporeal.viewer.jobs.look import in_order
from corporeal.viewer.packets import Packet
from corporeal.viewer.session import Session
from corporeal.viewer.uploads import MOST_BYTES, Uploads, safe_name


@pytest.fixture(scope="module")
def visitor(tmp_path_factory):
    made = Visitor(tmp_path_factory.mktemp("tab"))
    yield made
    made.session.close()


@pytest.fixture(scope="module")
def model():
    return PhenotypeModel()


def ended(process_id: int) -> bool:
    try:
        os.kill(process_id, 0)
    except ProcessLookupError:
        return True
    return False


def answer_of(job: JobProcess):
    while (answer := job.poll()) is None:
        time.sleep(0.02)
    return answer


def test_a_process_that_takes_too_long_is_ended():
    job = JobProcess(Job(time.sleep, (600.0,), Limits(0.2, 8 << 30)))
    number = job.process_id
    answer = answer_of(job)
    assert answer.kind == REFUSED
    assert "more than 0.2 s" in answer.fields["why"]
    assert ended(number)


def test_a_process_that_takes_too_much_memory_is_refused():
    """8 GiB of ones do not fit into an address space of 4."""
    answer = answer_of(JobProcess(Job(np.ones, (1 << 30,), Limits(200.0, 4 << 30))))
    assert answer.kind == REFUSED
    assert "4 GiB" in answer.fields["why"]


def test_a_process_that_dies_is_told_and_one_that_is_not_wished_ends():
    answer = answer_of(JobProcess(Job(os._exit, (3,), Limits(200.0, 8 << 30))))
    assert answer.kind == REFUSED
    assert "exit code 3" in answer.fields["why"]
    job = JobProcess(Job(time.sleep, (600.0,), Limits(600.0, 8 << 30)))
    job.kill()
    assert ended(job.process_id)


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        ("../../etc/passwd.bvh", "passwd.bvh"),
        ("..\\..\\walk.BVH", "walk.bvh"),
        ("…/.hidden.npz", "hidden.npz"),
        ("a b'c\"<script>.glb", "a_b_c_script.glb"),
        ("x" * 500 + ".obj", "x" * 60 + ".obj"),
        ("\0.json", "file.json"),
    ],
)
def test_names_keep_no_path_and_no_strange_letter(given, kept):
    assert safe_name(given) == kept


@pytest.mark.parametrize("name", ["", "bvh", "take.exe", "take.npz.sh", "x.pkl", "/etc/passwd"])
def test_other_kinds_of_files_are_refused(name):
    with pytest.raises(InputError, match="is none of"):
        safe_name(name)


def test_files_have_limits_and_names_of_their_own(tmp_path, monkeypatch):
    uploads = Uploads(tmp_path / "uploads")
    assert uploads.keep("walk.bvh", b"one") == "walk.bvh"
    assert uploads.keep("walk.bvh", b"two") == "walk-2.bvh"
    assert uploads.paths["walk.bvh"].read_bytes() == b"one"
    with pytest.raises(InputError, match=r"2 MiB; \.skel files may have 1"):
        uploads.keep("large.skel", bytes(2 * MOST_BYTES[".skel"]))
    monkeypatch.setattr("corporeal.viewer.uploads.MOST_FILES", 2)
    with pytest.raises(InputError, match="keeps 2 files"):
        uploads.keep("third.bvh", b"three")
    uploads.forget("walk-2.bvh")
    assert [path.name for path in (tmp_path / "uploads").iterdir()] == ["walk.bvh"]


def test_a_lent_file_is_never_taken_away(tmp_path):
    """A file of the command line lies where the person has it."""
    own = tmp_path / "own.npz"
    own.write_bytes(b"mine")
    uploads = Uploads(tmp_path / "uploads")
    uploads.forget(uploads.lend(own))
    assert own.read_bytes() == b"mine"


def test_a_malformed_file_is_refused_and_the_session_goes_on(visitor):
    before = visitor.session.document
    visitor.upload("broken.bvh", b"HIERARCHY\nROOT hips\n{ OFFSET 0 0")
    assert visitor.last_refusal.startswith("broken.bvh starts with")
    assert str(visitor.session.folder) not in visitor.last_refusal
    assert visitor.session.document == before
    assert "broken.bvh" not in visitor.session.uploads.paths
    visitor.upload("notes.exe", b"MZ")
    assert "is none of" in visitor.last_refusal
    visitor.ask("change", path=["speed"], value=0.5)
    assert visitor.session.document.speed == 0.5


@pytest.mark.data("cmu-mocap")
def test_a_motion_is_played_and_fitted_again_to_another_body(visitor, model, tmp_path):
    """A captured walk: planted feet stand on the ground of whoever walks."""
    require_played(visitor, "35_01 walk.bvh", public_data.cmu_clip("35_01_walk").read_bytes())


def test_an_authored_clip_is_played_and_fitted_again_to_another_body(visitor, tmp_path):
    """As above, with a clip of our own in a capture's layout."""
    clip = write_authored_clip(tmp_path / "clip.bvh", duration=2.0)
    require_played(visitor, "jumping jacks.bvh", clip.read_bytes())


def require_played(visitor, name: str, content: bytes) -> None:
    """An uploaded clip plays at the studio's rate, and again on a taller body; its name is safe."""
    visitor.upload(f"../{name}", content)
    session, kept = visitor.session, name.replace(" ", "_")
    assert session.document.motion.name == kept
    first = session.stage.playhead.motion
    assert first.fps == 60.0
    assert first.frame_count > 60
    assert kept in visitor.said("files")[-1].fields["motions"]
    visitor.ask("change", path=["body", "sliders", "height"], value=0.9)
    visitor.settle()
    taller = session.stage.playhead.motion
    assert taller.frame_count == first.frame_count
    heights = [float(np.asarray(m.skeleton.joints)[:, 1].max()) for m in (first, taller)]
    assert heights[1] > heights[0] + 0.05
    visitor.ask("undo")
    visitor.settle()


def test_an_own_take_is_a_view_beside_its_custom_motion(visitor, model, tmp_path):
    identity = model.prepare({"weight": 0.7})
    skeleton = model.template.skeleton
    motion = Motion(
        "still", 60.0, np.zeros((3, skeleton.joint_count, 3)), np.zeros((3, 3)), skeleton
    )
    rest = np.asarray(identity.rest_vertices, np.float32)
    frames = np.stack([rest, rest + 0.5, rest])
    world = np.tile(np.eye(4), (3, skeleton.joint_count, 1, 1))
    path = tmp_path / "take.npz"
    write_animation(path, Animation("lbs", model.template, identity, motion, frames, world), {})
    visitor.upload("take.npz", path.read_bytes())
    session = visitor.session
    assert session.document.views[-1].deformer == "take:take.npz"
    assert session.document.motion.name == "take.npz"
    assert session.document.body.sliders["weight"] == pytest.approx(0.7)
    assert not visitor.said("surface")
    session.stage.seek(1.0)
    np.testing.assert_allclose(session.stage.players[-1].skin, rest + 0.5, atol=1e-6)
    visitor.ask("forget", name="take.npz")
    assert "in use" in visitor.last_refusal


def test_files_of_the_command_line_stand_side_by_side_alone(model, tmp_path):
    """Two takes are the two bodies; the longer one's motion leads, whichever is read first."""
    identity, skeleton = model.prepare(), model.template.skeleton
    rest = np.asarray(identity.rest_vertices, np.float32)
    for name, count in (("long", 5), ("short", 3)):
        still = np.zeros((count, skeleton.joint_count, 3))
        motion = Motion(name, 60.0, still, np.zeros((count, 3)), skeleton)
        world = np.tile(np.eye(4), (count, skeleton.joint_count, 1, 1))
        frames = np.tile(rest, (count, 1, 1))
        take = Animation("lbs", model.template, identity, motion, frames, world)
        write_animation(tmp_path / f"{name}.npz", take, {})
    (tmp_path / "broken.glb").write_bytes(b"glTF")
    files = [tmp_path / name for name in ("long.npz", "short.npz", "broken.glb")]
    heard: list[Packet] = []
    session = Session(heard.append, tmp_path / "tab", files)
    session.open()
    while session.background.busy:
        session.background.poll()
        time.sleep(0.02)
    shown = {view.deformer for view in session.document.views}
    assert shown == {"take:long.npz", "take:short.npz"}
    assert session.document.motion.name == "long.npz"
    (why,) = [packet.fields["why"] for packet in heard if packet.kind == "refused"]
    assert why.startswith("broken.glb")
    session.close()


def test_a_motion_of_the_same_joints_is_put_in_their_order(model):
    """Engines list joints as they like: with the hips swapped the same body moves the same way."""
    skeleton = model.template.skeleton
    swap = [0, 2, 1, *range(3, skeleton.joint_count)]  # a permutation that is its own inverse
    ups = [skeleton.parents[joint] for joint in swap]
    names = tuple(skeleton.names[joint] for joint in swap)
    parents = tuple(-1 if up < 0 else swap[up] for up in ups)
    theirs = Skeleton(names, parents, np.asarray(skeleton.joints)[swap])
    rotation_vectors = np.random.default_rng(0).normal(size=(2, skeleton.joint_count, 3))
    came = in_order(
        Motion("m", 60.0, rotation_vectors[:, swap], np.zeros((2, 3)), theirs), skeleton
    )
    assert came is not None
    np.testing.assert_array_equal(came.joint_rotations, rotation_vectors)
    assert came.skeleton.names == skeleton.names
    other = Skeleton(("only",), (-1,), np.zeros((1, 3)))
    assert (
        in_order(Motion("m", 60.0, rotation_vectors[:, :1], np.zeros((2, 3)), other), skeleton)
        is None
    )


def test_a_take_of_another_topology_brings_its_triangles(visitor, tmp_path):
    mesh = Mesh(np.eye(3, 3), np.array([[0, 1, 2]], np.int32))
    skeleton = Skeleton(("only",), (-1,), np.zeros((1, 3)))
    weights = SkinWeights(np.zeros((3, 1), np.int32), np.ones((3, 1)), 1)
    template = Template(mesh, skeleton, weights, ("all",), np.zeros(3, np.int32))
    motion = Motion("m", 30.0, np.zeros((2, 1, 3)), np.zeros((2, 3)), skeleton)
    identity = Identity(mesh.vertices, skeleton.joints, {})
    frames = np.stack([mesh.vertices, 2 * mesh.vertices]).astype(np.float32)
    world = np.tile(np.eye(4), (2, 1, 1, 1))
    path = tmp_path / "other.npz"
    write_animation(path, Animation("lbs", template, identity, motion, frames, world), {})
    before = visitor.session.document.motion
    visitor.upload("other.npz", path.read_bytes())
    surface = visitor.said("surface")[-1]
    assert surface.fields == {"name": "other.npz", "vertices": 3}
    assert surface.arrays["triangles"].tolist() == [[0, 1, 2]]
    assert visitor.session.document.motion == before


def test_bodies_and_sessions_are_loaded_and_checked(visitor, model, tmp_path):
    identity = model.prepare({"age": 60.0})
    write_body(tmp_path / "anna.npz", Body(model.template, identity, {}))
    visitor.upload("anna.npz", (tmp_path / "anna.npz").read_bytes())
    assert visitor.session.document.body.sliders["age"] == pytest.approx(60.0)
    wanted = as_json(visitor.session.document) | {"speed": 0.25}
    visitor.upload("mine.json", json.dumps(wanted).encode())
    assert visitor.session.document.speed == 0.25
    visitor.upload("bad.json", json.dumps(wanted | {"speed": 1e9}).encode())
    assert "speed" in visitor.last_refusal
    assert visitor.session.document.speed == 0.25


def test_a_motion_that_lasts_too_long_is_refused(visitor, model, tmp_path):
    skeleton = model.template.skeleton
    count = 601
    rotations = np.zeros((count, skeleton.joint_count, 3), np.float32)
    motion = Motion("slow", 1.0, rotations, np.zeros((count, 3)), skeleton)
    write_motion(tmp_path / "slow.npz", motion)
    visitor.upload("slow.npz", (tmp_path / "slow.npz").read_bytes())
    assert "plays up to 600 s" in visitor.last_refusal
