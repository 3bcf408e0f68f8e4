"""All of registration's benchmarks in one go, on a machine of many cores, within a time.

One pool of processes works through one list, the longest and most telling jobs first: tracked takes
(each records its own person and motion, `corporeal people` and `capture`), then scans in the order
of `CAMPAIGNS`. Rows are written as they come, to the files that the single scripts write, with what
these count as done; so a stopped campaign goes on where it was, here or in those scripts.

    python benchmarks/registration_campaign.py --out DIR --workers 16 --seconds 560
    python benchmarks/registration_campaign.py --out DIR --workers 2 --smoke

Needs embreex. --only tells campaigns by name; --smoke runs one job of each, takes of ten frames.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import registration
import registration_kinds
import registration_sequences
import registration_things
from measured_commit import commit

VERB = (sys.executable, "-m", "corporeal.cli.main")
MOTIONS = ("jumping-jacks", "hips", "running-on-spot", "punching", "one-leg-jump")
PEOPLE_SEED = 700
"""Of the first take's people; every take has people of its own."""
FPS = 60
FRAMES = 300
WRAP_UP = 45.0
"""Seconds before the end from which on nothing is begun: scans end by then, takes stop where they
are, and what is there of them is told in a file of its own."""


class Work(NamedTuple):
    """One job of a campaign."""

    campaign: str
    key: tuple[Any, ...]
    """What tells its row from others of the campaign."""
    call: Callable[[], dict[str, Any] | None]


class Campaign(NamedTuple):
    """What `registration.py` is asked for."""

    name: str
    """Of its file of rows, after "registration_"."""
    what: str
    people: int
    """People, or starts."""
    most: int
    """Rows."""
    noise: float = 0.4
    without: int = 0


CAMPAIGNS = (
    Campaign("people_0.4mm", "people", 20, 100),
    Campaign("missing_0.4mm", "missing", 10, 40),
    Campaign("starts_0.4mm", "starts", 200, 200),
    Campaign("people_0.4mm_without5", "people", 20, 30, 0.4, 5),
    Campaign("people_1mm", "people", 20, 30, 1.0),
)
"""In this order, after the takes; things that are no person and scans of other kinds come
before the last two."""
THINGS = range(100, 124)


def take(number: int, home: Path, frames: int, until: float) -> dict[str, Any] | None:
    """Record one person in one motion, track it, and tell what `registration_sequences` tells."""
    folder = home / f"take{number}"
    folder.mkdir(parents=True, exist_ok=True)
    people, store = folder / "people.zarr", folder / "takes.zarr"
    motion = MOTIONS[number % len(MOTIONS)]
    seconds = max(2.0, frames / FPS)
    with (folder / "log").open("ab") as log:
        words = partial(subprocess.run, check=True, stdout=log, stderr=log)
        if not (folder / "done").is_file():
            words(
                [*VERB, "people", "--count", "16", "--seed", str(PEOPLE_SEED + number),
                 "--jobs", "1", "--out", str(people)]
            )  # fmt: skip
            sex = ("1", "0") if number // len(MOTIONS) == 0 else ("0", "1")
            words(
                [*VERB, "capture", "--people", str(people), "--protocol", "dyna", "--jobs", "1",
                 "--women", sex[0], "--men", sex[1], "--motions", motion, "--duration",
                 str(seconds), "--seed", str(number), "--out", str(store)]
            )  # fmt: skip
            (folder / "done").touch()
    from corporeal.pipelines.dataset import read_dataset

    subject = next(iter(read_dataset(store).takes)).subject
    job = registration_sequences.Job(
        str(store), subject, motion, frames, 4e-4, str(folder / "frames"), until
    )
    row = registration_sequences.one(job) or registration_sequences.so_far(job)
    return None if row is None else row | {"number": number}


def kind(name: str) -> dict[str, Any]:
    """A stranger's scan, as `registration_kinds` tells it."""
    with tempfile.TemporaryDirectory() as folder:
        return registration_kinds.tried(name, None, Path(folder))


