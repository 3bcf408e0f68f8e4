"""Live enveloping in the programs themselves: three.js in a browser, Blender, C# compiled by Mono.

Every file holds wrong weights and unturned helper joints, so that what is shown is the script's own
work; expected is the deformer's skin of the same poses.
"""

import json
import subprocess
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from browser import run_page
from client_files import SCRIPTS, blender_python, node_package, program
from dynamics_models import small_enveloping
from test_runtime_scripts import compiled_player, unity_quaternions

from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.character import Character
from corporeal.body.motion import Motion
from corporeal.formats.fbx import write_fbx
from corporeal.formats.gltf import split_seams, write_glb_character
from corporeal.models.enveloping.model import EnvelopingSkinning
from corporeal.pipelines.live_enveloping import live_character, write_live_enveloping

FRAMES, JOINTS, TOLERANCE_MM = 4, 52, 0.02
"""Tolerance: weights travel as float32 and signed ones span several units a metre's bump."""


@cache
def take() -> tuple[EnvelopingSkinning, Animation]:
    """Four random poses of a person of a small model."""
    template = load_default_body().template
    deformer = EnvelopingSkinning(template, small_enveloping(template))
    person = deformer.prepare(np.array([0.5, 0.5]))
    identity = replace(
        person, rest_vertices=np.asarray(person.rest_vertices, np.float32),
        joints=np.asarray(person.joints, np.float32),
    )  # fmt: skip
    turns = np.random.default_rng(6).normal(0, 0.4, (FRAMES, JOINTS, 3)).astype(np.float32)
    still = np.zeros((FRAMES, 3), np.float32)
    motion = Motion("live", 30.0, turns, still, template.skeleton)
    return deformer, deformer.animate(identity, motion)


@cache
def unplayed() -> Character:
    """The take's character with the weights of no pose, its helpers unturned."""
    character, live = live_character(*take())
    turns = np.array(character.joint_rotations_wxyz)
    turns[:, JOINTS:] = [1, 0, 0, 0]
    weights = np.array(character.morph_weights)
    weights[:, -len(live.names) :] = 0
    return replace(character, joint_rotations_wxyz=turns, morph_weights=weights)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Files and scripts."""
    made = tmp_path_factory.mktemp("enveloping")
    write_live_enveloping(made / "a.glb", *take())
    write_glb_character(made / "still.glb", unplayed())
    write_fbx(made / "still.fbx", unplayed())
    return made


def poses_xyzw() -> np.ndarray:
    """Local rotations of all joints; helpers unturned."""
    return np.roll(np.asarray(unplayed().joint_rotations_wxyz), -1, axis=-1)


def error_mm(found: np.ndarray, source=slice(None)) -> float:
    expected = np.asarray(take()[1].vertices, np.float64)[:, source]
    assert found.shape == expected.shape
    return 1e3 * float(np.linalg.norm(found - expected, axis=-1).max())


def shown_by_three(folder: Path) -> dict[str, bytes]:
    (folder / "job.json").write_text(json.dumps({"poses": poses_xyzw().tolist()}))
    (folder / "module.js").write_bytes((folder / "a_enveloping.mjs").read_bytes())
    files = {
        "three": node_package("three"), "character.glb": folder / "still.glb",
        "module.js": folder / "module.js", "job.json": folder / "job.json",
    }  # fmt: skip
    return run_page(program("chromium"), SCRIPTS / "enveloping.html", files, "", 120)


def test_three_js_in_a_browser_poses_the_skin(folder: Path):
    """Posed by hand in three.js, with the module's helpers and weights, the skin is the
    deformer's; a wrong weight would be millimetres off (the bumps are 10 mm)."""
    shown = shown_by_three(folder)
    assert shown["done"] == b"ok", shown["done"].decode()
    source = split_seams(unplayed().template.mesh).source
    found = np.frombuffer(shown["vertices"]).reshape(FRAMES, -1, 3)
    off = error_mm(found, source)
    print(f"three.js in Chromium: {off:.5f} mm, update {float(shown['update_ms']):.3f} ms")
    assert off < TOLERANCE_MM


