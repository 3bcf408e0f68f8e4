"""The four generalisation cases of learned dynamics (Pons-Moll 2015, 6.1), for DMPL.

    python benchmarks/dynamics_models.py --takes dyna.zarr --out results/dynamics_models.json

Components come from training people and motions that are not held out. Case 1 leaves the tested
take out, case 2 tests held-out motions of training people, case 3 known motions of test people,
case 4 held-out motions of test people. `--codes` keeps the coefficients, from which everything else
is computed in seconds.
"""

import argparse
import json
import platform
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from provenance import commit

HELD_OUT = ("one-leg-jump", "running-on-spot", "shake-hips")
REGIONS = {
    "belly": ("belly",),
    "breasts": ("left_breast", "right_breast"),
    "buttocks": ("left_buttock", "right_buttock"),
    "thighs": ("left_thigh", "right_thigh"),
}
GROUPS = {"below 25": (0.0, 25.0), "25 to 30": (25.0, 30.0), "30 and more": (30.0, 1e9)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--takes", type=Path, help="captured movements (.zarr)")
    parser.add_argument("--codes", type=Path, help="coefficients to keep, or to go on from (.npz)")
    parser.add_argument("--codes-only", action="store_true", help="stop when these are written")
    parser.add_argument("--count", type=int, default=60, help="dynamic coefficients")
    parser.add_argument("--held-out", nargs="*", default=HELD_OUT, help="motions held out")
    parser.add_argument("--test-people", nargs="*", default=[], help="people held out, by name")
    parser.add_argument("--ridge", type=float, nargs="*", default=[0.01, 0.1, 1.0])
    parser.add_argument("--out", type=Path, default=Path("dynamics_models.json"))
    arguments = parser.parse_args()
    if arguments.codes is not None and arguments.codes.is_file():
        codes = load(arguments.codes)
    else:
        names = set(arguments.test_people)
        codes = coded(arguments.takes, arguments.count, tuple(arguments.held_out), names)
        if arguments.codes is not None:
            save(arguments.codes, codes)
    if arguments.codes_only:
        return
    result = evaluate(codes, arguments.ridge)
    record = {
        "commit": commit(),
        "machine": platform.processor() or platform.machine(),
        "takes": len(codes["takes"]),
        "subjects": {n: round(float(i), 1) for n, i in codes["indices"].items()},
        "held_out": list(codes["held_out"]),
        "coefficients": int(codes["takes"][0]["deltas"].shape[1]),
        **result,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {arguments.out}")


def coded(
    path: Path, count: int, held_out: tuple[str, ...], test_people: set[str]
) -> dict[str, Any]:
    """Every take as control vectors and coefficients of components that saw no test data."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.dynamics.body_mass import body_mass_index
    from corporeal.dynamics.control_vector import control_vectors, driving_joints
    from corporeal.dynamics.dmpl.train import RestDisplacements, known_genders, known_people
    from corporeal.dynamics.training import (
        DynamicsTraining,
        dynamic_components,
        motion_of,
    )
    from corporeal.models.smpl.shipped import SmplSkinning
    from corporeal.pipelines.dataset import read_dataset

    held = read_dataset(path)
    takes = (replace(t, split="test") if t.subject in test_people else t for t in held.takes)
    held = replace(held, takes=tuple(takes))
    static = SmplSkinning(load_default_body().template)
    people = known_people(held)
    rows = RestDisplacements(static, people, "twin", held)
    seen = [t for t in held.takes if t.split != "test" and t.sequence not in held_out]
    settings = DynamicsTraining(count=count)
    components = dynamic_components(seen, rows, settings)
    basis = components.directions.astype(np.float32)
    skeleton, template = static.template.skeleton, static.template
    names = driving_joints(skeleton)
    takes = []
    for take in held.takes:
        deltas, outside = [], []
        for first in range(0, take.frame_count, 64):
            frames = np.arange(first, min(first + 64, take.frame_count))
            some = rows.rows(take, frames)
            inside = some @ basis.T
            deltas.append(inside)
            outside.append((some**2).sum(axis=1) - (inside**2).sum(axis=1))
        takes.append(
            {
                "subject": take.subject,
                "sequence": take.sequence,
                "split": take.split,
                "controls": control_vectors(motion_of(take, skeleton), names),
                "deltas": np.concatenate(deltas).astype(np.float64),
                "outside": np.concatenate(outside).astype(np.float64),
            }
        )
    triangles = np.asarray(template.mesh.triangles)
    vectors = components.directions.reshape(count, -1, 3)
    labels = np.asarray(template.part_labels)
    vertical = {
        name: vectors[:, np.isin(labels, [template.part_names.index(p) for p in parts]), 1].mean(1)
        for name, parts in REGIONS.items()
    }
    return {
        "takes": takes,
        "indices": {name: body_mass_index(who, triangles) for name, who in people.items()},
        "vertical": vertical,
        "genders": known_genders(held),
        "held_out": held_out,
        "joint_names": names,
        "vertex_count": template.mesh.vertex_count,
        "explained": float(components.explained[-1]),
    }


def evaluate(codes: dict[str, Any], ridges: list[float]) -> dict[str, Any]:
    """All cases for several models."""
    table: dict[str, Any] = {}
    for ridge in ridges:
        for order in (0, 1, 2):
            row = cases(codes, order, ridge, "weighted", 2.0)
            table[f"AR({order}), weighted, ridge {ridge:g}"] = row
            tell(f"AR({order}) weighted ridge {ridge:g}", row)
    best = max(
        ridges,
        key=lambda r: sum(
            row["free"]["closed"] for row in table[f"AR(2), weighted, ridge {r:g}"].values()
        ),
    )
    for risk in ("single", "pooled"):
        row = table[f"AR(2), {risk}, ridge {best:g}"] = cases(codes, 2, best, risk, 2.0)
        tell(f"AR(2) {risk} ridge {best:g}", row)
    for tau in (1e-3, 8.0, np.inf):
        row = table[f"AR(2), weighted, ridge {best:g}, tau {tau:g}"] = cases(
            codes, 2, best, "weighted", tau
        )
        tell(f"AR(2) weighted ridge {best:g} tau {tau:g}", row)
    return {"explained": codes["explained"], "best_ridge": best, "models": table}


def tell(name: str, row: dict[str, Any]) -> None:
    closed = {case: round(found["free"]["closed"], 3) for case, found in row.items()}
    print(f"{name}: {closed}", flush=True)


def cases(
    codes: dict[str, Any], order: int, ridge: float, risk: str, tau: float
) -> dict[str, dict[str, Any]]:
    """Errors of the four cases."""
    from corporeal.dynamics.autoregression import (
        Ridge,
        fit,
        free_run,
        summed,
        take_moments,
        teacher_forced,
    )
    from corporeal.dynamics.equations import mixture_weights
    from corporeal.dynamics.training import person_weights

    takes, indices, held_out = codes["takes"], codes["indices"], codes["held_out"]
    if "moments" not in codes:
        codes["moments"] = [take_moments(t["controls"], t["deltas"]) for t in takes]
    moments, settings = codes["moments"], Ridge(order, ridge)
    training = [
        n for n, t in enumerate(takes) if t["split"] != "test" and t["sequence"] not in held_out
    ]
    subjects = list(dict.fromkeys(takes[n]["subject"] for n in training))

    genders = codes.get("genders")

    def model_of(who: str, without: int | None = None, own: str | None = None) -> Any:
        """Of somebody's body; with sexes known, from people of the same."""
        index = indices[who]
        used = [n for n in training if n != without]
        mine = {s: [moments[n] for n in used if takes[n]["subject"] == s] for s in subjects}
        there = [s for s in subjects if mine[s]]
        if genders is not None and any(genders[s] == genders[who] for s in there):
            there = [s for s in there if genders[s] == genders[who]]
        each = {s: summed(mine[s]) for s in there}
        counts = [each[s].count for s in there]
        people = [own] if own in there else there
        fitted = []
        for person in people:
            weights = person_weights(there.index(person), counts, risk)
            total = summed(each[s].scaled(w) for s, w in zip(there, weights, strict=True) if w > 0)
            fitted.append(fit(total, settings))
        alpha = mixture_weights(index, np.array([indices[p] for p in people]), tau)
        first = fitted[0]
        return replace(
            first,
            inputs=sum(a * f.inputs for a, f in zip(alpha, fitted, strict=True)),
            history=sum(a * f.history for a, f in zip(alpha, fitted, strict=True)),
            constants=sum(a * f.constants for a, f in zip(alpha, fitted, strict=True)),
        )

    found: dict[str, dict[str, Any]] = {}
    known: dict[str, Any] = {}
    for case in ("1", "2", "3", "4"):
        rows = []
        for n, take in enumerate(takes):
            tested, new = take["split"] == "test", take["sequence"] in held_out
            if {"1": (False, False), "2": (False, True), "3": (True, False),
                "4": (True, True)}[case] != (tested, new):  # fmt: skip
                continue
            own = None if tested else take["subject"]
            who = take["subject"]
            if case == "1":
                model = model_of(who, n, own)
            else:
                model = known[who] = known.get(who) or model_of(who, None, own)
            rows.append(
                (take, free_run(model, take["controls"]),
                 teacher_forced(model, take["controls"], take["deltas"]))
            )  # fmt: skip
        if rows:
            found[case] = summary(codes, rows)
    return found


def summary(codes: dict[str, Any], rows: list[Any]) -> dict[str, Any]:
    """Errors and signals of one case."""
    from corporeal.evaluation.dynamics import (
        CodedTruth,
        frame_errors,
        mean_errors,
        signal_match,
    )

    count = codes["vertex_count"]
    made: dict[str, Any] = {"takes": len(rows)}
    errors: dict[str, list[Any]] = {"free": [], "forced": []}
    groups: dict[str, list[Any]] = {name: [] for name in GROUPS}
    signals: dict[str, list[Any]] = {name: [] for name in ("belly", "breasts")}
    for take, free, forced in rows:
        truth = CodedTruth(take["subject"], take["sequence"], take["deltas"], take["outside"])
        errors["free"].append(frame_errors(truth, free, count))
        errors["forced"].append(frame_errors(truth, forced, count))
        index = codes["indices"][take["subject"]]
        for name, (low, high) in GROUPS.items():
            if low <= index < high:
                groups[name].append(errors["free"][-1])
        for name in signals:
            way = codes["vertical"][name]
            signals[name].append(signal_match(take["deltas"] @ way, free @ way))
    for name, parts in errors.items():
        made[name] = as_mm(mean_errors(parts))
    made["by_bmi"] = {n: as_mm(mean_errors(parts)) for n, parts in groups.items() if parts}
    made["vertical"] = {
        name: {
            "correlation_median": round(float(np.median([m.correlation for m in found])), 3),
            "amplitude_median": round(float(np.median([m.amplitude for m in found])), 3),
            "lag_median": float(np.median([m.lag for m in found])),
        }
        for name, found in signals.items()
    }
    return made


def as_mm(errors: Any) -> dict[str, float]:
    return {
        "static_mm": round(1e3 * errors.static, 3),
        "oracle_mm": round(1e3 * errors.oracle, 3),
        "model_mm": round(1e3 * errors.model, 3),
        "closed": round(errors.closed, 4),
    }


def save(path: Path, codes: dict[str, Any]) -> None:
    arrays: dict[str, np.ndarray] = {
        "about": np.array(
            json.dumps(
                {
                    "takes": [[t["subject"], t["sequence"], t["split"]] for t in codes["takes"]],
                    "indices": codes["indices"],
                    "genders": codes["genders"],
                    "held_out": codes["held_out"],
                    "joint_names": codes["joint_names"],
                    "vertex_count": codes["vertex_count"],
                    "explained": codes["explained"],
                    "saved": time.strftime("%Y-%m-%d"),
                }
            )
        )
    }
    for name, way in codes["vertical"].items():
        arrays[f"vertical_{name}"] = way
    for n, take in enumerate(codes["takes"]):
        for key in ("controls", "deltas", "outside"):
            arrays[f"{key}_{n}"] = take[key].astype(np.float32)
    np.savez_compressed(path, allow_pickle=False, **arrays)


def load(path: Path) -> dict[str, Any]:
    with np.load(path, allow_pickle=False) as file:
        about = json.loads(str(file["about"]))
        takes = [
            {
                "subject": subject,
                "sequence": sequence,
                "split": split,
                **{k: file[f"{k}_{n}"].astype(float) for k in ("controls", "deltas", "outside")},
            }
            for n, (subject, sequence, split) in enumerate(about["takes"])
        ]
        vertical = {name: file[f"vertical_{name}"].astype(float) for name in REGIONS}
    return {**about, "takes": takes, "vertical": vertical}


if __name__ == "__main__":
    main()
