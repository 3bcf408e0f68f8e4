"""The command line does what its help says, speaks JSON to machines, and repeats its own runs."""

import inspect
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from importlib import import_module
from importlib import metadata as importlib_metadata
from pathlib import Path

import numpy as np
import pytest
from shared_command import run_once

from corporeal.cli.doctor import Finding, check_packages
from corporeal.cli.main import VERBS, command_of, main
from corporeal.cli.references import ALWAYS, REFERENCES, topics
from corporeal.formats.native import read_animation, read_body
from corporeal.formats.obj import read_obj
from corporeal.pipelines.deformers import deformer_names
from corporeal.runtime.manifest import manifest_path, read_manifest
from corporeal.runtime.names import meant

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(line: str) -> int:
    return main(shlex.split(line))


def call_json(line: str, capsys: Capture) -> dict:
    assert call(f"{line} --json") == 0
    return json.loads(capsys.readouterr().out)


def test_first_page_and_version(capsys: Capture) -> None:
    assert call("") == 0
    page = capsys.readouterr().out
    assert all(name in page for name in VERBS)
    assert call("--version") == 0
    assert capsys.readouterr().out == "corporeal 0.1.0\n"


def test_help_is_quick() -> None:
    """The first page imports nothing heavy."""
    code = (
        "import sys; from corporeal.cli.main import main; main(['--help']); "
        "print([m for m in ('numpy', 'jax', 'numba', 'scipy', 'tyro') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("[]")


@pytest.mark.parametrize("name", VERBS)
def test_help_shows_examples_that_parse(name: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit) as caught:
        call(f"{name} --help")
    assert caught.value.code == 0
    module, class_name = VERBS[name].home.split(":")
    page = capsys.readouterr().out
    text = inspect.getdoc(getattr(import_module(module), class_name)) or ""
    examples = re.findall(r"^ +(corporeal .*)$", text, re.MULTILINE)
    assert examples
    for example in examples:
        assert example in page
        words = shlex.split(example.split(">>")[0])
        assert hasattr(command_of(words[1:]), "run")


def test_unknown_verbs_and_flags(capsys: Capture) -> None:
    assert call("dance") == 2
    assert "there is no verb 'dance'; expected one of demo, body" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["animate", "body", "train", "capture"])
def test_verbs_without_flags_tell_what_is_missing(name: str) -> None:
    """Also `animate`, whose flags depend on others."""
    with pytest.raises(SystemExit) as caught:
        call(name)
    assert caught.value.code == 2


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("bdoy", ["demo", "body"], " Did you mean 'body'?"),
        ("jumping-jack", ["hips", "jumping-jacks"], " Did you mean 'jumping-jacks'?"),
        ("zzz", ["demo", "body"], ""),
    ],
)
def test_names_nearly_spelt_are_asked_about(name: str, known: list[str], said: str):
    assert meant(name, known) == said
    with pytest.raises(SystemExit) as caught:
        call("body --wiast 0.9 --out a.npz")
    assert caught.value.code == 2


