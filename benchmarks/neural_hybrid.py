"""The network that ships, chosen within the training people and tried once on others.

    python benchmarks/neural_hybrid.py dyna.packed.npz dyna_test.packed.npz --out hybrid
    python benchmarks/neural_hybrid.py dyna.packed.npz dyna_test.packed.npz --choose-only

Settings of networks are tried on people and motions of the training set that are left out in turn;
what predicts them best is trained on all training takes and evaluated in the four cases beside
AR(2). Every stage writes its results, and a second call goes on where the first one stopped. Needs
optax; a GPU takes some minutes.
"""

import argparse
import json
import time
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

CANDIDATES: dict[str, dict[str, Any]] = {
    "small": {"steps": 1500},
    "small, more decay": {"steps": 1500, "weight_decay": 0.1},
    "small, long": {"steps": 4000},
    "wide": {"steps": 1500, "width": 96, "oscillators": 64, "hidden": 96},
    "person less": {"steps": 1500, "person_noise": 1.0},
    "more stretch": {"steps": 1500, "stretch": 0.3, "loudness": 0.6},
    "smaller": {"steps": 1500, "width": 32, "oscillators": 32, "hidden": 24, "weight_decay": 0.1},
}
"""What is changed of the default settings."""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("learn", type=Path, help="packed movements of training people")
    parser.add_argument("test", type=Path, help="packed movements of test people")
    parser.add_argument("--count", type=int, default=60, help="dynamic coefficients")
    parser.add_argument("--members", type=int, default=4)
    parser.add_argument("--candidates", nargs="*", default=list(CANDIDATES))
    parser.add_argument("--steps", type=int, default=0, help="updates of all candidates, if any")
    parser.add_argument("--minutes", type=float, default=0.0, help="no new candidate after these")
    parser.add_argument("--choose-only", action="store_true", help="do not look at test people")
    parser.add_argument("--autoregression-only", action="store_true", help="AR(2) alone, kept")
    parser.add_argument("--out", type=Path, default=Path("neural_hybrid"))
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    run(arguments)


def run(arguments: argparse.Namespace) -> None:
    """Choose, then evaluate."""
    from corporeal.dynamics.neural.training.hybrid import Build, HybridTraining
    from corporeal.pipelines.dynamics_bench import Bench
    from corporeal.pipelines.evaluate_dynamics import EvaluateDynamicsConfig
    from corporeal.pipelines.evaluate_neural import bench_samples

    begun = time.monotonic()
    bench = Bench.read(
        arguments.test, arguments.learn, (), EvaluateDynamicsConfig.motions, arguments.count
    )
    if arguments.autoregression_only:
        autoregressions(arguments, bench)
        return
    samples = bench_samples(bench)
    print(f"{len(samples)} takes, {len(bench.learned)} to learn from, "
          f"{time.monotonic() - begun:.0f} s", flush=True)  # fmt: skip
    build = Build(bench.people.indices, bench.people.genders)
    base = HybridTraining(members=arguments.members)
    chosen_file = arguments.out / "chosen.json"
    linear = linear_settings(arguments, bench, samples)
    base = replace(base, linear=linear)
    tried = choose(arguments, bench, samples, build, base, begun)
    best = min(tried, key=lambda name: tried[name]["mixture"])
    given = dict(CANDIDATES[best])
    if arguments.steps:
        given["steps"] = arguments.steps
    told = {"ridge": linear.ridge.strength, "kernel_width": linear.kernel_width}
    chosen_file.write_text(json.dumps(given | {"linear": told}, indent=1) + "\n")
    print(f"chosen: {best} {tried[best]}", flush=True)
    if not arguments.choose_only and not (arguments.out / "cases.json").is_file():
        settings = replace(base, network=replace(base.network, **given))
        evaluate(arguments, bench, samples, build, settings, {"chosen": best, "tried": tried})


def linear_settings(arguments: argparse.Namespace, bench: Any, samples: Any) -> Any:
    """Of the linear half: the ridge and width that predict left-out training people best."""
    from corporeal.dynamics.autoregression import Ridge
    from corporeal.dynamics.control_vector import driving_names
    from corporeal.dynamics.neural.training.hybrid import coded_samples
    from corporeal.dynamics.training import DynamicsTraining
    from corporeal.evaluation.dynamics_cases import chosen_settings
    from corporeal.pipelines.evaluate_neural import mirrored_samples

    path = arguments.out / "linear.json"
    usual = DynamicsTraining(count=arguments.count, ridge=Ridge(2))
    if path.is_file():
        told = json.loads(path.read_text())
        ridge = Ridge(2, told["ridge"])
        return replace(usual, ridge=ridge, kernel_width=told["kernel_width"])
    learned = [samples[n] for n in bench.learned]
    every = coded_samples([*learned, *mirrored_samples(bench, learned)])
    names = driving_names(bench.static.template.skeleton, "bones")
    best, tried = chosen_settings(every, names, bench.people, usual)
    told = {"ridge": best.ridge.strength, "kernel_width": best.kernel_width, "tried": tried}
    path.write_text(json.dumps(told, indent=1) + "\n")
    return best


