"""The neural network within the evaluation of dynamics: the same split, components and frames."""

from collections.abc import Callable
from typing import Any

import numpy as np

from corporeal.dynamics.neural.training.recurrent import (
    RecurrentTraining,
    predict_samples,
    train_recurrent,
)
from corporeal.dynamics.neural.training.samples import Sample, take_features
from corporeal.pipelines.evaluate_dynamics import Bench, EvaluateDynamicsConfig, Predictions


def predicted_by_network(
    bench: Bench, config: EvaluateDynamicsConfig, tell: Callable[[str], None]
) -> tuple[Predictions, dict[str, Any]]:
    """Predictions of all test takes by a network that is trained and stopped by case 0 alone."""
    samples = bench_samples(bench)
    learned = [n for n, case in enumerate(bench.cases) if case == 0]
    stop = {n for place, n in enumerate(learned) if place % 6 == 3}
    settings = RecurrentTraining(
        steps=config.steps, width=96, oscillators=64, hidden=96, batch=12, weight_decay=3e-2,
        check_every=max(50, config.steps // 20), seed=config.seed,
    )  # fmt: skip
    trained = train_recurrent(
        [samples[n] for n in learned if n not in stop],
        [samples[n] for n in sorted(stop)],
        settings,
        lambda step, here, there: tell(
            f"  {step}: not explained {here['dynamic']:.3f} ({there['dynamic']:.3f} of those it "
            f"is stopped by)"
        ),
    )
    tested = [n for n, case in enumerate(bench.cases) if case]
    rows = predict_samples(trained, [samples[n] for n in tested])
    found = {n: row.astype(np.float64) for n, row in zip(tested, rows, strict=True)}
    return found, {"curve": [[step, a["dynamic"], b["dynamic"]] for step, a, b in trained.curve]}


def bench_samples(bench: Bench) -> list[Sample]:
    """Every take as a network sees it, with coefficients of the bench's components."""
    made = []
    for n, take in enumerate(bench.offsets.takes):
        movement, pose, person = take_features(take, bench.held, bench.static)
        dynamic = bench.deltas(n).astype(np.float32)
        none = np.zeros((len(dynamic), 0), np.float32)
        made.append(
            Sample(take.subject, take.sequence, take.fps, movement, pose, person, dynamic, none)
        )
    return made
