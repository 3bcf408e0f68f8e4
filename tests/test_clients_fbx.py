"""Real FBX clients show our characters where we say they are: ufbx, Autodesk's own reader."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from client_files import (
    FRAMES,
    SCRIPTS,
    TOLERANCE_MM,
    client_character,
    error_mm,
    node_package,
)
from scipy.spatial import cKDTree

from corporeal.body.character import unsigned_weights
from corporeal.formats.fbx import write_fbx
from corporeal.formats.gltf_read import read_glb_character
from corporeal.skinning.playback import character_vertices


@pytest.fixture(scope="module")
def fbx(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("fbx") / "character.fbx"
    write_fbx(path, client_character())
    return path


def test_ufbx_shows_the_character(fbx: Path, tmp_path: Path):
    pytest.importorskip("ufbx", reason="needs the package 'ufbx'")
    times = [str(frame / client_character().fps) for frame in FRAMES]
    command = [sys.executable, str(SCRIPTS / "ufbx_play.py"), str(fbx), str(tmp_path / "out.npz")]
    subprocess.run([*command, *times], check=True, capture_output=True)
    played = np.load(tmp_path / "out.npz")
    assert played["warnings"].tolist() == []
    assert played["metres_a_unit"] == 0.01
    assert played["fps"] == client_character().fps
    assert {"left_eye", "right_eye", "body"} <= set(played["names"].tolist())
    for index in range(len(FRAMES)):
        assert error_mm(0.01 * played["vertices"][index], index) < TOLERANCE_MM


def test_autodesk_s_reader_shows_the_character(fbx: Path, tmp_path: Path):
    """FBX2glTF reads with the vendor's kit and writes glTF at 60 frames a second.

    It splits seams and reorders, so vertices are found again by their rest places, which are all
    different.
    """
    character = client_character()
    tool = node_package("fbx2gltf") / "bin" / "Linux" / "FBX2glTF"
    if not tool.is_file():
        pytest.skip("npm package 'fbx2gltf' has no program for this system")
    tool.chmod(0o755)
    out = tmp_path / "out.glb"
    done = subprocess.run(
        [tool, "--binary", "--anim-framerate", "bake60", "--input", fbx, "--output", out],
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    back = read_glb_character(out)
    assert (back.fps, back.frame_count) == (60.0, character.frame_count)
    assert back.morph_count == unsigned_weights(character).morph_count
    assert len(back.attachments) == len(character.attachments)
    tree = cKDTree(np.asarray(character.template.mesh.vertices))
    distance, source = tree.query(back.template.mesh.vertices)
    assert distance.max() < 1e-6
    assert len(tree.query_pairs(1e-6)) == 0
    assert len(np.unique(source)) == character.template.mesh.vertex_count
    played = character_vertices(back, np.array(FRAMES))
    for index in range(len(FRAMES)):
        assert error_mm(played[index], index, source) < TOLERANCE_MM
