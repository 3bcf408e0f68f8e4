"""Neural soft tissue at run time: the script computes the weights of the Python reference."""

import json
import subprocess
from pathlib import Path

import numpy as np
import pytest
from client_files import SCRIPTS, program
from dynamics_models import small_hybrid, small_neural
from scipy.spatial.transform import Rotation

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_neural import learned_neural
from corporeal.body.motion import Motion
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.dynamics.neural.deformer import NeuralSkinning
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.live_neural import live_neural, write_neural_runtime

TEMPLATE = load_default_body().template
FRAMES = 40


def without_poses() -> NeuralFlesh:
    """A small random network with no part for poses, and a size that people turn."""
    given = small_neural(TEMPLATE)
    random = np.random.default_rng(5)
    parameters = dict(given.parameters)
    parameters["static_out"] = np.zeros((parameters["static_out"].shape[0], 0), np.float32)
    shape = parameters["person_size"].shape
    parameters["person_size"] = random.normal(scale=0.3, size=shape).astype(np.float32)
    return NeuralFlesh(
        parameters, given.dynamic_basis, given.dynamic_basis[:0], given.person_mean,
        given.person_scale,
    )  # fmt: skip


@pytest.mark.parametrize("fps", [24.0, 60.0, 240.0])
@pytest.mark.parametrize("kind", ["network", "with experts", "shipped"])
def test_javascript_gives_the_weights(tmp_path: Path, fps: float, kind: str):
    """A motion that it has never seen, live: to 1e-5 of the largest of Python's."""
    trained = {"network": without_poses, "with experts": lambda: small_hybrid(TEMPLATE),
               "shipped": learned_neural}[kind]()  # fmt: skip
    deformer, who = NeuralSkinning(TEMPLATE, trained), PhenotypeModel().prepare()
    live = live_neural(deformer, who)
    data, script = write_neural_runtime(tmp_path / "anna.glb", live)
    assert len(script.read_text().splitlines()) < 200
    random, time = np.random.default_rng(3), np.arange(FRAMES)[:, None, None] / fps
    joints = TEMPLATE.skeleton.joint_count
    waves = sum(
        random.normal(scale=0.2, size=(1, joints + 1, 3)) * np.sin(2 * np.pi * f * time)
        for f in random.uniform(0.5, 3, 3)
    )
    motion = Motion("wave", fps, waves[:, :-1], 0.3 * waves[:, -1], TEMPLATE.skeleton)
    turns = np.asarray(motion.joint_rotations)[:, : len(live.content["joints"])]
    job = {
        "module": str(script),
        "data": str(data),
        "turns": Rotation.from_rotvec(turns.reshape(-1, 3)).as_quat().reshape(*turns.shape[:2], 4)
        .tolist(),
        "roots": np.asarray(motion.root_translation).tolist(),
        "seconds": 1.0 / fps,
    }  # fmt: skip
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [program("node"), str(SCRIPTS / "dynamics_stub.mjs"), str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    found = np.array(json.loads(done.stdout))
    expected = deformer.coefficients(who, motion) / live.content["unit"]
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(found, expected, atol=1e-5 * max(1.0, np.abs(expected).max()))


def test_a_part_for_poses_is_refused():
    deformer = NeuralSkinning(TEMPLATE, small_neural(TEMPLATE))
    with pytest.raises(InputError, match="--static-count 0"):
        live_neural(deformer, PhenotypeModel().prepare())
