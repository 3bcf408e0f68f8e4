"""Record the budget of Allen 2006 with the virtual scanner and learn from it, in parallel.

    python tools/enveloping_budget.py HOME                      all cores
    python tools/enveloping_budget.py HOME --jobs 16 --minutes 9
    python tools/enveloping_budget.py HOME --size 0.1           a tenth, to see that it runs

44 people in two poses, 5 in 16, one in 69, eight new people in 12, and three more in 8 for settings
to be chosen by (HOME/held-*-chosen.json); then, with the captures' bodies and poses held, training
with every setting, with holes, and from registered raw scans of 10 people in two poses and 2 in
eight; and beside it training that finds bodies and poses, and SMPL, both by
`benchmarks/enveloping.py`. Every command is one of the project's own, has a log in HOME, and is not
run again where its result is there.
"""

import argparse
import json
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERB = [sys.executable, "-m", "corporeal.cli.main"]
FITTED = [sys.executable, str(ROOT / "benchmarks/enveloping.py")]
HELD = [sys.executable, str(ROOT / "benchmarks/enveloping_held.py")]
SETTINGS = {
    "10": {"most": 10, "individual_hold": 30}, "10-hold100": {"most": 10, "individual_hold": 100},
    "16": {"most": 16, "individual_hold": 30}, "16-hold100": {"most": 16, "individual_hold": 100},
}  # fmt: skip
BEST = "10"
"""The settings that holes and registered scans are tried with: what training does by default."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=600.0, help="stop everything after")
    parser.add_argument("--size", type=float, default=1.0)
    given = parser.parse_args()
    home = given.home
    home.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * given.minutes
    people = home / "people.zarr"
    count = str(max(40, round(110 * given.size)))
    together(home, {
        "people": [*VERB, "people", "--count", count, "--seed", "2106", "--jobs", str(given.jobs),
                   "--out", str(people)]}, end, given.jobs)  # fmt: skip
    together(home, recordings(home, people, given.size, given.jobs), end, given.jobs)
    together(home, trainings(home) | registering(home, given.jobs), end, given.jobs)
    together(home, from_registered(home), end, given.jobs)


def recordings(home: Path, people: Path, size: float, jobs: int) -> dict[str, list[str]]:
    """The captures: women, men, poses, half and processes of every set. One seed for all: it draws
    people's tissue."""

    def some(full: int, least: int = 1) -> str:
        return str(max(least, round(size * full)))

    kinds = {
        "single": ("0", "1", some(69, 7), "train", 1),
        "dense": (some(3), some(2), some(16, 6), "train", 5),
        "two": (some(25, 2), some(25, 2), "2", "train", max(2, jobs - 9)),
        "new": (some(4), some(4), some(12, 3), "test", 8),
        "chosen": (some(2), some(1), some(8, 3), "test", 3),
        "raw_two": (some(5), some(5), "2", "train", 4),
        "raw_dense": (some(1), some(1), some(8, 6), "train", 2),
    }
    made = {}
    for name, (women, men, poses, half, parallel) in kinds.items():
        scans = ["--scans"] if name.startswith("raw") else []
        made[name] = [
            *VERB, "capture", "--people", str(people), "--protocol", "poses", "--women", women,
            "--men", men, "--poses", poses, "--split", half, "--seed", "0", "--jobs",
            str(max(1, min(parallel, jobs))), "--out", str(home / f"{name}.zarr"), *scans,
        ]  # fmt: skip
    return made


def trainings(home: Path) -> dict[str, list[str]]:
    """With bodies and poses held: every setting on both sets of people, and holes. With people
    fitted to two scans: held, found, SMPL."""
    scans = [str(home / f"{name}.zarr") for name in ("single", "dense", "two")]
    made = {}
    for name, settings in SETTINGS.items():
        made[f"held-{name}"] = held(home, f"held-{name}", scans, settings)
    for share in (30, 60):
        name = f"holes{share}"
        made[name] = [*held(home, name, scans, SETTINGS[BEST]), "--holes", str(share / 100)]
    fitted = [*FITTED, "--scans", *scans, str(home / "new.zarr")]
    for name, only, flags in (
        ("fitted-held", "budget,folds", ["--poses", "held"]), ("fitted-found", "budget", []),
        ("fitted-smpl", "smpl", []),
    ):  # fmt: skip
        made[name] = [
            *fitted, "--only", only, "--out", str(home / f"{name}.json"),
            "--keep", str(home / f"{name}.npz"), *flags,
        ]  # fmt: skip
    return made


def held(home: Path, name: str, scans: list[str], settings: dict) -> list[str]:
    """Training with known bodies and poses, tried on new people."""
    return [
        *HELD, "--scans", *scans, "--new", str(home / "new.zarr"), "--chosen",
        str(home / "chosen.zarr"), "--settings", json.dumps(settings), "--keep",
        str(home / f"{name}.npz"), "--out", str(home / f"{name}.json"),
    ]  # fmt: skip


def registering(home: Path, jobs: int) -> dict[str, list[str]]:
    """Raw scans, registered."""
    return {
        f"found_{kind}": [
            *VERB, "register", str(home / f"raw_{kind}.zarr"), "--out",
            str(home / f"found_{kind}.zarr"), "--jobs", str(max(1, min(few, jobs))),
        ]
        for kind, few in (("two", 6), ("dense", 2))
    }  # fmt: skip


def from_registered(home: Path) -> dict[str, list[str]]:
    """The same scans as registration has them and as they were recorded."""
    scans = [str(home / f"raw_{kind}.zarr") for kind in ("two", "dense")]
    found = [str(home / f"found_{kind}.zarr") for kind in ("two", "dense")]
    return {
        "truth": held(home, "truth", scans, SETTINGS[BEST]),
        "registered": [
            *held(home, "registered", scans, SETTINGS[BEST]), "--surfaces", *found,
        ],
    }  # fmt: skip


def together(home: Path, commands: dict[str, list[str]], end: float, jobs: int) -> None:
    """Run commands beside each other, so many at a time, one thread each; a finished one leaves a
    mark."""
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    waiting = {n: c for n, c in commands.items() if not (home / f"{n}.done").exists()}
    running: dict[str, subprocess.Popen] = {}
    begin = time.monotonic()
    while running or waiting:
        while waiting and len(running) < max(jobs, 1):
            name = next(iter(waiting))
            with (home / f"{name}.log").open("a") as log:
                running[name] = subprocess.Popen(
                    waiting.pop(name), stdout=log, stderr=log,
                    env={**os.environ, "PYTHONPATH": source, **one},
                )  # fmt: skip
        for name, process in list(running.items()):
            if process.poll() is not None:
                print(f"{name}: {process.returncode}, {time.monotonic() - begin:.0f} s", flush=True)
                if process.returncode == 0:
                    (home / f"{name}.done").touch()
                del running[name]
        if time.monotonic() > end:
            for process in running.values():
                process.terminate()
            raise SystemExit(f"time is up; not done: {', '.join([*running, *waiting])}")
        time.sleep(1)


if __name__ == "__main__":
    main()
