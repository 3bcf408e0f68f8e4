r"""Has flesh converged? More iterations, smaller steps, and an offline truth beside what is drawn.

    python benchmarks/convergence.py [--cases "heavy woman" default] [--contacts off global]
        [--frames 40] [--kept build/convergence] [--workers 16] [--limit 3600]

A heavy woman's layers and the default body's two layers in jumping jacks, from the same frame on.
Every case is simulated as real time does it (five iterations a step of 1/120 s) and as captures do
it (more until a step settles, `capture.flesh.SETTLED`), each also with twice the iterations and
with half the step; and once as the truth: a quarter of the step, sixty iterations. Of every pair
the distance of skin vertices is told in millimetres: root mean square over soft regions, 99.9th
percentile and maximum over all of the skin. Aimed at: below 1 mm, and below 5 mm at most (without
contacts; with them at the 99.9th percentile), between what is drawn and twice the effort. Every run
is kept in `--kept`, so that one that was stopped goes on; none begins after `--limit` seconds.
Writes `results/convergence.json`.
"""

import argparse
import json
import math
import os
import platform
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np
from layered import PEOPLE
from measured_commit import commit
from pose_sheet import Person

from corporeal._typing import Float32, NumpyArray
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.capture.flesh import SETTLED
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.solver.integration import Patience
from corporeal.runtime.jobs import run_jobs

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "convergence.json"
KEPT = ROOT / "build" / "convergence"
FPS, BEGINNING = 60.0, 1.0
"""Frames a second, and the second of the motion with which a run begins."""
SOFT = ("breast", "belly", "buttock", "thigh", "hips", "upper_arm")
RMS, MOST = 1.0, 5.0
"""Millimetres that are aimed at."""
CASES = {"heavy woman": "layered", "default": "projective"}


@dataclass(frozen=True)
class Effort:
    """How a run is done."""

    iterations: int = 5
    finer: int = 1
    patience: Patience | None = None


TWICE = Patience(SETTLED.settled / 2.0, 2 * SETTLED.most)
EFFORTS = {
    "real time": Effort(),
    "real time, twice the iterations": Effort(10),
    "real time, half the step": Effort(finer=2),
    "capture": Effort(patience=SETTLED),
    "capture, twice the iterations": Effort(10, patience=TWICE),
    "capture, half the step": Effort(finer=2, patience=SETTLED),
    "truth": Effort(60, finer=4),
}
PAIRS = (
    ("real time", "real time, twice the iterations"),
    ("real time", "real time, half the step"),
    ("real time", "truth"),
    ("capture", "capture, twice the iterations"),
    ("capture", "capture, half the step"),
    ("capture", "truth"),
)


@dataclass(frozen=True)
class Run:
    """One case with one effort."""

    case: str
    contacts: str
    effort: str
    frames: int
    kept: Path
    deadline: float = math.inf
    """Seconds since 1970 after which it does not begin."""

    def is_over(self) -> bool:
        """Whether it is done, or time is up."""
        return self.path.exists() or time.time() > self.deadline

    @property
    def path(self) -> Path:
        """Where its skin is kept."""
        words = f"{self.case} {self.contacts} {self.effort} {self.frames}"
        return self.kept / f"{words.replace(',', '').replace(' ', '-')}.npz"


def simulated(run: Run) -> None:
    """The skin of every frame, metres, and processor milliseconds a frame; kept."""
    if run.is_over():
        return
    model, effort = _model(), EFFORTS[run.effort]
    made = {"projective": ProjectiveSkinning, "layered": LayeredSkinning}[CASES[run.case]]
    who = _identity(run.case)
    given = {"collisions": run.contacts, "iterations": effort.iterations}
    simulation = made(model.template).simulation(given)
    simulation.patience = effort.patience
    outside = BoundEnvironment(simulation.body(who), None)
    clip = make_clip(simulation, outside, who, jumping(who, run.frames), effort.finer)
    skins, seconds = [], []
    for state in clip.states():
        seconds.append(time.process_time())
        skins.append(clip.body.skin(state.positions).astype(np.float32))
    spent = 1e3 * (seconds[-1] - seconds[0]) / run.frames
    part = run.path.with_suffix(f".{os.getpid()}.part.npz")
    np.savez(part, skins=np.stack(skins), milliseconds=spent)
    part.rename(run.path)
    print(f"{run.case}, {run.contacts}, {run.effort}: {spent:.1f} ms a frame", flush=True)