class TestBody:
    def test_sliders(self, capsys: Capture) -> None:
        report = call_json("body --gender 0.3 --weight 0.8 --muscle 0.4 --out ben.obj", capsys)
        assert report["out"] == "ben.obj"
        assert report["parameters"] == {"gender": 0.3, "weight": 0.8, "muscle": 0.4}
        assert 1.4 < report["measurements"]["stature"] < 2.1
        mesh = read_obj("ben.obj")
        assert mesh.vertex_count == 13380
        assert mesh.quads is not None
        height = np.ptp(np.asarray(mesh.vertices)[:, 1])
        assert abs(height - report["measurements"]["stature"]) < 0.01
        content = read_manifest("ben.obj.manifest.json")
        assert content["config"]["sliders"] == report["parameters"]

    def test_measurements(self, capsys: Capture) -> None:
        asked = "--gender female --stature 1.70 --mass 82 --waist 0.88"
        report = call_json(f"body {asked} --out anna.npz", capsys)
        assert 2e-4 < report["measurements"]["breast_volume"] < 1e-3
        assert abs(report["measurements"]["stature"] - 1.70) < 2e-3
        assert abs(report["measurements"]["waist_circumference"] - 0.88) < 2e-3
        assert abs(report["measurements"]["mass"] - 82) < 0.1
        body = read_body("anna.npz")
        assert body.measurements == report["measurements"]
        assert float(body.identity.parameters["gender"]) == 0.0

    def test_for_people(self, capsys: Capture) -> None:
        assert call("body --gender male --out ben.npz") == 0
        words = capsys.readouterr()
        assert "Stature" in words.out
        assert "Breast" not in words.out
        assert "ben.npz.manifest.json" in words.out
        assert "corporeal animate --body ben.npz" in words.out

    @pytest.mark.parametrize("name", ["a.glb", "a.ply", "a.png"])
    def test_other_formats(self, name: str) -> None:
        assert call(f"body --gender male --out {name}") == 0
        assert Path(name).stat().st_size > 10_000
        assert manifest_path(name).is_file()

    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            ("--stature 1.7 --weight 0.8", "came together with the sliders weight"),
            ("--gender woman", "expected female, male or a number"),
            ("--gender 1.5", "expected 0 to 1"),
            ("--weight nan", "expected a finite number"),
            ("--age 15", "Only adults are modelled"),
            ("--jobs 2", "without --from"),
        ],
    )
    def test_refusals(self, flags: str, words: str, capsys: Capture, inside: Path) -> None:
        assert call(f"body {flags} --out a.npz --json") == 2
        spoken = capsys.readouterr()
        assert words in spoken.err
        assert "Traceback" not in spoken.err
        assert words in json.loads(spoken.out)["error"]["message"]
        assert list(inside.iterdir()) == []

    def test_config_repeats_the_run(self, capsys: Capture) -> None:
        assert call("body --gender female --weight 0.7 --out a.npz") == 0
        assert call("body --config a.npz.manifest.json --out b.npz") == 0
        assert Path("a.npz").read_bytes() == Path("b.npz").read_bytes()
        assert call("body --config a.npz.manifest.json --weight 0.2 --out c.npz") == 0
        assert read_manifest("c.npz.manifest.json")["config"]["sliders"]["weight"] == 0.2
        assert call("animate --config a.npz.manifest.json") == 2
        assert "is of a run of 'corporeal body'" in capsys.readouterr().err
        assert call("body --config") == 2

    def test_table_of_people(self, capsys: Capture, inside: Path) -> None:
        Path("people.csv").write_text(
            "name,gender,weight,muscle\nann,female,0.5,\nbob,male,heavy,0.5\n../eve,0,,\n"
            "cid,male,0.4,0.9\nann,female,0.1,\n"
        )
        Path("made").mkdir()
        line = "body --from people.csv --out 'made/{name}.npz' --jobs 1 --json"
        assert call(line) == 7
        spoken = capsys.readouterr()
        report = json.loads(spoken.out)
        assert set(report["done"]) == {"ann", "cid"}
        assert len(report["failed"]) == 3
        assert "weight is 'heavy'" in spoken.err
        assert "cannot name a file" in spoken.err
        assert "stands twice" in spoken.err
        assert {p.name for p in (inside / "made").iterdir()} == {
            "ann.npz",
            "ann.npz.manifest.json",
            "cid.npz",
            "cid.npz.manifest.json",
        }
        (inside / "made" / "cid.npz").write_bytes(b"harmed")
        Path("people.csv").write_text("name,gender,weight,muscle\nann,female,0.5,\ncid,1,0.4,0.9\n")
        again = call_json(line.removesuffix(" --json"), capsys)
        assert again["skipped"] == ["ann"]
        assert list(again["done"]) == ["cid"]

    @pytest.mark.parametrize(
        ("table", "line", "words"),
        [
            ("name\nann\n", "--from people.csv --out a.npz", "{name}"),
            ("who\nann\n", "--from people.csv --out '{name}.npz'", "expected 'name'"),
            ("", "--from people.csv --out '{name}.npz'", "has no columns; expected 'name'"),
            ("name,wings\nann,2\n", "--from people.csv --out '{name}.npz'", "wings"),
            ("name\nann\n", "--from people.csv --out '{name}.npz' --age 30", "into the table"),
            ("name\nann\n", "--from nobody.csv --out '{name}.npz'", "there is no file"),
        ],
    )
    def test_tables_refused(self, table: str, line: str, words: str, capsys: Capture) -> None:
        Path("people.csv").write_text(table)
        assert call(f"body {line}") == 2
        assert words in capsys.readouterr().err

    def test_table_of_garbage(self, capsys: Capture) -> None:
        Path("people.csv").write_bytes(bytes(range(256)))
        assert call("body --from people.csv --out '{name}.npz'") == 2
        assert "not a table" in capsys.readouterr().err


