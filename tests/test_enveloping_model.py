"""The enveloping model in use: posing, files, edits, live scripts, shape-dependent SMPL."""

import json
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from client_files import program
from dynamics_models import small_enveloping
from linear_models import random_model

from corporeal.assets.default_body import load_default_body
from corporeal.body.enveloping import EnvelopingModel
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose, RotationPose
from corporeal.body.registrations import Registrations, Subject, Take
from corporeal.body.shape_correctives import ShapeCorrectives
from corporeal.errors import FormatError, InputError
from corporeal.formats.enveloping import is_enveloping, read_enveloping, write_enveloping
from corporeal.formats.npz import open_npz, write_npz
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.enveloping import equations
from corporeal.models.enveloping.fitting import PersonFitter
from corporeal.models.enveloping.keys import RadialBasis
from corporeal.models.enveloping.model import EnvelopingSkinning
from corporeal.models.enveloping.trends import edited
from corporeal.models.smpl.shape_dependent import ShapeDependentSmpl
from corporeal.pipelines.live_enveloping import live_character, write_live_enveloping
from corporeal.skinning.playback import character_vertices


@cache
def model() -> EnvelopingModel:
    return small_enveloping(load_default_body().template)


@cache
def deformer() -> EnvelopingSkinning:
    return EnvelopingSkinning(load_default_body().smpl_view(), model())


def random_turns(count: int, joints: int, seed: int = 1) -> np.ndarray:
    return np.random.default_rng(seed).normal(0, 0.4, (count, joints, 3))


def test_posed_people_are_those_of_the_equations():
    """The compiled pose of a person in float64 against equations 1 to 3 and 13."""
    made, x = deformer(), np.array([0.7, -0.4])
    identity = made.prepare(x)
    turns = random_turns(3, 24)
    posed = made.vertices(identity, Pose(turns, np.zeros((3, 3))))
    rows = [
        (
            equations.Keyed(d.joint, d.kind, RadialBasis.of(d.keys), d.region, d.offsets[0]),
            d.offsets,
        )
        for d in model().corrections
    ]
    c = equations.character_of(x, model().dress, model().bones, rows)
    for n, turn in enumerate(turns):
        q = RotationPose(matrix_from_axis_angle(turn), np.zeros(3))
        s = np.asarray(model().weights.dense(), np.float64)
        np.testing.assert_allclose(posed[n], equations.posed(made.rig, c, s, q), atol=1e-9)


def test_controls_scale_corrections_and_the_person_in_them():
    """Without corrections the skin is linear in their strength: f(1) lies between f(0) and f(2)."""
    made = deformer()
    identity = made.prepare(np.array([1.0, 0.5]))
    pose = Pose(random_turns(1, 24, 3), np.zeros((1, 3)))
    none, some, twice = (
        made.vertices(identity, pose, controls={"corrections": c}) for c in (0.0, 1.0, 2.0)
    )
    np.testing.assert_allclose(some - none, twice - some, atol=1e-9)
    assert np.abs(some - none).max() > 1e-3
    average = made.vertices(identity, pose, controls={"individual": 0.0})
    assert np.abs(average - some).max() > 1e-4


def test_a_body_finds_its_latent_coordinates():
    """A body that the model made, its parameters forgotten, is recognised by its rest shape."""
    made, x = deformer(), np.array([0.8, -0.6])
    stranger = replace(made.prepare(x), parameters={})
    np.testing.assert_allclose(made.latents(stranger), x, atol=0.02)


def test_files_give_the_model_back(tmp_path: Path):
    path = tmp_path / "a.npz"
    write_enveloping(path, model())
    assert is_enveloping(path)
    again = read_enveloping(path)
    np.testing.assert_array_equal(again.dress, model().dress)
    for one, other in zip(again.corrections, model().corrections, strict=True):
        assert (one.joint, one.kind) == (other.joint, other.kind)
        np.testing.assert_array_equal(one.offsets, other.offsets)
    with open_npz(path) as file:
        arrays = {name: file.array(name, h.dtype.kind, h.shape) for name, h in file.headers.items()}
    write_npz(path, {**arrays, "offsets": arrays["offsets"][:-3]})
    with pytest.raises(FormatError, match="damaged"):
        read_enveloping(path)


def test_a_person_is_found_from_two_scans():
    """Latents and poses of scans that the model itself made, with a third of one not seen."""
    made, x = deformer(), np.array([0.9, -0.7])
    turns = random_turns(2, 24, 5) * 0.5
    scans = made.vertices(made.prepare(x), Pose(turns, np.zeros((2, 3)))).astype(np.float32)
    scans[1, ::3] = np.nan
    found = PersonFitter(model(), 700).fit(scans, iterations=6)
    print(f"x {found.x}, rms {1e3 * found.rms:.3f} mm")
    np.testing.assert_allclose(found.x, x, atol=0.05)
    assert found.rms < 5e-4
    with pytest.raises(InputError, match="in the model's order"):
        PersonFitter(model(), 700).fit(scans[:, :100])


def test_edits_reach_the_mass_and_keep_the_stature():
    """Stature is the height of the box, mass 1 000 kg/m³ of it; what was asked is reached."""

    def measure(vertices: np.ndarray) -> tuple[float, float]:
        box = np.ptp(vertices, axis=0)
        return float(box[1]), 1000 * float(np.prod(box))

    x = np.array([0.2, 0.1])
    dress = np.asarray(model().dress, np.float64)
    before = measure(dress[0] + np.tensordot(x, dress[1:], axes=1))
    new = edited(model(), x, measure, mass=1.1 * before[1])
    after = measure(dress[0] + np.tensordot(new, dress[1:], axes=1))
    assert abs(after[0] - before[0]) < 1e-3
    assert abs(after[1] - 1.1 * before[1]) < 0.1
    nobody = replace(model(), masses=np.full(6, np.nan))
    with pytest.raises(InputError, match="stature and mass of 0 people"):
        edited(nobody, x, measure, mass=80.0)


