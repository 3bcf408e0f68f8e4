r"""Is flesh that is held in a pose right side out, and is it still? Forty poses and the zero pose,
five people.

    python benchmarks/held_poses.py [--people default "heavy woman"] [--deformers layered]
        [--contacts off global] [--poses deep-squat crouch] [--frames 60] [--no-untangled]
        [--device gpu] [--workers 16] [--limit 540]

Flesh is started in static balance in a pose of `evaluation.held_poses` and held there, 60 frames a
second. `evaluation.flesh_health` judges the start and the worst of all frames; movement is how far
a skin vertex went in one frame, at most. What is held is left to itself: no ground, no collar
rhythm. With `--device gpu` the CPU finds the start and the device holds it. Every case is kept in
`--kept` (`build/held_poses`) under a digest of what it is and of the code, so that a run that was
stopped, or that ended because no case begins after `--limit` seconds, goes on where it was. Writes
the cases asked for that are there to `--out`.
"""

import argparse
import json
import math
import os
import platform
import time
from dataclasses import dataclass
from functools import cache, cached_property
from itertools import pairwise, product
from pathlib import Path

import numpy as np
from layered import PEOPLE
from measured_commit import commit
from pose_sheet import Person, code, digest

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.layered.deformer import LayeredSkinning
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.evaluation.flesh_health import FleshHealth
from corporeal.evaluation.held_poses import HELD_POSES, joint_rotations
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.clip import make_clip
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS, ProjectiveControls
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning
from corporeal.physics.fast_projective_skinning.environment import BoundEnvironment
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.runtime.jobs import run_jobs

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "held_poses.json"
KEPT = ROOT / "build" / "held_poses"
DEFAULT = "default"
SUBJECTS = (DEFAULT, *(name for name in PEOPLE if not name.startswith("average")))
"""The average adult, and slim and heavy people of `layered.PEOPLE`."""
DEFORMERS = {"projective": ProjectiveSkinning, "layered": LayeredSkinning}
FPS, FRAMES = 60.0, 60
POSES = {"zero": {}} | HELD_POSES
LAST = 10
"""Frames at the end whose movement is listed on its own: what is left once flesh has settled."""

TOGETHER = 7
"""Poses that one process holds after preparing a person."""

Row = dict[str, object]


@dataclass(frozen=True)
class Subject:
    """One person's flesh under some controls; made when a case asks for it."""

    model: PhenotypeModel
    person: str
    deformer: str
    contacts: str
    untangled: bool
    device: str = "cpu"

    @cached_property
    def identity(self) -> Identity:
        if self.person == DEFAULT:
            return self.model.prepare()
        return Person.called(self.person, self.model).identity

    @cached_property
    def simulation(self) -> ProjectiveSimulation:
        controls = {"collisions": self.contacts, "untangled": self.untangled}
        return deformer(self.deformer, self.model).simulation(controls)

    @cached_property
    def health(self) -> FleshHealth:
        return FleshHealth(self.simulation.body(self.identity))

    def words(self) -> Row:
        """What the subject is."""
        return {
            "person": self.person,
            "deformer": self.deformer,
            "contacts": self.contacts,
            "untangled": self.untangled,
            "device": self.device,
        }

    def held(self, name: str, frames: int) -> Row:
        """A pose held for some frames after its static balance."""
        rotations = joint_rotations(self.model.template.skeleton, POSES[name])
        started = time.process_time()
        shapes = (self._held if self.device == "cpu" else self._held_there)(rotations, frames)
        body, moved = self.simulation.body(self.identity), []
        skins = [body.skin(shape) for shape in shapes]
        for before, skin in pairwise(skins):
            moved.append(1e3 * float(np.linalg.norm(skin - before, axis=1).max()))
        return {
            "processor_s": round(time.process_time() - started, 1),
            "start": looked_at(self.health, shapes[:1]),
            "held": looked_at(self.health, shapes),
            "largest_movement_mm": round(max(moved, default=0.0), 4),
            f"largest_movement_of_last_{LAST}_mm": round(max(moved[-LAST:], default=0.0), 4),
        }

    def _held(self, rotations: Float64[NumpyArray, "J 3"], frames: int) -> list[NumpyArray]:
        """The simulated vertices at the start and in every frame."""
        state = self.simulation.start(self.identity, Pose(rotations, np.zeros(3)))
        shapes = [state.flesh.positions]
        for _ in range(frames):
            state = self.simulation.step(state, state.pose, 1.0 / FPS)
            shapes.append(state.flesh.positions)
        return shapes

    def _held_there(self, rotations: Float64[NumpyArray, "J 3"], frames: int) -> list[NumpyArray]:
        """The same on the device, as a clip whose frames are all one."""
        turns, skeleton = np.repeat(rotations[None], frames + 1, axis=0), self.model.template
        still = Motion("held", FPS, turns, np.zeros((frames + 1, 3)), skeleton.skeleton)
        outside = BoundEnvironment(self.simulation.body(self.identity))
        clip = make_clip(self.simulation, outside, self.identity, still)
        return [frame.positions for frame in device_clips(self.device).frames(clip)]


@cache
def device_clips(name: str):
    """One for all cases, so that programs are compiled once."""
    from corporeal.physics.fast_projective_skinning.gpu.flesh_frames import DeviceClips

    return DeviceClips(name.removeprefix("jax-"))


@cache
def deformer(name: str, model: PhenotypeModel) -> ProjectiveSkinning | LayeredSkinning:
    """One for all people, so that what contacts do not change is prepared once."""
    return DEFORMERS[name](model.template)


