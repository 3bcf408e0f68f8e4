"""Frame times of flesh as it is by default on a GPU, against what is aimed at; some minutes.

    python benchmarks/gpu_frames.py [--parts two-layer contacts layered crowd] [--frames 60]

Unlike `gpu.py`, which compares engines on Komaritzan 2022's energy and prepared files, this takes
what `animate --device gpu` simulates: volume preservation, untangling, the stress-free pose; it
needs numba beside JAX, since bodies and starts are the CPU's. Two-layer flesh and the average man's
layers run on the spot; contacts are those of a squat, down and up. Times are medians of whole clips
without compilation; the distance from the CPU simulation at the end is told beside. Each part is
written to `--out` as soon as it is there.
"""

import argparse
import json
import platform
import sys
import time
from collections import deque
from pathlib import Path
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "gpu_frames.json"
PARTS = {
    "two-layer": ("projective", "off", "running-on-spot", 0.5),
    "contacts": ("projective", "global", "squat", 1.0),
    "layered": ("layered", "off", "running-on-spot", 0.6),
}
"""Deformer, contacts, motion, and milliseconds a frame that are aimed at."""
CROWD, RATE = 256, 20_000
"""Characters, and character frames a second that are aimed at."""
ROUNDS = 7


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--parts", nargs="+", default=[*PARTS, "crowd"], choices=[*PARTS, "crowd"])
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--crowd", type=int, default=CROWD)
    parser.add_argument("--unrolled", type=int, default=5, help="iterations written out")
    parser.add_argument("--rounds", type=int, default=ROUNDS, help="clips that are timed")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    import jax
    from measured_commit import commit

    report: dict[str, Any] = {
        "command": f"python benchmarks/gpu_frames.py {' '.join(sys.argv[1:])}",
        "commit": commit(),
        "device": str(jax.devices()[0].device_kind),
        "python": platform.python_version(),
        "jax": jax.__version__,
        "parts": {},
    }
    for name in asked.parts:
        started = time.perf_counter()
        if name == "crowd":
            found = crowd(asked.crowd, asked.frames // 4, asked.rounds)
        else:
            found = single(*PARTS[name], asked.frames, asked.unrolled, asked.rounds)
        report["parts"][name] = found | {"took_s": round(time.perf_counter() - started, 1)}
        print(name, json.dumps(report["parts"][name]), flush=True)
        asked.out.write_text(json.dumps(report, indent=1) + "\n")


class Subject:
    """A clip's body and rule on the device."""

    def __init__(self, deformer: str, touch: str, motion: str, frames: int) -> None:
        import jax
        from frame_profile import clip_of

        from corporeal.models.phenotype.model import PhenotypeModel
        from corporeal.physics.fast_projective_skinning.gpu.preparation import device_body
        from corporeal.physics.solver.damping import damped_rule
        from corporeal.physics.solver.gpu.elements import system_matrix
        from corporeal.physics.solver.gpu.inverse import inverse_of, inverted

        self.clip = clip_of(PhenotypeModel(), deformer, touch, motion, frames)
        body, settings = self.clip.body, self.clip.body.settings
        host = device_body(body)
        self.rule = damped_rule(self.clip.step, settings.iterations, settings.damping_ratio)
        rule = self.rule
        matrix = system_matrix(host.elements, rule.inertia, len(host.order), rule.stiffening)
        self.whole = inverted(matrix)
        self.host, self.body = host, jax.device_put(host)
        self.inverse = jax.device_put(inverse_of(self.whole))
        self.preservation = jax.device_put(host.preservation(rule))
        self.path = body.frames(self.clip.poses)
        self.start = self.clip.beginning(self.path)

    def state_and_frames(self, count: int = 1) -> tuple[Any, Any, Any]:
        """The start and the way of so many characters, and the origins."""
        import jax

        from corporeal.physics.fast_projective_skinning.gpu.clip import clip_frames, device_state

        frames, origins = clip_frames(np.repeat(self.path[:, None], count, axis=1))
        state = device_state(self.host, [self.start] * count, origins[0], self.clip.step)
        return jax.device_put(state), jax.device_put(frames), origins

    def collisions(self) -> Any:
        """Of skin with skin; None without."""
        import jax

        from corporeal.physics.fast_projective_skinning.gpu.contacts import collisions_of
        from corporeal.physics.fast_projective_skinning.gpu.preparation import device_skin

        body = self.clip.body
        if body.settings.collisions == "off":
            return None
        skin = device_skin(body.skin_contacts(), body.model, body.meeting)
        dense = self.whole.astype(np.float32)
        return jax.device_put(collisions_of(self.host, skin, dense, self.start.touching))


def single(
    deformer: str, touch: str, motion: str, aim: float, frames: int, unrolled: int, rounds: int
) -> dict[str, Any]:
    """One character."""
    from gpu_timing import GPU

    from corporeal.physics.contact.gpu.detection import Capacity
    from corporeal.physics.fast_projective_skinning.gpu.clip import run_clip
    from corporeal.physics.solver.gpu.step import SolverOptions

    subject = Subject(deformer, touch, motion, frames)
    state, way, origins = subject.state_and_frames()
    collisions, capacity = subject.collisions(), Capacity()
    options = SolverOptions(
        kernels=GPU, untangled=subject.clip.body.system.untangled, unrolled=unrolled
    )

    def run() -> tuple[Any, Any, Any]:
        return run_clip(
            subject.body, subject.inverse, subject.rule, state, way, collisions, None,
            subject.preservation, None, steps=subject.clip.steps, piece=frames, options=options,
            capacity=capacity,
        )  # fmt: skip

    begun = time.perf_counter()
    _, posed, touched = run()
    while touched is not None and bool(np.asarray(touched.full).any()):
        capacity = capacity.doubled()
        _, posed, touched = run()
    compiled = time.perf_counter() - begun
    got = np.asarray(posed.vertices, np.float64)[-1, 0] + origins[-1]
    last = deque(subject.clip.states(), maxlen=1)[0]
    away = 1e3 * np.linalg.norm(got - subject.clip.body.skin(last.positions), axis=1)
    found = {
        "ms": round(1e3 * seconds(run, rounds) / frames, 4),
        "aimed_at_ms": aim,
        "frames": frames,
        "from_cpu_mm": {
            "rms": round(float(np.sqrt(np.mean(away**2))), 3),
            "most": round(float(away.max()), 2),
        },
        "first_run_s": round(compiled, 1),
    }
    if touched is not None:
        counts = np.asarray(touched.counts)
        found["contacts"] = {"mean": float(counts.mean()), "most": int(counts.max())}
    return found


def crowd(size: int, frames: int, rounds: int) -> dict[str, Any]:
    """Characters that share a body, without contacts."""
    from gpu_timing import GPU

    from corporeal.physics.fast_projective_skinning.gpu.clip import run_clip
    from corporeal.physics.solver.gpu.inverse import DenseInverse
    from corporeal.physics.solver.gpu.step import SolverOptions

    subject = Subject("projective", "off", "running-on-spot", max(1, frames))
    state, way, _ = subject.state_and_frames(size)
    inverse = DenseInverse(np.asarray(subject.whole, np.float32))
    found: dict[str, Any] = {"characters": size, "aimed_at_per_s": RATE}
    for name, untangled in (("untangled", True), ("not untangled", False)):
        options = SolverOptions(kernels=GPU, untangled=untangled, unrolled=1)

        def run(options: SolverOptions = options) -> tuple[Any, Any, Any]:
            return run_clip(
                subject.body, inverse, subject.rule, state, way, None, None, subject.preservation,
                None, steps=subject.clip.steps, piece=1, options=options,
            )  # fmt: skip

        last = np.asarray(run()[1].vertices[-1])
        found[name] = {
            "character_frames_per_s": round(size * max(1, frames) / seconds(run, rounds)),
            "apart_m": float(np.abs(last - last[:1]).max()),
        }
    return found


def seconds(call: Any, rounds: int) -> float:
    """Median of a call that has been compiled."""
    import jax
    from timing import seconds_of

    return float(np.median(seconds_of(lambda: jax.block_until_ready(call()), rounds)))


if __name__ == "__main__":
    main()
