"""The names at the top: there, typed, quick to import, and in nobody's way."""

import ast
import importlib
import inspect
import os
import pkgutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from small_body import small_animation, small_mesh, small_template
from test_loading import small_people

import corporeal as cp
from corporeal.cli.flags import measurement_flags, slider_flags
from corporeal.cli.main import VERBS, main
from corporeal.errors import InputError
from corporeal.motions.library import MOTIONS
from corporeal.pipelines import people as pipeline
from corporeal.pipelines.deformers import DEFORMERS
from corporeal.pipelines.options import AnimateOptions, MotionOptions


def run_python(code: str) -> str:
    """What a fresh interpreter prints for `code`, with this very package and no run-time checks."""
    environment = dict(os.environ) | {"PYTHONPATH": str(Path(cp.__file__).parents[1])}
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, env=environment
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


VERB_NAMES = [name for name in cp.__all__ if name[0].islower()]

SNIPPETS = """
import corporeal as cp
cp.save(cp.make_motion("punching", duration=2, fps=10), "walk.bvh")
anna = cp.make_body(gender="female", stature=1.70, mass=82)
take = cp.animate(anna, "walk.bvh", deformer="projective")
cp.save(take, "anna.glb")
cp.save(anna, "anna.npz")
assert abs(cp.measure(cp.load("anna.npz")).mass - 82) < 0.1
cp.save(cp.load("smpl"), "my_smpl.npz")
model = cp.load("my_smpl.npz")
import numpy as np
verts = model(betas=np.ones((1, 2)), body_pose=np.zeros((1, 69))).vertices
assert verts.shape == (1, model.data.vertex_count, 3)
layers = cp.fit_anatomy(anna)
heavier = cp.grow(layers, mass=+15)
assert 14.9 < cp.measure(heavier).mass - cp.measure(layers).mass < 15.1
like = cp.transfer_fat(heavier, layers, mass=5)
assert 4.9 < cp.measure(like).mass - cp.measure(layers).mass < 5.1
people = cp.sample_people(2, seed=1)
assert len(people) == 2 and isinstance(people[-1], cp.Body)
"""


def test_the_snippets_run_after_every_submodule_was_imported(tmp_path: Path):
    """Importing `corporeal.body` sets the attribute `body`: no verb may have such a name."""
    code = f"""
import importlib, os, pkgutil
import corporeal
for info in pkgutil.walk_packages(corporeal.__path__, "corporeal."):
    if not info.name.endswith("__main__"):
        importlib.import_module(info.name)
for name in corporeal.__all__:
    assert getattr(corporeal, name).__name__ == name, name
os.chdir({str(tmp_path)!r})
corporeal.pipelines.people.GROUP = 2  # people are realised a group at a time
{SNIPPETS}
print("ok")
"""
    assert run_python(code).splitlines()[-1] == "ok"


def test_no_name_is_that_of_a_submodule():
    inside = {info.name for info in pkgutil.iter_modules(cp.__path__)}
    assert not inside & set(cp.__all__)


def test_importing_the_package_imports_nothing_of_it():
    """Names are imported when they are first used: not even numpy comes along."""
    code = """
import sys
before = set(sys.modules)
import corporeal
new = {name.partition(".")[0] for name in set(sys.modules) - before}
heavy = {"numpy", "jax", "numba", "scipy", "jaxtyping", "PIL", "tyro"}
parts = [name for name in sys.modules if name.startswith("corporeal.")]
print(sorted(new & heavy), parts)
"""
    assert run_python(code).strip() == "[] []"


def test_type_checkers_see_what_is_imported_lazily():
    """Names under TYPE_CHECKING are the names of the table, from the same modules."""
    tree = ast.parse(Path(cp.__file__).read_text(encoding="utf-8"))
    branch = next(node for node in tree.body if isinstance(node, ast.If))
    seen = {
        alias.asname: node.module
        for node in branch.body
        if isinstance(node, ast.ImportFrom)
        for alias in node.names
    }
    assert seen == cp._HOME


@pytest.mark.parametrize("name", VERB_NAMES)
def test_every_verb_is_documented_and_typed(name: str):
    verb = getattr(cp, name)
    assert inspect.getdoc(verb)
    signature = inspect.signature(verb)
    assert signature.return_annotation is not inspect.Signature.empty
    for parameter in signature.parameters.values():
        assert parameter.annotation is not inspect.Parameter.empty, parameter.name
        assert parameter.kind is not inspect.Parameter.VAR_KEYWORD


@pytest.mark.parametrize("name", VERB_NAMES)
def test_every_argument_is_explained(name: str):
    """Each argument's name stands in its verb's documentation, or in the verb that it refers to."""
    text = inspect.getdoc(getattr(cp, name)) or ""
    for other in VERB_NAMES:
        if f"`{other}`" in text:
            text += inspect.getdoc(getattr(cp, other)) or ""
    for argument in inspect.signature(getattr(cp, name)).parameters:
        subject = argument == next(iter(inspect.signature(getattr(cp, name)).parameters))
        assert subject or f"`{argument}`" in text, argument


