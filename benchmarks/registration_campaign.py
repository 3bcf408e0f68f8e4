"""All of registration's benchmarks in one go, the most telling first, on a machine of many cores.

Every step is a call of one of the scripts beside this one, with a share of the minutes; all of them
write rows as they come and go on where they were, so this may be stopped and called again.

    python benchmarks/registration_campaign.py scans --out DIR --workers 16    # about 12 minutes
    python benchmarks/registration_campaign.py films --out DIR --workers 16    # about 11 minutes
    python benchmarks/registration_campaign.py scans --out DIR --workers 2 --smoke

"scans": people × poses at 0.4 and 1 mm, random starts, parts missing, five directions of shape
removed. "films": ten tracked sequences of captured flesh, and beside them SMPL from registered
scans against SMPL from the truth. All need embreex. --smoke runs a few rows of each.
"""

import argparse
import os
import subprocess
import sys
import time
from pathlib import Path

HERE = Path(__file__).parent
VERB = (sys.executable, "-m", "corporeal.cli.main")
ONE_THREAD = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"), "1")


def begin(out: Path, name: str, *words: str) -> subprocess.Popen[bytes]:
    """Start a command whose words go to a log of its own."""
    print(f"{time.strftime('%H:%M:%S')} {name}", flush=True)
    log = (out / f"{name}.log").open("ab")
    return subprocess.Popen(
        words, stdout=log, stderr=subprocess.STDOUT, env=os.environ | ONE_THREAD
    )


def scans(out: Path, workers: str, smoke: bool) -> None:
    """People, starts, what is missing, noise, directions removed; one after the other."""
    steps = (
        ("people_0.4mm", 3.6, ("people",)),
        ("starts", 2.0, ("starts", "--count", "200")),
        ("missing", 1.6, ("missing", "--count", "10")),
        ("people_1mm", 3.4, ("people", "--noise", "1")),
        ("people_without5", 1.6, ("people", "--without", "5", "--count", "8")),
    )
    for name, minutes, words in steps:
        begin(
            out, name, sys.executable, str(HERE / "registration.py"), *words,
            "--workers", workers, "--minutes", str(minutes),
            "--out", str(out / f"registration_{name}.jsonl"),
            *(("--limit", "2") if smoke else ()),
        ).wait()  # fmt: skip


def films(out: Path, workers: str, smoke: bool) -> None:
    """Sequences on ten cores; beside them the training of SMPL on the others."""
    count, frames = ("1", "6") if smoke else ("10", "300")
    half, length = ("1", "0.2") if smoke else ("5", "5")
    people, poses = ("2", "2") if smoke else ("12", "10")
    rest = str(max(1, int(workers) - int(count)))
    training = begin(
        out, "training", sys.executable, str(HERE / "registration_training.py"),
        str(out / "training"), "--people", people, "--poses", poses, "--jobs", rest,
        "--out", str(out / "registration_training.json"),
    )  # fmt: skip
    store = out / "takes.zarr"
    if not (out / "takes.done").is_file():
        begin(
            out, "people", *VERB, "people", "--count", "60", "--seed", "23",
            "--out", str(out / "people.zarr"),
        ).wait()  # fmt: skip
        begin(
            out, "takes", *VERB, "capture", "--people", str(out / "people.zarr"),
            "--protocol", "dyna", "--women", half, "--men", "0" if smoke else half,
            "--duration", length, "--motions", "jumping-jacks", "--jobs", count,
            "--out", str(store),
        ).wait()  # fmt: skip
        (out / "takes.done").touch()
    begin(
        out, "sequences", sys.executable, str(HERE / "registration_sequences.py"), str(store),
        "--count", count, "--frames", frames, "--workers", count, "--minutes", "8",
        "--out", str(out / "registration_sequences.jsonl"),
    ).wait()  # fmt: skip
    training.wait()


def main() -> None:
    """Run what the command line asks for."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("what", choices=("scans", "films"))
    parser.add_argument("--out", type=Path, required=True, help="folder for rows and logs")
    parser.add_argument("--workers", default="16", help="processes")
    parser.add_argument("--smoke", action="store_true", help="a few rows of every step")
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    (scans if given.what == "scans" else films)(given.out, given.workers, given.smoke)
    print(f"{time.strftime('%H:%M:%S')} done; rows are in {given.out}", flush=True)


if __name__ == "__main__":
    main()
