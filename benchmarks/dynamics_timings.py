"""Learned dynamics at size: processor seconds of components, predictors, decomposition and frames.

    python benchmarks/dynamics_timings.py --out results/dynamics_timings.json
    python benchmarks/dynamics_timings.py --only components --rows 0.1     a tenth of the rows

Rows of components are made up (40 directions of falling size and noise), lie in a temporary file
(3.2 GB for DMPL, 9.6 GB for Dyna) and are read in pieces. The captured variance is compared with an
exact decomposition of a subset. Frames are of the models that ship. Times are of the processor, all
threads together, and of the clock; set OMP_NUM_THREADS. Idle, a few minutes.
"""

import argparse
import json
import os
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

SIZES = {"dmpl": (20000, 40140), "dyna": (10000, 240804)}
"""Frames and numbers a frame."""
PIECE = 256
STAGES = ("components", "predictors", "decomposition", "frames")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", nargs="*", default=list(STAGES), choices=STAGES)
    parser.add_argument("--rows", type=float, default=1.0, help="share of the frames")
    parser.add_argument("--count", type=int, default=100, help="components")
    parser.add_argument("--folder", type=Path, help="where rows lie meanwhile")
    parser.add_argument("--out", type=Path, default=Path("dynamics_timings.json"))
    arguments = parser.parse_args()
    record: dict[str, Any] = {
        "commit": commit(),
        "load": os.getloadavg(),
        "threads": os.environ.get("OMP_NUM_THREADS", "all"),
        "rows": arguments.rows,
    }
    made = {"components": lambda: components(arguments), "predictors": predictors,
            "decomposition": decomposition, "frames": frames}  # fmt: skip
    for stage in arguments.only:
        record[stage] = made[stage]()
        print(stage, json.dumps(record[stage]), flush=True)
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(record, indent=1) + "\n")


def timed(work: Callable[[], Any]) -> tuple[Any, dict[str, float]]:
    """What came, processor and clock seconds."""
    cpu, wall = time.process_time(), time.monotonic()
    found = work()
    return found, {
        "cpu_s": round(time.process_time() - cpu, 3),
        "wall_s": round(time.monotonic() - wall, 3),
    }


