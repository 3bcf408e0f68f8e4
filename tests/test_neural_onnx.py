"""Neural soft tissue as ONNX: onnxruntime gives what the package gives, frame after frame."""

from pathlib import Path

import numpy as np
import pytest
from dynamics_models import small_hybrid, small_neural
from synthetic import arm_template

from corporeal.assets.learned_neural import learned_neural
from corporeal.body.neural_flesh import NeuralFlesh
from corporeal.dynamics.neural import network
from corporeal.dynamics.neural.features import MOVEMENT_SIZE, POSE_SIZE
from corporeal.dynamics.neural.model import NeuralModel
from corporeal.dynamics.neural.person import PERSON_SIZE
from corporeal.pipelines.convert import ConvertConfig, convert

onnxruntime = pytest.importorskip("onnxruntime")


def played(data: bytes | str, trained: NeuralFlesh, frames: list[tuple], person: np.ndarray):
    """Coefficients of one body, the states given back frame by frame."""
    session = onnxruntime.InferenceSession(data, providers=["CPUExecutionProvider"])
    state = {
        one.name: np.zeros((1, one.shape[1]), np.float32)
        for one in session.get_inputs()
        if one.name.startswith("state_")
    }
    names, rows = [one.name for one in session.get_outputs()], []
    for movement, pose, seconds in frames:
        given = {"movement": movement[None], "pose": pose[None], "person": person[None],
                 "seconds": np.array([seconds], np.float32)}  # fmt: skip
        found = dict(zip(names, session.run(None, given | state), strict=True))
        state = {name: found[name.replace("state", "next")] for name in state}
        rows.append({name: found[name][0] for name in ("dynamic", "static") if name in found})
    return rows


def frames(count: int) -> list[tuple]:
    """Movements of usual and of absurd sizes, at changing rates."""
    random = np.random.default_rng(4)
    return [
        (
            random.normal(scale=3.0 ** (n % 4), size=MOVEMENT_SIZE).astype(np.float32),
            random.normal(scale=0.3, size=POSE_SIZE).astype(np.float32),
            float(random.uniform(1 / 240, 1 / 24)),
        )
        for n in range(count)
    ]


@pytest.mark.parametrize("kind", ["shipped", "with a static part", "with experts"])
def test_onnxruntime_gives_the_coefficients(kind: str, tmp_path: Path):
    """To 1e-5 of the largest, over frames that each remember the ones before."""
    makers = {"with a static part": small_neural, "with experts": small_hybrid}
    trained = learned_neural() if kind == "shipped" else makers[kind](arm_template())
    people = 0 if trained.experts is None else len(trained.experts.body_mass_indices)
    person = np.random.default_rng(1).normal(size=PERSON_SIZE + people).astype(np.float32)
    if kind == "shipped":
        made = convert(ConvertConfig(Path("neural"), tmp_path / "neural.onnx", is_model=True))
        data: bytes | str = str(made.out)
        assert made.report["bytes"] == made.out.stat().st_size
    else:
        from corporeal.dynamics.neural.onnx_graph import onnx_bytes

        data = onnx_bytes(trained)
    model = NeuralModel(trained)
    playing, steps = model.start(person), frames(30)
    found = played(data, trained, steps, person)
    for row, (movement, pose, seconds) in zip(found, steps, strict=True):
        playing, expected = playing.step(movement, pose, seconds)
        size = max(float(np.abs(expected).max()), 1e-6)
        np.testing.assert_allclose(row["dynamic"], expected, atol=1e-5 * max(size, 1.0))
        if "static" in row:
            static = network.static_coefficients(trained.parameters, pose, person)
            np.testing.assert_allclose(row["static"], static, atol=1e-5)
    assert ("static" in found[0]) == bool(len(trained.static_basis))
