r"""Takes of a second, of people of any weight in any motion: is flesh sound in every drawn frame?

    python benchmarks/random_takes.py [--people 50] [--takes 10] [--deformers projective layered]
        [--clips FOLDER] [--workers 16] [--limit 540]

People by seed (both sexes, BMI 16 to 45, 18 to 80 years), each in takes of random motions: the
authored ones, and a second of a clip of `--clips` (BVH) in every third take. They are simulated as
`corporeal capture` does, skin meeting skin, 60 frames a second. Every frame is judged against the
flesh's own rest shape (`evaluation.flesh_health`): elements inside out, volume of body parts and
pressure regions, stretched skin edges, folds, and how deep skin is in the body.

Every take is kept in `--kept` (`build/random_takes`) as soon as it is done, so that a run that was
stopped, or that ended because no take begins after `--limit` seconds, goes on where it was. Delete
that folder when the code has changed. Writes all takes that are kept, and totals of authored
motions and of clips, to `results/random_takes.json`.
"""

import argparse
import json
import math
import os
import platform
import sys
import time
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from measured_commit import commit

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anthropometry.solve import solve_measurements
from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.capture.flesh import DeformerName, flesh_of
from corporeal.capture.person import Person, Sex
from corporeal.capture.protocols.dyna import DynaProtocol
from corporeal.capture.protocols.mocap import MocapProtocol
from corporeal.capture.protocols.protocol import Recording
from corporeal.errors import CorporealError
from corporeal.evaluation.flesh_recorder import FleshExaminer
from corporeal.motions.library import MOTIONS
from corporeal.runtime.jobs import run_jobs

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "random_takes.json"
KEPT = ROOT / "build" / "random_takes"
FPS, SECONDS, WHOLE, TOUCH = 60.0, 1.0, 3.0, "global"
"""Frames a second; seconds of a take, and of the authored motion that it is a part of."""
DEPTH_EVERY = 10
"""Frames from one whose penetration is measured to the next."""
STATURES = {"female": (1.63, 0.064), "male": (1.76, 0.069)}
"""Mean and standard deviation, metres."""
STRETCH, VOLUME, DEPTH = 2.0, 0.02, 1e-3
"""What a sound frame has at most: of an edge over its rest, of a volume's change, metres inside."""

Row = dict[str, object]


@dataclass(frozen=True)
class Job:
    """One person's takes with one kind of flesh."""

    seed: int
    takes: int
    deformer: DeformerName
    clips: tuple[Path, ...]
    kept: Path
    deadline: float
    """Seconds since 1970 after which no take begins."""

    @property
    def path(self) -> Path:
        """Where the takes are kept."""
        return self.kept / f"person_{self.seed}_{self.deformer}.json"

    def rows(self) -> list[Row]:
        """Takes that are done."""
        return json.loads(self.path.read_text()) if self.path.exists() else []

    def keep(self, rows: list[Row]) -> None:
        """Write what is done, all or nothing."""
        part = self.path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(rows) + "\n")
        part.rename(self.path)

    def is_over(self) -> bool:
        """Whether all takes are done, or time is up."""
        return time.time() > self.deadline or len(self.rows()) >= self.takes


def person_of(seed: int, template: Template) -> Person:
    """Somebody of a random sex, age, stature and BMI."""
    random = np.random.default_rng(seed)
    sex: Sex = "female" if seed % 2 == 0 else "male"
    age, bmi = random.uniform(18.0, 80.0), random.uniform(16.0, 45.0)
    mean, spread = STATURES[sex]
    stature = mean + spread * np.clip(random.normal(), -2.0, 2.0)
    body = solve_measurements({"stature": stature, "mass": bmi * stature**2}, sex, age)
    parts = predict_composition(body.identity, age, sex, template).composition
    return Person(f"person_{seed}", sex, age, body.identity, parts, body.measurements)


def recording_of(
    person: Person, template: Template, job: Job, number: int
) -> tuple[str, Recording]:
    """The motion of a take, a second of a longer one, and its name."""
    random = np.random.default_rng([job.seed, number])
    if job.clips and number % 3 == 2:
        protocol = MocapProtocol((job.clips[int(random.integers(len(job.clips)))],), FPS)
    else:
        protocol = DynaProtocol(FPS, WHOLE, (str(random.choice(list(MOTIONS))),))
    (name,) = protocol.sequences()
    whole = protocol.direct(person, template, name, int(random.integers(2**31)))
    first = int(random.integers(max(1, whole.motion.frame_count - int(FPS * SECONDS))))
    return name, replace(whole, motion=part_of(whole.motion, first))


def part_of(motion: Motion, first: int) -> Motion:
    """As many frames as a take has, from one on."""
    chosen = slice(first, first + int(FPS * SECONDS) + 1)
    return replace(
        motion,
        joint_rotations=np.asarray(motion.joint_rotations)[chosen],
        root_translation=np.asarray(motion.root_translation)[chosen],
    )


