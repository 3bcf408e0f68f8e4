"""Godot imports our GLB and holds, on its way to the graphics card, the surface that we mean."""

import json
import shutil
import subprocess
import time
from pathlib import Path

import numpy as np
from client_files import FRAMES, SCRIPTS, TOLERANCE_MM, client_character, error_mm, program

from corporeal.body.character import unsigned_weights
from corporeal.formats.gltf import split_seams, write_glb_character

_IMPORT_SETTINGS = """[remap]

importer="scene"
type="PackedScene"

[params]

animation/fps={fps}
animation/optimizer/enabled=false
meshes/compress=false
"""
_PROJECT = 'config_version=4\n[application]\nconfig/name="check"\n'


def import_project(godot: str, folder: Path, timeout_s: float) -> None:
    """Let the editor import what lies in a project; it does not end by itself, so it is ended."""
    editor = subprocess.Popen(
        [godot, "--path", str(folder), "--editor", "--quit"],
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


def numbers(folder: Path, name: str, width: int) -> np.ndarray:
    return np.fromfile(folder / f"{name}.bin", "<f4").astype(np.float64).reshape(-1, width)


def test_godot_shows_the_character(tmp_path: Path):
    """Its own arrays, blend weights and skin matrices, put together by the skinning formula."""
    godot, character = program("godot3-server"), unsigned_weights(client_character())
    write_glb_character(tmp_path / "character.glb", character)
    settings = _IMPORT_SETTINGS.format(fps=round(character.fps))
    (tmp_path / "character.glb.import").write_text(settings)
    (tmp_path / "project.godot").write_text(_PROJECT)
    (tmp_path / "times.json").write_text(json.dumps([f / character.fps for f in FRAMES]))
    shutil.copy(SCRIPTS / "godot_play.gd", tmp_path)
    import_project(godot, tmp_path, timeout_s=120)
    subprocess.run(
        [godot, "--path", str(tmp_path), "-s", "godot_play.gd"], capture_output=True, timeout=120
    )
    report = json.loads((tmp_path / "report.json").read_text())
    assert report["shapes"] == character.morph_count
    assert not report["relative"], "shapes hold places, not offsets"
    rest, bones = numbers(tmp_path, "rest", 3), numbers(tmp_path, "bones", 4).astype(int)
    weights = numbers(tmp_path, "weights", 4)
    shapes = [numbers(tmp_path, f"shape_{b}", 3) for b in range(character.morph_count)]
    source = split_seams(character.template.mesh).source
    for index in range(len(FRAMES)):
        shares = numbers(tmp_path, f"shares_{index}", 1)[:, 0]
        shaped = rest + sum(w * (shape - rest) for w, shape in zip(shares, shapes, strict=True))
        matrices = numbers(tmp_path, f"matrices_{index}", 12).reshape(-1, 3, 4)
        blended = np.einsum("vk,vkij->vij", weights, matrices[bones])
        posed = np.einsum("vij,vj->vi", blended[..., :3], shaped) + blended[..., 3]
        assert error_mm(posed, index, source) < TOLERANCE_MM
