"""Bad input gets a clear error of the family, an exit code of its own, and nothing is lost."""

import errno
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest
from small_body import small_identity, small_motion, small_template

from corporeal.assets.default_body import load_default_body, read_default_body
from corporeal.body.body import Body
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.cli.main import main
from corporeal.errors import AssetError, CorporealError, InputError
from corporeal.formats.native import read_animation, write_body, write_motion
from corporeal.pipelines.deformers import DEFORMERS, deformer_class, make_deformer
from corporeal.runtime import files as runtime_files

Capture = pytest.CaptureFixture[str]


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


def call(line: str) -> int:
    return main(shlex.split(line))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
class TestNumbersThatAreNone:
    def test_shapes(self, value: float) -> None:
        template = small_template()
        good = small_identity(template)
        vertices = np.array(good.rest_vertices)
        vertices[3, 1] = value
        with pytest.raises(InputError, match=r"first at index \(3, 1\)"):
            Identity(vertices, good.joints, {})

    def test_poses(self, value: float) -> None:
        with pytest.raises(InputError, match="not finite"):
            Pose(np.full((4, 3), value), np.zeros(3))
        with pytest.raises(InputError, match="not finite"):
            Pose(np.zeros((4, 3)), np.full(3, value))

    @pytest.mark.parametrize("flag", ["--weight", "--age", "--stature", "--mass"])
    def test_flags(self, value: float, flag: str, capsys: Capture, inside: Path) -> None:
        assert call(f"body {flag}={value} --out a.npz") == 2
        assert "finite number" in capsys.readouterr().err
        assert list(inside.iterdir()) == []


@pytest.mark.parametrize(
    "name", [name for name in DEFORMERS if deformer_class(name).accepts_custom_mesh]
)
def test_wrong_joint_counts(name: str) -> None:
    template = small_template()
    deformer = make_deformer(name, template)
    few = Skeleton(("root", "middle"), (-1, 0), np.zeros((2, 3)))
    motion = Motion("short", 30.0, np.zeros((2, 2, 3)), np.zeros((2, 3)), few)
    with pytest.raises(InputError, match="joint"):
        deformer.animate(small_identity(template), motion)
    with pytest.raises(InputError, match="as many"):
        Motion("short", 30.0, np.zeros((2, 5, 3)), np.zeros((2, 3)), few)


def test_a_motion_of_another_skeleton(capsys: Capture) -> None:
    write_motion("tube.npz", small_motion(small_template()))
    assert call("animate --motion tube.npz --out a.npz") == 2
    words = capsys.readouterr().err
    assert "tube.npz" in words
    assert "joint" in words


@pytest.mark.parametrize(
    ("flags", "named"),
    [("--stature 2.9", "stature 2.9 m"), ("--mass 20 --stature 1.7", "mass 20 kg")],
)
def test_impossible_measurements(flags: str, named: str, capsys: Capture, inside: Path) -> None:
    """Says which is out of range, and the nearest body."""
    assert call(f"body --gender female {flags} --out a.npz") == 2
    words = capsys.readouterr().err
    assert f"{named} is out of range" in words
    assert "The nearest body has" in words
    assert list(inside.iterdir()) == []


