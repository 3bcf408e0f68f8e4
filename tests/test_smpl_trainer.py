"""The trainer as a whole: ended anywhere it goes on to the same model; bad data are refused."""

import hashlib
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np
import pytest
import smpl_truth

from corporeal.body.registrations import Registrations, Take
from corporeal.errors import InputError
from corporeal.models.smpl.train import SmplTrainer, few_registrations, pose_identifier
from corporeal.models.smpl.training.checkpoints import Checkpoints
from corporeal.models.smpl.training.pose_training import PoseTraining
from corporeal.models.smpl.training.shape_training import ShapeTraining

TRAINER = SmplTrainer(
    PoseTraining(joint_rounds=1, shape_rounds=1, pose_iterations=2),
    ShapeTraining(count=2, rounds=1),
)


class Ended(Exception):
    """Stands for a kill."""


def data() -> tuple:
    model, meshes, _ = smpl_truth.sampled(250, 4, 16)
    return smpl_truth.registrations_of(model, meshes), smpl_truth.template_of(model)


def test_ended_and_gone_on(tmp_path: Path) -> None:
    """Stopped after every one of its stages, training reaches the very same numbers."""
    registrations, template = data()
    whole = TRAINER.fit(registrations, registrations, template)
    path = tmp_path / "checkpoint.npz"
    seen: list[str] = []

    def callback(stage: str, _: float) -> None:
        """Ended while the next stage runs: only what was kept before counts."""
        seen.append(stage)
        if len(seen) % 2 == 0:
            raise Ended(stage)

    while "shape space" not in seen:
        with pytest.raises(Ended):
            TRAINER.fit(registrations, registrations, template, callback=callback, checkpoints=path)
    assert len(seen) > len(set(seen))
    again = TRAINER.fit(registrations, registrations, template, checkpoints=path)
    for name in ("mean_vertices", "shape_offsets", "pose_offsets", "joint_regressor"):
        np.testing.assert_array_equal(getattr(again.model, name), getattr(whole.model, name))
    assert again.report == whole.report


def test_checkpoint_of_another_run_is_refused(tmp_path: Path) -> None:
    """Other settings must not go on from it."""
    registrations, template = data()
    path = tmp_path / "checkpoint.npz"
    TRAINER.fit(registrations, registrations, template, checkpoints=path)
    other = replace(TRAINER, pose=replace(TRAINER.pose, ring=2.0))
    with pytest.raises(InputError, match="other data or settings"):
        other.fit(registrations, registrations, template, checkpoints=path)


def test_checkpoints_that_say_dqbs_go_on(tmp_path: Path) -> None:
    """Files from when dual-quaternion skinning had two names are read, and belong to their run."""
    _, meshes, truth = smpl_truth.sampled(120, 2, 8)
    kept = Checkpoints(tmp_path / "checkpoint.npz", "run")
    kept.keep(1, replace(truth, blending="dqs"), [("poses", 1.0)])
    with np.load(kept.path) as file:
        old = {**file, "blending": np.array("dqbs")}
    np.savez(kept.path, **old)
    _, estimate, _ = kept.latest(("poses",))
    assert estimate is not None
    assert estimate.blending == "dqs"
    template = smpl_truth.template_of(smpl_truth.sampled(120, 2, 8)[0])
    settings = PoseTraining(blending="dqs")
    callback = repr({**asdict(settings), "blending": "dqbs"})
    digest, mesh, weights = hashlib.sha256(callback.encode()), template.mesh, template.weights
    for array in (
        meshes.vertices, meshes.subjects, mesh.triangles, mesh.vertices, weights.values,
        weights.joint_indices,
    ):  # fmt: skip
        digest.update(np.ascontiguousarray(array).data)
    assert pose_identifier(meshes, template, settings) == digest.hexdigest()


def test_fewer_registrations_than_pose_features_are_warned_of() -> None:
    """16 registrations for 207 features; as many as features say nothing."""
    registrations, template = data()
    with pytest.warns(UserWarning, match="16 registrations came for 207 pose features"):
        TRAINER.fit(registrations, registrations, template)
    assert few_registrations(206, template) is not None
    assert few_registrations(207, template) is None


def test_takes_marked_as_test_are_warned_of() -> None:
    """Whoever is trained on cannot test."""
    registrations, template = data()
    marked = tuple(replace(take, split="test") for take in registrations.takes[:2])
    mixed = replace(registrations, takes=(*marked, *registrations.takes[2:]))
    with pytest.warns(UserWarning, match=r"person0, person1 \(2 subjects\) are marked as test"):
        TRAINER.fit(mixed, registrations, template)


def test_bad_registrations_are_refused() -> None:
    """Another topology, one pose alone, numbers that are not finite, nothing at all."""
    registrations, template = data()
    turned = Registrations(
        "other", registrations.triangles[:, ::-1], registrations.vertex_count, registrations.takes
    )
    with pytest.raises(InputError, match="Expected one topology"):
        TRAINER.fit(turned, registrations, template)
    lonely = Take("person9", "one", 0.0, np.zeros((1, registrations.vertex_count, 3), np.float32))
    with pytest.raises(InputError, match="person9 came in one pose alone"):
        TRAINER.fit(
            replace(registrations, takes=(*registrations.takes, lonely)), registrations, template
        )
    broken = Take("person9", "nan", 0.0, np.full((2, registrations.vertex_count, 3), np.nan, "f4"))
    with pytest.raises(InputError, match="person9 nan hold"):
        TRAINER.fit(replace(registrations, takes=(broken,)), registrations, template)
    with pytest.raises(InputError, match="is empty"):
        TRAINER.fit(replace(registrations, takes=()), registrations, template)
