"""Real glTF clients show our characters where we say they are: validator, three.js."""

import json
import os
import subprocess
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
    program,
    validation_issues,
)
from glb_players import in_babylon, in_three

from corporeal.formats.glb import Packing
from corporeal.formats.gltf import split_seams, write_glb_character

PACKINGS: dict[Packing, float] = {
    "none": TOLERANCE_MM,
    # half a step of eight morphs (1/32767 m), of rotations and of skin weights over 1 m of reach
    "quantized": 0.25,
    "meshopt": 0.25,
}
"""Packing → largest distance of a vertex, millimetres."""


@pytest.fixture(scope="module", params=PACKINGS)
def packed(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> tuple[Packing, Path]:
    path = tmp_path_factory.mktemp("glb") / "character.glb"
    write_glb_character(path, client_character(), packing=request.param)
    return request.param, path


def test_the_khronos_validator_finds_nothing(packed: tuple[Packing, Path]):
    """It does not know EXT_meshopt_compression: of such files it sees all but the packed bytes."""
    issues = validation_issues(packed[1])
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"][:5]


def test_three_js_shows_the_character(packed: tuple[Packing, Path]):
    """`getVertexPosition` of three.js at three frames, on a take with morph targets."""
    character, (packing, glb) = client_character(), packed
    packages = node_package("three").parent
    times = [frame / character.fps for frame in FRAMES]
    played = in_three(program("chromium"), packages, glb, times)
    source = split_seams(character.template.mesh).source
    for index, found in enumerate(played.frames):
        assert error_mm(found, index, source) < PACKINGS[packing]
    assert played.picture.startswith(b"\x89PNG")
    if folder := os.environ.get("CORPOREAL_PICTURES"):
        (Path(folder) / f"three_{packing}.png").write_bytes(played.picture)


def test_babylon_js_shows_the_character(packed: tuple[Packing, Path], tmp_path: Path):
    """Babylon's own loader, animation, morph targets and skinning, without a graphics card."""
    node_package("@babylonjs/core")
    node_package("@babylonjs/loaders")
    character, (packing, glb) = client_character(), packed
    job = {
        "modules": str(node_package("@babylonjs/core").parents[1]),
        "glb": str(glb),
        "times": [frame / character.fps for frame in FRAMES],
        "out": str(tmp_path),
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [program("node"), str(SCRIPTS / "babylon_play.mjs"), str(tmp_path / "job.json")]
    subprocess.run(command, check=True, timeout=600, capture_output=True)
    source = split_seams(character.template.mesh).source
    for index in range(len(FRAMES)):
        found = np.fromfile(tmp_path / f"frame_{index}.bin", "<f4").reshape(-1, 3)
        # its own skinning is in single precision
        assert error_mm(found.astype(np.float64), index, source) < PACKINGS[packing] + 0.01


def test_babylon_js_draws_the_character(packed: tuple[Packing, Path]):
    """The same in a page, where it draws, too."""
    character, (packing, glb) = client_character(), packed
    packages = node_package("babylonjs").parent
    node_package("babylonjs-loaders")
    times = [frame / character.fps for frame in FRAMES]
    played = in_babylon(program("chromium"), packages, glb, times)
    source = split_seams(character.template.mesh).source
    for index, found in enumerate(played.frames):
        assert error_mm(found, index, source) < PACKINGS[packing] + 0.01
    assert played.picture.startswith(b"\x89PNG")
