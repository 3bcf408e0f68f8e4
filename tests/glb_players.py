"""One `.glb` played by other people's programs: the posed skin that each shows, and its picture.

Every player takes the file and times (seconds) and gives back a `Played`. Where they are:

========= ==========================================================================
three.js  `node_modules/three`, in Chromium
Babylon   `node_modules/babylonjs` and `babylonjs-loaders`, in Chromium
Blender   an interpreter with `bpy`
Godot 3   `godot3-server`; drawn by `godot3`, on a display or in `xvfb-run`
========= ==========================================================================
"""

import json
import os
import shutil
import signal
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
from browser import run_page

SCRIPTS = Path(__file__).parent / "clients"
GODOT_IMPORT = """[remap]

importer="scene"
type="PackedScene"

[params]

animation/fps={fps}
animation/optimizer/enabled=false
meshes/compress=false
"""
GODOT_PROJECT = """config_version=4
[application]
config/name="check"
[display]
window/size/width=640
window/size/height=640
[rendering]
quality/driver/driver_name="GLES3"
"""


@dataclass(frozen=True)
class Played:
    """What a program shows of a file."""

    frames: np.ndarray
    """Posed vertices of the largest skinned surface, one row of places a time, metres, y up."""
    picture: bytes = b""
    """PNG of the second time; empty where the program draws none here."""
    speed: dict[str, float] = field(default_factory=dict)
    """Milliseconds of loading and of a frame, where they were asked for."""
    shape_count: int | None = None
    """Morph targets, where the program tells."""


def in_page(
    chromium: str,
    page: str,
    folders: dict[str, Path],
    glb: Path,
    times: Sequence[float],
    timed_frames: int = 0,
    timeout_s: float = 180,
) -> Played:
    """Play in a page of `tests/clients`; `timed_frames` are drawn against the clock."""
    asked = ",".join(str(t) for t in times)
    results = run_page(
        chromium,
        SCRIPTS / page,
        {**folders, "character.glb": glb},
        f"times={asked}&frames={timed_frames}",
        timeout_s,
    )
    assert results["done"] == b"ok", results["done"].decode()
    frames = [np.frombuffer(results[f"frame_{i}"], "<f8") for i in range(len(times))]
    return Played(
        np.stack([frame.reshape(-1, 3) for frame in frames]),
        results["picture"],
        json.loads(results["speed"]),
    )


def in_three(
    chromium: str,
    packages: Path,
    glb: Path,
    times: Sequence[float],
    timed_frames: int = 0,
    timeout_s: float = 180,
) -> Played:
    """three.js; `packages` is a `node_modules`."""
    folders = {"three": packages / "three"}
    return in_page(chromium, "three.html", folders, glb, times, timed_frames, timeout_s)


def in_babylon(
    chromium: str,
    packages: Path,
    glb: Path,
    times: Sequence[float],
    timed_frames: int = 0,
    timeout_s: float = 180,
) -> Played:
    """Babylon.js; three's meshopt decoder is lent to it."""
    folders = {
        "three": packages / "three",
        "babylon": packages / "babylonjs",
        "babylon-loaders": packages / "babylonjs-loaders",
    }
    return in_page(chromium, "babylon.html", folders, glb, times, timed_frames, timeout_s)


def in_blender(
    python: str, glb: Path, times: Sequence[float], fps: float, timeout_s: float = 600
) -> Played:
    """Blender, whose z points up: (x, y, z) there is (x, z, −y) here."""
    with TemporaryDirectory() as folder:
        job = {
            "fps": fps,
            "frames": [t * fps for t in times],
            "files": {"glb": str(glb)},
            "out": folder,
            "picture": str(Path(folder) / "picture.png"),
        }
        (Path(folder) / "job.json").write_text(json.dumps(job))
        done = subprocess.run(
            [python, str(SCRIPTS / "blender_play.py"), str(Path(folder) / "job.json")],
            capture_output=True,
            text=True,
            timeout=timeout_s,
        )
        assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
        found = np.load(Path(folder) / "glb.npy")[..., [0, 2, 1]] * [1, 1, -1]
        return Played(found, (Path(folder) / "picture.png").read_bytes())


