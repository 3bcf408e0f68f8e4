"""Speed of a learned SMPL: corporeal against smplx and body-models on the same model, in one run.

    python benchmarks/smpl_speed.py                       # corporeal and plain NumPy
    python benchmarks/smpl_speed.py --peers               # with torch, smplx, body-models
    python benchmarks/smpl_speed.py --peers --model my_smpl.npz

Poses one fixed person in float32: kinematics, pose blend shapes and skinning. Everybody gets the
same file with one blend shape a pose feature (207) and a prepared identity where it has one;
corporeal finds by itself that the shipped model's blend shapes have rank 64. `corporeal full` is
the same with all 207, as for a model that was not reduced. Every output is compared with the
paper's equations in float64 before a time is reported. Rounds alternate; medians and the best are
given, and beside them the rate of NumPy's product of the same two matrices, coefficients times all
207 blend shapes (`machine_rates`). `--clock cpu` counts processor seconds instead of wall time, for
busy machines.
"""

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Callable
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))

from machine_rates import sgemm_rate
from skinning import REST, SECONDS_A_CONTENDER, machine
from skinning_peers import Contender

from corporeal.body.correctives import PoseCorrectives
from corporeal.body.identity import Identity
from corporeal.body.linear_model import LinearBodyModel
from corporeal.body.pose import Pose
from corporeal.formats.smpl import write_smpl
from corporeal.models.smpl import equations
from corporeal.models.smpl.corrected import CorrectedSkinning
from corporeal.models.smpl.model import SmplModel
from corporeal.pipelines.smpl_models import load_model

TOLERANCE = 2e-5  # metres: float32 rounding over a chain of twelve joints, whole-number correctives
ROUNDS = {1: 100, 64: 15, 1024: 5}
CALLS_A_ROUND = {1: 10, 64: 1, 1024: 1}
RESULTS = Path(__file__).parent / "results" / "smpl_speed.json"
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


def random_rotations(count: int, joint_count: int) -> np.ndarray:
    """Poses with joint turns of about half a radian, the same in every run."""
    return np.random.default_rng(0).normal(0, 0.3, (count, joint_count, 3)).astype(np.float32)


def ours(data: LinearBodyModel, full: bool) -> Contender:
    """corporeal: NumPy in, NumPy out, the pose checked in the timed call."""
    model = SmplModel(data)
    posed: CorrectedSkinning = model
    if full:
        shapes = np.asarray(data.pose_offsets, np.float32)
        names = tuple(f"feature_{n}" for n in range(data.pose_count))
        every = PoseCorrectives(data.joint_names[1:], names, np.eye(data.pose_count), shapes)
        posed = CorrectedSkinning(model.template, every, data.blending)
    made = model.prepare()
    identity = Identity(made.rest_vertices.astype("f4"), made.joints.astype("f4"), {})
    count = 0 if posed.correctives is None else posed.correctives.morph_count

    def bind(rotations: np.ndarray) -> Callable[[], Any]:
        translation = np.zeros((len(rotations), 3), np.float32)
        return lambda: posed.vertices(identity, Pose(rotations, translation))

    name = "corporeal full" if full else "corporeal"
    return Contender(name, f"{count} blend shapes", data.vertex_count, bind, np.asarray)


def smplx_lbs(data: LinearBodyModel) -> Contender:
    """smplx's `lbs` as its models call it: eager, shape evaluated as always."""
    import torch
    from smplx.lbs import lbs

    def tensor(array: np.ndarray) -> Any:
        return torch.from_numpy(np.ascontiguousarray(array, np.float32))

    template, weights = tensor(data.mean_vertices), tensor(data.weights.dense())
    regressor, shapes = tensor(data.joint_regressor), tensor(np.moveaxis(data.shape_offsets, 0, -1))
    blends = tensor(np.asarray(data.pose_offsets).reshape(data.pose_count, -1))
    parents = torch.tensor(data.parents)

    def bind(rotations: np.ndarray) -> Callable[[], Any]:
        pose = torch.from_numpy(rotations.reshape(len(rotations), -1))
        betas = torch.zeros((len(rotations), data.shape_count))

        def call() -> Any:
            with torch.no_grad():
                return lbs(
                    betas, pose, template[None], shapes, blends, regressor, parents, weights
                )[0]

        return call

    return Contender("smplx", "eager", data.vertex_count, bind, lambda t: t.numpy())


def body_models(data: LinearBodyModel, compiled: bool) -> Contender:
    """body-models' SMPL with a prepared identity, eager or under torch.compile."""
    import torch
    from body_models.smpl.torch import SMPL

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model.npz"
        write_smpl(path, data)
        model = SMPL(model_path=path)
    identity = model.prepare_identity(torch.zeros(data.shape_count))

    def pose(rotations: Any) -> Any:
        return model.forward_vertices(
            rotations[:, 1:], pelvis_rotation=rotations[:, 0], identity=identity
        )

    run = torch.compile(pose, dynamic=False) if compiled else pose

    def bind(rotations: np.ndarray) -> Callable[[], Any]:
        tensor = torch.from_numpy(rotations)

        def call() -> Any:
            with torch.no_grad():
                return run(tensor)

        return call

    what = "torch.compile, identity prepared" if compiled else "eager, identity prepared"
    name = "body-models compiled" if compiled else "body-models"
    return Contender(name, what, data.vertex_count, bind, lambda t: t.numpy())


