"""Is a commit slower than another? Both are timed in turns, in fresh processes, on a quiet machine.

    python benchmarks/paired.py --old OLD --new NEW                  # 15 pairs of everything
    python benchmarks/paired.py --old OLD --new NEW --groups physics --pairs 20

`OLD` and `NEW` are checkouts. A pair is one process of each for every group of
`paired_subjects.py`, in the order old, new, then new, old, and so on. Nothing starts while the
machine is busy: the load average is waited for at the beginning, and before every process what
others use of the processors; a process beside which others used more than `--others` of a core is
run again. The ratio of a benchmark is the old time over the new one: its mean over the pairs and
its 95 % interval are those of the logarithms, by Student's t. Outputs of both checkouts are
compared before a ratio is given. Writes benchmarks/results/paired.json.
"""

import argparse
import json
import math
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

SUBJECTS = Path(__file__).with_name("paired_subjects.py")
RESULTS = Path(__file__).parent / "results" / "paired.json"
GROUPS = ("physics", "skinning", "smpl", "studio")
SMOKE = "smoke"  # a group for tests of this program: one pose, a few calls
AGREEMENT = 1e-4  # relative difference of what both computed
LEAST_MEAN, LEAST_UPPER = 0.98, 0.97  # of ratios: all benchmarks together; each one's interval
_SETTLE = 0.7  # seconds over which others are watched
_TRIES = 20

Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--old", type=Path, required=True)
    parser.add_argument("--new", type=Path, required=True)
    parser.add_argument("--pairs", type=int, default=15)
    parser.add_argument("--groups", nargs="+", choices=(*GROUPS, SMOKE), default=GROUPS)
    parser.add_argument("--load", type=float, default=1.0, help="load average to wait for")
    parser.add_argument("--others", type=float, default=0.25, help="cores that others may use")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    sides = {"old": arguments.old.resolve(), "new": arguments.new.resolve()}
    for side, checkout in sides.items():
        if not (checkout / "src" / "corporeal").is_dir():
            raise SystemExit(f"--{side} {checkout} has no src/corporeal; expected a checkout.")
    load = waited_for_load(arguments.load)
    for group in arguments.groups:  # compiled kernels are cached by the first process
        for checkout in sides.values():
            measured(checkout, group)
    samples = [
        pair(number, group, sides, arguments.others)
        for number in range(arguments.pairs)
        for group in arguments.groups
    ]
    report = {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "commits": {side: commit(checkout) for side, checkout in sides.items()},
        "machine": f"{platform.machine()}, {len(os.sched_getaffinity(0))} cores, Python "
        f"{platform.python_version()}",
        "load_before": load,
        "load_after": os.getloadavg(),
        **summary(samples),
        "pairs": samples,
    }
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=1) + "\n")
    print(table(report))
    print(f"written: {arguments.out.name}")


def pair(number: int, group: str, sides: dict[str, Path], others: float) -> Row:
    """One process of each checkout, in alternating order."""
    order = ("old", "new") if number % 2 == 0 else ("new", "old")
    row: Row = {"pair": number, "group": group, "order": order}
    for side in order:
        row[side], row[f"others_{side}"] = quiet(sides[side], group, others)
    row["load"] = os.getloadavg()[0]
    print(f"pair {number + 1} {group}: others {row['others_old']:.2f} {row['others_new']:.2f}")
    sys.stdout.flush()
    return row


def quiet(checkout: Path, group: str, others: float) -> tuple[Row, float]:
    """A process beside which others used few processors, and how many; tried until it is so."""
    for _ in range(_TRIES):
        waited_for_others(others)
        before, own, started = busy_seconds(), own_seconds(), time.perf_counter()
        found = measured(checkout, group)
        wall = time.perf_counter() - started
        used = (busy_seconds() - before) - (own_seconds() - own)
        if used / wall < others:
            return found, round(used / wall, 3)
    raise SystemExit(f"others used more than {others} cores in {_TRIES} tries; nothing was timed.")