COVERED = {
    "body": "make_body",
    "people": "sample_people",
    "reshape": "reshape",
    "animate": "animate",
    "avatar": "make_avatar",
    "register": "register",
    "markers": "fit_markers",
    "skeleton": "fit_skeleton",
    "anatomy": "fit_anatomy",
    "transfer-dynamics": "transfer_dynamics",
    "motion": "make_motion",
    "capture": "capture_people",
    "dataset": "load",
    "train": "train_smpl",
    "evaluate": "evaluate_models",
    "convert": "convert",
}
"""Verb of the command line → the name at the top that does it."""
TERMINAL_ONLY = {"demo", "studio", "export-viewer", "doctor", "cite"}


def test_every_verb_of_the_command_line_has_a_name():
    assert set(COVERED) | TERMINAL_ONLY == set(VERBS)
    assert set(COVERED.values()) <= set(cp.__all__)


def test_a_body_is_made_of_what_the_flags_name():
    """`make_body` takes each slider, and each measurement that has a short name."""
    arguments = set(inspect.signature(cp.make_body).parameters)
    sliders = {flag.name for flag in slider_flags()}
    short = {f.name for f in measurement_flags() if f.name != f.full_name.replace("_", "-")}
    assert arguments == sliders | short | {"stature", "mass", "measurements"}


def test_motion_arguments_and_defaults_are_those_of_the_flags():
    from dataclasses import fields

    for verb in (cp.make_motion, cp.animate):
        parameters = inspect.signature(verb).parameters
        for f in fields(MotionOptions):
            assert parameters[f.name].default == f.default, f.name
    parameters = inspect.signature(cp.animate).parameters
    for name in ("device", "component", "mesh_unit", "mesh_up", "mesh_front"):
        assert parameters[name].default == getattr(AnimateOptions, name)


def test_lists_say_what_there_is():
    assert [row.name for row in cp.list_deformers()] == list(DEFORMERS)
    assert cp.list_motions() == tuple(sorted(MOTIONS))
    projective = next(row for row in cp.list_deformers() if row.name == "projective")
    assert "stiffness" in [control.name for control in projective.controls]


def test_average_adult_and_sliders():
    adult = cp.make_body()
    stout = cp.make_body(gender="male", weight=0.8)
    assert stout.measurements["mass"] > adult.measurements["mass"]
    assert cp.measure(stout).stature == pytest.approx(stout.measurements["stature"])
    assert cp.measure(stout.identity).mass == pytest.approx(stout.measurements["mass"])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"gender": "woman"}, "gender is 'woman'; expected female, male"),
        ({"measurements": {"girth": 1.0}}, "no measurement is called 'girth'"),
        ({"waist": 0.8, "measurements": {"waist_circumference": 0.9}}, "came twice"),
        ({"measurements": {"waist": 0.8, "waist_circumference": 0.9}}, "came twice"),
        ({"stature": 1.7, "muscle": 0.7}, "measurements decide the sliders"),
        ({"weight": 1.4}, "weight"),
    ],
)
def test_bodies_that_cannot_be_are_refused(arguments: dict, words: str):
    with pytest.raises(InputError, match=words):
        cp.make_body(**arguments)


def test_an_own_deformer_moves_a_body():
    """Anything with the protocol: here one that holds every body still."""

    class Still(cp.Traits):
        name = "still"

        def __init__(self, template: cp.Template) -> None:
            self.template = template

        def animate(self, identity, motion, controls=None) -> cp.Animation:
            frames = motion.frame_count
            skin = np.repeat(identity.rest_vertices[None], frames, axis=0)
            world = np.tile(np.eye(4), (frames, len(identity.joints), 1, 1))
            return cp.Animation("still", self.template, identity, motion, skin, world)

    adult = cp.make_body()
    take = cp.animate(adult, "punching", deformer=Still(adult.template), duration=2, fps=10)
    assert take.deformer == "still"
    assert np.array_equal(take.vertices[-1], adult.identity.rest_vertices)
    assert take.measurements == adult.measurements


def test_a_given_motion_is_taken_as_it_is():
    adult = cp.make_body()
    motion = cp.make_motion("hips", adult, duration=2, fps=10)
    take = cp.animate(adult, motion)
    assert take.motion is motion
    named = cp.animate(adult, "hips", duration=2, fps=10)
    assert np.array_equal(take.vertices, named.vertices)


def test_a_file_and_its_motion_give_the_same(tmp_path: Path):
    """A BVH is retargeted whether it comes as a file or as the motion that was loaded from it."""
    adult = cp.make_body()
    cp.save(cp.make_motion("hips", adult, duration=2, fps=20), tmp_path / "hips.bvh")
    loaded = cp.load(tmp_path / "hips.bvh")
    assert loaded.skeleton.names != adult.template.skeleton.names  # BVH lists depth first
    from_file = cp.animate(adult, tmp_path / "hips.bvh")
    given = cp.animate(adult, loaded)
    assert np.array_equal(given.vertices, from_file.vertices)
    assert from_file.notes[0] == "unit taken as 'cm', in which the skeleton has a person's size"


