"""The neural network within the evaluation of dynamics: the same split, components and frames."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from corporeal.dynamics.autoregression import Ridge
from corporeal.dynamics.control_vector import driving_names
from corporeal.dynamics.mirror import mirrored_movement, mirrored_posture
from corporeal.dynamics.neural.features import clip_features
from corporeal.dynamics.neural.person import Tissue, person_numbers
from corporeal.dynamics.neural.training.hybrid import (
    Build,
    HybridTraining,
    TrainedHybrid,
    coded_samples,
    predict_hybrid,
    train_hybrid,
)
from corporeal.dynamics.neural.training.load_predictors import Loads
from corporeal.dynamics.neural.training.recurrent import RecurrentTraining
from corporeal.dynamics.neural.training.samples import Sample
from corporeal.dynamics.skin_loads import skin_loads
from corporeal.dynamics.training import DynamicsTraining, motion_of
from corporeal.evaluation.dynamics_cases import chosen_settings
from corporeal.pipelines.dynamics_bench import Bench, Predictions
from corporeal.pipelines.evaluate_dynamics import EvaluateDynamicsConfig


def predicted_by_network(
    bench: Bench, config: EvaluateDynamicsConfig, tell: Callable[[str], None]
) -> tuple[dict[str, Predictions], dict[str, Any]]:
    """Predictions of all test takes by a network that is trained by case 0 alone: whole, and of
    its networks without the linear predictors."""
    samples = bench_samples(bench)
    learned = [samples[n] for n in bench.learned]
    settings = RecurrentTraining(
        steps=config.steps, check_every=max(50, config.steps // 10), seed=config.seed
    )
    trained, report = train_on(bench, learned, HybridTraining(network=settings), tell)
    new = [samples[n] for n in bench.tested]
    build = Build(bench.people.indices, bench.people.genders)
    found = {"neural": _predictions(bench, predict_hybrid(trained, new, build))}
    apart = networks_alone(trained)
    found["neural without linear predictors"] = _predictions(
        bench, predict_hybrid(apart, new, build)
    )
    return found, report


def train_on(
    bench: Bench,
    learned: list[Sample],
    settings: HybridTraining,
    tell: Callable[[str], None],
    linear: DynamicsTraining | None = None,
) -> tuple[TrainedHybrid, dict[str, Any]]:
    """The hybrid of some samples and their mirror images; ridge and kernel width of the `linear`
    predictors are those that predict people best who are left out, if None."""
    every = [*learned, *mirrored_samples(bench, learned)]
    skeleton = bench.static.template.skeleton
    names = driving_names(skeleton, "bones")
    best, tried = linear, []
    if best is None:
        usual = DynamicsTraining(count=learned[0].dynamic.shape[1], ridge=Ridge(2))
        best, tried = chosen_settings(coded_samples(every), names, bench.people, usual)
    bodies = {sample.subject: bench.bodies[sample.subject] for sample in learned}
    loads = Loads(skin_loads(bench.static.template, bench.shapes, bodies))
    build = Build(bench.people.indices, bench.people.genders, loads)
    trained = train_hybrid(every, build, names, replace(settings, linear=best), tell)
    return trained, {
        **trained.report,
        "ridge": best.ridge.strength,
        "kernel_width": best.kernel_width,
        "left_out_people": tried,
        "curve": [[step, here["dynamic"]] for step, here, _ in trained.network.curve],
    }


def networks_alone(trained: TrainedHybrid) -> TrainedHybrid:
    """Without the linear predictors' part: members' mean alone."""
    parameters = dict(trained.network.parameters)
    mix = parameters["member_mix"]
    count = mix.shape[1]
    members = mix.shape[0] // count
    parameters["member_mix"] = np.tile(np.eye(count, dtype=np.float32) / members, (members, 1))
    parameters["expert_share"] = np.zeros_like(parameters["expert_share"])
    return replace(trained, network=replace(trained.network, parameters=parameters))


def bench_samples(bench: Bench) -> list[Sample]:
    """Every take as a network sees it, with coefficients of the bench's components."""
    skeleton = bench.static.template.skeleton
    made = []
    for n, take in enumerate(bench.takes):
        assert take.truth is not None
        who = bench.bodies[take.subject]
        movement, pose = clip_features(motion_of(take, skeleton), np.asarray(who.joints))
        tissue = Tissue.from_materials(take.truth.materials)
        dynamic = bench.deltas(n).astype(np.float32)
        made.append(
            Sample(
                take.subject, take.sequence, take.fps, movement.astype(np.float32),
                pose.astype(np.float32), person_numbers(np.asarray(who.rest_vertices), tissue),
                dynamic, np.zeros((len(dynamic), 0), np.float32),
            )
        )  # fmt: skip
    return made


def mirrored_samples(bench: Bench, samples: list[Sample]) -> list[Sample]:
    """What the same people would have done with left and right exchanged."""
    names = bench.static.template.skeleton.names
    movement, posture = mirrored_movement(names), mirrored_posture(names)
    return [
        replace(
            sample,
            movement=movement.of(sample.movement),
            pose=posture.of(sample.pose),
            dynamic=(sample.dynamic * bench.parity).astype(np.float32),
        )
        for sample in samples
    ]


def _predictions(bench: Bench, rows: list[Any]) -> Predictions:
    return {n: np.asarray(row, np.float64) for n, row in zip(bench.tested, rows, strict=True)}
