"""Scans in, registrations that trainers take out: one scan, a folder, a store; one by one, several
of one person together (as are the frames of a store's take), or as sequences.

Every take is a job of its own: finished takes are kept, so a stopped run goes on where it was, and
a sequence keeps its finished frames beside the result until the take is whole.
"""

import shutil
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.identity import Identity
from corporeal.body.raw_scan import RawScan
from corporeal.body.registrations import Subject, Take, Truth
from corporeal.errors import InputError
from corporeal.formats.npz import open_npz, write_npz
from corporeal.formats.raw_scans import SUFFIXES, read_raw_scan
from corporeal.formats.registrations import RegistrationsStore
from corporeal.formats.scans import read_scans
from corporeal.pipelines.registration_report import report_figures, write_report
from corporeal.registration.person_model import person_model
from corporeal.registration.register import RegisteredScan, register_scan, register_together
from corporeal.registration.tracking import TrackedFrame, Tracker
from corporeal.runtime.jobs import JobReport, run_jobs
from corporeal.runtime.manifest import start_run

TEMPLATE = "corporeal-13380"
"""Name of the topology of registrations."""
CHUNK = 20
"""Frames of a sequence that are kept together while it is tracked."""


@dataclass(frozen=True, kw_only=True)
class RegisterConfig:
    """What is registered, and where to."""

    scans: Path
    """A scan, a folder of scans, or a store that holds raw scans."""
    out: Path
    """Store of registrations (.zarr) to write."""
    report: Path | None = None
    """Folder for reports, a page a scan; none by default."""
    sequence: bool = False
    """Scans follow each other in time: register the first, track the others."""
    same_person: bool = False
    """All scans of the folder are of one person: one shape for all."""
    fps: float = 60.0
    """Frames a second of a folder's sequence."""
    backwards: bool = False
    """Track a sequence from its end."""
    unit: str = "auto"
    """Unit of the scans: m, cm, mm or in; found from their size by default."""
    up: str = "auto"
    """Upward axis of the scans, such as +z; found by default."""
    most_frames: int | None = None
    """Frames of each sequence to register; all by default."""


@dataclass(frozen=True)
class RegisterJob:
    """One take."""

    config: RegisterConfig
    """Of the whole run."""
    subject: str
    """Name of the person."""
    sequence: str
    """Name of the take."""
    files: tuple[Path, ...] = ()
    """Scans of a folder, in order; none for a store's take."""


@dataclass(frozen=True)
class TakeRegistered:
    """What became of a take; small enough to travel between processes."""

    subject: str
    """Name of the person."""
    sequence: str
    """Name of the take."""
    frames: int
    """Number of frames."""
    median_mm: float
    """Median distance of scans from their meshes, over all frames."""
    worst_mm: float
    """The same of the worst frame."""
    recovered: int = 0
    """Frames that had been lost and were begun again."""
    lost: int = 0
    """Frames that stayed lost."""
    figures: Mapping[str, Any] = field(default_factory=dict)
    """Of a static scan: distances by part, coverage, seconds."""


def register(
    config: RegisterConfig, workers: int | None = None, scheduler: str | None = None
) -> JobReport[TakeRegistered]:
    """Register all takes; those that are there already are kept."""
    jobs = register_jobs(config)
    _store(config)
    return run_jobs(
        _registered,
        jobs,
        workers=workers,
        scheduler=scheduler,
        in_process=len(jobs) == 1 or workers == 1,
        is_done=_is_done,
        label="takes",
    )


def register_jobs(config: RegisterConfig) -> dict[str, RegisterJob]:
    """One job a take, by name."""
    path = config.scans
    if path.suffix.lower() == ".zarr":
        takes = _scanned_takes(path)
        return {f"{s}__{q}": RegisterJob(config, s, q) for s, q in takes}
    if path.is_dir():
        files = tuple(p for p in sorted(path.iterdir()) if p.suffix.lower() in SUFFIXES)
        if not files:
            raise InputError(f"{path} holds no scans; expected files such as {SUFFIXES[0]}.")
        if config.sequence or config.same_person:
            name = _plain(path.name)
            return {name: RegisterJob(config, name, "scans", files)}
        return {p.stem: RegisterJob(config, _plain(p.stem), "scan", (p,)) for p in files}
    if not path.is_file():
        raise InputError(f"there is no scan {path}. Check the path.")
    return {path.stem: RegisterJob(config, _plain(path.stem), "scan", (path,))}


