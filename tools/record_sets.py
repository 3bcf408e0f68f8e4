"""Record the training sets at full size on one machine, train SMPL on them, pack and judge them.

    python tools/record_sets.py HOME                               all of it, on CPU and GPU
    python tools/record_sets.py HOME --size 0.01 --device cpu      a hundredth, to see that it runs
    python tools/record_sets.py HOME --minutes 20 --wrap-up 6      no recording after 20 minutes
    python tools/record_sets.py HOME --without multipose           all but what is had already

| set | people | what | engine |
| --- | --- | --- | --- |
| `multishape` | 1 000 women, 1 000 men | one stand, skinned without flesh | CPU |
| `multipose`, `multipose_test` | 40 who train × 45, 6 who test × 20 | held poses | CPU |
| `dyna`, `dyna_test` | 10 who train, 6 who test | 14 motions × 5 s, with twins | both |
| `dyna_wide` | 30 women, 30 men | 14 motions × 2 s, tissue varied, a third lying | both |

Device and CPU begin with dyna, each from its end (`capture --join`), and go on with dyna_test; then
the device records dyna_wide, and the CPU the held poses before it helps with that. Where the device
records nothing, the CPU makes all. SMPL is trained by the verb as soon as its two sets are there.
Every set is packed (`corporeal dataset pack`) when it is recorded, or, as far as it came, when time
is up; then its dynamic offsets are decomposed and it is checked. Everything is one of corporeal's
own commands, with a log of its own in HOME/logs, and goes on where it stopped when the same call is
given again. HOME/status.json says what became of each.
"""

import argparse
import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERB = (sys.executable, "-m", "corporeal.cli.main")
HELD = ("multishape", "multipose_test", "multipose")
MOVING = ("dyna", "dyna_test", "dyna_wide")
"""Sets of held poses, which the CPU records, and of movements, which the device does."""
ON_CPU = ("dyna", "dyna_test", *HELD, "dyna_wide")
"""The order of the CPU; a set of movements that the device has not begun waits for its turn."""
PATIENCE = 5.0
"""Seconds that a stopped command has to end."""
LOOK = 1.0
"""Seconds from one look at a command to the next."""