def looked_at(health: FleshHealth, shapes: list[Float64[NumpyArray, "n 3"]]) -> Row:
    """The worst of some frames; crossings of the last one, since they take long."""
    found = [health.frame(positions) for positions in shapes]
    return {
        "inverted": max(frame.inverted for frame in found),
        "inverted_between_anchors": max(frame.hopeless for frame in found),
        "least_determinant": round(min(frame.least_determinant for frame in found), 4),
        "largest_stretch": round(max(frame.largest_stretch for frame in found), 4),
        "volume_changes": [
            round(min(frame.volume_changes[0] for frame in found), 4),
            round(max(frame.volume_changes[1] for frame in found), 4),
        ],
        "folded_edges": max(frame.folded_edges for frame in found),
        "crossing_triangle_pairs": health.crossings(shapes[-1]),
    }


@dataclass(frozen=True)
class Job:
    """Some poses of one subject."""

    person: str
    deformer: str
    contacts: str
    untangled: bool
    device: str
    poses: tuple[str, ...]
    frames: int
    kept: Path
    sources: str
    """Digest of the code."""
    deadline: float
    """Seconds since 1970 after which no case begins."""

    @property
    def subject(self) -> Subject:
        who = (self.person, self.deformer, self.contacts, self.untangled, self.device)
        return _subject(*who)

    def what(self, pose: str) -> Row:
        """What a case is."""
        return self.subject.words() | {"pose": pose, "frames": self.frames}

    def path(self, pose: str) -> Path:
        """Where a case is kept."""
        return self.kept / f"{digest(sorted(self.what(pose).items()), self.sources)}.json"

    def is_over(self) -> bool:
        """Whether all cases are done, or time is up."""
        done = all(self.path(pose).exists() for pose in self.poses)
        return done or time.time() > self.deadline

    def rows(self) -> list[Row]:
        """Cases that are there."""
        paths = (self.path(pose) for pose in self.poses)
        return [json.loads(path.read_text()) for path in paths if path.exists()]


@cache
def _model() -> PhenotypeModel:
    return PhenotypeModel()


@cache
def _subject(person: str, kind: str, contacts: str, untangled: bool, device: str) -> Subject:
    return Subject(_model(), person, kind, contacts, untangled, device)


def hold(job: Job) -> None:
    """The cases of a job that are not there yet; each is kept at once."""
    for pose in job.poses:
        path = job.path(pose)
        if path.exists():
            continue
        if time.time() > job.deadline:
            break
        row = job.what(pose) | job.subject.held(pose, job.frames)
        part = path.with_suffix(f".{os.getpid()}.part")
        part.write_text(json.dumps(row) + "\n")
        part.rename(path)
        print(summary(row), flush=True)


def summary(row: Row) -> str:
    """One line a case."""
    held, names = row["held"], ("person", "deformer", "contacts", "pose")
    assert isinstance(held, dict)
    return (
        f"{', '.join(str(row[name]) for name in names)}: {held['inverted']} inverted, least J "
        f"{held['least_determinant']}, {held['crossing_triangle_pairs']} crossings, "
        f"{row['largest_movement_mm']} mm a frame"
    )


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", nargs="+", choices=SUBJECTS, default=list(SUBJECTS))
    parser.add_argument("--deformers", nargs="+", choices=DEFORMERS, default=list(DEFORMERS))
    parser.add_argument("--contacts", nargs="+", choices=COLLISIONS, default=list(COLLISIONS))
    parser.add_argument("--poses", nargs="+", choices=list(POSES), default=list(POSES))
    parser.add_argument("--frames", type=int, default=FRAMES, help="that a pose is held")
    parser.add_argument(
        "--untangled",
        action=argparse.BooleanOptionalAction,
        default=ProjectiveControls().untangled,
        help="elements stay right side out",
    )
    parser.add_argument("--device", default="cpu", choices=("cpu", "gpu", "jax-cpu"))
    parser.add_argument("--workers", type=int, default=1, help="processes, a thread each")
    parser.add_argument("--limit", type=float, default=math.inf, help="seconds")
    parser.add_argument("--kept", type=Path, default=KEPT, help="folder of cases already found")
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON to write")
    return parser.parse_args()


def main() -> None:
    wanted = asked()
    wanted.kept.mkdir(parents=True, exist_ok=True)
    sources, deadline = (
        digest(code(("",)), Path(__file__).read_bytes()),
        time.time() + wanted.limit,
    )
    if wanted.workers > 1:
        os.environ["NUMBA_NUM_THREADS"] = "1"
    groups = [tuple(wanted.poses[k : k + TOGETHER]) for k in range(0, len(wanted.poses), TOGETHER)]
    jobs = {
        f"{person}, {kind}, {contacts}, {poses[0]} …": Job(
            person, kind, contacts, wanted.untangled, wanted.device, poses, wanted.frames,
            wanted.kept, sources, deadline,
        )
        for poses in groups
        for person, kind, contacts in product(wanted.people, wanted.deformers, wanted.contacts)
    }  # fmt: skip
    found = run_jobs(
        hold, jobs, workers=wanted.workers, in_process=wanted.workers == 1,
        is_done=lambda job: job.is_over(), label="subjects",
    )  # fmt: skip
    rows = [row for job in jobs.values() for row in job.rows()]
    machine = f"{platform.machine()}, Python {platform.python_version()}"
    asked_for = len(wanted.poses) * len(jobs) // len(groups)
    report = {
        "commit": commit(),
        "machine": machine,
        "fps": FPS,
        "asked_for": asked_for,
        "failed": {name: failure.message for name, failure in found.failed.items()},
        "cases": rows,
    }
    print(f"{len(rows)} of {asked_for} cases; failed: {report['failed']}")
    wanted.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