def components(arguments: argparse.Namespace) -> dict[str, Any]:
    """Streamed principal components, and their variance beside the exact one of a subset."""
    from corporeal.numerics.streamed_pca import principal_components

    made: dict[str, Any] = {}
    for name, (frames_, width) in SIZES.items():
        count = int(frames_ * arguments.rows)
        with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
            rows = np.memmap(Path(folder) / "rows", np.float32, "w+", shape=(count, width))
            fill(rows)

            def pieces(rows: Any = rows, count: int = count) -> Any:
                for first in range(0, count, PIECE):
                    yield np.asarray(rows[first : first + PIECE])

            found, seconds = timed(
                lambda p=pieces: principal_components(p, arguments.count, 0, single=True)
            )
            some = np.asarray(rows[:: max(1, count // 600)], np.float64)
            few = principal_components(lambda s=some: iter((s,)), 40, 0)
            centred = some - some.mean(axis=0)
            exact = np.sort(np.linalg.eigvalsh(centred @ centred.T))[::-1]
            share = float(exact[:40].sum() / exact.sum())
            del rows
        made[name] = {
            "rows": count, "numbers": width, "components": arguments.count, **seconds,
            "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 2),
            "explained": round(float(found.explained[-1]), 5),
            "subset_off_the_exact_variance": round(abs(float(few.explained[-1]) - share), 6),
        }  # fmt: skip
    return made


def fill(rows: Any) -> None:
    """Forty directions of falling size, and noise."""
    random = np.random.default_rng(0)
    basis = random.standard_normal((40, rows.shape[1])).astype(np.float32)
    basis *= (0.9 ** np.arange(40))[:, None].astype(np.float32)
    noise = 0.05 * random.standard_normal((PIECE, rows.shape[1])).astype(np.float32)
    for first in range(0, len(rows), PIECE):
        part = rows[first : first + PIECE]
        part[:] = random.standard_normal((len(part), 40)).astype(np.float32) @ basis
        part += np.roll(noise, int(random.integers(0, rows.shape[1])), axis=1)[: len(part)]


def predictors() -> dict[str, Any]:
    """Autoregressions of 20 000 frames and 100 coefficients of ten people: the paper's and ours."""
    from corporeal.dynamics.autoregression import Ridge
    from corporeal.dynamics.free_running import CodedTake
    from corporeal.dynamics.training import DynamicsTraining, learn_predictors

    random = np.random.default_rng(0)
    names = tuple(f"bone{n}" for n in range(15))
    takes = [
        CodedTake(f"p{n % 10}", f"m{n // 10}", random.standard_normal((300, 90)),
                  random.standard_normal((300, 100)))
        for n in range(67)
    ]  # fmt: skip
    indices = {f"p{n}": 20.0 + 2 * n for n in range(10)}
    made = {}
    for fitting in ("one-ahead", "free-run"):
        settings = DynamicsTraining(count=100, ridge=Ridge(2), fitting=fitting)
        _, made[fitting] = timed(lambda s=settings: learn_predictors(takes, names, indices, s))
    return {"frames": 300 * len(takes), **made}


def decomposition() -> dict[str, Any]:
    """Frames of a person jumping, as SMPL has them, taken apart with smooth neighbours."""
    from corporeal.assets.learned_blendscape import learned_blendscape
    from corporeal.body.pose import Pose
    from corporeal.dynamics.dyna.decomposition import Decomposition
    from corporeal.models.blendscape.triangles import (
        DeformedTriangles,
        triangle_frames,
        world_rotations,
    )
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.models.smpl.shipped import SmplSkinning
    from corporeal.motions.library import make_motion

    body, model = PhenotypeModel(), learned_blendscape()
    who = body.prepare()
    motion = make_motion("jumping-jacks", who, body.template)
    turns = np.asarray(motion.joint_rotations, np.float64)[30:60]
    skins = np.asarray(
        SmplSkinning(body.template).vertices(who, Pose(turns, np.zeros((len(turns), 3))))
    )
    triangles = DeformedTriangles(model)
    solver, factor = timed(lambda: Decomposition(model.triangles, triangles.template_edges))
    world = world_rotations(turns, body.template.skeleton.parents)

    def work() -> None:
        start = triangles.shape_of(np.asarray(who.rest_vertices))
        for rotations, turn, skin in zip(world, turns, skins, strict=True):
            edges = np.swapaxes(triangle_frames(skin, model.triangles)[..., :2], -1, -2)
            blended, posed = triangles.blended(rotations), triangles.pose_deformed(turn)
            start = solver.solve(blended, posed, edges, start, tolerance=1e-6)

    _, seconds = timed(work)
    each = round(1e3 * seconds["cpu_s"] / len(turns), 2)
    return {"frames": len(turns), "factor": factor, "cpu_ms_a_frame": each, **seconds}


def frames() -> dict[str, Any]:
    """A step, a live frame and a frame of a clip of every deformer, processor milliseconds."""
    from corporeal.body.pose import Pose
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.motions.library import make_motion
    from corporeal.pipelines.deformers import is_ready, make_deformer

    body = PhenotypeModel()
    who = body.prepare()
    motion = make_motion("jumping-jacks", who, body.template)
    turns, roots = np.asarray(motion.joint_rotations), np.asarray(motion.root_translation)
    made: dict[str, Any] = {}
    for name in ("dmpl", "neural", "dyna", "blendscape"):
        if not is_ready(name):
            continue
        deformer = make_deformer(name, body.template)
        deformer.animate(who, motion)  # kernels and factors are ready
        _, clip = timed(lambda d=deformer: d.animate(who, motion))
        row = {"clip_cpu_ms_a_frame": round(1e3 * clip["cpu_s"] / len(turns), 3)}
        if deformer.stateful:
            clock = deformer.clock(who)
            state = clock.start(Pose(turns[0], roots[0]))

            def steps(clock: Any = clock, state: Any = state) -> None:
                for turn, root in zip(turns, roots, strict=True):
                    state = clock.step(state, Pose(turn, root), 1 / 60)

            row["step_cpu_ms"] = round(1e3 * timed(steps)[1]["cpu_s"] / len(turns), 3)
            stepper = deformer.stepper()
            moment = stepper.start(who, Pose(turns[0], roots[0]))
            for n in range(3):
                moment = stepper.step(moment, Pose(turns[n], roots[n]), 1 / 60)
                stepper.skin(moment)

            def live(moment: Any = moment, stepper: Any = stepper) -> None:
                for n in range(60):
                    moment = stepper.step(moment, Pose(turns[n], roots[n]), 1 / 60)
                    stepper.skin(moment)

            row["live_cpu_ms"] = round(1e3 * timed(live)[1]["cpu_s"] / 60, 3)
        made[name] = row
    return made


if __name__ == "__main__":
    main()