def _plain(name: str) -> str:
    """A name that stores take."""
    kept = "".join(c if c.isalnum() or c == "-" else "-" for c in name).strip("-")
    return kept or "person"


def _scanned_takes(path: Path) -> list[tuple[str, str]]:
    store = RegistrationsStore.open(path)
    read = store.read()
    found = [(t.subject, t.sequence) for t in read.takes]
    scanned = [pair for pair in found if next(read_scans(store, *pair), None) is not None]
    if not scanned:
        raise InputError(
            f"{path} holds no raw scans; record with corporeal capture --scans to have some."
        )
    return scanned


def _store(config: RegisterConfig) -> RegistrationsStore:
    template = person_model().template
    run = start_run("register", config)
    shown = {key: value for key, value in run.config.items() if key not in ("out", "report")}
    return RegistrationsStore.create(
        config.out,
        TEMPLATE,
        np.asarray(template.mesh.triangles),
        template.mesh.vertex_count,
        {"verb": "register", "config": shown},
        {"verb": "register"},
    )


def _is_done(job: RegisterJob) -> bool:
    return _store(job.config).has_take(job.subject, job.sequence)


def _registered(job: RegisterJob) -> TakeRegistered:
    """A sequence is tracked; else all scans of a job are one person's."""
    return _sequence(job) if job.config.sequence else _together(job)


def _together(job: RegisterJob) -> TakeRegistered:
    config = job.config
    scans = [scan for _, scan in _frames(job)]
    if not scans:
        raise InputError(f"take {job.subject} {job.sequence} has no scans.")
    if len(scans) == 1:
        found = [register_scan(scans[0], unit=config.unit, up=config.up)]
        identity = found[0].registered.identity
    else:
        found, identity = register_together(scans, unit=config.unit, up=config.up)
    if config.report is not None:
        names = [path.name for path in job.files] or [
            f"{job.subject}-{job.sequence}-{number}" for number in range(len(scans))
        ]
        for name, one in zip(names, found, strict=True):
            write_report(config.report / _plain(Path(name).stem), one, name)
    return _write_static(job, found, identity)


def _write_static(
    job: RegisterJob, found: list[RegisteredScan], identity: Identity
) -> TakeRegistered:
    store = _store(job.config)
    vertices = np.stack([one.registered.vertices for one in found]).astype(np.float32)
    turns = np.stack([one.registered.pose.joint_rotations for one in found])
    places = np.stack([one.registered.pose.root_translation for one in found])
    store.write_subject(Subject(job.subject, identity))
    figures = {"registrations": [report_figures(one) for one in found]}
    truth = Truth(turns.astype(np.float32), places.astype(np.float32))
    store.write_take(
        Take(job.subject, job.sequence, 0.0, vertices, truth, notes={"registered": figures})
    )
    medians = [1e3 * one.registered.quality.median for one in found]
    return TakeRegistered(
        job.subject,
        job.sequence,
        len(found),
        float(np.median(medians)),
        float(np.max(medians)),
        figures=figures,
    )


def _frames(job: RegisterJob) -> Iterator[tuple[int, RawScan]]:
    """Scans of a sequence, numbered, in the order of tracking."""
    config = job.config
    if job.files:
        files = job.files[: config.most_frames]
        numbered = list(enumerate(files))
        for number, path in reversed(numbered) if config.backwards else numbered:
            yield number, read_raw_scan(path)
        return
    store = RegistrationsStore.open(config.scans)
    scans = read_scans(store, job.subject, job.sequence)
    if config.backwards:
        scans = iter(list(scans)[::-1])
    for count, (number, scan) in enumerate(scans):
        if config.most_frames is not None and count >= config.most_frames:
            return
        yield (
            number,
            RawScan(np.asarray(scan.points, np.float64), confidence=np.asarray(scan.confidence)),
        )


