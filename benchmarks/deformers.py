"""Every deformer on the same held-out captures, in one table.

    python benchmarks/deformers.py dyna_test.zarr --home build/deformers
    python benchmarks/deformers.py dyna_test.zarr --home build/deformers --only dmpl,neural --again
    corporeal dataset export dyna_test.zarr --sequence running-on-spot --out running.zarr
    python benchmarks/deformers.py running.zarr --home build/deformers --only projective,layered

Runs `corporeal evaluate deformers` for all that have no report in HOME yet (`--again`: for all that
are named), asks a process that does nothing else how much memory each takes, and writes all of it
with means of all takes and, as `beside_physics`, of those of `--physics-motions`, which physics
moves too. A deformer that has a report of fewer takes, as physics may for its cost, has means of
those alone. Times are of one thread, of the process: other work on the machine makes them longer by
what it takes of the caches, not by waiting.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks/results/deformers.json"
ASSETS = ROOT / "src/corporeal/assets/data"
NAMES = (
    "lbs", "dqs", "smpl", "smpl-sparse", "enveloping", "blendscape", "dmpl", "dyna", "neural",
    "projective", "layered",
)  # fmt: skip
PHYSICS_MOTIONS = ("running-on-spot",)
"""What physics moves too, for its cost."""
ONE_THREAD = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL", "NUMBA")}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("takes", type=Path, help="captured movements with twins")
    parser.add_argument("--home", type=Path, required=True, help="for reports of single deformers")
    parser.add_argument("--only", default=",".join(NAMES))
    parser.add_argument("--physics-motions", default=",".join(PHYSICS_MOTIONS))
    parser.add_argument("--every", default="30", help="frames from one whose volume is measured")
    parser.add_argument("--again", action="store_true")
    parser.add_argument("--memory-of", default="", help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    if given.memory_of:
        print(json.dumps(memory(given.memory_of, given.takes)))
        return
    found = measured(given.only.split(","), given)
    beside = given.physics_motions.split(",")
    first = max(found.values(), key=lambda report: report["takes"])
    record = {
        "command": "python benchmarks/deformers.py dyna_test.zarr --home build/deformers",
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, shared with other work",
        "physics_motions": beside,
        **{key: first[key] for key in ("takes", "frames", "people", "motions", "truth")},
        "deformers": {
            name: told(name, report, beside, len(report["truth"]) == first["takes"])
            for name, report in found.items()
        },
    }
    given.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {given.out}")


def measured(names: list[str], given: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """The reports of deformers, each with its memory; what has none yet is evaluated together, so
    that the takes' own volume and depth are measured once."""
    environment = {**os.environ, **ONE_THREAD}
    lacking = [n for n in names if given.again or not (given.home / f"{n}.json").exists()]
    if lacking:
        verb = [sys.executable, "-m", "corporeal.cli.main", "evaluate", "deformers", *lacking,
                "--test", str(given.takes), "--every", given.every, "--report",
                str(given.home)]  # fmt: skip
        subprocess.run(verb, check=True, env=environment)
        report = json.loads((given.home / "deformers.json").read_text())
        for name in lacking:
            own = {**report, "deformers": {name: report["deformers"][name]}}
            own["memory"] = memory_of(name, given, environment)
            (given.home / f"{name}.json").write_text(json.dumps(own) + "\n")
    return {name: json.loads((given.home / f"{name}.json").read_text()) for name in names}


def memory_of(name: str, given: argparse.Namespace, environment: dict[str, str]) -> dict[str, Any]:
    """Asks a process that does nothing else."""
    command = [sys.executable, __file__, str(given.takes), "--home", str(given.home),
               "--memory-of", name]  # fmt: skip
    asked = subprocess.run(command, check=True, env=environment, capture_output=True, text=True)
    return json.loads(asked.stdout.splitlines()[-1])


def memory(name: str, takes: Path) -> dict[str, float]:
    """Megabytes that a deformer, one person of it and the working of a clip take, without the clip
    that comes out."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.dynamics.training import motion_of
    from corporeal.pipelines.dataset import read_dataset
    from corporeal.pipelines.evaluate_deformers import made_for

    held, template = read_dataset(takes), load_default_body().template
    take = held.takes[0]
    who, motion = held.subjects[take.subject], motion_of(take, template.skeleton)
    assert who.identity is not None
    before = current_rss()
    made = made_for(name, who, template)
    out = np.asarray(made.animate(who.identity, motion).vertices)
    peak = 1024 * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"mb": round((peak - before - out.nbytes) / 1e6, 1), "frames": motion.frame_count}


def current_rss() -> int:
    """Bytes of memory that this process has now (Linux)."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * resource.getpagesize()


def told(name: str, report: dict[str, Any], beside: list[str], whole: bool) -> dict[str, Any]:
    """One deformer's means, over all takes if it has moved the `whole` set, and over those of the
    motions `beside` physics, with file and memory."""
    from corporeal.pipelines.evaluate_deformers import summed

    row = report["deformers"][name]
    by_take, truth = row.pop("by_take"), report["truth"]
    motion = {take: truth[take]["motion"] for take in by_take}
    shared = {take: row for take, row in by_take.items() if motion[take] in beside}
    asset = ASSETS / f"{name.replace('-', '_')}.json"
    bytes_shipped = json.loads(asset.read_text())["bytes"] if asset.exists() else None
    return {
        **(row if whole else {}),
        **({"beside_physics": summed(shared)} if shared else {}),
        "takes": len(by_take),
        "memory_mb": report["memory"]["mb"],
        "file_mb": None if bytes_shipped is None else round(bytes_shipped / 1e6, 3),
        "by_take": {
            take: {"mm": r["mm"]["all"], "soft_mm": r["mm"]["soft"],
                   "swing_mm": r["swing_mm"].get("all"), "soft_swing_mm": r["swing_mm"].get("soft"),
                   "oracle_mm": r["oracle_mm"].get("all")}
            for take, r in by_take.items()
        },
    }  # fmt: skip


if __name__ == "__main__":
    main()
