"""What `neural_splits.py judge` does: linear predictors of every split, joined and evaluated.

Models: `dmpl` is the autoregression of DMPL, `loads` the mean of that and of predictors from what
pushes flesh; of every kind of networks, `networks` are these alone, `mean` half of `loads` and half
of `networks`, `neural` their mixture, whose share was found on the other splits, coefficient by
coefficient, as in use.
"""

import json
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit
from neural_splits import KEPT, load, split_cases

KINDS = ("long", "whole", "decay")
"""Networks: 4 500 updates, 1 500, and 1 500 with more decay of the weights."""
RIDGES = (0.3, 1.0, 3.0)
SHRINKAGE = 0.1


def judge(takes: Path, out: Path) -> None:
    """All figures of all splits, into `out`/splits.json."""
    from corporeal.pipelines.dynamics_bench import Bench

    bench = Bench.everything(takes, 60)
    names = [(take.subject, take.sequence) for take in bench.takes]
    genders = bench.people.genders or {}
    cases = split_cases(names, dict(bench.people.indices), dict(genders))
    linear = [of_split(bench, out, k, own) for k, own in enumerate(cases)]
    dmpl, loads = (
        {(k, n): rows[n][place] for k, rows in enumerate(linear) for n in rows} for place in (0, 1)
    )
    static = dict.fromkeys(dmpl)
    record: dict[str, Any] = {
        "command": "python benchmarks/neural_splits.py judge dyna.packed.npz --out splits",
        "commit": commit(),
        "takes": len(bench.takes),
        "people": {p: round(bench.people.indices[p], 1) for p in dict(names)},
        "coefficients": 60,
        "explained": round(bench.explained, 4),
        "models": {
            name: table(bench, cases, rows)
            for name, rows in (("static", static), ("dmpl", dmpl), ("loads", loads))
        },
        "paired_with_dmpl": {"loads": paired(bench, cases, loads, dmpl)},
    }
    for kind in KINDS:
        if (out / f"{kind}.npz").is_file():
            record[kind] = of_kind(bench, cases, linear, dmpl, kind, out)
            print(kind, json.dumps(record[kind]["paired_with_dmpl"]), flush=True)
        (out / "splits.json").write_text(json.dumps(record, indent=1) + "\n")


def of_kind(
    bench: Any,
    cases: list[list[int]],
    linear: list[dict[int, tuple[Any, Any]]],
    dmpl: dict[tuple[int, int], Any],
    kind: str,
    out: Path,
) -> dict[str, Any]:
    """What the networks of one kind bring: alone, averaged with the linear half, and mixed."""
    from corporeal.pipelines.evaluate_neural import bench_samples

    samples = bench_samples(bench)
    found = []
    for k, rows in enumerate(linear):
        runs = by_networks(out / f"{kind}.npz", k, [samples[n] for n in rows])
        found.append({n: (rows[n][1], run) for n, run in zip(rows, runs, strict=True)})
    shares = [
        share_of([rows for j, rows in enumerate(found) if j != k], bench) for k in range(len(found))
    ]
    models: dict[str, dict[tuple[int, int], Any]] = {"networks": {}, "mean": {}, "neural": {}}
    for k, (rows, share) in enumerate(zip(found, shares, strict=True)):
        for n, (loads, networks) in rows.items():
            for name, s in (("networks", 0.0), ("mean", 0.5), ("neural", share)):
                models[name][k, n] = mixed(loads, networks, s)
    np.save(out / f"share_{kind}.npy", np.concatenate([share_of(found, bench), np.ones(60 - KEPT)]))
    return {
        "share_of_linear": [round(float(np.mean(s)), 3) for s in shares],
        "models": {name: table(bench, cases, rows) for name, rows in models.items()},
        "paired_with_dmpl": {
            name: paired(bench, cases, rows, dmpl) for name, rows in models.items()
        },
    }