def _sequence(job: RegisterJob) -> TakeRegistered:
    """Register the first frame, track the others; finished chunks are kept on the disk."""
    config = job.config
    place = config.out.with_name(f".{config.out.name}.{job.subject}.{job.sequence}.frames")
    kept = _kept_chunks(place)
    rows: list[dict[str, NumpyArray]] = list(kept)
    done = sum(len(chunk["medians"]) for chunk in rows)
    tracker: Tracker | None = None
    identity: Identity | None = None
    chunk: list[tuple[int, TrackedFrame]] = []
    placement = None
    for count, (number, scan) in enumerate(_frames(job)):
        if tracker is None:
            first = register_scan(scan, unit=config.unit, up=config.up)
            identity, placement = first.registered.identity, first.placement
            tracker = Tracker(identity)
            tracker.begin(first.registered.pose)
            if rows:
                tracker.begin(_last_pose(rows[-1]))
        if count < done:
            continue
        assert placement is not None
        frame = tracker.frame(placement.into(np.asarray(scan.points, np.float64)), scan.confidence)
        chunk.append((number, frame))
        if len(chunk) == CHUNK:
            rows.append(_write_chunk(place, len(rows), chunk))
            chunk = []
    if chunk:
        rows.append(_write_chunk(place, len(rows), chunk))
    if tracker is None or identity is None:
        raise InputError(f"take {job.subject} {job.sequence} has no scans.")
    made = _write_sequence(job, rows, identity)
    shutil.rmtree(place, ignore_errors=True)
    return made


def _kept_chunks(place: Path) -> list[dict[str, NumpyArray]]:
    found = []
    for path in sorted(place.glob("*.npz")) if place.is_dir() else ():
        with open_npz(path) as file:
            count = file.headers["medians"].shape[0]
            vertices = person_model().template.mesh.vertex_count
            joints = person_model().joint_count
            found.append(
                {
                    "numbers": file.array("numbers", "i", (count,)),
                    "vertices": file.array("vertices", "f", (count, vertices, 3)),
                    "rotations": file.array("rotations", "f", (count, joints, 3)),
                    "translations": file.array("translations", "f", (count, 3)),
                    "medians": file.array("medians", "f", (count,)),
                    "states": file.array("states", "i", (count,)),
                }
            )
    return found


def _write_chunk(
    place: Path, index: int, frames: list[tuple[int, TrackedFrame]]
) -> dict[str, NumpyArray]:
    place.mkdir(parents=True, exist_ok=True)
    arrays = {
        "numbers": np.array([number for number, _ in frames], np.int64),
        "vertices": np.stack([frame.vertices for _, frame in frames]).astype(np.float32),
        "rotations": np.stack([frame.pose.joint_rotations for _, frame in frames]),
        "translations": np.stack([frame.pose.root_translation for _, frame in frames]),
        "medians": np.array([frame.median for _, frame in frames]),
        "states": np.array([2 * frame.lost + frame.recovered for _, frame in frames], np.int64),
    }
    write_npz(place / f"{index:05d}.npz", arrays)
    return arrays


def _last_pose(chunk: Mapping[str, NumpyArray]) -> Any:
    from corporeal.body.pose import Pose

    return Pose(chunk["rotations"][-1], chunk["translations"][-1])


def _write_sequence(
    job: RegisterJob, rows: list[dict[str, NumpyArray]], identity: Identity
) -> TakeRegistered:
    config = job.config
    joined = {key: np.concatenate([chunk[key] for chunk in rows]) for key in rows[0]}
    order = np.argsort(joined["numbers"])
    joined = {key: values[order] for key, values in joined.items()}
    fps = config.fps
    if not job.files:
        fps = RegistrationsStore.open(config.scans).take(job.subject, job.sequence).fps
    store = _store(config)
    store.write_subject(Subject(job.subject, identity))
    medians = 1e3 * joined["medians"]
    notes = {
        "registered": {
            "median_mm": [round(float(m), 4) for m in medians],
            "frames": joined["numbers"].tolist(),
        }
    }
    truth = Truth(joined["rotations"].astype(np.float32), joined["translations"].astype(np.float32))
    store.write_take(Take(job.subject, job.sequence, fps, joined["vertices"], truth, notes=notes))
    return TakeRegistered(
        job.subject,
        job.sequence,
        len(medians),
        float(np.median(medians)),
        float(medians.max()),
        int((joined["states"] % 2).sum()),
        int((joined["states"] >= 2).sum()),
    )