@dataclass(frozen=True)
class Plan:
    """How much of everything."""

    home: Path
    size: float
    device: str
    cpu_jobs: int
    device_jobs: int
    seed: int
    without: tuple[str, ...] = ()
    seconds: float = 5.0
    """Length of a take of dyna."""

    def count(self, full: int, least: int = 1) -> int:
        """So many of the full number, by the size."""
        return max(least, round(full * self.size))

    def store(self, name: str) -> str:
        """Where a set lies."""
        return str(self.home / f"{name}.zarr")

    def begun(self, name: str) -> bool:
        """Whether a set's recording has begun."""
        return (self.home / f"{name}.zarr").exists()

    def takes(self, name: str) -> int:
        """How many recordings a set has so far."""
        return len(list((self.home / f"{name}.zarr" / "sequences").glob("*__*")))

    def people(self) -> list[str]:
        """Everybody; a few more than stand, at least enough to choose from."""
        count = self.count(300 if "multishape" in self.without else 2100, 80)
        flags = ["--count", str(count), "--seed", str(self.seed), "--jobs", str(self.all_jobs)]
        return [*VERB, "people", *flags, "--out", self.store("people")]

    @property
    def all_jobs(self) -> int:
        """While nothing runs beside it."""
        return self.cpu_jobs + self.device_jobs

    def recording(self, name: str, on_cpu: bool = False) -> list[str]:
        """The command that records a set, or helps to."""
        each = self.count(1000, 3)
        some = self.count(20, 1)
        half = ("--women", str(self.count(5)), "--men", str(self.count(5)))
        few = ("--women", str(self.count(3)), "--men", str(self.count(3)))
        wide = self.count(30)
        short = self.size < 0.5
        motions = ("--motions", "shake-hips", "--fps", "15") if short else ()
        length = "2" if short else f"{self.seconds:g}"
        flags = {
            "multishape": (
                "--protocol", "shapes", "--women", str(each), "--men", str(each),
                "--deformer", "dqs",
            ),
            "multipose": (
                "--protocol", "poses", "--split", "train", "--women", str(some), "--men",
                str(some), "--poses", "4" if short else "45",
            ),
            "multipose_test": (
                "--protocol", "poses", "--split", "test", *few, "--poses",
                "2" if short else "20", "--seed", "1",
            ),
            "dyna": ("--protocol", "dyna", "--split", "train", *half, "--duration", length,
                     *motions),
            "dyna_test": ("--protocol", "dyna", "--split", "test", *few, "--duration", length,
                          *motions),
            "dyna_wide": (
                "--protocol", "dyna", "--women", str(wide), "--men", str(wide), "--duration", "2",
                *motions, "--turned", "0.33", "--tissue-spread", "0.35", "--seed", "2",
            ),
        }[name]  # fmt: skip
        jobs = self.cpu_jobs
        if on_cpu:
            flags = (*flags, "--join")
        elif name in MOVING:
            flags, jobs = (*flags, "--device", self.device), self.device_jobs
        start = [*VERB, "capture", "--people", self.store("people"), "--out", self.store(name)]
        return [*start, *flags, "--jobs", str(jobs)]

    def training(self, name: str, sparse: bool) -> list[str]:
        """SMPL by the verb."""
        shapes = min(100, self.count(1000, 3))
        return [
            *VERB, "train", "smpl", "--poses", self.store("multipose"), "--shapes",
            self.store("multishape"), "--shape-count", str(shapes), "--out",
            str(self.home / f"{name}.npz"), *(["--sparse"] if sparse else []),
        ]  # fmt: skip

    def building(self, name: str, sparse: bool) -> list[str]:
        """The model as the package would ship it, but with all of its blend shapes."""
        kind = ["--sparse"] if sparse else ["--count", "207"]
        return [
            sys.executable, str(ROOT / "tools/build_smpl.py"), "--model",
            str(self.home / f"{name}.npz"), "--out", str(self.home / "models"), *kind,
        ]  # fmt: skip

    def packing(self, name: str) -> list[str]:
        """A set as one small file."""
        out = str(self.home / f"{name}.packed.npz")
        error = "0.00015" if name.startswith("multi") else "0.0001"
        return [*VERB, "dataset", "pack", self.store(name), "--out", out, "--error", error,
                "--jobs", str(self.side_jobs(name))]  # fmt: skip

    def side_jobs(self, name: str) -> int:
        """Processes for what is done with a set: the large ones have half of them, beside what is
        still being recorded."""
        return max(2, self.all_jobs // (2 if name in MOVING else 4))

    def offsets(self, name: str) -> list[str]:
        """How many components dynamic offsets have."""
        script, out = ROOT / "benchmarks/dynamic_offsets.py", self.home / f"{name}_offsets.json"
        return [
            sys.executable,
            str(script),
            self.store(name),
            "--out",
            str(out),
            "--frames",
            "3000",
        ]

    def checking(self, name: str) -> list[str]:
        """What is wrong with a set."""
        frames = "0" if name == "multishape" else "1"
        return [*VERB, "dataset", "validate", self.store(name), "--thorough", frames, "--json",
                "--jobs", str(self.side_jobs(name))]  # fmt: skip


@dataclass
class Board:
    """What became of every command, in a file that can be read meanwhile."""

    home: Path
    start: float = field(default_factory=time.monotonic)
    rows: dict[str, dict[str, float | str]] = field(default_factory=dict)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def tell(self, name: str, state: str, seconds: float | None = None) -> None:
        """Note a change, in the file and on stdout."""
        now = round(time.monotonic() - self.start, 1)
        with self.lock:
            row = self.rows.setdefault(name, {"began": now})
            row["state"] = state
            if seconds is not None:
                row["seconds"] = round(seconds, 1)
            (self.home / "status.json").write_text(json.dumps(self.rows, indent=1) + "\n")
            took = "" if seconds is None else f" after {seconds:.0f} s"
            print(f"{now:7.1f} s  {name}: {state}{took}", flush=True)


class Runner:
    """Runs commands until time is up; what is unfinished then goes on in another run."""

    def __init__(self, plan: Plan, board: Board, recording_ends: float, all_ends: float) -> None:
        """Ends are moments of `time.monotonic`."""
        self.plan, self.board = plan, board
        self.recording_ends, self.all_ends = recording_ends, all_ends

    def run(self, name: str, command: list[str], until: float, threads: int = 2) -> bool:
        """Whether a command came to a good end before `until`; `threads` are for its products of
        matrices."""
        if time.monotonic() > until:
            self.board.tell(name, "no time was left")
            return False
        began = time.monotonic()
        self.board.tell(name, "running")
        with (self.plan.home / "logs" / f"{name}.log").open("a") as log:
            log.write(f"$ {' '.join(command)}\n")
            log.flush()
            child = subprocess.Popen(
                command, stdout=log, stderr=log, start_new_session=True, env=environment(threads)
            )
            while child.poll() is None and time.monotonic() < until:
                time.sleep(LOOK)
            stopped = child.poll() is None
            if stopped:
                end_group(child)
        took = time.monotonic() - began
        good = not stopped and child.returncode == 0
        self.board.tell(name, "done" if good else "stopped" if stopped else "failed", took)
        return good

    @property
    def is_over(self) -> bool:
        """Whether nothing is recorded any more."""
        return time.monotonic() > self.recording_ends

    def record(self, name: str, on_cpu: bool = False) -> bool:
        """Record a set, as far as time lets; or help the device with it."""
        title = f"{name} on the CPU" if on_cpu else name
        return self.run(title, self.plan.recording(name, on_cpu), self.recording_ends, threads=1)

    def wrap_up(self, name: str) -> None:
        """Pack a set, decompose its offsets, check it."""
        if not (self.plan.home / f"{name}.zarr").exists():
            return
        # every process of packing multiplies matrices: as many threads each as there are
        # processes would be a hundred on sixteen cores
        self.run(f"pack {name}", self.plan.packing(name), self.all_ends, threads=2)
        if name.startswith("dyna"):
            threads = self.plan.side_jobs(name)
            self.run(f"offsets {name}", self.plan.offsets(name), self.all_ends, threads)
        self.run(f"check {name}", self.plan.checking(name), self.all_ends)

    def train(self, name: str, sparse: bool) -> None:
        """SMPL by the verb, and what of it may ship."""
        plan = self.plan
        if self.run(f"train {name}", plan.training(name, sparse), self.all_ends, 3):
            self.run(f"build {name}", plan.building(name, sparse), self.all_ends)


def environment(threads: int) -> dict[str, str]:
    """The package found, so many threads a process, programs compiled once."""
    given = dict(os.environ)
    path = [str(ROOT / "src"), str(ROOT / "benchmarks"), given.get("PYTHONPATH", "")]
    given["PYTHONPATH"] = os.pathsep.join(part for part in path if part)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        given[name] = str(threads)
    if threads == 1:  # kernels of a process wait for each other where all cores are taken
        given["NUMBA_NUM_THREADS"] = "1"
    given.setdefault("JAX_COMPILATION_CACHE_DIR", str(Path.home() / ".cache" / "corporeal-jax"))
    given.setdefault("PYTHONUNBUFFERED", "1")
    return given


def end_group(child: subprocess.Popen[bytes]) -> None:
    """End a command with all its processes; takes that were not whole are made anew."""
    for how in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(child.pid, how)
            child.wait(PATIENCE)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue
    child.wait()


def beside(work: Callable[[], None]) -> threading.Thread:
    """A line of work beside the others."""
    thread = threading.Thread(target=work)
    thread.start()
    return thread


def record_all(runner: Runner) -> None:
    """Everything, in the order in which it is needed."""
    plan, refused = runner.plan, threading.Event()
    moving = [name for name in MOVING if name not in plan.without]
    packing: dict[str, threading.Thread] = {}
    if not runner.run("people", plan.people(), runner.recording_ends):
        return

    lock = threading.Lock()

    def pack(name: str) -> None:
        with lock:
            if name not in packing:
                packing[name] = beside(lambda: runner.wrap_up(name))

    def on_device() -> None:
        for name in moving:
            if runner.record(name):
                pack(name)
            elif not plan.takes(name):
                refused.set()
                return

    def train() -> None:
        runner.train("smpl", sparse=False)
        runner.train("smpl_sparse", sparse=True)

    device, whole, followers = beside(on_device), set(), []
    waiting = [name for name in ON_CPU if name not in plan.without]
    if plan.device == "cpu":
        waiting = [name for name in waiting if name in HELD]
    while waiting:
        first = waiting[:1] if waiting[0] == MOVING[0] else waiting
        name = next((n for n in first if ready(runner, n, refused)), None)
        if name is None:
            time.sleep(LOOK)
            continue
        waiting.remove(name)
        if runner.record(name, on_cpu=name in MOVING):
            whole.add(name)
            pack(name)
        if {"multishape", "multipose"} <= whole and not followers:
            followers.append(beside(train))
    device.join()
    for name in (*moving, *HELD):
        pack(name)
    for follower in (*followers, *packing.values()):
        follower.join()
    runner.board.tell("all", "done")


def ready(runner: Runner, name: str, refused: threading.Event) -> bool:
    """Whether the CPU may record a set: one of movements is the device's to begin, if it can."""
    return name in HELD or runner.plan.begun(name) or refused.is_set() or runner.is_over


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("home", type=Path, help="folder that gets everything")
    parser.add_argument("--size", type=float, default=1.0, help="share of the full sets")
    parser.add_argument("--device", default="gpu", help="what simulates dyna_wide: gpu or cpu")
    parser.add_argument("--cpu-jobs", type=int, default=max(1, (os.cpu_count() or 2) * 5 // 8))
    parser.add_argument("--device-jobs", type=int, default=max(1, (os.cpu_count() or 2) * 3 // 8))
    parser.add_argument("--minutes", type=float, default=24 * 60.0, help="until recording stops")
    parser.add_argument("--wrap-up", type=float, default=60.0, help="minutes more for the rest")
    parser.add_argument("--seed", type=int, default=1, help="of the people")
    parser.add_argument("--seconds", type=float, default=5.0, help="length of a take of dyna")
    parser.add_argument("--without", nargs="*", default=[], choices=ON_CPU, help="leave these out")
    asked = parser.parse_args()
    asked.home.mkdir(parents=True, exist_ok=True)
    (asked.home / "logs").mkdir(exist_ok=True)
    plan = Plan(
        asked.home.resolve(),
        asked.size,
        asked.device,
        asked.cpu_jobs,
        asked.device_jobs,
        asked.seed,
        tuple(asked.without),
        asked.seconds,
    )
    board = Board(plan.home)
    ends = board.start + 60.0 * asked.minutes
    record_all(Runner(plan, board, ends, ends + 60.0 * asked.wrap_up))


if __name__ == "__main__":
    main()
