"""Linear predictors and networks joined in one: it is what its parts are, at any rate."""

import numpy as np
import pytest
from dynamics_models import small_hybrid, small_predictors
from synthetic import arm_template

from corporeal.assets.default_body import load_default_body
from corporeal.assets.learned_neural import packed_neural
from corporeal.body.neural_flesh import Experts
from corporeal.dynamics.autoregression import Fitted, Ridge, free_run
from corporeal.dynamics.mixture import people_shares
from corporeal.dynamics.neural import network
from corporeal.dynamics.neural.ensemble import joined_members
from corporeal.dynamics.neural.experts import expert_parameters
from corporeal.dynamics.neural.features import MOVEMENT_SIZE, POSE_SIZE
from corporeal.dynamics.neural.model import NeuralModel, expert_shares
from corporeal.dynamics.neural.person import PERSON_SIZE
from corporeal.dynamics.training import DynamicsTraining
from corporeal.errors import InputError
from corporeal.formats.neural import read_neural, write_neural

TEMPLATE = load_default_body().template
COUNT, PEOPLE = 3, 2


def alone(history: np.ndarray | None = None, inputs: np.ndarray | None = None):
    """Predictors of bones, and a network in which they are all there is."""
    predictors = small_predictors(TEMPLATE.skeleton, COUNT, PEOPLE, controls="bones")
    if history is not None:
        predictors = small_predictors(
            TEMPLATE.skeleton, COUNT, PEOPLE, controls="bones", history=history
        )
    given = network.initial_parameters(0, PERSON_SIZE, COUNT, 0, width=8, oscillators=4, hidden=6)
    parts = expert_parameters(
        predictors, np.zeros((PEOPLE, 2)), np.array([0.3, 0.2]), np.ones(COUNT)
    )
    joined = joined_members([given], np.zeros(COUNT))
    return predictors, joined | parts


def movement(frames: int) -> np.ndarray:
    """Small movements, within the linear range."""
    return 0.02 * np.random.default_rng(3).standard_normal((frames, MOVEMENT_SIZE))


def played(parameters, person: np.ndarray, rows: np.ndarray, seconds: float) -> np.ndarray:
    """Frame by frame, with poses at rest."""
    states = [(np.zeros(n), np.zeros(n)) for n in network.bank_sizes(parameters)]
    found = []
    for row in rows:
        kept = []

        def remember(layer, bank, drive, kept=kept, states=states):
            from corporeal.dynamics.neural.recurrence import advance

            kept.append(advance(bank, states[layer], drive))
            return kept[-1]

        banks = network.layer_poles(parameters, person, seconds)
        z = network.dynamic_coefficients(
            parameters, row, np.zeros(POSE_SIZE), person, banks, remember
        )
        states = kept
        found.append(z)
    return np.stack(found)


@pytest.mark.parametrize(
    "history",
    [None, np.array([[[1.2] * 3, [-0.36] * 3]] * 2), np.zeros((2, 2, 3))],
    ids=["swings", "double real poles", "no memory"],
)
def test_experts_are_the_autoregression_at_its_own_rate(history):
    """Eq. 20 run free, for every person, to single precision; a double real pole r is opened to
    r e^{±0.02i}, which changes the answer by less than a hundredth."""
    predictors, parameters = alone(history)
    rows = movement(90)
    for j in range(PEOPLE):
        person = np.concatenate([np.zeros(PERSON_SIZE), np.eye(PEOPLE)[j]])
        found = played(parameters, person, rows, 1 / 60)
        fitted = Fitted(predictors.inputs[j], predictors.history[j], np.zeros(COUNT))
        expected = free_run(fitted, np.clip(rows, -predictors.limits, predictors.limits))
        size = np.abs(expected).max()
        double = history is not None and history.any()
        np.testing.assert_allclose(found, expected, atol=(1e-2 if double else 3e-5) * size)


def test_experts_are_the_same_flesh_at_any_rate():
    """A push that lasts leads to the same coefficients at 24, 60 and 240 frames a second: the
    fixed point of a constant input is q/(1 − p) = α/(α − iω), whatever the step."""
    _, parameters = alone()
    person = np.concatenate([np.zeros(PERSON_SIZE), [0.5, 0.5]])
    push = 0.02 * np.random.default_rng(4).standard_normal(MOVEMENT_SIZE)
    last = [
        played(parameters, person, np.repeat(push[None], int(3 * fps), axis=0), 1 / fps)[-1]
        for fps in (24.0, 60.0, 240.0)
    ]
    np.testing.assert_allclose(last[0], last[1], rtol=1e-4)
    np.testing.assert_allclose(last[2], last[1], rtol=1e-4)


