"""A body that a learned model moves, as three.js and Blender show it: baked, and live."""

import json
import shlex
import subprocess
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from browser import run_page
from client_files import SCRIPTS, TOLERANCE_MM, blender_python, node_package, program

from corporeal.body.animation import Animation
from corporeal.body.pose import Pose
from corporeal.cli.main import main
from corporeal.formats.gltf import split_seams
from corporeal.formats.native import read_animation
from corporeal.geometry.rotations import axis_angle_from_quaternion
from corporeal.models.smpl.shipped import SmplSkinning
from corporeal.runtime.manifest import manifest_path, read_manifest

FRAMES = (0, 4, 7)
KINDS = {"baked": "", "live": "--live"}
LINE = (
    "animate --motion punching --deformer smpl --duration 2 --fps 5 --clothes none --look smile=0"
)


@cache
def made(name: str, folder: Path) -> Path:
    """A result of the command line; what is called `live` has live weights."""
    flags = KINDS.get(Path(name).stem, "")
    assert main(shlex.split(f"{LINE} {flags} --out {folder / name}")) == 0
    return folder / name


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("clients")


@pytest.fixture(scope="module")
def take(folder: Path) -> Animation:
    """What the model itself gives, frame by frame."""
    return read_animation(made("take.npz", folder))


def largest_mm(found: np.ndarray, expected: np.ndarray) -> float:
    """Largest distance of a vertex, millimetres; also printed."""
    apart = 1e3 * float(np.linalg.norm(found - expected, axis=-1).max())
    print(f"{apart:.6f} mm")
    return apart


@pytest.mark.parametrize("kind", KINDS)
def test_three_js_plays_the_take(folder: Path, take: Animation, kind: str) -> None:
    """In Chromium every vertex is within the error that the bake states."""
    three, chromium = node_package("three"), program("chromium")
    glb = made(f"{kind}.glb", folder)
    stated = read_manifest(manifest_path(glb))["report"]["max_error_mm"]
    times = ",".join(str(frame / take.motion.fps) for frame in FRAMES)
    page, files = SCRIPTS / "three.html", {"three": three, "character.glb": glb}
    results = run_page(chromium, page, files, f"times={times}", timeout_s=400)
    assert results["done"] == b"ok", results["done"].decode()
    source = split_seams(take.template.mesh).source
    for index, frame in enumerate(FRAMES):
        found = np.frombuffer(results[f"frame_{index}"], np.float64).reshape(-1, 3)
        expected = np.asarray(take.vertices[frame], np.float64)[source]
        assert largest_mm(found, expected) < stated + TOLERANCE_MM


def test_three_js_follows_any_pose(folder: Path, take: Animation, tmp_path: Path) -> None:
    """Posed by hand, away from the take, the script gives what the model gives."""
    glb = made("live.glb", folder)
    random = np.random.default_rng(1)
    rotations_wxyz = random.normal(size=(2, take.template.skeleton.joint_count, 4)) * 0.15
    rotations_wxyz[..., 0] = 1.0
    rotations_wxyz /= np.linalg.norm(rotations_wxyz, axis=-1, keepdims=True)
    job = {
        "three": str(node_package("three")),
        "glb": str(glb),
        "module": str(glb.with_name("live_correctives.mjs")),
        "poses": rotations_wxyz[..., [1, 2, 3, 0]].tolist(),
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [program("node"), str(SCRIPTS / "correctives_three.mjs"), str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=400)
    pose = Pose(axis_angle_from_quaternion(rotations_wxyz), np.zeros((2, 3)))
    expected = SmplSkinning(take.template).vertices(take.identity, pose)
    source = split_seams(take.template.mesh).source
    found = np.array(json.loads(done.stdout))
    assert largest_mm(found, np.asarray(expected)[:, source]) < TOLERANCE_MM


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_blender_plays_the_take(folder: Path, take: Animation, kind: str, tmp_path: Path) -> None:
    """The same in Blender, whose z points up."""
    python = blender_python()
    glb = made(f"{kind}.glb", folder)
    stated = read_manifest(manifest_path(glb))["report"]["max_error_mm"]
    job = {
        "fps": take.motion.fps,
        "frames": list(FRAMES),
        "files": {"glb": str(glb)},
        "rest": "",
        "out": str(tmp_path),
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [python, str(SCRIPTS / "blender_play.py"), str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    found = np.load(tmp_path / "glb.npy")[..., [0, 2, 1]] * [1, 1, -1]
    source = split_seams(take.template.mesh).source
    expected = np.asarray(take.vertices, np.float64)[list(FRAMES)][:, source]
    assert largest_mm(found, expected) < stated + TOLERANCE_MM
