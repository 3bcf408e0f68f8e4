"""The command line met with edited manifests, names and places that no file should have: every
command ends in a sentence and an exit code of its own, never in a traceback."""

import json
import os
import shlex
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from corporeal.cli.main import main
from corporeal.errors import JobError, OutputError
from corporeal.runtime import files as runtime_files
from corporeal.runtime import jobs
from corporeal.runtime.executors import Workplace
from corporeal.runtime.files import write_bytes

Capture = pytest.CaptureFixture[str]
pytestmark = pytest.mark.skipif(os.name == "nt", reason="needs POSIX names and pipes")


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(line: str | list[str]) -> int:
    try:
        return main(shlex.split(line) if isinstance(line, str) else line)
    except SystemExit as stopped:  # how the flags' parser refuses
        return int(stopped.code or 0)


def manifest(verb: str, config: Any) -> None:
    content = {"corporeal": "0", "verb": verb, "config": config, "inputs": [], "outputs": []}
    Path("m.json").write_text(json.dumps(content))


ANIMATE = {"out": "a.npz", "motion": "jumping-jacks"}


@pytest.mark.parametrize(
    ("verb", "config"),
    [
        ("animate", {}),
        ("animate", {"out": "a.npz"}),
        ("animate", {**ANIMATE, "fps": "fast"}),
        ("animate", {**ANIMATE, "motion": 3}),
        ("animate", {**ANIMATE, "motion": []}),
        ("animate", {**ANIMATE, "duration": []}),
        ("animate", {**ANIMATE, "duration": True}),
        ("animate", {**ANIMATE, "controls": 5}),
        ("animate", {**ANIMATE, "body": {"a": 1}}),
        ("animate", {**ANIMATE, "soft": "belly"}),
        ("animate", {**ANIMATE, "unheard-of": 1}),
        ("animate", {**ANIMATE, "seed": -1}),
        ("body", {}),
        ("body", {"out": 5}),
        ("body", {"out": "a.npz", "sliders": []}),
        ("body", {"out": "a.npz", "sliders": {"gender": []}}),
        ("body", {"out": "a.npz", "sliders": {"wings": 2.0}}),
        ("body", {"out": "a.npz", "measurements": {"stature": "tall"}}),
        ("demo", {}),
        ("demo", {"out": "a", "seed": "x"}),
        ("demo", {"out": "a", "seed": 1, "more": 1}),
        ("train smpl", {}),
        ("train smpl", {"out": 1}),
        ("evaluate models", {}),
        ("evaluate models", {"models": 1, "test": 2, "report": 3, "counts": 4, "most": 5}),
        ("anatomy fit", {}),
        ("anatomy fit", {"out": []}),
        ("anatomy transfer-fat", {}),
        ("anatomy grow", {"regions": 3}),
    ],
)
def test_edited_manifests(verb: str, config: Any, capsys: Capture):
    manifest(verb, config)
    assert call([verb.split()[0], "--config", "m.json"]) == 2
    words = capsys.readouterr().err
    assert "corporeal: " in words
    assert "Traceback" not in words


@pytest.mark.parametrize(
    "line",
    [
        "animate --motion jumping-jacks --seed -1 --out a.npz",
        "demo --seed -1 --out a",
        "people --count 2 --seed -1 --out p.zarr",
    ],
)
def test_seeds_below_zero(line: str, capsys: Capture):
    assert call(line) == 2
    assert "seed" in capsys.readouterr().err


@pytest.mark.parametrize(
    "address", ["tls://127.0.0.1:9", "ucx://127.0.0.1:9", "pigeon://coop", "tcp://", "tcp://a:b"]
)
def test_schedulers_that_cannot_be(address: str, capsys: Capture, monkeypatch: pytest.MonkeyPatch):
    pytest.importorskip("distributed")
    monkeypatch.setattr("corporeal.runtime.executors._CONNECT_S", 0.5)
    Path("people.csv").write_text("name,gender\nanna,female\nben,male\n")
    line = f"body --from people.csv --out '{{name}}.npz' --scheduler {address}"
    assert call(line) in (2, 7)
    assert address in capsys.readouterr().err