def reference(data: LinearBodyModel, rotations: np.ndarray) -> np.ndarray:
    """The paper's equations in float64, pose by pose."""
    template, weights, shapes, regressor, blends = (
        np.asarray(array, np.float64)
        for array in (
            data.mean_vertices,
            data.weights.dense(),
            data.shape_offsets,
            data.joint_regressor,
            data.pose_offsets,
        )
    )
    still = np.zeros(data.shape_count)
    return np.stack(
        [
            equations.smpl(still, theta, template, weights, shapes, regressor, blends, data.parents)
            for theta in rotations.astype(np.float64)
        ]
    )


def checked_error(contender: Contender, rotations: np.ndarray, data: LinearBodyModel) -> float:
    """Largest distance from the equations over a few poses, metres; refuses a wrong contender."""
    some = np.unique(np.linspace(0, len(rotations) - 1, 3).astype(int))
    came = contender.to_numpy(contender.bind(rotations)())[some]
    error = float(np.abs(came - reference(data, rotations[some])).max())
    if not error < TOLERANCE:
        raise SystemExit(f"{contender.name} is {error:.2e} m from the equations; not timed.")
    return error


def timed(
    calls: list[Callable[[], Any]], count: int, clock: Callable[[], float], rounds: int
) -> list[list[float]]:
    """Seconds of every call; rounds alternate, after the threads of the one before sleep."""
    seconds: list[list[float]] = [[] for _ in calls]
    repeats = CALLS_A_ROUND.get(count, 1)
    for _ in range(rounds):
        for call, times in zip(calls, seconds, strict=True):
            if len(times) >= 3 and sum(times) * repeats > SECONDS_A_CONTENDER:
                continue
            time.sleep(REST)
            call()
            started = clock()
            for _ in range(repeats):
                call()
            times.append((clock() - started) / repeats)
    return seconds


def compare(
    data: LinearBodyModel,
    contenders: list[Contender],
    pose_counts: list[int],
    clock: str,
    quick: bool,
) -> list[dict]:
    """One row for every contender and number of poses."""
    rows = []
    for count in pose_counts:
        rotations = random_rotations(count, data.joint_count)
        errors = [checked_error(c, rotations, data) for c in contenders]
        rounds = 3 if quick else ROUNDS.get(count, 10)
        calls = [c.bind(rotations) for c in contenders]
        times = timed(calls, count, CLOCKS[clock], rounds)
        for contender, error, samples in zip(contenders, errors, times, strict=True):
            rows.append(
                {
                    "contender": contender.name,
                    "what": contender.what,
                    "poses": count,
                    "median_ms": round(1e3 * float(np.median(samples)), 4),
                    "best_ms": round(1e3 * min(samples), 4),
                    "max_error_m": error,
                }
            )
            print(
                f"{count:5d} poses  {contender.name:21s} {rows[-1]['median_ms']:9.3f} ms "
                f"(best {rows[-1]['best_ms']:9.3f})",
                flush=True,
            )
    return rows


def ratios(rows: list[dict], name: str) -> dict[str, float]:
    """How many times faster than the best peer, by the number of poses."""
    found = {}
    for count in sorted({row["poses"] for row in rows}):
        times = {row["contender"]: row["median_ms"] for row in rows if row["poses"] == count}
        peers = [ms for who, ms in times.items() if not who.startswith("corporeal")]
        if peers:
            found[str(count)] = round(min(peers) / times[name], 2)
    return found


def against_sgemm(data: LinearBodyModel, rows: list[dict]) -> dict[str, dict[str, float]]:
    """By number of poses: NumPy's rate for (N × P) (P × 3V), GFLOP/s, and the share of it that all
    of `corporeal full` reaches, its skinning and kinematics counted as nothing; best times."""
    found = {}
    for row in rows:
        if row["contender"] == "corporeal full":
            shape = (row["poses"], data.pose_count, 3 * data.vertex_count)
            rate = sgemm_rate(*shape)
            reached = 2.0 * prod(shape) / (1e-3 * row["best_ms"])
            found[str(row["poses"])] = {
                "sgemm_gflop_s": round(rate / 1e9, 1),
                "corporeal_full_gflop_s": round(reached / 1e9, 1),
                "share_of_sgemm": round(reached / rate, 3),
            }
    return found


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--peers", action="store_true", help="also time smplx and body-models")
    parser.add_argument("--no-compile", action="store_true", help="leave torch.compile out")
    parser.add_argument("--model", type=Path, default=Path("smpl"))
    parser.add_argument("--poses", type=int, nargs="+", default=[1, 64, 1024])
    parser.add_argument("--clock", choices=tuple(CLOCKS), default="wall")
    parser.add_argument("--quick", action="store_true", help="three rounds")
    parser.add_argument("--out", type=Path, default=RESULTS)
    arguments = parser.parse_args()
    report: dict[str, Any] = machine()
    report |= {"model": arguments.model.name, "clock": arguments.clock}
    report["command"] = f"python benchmarks/smpl_speed.py{' --peers' if arguments.peers else ''}"
    data = load_model(arguments.model)
    contenders = [ours(data, False), ours(data, True)]
    if arguments.peers:
        contenders += [smplx_lbs(data), body_models(data, False)]
        if not arguments.no_compile:
            contenders.append(body_models(data, True))
    report["posing"] = compare(data, contenders, arguments.poses, arguments.clock, arguments.quick)
    if arguments.clock == "wall":
        report["against_sgemm"] = against_sgemm(data, report["posing"])
        print("against sgemm:", report["against_sgemm"])
    for name in ("corporeal", "corporeal full"):
        report[f"times_faster_{name.replace(' ', '_')}"] = ratios(report["posing"], name)
        print(f"{name}: times faster than the best peer", ratios(report["posing"], name))
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(report, indent=2) + "\n")
    print(f"written: {arguments.out}")


if __name__ == "__main__":
    main()