@cache
def _model() -> PhenotypeModel:
    return PhenotypeModel()


@cache
def _identity(case: str) -> Identity:
    return Person.called(case, _model()).identity if case in PEOPLE else _model().prepare()


def jumping(who: Identity, frames: int) -> Motion:
    """Frames of jumping jacks from `BEGINNING` on."""
    whole = make_motion("jumping-jacks", who, _model().template, fps=FPS, duration=4.0)
    chosen = slice(int(BEGINNING * FPS), int(BEGINNING * FPS) + frames + 1)
    return replace(
        whole,
        joint_rotations=np.asarray(whole.joint_rotations)[chosen],
        root_translation=np.asarray(whole.root_translation)[chosen],
    )


def soft_vertices() -> NumpyArray:
    """Skin of the regions that swing."""
    template = _model().template
    names = [name for name in template.part_names if name.removeprefix("left_") in SOFT]
    names += [name for name in template.part_names if name.removeprefix("right_") in SOFT]
    return np.unique(np.concatenate([template.part(name) for name in names]))


def apart(
    first: Float32[NumpyArray, "N V 3"], second: Float32[NumpyArray, "N V 3"]
) -> dict[str, float]:
    """How far two runs are from each other, mm."""
    distance = 1e3 * np.linalg.norm(first.astype(np.float64) - second, axis=2)
    soft = distance[:, soft_vertices()]
    return {
        "soft_rms_mm": round(float(np.sqrt(np.mean(soft**2))), 3),
        "skin_rms_mm": round(float(np.sqrt(np.mean(distance**2))), 3),
        "p99_9_mm": round(float(np.percentile(distance, 99.9)), 2),
        "most_mm": round(float(distance.max()), 2),
    }


def compared(case: str, contacts: str, frames: int, kept: Path) -> dict[str, object]:
    """All pairs of a case whose runs are there, and the time of each run."""
    runs = {name: Run(case, contacts, name, frames, kept) for name in EFFORTS}
    skins, times = {}, {}
    for name, run in runs.items():
        if run.path.exists():
            with np.load(run.path) as held:
                skins[name], times[name] = held["skins"], round(float(held["milliseconds"]), 1)
    pairs = []
    for first, second in PAIRS:
        if first in skins and second in skins:
            found = apart(skins[first], skins[second])
            most = found["most_mm" if contacts == "off" else "p99_9_mm"]
            is_met = found["soft_rms_mm"] < RMS and most < MOST
            pairs.append({"of": first, "and": second, **found, "met": is_met})
    about = {"case": case, "deformer": CASES[case], "contacts": contacts, "frames": frames}
    return {**about, "processor_ms_a_frame": times, "pairs": pairs}


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--cases", nargs="+", default=list(CASES), choices=list(CASES))
    parser.add_argument("--contacts", nargs="+", default=["off", "global"])
    parser.add_argument("--efforts", nargs="+", default=list(EFFORTS), choices=list(EFFORTS))
    parser.add_argument("--frames", type=int, default=40)
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--workers", type=int, default=1, help="processes, a thread each")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    asked.kept.mkdir(parents=True, exist_ok=True)
    if asked.workers > 1:
        os.environ["NUMBA_NUM_THREADS"] = "1"
    deadline = time.time() + asked.limit
    wanted = [(case, touch) for touch in asked.contacts for case in asked.cases]
    efforts = sorted(asked.efforts, key=lambda name: name != "truth")  # what takes longest, first
    runs = {
        f"{case}, {touch}, {effort}": Run(case, touch, effort, asked.frames, asked.kept, deadline)
        for effort in efforts
        for case, touch in wanted
    }
    made = run_jobs(
        simulated, runs, workers=asked.workers, in_process=asked.workers == 1,
        is_done=lambda run: run.is_over(), label="runs",
    )  # fmt: skip
    if made.failed:
        print({name: failure.message for name, failure in made.failed.items()})
    found = {
        "command": f"python benchmarks/convergence.py --frames {asked.frames}",
        "commit": commit(),
        "python": platform.python_version(),
        "aimed_at_mm": {"soft_rms": RMS, "most": MOST},
        "settled": {"metres": SETTLED.settled, "most_iterations": SETTLED.most},
        "cases": [compared(case, touch, asked.frames, asked.kept) for case, touch in wanted],
    }
    asked.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps(found["cases"], indent=1))


if __name__ == "__main__":
    main()
