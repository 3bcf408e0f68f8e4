"""Check a set of registrations: every frame quickly, some frames thoroughly, takes in parallel."""

from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from corporeal._typing import Int, NumpyArray
from corporeal.body.health_record import FrameFault
from corporeal.body.registrations import LeftOut, Rows, Subject, Take
from corporeal.evaluation.health_limits import HealthLimits
from corporeal.evaluation.skin_parts import default_parts
from corporeal.evaluation.take_health import TakeDoctor
from corporeal.formats.registrations import RegistrationsStore
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS
from corporeal.pipelines.dataset import is_store, read_dataset
from corporeal.runtime.jobs import JobReport, run_jobs

_BLOCK = 32
_EVERYWHERE = float(COLLISIONS.index("global"))
"""Of the material `collisions`, as takes keep it."""
TWIN = "twin: "
"""Begins the words of what is wrong with a take's twin."""
LISTED = ("stretched edges", "penetration")
"""Faults of the skin that are listed; all others make a take useless."""


@dataclass(frozen=True)
class CheckJob:
    """One take of a set; small enough to travel between processes."""

    path: Path
    """The set."""
    subject: str
    """Name of the person."""
    sequence: str
    """Name of the sequence."""
    thorough: int
    """Frames whose penetration is measured, spread over the take."""


@dataclass(frozen=True)
class TakeCheck:
    """What was found."""

    frames: int
    """Frames looked at."""
    asked: int
    """Frames whose penetration was measured."""
    faults: tuple[FrameFault, ...]
    """What is wrong, frame by frame."""
    measured: bool
    """Whether a health record lies beside the take."""


@dataclass(frozen=True)
class DatasetCheck:
    """What was found in all takes."""

    takes: int
    """Takes looked at."""
    frames: int
    """Frames looked at."""
    frames_asked_for_penetration: int
    """Frames among them whose penetration was measured."""
    broken: int
    """Faults that make a take useless."""
    broken_takes: tuple[str, ...]
    """Takes with such faults."""
    without_health: int
    """Takes whose flesh was not measured when they were recorded: their skin alone was judged."""
    left_out: tuple[LeftOut, ...]
    """Takes that `capture` recorded, found unsound and did not keep."""
    counts: dict[str, int]
    """Frames by fault."""
    deepest: float
    """Metres."""
    faults: dict[str, list[FrameFault]] = field(default_factory=dict)
    """By take."""
    unreadable: dict[str, str] = field(default_factory=dict)
    """Why, by take."""
    finished: bool | None = None
    """Whether the run that wrote the set came to its end; None for formats that cannot say."""


def check_dataset(
    path: Path, thorough: int = 5, workers: int | None = None, scheduler: str | None = None
) -> DatasetCheck:
    """Read every frame of a set; `thorough` frames a take are also asked for skin in the body."""
    held = read_dataset(path)
    jobs = {
        f"{take.subject} {take.sequence}": CheckJob(path, take.subject, take.sequence, thorough)
        for take in held.takes
    }
    report: JobReport[TakeCheck] = run_jobs(
        check_take, jobs, workers=workers, scheduler=scheduler, label="checking takes"
    )
    counts: Counter[str] = Counter()
    for found in report.done.values():
        counts.update(fault.what for fault in found.faults)
    broken = {name: _spoiling(found) for name, found in report.done.items()}
    store = RegistrationsStore.open(path) if is_store(path) else None
    depths = [f.worst for c in report.done.values() for f in c.faults if f.what == "penetration"]
    return DatasetCheck(
        takes=len(jobs),
        frames=sum(found.frames for found in report.done.values()),
        frames_asked_for_penetration=sum(found.asked for found in report.done.values()),
        broken=sum(broken.values()),
        broken_takes=tuple(name for name, number in broken.items() if number),
        without_health=sum(not found.measured for found in report.done.values()),
        left_out=() if store is None else tuple(store.left_out()),
        counts=dict(counts),
        deepest=max(depths, default=0.0),
        faults={name: list(found.faults) for name, found in report.done.items() if found.faults},
        unreadable={name: failure.message for name, failure in report.failed.items()},
        finished=None if store is None else store.store.is_finished,
    )


def check_take(job: CheckJob) -> TakeCheck:
    """Read one take, a block at a time."""
    take, subject, triangles = _found(job)
    if subject is not None and subject.identity is not None:
        rest = np.asarray(subject.identity.rest_vertices)
    else:
        rest = np.asarray(take.vertices[0:1], np.float32)[0]
    doctor = TakeDoctor(rest, triangles, take.fps, default_parts(triangles))
    faults = _every_frame(doctor, take.vertices)
    if take.twin is not None:
        faults += _of_twin(_every_frame(doctor, take.twin.vertices))
    faults += _recorded(take)
    asked = _thorough_frames(take, job.thorough)
    for number in asked:
        frame = np.asarray(take.vertices[number : number + 1], np.float32)[0]
        if np.isfinite(frame).all():
            faults += doctor.penetration(number, frame)
    return TakeCheck(take.frame_count, len(asked), tuple(faults), take.health is not None)


def _every_frame(doctor: TakeDoctor, rows: Rows) -> list[FrameFault]:
    """What every frame is asked, a block at a time."""
    faults: list[FrameFault] = []
    for first in range(0, rows.shape[0], _BLOCK):
        start = max(0, first - 1)  # with the frame before, for speeds
        block = np.asarray(rows[start : first + _BLOCK], np.float32)
        faults += [fault for fault in doctor.quick(start, block) if fault.frame >= first]
    return faults


def _recorded(take: Take) -> list[FrameFault]:
    """What the health records of a take and its twin say."""
    told = {} if take.truth is None else take.truth.materials
    everywhere = told.get("collisions", _EVERYWHERE) >= _EVERYWHERE
    limits, twin = HealthLimits.where_skin_meets_skin(everywhere), take.twin
    own = [] if take.health is None else limits.faults(take.health)
    if twin is None or twin.health is None:
        return own
    return own + _of_twin(limits.faults(twin.health))


def _of_twin(faults: list[FrameFault]) -> list[FrameFault]:
    return [replace(fault, what=f"{TWIN}{fault.what}") for fault in faults]


def _spoiling(found: TakeCheck) -> int:
    """Number of faults that make a take useless."""
    return sum(fault.what.removeprefix(TWIN) not in LISTED for fault in found.faults)


def _found(job: CheckJob) -> tuple[Take, Subject | None, Int[NumpyArray, "F 3"]]:
    """A take without opening all others, where the format allows that."""
    if is_store(job.path):
        store = RegistrationsStore.open(job.path)
        who = store.subject(job.subject) if store.has_subject(job.subject) else None
        return store.take(job.subject, job.sequence), who, store.triangles
    held = read_dataset(job.path)
    take = next(t for t in held.takes if (t.subject, t.sequence) == (job.subject, job.sequence))
    return take, held.subjects.get(job.subject), held.triangles


def _thorough_frames(take: Take, wanted: int) -> list[int]:
    count = min(wanted, take.frame_count)
    return sorted({int(n) for n in np.linspace(0, take.frame_count - 1, count).round()})
