"""Real glTF clients show our characters where we say they are: validator, three.js."""

import os
from pathlib import Path

import numpy as np
import pytest
from browser import run_page
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

from corporeal.formats.gltf import split_seams, write_glb_character


@pytest.fixture(scope="module")
def glb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("glb") / "character.glb"
    write_glb_character(path, client_character())
    return path


def test_the_khronos_validator_finds_nothing(glb: Path):
    issues = validation_issues(glb)
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0), issues["messages"][:5]


def test_three_js_shows_the_character(glb: Path):
    """`getVertexPosition` of three.js at three frames, on a take with morph targets."""
    character = client_character()
    times = ",".join(str(frame / character.fps) for frame in FRAMES)
    results = run_page(
        program("chromium"),
        SCRIPTS / "three.html",
        {"three": node_package("three"), "character.glb": glb},
        f"times={times}",
        timeout_s=180,
    )
    assert results["done"] == b"ok", results["done"].decode()
    source = split_seams(character.template.mesh).source
    for index in range(len(FRAMES)):
        found = np.frombuffer(results[f"frame_{index}"], np.float64).reshape(-1, 3)
        assert error_mm(found, index, source) < TOLERANCE_MM
    assert results["picture"].startswith(b"\x89PNG")
    if folder := os.environ.get("CORPOREAL_PICTURES"):
        (Path(folder) / "three.png").write_bytes(results["picture"])
