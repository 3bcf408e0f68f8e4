"""Dynamics at run time: scripts compute the weights of the Python reference on new motions."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
import synthetic
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


@pytest.fixture(scope="module")
def deformer() -> DmplSkinning:
    return DmplSkinning(TEMPLATE, small_dmpl(TEMPLATE))


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


@pytest.mark.parametrize("fps", [24.0, 60.0, 100.0])
def test_javascript_gives_the_weights(deformer: DmplSkinning, tmp_path: Path, fps: float):
    """A motion that it has never seen, at several rates: to 1e-5 of Python's."""
    live = live_dynamics(deformer, PERSON)
    data, script, _ = write_dynamics_runtime(tmp_path / "anna.glb", deformer, live)
    motion = wave(fps)
    quaternions = Rotation.from_rotvec(np.asarray(motion.joint_rotations).reshape(-1, 3)).as_quat()
    job = {
        "module": str(script),
        "data": str(data),
        "turns": quaternions.reshape(motion.frame_count, -1, 4).tolist(),
        "roots": np.asarray(motion.root_translation).tolist(),
        "seconds": 1.0 / fps,
    }
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [program("node"), str(SCRIPTS / "dynamics_stub.mjs"), str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    found = np.array(json.loads(done.stdout))
    expected = Clock(deformer.predictors, live.fitted, TEMPLATE.skeleton).run(motion)
    np.testing.assert_allclose(found, expected, atol=1e-5)
    assert np.ptp(found, axis=0).max() > 0.01


def test_scripts_are_short_and_lie_beside_the_character(deformer: DmplSkinning, tmp_path: Path):
    paths = write_dynamics_runtime(tmp_path / "anna.glb", deformer, live_dynamics(deformer, PERSON))
    names = ["anna_dynamics.json", "anna_dynamics.mjs", "anna_dynamics.gd"]
    assert [path.name for path in paths] == names
    for path in paths[1:]:
        assert len(path.read_text().splitlines()) < 200


def test_a_mean_displacement_is_refused(deformer: DmplSkinning):
    from dataclasses import replace

    moved = replace(deformer.model, mean=np.ones_like(deformer.model.mean))
    with pytest.raises(InputError, match="which no morph target carries"):
        live_dynamics(DmplSkinning(TEMPLATE, moved), PERSON)
