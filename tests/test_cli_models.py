"""A model trained, evaluated, moved and converted by the command line; bad data refused by name."""

import json
import pickle
import re
import shlex
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path

import numpy as np
import pytest
import smpl_truth

import corporeal as cp
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.registrations import Registrations
from corporeal.cli.main import main
from corporeal.errors import InputError
from corporeal.formats.registrations import RegistrationsStore
from corporeal.formats.smpl import read_smpl, write_smpl
from corporeal.runtime.manifest import read_manifest

Capture = pytest.CaptureFixture[str]


def call(line: str) -> int:
    return main(shlex.split(line))


def write_store(path: Path, registrations: Registrations, split: str = "") -> None:
    """The set as a store, its takes marked."""
    store = RegistrationsStore.create(
        path, "small", registrations.triangles, registrations.vertex_count, {"seed": 0}
    )
    for take in registrations.takes:
        store.write_take(replace(take, split=split))  # pyright: ignore[reportArgumentType]
    store.store.finish({})


@pytest.fixture(scope="module")
def truth() -> tuple[LinearBodyModel, Registrations]:
    """Sixteen registrations of four people, and the model that made them."""
    model, meshes, _ = smpl_truth.sampled(250, 4, 16)
    return model, smpl_truth.registrations_of(model, meshes)


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory, truth: tuple) -> Path:
    """A folder with a rig to start from, sets of registrations, and a model trained on them."""
    folder = tmp_path_factory.mktemp("models")
    model, held = truth
    write_smpl(folder / "rig.npz", replace(model, pose_offsets=0 * model.pose_offsets))
    write_store(folder / "train.zarr", held)
    renamed = tuple(replace(take, subject=f"other_{take.subject}") for take in held.takes[:2])
    write_store(folder / "test.zarr", replace(held, takes=renamed), "test")
    flags = f"--template {folder}/rig.npz --shape-count 3 --out {folder}/my_smpl.npz"
    line = f"train smpl --poses {folder}/train.zarr --shapes {folder}/train.zarr {flags}"
    assert call(line) == 0
    return folder


def test_training_leaves_a_model_with_smpls_keys(home: Path) -> None:
    """The file has SMPL's keys, the manifest settings and data; no checkpoint is left."""
    with np.load(home / "my_smpl.npz") as arrays:
        keys = {
            "v_template",
            "shapedirs",
            "posedirs",
            "J_regressor",
            "weights",
            "kintree_table",
            "f",
        }
        assert keys <= set(arrays.files)
        assert arrays["shapedirs"].shape == (len(arrays["v_template"]), 3, 3)
    content = read_manifest(home / "my_smpl.npz.manifest.json")
    assert content["verb"] == "train smpl"
    assert content["report"]["data"]["registrations"] == 16
    assert not list(home.glob("*checkpoint*"))


def test_the_front_door_trains_and_tests_alike(home: Path) -> None:
    """One implementation: the model and its errors are those of the command line."""
    sets = (cp.load(home / "train.zarr"), home / "train.zarr")
    stages: list[str] = []
    model, report = cp.train_smpl(
        *sets,
        template=home / "rig.npz",
        shape_count=3,
        callback=lambda stage, value: stages.append(stage),
    )
    written = cp.load(home / "my_smpl.npz").data
    for name in ("mean_vertices", "shape_offsets", "pose_offsets", "joint_regressor"):
        assert np.array_equal(getattr(model.data, name), getattr(written, name)), name
    assert stages[-1] == "shape space"
    assert report["data"]["registrations"] == 16
    tried = {"counts": [1, 3], "most": 3}
    loaded = cp.load(home / "my_smpl.npz")
    found = cp.evaluate_models({"my_smpl": loaded}, cp.load(home / "test.zarr"), **tried)
    files = cp.evaluate_models([home / "my_smpl.npz"], home / "test.zarr", **tried)
    assert found == files
    assert list(found) == ["LBS", "DQS", "my_smpl"]
    with pytest.raises(InputError, match="it cites files"):
        cp.evaluate_models({"a": model}, home / "test.zarr", report=home / "r")
    with pytest.raises(InputError, match="no models came"):
        cp.evaluate_models([], home / "test.zarr")


class _Page(HTMLParser):
    """Collects what a page would load, and counts its figures."""

    def __init__(self) -> None:
        super().__init__()
        self.loaded: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.loaded += [value or "" for name, value in attrs if name in ("src", "href")]


def test_the_report_is_one_offline_page(home: Path, capsys: Capture) -> None:
    """A row for LBS, DQS and the model; four figures; pictures inside; nothing from elsewhere."""
    line = f"evaluate models {home}/my_smpl.npz --test {home}/test.zarr --counts 1,3 --most 3"
    assert call(f"{line} --report {home}/report --json") == 0
    report = json.loads(capsys.readouterr().out)["report"]
    assert list(report) == ["LBS", "DQS", "my_smpl"]
    # what was trained with pose blend shapes meets these poses better than without them
    assert report["my_smpl"]["pose_mm"][-1] < report["LBS"]["pose_mm"][-1]
    text = (home / "report" / "index.html").read_text()
    page = _Page()
    page.feed(text)
    assert page.tags.count("svg") == 4
    assert page.loaded
    assert all(source.startswith("data:image/png;base64,") for source in page.loaded)
    assert not re.search(r"https?://(?!www\.w3\.org/2000/svg)", text)
    for figure in (9, 11, 12, 14):
        assert f"figure {figure}" in text
    assert read_manifest(home / "report" / "index.html.manifest.json")["verb"] == "evaluate models"