def test_stiffer_flesh_swings_faster_and_less():
    """s² times the modulus, s times the speed: the answer to accelerations s² times as large,
    frames s times as close, is the same."""
    _, parameters = alone()
    usual = np.concatenate([np.zeros(PERSON_SIZE), [1.0, 0.0]])
    stiff, s = usual.copy(), 1.2
    stiff[10] = 2 * np.log(s) / 0.3
    rows = 0.1 * movement(60)
    expected = played(parameters, usual, rows, 1 / 60)
    found = played(parameters, stiff, s**2 * rows, 1 / 60 / s)
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


def test_people_are_mixed_as_in_the_autoregression():
    """α_j e^{κ (a − a_j)} of eq. 21, with the other sex left out."""
    experts = Experts(np.array([20.0, 25.0, 30.0]), np.array([0.0, 0.0, 1.0]), 2.0, 0.05)
    alpha, sizes = people_shares(experts.body_mass_indices, experts.genders, 2.0, 0.05, 24.0, 0.0)
    found = expert_shares(experts, 24.0, 0.0)
    np.testing.assert_allclose(found, alpha * sizes)
    weights = np.exp([-4 / 2, -1 / 2])
    np.testing.assert_allclose(alpha[:2], weights / weights.sum(), rtol=1e-6)
    np.testing.assert_allclose(sizes, np.exp(0.05 * (24 - np.array([20.0, 25.0, 30.0]))))
    assert alpha[2] < 1e-6


def test_members_joined_are_their_mean():
    """Block-diagonal matrices give every member's answer, and `part` times their mean."""
    members = [
        network.initial_parameters(n, PERSON_SIZE, COUNT, 0, width=8, oscillators=4, hidden=6)
        for n in range(3)
    ]
    for n, member in enumerate(members):
        member["person_size"] = np.full((PERSON_SIZE, 1), 0.01 * n, np.float32)
    part = np.array([1.0, 0.5, 0.0])
    joined = joined_members(members, part)
    network.require_layout(joined, PERSON_SIZE)
    person, rows = np.linspace(-1, 1, PERSON_SIZE), 50 * movement(20)
    each = [played(member, person, rows, 1 / 60) for member in members]
    found = played(joined, person, rows, 1 / 60)
    np.testing.assert_allclose(found, part * np.mean(each, axis=0), atol=1e-6)


def test_a_file_and_the_asset_keep_experts(tmp_path):
    """Arrays and people come back; one without the other is refused."""
    trained = small_hybrid(arm_template())
    write_neural(tmp_path / "h.npz", trained)
    again = read_neural(tmp_path / "h.npz")
    assert again.experts is not None
    assert trained.experts is not None
    np.testing.assert_array_equal(
        again.experts.body_mass_indices, trained.experts.body_mass_indices
    )
    np.testing.assert_array_equal(again.parameters["expert_in"], trained.parameters["expert_in"])
    stored = packed_neural(trained)
    assert stored["weights_expert_in"].dtype == np.float32
    from dataclasses import replace

    with pytest.raises(InputError, match="without their people"):
        replace(trained, experts=None)
    with pytest.raises(InputError, match="body mass"):
        NeuralModel(trained).person(np.asarray(TEMPLATE.mesh.vertices))
    short = {**trained.parameters, "expert_skip": np.zeros(1, np.float32)}
    with pytest.raises(InputError, match="expert_skip"):
        NeuralModel(replace(trained, parameters=short))


def test_training_finds_a_share_and_what_was_planted():
    """Flesh that is linear: the linear half predicts what was left out, so its share is larger,
    and new movements of a known person are predicted by the joined network."""
    pytest.importorskip("optax")
    from corporeal.dynamics.control_vector import driving_names
    from corporeal.dynamics.neural.training.hybrid import (
        Build,
        HybridTraining,
        predict_hybrid,
        train_hybrid,
    )
    from corporeal.dynamics.neural.training.recurrent import RecurrentTraining
    from corporeal.dynamics.neural.training.samples import Sample

    random = np.random.default_rng(1)
    true = small_predictors(TEMPLATE.skeleton, COUNT, 4, controls="bones", frequencies=(3.0, 5.0))
    inputs = np.repeat(np.asarray(true.inputs[:1]), 4, axis=0)
    samples = []
    for j in range(4):
        for n in range(6):
            slow = np.cumsum(random.standard_normal((150, MOVEMENT_SIZE)), axis=0)
            felt = 0.3 * (slow - np.linspace(0, 1, 150)[:, None] * slow[-1]) / 10
            fitted = Fitted(inputs[j], true.history[j], np.zeros(COUNT))
            deltas = free_run(fitted, felt)
            samples.append(
                Sample(
                    f"p{j}", f"m{n}", 60.0, felt.astype(np.float32),
                    np.zeros((150, POSE_SIZE), np.float32),
                    np.concatenate([[0.1 * j], np.zeros(PERSON_SIZE - 1)]),
                    deltas.astype(np.float32), np.zeros((150, 0), np.float32),
                )
            )  # fmt: skip
    build = Build({f"p{j}": 20.0 + 3 * j for j in range(4)}, None)
    small = RecurrentTraining(steps=6, batch=2, width=8, oscillators=6, hidden=6, check_every=3)
    names = driving_names(TEMPLATE.skeleton, "bones")
    linear = DynamicsTraining(count=COUNT, ridge=Ridge(2, 0.01))
    settings = HybridTraining(network=small, linear=linear, members=2, folds=2, shrinkage=1e-3)
    learned = [s for s in samples if s.sequence != "m5"]
    trained = train_hybrid(learned, build, names, settings)
    assert trained.share.min() > 0.9
    new = [s for s in samples if s.sequence == "m5"]
    for sample, rows in zip(new, predict_hybrid(trained, new, build), strict=True):
        left = np.linalg.norm(rows - sample.dynamic) / np.linalg.norm(sample.dynamic)
        assert left < 0.6