@pytest.mark.parametrize("full_weight", [100, 1])
def test_unity_component_turns_helpers_and_gives_the_weights(
    folder: Path, full_weight: int, tmp_path: Path
):
    """Compiled by Mono beside a stand-in for UnityEngine, joints mirrored as its importer does."""
    character, live = live_character(*take())
    player = compiled_player(folder / "AEnveloping.cs", tmp_path)
    names = list(character.template.skeleton.names)
    shapes = ["morphs.smile", *(f"morphs.{name}" for name in live.names)]
    turns = unity_quaternions(poses_xyzw())
    rows = ["\t".join(map(repr, row)) for row in turns.reshape(FRAMES, -1).tolist()]
    played = subprocess.run(
        [program("mono"), player, "AEnveloping", str(full_weight), "joints"],
        input="\n".join(["\t".join(names), "\t".join(shapes), *rows]),
        capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert played.returncode == 0, played.stderr[-2000:]
    found = np.array([line.split("\t") for line in played.stdout.splitlines()], float)
    count = len(shapes)
    np.testing.assert_array_equal(found[:, 0], 0)
    expected = np.asarray(character.morph_weights)[:, -len(live.names) :]
    np.testing.assert_allclose(found[:, 1:count] / full_weight, expected, atol=1e-6)
    helpers = found[:, count:].reshape(FRAMES, -1, 4)[:, JOINTS:]
    baked = np.roll(np.asarray(character.joint_rotations_wxyz), -1, axis=-1)
    baked = unity_quaternions(baked).reshape(FRAMES, -1, 4)[:, JOINTS:]
    np.testing.assert_allclose(np.abs(np.sum(helpers * baked, axis=-1)), 1, atol=1e-6)
    assert np.abs(helpers[..., 3]).min() < 0.999, "helpers must turn, or the test shows nothing"


BLENDER_FILES = {"glb": "still.glb", "fbx": "still.fbx", "fbx_legacy": "still.fbx"}


@pytest.fixture(scope="module")
def blender(folder: Path) -> Path:
    """What Blender shows before the script is run, after it, and of a pose changed by hand."""
    job = {
        "script": str(folder / "a_enveloping.py"), "fps": 30.0, "frames": list(range(FRAMES)),
        "files": {kind: str(folder / name) for kind, name in BLENDER_FILES.items()},
        "straighten": "left_elbow", "out": str(folder),
    }  # fmt: skip
    (folder / "blender.json").write_text(json.dumps(job))
    command = [blender_python(), str(SCRIPTS / "blender_correctives.py")]
    done = subprocess.run(
        [*command, str(folder / "blender.json")], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("kind", BLENDER_FILES)
def test_blender_itself_follows_the_pose(blender: Path, kind: str):
    """Wrong before the script is run, right after it, in the take."""
    source = split_seams(unplayed().template.mesh).source if kind == "glb" else slice(None)
    off = {
        what: error_mm(np.load(blender / f"{kind}_{what}.npy")[..., [0, 2, 1]] * [1, 1, -1], source)
        for what in ("before", "after")
    }
    print(f"Blender, {kind}: {off}")
    assert off["before"] > 5
    assert off["after"] < TOLERANCE_MM


@pytest.mark.slow
@pytest.mark.parametrize("kind", BLENDER_FILES)
def test_blender_follows_a_pose_made_by_hand(blender: Path, kind: str):
    """An elbow straightened without a change of frame: helpers and weights follow."""
    source = split_seams(unplayed().template.mesh).source if kind == "glb" else slice(None)
    deformer, animation = take()
    motion = animation.motion
    turns = np.array(motion.joint_rotations[-1:])
    turns[0, motion.skeleton.index("left_elbow")] = 0
    bent = replace(motion, joint_rotations=turns, root_translation=motion.root_translation[-1:])
    expected = np.asarray(deformer.animate(animation.identity, bent).vertices, np.float64)
    found = np.load(blender / f"{kind}_hand.npy")[..., [0, 2, 1]] * [1, 1, -1]
    off = 1e3 * np.linalg.norm(found - expected[:, source], axis=-1).max()
    print(f"Blender, {kind}, by hand: {off:.5f} mm")
    assert off < TOLERANCE_MM
