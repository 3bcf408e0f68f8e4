"""What each solver of `numerics` earns: time and accuracy on its caller's problem, beside SciPy.

    python benchmarks/solvers.py            # all
    python benchmarks/solvers.py cholesky   # one, into the same results

The problems are not made up: the callers are run, and what they hand to the solver is caught and
given to SciPy's nearest equivalent too. Answers are compared before a time is written, or, where
two methods end in different places, their costs are written beside it. Times are the smallest and
the median of a few rounds, milliseconds.
"""

import argparse
import json
import os
import platform
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import scipy
from solvers_least_squares import bounded, many_bounded, small_steps, sparse_robust
from solvers_linear import cholesky, conjugate, pca, simplex

from corporeal.runtime.threads import thread_count

RESULTS = Path(__file__).parent / "results" / "solvers.json"
ROUNDS = 5


def main() -> None:
    """Measure the problems that are named, or all, and put them into the results."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("names", nargs="*", help=f"problems: {', '.join(PROBLEMS)}")
    names = tuple(parser.parse_args().names)
    report = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    report["machine"] = (
        f"{platform.machine()}, {thread_count()} threads, Python {platform.python_version()}, "
        f"SciPy {scipy.__version__}"
    )
    for name in names or tuple(PROBLEMS):
        began = os.getloadavg()
        found = {
            "commit": commit(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            **PROBLEMS[name](ROUNDS),
            "load": [began[0], os.getloadavg()[0]],
        }
        report[name] = found
        print(name, json.dumps(found, indent=2), flush=True)
        RESULTS.write_text(json.dumps(report, indent=2) + "\n")


def commit() -> str:
    """The checkout's commit, for the record."""
    command = ["git", "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


PROBLEMS: dict[str, Callable[[int], dict[str, Any]]] = {
    problem.__name__: problem
    for problem in (
        bounded,
        many_bounded,
        small_steps,
        sparse_robust,
        cholesky,
        pca,
        conjugate,
        simplex,
    )
}

if __name__ == "__main__":
    main()
