"""The demo's first run: seconds and processor seconds with no kernel compiled, then with all.

    python benchmarks/first_run.py [--out benchmarks/results/first_run.json]

Every round has a cache folder of its own. Take it on an idle machine: on a busy one the processor's
seconds tell more.
"""

import argparse
import json
import os
import platform
import resource
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path
from tempfile import TemporaryDirectory

RESULTS = Path(__file__).parent / "results" / "first_run.json"


def timed(folder: Path) -> dict[str, float]:
    """Seconds of one run of the demo, whose kernels are kept in `folder`."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    command = [sys.executable, "-m", "corporeal.cli.main", "demo", "--out", str(folder / "demo")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "kernels")}
    subprocess.run(command, check=True, capture_output=True, env=environment)
    seconds = time.monotonic() - begun
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    if not list((folder / "demo").glob("*.mp4")):
        raise SystemExit("the demo made no film")
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return {"seconds": round(seconds, 1), "processor_seconds": round(spent, 1)}


def main() -> None:
    """Time rounds of a cold and a warm run."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = []
    for _ in range(options.rounds):
        with TemporaryDirectory() as folder:
            rows.append({"cold": timed(Path(folder)), "warm": timed(Path(folder))})
            print(rows[-1], flush=True)
    content = {
        "command": "python benchmarks/first_run.py",
        "machine": f"{platform.platform()}, {os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}",
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "rounds": rows,
    }
    options.out.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
