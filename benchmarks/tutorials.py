"""What the tutorials' scripts take, and the figures that they print.

    python benchmarks/tutorials.py tape_measure own_deformer    # run them, in a folder of their own
    python benchmarks/tutorials.py train_smpl --log said.txt    # from what an earlier run has said

Every script writes its own key of benchmarks/results/tutorials.json: processor seconds (its own and
its children's), seconds on the clock, the load then, and what it has printed in a table. An earlier
run's words are those of `time python examples/NAME.py`.
"""

import argparse
import json
import os
import re
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "tutorials.json"
TABLES = {
    "train_smpl": re.compile(
        r"^\s+(?P<row>LBS|DQS|my_smpl)\s+10\s+(?P<model_mm>[\d.]+)\s+(?P<pose_mm>[\d.]+)$", re.M
    ),
    "flesh_to_engines": re.compile(
        r"flesh is up to (?P<flesh_mm>[\d.]+) mm.*?baked: (?P<morphs>\d+) morph.*?"
        r"with them (?P<within_percent>[\d.]+)% .*?the worst is (?P<worst_mm>[\d.]+) mm.*?"
        r"(?P<row>hop\.glb): (?P<glb_mb>[\d.]+) MB",
        re.S,
    ),
    "own_deformer": re.compile(r"the (?P<row>chest) rises by (?P<rise_mm>[\d.]+) mm"),
}
"""Rows of what a script prints that its page quotes."""
TIMED = re.compile(r"^(real|user|sys)\s+(\d+)m([\d.]+)s$", re.M)


def main() -> None:
    names = sorted(path.stem for path in (ROOT / "examples").glob("*.py"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("scripts", nargs="+", choices=names, metavar="NAME")
    parser.add_argument("--log", type=Path, help="what an earlier run of one script has said")
    parser.add_argument("--load", type=float, help="the load of the machine in that run")
    parser.add_argument("--commit", help="the code of that run")
    parser.add_argument("--out", type=Path, default=RESULTS)
    given = parser.parse_args()
    from measured_commit import commit

    for name in given.scripts:
        made = run(name) if given.log is None else earlier(given.log.read_text(), given.load)
        text = str(made.pop("said"))
        if name in TABLES:
            made["table"] = {
                row.pop("row"): {key: float(value) for key, value in row.items()}
                for row in (match.groupdict() for match in TABLES[name].finditer(text))
            }
        made |= {"cores": os.cpu_count(), "commit": given.commit or commit()}
        made["command"] = f"python examples/{name}.py"
        print(json.dumps({name: made}, indent=1), flush=True)
        known = json.loads(given.out.read_text()) if given.out.is_file() else {}
        given.out.write_text(json.dumps(known | {name: made}, indent=1, sort_keys=True) + "\n")


def run(name: str) -> dict[str, object]:
    """Run a script in a folder that goes away."""
    begun, before = time.perf_counter(), _processor_s()
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, str(ROOT / "examples" / f"{name}.py"), "--out", "out"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=True)
    return {
        "said": done.stdout,
        "processor_s": round(_processor_s() - before, 1),
        "clock_s": round(time.perf_counter() - begun, 1),
        "load": round(os.getloadavg()[0], 1),
    }


def earlier(said: str, load: float | None) -> dict[str, object]:
    """The same of a run that was timed by the shell."""
    seconds = {what: 60 * int(m) + float(s) for what, m, s in TIMED.findall(said)}
    return {
        "said": said,
        "processor_s": round(seconds["user"] + seconds["sys"], 1),
        "clock_s": round(seconds["real"], 1),
        "load": load,
    }


def _processor_s() -> float:
    """Of the processes that this one has started and waited for."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


if __name__ == "__main__":
    main()