class TestAnimate:
    def test_the_result_may_take_the_bodys_name(self, capsys: Capture) -> None:
        assert call("body --gender female --weight 0.6 --out anna.npz") == 0
        before = read_body("anna.npz")
        capsys.readouterr()
        line = "animate --body anna.npz --motion jumping-jacks --deformer dqs --duration 2"
        report = call_json(f"{line} --out anna.npz", capsys)
        animation = read_animation("anna.npz")
        assert animation.deformer == "dqs"
        assert animation.vertices.shape == (report["frames"], 13380, 3)
        with np.load("anna.npz", allow_pickle=False) as file:
            assert file["vertices"].dtype == np.float32
            assert file["faces"].shape == (26756, 3)
            assert file["joints"].shape == (report["frames"], 52, 3)
            assert float(file["fps"]) == 60.0
        after = read_body("anna.npz")
        assert np.array_equal(after.identity.rest_vertices, before.identity.rest_vertices)
        assert after.measurements == before.measurements
        content = read_manifest("anna.npz.manifest.json")
        assert content["inputs"][0]["manifest"]["verb"] == "body"
        call_json(f"{line} --out again.npz", capsys)
        assert np.array_equal(read_animation("again.npz").vertices, animation.vertices)
        assert call("cite anna.npz") == 0
        cited = capsys.readouterr().out
        assert all(key in cited for key in ("kavan2007skinning", "makehuman", "ponsmoll2015dyna"))
        assert "gordon2014ansur" not in cited, "this body was not measured"
        assert call("animate --motion again.npz --fps 60 --out moved.npz") == 0
        assert call("animate --config again.npz.manifest.json --frame -1 --out last.ply") == 0

    def test_glb_says_how_true_it_is(self, capsys: Capture) -> None:
        line = "animate --motion jumping-jacks --duration 2 --fps 30"
        assert call_json(f"{line} --out a.glb", capsys)["report"]["max_error_mm"] == 0
        baked = call_json(f"{line} --deformer dqs --out b.glb", capsys)["report"]
        assert baked["max_error_mm"] > 0
        assert baked["within_1mm"] >= 0.999
        assert baked["morphs"] <= 40
        assert baked["morphs"] > 0

    def test_several_results(self, capsys: Capture) -> None:
        for name in ("ann", "bob"):
            assert call(f"body --out {name}.npz") == 0
        capsys.readouterr()
        line = (
            "animate --body ann.npz bob.npz --motion jumping-jacks --duration 2 --fps 10 --jobs 1"
        )
        report = call_json(f"{line} --out '{{body}}-moves.npz'", capsys)
        assert len(report["done"]) == 2
        again = call_json(f"{line} --out '{{body}}-moves.npz'", capsys)
        assert (len(again["done"]), len(again["skipped"])) == (0, 2)
        broken = line.replace("bob.npz", "bob.npz gone.npz")
        assert call(f"{broken} --out '{{body}}-moves.npz' --json") == 7
        spoken = capsys.readouterr()
        report = json.loads(spoken.out)
        assert (len(report["skipped"]), len(report["failed"])) == (2, 1)
        assert "there is no file" in spoken.err
        assert call(f"{line} --out one.npz") == 2
        assert "names one file for 2 results (bodies: 2, motions: 1)" in capsys.readouterr().err
        assert call(f"{line} --out '{{body}}.npz'") == 2
        assert "would replace a body" in capsys.readouterr().err

    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            ("--motion moonwalk --out a.npz", "'moonwalk'"),
            ("--motion jumping-jacks --deformer magic --out a.npz", "no deformer 'magic'"),
            ("--motion jumping-jacks --out a.obj", "Pass --frame"),
            ("--motion jumping-jacks --out a.xyz", "expected .npz, .glb"),
            ("--motion jumping-jacks --out a.npz --fps 0", "expected 1 to 1000"),
            ("--motion jumping-jacks --out a.obj --frame 9999 --duration 2", "9999"),
            ("--motion clip.npz --out a.npz", "there is no file clip.npz"),
            ("--motion jumping-jacks --body no.npz --out a.npz", "there is no file no.npz"),
            ("--motion jumping-jacks --body no.fbx --out a.npz", "there is no file no.fbx"),
        ],
    )
    def test_refusals(self, flags: str, words: str, capsys: Capture, inside: Path) -> None:
        assert call(f"animate {flags}") == 2
        assert words in capsys.readouterr().err
        assert list(inside.iterdir()) == []


