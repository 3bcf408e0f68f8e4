"""Learned dynamics over long times: 10 000 frames of random and real motions, then stillness.

    python benchmarks/dynamics_stability.py --out results/dynamics_stability.json
    python benchmarks/dynamics_stability.py --deformers neural --people 200 --frames 10000

For every deformer, frame rate and motion: the largest offset of a vertex (millimetres, exaggerated
three times) over all frames, whether all numbers are finite, and how far vertices are from the
static skin two seconds after the last movement. Random motions are independent turns of every joint
and leaps of the root, frame by frame; real ones the library's, over and over. People are drawn from
the default body's sliders.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from provenance import commit

EXAGGERATION = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--deformers", nargs="*", default=["dmpl", "neural"])
    parser.add_argument("--rates", type=float, nargs="*", default=[24.0, 60.0, 240.0])
    parser.add_argument("--frames", type=int, default=10000)
    parser.add_argument("--people", type=int, default=4, help="random people, one motion each")
    parser.add_argument("--out", type=Path, default=Path("dynamics_stability.json"))
    arguments = parser.parse_args()
    rows = [
        measured(name, kind, fps, n, arguments.frames)
        for name in arguments.deformers
        for fps in arguments.rates
        for n, kind in enumerate(["random", "jumping-jacks", "running-on-spot", "punching"]
                                 * (1 + arguments.people // 4))
        if n < arguments.people
    ]  # fmt: skip
    record = {"commit": commit(), "frames": arguments.frames, "runs": rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {arguments.out}")


def measured(name: str, kind: str, fps: float, seed: int, frames: int) -> dict[str, Any]:
    """One person, one motion, one rate."""
    from corporeal.body.pose import Pose
    from corporeal.dynamics.dmpl.model import DmplSkinning
    from corporeal.dynamics.neural.deformer import NeuralSkinning
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.motions.library import make_motion
    from corporeal.motions.resample import resample

    body, random = PhenotypeModel(), np.random.default_rng(seed)
    deformer = {"dmpl": DmplSkinning, "neural": NeuralSkinning}[name](body.template)
    who = body.prepare({name: float(random.uniform(0, 1)) for name in ("weight", "gender")})
    count = body.template.skeleton.joint_count
    if kind == "random":
        turns = random.normal(scale=1.0, size=(frames, count, 3))
        roots = random.normal(scale=0.5, size=(frames, 3))
    else:
        motion = resample(make_motion(kind, who, body.template), fps)
        times = -(-frames // motion.frame_count)
        turns = np.tile(np.asarray(motion.joint_rotations), (times, 1, 1))[:frames]
        roots = np.tile(np.asarray(motion.root_translation), (times, 1))[:frames]
    clock = deformer.clock(who)
    state = clock.start(Pose(turns[0], roots[0]))
    shapes = np.asarray(deformer.shapes, np.float32).reshape(len(deformer.shapes), -1)
    deltas, begun = [], time.process_time()
    for turn, root in zip(turns[1:], roots[1:], strict=True):
        state = clock.step(state, Pose(turn, root), 1.0 / fps)
        deltas.append(clock.coefficients(state))
    step_ms = 1e3 * (time.process_time() - begun) / max(len(deltas), 1)
    for _ in range(int(2 * fps)):
        state = clock.step(state, Pose(turns[-1], roots[-1]), 1.0 / fps)
    left = np.asarray(clock.coefficients(state), np.float32)
    later = clock.step(state, Pose(turns[-1], roots[-1]), 1.0 / fps)
    drift = (np.asarray(clock.coefficients(later), np.float32) - left) * fps
    rows = np.asarray(deltas, np.float32)
    loud = rows[np.argsort((rows**2).sum(axis=1))[-5:]]

    def largest(some: np.ndarray) -> float:
        return float(np.linalg.norm((some @ shapes).reshape(-1, 3), axis=-1).max() * 1e3)

    row = {
        "deformer": name, "motion": kind, "fps": fps, "person": seed,
        "finite": bool(np.isfinite(rows).all()),
        "largest_mm": round(EXAGGERATION * largest(loud), 1),
        "after_2_s_mm": round(EXAGGERATION * largest(left[None]), 4),
        "after_2_s_mm_per_s": round(EXAGGERATION * largest(drift[None]), 4),
        "step_cpu_ms": round(step_ms, 3),
    }  # fmt: skip
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
