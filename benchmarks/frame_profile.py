r"""Where the time of a whole frame goes: local steps, solves, untangling, contacts, skin.

    python benchmarks/frame_profile.py [--deformers projective layered] [--motions running-on-spot]
        [--contacts off global] [--frames 60] [--threads 1 2] [--out results/frame_profile.json]

A frame at 60 a second of the default body (two layers) and of the average man (layered), as
`animate` computes it: kinematics and coupling, what touches, two steps of five iterations, the full
skin. First every frame is timed as it is; then the same frames again with a watch in every part,
each of which counts without what it calls. Times are wall milliseconds beside processor ones of all
threads: on a busy machine only the latter say something. The first frames are left out.
"""

import argparse
import json
import os
import platform
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from layered import PEOPLE
from measured_commit import commit
from pose_sheet import Person

from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.evaluation.held_poses import HELD_POSES, joint_rotations
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.clip import Clip, make_clip
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.solver.cpu.contacts import CompiledContacts
from corporeal.physics.solver.cpu.solver import CpuSolver
from corporeal.physics.untangling.cpu import CompiledUntangling
from corporeal.physics.volume_preservation.cpu import CompiledPressure

RESULTS = Path(__file__).parent / "results" / "frame_profile.json"
FPS, SKIPPED = 60.0, 5
SQUAT = "squat"
"""Down and up again in a second, beside the authored motions."""
PARTS: dict[str, list[tuple[type, str]]] = {
    "skin": [(SimulatedBody, "skin")],
    "coupling": [(SimulatedBody, "carriers")],
    "finding contacts": [(SimulatedBody, "self_contacts")],
    "local steps": [(CpuSolver, "_local_steps"), (CpuSolver, "_draw")],
    "pressures": [(CompiledPressure, "push")],
    "compiling contacts": [(CpuSolver, "_touching")],
    "contacts in iterations": [(CompiledContacts, "push"), (CompiledContacts, "resolve")],
    "untangling": [(CompiledUntangling, "_find_small"), (CompiledUntangling, "_open")],
    "long edges": [(CompiledUntangling, "_pull_in")],
    "calming": [(CpuSolver, "_calm")],
    "the rest of iterations": [(CpuSolver, "_iterate")],
    "beginning and ending steps": [(CpuSolver, "step")],
}
"""What has a watch; a part counts without those that it calls."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deformers", nargs="+", default=["projective", "layered"])
    parser.add_argument("--motions", nargs="+", default=["running-on-spot", SQUAT])
    parser.add_argument("--contacts", nargs="+", default=["off", "global"])
    parser.add_argument("--frames", type=int, default=60)
    parser.add_argument("--threads", nargs="+", default=["1", "2"])
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    model, rows = PhenotypeModel(), []
    for deformer in asked.deformers:
        for touch in asked.contacts:
            for name in asked.motions:
                clip = clip_of(model, deformer, touch, name, asked.frames)
                for threads in asked.threads:
                    os.environ["NUMBA_NUM_THREADS"] = threads
                    row = {"deformer": deformer, "contacts": touch, "motion": name}
                    rows.append(row | {"threads": int(threads)} | profile(clip))
                    print(json.dumps(rows[-1]), flush=True)
    report = {
        "command": "python benchmarks/frame_profile.py",
        "commit": commit(),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "load": os.getloadavg(),
        "rows": rows,
    }
    asked.out.write_text(json.dumps(report, indent=1) + "\n")


def clip_of(model: PhenotypeModel, deformer: str, touch: str, name: str, frames: int) -> Clip:
    """A motion as it is stepped."""
    made = {"projective": ProjectiveSkinning, "layered": LayeredSkinning}[deformer](model.template)
    average = deformer == "layered"
    who = Person.called(list(PEOPLE)[4], model).identity if average else model.prepare()
    simulation = made.simulation({"collisions": touch})
    motion = squat(model, frames) if name == SQUAT else authored(model, who, name, frames)
    outside = BoundEnvironment(simulation.body(who), None)
    return make_clip(simulation, outside, who, motion)


def authored(model: PhenotypeModel, who: Identity, name: str, frames: int) -> Motion:
    """The frames in the middle of an authored motion."""
    motion = make_motion(name, who, model.template, fps=FPS, duration=2.0 + frames / FPS)
    chosen = slice(int(FPS), int(FPS) + frames + 1)
    return replace(
        motion,
        joint_rotations=np.asarray(motion.joint_rotations)[chosen],
        root_translation=np.asarray(motion.root_translation)[chosen],
    )


def squat(model: PhenotypeModel, frames: int) -> Motion:
    """Down into a deep squat and up again, smoothly, within the frames."""
    deep = joint_rotations(model.template.skeleton, HELD_POSES["squat"])
    share = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(frames + 1) / frames)
    turns = share[:, None, None] * deep
    return Motion(SQUAT, FPS, turns, np.zeros((frames + 1, 3)), model.template.skeleton)


def profile(clip: Clip) -> dict[str, Any]:
    """Milliseconds of a frame, wall and processor: of all, and of every part."""
    times = []
    for watched in (False, True):
        with watches() if watched else unwatched() as spent:
            ends = []
            for number, state in enumerate(clip.states()):
                clip.body.skin(state.positions)
                ends.append((time.perf_counter(), time.process_time()))
                if number == SKIPPED:
                    spent.clear()
        times.append(1e3 * np.diff(np.array(ends, np.float64), axis=0)[SKIPPED:])
    plain, frames = times[0], len(times[1])
    parts = {name: [round(1e3 * s / frames, 3) for s in both] for name, both in spent.items()}
    kept = times[1].mean(axis=0) - np.sum([parts[name] for name in parts], axis=0)
    return {
        "frame_ms": {
            "least": _rounded(plain.min(axis=0)),
            "median": _rounded(np.median(plain, axis=0)),
            "mean": _rounded(plain.mean(axis=0)),
            "most": _rounded(plain.max(axis=0)),
        },
        "parts_ms": parts | {"all else": _rounded(kept)},
    }


def _rounded(values: np.ndarray) -> list[float]:
    return [round(float(value), 3) for value in values]


@contextmanager
def unwatched() -> Iterator[dict[str, list[float]]]:
    """No watch at all."""
    yield {}


@contextmanager
def watches() -> Iterator[dict[str, list[float]]]:
    """Seconds spent in every part, wall and processor, while the block runs."""
    spent: dict[str, list[float]] = defaultdict(lambda: [0.0, 0.0])
    above: list[list[float]] = []

    def watched(name: str, call: Callable[..., Any]) -> Callable[..., Any]:
        def timed(*args: Any, **kwargs: Any) -> Any:
            begun, inside = (time.perf_counter(), time.process_time()), [0.0, 0.0]
            above.append(inside)
            try:
                return call(*args, **kwargs)
            finally:
                above.pop()
                whole = time.perf_counter() - begun[0], time.process_time() - begun[1]
                for k in range(2):
                    spent[name][k] += whole[k] - inside[k]
                    if above:
                        above[-1][k] += whole[k]

        return timed

    patches = [
        mock.patch.object(kind, method, watched(name, getattr(kind, method)))
        for name, methods in PARTS.items()
        for kind, method in methods
    ]
    for patch in patches:
        patch.start()
    try:
        yield spent
    finally:
        for patch in patches:
            patch.stop()


if __name__ == "__main__":
    main()
