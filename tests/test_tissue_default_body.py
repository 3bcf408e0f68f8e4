"""The default body's flesh at full size: standing, beginnings, and what a landing moves."""

import numpy as np
import pytest

from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def model() -> PhenotypeModel:
    return PhenotypeModel()


@pytest.fixture(scope="module")
def identity(model: PhenotypeModel) -> Identity:
    return model.prepare()


@pytest.fixture(scope="module")
def deformer(model: PhenotypeModel) -> ProjectiveSkinning:
    return ProjectiveSkinning(model.template)


def held(model: PhenotypeModel, **rotation_vectors: tuple[float, float, float]) -> Motion:
    """Half a second in one pose, 30 frames a second."""
    rotations = np.zeros((16, model.template.skeleton.joint_count, 3))
    for name, turn in rotation_vectors.items():
        rotations[:, model.template.skeleton.index(name)] = turn
    return Motion("held", 30.0, rotations, np.zeros((16, 3)), model.template.skeleton)


@pytest.mark.parametrize(
    "rotation_vectors",
    [
        {},
        {"pelvis": (np.pi, 0.0, 0.0), "left_shoulder": (0.0, 0.0, 1.4)},
        {"pelvis": (0.0, np.pi, 0.0), "left_knee": (2.6, 0.0, 0.0), "left_hip": (-2.0, 0.0, 0.0)},
        {"spine2": (0.0, np.pi, 0.0)},
    ],
    ids=["standing", "handstand", "kneeling backwards", "twisted"],
)
def test_a_pose_is_begun_in_balance(
    deformer: ProjectiveSkinning,
    model: PhenotypeModel,
    identity: Identity,
    rotation_vectors: dict[str, tuple[float, float, float]],
) -> None:
    """No vertex leaves the first frame by a millimetre; standing, that frame is the input."""
    skin = deformer.animate(identity, held(model, **rotation_vectors)).vertices
    assert np.abs(skin - skin[0]).max() < 1e-3
    if not rotation_vectors:
        assert np.abs(skin[-1] - identity.rest_vertices).max() < 1e-3


def test_a_landing_moves_bellies_and_thighs_but_not_ribs(
    deformer: ProjectiveSkinning, model: PhenotypeModel, identity: Identity
) -> None:
    """Against static balance, at the peak: chest and back below 5 mm (median); belly and buttocks
    more than twice as far as the chest, and nothing further than 6 cm."""
    motion = make_motion("one-leg-jump", identity, model.template, fps=30.0, duration=2.0)
    moving = deformer.animate(identity, motion).vertices
    static = deformer.animate(identity, motion, {"dynamics": np.array(0.0)}).vertices
    peak = np.linalg.norm(moving - static, axis=-1).max(axis=0)
    parts = {
        name: float(np.median(peak[model.template.part(name)]))
        for name in ("chest", "back", "belly", "left_buttock", "left_hand")
    }
    assert parts["chest"] < 5e-3
    assert parts["back"] < 5e-3
    assert parts["left_hand"] < 1e-3
    for name in ("belly", "left_buttock"):
        assert parts[name] > 2 * parts["chest"], name
    assert peak.max() < 0.06


def test_a_body_on_its_back_rests_on_the_ground(
    deformer: ProjectiveSkinning, model: PhenotypeModel, identity: Identity
) -> None:
    """With its back 3 cm under the floor: the full skin is less than 2 mm deep and lies still."""
    motion = held(model, pelvis=(-np.pi / 2, 0.0, 0.0))
    free = deformer.animate(identity, motion).vertices[0]
    root = np.tile([0.0, -float(free[:, 1].min()) - 0.03, 0.0], (16, 1))
    lying = Motion("lying", 30.0, motion.joint_rotations, root, motion.skeleton)
    skin = deformer.animate(identity, lying, {"ground": np.array(1.0)}).vertices
    assert skin[:, :, 1].min() > -2e-3
    assert np.abs(skin[-1] - skin[-2]).max() < 1e-4
