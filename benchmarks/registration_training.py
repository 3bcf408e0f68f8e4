"""SMPL trained from registered virtual scans against SMPL trained from the truth.

People in held poses are recorded with raw scans, the scans are registered (a person's together),
and both the registrations and the recordings train a model of the same settings; each is then
fitted to recordings of people that neither has seen (model generalisation, Loper 2015). Every step
is one of corporeal's verbs and is kept in HOME: a stopped run goes on where it was.

    python benchmarks/registration_training.py HOME --people 4 --poses 4        minutes
    python benchmarks/registration_training.py HOME --people 30 --poses 10 --jobs 16
"""

import argparse
import json
import subprocess
import sys
import time
from pathlib import Path

from measured_commit import commit

RESULTS = Path(__file__).parent / "results"
VERB = (sys.executable, "-m", "corporeal.cli.main")


def run(home: Path, name: str, *words: str) -> float:
    """Run a verb unless it is done; seconds that it took, as noted then."""
    note = home / f"{name}.done"
    if note.is_file():
        return float(note.read_text())
    begun = time.perf_counter()
    with (home / f"{name}.log").open("w") as log:
        subprocess.run([*VERB, *words], check=True, stdout=log, stderr=subprocess.STDOUT)
    seconds = time.perf_counter() - begun
    note.write_text(str(seconds))
    print(f"{name}: {seconds:.0f} s", flush=True)
    return seconds


def steps(home: Path, people: int, poses: int, jobs: str) -> dict[str, float]:
    """All verbs, in order; seconds of each."""
    women, test = people // 2, max(2, people // 10)
    place = {
        name: str(home / f"{name}.zarr")
        for name in ("people", "shapes", "poses", "test", "shapes_found", "poses_found")
    }
    drawn = str(8 * people)
    half = ("--women", str(women), "--men", str(people - women))
    taken = {}
    taken["people"] = run(
        home, "people", "people", "--count", drawn, "--seed", "31", "--jobs", jobs,
        "--out", place["people"],
    )  # fmt: skip
    common = ("capture", "--people", place["people"], "--deformer", "dqs", "--touch", "off")
    train = (*common, "--split", "train", *half, "--scans", "--jobs", jobs)
    taken["poses"] = run(
        home, "poses", *train, "--protocol", "poses", "--poses", str(poses), "--out", place["poses"]
    )
    taken["shapes"] = run(home, "shapes", *train, "--protocol", "shapes", "--out", place["shapes"])
    taken["test"] = run(
        home, "test", *common, "--split", "test", "--women", str(test), "--men", str(test),
        "--protocol", "poses", "--poses", str(poses), "--jobs", jobs, "--out", place["test"],
    )  # fmt: skip
    for kind in ("poses", "shapes"):
        name = f"{kind}_found"
        taken[name] = run(
            home, name, "register", place[kind], "--unit", "m", "--up", "+y", "--jobs", jobs,
            "--out", place[name],
        )  # fmt: skip
    for kind, suffix in (("truth", ""), ("registered", "_found")):
        taken[kind] = run(
            home, f"train_{kind}", "train", "smpl", "--poses", place[f"poses{suffix}"],
            "--shapes", place[f"shapes{suffix}"], "--out", str(home / f"{kind}.npz"),
            "--shape-count", str(min(10, people - 1)),
        )  # fmt: skip
    taken["evaluate"] = run(
        home, "evaluate", "evaluate", "models", str(home / "truth.npz"),
        str(home / "registered.npz"), "--test", place["test"], "--most", str(poses),
        "--report", str(home / "report"), "--json",
    )  # fmt: skip
    return taken


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("home", type=Path, help="folder for everything that is made")
    parser.add_argument("--people", type=int, default=30)
    parser.add_argument("--poses", type=int, default=10, help="a person")
    parser.add_argument("--jobs", default="1", help="worker processes")
    parser.add_argument("--out", type=Path, default=RESULTS / "registration_training.json")
    given = parser.parse_args()
    given.home.mkdir(parents=True, exist_ok=True)
    taken = steps(given.home, given.people, given.poses, given.jobs)
    log = (given.home / "evaluate.log").read_text()
    told = json.loads(log[log.index("{") :])
    found = {
        "commit": commit(),
        "people": given.people,
        "poses": given.poses,
        "seconds": taken,
        "evaluation": {"report": told["report"], "notes": told["notes"]},
    }
    given.out.write_text(json.dumps(found, indent=2) + "\n")
    print(json.dumps(found["evaluation"], indent=2))


if __name__ == "__main__":
    main()
