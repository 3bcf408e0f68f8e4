"""Dynamics at run time: scripts compute the weights of the Python reference on new motions."""

import json
import runpy
import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import synthetic
from browser import run_page
from client_files import SCRIPTS, program
from dynamics_models import small_dmpl
from scipy.spatial.transform import Rotation

from corporeal.body.motion import Motion
from corporeal.dynamics.clock import Clock
from corporeal.dynamics.dmpl.model import DmplSkinning
from corporeal.errors import InputError
from corporeal.pipelines.live_dynamics import (
    UNIT,
    live_dynamics,
    write_dynamics_runtime,
)

TEMPLATE = synthetic.arm_template()
PERSON = synthetic.identity_of(TEMPLATE)


@pytest.fixture(scope="module", params=["joints", "bones"])
def deformer(request: pytest.FixtureRequest) -> DmplSkinning:
    return DmplSkinning(TEMPLATE, small_dmpl(TEMPLATE, controls=request.param))


def wave(fps: float, frames: int = 90) -> Motion:
    random, time = np.random.default_rng(3), np.arange(frames) / fps
    waves = sum(
        random.normal(scale=0.3, size=(1, 6, 3)) * np.sin(2 * np.pi * f * time)[:, None, None]
        for f in random.uniform(0.5, 3, 3)
    )
    return Motion("wave", fps, waves[:, :-1], 0.3 * waves[:, -1], TEMPLATE.skeleton)


def test_weights_of_one_are_a_centimetre_and_give_the_offsets(deformer: DmplSkinning):
    """Σ_k w_k m_k = Σ_d δ_d s_d in every frame."""
    live = live_dynamics(deformer, PERSON)
    np.testing.assert_allclose(np.linalg.norm(live.offsets, axis=-1).max(axis=1), UNIT)
    motion = wave(60.0)
    clock = Clock(deformer.predictors, live.fitted, TEMPLATE.skeleton)
    weights = clock.run(motion)
    played = np.tensordot(weights, live.offsets, axes=1)
    true = deformer.offsets(deformer.coefficients(PERSON, motion))
    np.testing.assert_allclose(played, true, atol=1e-7)
    assert np.abs(weights).max() > 0.01


def a_job(deformer: DmplSkinning, folder: Path, fps: float) -> tuple[dict[str, Any], np.ndarray]:
    """What a script is given, and the weights that Python gives: a motion never seen."""
    live = live_dynamics(deformer, PERSON)
    write_dynamics_runtime(folder / "anna.glb", deformer, live)
    motion = wave(fps)
    rows = [TEMPLATE.skeleton.names.index(name) for name in live.tree.joints]
    turns = np.asarray(motion.joint_rotations)[:, rows]
    quaternions = Rotation.from_rotvec(turns.reshape(-1, 3)).as_quat()
    job = {
        "module": str(folder / "anna_dynamics.mjs"),
        "data": str(folder / "anna_dynamics.json"),
        "turns": quaternions.reshape(motion.frame_count, -1, 4).tolist(),
        "roots": np.asarray(motion.root_translation).tolist(),
        "seconds": 1.0 / fps,
    }
    (folder / "job.json").write_text(json.dumps(job))
    joints = np.asarray(PERSON.joints)
    clock = Clock(deformer.predictors, live.fitted, TEMPLATE.skeleton, joints)
    return job, clock.run(motion)


@pytest.mark.parametrize("fps", [24.0, 60.0, 100.0])
def test_javascript_gives_the_weights(deformer: DmplSkinning, tmp_path: Path, fps: float):
    """A motion that it has never seen, at several rates: to 1e-5 of Python's."""
    _, expected = a_job(deformer, tmp_path, fps)
    command = [program("node"), str(SCRIPTS / "dynamics_stub.mjs"), str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    found = np.array(json.loads(done.stdout))
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.ptp(found, axis=0).max() > 0.01


def test_chromium_gives_the_weights(deformer: DmplSkinning, tmp_path: Path):
    """The same module in a page."""
    _, expected = a_job(deformer, tmp_path, 100.0)
    files = {name: tmp_path / name for name in ("job.json", "anna_dynamics.json")}
    files["module.js"] = (tmp_path / "anna_dynamics.mjs").rename(tmp_path / "module.js")
    page = SCRIPTS / "dynamics.html"
    results = run_page(program("chromium"), page, files, "", timeout_s=200)
    assert results["done"] == b"ok", results["done"].decode()
    np.testing.assert_allclose(json.loads(results["weights"]), expected, atol=1e-5)


@pytest.mark.parametrize("fps", [24.0, 100.0])
def test_godot_gives_the_weights(deformer: DmplSkinning, tmp_path: Path, fps: float):
    """All of the script but its lines about scenes, which are Godot 4's, in Godot 3."""
    _, expected = a_job(deformer, tmp_path, fps)
    text = (tmp_path / "anna_dynamics.gd").read_text().replace("RefCounted", "Reference")
    before, _, rest = text.partition("# -- scene")
    (tmp_path / "predictor.gd").write_text(before + rest.partition("# -- end of scene")[2])
    (tmp_path / "project.godot").write_text("config_version=4\n")
    shutil.copy(SCRIPTS / "dynamics_stub.gd", tmp_path)
    command = [program("godot3-server"), "--path", str(tmp_path), "-s", "dynamics_stub.gd"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert (tmp_path / "weights.json").is_file(), done.stdout[-1500:] + done.stderr[-1500:]
    found = json.loads((tmp_path / "weights.json").read_text())
    np.testing.assert_allclose(found, expected, atol=1e-5)


@pytest.mark.parametrize("fps", [24.0, 60.0, 100.0])
def test_blenders_script_gives_the_weights(deformer: DmplSkinning, tmp_path: Path, fps: float):
    """Its predictor needs no Blender."""
    job, expected = a_job(deformer, tmp_path, fps)
    names = runpy.run_path(str(tmp_path / "anna_dynamics_blender.py"))
    predictor = names["Predictor"](json.loads(Path(job["data"]).read_text()))
    found = [
        predictor.step(turns, root, job["seconds"])
        for turns, root in zip(job["turns"], job["roots"], strict=True)
    ]
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_scripts_are_short_and_lie_beside_the_character(deformer: DmplSkinning, tmp_path: Path):
    paths = write_dynamics_runtime(tmp_path / "anna.glb", deformer, live_dynamics(deformer, PERSON))
    names = ["anna_dynamics.json", "anna_dynamics.mjs", "anna_dynamics.gd",
             "anna_dynamics_blender.py", "AnnaDynamics.cs"]  # fmt: skip
    assert [path.name for path in paths] == names
    for path in paths[1:]:
        assert len(path.read_text().splitlines()) < 200


def test_a_mean_displacement_is_refused(deformer: DmplSkinning):
    from dataclasses import replace

    moved = replace(deformer.model, mean=np.ones_like(deformer.model.mean))
    with pytest.raises(InputError, match="which no morph target carries"):
        live_dynamics(DmplSkinning(TEMPLATE, moved), PERSON)