def in_godot(
    server: str, glb: Path, times: Sequence[float], fps: float, timeout_s: float = 120
) -> Played:
    """Godot 3: its own arrays, blend weights and skin matrices, put together by the skinning
    formula. Drawn where `godot_window` finds one."""
    with TemporaryDirectory(ignore_cleanup_errors=True) as name:
        folder = Path(name)
        shutil.copy(glb, folder / "character.glb")
        (folder / "character.glb.import").write_text(GODOT_IMPORT.format(fps=round(fps)))
        (folder / "project.godot").write_text(GODOT_PROJECT)
        (folder / "times.json").write_text(json.dumps(list(times)))
        shutil.copy(SCRIPTS / "godot_play.gd", folder)
        _import_project(server, folder, timeout_s)
        command = [server, "--path", str(folder), "-s", "godot_play.gd"]
        subprocess.run(command, capture_output=True, timeout=timeout_s)
        report = json.loads((folder / "report.json").read_text())
        assert not (report["shapes"] and report["relative"]), "shapes hold offsets, not places"
        return Played(
            _put_together(folder, report["shapes"], len(times)),
            _drawn_by_godot(folder, times[1], timeout_s),
            shape_count=report["shapes"],
        )


def _import_project(server: str, folder: Path, timeout_s: float) -> None:
    """Let the editor import what lies in a project; it does not end by itself, so it is ended."""
    editor = subprocess.Popen(
        [server, "--path", str(folder), "--editor", "--quit"],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        until = time.monotonic() + timeout_s
        while time.monotonic() < until and not list(folder.glob(".import/*.md5")):
            time.sleep(0.2)
    finally:
        editor.kill()
        editor.wait(30)
    assert list(folder.glob(".import/*.md5")), f"Godot imported nothing in {timeout_s} s"


def _put_together(folder: Path, shape_count: int, frame_count: int) -> np.ndarray:
    def numbers(name: str, width: int) -> np.ndarray:
        content = np.fromfile(folder / f"{name}.bin", "<f4")
        return content.astype(np.float64).reshape(-1, width)

    rest, bones = numbers("rest", 3), numbers("bones", 4).astype(int)
    weights = numbers("weights", 4)
    offsets = [numbers(f"shape_{b}", 3) - rest for b in range(shape_count)]
    frames = []
    for index in range(frame_count):
        shares = numbers(f"shares_{index}", 1)[:, 0]
        shaped = rest + sum(w * offset for w, offset in zip(shares, offsets, strict=True))
        matrices = numbers(f"matrices_{index}", 12).reshape(-1, 3, 4)
        blended = np.einsum("vk,vkij->vij", weights, matrices[bones])
        frames.append(np.einsum("vij,vj->vi", blended[..., :3], shaped) + blended[..., 3])
    return np.stack(frames)


def godot_window() -> list[str]:
    """The command that opens a window of Godot 3, in software where no display is; empty: none."""
    godot, frame = shutil.which("godot3"), shutil.which("xvfb-run")
    if godot is None:
        return []
    if os.environ.get("DISPLAY"):
        return [godot]
    return [frame, "-a", "-s", "-screen 0 800x800x24", godot] if frame else []


def _drawn_by_godot(folder: Path, at: float, timeout_s: float) -> bytes:
    window = godot_window()
    if not window:
        return b""
    shutil.copy(SCRIPTS / "godot_draw.gd", folder)
    (folder / "draw_at.json").write_text(json.dumps(at))
    with (folder / "draw.txt").open("wb") as said:
        drawing = subprocess.Popen(
            [*window, "--audio-driver", "Dummy", "--path", str(folder), "-s", "godot_draw.gd"],
            stdout=said,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            drawing.wait(timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(drawing.pid, signal.SIGTERM)  # the window's display, too
            drawing.wait(30)
    picture = folder / "picture.png"
    assert picture.is_file(), (folder / "draw.txt").read_text(errors="replace")[-2000:]
    return picture.read_bytes()
