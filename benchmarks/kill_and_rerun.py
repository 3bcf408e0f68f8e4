"""Kill −9 at random points, the same command again, and the result equal to the bit.

    python benchmarks/kill_and_rerun.py [--verbs people capture flesh …] [--kills 10] [--out FILE]

Every verb runs once undisturbed, which gives the reference and its seconds. Then it is started,
killed with all of its processes after a random share of these seconds, and started again until it
ends by itself, so often. Compared are the bytes of every file of the result but its manifest, whose
times differ. Nothing hidden may be left behind. A campaign that was stopped goes on: the result
file is its state, and a verb that has had its kills is not asked again.
"""

import argparse
import hashlib
import json
import os
import platform
import random
import shlex
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

RESULTS = Path(__file__).parent / "results" / "kill_and_rerun.json"
TESTS = Path(__file__).parents[1] / "tests"
LINES = {
    "people": "people --count 3 --seed 3 --jobs 2 --out {out}.zarr",
    "capture": (
        "capture --people people.zarr --protocol poses --poses 3 --deformer dqs --jobs 2 "
        "--out {out}.zarr"
    ),
    "flesh": (
        "capture --people people.zarr --protocol poses --poses 2 --deformer projective --jobs 2 "
        "--out {out}.zarr"
    ),
    "train": (
        "train smpl --poses train.zarr --shapes train.zarr --template rig.npz --shape-count 3 "
        "--out {out}.npz"
    ),
}
_TIMED = (".manifest.json",)
_NAME = "result"


def prepare(verb: str, folder: Path) -> None:
    """Make what a verb reads."""
    if verb in ("capture", "flesh"):
        run("people --count 2 --seed 3 --out people.zarr", folder)
    if verb == "train":
        sys.path.insert(0, str(TESTS))
        from dataclasses import replace

        from corporeal.formats.smpl import write_smpl

        truth = import_module("smpl_truth")
        model, meshes, _ = truth.sampled(250, 4, 16)
        held = truth.registrations_of(model, meshes)
        write_smpl(folder / "rig.npz", replace(model, pose_offsets=0 * model.pose_offsets))
        import_module("test_cli_models").write_store(folder / "train.zarr", held)


def start(line: str, folder: Path) -> subprocess.Popen[bytes]:
    """The command, in a group of its own so that its workers are killed with it."""
    return subprocess.Popen(
        [sys.executable, "-m", "corporeal.cli.main", *shlex.split(line)],
        cwd=folder,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def run(line: str, folder: Path) -> float:
    """Run to the end; gives back the seconds."""
    begun = time.monotonic()
    process = start(line, folder)
    _, said = process.communicate()
    if process.returncode:
        raise SystemExit(f"{line} ended with {process.returncode}: {said.decode()[-500:]}")
    return time.monotonic() - begun


def digest(folder: Path, out: str) -> dict[str, str]:
    """SHA-256 of every file of a result, by its path below the result's name."""
    found: dict[str, str] = {}
    for root in sorted(folder.glob(f"{out}.*")):
        files = [root] if root.is_file() else sorted(p for p in root.rglob("*") if p.is_file())
        for file in files:
            name = str(file.relative_to(folder)).replace(out, "*", 1)
            if not name.endswith(_TIMED):
                found[name] = hashlib.sha256(file.read_bytes()).hexdigest()
    return found


def disturbed(
    verb: str, line: str, folder: Path, kills: int, rows: list[dict[str, Any]]
) -> Iterator[dict[str, Any]]:
    """Kill and rerun until there are so many rows; yields after each how often it was the same."""
    line, out = line.format(out=_NAME), _NAME  # a store tells its own name: it is always the same
    seconds = run(line, folder)
    expected = digest(folder, out)
    _remove(folder, out)
    draw = random.Random(len(rows))
    while len(rows) < kills:
        wait = draw.uniform(0.05, 1.0) * seconds
        process = start(line, folder)
        try:
            process.wait(wait)
            seconds *= 0.8  # it was faster than the undisturbed run: draw again, earlier
            _remove(folder, out)
            continue
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        run(line, folder)
        same = digest(folder, out) == expected
        left = [p.name for p in folder.rglob(".*") if ".part" in p.name and out in p.name]
        rows.append({"killed_after_s": round(wait, 1), "same": same, "left": left})
        print(verb, rows[-1], flush=True)
        _remove(folder, out)
        yield {"seconds": round(seconds, 1), "files": len(expected), "runs": rows}


def _remove(folder: Path, out: str) -> None:
    for path in (*folder.glob(f"{out}*"), *folder.glob(f".{out}*")):
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def main() -> None:
    """Disturb the verbs and write what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--verbs", nargs="*", default=list(LINES), choices=list(LINES))
    parser.add_argument("--kills", type=int, default=10)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    state: dict[str, Any] = (
        json.loads(options.out.read_text()) if options.out.is_file() else {"verbs": {}}
    )
    for verb in options.verbs:
        rows = state["verbs"].get(verb, {}).get("runs", [])
        if len(rows) >= options.kills:
            continue
        with TemporaryDirectory() as folder:
            prepare(verb, Path(folder))
            for row in disturbed(verb, LINES[verb], Path(folder), options.kills, rows):
                state["verbs"][verb] = {"line": LINES[verb], **row}
                state |= {
                    "command": "python benchmarks/kill_and_rerun.py",
                    "machine": platform.platform(),
                    "python": platform.python_version(),
                    "date": datetime.now(UTC).isoformat(timespec="seconds"),
                }
                options.out.write_text(json.dumps(state, indent=1) + "\n")


if __name__ == "__main__":
    main()