def autoregressions(arguments: argparse.Namespace, bench: Any) -> dict[int, Any]:
    """AR(2) of all test takes, kept in a file."""
    from corporeal.dynamics.autoregression import Ridge
    from corporeal.dynamics.training import DynamicsTraining
    from corporeal.pipelines.evaluate_dynamics import autoregression

    path = arguments.out / "autoregression.npz"
    if not path.is_file():
        found, _ = autoregression(bench, DynamicsTraining(count=arguments.count, ridge=Ridge(2)))
        np.savez(path, **{str(n): rows for n, rows in found.items()})
    with np.load(path) as file:
        return {int(n): file[n] for n in file.files}


def choose(
    arguments: argparse.Namespace, bench: Any, samples: Any, build: Any, base: Any, begun: float
) -> dict[str, Any]:
    """Errors of all candidates on what is left out of the training takes in turn."""
    from corporeal.dynamics.control_vector import driving_names
    from corporeal.dynamics.neural.training.hybrid import found_share
    from corporeal.pipelines.evaluate_neural import mirrored_samples

    path = arguments.out / "candidates.json"
    tried: dict[str, Any] = json.loads(path.read_text()) if path.is_file() else {}
    learned = [samples[n] for n in bench.learned]
    every = [*learned, *mirrored_samples(bench, learned)]
    names = driving_names(bench.static.template.skeleton, "bones")
    for name in arguments.candidates:
        late = arguments.minutes and time.monotonic() - begun > 60 * arguments.minutes
        if name in tried or (late and tried):
            continue
        given = dict(CANDIDATES[name])
        if arguments.steps:
            given["steps"] = arguments.steps
        settings = replace(base, network=replace(base.network, **given))
        first = time.monotonic()
        _, report = found_share(every, build, names, settings, lambda _words: None)
        tried[name] = {**report["left_out"], "seconds": round(time.monotonic() - first, 1)}
        print(name, tried[name], flush=True)
        path.write_text(json.dumps(tried, indent=1) + "\n")
    return tried


def evaluate(
    arguments: argparse.Namespace, bench: Any, samples: Any, build: Any, settings: Any,
    record: dict[str, Any],
) -> None:  # fmt: skip
    """The four cases, once."""
    from corporeal.dynamics.neural.training.hybrid import predict_hybrid
    from corporeal.pipelines.evaluate_dynamics import paired
    from corporeal.pipelines.evaluate_neural import networks_alone, train_on
    from corporeal.pipelines.vertical_motion import vertical_matches

    models = {"AR(2)": autoregressions(arguments, bench)}
    learned = [samples[n] for n in bench.learned]
    first = time.monotonic()
    trained, told = train_on(
        bench, learned, settings, lambda words: print(words, flush=True), settings.linear
    )
    record["training_s"] = round(time.monotonic() - first, 1)
    new = [samples[n] for n in bench.tested]
    for name, one in (("neural", trained), ("networks alone", networks_alone(trained))):
        rows = predict_hybrid(one, new, build)
        models[name] = {
            n: np.asarray(r, np.float64) for n, r in zip(bench.tested, rows, strict=True)
        }
    for name, found in models.items():
        print(name, bench.closed(found), flush=True)
    record |= {
        "commit": commit(),
        "test_people": {name: round(bench.people.indices[name], 1) for name in bench.test_people},
        "cases": {str(case): bench.cases.count(case) for case in range(5)},
        "coefficients": arguments.count,
        "explained": round(bench.explained, 4),
        "settings": asdict(settings.network) | {"members": settings.members},
        "training": told,
        "models": {name: bench.summary(found) for name, found in models.items()},
        "paired": {name: paired(bench, models[name], models["AR(2)"])
                   for name in ("neural", "networks alone")},
        "vertical": {name: vertical_matches(bench, found) for name, found in models.items()},
    }  # fmt: skip
    (arguments.out / "cases.json").write_text(json.dumps(record, indent=1) + "\n")
    print(json.dumps(record["paired"], indent=1), flush=True)


if __name__ == "__main__":
    main()
