r"""Does the skin pop? Single vertices that hop between two frames, in all authored motions.

    python benchmarks/popping.py [--people default "heavy woman"] [--deformers projective lbs]
        [--motions jumping-jacks] [--collisions global] [--seconds 2] [--limit 600]
        [--out benchmarks/results/popping.json]

Every motion is animated at 60 frames a second with default controls (flesh without contacts unless
`--collisions` says otherwise) and judged by `evaluation.popping`; flesh also by
`evaluation.flesh_health` in every third frame: elements inside out, largest stretch of a skin edge,
largest change of a pressure region. Times are processor milliseconds a frame of this process, what
was prepared before not counted. Every case is written to `--out` as soon as it is there; cases that
the file has are not done again while its commit is the present one. None begins after `--limit`
seconds.
"""

import argparse
import json
import math
import time
from dataclasses import asdict, dataclass, replace
from functools import cache
from itertools import product
from pathlib import Path

import numpy as np
from layered import PEOPLE
from measured_commit import commit
from pose_sheet import Person

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.evaluation.flesh_health import FleshHealth
from corporeal.evaluation.popping import popping
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import MOTIONS, SHORTEST_S, make_motion
from corporeal.physics.fast_projective_skinning.body import SimulatedBody
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.pipelines.deformers import make_deformer

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "popping.json"
FPS = 60.0
DEFAULT = "default"
FLESH = {"projective": ProjectiveSkinning, "layered": LayeredSkinning}
DEFORMERS = (*FLESH, "dqs", "lbs")
JUDGED_EVERY = 3
"""Frames from one that is judged by its health to the next."""


@dataclass(frozen=True)
class Case:
    """One person in one motion."""

    person: str
    deformer: str
    motion: str
    collisions: str
    seconds: float


@cache
def _model() -> PhenotypeModel:
    return PhenotypeModel()


@cache
def _identity(person: str) -> Identity:
    return _model().prepare() if person == DEFAULT else Person.called(person, _model()).identity


@cache
def _flesh(deformer: str) -> ProjectiveSkinning | LayeredSkinning:
    return FLESH[deformer](_model().template)


def judged(case: Case) -> dict[str, object]:
    """What is told of a case."""
    who = _identity(case.person)
    motion = make_motion(case.motion, who, _model().template, fps=FPS, duration=case.seconds)
    if case.deformer in FLESH:
        return _judged_flesh(case, who, motion)
    begun = time.process_time()
    animation = make_deformer(case.deformer, _model().template).animate(who, motion)
    spent = time.process_time() - begun
    return asdict(case) | _told(animation) | {"processor_ms": _ms(spent, motion)}


def _judged_flesh(case: Case, who: Identity, motion: Motion) -> dict[str, object]:
    simulation = _flesh(case.deformer).simulation({"collisions": case.collisions})
    body = simulation.body(who)
    clip = make_clip(simulation, BoundEnvironment(body, None), who, motion)
    states, spent = clip.states(), 0.0
    flesh = [next(states).positions]
    while True:
        begun = time.process_time()
        state = next(states, None)
        if state is None:
            break
        spent += time.process_time() - begun
        flesh.append(state.positions)
    positions = np.stack(flesh)
    drawn = make_deformer("lbs", _model().template).animate(who, motion)
    animation = replace(drawn, deformer=case.deformer, vertices=body.skin(positions))
    told = {"processor_ms": _ms(spent, motion)} | _health(body, positions)
    return asdict(case) | _told(animation) | told


def _ms(seconds: float, motion: Motion) -> float:
    return round(1e3 * seconds / (motion.frame_count - 1), 2)


def _told(animation: Animation) -> dict[str, object]:
    """How it pops, in millimetres and per cent."""
    found, template = popping(animation), animation.template
    parts = [template.part_names[label] for label in template.part_labels[found.vertices_seen]]
    counts = {part: parts.count(part) for part in sorted(set(parts), key=parts.count)[::-1]}
    return {
        "largest_mm": round(1e3 * found.largest, 2),
        "vertex": found.vertex,
        "frame": found.frame,
        "part": template.part_names[template.part_labels[found.vertex]],
        "frames_seen_percent": round(100.0 * found.frames_seen, 1),
        "vertices_seen": len(found.vertices_seen),
        "vertices_seen_by_part": counts,
        "rms_mm": round(1e3 * found.rms, 4),
    }


def _health(body: SimulatedBody, positions: Float64[NumpyArray, "N n 3"]) -> dict[str, object]:
    health = FleshHealth(body)
    frames = [health.frame(at) for at in positions[::JUDGED_EVERY]]
    changes = np.array([frame.volume_changes for frame in frames])
    return {
        "inverted": max(frame.inverted for frame in frames),
        "frames_inverted": sum(frame.inverted > 0 for frame in frames),
        "frames_judged": len(frames),
        "stretch": round(max(frame.largest_stretch for frame in frames), 2),
        "region_changes_percent": [
            round(100.0 * float(changes.min()), 1),
            round(100.0 * float(changes.max()), 1),
        ],
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", nargs="+", default=[DEFAULT, "heavy woman", "slim man"])
    parser.add_argument("--deformers", nargs="+", default=list(DEFORMERS), choices=DEFORMERS)
    parser.add_argument("--motions", nargs="+", default=list(MOTIONS), choices=list(MOTIONS))
    parser.add_argument("--collisions", nargs="+", default=["off"], choices=COLLISIONS)
    parser.add_argument("--seconds", type=float, default=SHORTEST_S)
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds")
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    unknown = set(asked.people) - {DEFAULT, *PEOPLE}
    if unknown:
        parser.error(f"no person is called {', '.join(unknown)}; {DEFAULT} or of {list(PEOPLE)}")
    deadline, at = time.monotonic() + asked.limit, commit()
    known = json.loads(asked.out.read_text()) if asked.out.exists() else {}
    cases = known["cases"] if known.get("commit") == at else []
    done = {tuple(row[name] for name in Case.__dataclass_fields__) for row in cases}
    for person, deformer, touch, motion in product(
        asked.people, asked.deformers, asked.collisions, asked.motions
    ):
        case = Case(person, deformer, motion, touch, asked.seconds)
        if tuple(asdict(case).values()) in done or time.monotonic() > deadline:
            continue
        cases.append(judged(case))
        print(json.dumps(cases[-1]), flush=True)
        command = "python benchmarks/popping.py"
        told = {"command": command, "commit": at, "frames_a_second": FPS, "cases": cases}
        asked.out.write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