@pytest.mark.parametrize(
    ("body", "arguments", "words"),
    [
        (None, {"shape": [1.0]}, "shape came without a body model"),
        (None, {"skeleton": "a.skel"}, "skeleton came without a mesh"),
        (None, {"deformer": "lbz"}, "no deformer 'lbz'"),
        (None, {"controls": {"stiffness": 1.0}}, "has no control stiffness"),
        (None, {"soft": {"belly": 0.5}}, "--soft came with the deformer 'lbs'"),
        ("no_such.npz", {}, "there is no file no_such.npz"),
    ],
)
def test_takes_that_cannot_be_are_refused(body, arguments: dict, words: str):
    with pytest.raises(InputError, match=words):
        cp.animate(body, "hips", **arguments)


def test_wrong_kinds_are_refused_in_words():
    """Without the tests' run-time checks, as a user has it."""
    code = """
import corporeal as cp
for wrong in (lambda: cp.animate(3, "hips"), lambda: cp.show(3), lambda: cp.save(3, "a.npz")):
    try:
        wrong()
    except cp.CorporealError as error:
        print(error)
"""
    words = run_python(code)
    assert "a int came to be moved; expected a body, layers" in words
    assert "a int came, which has no picture; expected Animation, Body" in words
    assert "a int came, which no file can hold; expected Mesh, Body" in words


def test_a_mesh_needs_a_skeleton_and_a_motion_a_name():
    with pytest.raises(InputError, match="a mesh came without skeleton"):
        cp.animate(small_mesh(), "hips")
    with pytest.raises(InputError, match="no motion is called 'hip'"):
        cp.animate(None, "hip")
    with pytest.raises(InputError, match=r"shape is \[nan\]"):
        cp.animate(cp.load("smpl"), "hips", shape=[float("nan")])
    with pytest.raises(InputError, match="shape coefficients"):
        cp.animate(cp.load("smpl"), "hips", shape=np.zeros(1000))


def test_baking_says_how_exact_it_is():
    character, report = cp.bake(small_animation(), max_error_mm=0.1)
    assert report.max_error_mm <= 0.1
    assert character.frame_count == 7
    assert cp.bake(small_animation(), morphs=0)[1].morph_count == 0


def test_reshaping_adds_what_was_asked():
    ben = cp.make_body(gender="male")
    heavier = cp.reshape(ben, gain=8)
    assert heavier.measurements["mass"] - ben.measurements["mass"] == pytest.approx(8, abs=0.05)
    with pytest.raises(InputError, match="does not say whether it is a woman or a man"):
        cp.reshape(cp.make_body(), gain=8)
    given = cp.reshape(cp.make_body(), gain=8, gender="male").measurements["mass"]
    assert given - cp.make_body().measurements["mass"] == pytest.approx(8, abs=0.05)


def test_the_command_line_writes_the_same_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """One implementation behind both: body, take and conversion are equal to the last byte."""
    monkeypatch.chdir(tmp_path)
    for line in (
        "body --gender male --weight 0.8 --out ben.npz",
        "animate --body ben.npz --motion hips --duration 2 --fps 10 --deformer dqs --out take.npz",
        "convert take.npz take.pc2",
    ):
        assert main(line.split()) == 0
    capsys.readouterr()
    ben = cp.make_body(gender="male", weight=0.8)
    cp.save(ben, "ben2.npz")
    cp.save(cp.animate(ben, "hips", duration=2, fps=10, deformer="dqs"), "take2.npz")
    cp.convert("take2.npz", "take2.pc2")
    for name in ("ben{}.npz", "take{}.npz", "take{}.pc2"):
        one, other = (Path(name.format(which)).read_bytes() for which in ("", "2"))
        assert one == other, name


def test_people_in_memory_are_those_of_a_store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Whether kept in memory or written, persons are the same to the last bit."""
    monkeypatch.setattr(pipeline, "GROUP", 2)
    held = cp.sample_people(2, seed=4)
    stored = cp.sample_people(2, seed=4, out=tmp_path / "p.zarr")
    assert held.path is None
    assert stored.path is not None
    assert held.names == stored.names
    assert np.array_equal(held.measured, stored.measured)
    for one, other in zip(held, stored, strict=True):
        assert np.array_equal(one.identity.rest_vertices, other.identity.rest_vertices)
        assert one.measurements == other.measurements
    assert cp.measure(held[-1]).mass == pytest.approx(held.mass[-1], abs=1e-3)
    with pytest.raises(InputError, match="there is no person 2; the population has 2"):
        _ = held[2]


def test_people_in_memory_are_written_beside_a_capture(tmp_path: Path):
    """Worker processes open them there; these have another surface, so that nobody is recorded."""
    with pytest.raises(InputError, match="people of another topology"):
        cp.capture_people(small_people(), tmp_path / "a.zarr", "shapes")
    assert cp.load(tmp_path / "a-people.zarr").names == small_people().names
    assert not (tmp_path / "a.zarr").exists()


def test_the_template_knows_nothing_of_the_front_door():
    """The nouns are usable alone: a template of one's own needs no verb."""
    assert isinstance(small_template(), cp.Template)
    assert importlib.import_module("corporeal.body.template").Template is cp.Template