def test_few_people_and_motions_leave_no_group_empty():
    """Two people in two motions make two groups of three that were asked for; a single motion
    makes none, since nothing would be left to learn from."""
    pytest.importorskip("optax")
    from corporeal.dynamics.neural.training.hybrid import Build, left_out
    from corporeal.dynamics.neural.training.samples import Sample

    def sample(who: str, what: str) -> Sample:
        zeros = np.zeros((3, 1), np.float32)
        return Sample(who, what, 60.0, zeros, zeros, np.zeros(1), zeros, zeros)

    build = Build({"a": 22.0, "b": 30.0}, None)
    four = [sample(who, what) for who in "ab" for what in ("jump", "run")]
    judged = left_out(four, build, 3)
    assert judged.tolist() == [[True, False, True, False], [False, True, False, True]]
    assert len(left_out([sample(who, "jump") for who in "ab"], build, 3)) == 0


def test_the_trainer_gives_a_model_that_moves_a_body():
    """From takes with twins to a deformer: two people, three motions, one held out; what is said
    to be left is less than everything, and a still body has its static shape exactly."""
    pytest.importorskip("optax")
    from corporeal.body.motion import Motion
    from corporeal.body.pose import Pose
    from corporeal.body.registrations import Registrations, Subject, Take, Truth, Twin
    from corporeal.dynamics.control_vector import bone_controls, driving_names
    from corporeal.dynamics.neural.deformer import NeuralSkinning
    from corporeal.dynamics.neural.train import NeuralTrainer
    from corporeal.dynamics.neural.training.recurrent import RecurrentTraining
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.models.smpl.shipped import SmplSkinning

    body, random = PhenotypeModel(), np.random.default_rng(0)
    base, skeleton = SmplSkinning(TEMPLATE), TEMPLATE.skeleton
    vertices = np.asarray(TEMPLATE.mesh.vertices)
    bump = np.exp(-np.sum((vertices - vertices[5000]) ** 2, axis=1) / 0.01)
    names, times = driving_names(skeleton, "bones"), np.arange(50)[:, None, None] / 60
    people = {f"p{n}": body.prepare({"weight": 0.4 + 0.3 * n}) for n in range(2)}
    takes = []
    for name, who in people.items():
        for motion in range(3):
            waves = random.normal(0, 0.2, (1, skeleton.joint_count, 3)) * np.sin(
                2 * np.pi * (2 + motion) * times
            )
            turns, root = waves.astype(np.float32), 0.05 * waves[:, 0].astype(np.float32)
            clip = Motion("m", 60.0, turns, root, skeleton)
            felt = bone_controls(clip, names, np.asarray(who.joints, np.float64))[:, 1]
            still = np.asarray(base.vertices(who, Pose(turns, root)), np.float32)
            skin = still + (1e-4 * felt[:, None, None] * bump[:, None] * [0, 1, 0])
            truth = Truth(turns, root)
            takes.append(Take(name, f"m{motion}", 60.0, skin.astype(np.float32), truth, "", {},
                              Twin(still)))  # fmt: skip
    held = Registrations(
        "default body", np.asarray(TEMPLATE.mesh.triangles), len(vertices), tuple(takes),
        {name: Subject(name, who) for name, who in people.items()},
    )  # fmt: skip
    small = RecurrentTraining(steps=4, batch=2, width=8, oscillators=6, hidden=6, check_every=4)
    trainer = NeuralTrainer(dynamic_count=2, static_count=0, network=small, members=1, folds=2)
    model, report = trainer.fit(held, base, lambda take: take.sequence == "m2")
    assert 0 < report["left"] < 1
    assert report["held_out"] == ["p0 m2", "p1 m2"]
    assert len(report["share"]) == 2
    deformer, who = NeuralSkinning(TEMPLATE, model), people["p0"]
    flat = np.zeros((3, skeleton.joint_count, 3), np.float32)
    rest = Motion("still", 60.0, flat, flat[:, 0], skeleton)
    assert not deformer.coefficients(who, rest).any()