class TestDoctor:
    def test_healthy(self, capsys: Capture) -> None:
        report = call_json("doctor --device cpu", capsys)
        states = {finding["what"]: finding["state"] for finding in report["findings"]}
        assert states["numpy"] == states["default body"] == states["ffmpeg"] == "ok"
        assert states["device cpu"] == "ok"
        assert call("doctor") == 0
        assert "MISSING" not in capsys.readouterr().out

    def test_what_is_missing_is_told(
        self, monkeypatch: pytest.MonkeyPatch, capsys: Capture
    ) -> None:
        wanted = ["no-such-package>=1.2", "numpy>=99", 'torch>=2; extra == "torch"']
        monkeypatch.setattr(importlib_metadata, "requires", lambda _: wanted)
        assert list(check_packages()) == [
            Finding(
                "no-such-package",
                "missing",
                "not installed",
                'pip install "no-such-package>=1.2"',
            ),
            Finding(
                "numpy",
                "missing",
                f"{np.__version__}; expected 99 or newer",
                'pip install "numpy>=99"',
            ),
        ]
        assert call("doctor") == 1
        assert 'pip install "no-such-package>=1.2"' in capsys.readouterr().out

    def test_missing_device(self, capsys: Capture) -> None:
        assert call("doctor --device gpu:99") == 1
        assert "gpu:99 is not there" in capsys.readouterr().out


class TestCite:
    def test_every_method_has_references(self) -> None:
        assert all(key in REFERENCES for keys in topics().values() for key in keys)
        assert all(topics()[name] for name in (*deformer_names(), *ALWAYS))

    def test_styles(self, capsys: Capture) -> None:
        assert call("cite dqs") == 0
        text = capsys.readouterr().out
        assert text.startswith("@inproceedings{kavan2007skinning,")
        assert text.count("{") == text.count("}")
        assert call("cite dqs lbs --style plain") == 0
        assert len(capsys.readouterr().out.splitlines()) == 2
        assert call("cite --json") == 0
        assert len(json.loads(capsys.readouterr().out)) == len(REFERENCES)

    def test_unknown(self, capsys: Capture) -> None:
        assert call("cite alchemy") == 2
        assert "neither a method nor a result" in capsys.readouterr().err


def test_demo_refuses_a_missing_device(inside: Path, capsys: Capture) -> None:
    """Never another device in silence, and nothing is left behind."""
    assert call("demo --device gpu:99") == 2
    assert "device gpu:99 is not there" in capsys.readouterr().err
    assert list(inside.iterdir()) == []


def test_demo(inside: Path) -> None:
    """The first command of the README: three files, their manifests, and words."""
    done = run_once(["demo"], inside)
    assert done.status == 0, done.stderr
    names = sorted(p.name for p in (inside / "corporeal-demo").iterdir())
    files = ["jumping-jacks.glb", "jumping-jacks.mp4", "jumping-jacks.png"]
    assert names == sorted(files + [f"{name}.manifest.json" for name in files])
    for words in ("Stature", "BMI", *files, "how to look"):
        assert words in done.stdout


@pytest.mark.skipif(os.name == "nt", reason="needs POSIX signals")
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_stopping_leaves_nothing_half_done(inside: Path, number: int, code: int) -> None:
    """Stopped while the first file is being written."""
    script = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in background jobs\n"
        "from corporeal.cli import main as cli\n"
        "from corporeal.runtime.files import atomic_write\n"
        "class Slow:\n"
        "    def run(self):\n"
        "        with atomic_write('a.npz') as temporary:\n"
        "            temporary.write_bytes(b'half')\n"
        "            print('writing', flush=True)\n"
        "            time.sleep(60)\n"
        "cli.command_of = lambda arguments: Slow()\n"
        "sys.exit(cli.main(['slow']))\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "writing\n"
    time.sleep(0.1)
    process.send_signal(number)
    _, words = process.communicate(timeout=30)
    assert process.returncode == code
    assert "Traceback" not in words
    assert list(inside.iterdir()) == []