def of_split(bench: Any, out: Path, k: int, cases: list[int]) -> dict[int, tuple[Any, Any]]:
    """Of every take that split k leaves out: DMPL's coefficients, and the linear half's."""
    from corporeal.dynamics.control_vector import driving_names
    from corporeal.dynamics.neural.training.hybrid import (
        Build,
        HybridTraining,
        linear_predictors,
        run_linear,
    )
    from corporeal.dynamics.neural.training.load_predictors import Loads
    from corporeal.dynamics.skin_loads import skin_loads
    from corporeal.pipelines.evaluate_neural import bench_samples, mirrored_samples

    samples = bench_samples(bench)
    learned = [s for s, case in zip(samples, cases, strict=True) if not case]
    tested = [n for n, case in enumerate(cases) if case]
    new = [samples[n] for n in tested]
    kept = out / f"linear_{k}.npz"
    if not kept.is_file():
        every = [*learned, *mirrored_samples(bench, learned)]
        joints = driving_names(bench.static.template.skeleton, "bones")
        linear = chosen(bench, every, joints)
        people = {s.subject: bench.bodies[s.subject] for s in learned}
        loads = Loads(skin_loads(bench.static.template, bench.shapes, people))
        made = []
        for rows in (None, loads):
            build = Build(bench.people.indices, bench.people.genders, rows)
            found = linear_predictors(every, build, joints, HybridTraining(linear=linear))
            made.append(run_linear(found, every, new, build))
        arrays = {f"{n}/{name}": run.astype(np.float32)
                  for name, runs in zip(("dmpl", "loads"), made, strict=True)
                  for n, run in zip(tested, runs, strict=True)}  # fmt: skip
        np.savez(kept, **arrays)
        print(f"split {k}: ridge {linear.ridge.strength}, width {linear.kernel_width}", flush=True)
    with np.load(kept) as file:
        return {n: (file[f"{n}/dmpl"].astype(float), file[f"{n}/loads"].astype(float))
                for n in tested}  # fmt: skip


def chosen(bench: Any, every: list[Any], joints: tuple[str, ...]) -> Any:
    """Ridge and width that predict people best who are left out of a split's training."""
    from corporeal.dynamics.autoregression import Ridge
    from corporeal.dynamics.neural.training.hybrid import coded_samples
    from corporeal.dynamics.training import DynamicsTraining
    from corporeal.evaluation.dynamics_cases import chosen_settings

    usual = DynamicsTraining(count=60, ridge=Ridge(2))
    return chosen_settings(coded_samples(every), joints, bench.people, usual, RIDGES)[0]


def by_networks(path: Path, k: int, new: list[Any]) -> list[Any]:
    """The mean of a split's two networks."""
    from corporeal.dynamics.neural.training.recurrent import predict_samples

    runs = [predict_samples(one, new) for one in load(path)[2 * k : 2 * k + 2]]
    return [np.mean(rows, axis=0).astype(np.float64) for rows in zip(*runs, strict=True)]


def mixed(loads: Any, networks: Any, share: Any) -> Any:
    """s of the linear half in coefficients that networks predict."""
    made = loads.copy()
    made[:, :KEPT] = share * loads[:, :KEPT] + (1 - share) * networks
    return made


def share_of(found: list[dict[int, tuple[Any, ...]]], bench: Any) -> Any:
    """s within 0 to 1 of the least squares on what was left out (`training.hybrid`)."""
    from corporeal.dynamics.neural.training.hybrid import least_squares

    halves = []
    for rows in found:
        for n, (loads, networks) in rows.items():
            true = bench.deltas(n)[:, :KEPT]
            worth = max(float(np.mean(np.sum(true**2, axis=1))), 1e-12) ** -0.25
            halves.append((worth * true, worth * loads[:, :KEPT], worth * networks))
    return least_squares(halves, SHRINKAGE)


def table(bench: Any, cases: list[list[int]], rows: dict[tuple[int, int], Any]) -> dict[str, Any]:
    """Errors of every case over all splits, of all vertices and by region."""
    made: dict[str, Any] = {}
    for case in range(1, 5):
        which = [(k, n) for k, n in rows if cases[k][n] == case]
        made[str(case)] = {"takes": len(which)}
        for name in ("", *bench.regions):
            errors = np.array([bench.errors(n, rows[k, n], name) for k, n in which]).mean(axis=0)
            static, oracle, model = (float(value) for value in errors)
            made[str(case)][name or "all"] = {
                "static_mm": round(static, 3), "oracle_mm": round(oracle, 3),
                "model_mm": round(model, 3),
                "closed": round((static - model) / max(static - oracle, 1e-9), 4),
            }  # fmt: skip
    return made


def paired(
    bench: Any, cases: list[list[int]], rows: dict[tuple[int, int], Any], others: Any
) -> dict[str, Any]:
    """Errors over another model's, take by take."""
    made = {}
    for case in range(1, 5):
        which = [(k, n) for k, n in rows if cases[k][n] == case]
        ratio = np.array([
            bench.errors(n, rows[k, n])[2] / bench.errors(n, others[k, n])[2] for k, n in which
        ])  # fmt: skip
        made[str(case)] = {
            "takes": len(which),
            "better_in": int((ratio < 1).sum()),
            "mean_ratio": round(float(ratio.mean()), 4),
            "standard_error": round(float(ratio.std(ddof=1) / np.sqrt(len(ratio))), 4),
        }
    return made
