"""Two hundred characters, drawn badly and treated worse: does anything break?

    python benchmarks/robustness.py --first 0 --count 50
    python benchmarks/robustness.py --collisions local
    python benchmarks/robustness.py --collisions global --limit 3600 --workers 16
    python benchmarks/robustness.py --cuts

Bodies and creatures by seed, up to three kinds of damage each (`corporeal.evaluation.damage`), go
through teleports, half turns of joints and shakes of 20 g, and are then left alone
(`corporeal.evaluation.stress_test`): flesh is dragged along, or with `--cuts` starts anew wherever
that is faster than any body moves. Every character's outcome is kept at once, in `--kept` where
that is given and in the result file in the end, so that a run goes on where it was stopped, and no
character begins after `--limit` seconds. Delete both to begin anew. A refusal counts as neither
well nor broken; it is listed by itself. Exits with 1 if any character is not well.
"""

import argparse
import json
import math
import os
import platform
import sys
import time
import traceback
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from measured_commit import commit

from corporeal.evaluation.random_characters import random_character
from corporeal.evaluation.stress_test import stress_test
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls
from corporeal.runtime.jobs import run_jobs

RESULTS = Path(__file__).parent / "results"
KEPT = Path(__file__).parents[1] / "build" / "robustness"
NAMES = {
    "off": "robustness.json",
    "local": "robustness_local.json",
    "global": "robustness_collisions.json",
}
"""Of the result file, by contacts."""
WORST = 10
FINDINGS = (
    ArithmeticError,
    AssertionError,
    LookupError,
    RuntimeError,
    TypeError,
    ValueError,
    Warning,
)
"""Errors that are no named refusal, but bugs to be written down."""


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="first seed")
    parser.add_argument("--count", type=int, default=200, help="number of seeds")
    parser.add_argument("--collisions", default="off", choices=list(NAMES))
    parser.add_argument("--cuts", action="store_true", help="take jumps for cuts")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds")
    parser.add_argument("--workers", type=int, default=1, help="processes, a thread each")
    parser.add_argument("--kept", type=Path, default=KEPT, help="folder of characters done")
    parser.add_argument("--out", type=Path, default=RESULTS, help="folder of the result file")
    asked = parser.parse_args()
    name, deadline = NAMES[asked.collisions], time.time() + asked.limit
    if asked.workers > 1:
        os.environ["NUMBA_NUM_THREADS"] = "1"
    path = asked.out / (name.replace("robustness", "robustness_cuts") if asked.cuts else name)
    rows = json.loads(path.read_text())["characters"] if path.exists() else []
    known = {row["seed"] for row in rows}
    folder = asked.kept / path.stem
    folder.mkdir(parents=True, exist_ok=True)
    asked.out.mkdir(parents=True, exist_ok=True)
    jobs = {
        str(seed): Job(seed, asked.collisions, asked.cuts, folder, deadline)
        for seed in range(asked.first, asked.first + asked.count)
        if seed not in known
    }
    found = run_jobs(
        keep, jobs, workers=asked.workers, in_process=asked.workers == 1,
        is_done=lambda job: job.is_over(), label="characters",
    )  # fmt: skip
    rows += [json.loads(job.path.read_text()) for job in jobs.values() if job.path.exists()]
    failed = {seed: failure.message for seed, failure in found.failed.items()}
    path.write_text(json.dumps(report(rows) | {"failed": failed}, indent=1) + "\n")
    print(json.dumps(report(rows)["totals"], indent=1), failed or "")
    return int(bool(failed) or not all(row["is_well"] for row in rows))


@dataclass(frozen=True)
class Job:
    """One character's treatment."""

    seed: int
    collisions: str
    cuts: bool
    kept: Path
    deadline: float
    """Seconds since 1970 after which it does not begin."""

    @property
    def path(self) -> Path:
        """Where its outcome is kept."""
        return self.kept / f"character_{self.seed}.json"

    def is_over(self) -> bool:
        """Whether it is done, or time is up."""
        return self.path.exists() or time.time() > self.deadline


def keep(job: Job) -> None:
    """Treat a character, unless time is up, and keep the outcome."""
    if job.is_over():
        return
    row = treat(job.seed, job.collisions, job.cuts)
    part = job.path.with_suffix(f".{os.getpid()}.part")
    part.write_text(json.dumps(row) + "\n")
    part.rename(job.path)
    print(summary(row), flush=True)


def treat(seed: int, collisions: str, cuts: bool) -> dict[str, Any]:
    """One character's outcome; an exception that is no named refusal is written down."""
    started = time.process_time()
    character = random_character(seed)
    try:
        settings = ProjectiveControls(collisions=collisions)  # pyright: ignore[reportArgumentType]
        row = stress_test(character, settings, cuts=cuts).row()
    except FINDINGS:
        row = {
            "seed": seed,
            "kind": character.kind,
            "damages": character.damages,
            "is_well": False,
            "exception": traceback.format_exc(limit=-3),
        }
    return row | {"cpu_s": round(time.process_time() - started, 2)}


def report(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Totals, the worst cases, and every character."""
    rows = sorted(rows, key=lambda row: row["seed"])
    moved = [row for row in rows if row.get("left_mm") is not None]
    return {
        "commit": commit(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "totals": {
            "characters": len(rows),
            "well": sum(row["is_well"] for row in rows),
            "refused": [row["seed"] for row in rows if row.get("refused")],
            "exceptions": sum("exception" in row for row in rows),
            "not_finite": sum(not (row.get("finite") or row.get("refused")) for row in rows),
            "not_back_at_rest": [row["seed"] for row in moved if row["left_mm"] > 1.0],
            "most_quiet_frames": max((row["quiet_frames"] for row in moved), default=0),
        },
        "worst": sorted(moved, key=lambda row: -row["quiet_frames"])[:WORST],
        "characters": rows,
    }


def summary(row: dict[str, Any]) -> str:
    end = row.get("refused") or row.get("exception") or f"{row.get('left_mm')} mm left"
    return f"{row['seed']:4d} {row['kind']:9s} {', '.join(row['damages'])}: {end}"


if __name__ == "__main__":
    sys.exit(main())