def judged(examiner: FleshExaminer, shapes: list[Float64[NumpyArray, "n 3"]]) -> Row:
    """The worst of a take's frames."""
    health = examiner.health
    frames = [health.frame(shape) for shape in shapes]
    parts = np.array([examiner.part_changes(health.volumes(shape)) for shape in shapes])
    stretched = [int((health.stretches(shape) > STRETCH).sum()) for shape in shapes]
    depths = [
        float(examiner.meter.depths(np.ascontiguousarray(shape[: examiner.count])).max())
        for shape in shapes[::DEPTH_EVERY]
    ]
    return {
        "frames": len(shapes),
        "frames_with_inverted": sum(frame.inverted > 0 for frame in frames),
        "inverted": max(frame.inverted for frame in frames),
        "least_determinant": min(frame.least_determinant for frame in frames),
        "region_volume": max(max(map(abs, frame.volume_changes)) for frame in frames),
        "part_volume": float(np.abs(parts).max()),
        "largest_stretch": max(frame.largest_stretch for frame in frames),
        "edges_stretched": max(stretched),
        "folded_edges": max(frame.folded_edges for frame in frames),
        "depth_m": max(depths),
        "depths_looked_at": len(depths),
        "depths_above_1_mm": sum(depth > DEPTH for depth in depths),
    }


def record(job: Job) -> None:
    """One person's takes that are not done yet; each is kept at once."""
    if job.is_over():
        return
    template, rows = load_default_body().template, job.rows()
    person = person_of(job.seed, template)
    about = {"person": job.seed, "sex": person.sex, "bmi": round(person.measurements.bmi, 1)}
    flesh = flesh_of(person, template, job.deformer, job.seed)
    examiner = FleshExaminer(flesh.body(True, TOUCH), template)
    for number in range(len(rows), job.takes):
        if time.time() > job.deadline:
            break
        started = time.process_time()
        row: Row = about | {"deformer": job.deformer, "take": number}
        row["of"] = "clips" if job.clips and number % 3 == 2 else "authored"
        try:
            row["motion"], recording = recording_of(person, template, job, number)
            shapes = [frame.positions for frame in flesh.frames(recording, TOUCH)]
            row |= judged(examiner, shapes) | {"notes": dict(recording.notes)}
        except CorporealError as error:
            row["refused"] = str(error)
        row["processor_s"] = round(time.process_time() - started, 1)
        rows.append(row)
        job.keep(rows)


def totals(rows: list[Row]) -> Row:
    """What a reader wants to know of one deformer's takes."""
    seen = [row for row in rows if "refused" not in row]
    if not seen:
        return {"takes": 0, "refused": len(rows)}

    def column(name: str) -> Float64[NumpyArray, "n"]:
        return np.array([row[name] for row in seen], np.float64)

    volumes = np.maximum(column("region_volume"), column("part_volume"))
    return {
        "takes": len(seen),
        "refused": len(rows) - len(seen),
        "with_inverted": int((column("inverted") > 0).sum()),
        "frames": int(column("frames").sum()),
        "frames_with_inverted": int(column("frames_with_inverted").sum()),
        "most_inverted_50_95_99_100": _percentiles(column("inverted")),
        "least_determinant": float(column("least_determinant").min()),
        "region_volume_50_95_99_100": _percentiles(column("region_volume")),
        "part_volume_50_95_99_100": _percentiles(column("part_volume")),
        "within_2_percent": int((volumes <= VOLUME).sum()),
        "stretch_50_95_99_100": _percentiles(column("largest_stretch")),
        "stretch_within_2": int((column("largest_stretch") <= STRETCH).sum()),
        "depth_mm_50_95_99_100": _percentiles(1e3 * column("depth_m")),
        "depths_looked_at": int(column("depths_looked_at").sum()),
        "depths_above_1_mm": int(column("depths_above_1_mm").sum()),
        "folded_edges_50_95_99_100": _percentiles(column("folded_edges")),
    }


def _percentiles(values: Float64[NumpyArray, "n"]) -> list[float]:
    return [round(float(v), 4) for v in np.percentile(values, [50, 95, 99, 100])]


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--first", type=int, default=0, help="seed of the first person")
    parser.add_argument("--people", type=int, default=50)
    parser.add_argument("--takes", type=int, default=10, help="of every person and deformer")
    parser.add_argument("--deformers", nargs="+", default=["projective", "layered"])
    parser.add_argument("--clips", type=Path, help="folder of BVH files")
    parser.add_argument("--workers", type=int)
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds")
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    asked.kept.mkdir(parents=True, exist_ok=True)
    clips = () if asked.clips is None else tuple(sorted(asked.clips.glob("*.bvh")))
    deadline = time.time() + asked.limit
    if asked.workers != 1:
        os.environ["NUMBA_NUM_THREADS"] = "1"
    jobs = {
        f"{seed} {deformer}": Job(seed, asked.takes, deformer, clips, asked.kept, deadline)
        for seed in range(asked.first, asked.first + asked.people)
        for deformer in asked.deformers
    }
    report = run_jobs(
        record, jobs, workers=asked.workers, is_done=lambda job: job.is_over(), label="people"
    )
    failed = {name: failure.message for name, failure in report.failed.items()}
    rows = [row for job in jobs.values() for row in job.rows()]
    found = {
        "command": f"python benchmarks/random_takes.py {' '.join(sys.argv[1:])}",
        "commit": commit(),
        "python": platform.python_version(),
        "clips": [clip.name for clip in clips],
        "failed": failed,
        "asked_for": len(jobs) * asked.takes,
        "totals": {
            f"{name}, {kind}": totals(
                [row for row in rows if row["deformer"] == name and row["of"] == kind]
            )
            for name in asked.deformers
            for kind in ("authored", "clips")
        },
        "takes": rows,
    }
    part = asked.out.with_suffix(".part")
    part.write_text(json.dumps(found, indent=1) + "\n")
    part.rename(asked.out)
    print(json.dumps(found["totals"], indent=1))


if __name__ == "__main__":
    main()
