"""How belly and breasts go up and down beyond the quasi-static twin, take by take.

    python benchmarks/dynamics_vertical.py dyna_test.zarr

The mean height of a region above its twin, in the take and by each deformer that ships with a
memory: correlation (0.8 is aimed at), amplitude (0.7 to 1.3) and lag in frames (1 at most).
"""

import argparse
import json
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

RESULTS = Path(__file__).parent / "results/dynamics_vertical.json"
PARTS = {"belly": ("belly",), "breasts": ("left_breast", "right_breast")}


def main() -> None:
    from corporeal.assets.default_body import load_default_body
    from corporeal.dynamics.training import motion_of
    from corporeal.evaluation.skin_distance import vertical_match
    from corporeal.pipelines.dataset import read_dataset
    from corporeal.pipelines.deformers import make_deformer

    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("takes", type=Path, help="captured movements with twins")
    parser.add_argument("--deformers", nargs="*", default=["dmpl", "neural"])
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    held, template = read_dataset(given.takes), load_default_body().template
    labels, names = np.asarray(template.part_labels), template.part_names
    regions = {
        part: np.isin(labels, [names.index(name) for name in wanted])
        for part, wanted in PARTS.items()
    }
    made: dict[str, Any] = {name: make_deformer(name, template) for name in given.deformers}
    rows: dict[str, dict[str, dict[str, Any]]] = {name: {p: {} for p in PARTS} for name in made}
    for take in held.takes:
        identity, motion = held.subjects[take.subject].identity, motion_of(take, template.skeleton)
        assert identity is not None
        assert take.twin is not None
        skin, twin = (
            np.asarray(v[0 : take.frame_count]) for v in (take.vertices, take.twin.vertices)
        )
        for name, deformer in made.items():
            moved, still = (
                np.asarray(deformer.animate(identity, motion, told).vertices)
                for told in ({}, {"dynamics": False})
            )
            for part, some in regions.items():
                match = vertical_match(moved - still, skin - twin, some)
                rows[name][part][f"{take.subject} {take.sequence}"] = {
                    key: round(float(value), 3) for key, value in asdict(match).items()
                }
        print(take.subject, take.sequence, flush=True)
    record = {
        "command": "python benchmarks/dynamics_vertical.py dyna_test.zarr", "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "deformers": {name: {part: {**summary(found), "by_take": found}
                             for part, found in parts.items()} for name, parts in rows.items()},
    }  # fmt: skip
    given.out.write_text(json.dumps(record, indent=1) + "\n")
    for name, parts in record["deformers"].items():
        for part, found in parts.items():
            print(name, part, {k: v for k, v in found.items() if k != "by_take"})


def summary(found: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Medians over takes, and in how many each bar is met."""
    values = np.array([[row["correlation"], row["amplitude"], row["lag"]]
                       for row in found.values()])  # fmt: skip
    met = (values[:, 0] >= 0.8, np.abs(values[:, 1] - 1) <= 0.3, np.abs(values[:, 2]) <= 1)
    return {
        "takes": len(values),
        "median": [round(float(v), 3) for v in np.median(values, axis=0)],
        "correlation": int(met[0].sum()),
        "amplitude": int(met[1].sum()),
        "lag": int(met[2].sum()),
        "all_three": int((met[0] & met[1] & met[2]).sum()),
    }


if __name__ == "__main__":
    main()