class _LostExecutor(Executor):
    """Takes items, and then its scheduler is gone: futures are cancelled by nobody here."""

    def submit(self, fn: Any, /, *args: Any, **kwargs: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.cancel()
        future.set_running_or_notify_cancel()
        return future


def test_a_scheduler_that_is_lost(monkeypatch: pytest.MonkeyPatch):
    @contextmanager
    def lost(address: str, slots: int | None):
        yield Workplace(_LostExecutor(), 2, ())

    monkeypatch.setattr(jobs, "dask_workplace", lost)
    with pytest.raises(JobError, match=r"tcp://gone:1 was lost.*same command again"):
        jobs.run_jobs(abs, {"a": 1, "b": 2}, scheduler="tcp://gone:1")


def loop(name: str) -> str:
    Path(name).symlink_to(f"other-{name}")
    Path(f"other-{name}").symlink_to(name)
    return name


def pipe(name: str) -> str:
    os.mkfifo(name)
    return name


def device(name: str) -> str:
    Path(name).symlink_to("/dev/zero")
    return name


def long_name(name: str) -> str:
    return "n" * 5000 + name


def not_text(name: str) -> str:
    return os.fsdecode(b"\xff\xfe" + name.encode())


INPUTS = [
    ["animate", "--motion", "jumping-jacks", "--out", "o.npz", "--body", "in.npz"],
    ["animate", "--out", "o.npz", "--motion", "in.bvh"],
    ["animate", "--out", "o.npz", "--motion", "in.npz"],
    ["animate", "--motion", "jumping-jacks", "--out", "o.npz", "--mesh", "in.obj"],
    ["animate", "--motion", "jumping-jacks", "--out", "o.npz", "--model", "in.pkl"],
    ["animate", "--config", "in.json"],
    ["body", "--out", "{name}.npz", "--from", "in.csv"],
    ["people", "--out", "o.zarr", "--from", "in.csv"],
    ["capture", "--protocol", "shapes", "--out", "o.zarr", "--people", "in.zarr"],
    ["dataset", "info", "in.hdf5"],
    ["convert", "in.glb", "o.fbx"],
    ["convert", "in.ply", "o.obj"],
    ["motion", "info", "in.bvh"],
]


@pytest.mark.parametrize("make", [loop, pipe, device, long_name, not_text])
@pytest.mark.parametrize("words", INPUTS, ids=lambda words: f"{words[0]} {words[-1]}")
def test_what_cannot_be_read(words: list[str], make: Any, capsys: Capture):
    place = next(place for place, word in enumerate(words) if word.startswith("in."))
    line = [*words[:place], make(words[place]), *words[place + 1 :]]
    assert call(line) in (2, 4)
    said = capsys.readouterr().err
    assert "Traceback" not in said
    assert len(said) < 2000, "a name of 5 000 letters is not repeated whole"


@pytest.mark.parametrize("make", [loop, pipe, device, long_name])
@pytest.mark.parametrize("verb", ["body --gender male", "animate --motion jumping-jacks"])
def test_what_cannot_be_written(verb: str, make: Any, capsys: Capture):
    assert call([*shlex.split(verb), "--out", make("o.npz")]) in (2, 4)
    assert "cannot write" in capsys.readouterr().err


def test_a_name_that_is_not_text_is_written_and_read(inside: Path):
    name = not_text("o.npz")
    assert call(["body", "--gender", "male", "--out", name]) == 0
    assert call(["body", "--config", f"{name}.manifest.json", "--json"]) == 0
    assert Path(name).is_file()
    assert call(["convert", name, not_text("o.obj")]) == 0


@pytest.mark.parametrize("pid", ["²", "9" * 30, "", "-", "x", "0"])
def test_leftovers_with_malformed_pids(inside: Path, pid: str):
    """A hidden file whose name is only like ours does not stop the next write, and old ones go."""
    prefix = runtime_files._prefix(inside / "a.txt")  # pyright: ignore[reportPrivateUsage]
    machine = runtime_files._machine()  # pyright: ignore[reportPrivateUsage]
    for name in (f"{prefix}{machine}-{pid}-ab.part.txt", f"{prefix}.part.txt"):
        (inside / name).write_text("half")
    write_bytes(inside / "a.txt", b"whole")
    assert (inside / "a.txt").read_bytes() == b"whole"


def test_every_system_error_about_a_name_is_a_sentence(
    capsys: Capture, monkeypatch: pytest.MonkeyPatch
):
    """What no reader foresaw: the system's own words, and the name."""
    import corporeal.cli.main as command

    def refuse(_: list[str]) -> Any:
        raise PermissionError(13, "Permission denied", "secret.npz")

    monkeypatch.setattr(command, "command_of", refuse)
    assert call("cite") == OutputError.exit_code
    assert "secret.npz: Permission denied" in capsys.readouterr().err
