"""Blender imports every format and shows the surface that we mean (slow: needs `bpy`)."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from client_files import (
    FRAMES,
    SCRIPTS,
    TOLERANCE_MM,
    blender_python,
    client_character,
    error_mm,
)

from corporeal.formats.alembic import write_alembic
from corporeal.formats.fbx import write_fbx
from corporeal.formats.gltf import split_seams, write_glb_character
from corporeal.formats.pc2 import write_pc2
from corporeal.formats.usd import write_usd, write_usd_cache
from corporeal.skinning.playback import character_vertices

pytestmark = pytest.mark.slow

KINDS = ("glb", "glb_quantized", "fbx", "fbx_legacy", "usd", "usd_cache", "abc", "pc2")


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder with the vertices that Blender shows, one file a format."""
    pytest.importorskip("pxr", reason="needs the extra 'usd'")
    pytest.importorskip("alembic3d", reason="needs the extra 'alembic'")
    python, folder = blender_python(), tmp_path_factory.mktemp("blender")
    character = client_character()
    mesh, vertices = character.template.mesh, character_vertices(character)
    files = {
        "glb": "a.glb",
        "glb_quantized": "q.glb",
        "fbx": "a.fbx",
        "fbx_legacy": "a.fbx",
        "usd": "a.usdc",
        "usd_cache": "cache.usdc",
        "abc": "a.abc",
        "pc2": "a.pc2",
    }
    write_glb_character(folder / "a.glb", character)
    write_glb_character(folder / "q.glb", character, packing="quantized")
    write_fbx(folder / "a.fbx", character)
    write_usd(folder / "a.usdc", character)
    write_usd_cache(folder / "cache.usdc", mesh, vertices, character.fps)
    write_alembic(folder / "a.abc", mesh, vertices, character.fps)
    write_pc2(folder / "a.pc2", vertices, z_up=True)
    np.savez(folder / "rest.npz", vertices=mesh.vertices, triangles=mesh.triangles)
    job = {
        "fps": character.fps,
        "frames": list(FRAMES),
        "files": {kind: str(folder / name) for kind, name in files.items()},
        "rest": str(folder / "rest.npz"),
        "out": str(folder),
    }
    (folder / "job.json").write_text(json.dumps(job))
    done = subprocess.run(
        [python, str(SCRIPTS / "blender_play.py"), str(folder / "job.json")],
        capture_output=True,
        text=True,
        timeout=600,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


@pytest.mark.parametrize("kind", KINDS)
def test_blender_shows_the_character(shown: Path, kind: str):
    """Blender's z points up: (x, y, z) there is (x, z, −y) here."""
    found = np.load(shown / f"{kind}.npy")[..., [0, 2, 1]] * [1, 1, -1]
    is_glb = kind.startswith("glb")
    source = split_seams(client_character().template.mesh).source if is_glb else None
    for index in range(len(FRAMES)):
        # whole numbers: see PACKINGS of test_clients_gltf
        tolerance = 0.25 if kind == "glb_quantized" else TOLERANCE_MM
        assert error_mm(found[index], index, source) < tolerance
