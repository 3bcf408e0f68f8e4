"""From registrations of a known SMPL its joints and correctives come back."""

import importlib.util
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

from corporeal.evaluation.known_smpl import known_smpl, sample_people
from corporeal.models.smpl.training.initial import initial_model
from corporeal.models.smpl.training.pose_training import PoseTraining, train_pose


@pytest.fixture(scope="module")
def truth() -> ModuleType:
    """The benchmark's measures."""
    path = Path(__file__).parents[1] / "benchmarks" / "smpl_truth.py"
    spec = importlib.util.spec_from_file_location("smpl_truth_benchmark", path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_known_joints_are_near_their_rings() -> None:
    """At most 20 mm from the average, and not at it; offsets fade where one part rules."""
    known = known_smpl(300)
    rings = initial_model(known.template).regressor @ known.model.mean_vertices
    far = np.linalg.norm(known.model.joint_regressor @ known.model.mean_vertices - rings, axis=1)
    assert far.max() <= 0.015 + 1e-9
    assert far.mean() > 0.005
    alone = known.model.weights.dense().max(axis=1) == 1
    assert alone.any()
    assert not known.model.pose_offsets[:, alone].any()


def test_joints_without_correctives_come_back(truth: ModuleType) -> None:
    """Four people in 25 poses each, from rings 15 mm away: within 10 mm, correctives hardly any."""
    known = known_smpl(300, pose_scale=0.0)
    meshes, made_by = sample_people(known, 4, 100)
    settings = PoseTraining(joint_rounds=3, shape_rounds=1, pose_ridge=1e-3)
    found = train_pose(meshes, known.template, settings).estimate
    errors = truth.joint_errors(found, made_by)[:, 1:]
    assert np.median(errors) < 0.005
    assert errors.mean(axis=0).max() < 0.01
    moved = found.features() @ found.pose_offsets.reshape(len(found.pose_offsets), -1)
    assert np.sqrt(np.mean(moved**2)) < 1e-3


@pytest.mark.slow
def test_full_size(truth: ModuleType) -> None:
    """2 000 vertices, 20 people, 600 poses: the bars of the benchmark."""
    first, trained, known = truth.run(2000, 20, 600, truth.POSE_SCALE)
    assert first["joint_worst_mean_mm"] < 10
    assert 1e3 * truth.new_poses(known, trained, 20) < 0.5
    zero, _, _ = truth.run(2000, 20, 600, 0.0)
    assert zero["correctives_rms_mm"] < 0.2
