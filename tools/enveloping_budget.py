"""Record the budget of Allen 2006 with the virtual scanner and run its benchmark, in parallel.

    python tools/enveloping_budget.py HOME                      all cores
    python tools/enveloping_budget.py HOME --jobs 16 --minutes 9
    python tools/enveloping_budget.py HOME --size 0.1           a tenth, to see that it runs

44 people in two poses, 5 in 16, one in 69 (four draws of 18, whose standing pose is one), five new
people in 12; then training with every setting that is to be chosen between (HOME/settings-*.json:
choose by `folds`, read `budget`), with holes, and SMPL on the same scans. Every command is one of
the project's own, has a log in HOME, and is not run again where its result is there.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERB = [sys.executable, "-m", "corporeal.cli.main"]
BENCH = [sys.executable, str(ROOT / "benchmarks/enveloping.py")]
SETTINGS = {
    "hold10": [], "hold10-turns": ["--in-turns"], "hold30": ["--hold", "30"],
    "hold100": ["--hold", "100"], "hold30-reach26": ["--hold", "30", "--reach", "0.26"],
    "hold100-reach26": ["--hold", "100", "--reach", "0.26"],
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("home", type=Path)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--minutes", type=float, default=600.0, help="stop everything after")
    parser.add_argument("--size", type=float, default=1.0)
    given = parser.parse_args()
    given.home.mkdir(parents=True, exist_ok=True)
    end = time.monotonic() + 60 * given.minutes
    people = given.home / "people.zarr"
    count = str(max(40, round(110 * given.size)))
    together(given.home, {
        "people": [*VERB, "people", "--count", count, "--seed", "21", "--jobs", str(given.jobs),
                   "--out", str(people)]}, end)  # fmt: skip
    sets = recordings(given.home, people, given.size, given.jobs)
    together(given.home, sets, end)
    scans = [str(given.home / f"{name}.zarr") for name in sets]
    together(given.home, trainings(given.home, scans), end)


def recordings(home: Path, people: Path, size: float, jobs: int) -> dict[str, list[str]]:
    """The captures: women, men, poses and half of every set."""

    def some(full: int, least: int = 1) -> str:
        return str(max(least, round(size * full)))

    kinds = {
        **{f"single{n}": ("0", "1", some(18, 3), "train", str(n), 1) for n in range(4)},
        "dense": (some(3), some(3), some(16, 6), "train", "0", 6),
        "new": (some(3), some(2), some(12, 3), "test", "1", 5),
        "two": (some(25), some(25), "2", "train", "2", max(2, jobs - 15)),
    }
    return {
        name: [
            *VERB, "capture", "--people", str(people), "--protocol", "poses", "--women", women,
            "--men", men, "--poses", poses, "--split", half, "--seed", seed, "--jobs",
            str(max(1, min(parallel, jobs))), "--out", str(home / f"{name}.zarr"),
        ]
        for name, (women, men, poses, half, seed, parallel) in kinds.items()
    }  # fmt: skip


def trainings(home: Path, scans: list[str]) -> dict[str, list[str]]:
    """The benchmark with every setting, its holes, and SMPL."""

    def bench(name: str, only: str, flags: list[str]) -> list[str]:
        return [
            *BENCH, "--scans", *scans, "--only", only, "--out", str(home / f"{name}.json"),
            "--keep", str(home / f"{name}.npz"), *flags,
        ]  # fmt: skip

    found = {
        f"settings-{name}": bench(f"settings-{name}", "budget,folds,posing,edits", flags)
        for name, flags in SETTINGS.items()
    }
    for part in ("holes30", "holes60", "smpl"):
        found[part] = bench(part, part, [])
    return found


def together(home: Path, commands: dict[str, list[str]], end: float) -> None:
    """Run commands beside each other, one thread each; a finished one leaves a mark."""
    source = os.pathsep.join([str(ROOT / "src"), os.environ.get("PYTHONPATH", "")])
    one = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")
    running = {}
    for name, command in commands.items():
        if (home / f"{name}.done").exists():
            continue
        log = (home / f"{name}.log").open("a")
        running[name] = subprocess.Popen(
            command, stdout=log, stderr=log, env={**os.environ, "PYTHONPATH": source, **one}
        )
    begin = time.monotonic()
    while running:
        for name, process in list(running.items()):
            if process.poll() is not None:
                print(f"{name}: {process.returncode}, {time.monotonic() - begin:.0f} s", flush=True)
                if process.returncode == 0:
                    (home / f"{name}.done").touch()
                del running[name]
        if time.monotonic() > end:
            for process in running.values():
                process.terminate()
            raise SystemExit(f"time is up; not done: {', '.join(running)}")
        time.sleep(1)


if __name__ == "__main__":
    main()