def test_people_seen_in_training_are_warned_of(home: Path, capsys: Capture) -> None:
    line = f"evaluate models {home}/my_smpl.npz --test {home}/train.zarr --counts 1 --most 2"
    assert call(f"{line} --report {home}/seen") == 0
    spoken = capsys.readouterr().err
    assert "has learned from 4 of the test people (person0, person1, person2, person3)" in spoken
    assert "class='note'>warning" in (home / "seen" / "index.html").read_text()


def test_conversion(home: Path, capsys: Capture) -> None:
    """As `.pkl` the same model; fingers cannot be given to a surface that is not the body's."""
    assert call(f"convert --model {home}/my_smpl.npz --out {home}/SMPL_NEUTRAL.pkl") == 0
    came, expected = read_smpl(home / "SMPL_NEUTRAL.pkl"), read_smpl(home / "my_smpl.npz")
    np.testing.assert_array_equal(came.pose_offsets, expected.pose_offsets)
    assert call(f"convert --model {home}/my_smpl.npz --joints 52 --out {home}/a.npz") == 2
    assert "can be given fingers" in capsys.readouterr().err
    assert call(f"convert {home}/my_smpl.npz") == 2
    assert "expected one to read and one to write" in capsys.readouterr().err


def test_a_take_kept_for_tests_is_not_learned_from(home: Path, capsys: Capture) -> None:
    line = f"train smpl --poses {home}/test.zarr --shapes {home}/train.zarr --out {home}/b.npz"
    assert call(f"{line} --template {home}/rig.npz") == 2
    assert "2 of them kept for tests" in capsys.readouterr().err


def test_bad_sets_are_refused_by_name(
    home: Path, truth: tuple, tmp_path: Path, capsys: Capture
) -> None:
    """Mixed topologies, a single pose, numbers that are not finite, no template, too few people."""
    _, held = truth

    def refused(words: str, poses: Registrations, flags: str = "") -> None:
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.zarr"
        write_store(path, poses)
        template = "" if "--template" in flags else f"--template {home}/rig.npz --shape-count 3"
        sets = f"--poses {path} --shapes {home}/train.zarr --out {tmp_path}/never.npz"
        assert call(f"train smpl {sets} {template} {flags}") == 2
        spoken = capsys.readouterr().err
        assert words in spoken
        assert "Traceback" not in spoken
        assert not (tmp_path / "never.npz").exists()

    refused("Expected one topology", replace(held, triangles=held.triangles[:, ::-1].copy()))
    one = replace(held.takes[0], vertices=np.asarray(held.takes[0].vertices)[:1])
    refused("person0 came in one pose alone", replace(held, takes=(one, *held.takes[1:])))
    broken = np.array(held.takes[0].vertices)
    broken[1, 7] = np.nan
    broken_take = replace(held.takes[0], vertices=broken)
    with pytest.raises(InputError, match="person0__poses is not finite in frame 1"):
        write_store(tmp_path / "broken.zarr", replace(held, takes=(broken_take,)))
    sets = f"--poses {home}/train.zarr --shapes {home}/train.zarr --out {tmp_path}/never.npz"
    assert call(f"train smpl {sets}") == 2
    assert "Give --template" in capsys.readouterr().err
    assert call(f"train smpl {sets} --template {home}/rig.npz --shape-count 4") == 2
    assert "4 people, which allow 1 to 3" in capsys.readouterr().err


class _Attack:
    def __reduce__(self) -> tuple:
        return exec, ("raise SystemExit(99)",)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--model {home}/my_smpl.npz --shape 1,x", "--shape '1,x'; expected numbers with commas"),
        ("--model {home}/my_smpl.npz --shape -1,2,3,4", "the model has 3 shape coefficients"),
        ("--model {home}/my_smpl.npz --shape nan", "expected numbers with commas"),
        ("--model {home}/my_smpl.npz --shape 99", "one is a standard deviation"),
        ("--model fancy", "there is no model fancy; expected a .npz or .pkl"),
        ("--model {home}/none.npz", "there is no file"),
        ("--model {home}/evil.pkl", "which is none of the names allowed"),
        ("--shape 1", "--shape came without --model"),
        ("--live", "has no pose correctives"),
        ("--model {home}/my_smpl.npz --body a.npz", "came together"),
    ],
)
def test_bad_models_and_shapes_are_refused_by_name(
    home: Path, flags: str, words: str, capsys: Capture, tmp_path: Path
) -> None:
    (home / "evil.pkl").write_bytes(pickle.dumps({"v_template": _Attack()}))
    line = f"animate --motion jumping-jacks --duration 2 --fps 4 --out {tmp_path}/never.glb"
    assert call(f"{line} {flags.format(home=home)}") == 2
    spoken = capsys.readouterr().err
    assert words in spoken
    assert "Traceback" not in spoken
    assert not (tmp_path / "never.glb").exists()
