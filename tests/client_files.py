"""A full-size character for the tests with real clients, and where those clients are.

Clients are optional: a test whose client is not installed is skipped with the reason.

============================== =====================================================
`CORPOREAL_NODE_MODULES`       folder with npm's `gltf-validator`, `fbx2gltf`, `three`
                               (default: `node_modules` beside the package)
`CORPOREAL_BPY_PYTHON`         a Python interpreter that can import Blender's `bpy`
`chromium`, `godot3-server`,   found on the path (Debian's packages)
`godot3`, `xvfb-run`
============================== =====================================================
"""

import json
import os
import shutil
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corporeal.appearance.skin_tone import skin_colour
from corporeal.assets.eyes import default_eyes
from corporeal.body.character import Character
from corporeal.body.motion import Motion
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.pipelines.bake import bake
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.playback import character_vertices

SCRIPTS = Path(__file__).parent / "clients"
FRAMES = (0, 17, 29)
TOLERANCE_MM = 0.01
MORPHS = 8
_ROOT = Path(__file__).resolve().parents[1]


@cache
def client_character() -> Character:
    """The default body in thirty frames of jumping jacks with dual quaternions, baked."""
    model = PhenotypeModel()
    identity = model.prepare()
    identity = replace(
        identity,
        rest_vertices=np.asarray(identity.rest_vertices, np.float64),
        joints=np.asarray(identity.joints, np.float64),
    )
    whole = make_motion("jumping-jacks", identity, model.template)
    part = slice(30, 60)
    motion = Motion(
        "jumping-jacks",
        whole.fps,
        np.asarray(whole.joint_rotations, np.float64)[part],
        np.asarray(whole.root_translation, np.float64)[part],
        whole.skeleton,
    )
    take = DualQuaternionSkinning(model.template).animate(identity, motion)
    colours = np.tile(skin_colour(52.0, 0.0), (model.template.mesh.vertex_count, 1))
    character, report = bake(
        take, morphs=MORPHS, attachments=default_eyes(identity), vertex_colours=colours
    )
    assert report.morphless_error_mm > 5, "the morphs must matter, or the tests show nothing"
    return character


@cache
def expected_vertices() -> np.ndarray:
    """Posed skin at `FRAMES`, metres."""
    return character_vertices(client_character(), np.array(FRAMES))


def error_mm(found: np.ndarray, frame: int, source: np.ndarray | None = None) -> float:
    """Largest vertex distance at frame number `frame` of `FRAMES`, millimetres; also printed."""
    expected = expected_vertices()[frame]
    expected = expected if source is None else expected[source]
    assert found.shape == expected.shape
    largest = 1e3 * float(np.linalg.norm(found - expected, axis=1).max())
    print(f"frame {FRAMES[frame]}: {largest:.6f} mm")
    return largest


def node_package(name: str) -> Path:
    """Folder of an installed npm package, or a skip."""
    folder = Path(os.environ.get("CORPOREAL_NODE_MODULES", _ROOT / "node_modules")) / name
    if not folder.is_dir():
        pytest.skip(f"npm package {name!r} is not installed (CORPOREAL_NODE_MODULES)")
    return folder


def validation_issues(glb: Path) -> dict[str, Any]:
    """What Khronos' validator says about a file; `maxIssues` 0 leaves nothing out."""
    script = (
        "const v=require(process.argv[1]),fs=require('fs');"
        "v.validateBytes(new Uint8Array(fs.readFileSync(process.argv[2])),{maxIssues:0})"
        ".then(r=>console.log(JSON.stringify(r.issues)))"
    )
    command = [program("node"), "-e", script, str(node_package("gltf-validator")), str(glb)]
    return json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


def program(name: str) -> str:
    """Path of an installed program, or a skip."""
    found = shutil.which(name)
    if found is None:
        pytest.skip(f"{name} is not installed")
    return found


def blender_python() -> str:
    """An interpreter with `bpy`, or a skip."""
    found = os.environ.get("CORPOREAL_BPY_PYTHON", "")
    if not found:
        pytest.skip("set CORPOREAL_BPY_PYTHON to a Python that can import bpy")
    return found