def listed(given: argparse.Namespace, until: float) -> list[Work]:
    """All jobs, the first to be begun first."""
    smoke = given.smoke
    works = [
        Work("sequences", (n,), partial(take, n, given.out, 10 if smoke else FRAMES, until))
        for n in range(1 if smoke else given.takes)
    ]
    for campaign in CAMPAIGNS:
        if campaign == CAMPAIGNS[3]:
            things = THINGS[: 1 if smoke else None]
            works += [Work("things", (n,), partial(registration_things.one, n)) for n in things]
            kinds = list(registration_kinds.KINDS)[: 1 if smoke else None]
            works += [Work("kinds", (name,), partial(kind, name)) for name in kinds]
        jobs = registration.jobs_of(campaign.what, campaign.people)[: campaign.most]
        start = campaign.what == "starts"
        common = (campaign.noise, campaign.without, start, "smpl-sparse")
        works += [
            Work(campaign.name, job, partial(registration.row_of, *job, *common))
            for job in jobs[: 1 if smoke else None]
        ]
    return [work for work in works if given.only is None or work.campaign in given.only]


def key_of(campaign: str, row: dict[str, Any]) -> tuple[Any, ...]:
    """What tells a row from others of its campaign."""
    if campaign in ("sequences", "things"):
        return (row["number"],)
    if campaign == "kinds":
        return (row["kind"],)
    return (row["person"], row["pose"], row["seed"], row.get("missing", ""))


def rows_path(out: Path, campaign: str) -> Path:
    """Where a campaign's rows are."""
    return out / f"registration_{campaign}.jsonl"


def left_of(works: list[Work], out: Path) -> list[Work]:
    """Jobs that have no row yet."""
    done = set()
    for name in {work.campaign for work in works}:
        path = rows_path(out, name)
        lines = path.read_text().splitlines() if path.is_file() else []
        done |= {(name, *key_of(name, json.loads(line))) for line in lines}
    return [work for work in works if (work.campaign, *work.key) not in done]


def run(works: list[Work], given: argparse.Namespace, until: float) -> None:
    """Work through the list until the time is up."""
    version, waiting = given.commit or commit(), list(works)
    pool = ProcessPoolExecutor(given.workers)
    running: dict[Future[Any], Work] = {}
    while waiting or running:
        while waiting and len(running) < given.workers and time.time() < until:
            work = waiting.pop(0)
            running[pool.submit(work.call)] = work
        if not running:
            break
        ended, _ = wait(running, return_when=FIRST_COMPLETED)
        for future in ended:
            work = running.pop(future)
            if (error := future.exception()) is not None:
                print(f"{work.campaign} {work.key} failed: {error!r}", flush=True)
                continue
            row = future.result()
            if row is None:
                print(f"{work.campaign} {work.key} has no frames yet", flush=True)
                continue
            whole = row.get("frames", FRAMES) >= FRAMES or given.smoke
            name = work.campaign if whole else f"{work.campaign}_begun"
            with rows_path(given.out, name).open("a") as file:
                file.write(json.dumps(row | {"commit": version}) + "\n")
            told = f"{time.strftime('%H:%M:%S')} {work.campaign} {work.key}"
            print(f"{told} {row.get('cpu_s', row.get('frame_cpu_s', 0)):.1f} s", flush=True)
    print(f"{len(waiting)} were not begun", flush=True)
    pool.shutdown()


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--out", type=Path, required=True, help="folder for rows and takes")
    parser.add_argument("--workers", type=int, default=16, help="processes")
    parser.add_argument("--seconds", type=float, default=1e9, help="end within so long")
    parser.add_argument("--takes", type=int, default=10, help="tracked takes")
    parser.add_argument("--only", nargs="*", default=None, help="campaigns by name")
    parser.add_argument("--commit", default="", help="the commit measured, where git is not there")
    parser.add_argument("--smoke", action="store_true", help="one job of each")
    given = parser.parse_args()
    until = time.time() + given.seconds - WRAP_UP
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[name] = "1"
    given.out.mkdir(parents=True, exist_ok=True)
    registration.people(20)
    run(left_of(listed(given, until), given.out), given, until)


if __name__ == "__main__":
    main()