def damaged_assets(folder: Path) -> Iterator[str]:
    """Copies of the package's data, each with one file harmed; gives the file's name."""
    home = Path(str(files("corporeal.assets") / "data"))
    for source in sorted(home.glob("default_body.*")):
        for harm in ("missing", "empty", "truncated"):
            shutil.copytree(home, folder, dirs_exist_ok=True)
            target = folder / source.name
            content = target.read_bytes()
            target.unlink()
            if harm != "missing":
                target.write_bytes(b"" if harm == "empty" else content[: len(content) // 2])
            yield f"{harm} {source.name}"


def test_damaged_assets_are_named(tmp_path: Path) -> None:
    for case in damaged_assets(tmp_path / "data"):
        with pytest.raises(AssetError, match="Reinstall corporeal") as caught:
            read_default_body(tmp_path / "data")
        assert caught.value.exit_code == 3, case


GARBAGE = {
    "empty": b"",
    "zeros": bytes(1000),
    "noise": np.random.default_rng(0).bytes(5000),
    "text": b"solid body\n" * 50,
    "pickle": b"\x80\x04\x95\x10\x00\x00\x00\x00\x00\x00\x00\x8c\x02os\x94.",
}


@pytest.mark.parametrize("kind", GARBAGE)
def test_files_of_garbage(kind: str, capsys: Capture, inside: Path) -> None:
    Path("body.npz").write_bytes(GARBAGE[kind])
    assert call("animate --body body.npz --motion jumping-jacks --out body.npz") == 2
    words = capsys.readouterr().err
    assert "body.npz is not a whole .npz archive" in words
    assert "Traceback" not in words
    assert Path("body.npz").read_bytes() == GARBAGE[kind], "the input is left as it was"
    assert call("animate --motion body.npz --out other.npz") == 2
    assert [p.name for p in inside.iterdir()] == ["body.npz"]


@pytest.fixture
def a_body(inside: Path) -> Path:
    """A small body file."""
    template = small_template()
    write_body(inside / "tube.npz", Body(template, small_identity(template), {"mass": 1.0}))
    return inside / "tube.npz"


def test_a_truncated_body(a_body: Path, capsys: Capture) -> None:
    a_body.write_bytes(a_body.read_bytes()[:-200])
    assert call("animate --body tube.npz --motion jumping-jacks --out a.npz") == 2
    assert "truncated" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("out", "words"),
    [
        ("nowhere/a.npz", "does not exist. Create it"),
        ("folder.npz", "is a folder"),
        ("tube.npz/a.npz", "is not a folder"),
        ("/dev/null.d/a.npz", "does not exist"),
        ("n" * 300 + ".npz", "too long"),
    ],
)
def test_places_that_cannot_be_written(
    a_body: Path, out: str, words: str, capsys: Capture, inside: Path
) -> None:
    (inside / "folder.npz").mkdir()
    before = a_body.read_bytes()
    for verb in ("body --gender male", "animate --motion jumping-jacks"):
        assert call(f"{verb} --out {out}") == 4
        assert words in capsys.readouterr().err
    assert sorted(p.name for p in inside.iterdir()) == ["folder.npz", "tube.npz"]
    assert a_body.read_bytes() == before


@pytest.mark.skipif(not Path("/proc/self").exists(), reason="needs a /proc file system")
def test_a_folder_that_takes_no_files(capsys: Capture) -> None:
    assert call("body --gender male --out /proc/a.npz") == 4
    assert "cannot write /proc/a.npz" in capsys.readouterr().err


def test_demo_into_a_file(a_body: Path, capsys: Capture) -> None:
    assert call("demo --out tube.npz") == 4
    assert "a file has that name" in capsys.readouterr().err


def test_full_disk(capsys: Capture, inside: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system refuses when the data is flushed, which is when a real disk often says so."""
    assert call("body --gender male --out a.npz") == 0
    before = {p.name: p.read_bytes() for p in inside.iterdir()}

    def refuse(_: Path) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(runtime_files, "_flush", refuse)
    assert call("body --gender female --out a.npz") == 4
    assert "the disk is full. Free some space" in capsys.readouterr().err
    assert {p.name: p.read_bytes() for p in inside.iterdir()} == before


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A real file system of one megabyte, where mounting is allowed."""
    place = tmp_path / "disk"
    place.mkdir()
    mount = shutil.which("mount")
    command = [mount or "", "-t", "tmpfs", "-o", "size=1m", "none", str(place)]
    if mount is None or subprocess.run(command, capture_output=True).returncode != 0:
        pytest.skip("mounting a small file system is not allowed here")
    yield place
    subprocess.run(["umount", str(place)], check=True)


@pytest.mark.parametrize("suffix", ["npz", "obj", "glb", "mp4"])
def test_a_really_full_disk(tiny_disk: Path, suffix: str, capsys: Capture) -> None:
    (tiny_disk / "ballast").write_bytes(bytes(1_000_000))
    line = "animate --motion jumping-jacks --duration 2 --fps 10"
    frame = " --frame 0" if suffix == "obj" else ""
    assert call(f"{line} --out {tiny_disk}/a.{suffix}{frame}") == 4
    words = capsys.readouterr().err
    assert f"cannot write {tiny_disk}/a.{suffix}" in words
    assert "space" in words
    assert [p.name for p in tiny_disk.iterdir()] == ["ballast"]


def test_a_full_disk_keeps_no_pictures_of_a_usd_file(tiny_disk: Path, capsys: Capture) -> None:
    """They are written before the file itself, into a folder of their own."""
    pytest.importorskip("pxr")
    (tiny_disk / "ballast").write_bytes(bytes(1_000_000))
    line = "animate --motion jumping-jacks --duration 2 --fps 10 --deformer lbs"
    assert call(f"{line} --out {tiny_disk}/a.usdc") == 4
    words = capsys.readouterr().err
    assert "the disk is full" in words
    assert [p.name for p in tiny_disk.iterdir()] == ["ballast"]


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="needs POSIX signals")
def test_a_killed_run_leaves_the_old_result_whole(inside: Path) -> None:
    """Killed in the middle of writing: the old file is intact, and the next run tidies up."""
    line = "animate --motion jumping-jacks --fps 120 --out a.npz"
    assert call(f"{line} --seed 1") == 0
    before = Path("a.npz").read_bytes()
    command = [sys.executable, "-m", "corporeal.cli.main", *shlex.split(line), "--seed", "2"]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    while process.poll() is None and not list(inside.glob(".*.part*")):
        time.sleep(0.001)
    process.kill()
    process.wait()
    assert process.returncode == -signal.SIGKILL, "it was caught while writing"
    assert Path("a.npz").read_bytes() == before
    read_animation("a.npz")
    assert len(list(inside.glob(".*.part*"))) == 1
    assert call(f"{line} --seed 3") == 0
    assert not list(inside.glob(".*"))


def test_every_refusal_is_of_one_family() -> None:
    """Each class has an exit code, and codes tell classes apart where the caller must act."""
    load_default_body()
    codes = {cls.__name__: cls.exit_code for cls in CorporealError.__subclasses__()}
    assert all(0 < code < 64 for code in codes.values())
    assert len(set(codes.values())) == len(codes)