def measured(checkout: Path, group: str) -> Row:
    """What a fresh process with this checkout on its path prints."""
    done = subprocess.run(
        [sys.executable, str(SUBJECTS), group],
        env={**os.environ, "PYTHONPATH": str(checkout / "src"), "JAX_PLATFORMS": "cpu"},
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"{group} failed in {checkout.name}:\n{done.stderr[-3000:]}")
    return json.loads(done.stdout.splitlines()[-1])


def busy_seconds() -> float:
    """Processor seconds that everybody has used since the machine started."""
    words = Path("/proc/stat").read_text().split("\n", 1)[0].split()
    user, nice, system, _, _, irq, soft = (int(word) for word in words[1:8])
    return (user + nice + system + irq + soft) / os.sysconf("SC_CLK_TCK")


def own_seconds() -> float:
    """Processor seconds of this process and of its children that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def waited_for_load(most: float) -> tuple[float, float, float]:
    """The load averages, once that of the last minute is below `most`."""
    while (load := os.getloadavg())[0] >= most:
        print(f"load {load[0]:.2f}; waiting until it is below {most}", file=sys.stderr)
        time.sleep(10.0)
    return load


def waited_for_others(most: float) -> None:
    """Wait until others use less than `most` cores while this process sleeps."""
    while True:
        before = busy_seconds()
        time.sleep(_SETTLE)
        if (busy_seconds() - before) / _SETTLE < most:
            return


def commit(checkout: Path) -> str:
    """A checkout's commit, for the record."""
    command = ["git", "-C", str(checkout), "rev-parse", "--short", "HEAD"]
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()


def summary(samples: Sequence[Row]) -> Row:
    """Ratio old/new of every benchmark with its interval, the geometric mean, and the verdict."""
    rows = {}
    for name in sorted({name for row in samples for name in row["old"]}):
        held = [row for row in samples if name in row["old"]]
        old, new = ([row[side][name] for row in held] for side in ("old", "new"))
        for one, two in zip(old, new, strict=True):
            _require_agreement(name, one["output"], two["output"])
        logs = [math.log(a["ms"] / b["ms"]) for a, b in zip(old, new, strict=True)]
        middle, half = statistics.fmean(logs), half_width(logs)
        rows[name] = {
            "old_ms": round(statistics.median(row["ms"] for row in old), 4),
            "new_ms": round(statistics.median(row["ms"] for row in new), 4),
            "ratio": round(math.exp(middle), 4),
            "low": None if half is None else round(math.exp(middle - half), 4),
            "high": None if half is None else round(math.exp(middle + half), 4),
            "pairs": len(logs),
        }
    mean = math.exp(statistics.fmean(math.log(row["ratio"]) for row in rows.values()))
    slower = [n for n, row in rows.items() if row["high"] is not None and row["high"] < LEAST_UPPER]
    return {
        "benchmarks": rows,
        "geometric_mean": round(mean, 4),
        "slower": slower,
        "passed": mean >= LEAST_MEAN and not slower,
    }


def half_width(logs: Sequence[float]) -> float | None:
    """Half of the 95 % interval of a mean, by Student's t; None for one sample alone."""
    if len(logs) < 2:
        return None
    from scipy.stats import t

    return float(t.ppf(0.975, len(logs) - 1)) * statistics.stdev(logs) / math.sqrt(len(logs))


def _require_agreement(name: str, one: float, two: float) -> None:
    if abs(one - two) > AGREEMENT * max(abs(one), abs(two)):
        raise SystemExit(f"{name}: outputs are {one} and {two} on average; nothing is compared.")


def table(report: Row) -> str:
    """A line a benchmark."""
    lines = [f"{'benchmark':34s} {'old ms':>10s} {'new ms':>10s} {'old/new':>8s}  95 % interval"]
    for name, row in report["benchmarks"].items():
        times = f"{row['old_ms']:10.3f} {row['new_ms']:10.3f} {row['ratio']:8.3f}"
        known = "none" if row["low"] is None else f"{row['low']:.3f} to {row['high']:.3f}"
        lines.append(f"{name:34s} {times}  {known}")
    word = "not slower" if report["passed"] else f"SLOWER {report['slower']}"
    return "\n".join([*lines, f"geometric mean {report['geometric_mean']:.4f}: {word}"])


if __name__ == "__main__":
    main()
