"""Learned dynamics over long times: 10 000 frames of random and real motions, then stillness.

    python benchmarks/dynamics_stability.py --out results/dynamics_stability.json
    python benchmarks/dynamics_stability.py --deformers neural --rates 60 --crowd 200

For every deformer, frame rate and motion: the largest offset of a vertex (millimetres, exaggerated
three times) over all frames, whether all numbers are finite, and how far vertices are from the
static skin two seconds after the last movement. Random motions are independent turns of every joint
and leaps of the root, frame by frame; real ones the library's, over and over. People are drawn from
the default body's sliders. `--crowd` plays that many random people through the network at once,
every second one in independent random poses, the others in motions of the library.
"""

import argparse
import json
import time
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

EXAGGERATION = 3.0


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deformers", nargs="*", default=["dmpl", "dyna", "neural"])
    parser.add_argument("--rates", type=float, nargs="*", default=[24.0, 60.0, 240.0])
    parser.add_argument("--frames", type=int, default=10000)
    parser.add_argument("--people", type=int, default=4, help="random people, one motion each")
    parser.add_argument("--crowd", type=int, default=0, help="people in the network at once")
    parser.add_argument("--out", type=Path, default=Path("dynamics_stability.json"))
    arguments = parser.parse_args()
    rows = [crowd(arguments.crowd, fps, arguments.frames)
            for fps in arguments.rates if arguments.crowd]  # fmt: skip
    rows += [
        measured(name, kind, fps, n, arguments.frames)
        for name in arguments.deformers
        for fps in arguments.rates
        for n, kind in enumerate(["random", "jumping-jacks", "running-on-spot", "punching"]
                                 * (1 + arguments.people // 4))
        if n < arguments.people and not arguments.crowd
    ]  # fmt: skip
    record = {"commit": commit(), "frames": arguments.frames, "runs": rows}
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(record, indent=1) + "\n")
    print(f"wrote {arguments.out}")


def measured(name: str, kind: str, fps: float, seed: int, frames: int) -> dict[str, Any]:
    """One person, one motion, one rate."""
    from corporeal.body.pose import Pose
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.pipelines.deformers import make_deformer

    body, random = PhenotypeModel(), np.random.default_rng(seed)
    deformer: Any = make_deformer(name, body.template)
    who = body.prepare({name: float(random.uniform(0, 1)) for name in ("weight", "gender")})
    turns, roots = movement(kind, who, body.template, fps, frames, random)
    clock = deformer.clock(who)
    state = clock.start(Pose(turns[0], roots[0]))
    shapes = rest_shapes(deformer)
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
        return largest_mm(some, shapes)

    row = {
        "deformer": name, "exaggeration": EXAGGERATION, "motion": kind, "fps": fps, "person": seed,
        "finite": bool(np.isfinite(rows).all()),
        "largest_mm": round(largest(loud), 1),
        "after_2_s_mm": round(largest(left[None]), 4),
        "after_2_s_mm_per_s": round(largest(drift[None]), 4),
        "step_cpu_ms": round(step_ms, 3),
    }  # fmt: skip
    print(row, flush=True)
    return row


def movement(
    kind: str, who: Any, template: Any, fps: float, frames: int, random: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Joint rotations and root translations: independent random ones, or a motion over and over,
    once if `frames` is 0."""
    from corporeal.motions.library import make_motion
    from corporeal.motions.resample import resample

    count = template.skeleton.joint_count
    if kind == "random":
        turns = random.normal(scale=1.0, size=(frames, count, 3))
        return turns, random.normal(scale=0.5, size=(frames, 3))
    motion = resample(make_motion(kind, who, template), fps)
    frames = frames or motion.frame_count
    times = -(-frames // motion.frame_count)
    turns = np.tile(np.asarray(motion.joint_rotations), (times, 1, 1))[:frames]
    return turns, np.tile(np.asarray(motion.root_translation), (times, 1))[:frames]


def rest_shapes(deformer: Any) -> np.ndarray:
    """Rest-pose offsets of every coefficient, D × 3V; of Dyna, those of its deformations."""
    if hasattr(deformer, "shapes"):
        shapes = np.asarray(deformer.shapes, np.float32)
    else:
        rows = np.asarray(deformer.model.dynamic.deformations, np.float64)
        shapes = np.concatenate(
            [deformer.static.rest_offsets(rows[n : n + 8]) for n in range(0, len(rows), 8)]
        ).astype(np.float32)
    return shapes.reshape(len(shapes), -1)


def largest_mm(some: np.ndarray, shapes: np.ndarray) -> float:
    """The largest exaggerated offset of a vertex, mm."""
    found = (some.astype(np.float32) @ shapes).reshape(-1, 3)
    return EXAGGERATION * float(np.linalg.norm(found, axis=-1).max() * 1e3)


def crowd(people: int, fps: float, frames: int) -> dict[str, Any]:
    """Many random people in the network at once, each in a motion of the own, then stillness."""
    from corporeal.body.motion import Motion
    from corporeal.dynamics.neural import network
    from corporeal.dynamics.neural.deformer import NeuralSkinning
    from corporeal.dynamics.neural.features import clip_features, stride
    from corporeal.dynamics.neural.person import Tissue
    from corporeal.dynamics.neural.recurrence import advance
    from corporeal.models.phenotype.model import PhenotypeModel
    from corporeal.motions.library import MOTIONS

    body, random = PhenotypeModel(), np.random.default_rng(0)
    deformer = NeuralSkinning(body.template)
    parameters, names = deformer.model.parameters, tuple(MOTIONS)
    sliders = ("weight", "gender", "muscle", "height")
    still = int(2 * fps) + 1
    plays, told = [], []
    for n in range(people):
        who = body.prepare({name: float(random.uniform(0, 1)) for name in sliders})
        kind = "random" if n % 2 else names[(n // 2) % len(names)]
        turns, roots = movement(kind, who, body.template, fps, 2000 * (n % 2), random)
        plays.append((turns.astype(np.float32), roots, np.asarray(who.joints)))
        told.append(deformer.person(who, Tissue()))
    person = np.stack(told)
    banks = network.layer_poles(parameters, person, 1.0 / fps)
    still_ones = [np.zeros((people, n), np.float32) for n in network.bank_sizes(parameters)]
    states = [(zero, zero) for zero in still_ones]
    step, first, finite = stride(fps), 0, True
    loudest, norms = np.zeros((people, deformer.model.dynamic_count)), np.zeros(people)
    rows: list[np.ndarray] = []

    def remember(layer: int, bank: Any, drive: Any) -> Any:
        states[layer] = advance(bank, states[layer], drive)
        return states[layer]

    while first < frames + still:
        last = min(first + 500, frames + still)
        # what is looked back at comes along; before the first frame the body was still
        wanted = np.clip(np.arange(first - 2 * step, last), 0, frames - 1)
        felt, seen = [], []
        for turns, roots, joints in plays:
            part = wanted % len(turns)
            motion = Motion("", fps, turns[part], roots[part], body.template.skeleton)
            m, p = clip_features(motion, joints)
            felt.append(m[2 * step :].astype(np.float32))
            seen.append(p[2 * step :].astype(np.float32))
        for n in range(last - first):
            found = network.dynamic_coefficients(
                parameters, np.stack([m[n] for m in felt]), np.stack([p[n] for p in seen]),
                person, banks, remember,
            )  # fmt: skip
            finite = finite and bool(np.isfinite(found).all())
            size = (found**2).sum(axis=1)
            louder = size > norms
            loudest[louder], norms[louder] = found[louder], size[louder]
            rows = [*rows[-1:], found]
        first = last
    shapes, moving = rest_shapes(deformer), np.arange(people) % 2 == 0
    speed = [largest_mm(row[None], shapes) for row in (rows[-1] - rows[-2]) * fps]
    row = {
        "deformer": "neural", "exaggeration": EXAGGERATION, "people": people, "fps": fps,
        "finite": finite,
        "largest_mm_library": round(largest_mm(loudest[moving], shapes), 1),
        "largest_mm_random": round(largest_mm(loudest[~moving], shapes), 1),
        "after_2_s_mm_library": round(largest_mm(rows[-1][moving], shapes), 4),
        "after_2_s_mm_random": round(largest_mm(rows[-1][~moving], shapes), 4),
        "after_2_s_mm_per_s_library": round(max(np.array(speed)[moving]), 4),
        "after_2_s_mm_per_s_random": round(max(np.array(speed)[~moving]), 4),
    }  # fmt: skip
    print(row, flush=True)
    return row


if __name__ == "__main__":
    main()