def test_live_characters_and_their_script_give_the_skin(tmp_path: Path):
    """Helper joints and morph targets of the file give the deformer's skin; the script for three.js
    gives the weights that were baked."""
    made = EnvelopingSkinning(load_default_body().template, model())
    person = made.prepare(np.array([0.5, 0.5]))
    identity = replace(
        person, rest_vertices=np.asarray(person.rest_vertices, np.float32),
        joints=np.asarray(person.joints, np.float32),
    )  # fmt: skip
    turns = random_turns(4, 52, 6).astype(np.float32)
    skeleton = made.template.skeleton
    motion = Motion("live", 30.0, turns, np.zeros((4, 3), np.float32), skeleton)
    animation = made.animate(identity, motion)
    character, live = live_character(made, animation)
    apart = np.abs(character_vertices(character) - animation.vertices).max()
    print(f"file against deformer: {1e3 * apart:.4f} mm")
    assert apart < 1e-5
    report = write_live_enveloping(tmp_path / "a.glb", made, animation)
    assert report["scripts"] == ["a_enveloping.mjs", "a_enveloping.py", "AEnveloping.cs"]
    compile((tmp_path / "a_enveloping.py").read_text(), "a_enveloping.py", "exec")
    assert "@" not in (tmp_path / "AEnveloping.cs").read_text()
    names = list(character.template.skeleton.names)
    job = {
        "module": str(tmp_path / "a_enveloping.mjs"), "joints": names,
        "morphs": list(character.morph_names),
        "poses": np.roll(np.asarray(character.joint_rotations_wxyz), -1, axis=-1).tolist(),
    }  # fmt: skip
    (tmp_path / "job.json").write_text(json.dumps(job))
    script = Path(__file__).parent / "clients" / "enveloping_stub.mjs"
    done = subprocess.run(
        [program("node"), str(script), str(tmp_path / "job.json")],
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    shown = json.loads(done.stdout)
    np.testing.assert_allclose(shown["weights"], character.morph_weights, atol=1e-6)
    helpers = np.array(shown["helpers"])
    baked = np.roll(np.asarray(character.joint_rotations_wxyz)[:, 52:], -1, axis=-1)
    same = np.abs(np.sum(helpers * baked, axis=-1))
    np.testing.assert_allclose(same, 1, atol=1e-6)
    assert len(live.names) == character.morph_count


def test_shape_dependent_smpl_bends_people_differently():
    """At β = 0 its offsets are the first shares'; they are linear in β."""
    data = random_model()
    count, features = data.vertex_count, data.pose_count
    random = np.random.default_rng(2)
    dependent = ShapeCorrectives(
        data.joint_names[1:], random.normal(size=(2, 3, features)),
        random.normal(0, 0.01, (3, count, 3)),
    )  # fmt: skip
    made = ShapeDependentSmpl(data, dependent)
    turns = random.normal(0, 0.3, (1, data.joint_count, 3))
    pose = Pose(turns, np.zeros((1, 3)))
    offsets = [
        made.skinning_of(made.prepare(np.array([b]))).pose_offsets(pose) for b in (0.0, 1.0, 2.0)
    ]
    np.testing.assert_allclose(offsets[2] - offsets[1], offsets[1] - offsets[0], atol=1e-12)
    assert np.abs(offsets[1] - offsets[0]).max() > 1e-4
    many = replace(dependent, shares=np.zeros((99, 3, features)))
    with pytest.raises(InputError, match="depend on"):
        ShapeDependentSmpl(data, many)


def test_several_sets_are_one_if_they_are_of_the_same_people(monkeypatch: pytest.MonkeyPatch):
    """Takes one after another; another topology and another person of the same name are named."""
    from corporeal.pipelines import train_enveloping

    triangles, take = np.array([[0, 1, 2]]), Take("anna", "poses", 0.0, np.zeros((2, 4, 3)))
    known = {"anna": Subject("anna", facts={"mass": 60.0})}
    sets = {
        "a": Registrations("small", triangles, 4, (take,), known),
        "b": Registrations("small", triangles, 4, (take, take), known),
        "c": Registrations("small", triangles[:, ::-1], 4, (take,), known),
        "d": Registrations("small", triangles, 4, (take,),
                           {"anna": Subject("anna", facts={"mass": 90.0})}),
    }  # fmt: skip
    monkeypatch.setattr(train_enveloping, "read_dataset", lambda path: sets[str(path)])
    both = train_enveloping.joined_sets([Path("a"), Path("b")])
    assert len(both.takes) == 3
    with pytest.raises(InputError, match="c has 4 vertices"):
        train_enveloping.joined_sets([Path("a"), Path("c")])
    with pytest.raises(InputError, match="anna of d is not anna of a set before it"):
        train_enveloping.joined_sets([Path("a"), Path("d")])
    with pytest.raises(InputError, match="no set of scans"):
        train_enveloping.joined_sets([])


def test_a_run_on_several_sets_is_given_again():
    """Paths in a list of a manifest come back as paths."""
    from corporeal.cli.train_enveloping import TrainEnveloping

    content = {
        "verb": "train enveloping",
        "config": {"scans": ["a.zarr", "b.zarr"], "out": "m.npz"},
    }
    assert TrainEnveloping.from_manifest(content).scans == (Path("a.zarr"), Path("b.zarr"))
