"""People in, registrations out: the virtual 4D scanner as one run over many processes."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

import corporeal
from corporeal.assets.default_body import load_default_body
from corporeal.body.registrations import LeftOut, Split, Take
from corporeal.body.template import Template
from corporeal.body.topology import topology_hash
from corporeal.capture.checkup import Checkup
from corporeal.capture.flesh import DeformerName, Touch
from corporeal.capture.person import Person
from corporeal.capture.protocols.dyna import DynaProtocol
from corporeal.capture.protocols.mocap import MocapProtocol
from corporeal.capture.protocols.poses import PosesProtocol
from corporeal.capture.protocols.protocol import CaptureProtocol
from corporeal.capture.protocols.shapes import ShapesProtocol
from corporeal.capture.scanner.scanner import Scanner, ScannerSettings, marks_on
from corporeal.capture.seeds import generator
from corporeal.capture.selection import half_of, spread_over
from corporeal.capture.session import SessionSettings, record
from corporeal.capture.skinned import SKINNED
from corporeal.capture.tissue import SPREAD
from corporeal.errors import InputError
from corporeal.evaluation.flesh_recorder import FleshRecorders
from corporeal.evaluation.health_limits import HealthLimits
from corporeal.formats.registrations import RegistrationsStore
from corporeal.formats.scans import GROUP, write_scans
from corporeal.motions.library import MOTIONS
from corporeal.population.people_store import People, read_people
from corporeal.runtime.devices import require_device, share_device_memory
from corporeal.runtime.files import file_sha256
from corporeal.runtime.jobs import JobReport, default_workers, run_jobs
from corporeal.runtime.manifest import package_versions, to_json

ProtocolName = Literal["shapes", "poses", "dyna", "mocap"]
Halves = Literal["train", "test", "both"]
_JOBS_A_WORKER, _JOBS_A_DEVICE_WORKER = 4, 2
"""Preparing a person takes as long as a take on a GPU, and a fraction of one on a CPU."""
_LATER = {"turned": 0.0, "tissue_spread": SPREAD}
GPU_WORKERS = 4
"""Processes that share a GPU by default: it waits while they find first frames, measure health and
write, and each keeps matrices of some hundred megabytes there."""


@dataclass(frozen=True, kw_only=True)
class CaptureOptions:
    """What a run may be told: one list of fields, for the config and the flags alike."""

    people: Path
    """Store of people (.zarr), as `corporeal people` writes it."""
    out: Path
    """Store of registrations to write (.zarr)."""
    protocol: ProtocolName
    """What people do."""
    split: Halves = "both"
    """Which people: those kept for training, for tests, or both."""
    women: int | None = None
    """How many women, evenly over the body mass index; all people by default."""
    men: int | None = None
    """How many men."""
    poses: int = 45
    """Poses a person, for the protocol poses."""
    fps: float = 60.0
    """Frames a second, for the protocols dyna and mocap."""
    duration: float = 5.0
    """Seconds a motion, for the protocol dyna."""
    motions: tuple[str, ...] = tuple(MOTIONS)
    """Authored motions, for the protocol dyna."""
    turned: float = 0.0
    """Share of takes in which the body lies or is upside down, for the protocol dyna."""
    clips: tuple[Path, ...] = ()
    """Motion files (.bvh, .npz), for the protocol mocap."""
    deformer: DeformerName = "layered"
    """What moves the flesh: fat and muscle on bones, or two-layer flesh; dqs (dual quaternions) has
    none and is quick, for the protocols shapes and poses."""
    touch: Touch = "global"
    """Whether skin meets skin: nowhere, at joints, or anywhere."""
    twin: bool = True
    """Also record the quasi-static twin of every movement: the same poses without momentum."""
    device: str = "cpu"
    """What simulates movements and their twins: cpu, gpu or gpu:N; held poses need the cpu."""
    tissue_spread: float = SPREAD
    """Standard deviation of ln(modulus) between people of one composition."""
    seed: int = 0
    """Draws poses, motions, tissue and noise."""
    scan_every: int = 1
    """Scan each so many frames, where raw scans are made."""


@dataclass(frozen=True, kw_only=True)
class CaptureConfig(CaptureOptions):
    """All that decides what a set holds."""

    scans: ScannerSettings | None = None
    """Also make raw scans."""


@dataclass(frozen=True)
class CaptureJob:
    """One person's visit; small enough to travel between processes."""

    config: CaptureConfig
    """Settings of the whole run."""
    index: int
    """Number of the person in the set."""
    name: str
    """Of the person."""
    split: Split
    """Whether the person trains or tests."""
    sequences: tuple[str, ...] = ()
    """What of the protocol; all of it where this is empty."""


@dataclass(frozen=True)
class Captured:
    """What came of a visit."""

    takes: int
    """Number of recordings written."""
    frames: int
    """Number of frames in them."""
    left_out: tuple[LeftOut, ...] = ()
    """Recordings that no attempt made sound."""


def capture(
    config: CaptureConfig,
    workers: int | None = None,
    scheduler: str | None = None,
    in_process: bool = False,
    join: bool = False,
) -> JobReport[Captured]:
    """Record everybody who is chosen; takes that are there already are kept.

    The store is marked as finished when nothing is missing. Run it again after an interruption: it
    takes up where it stopped. On a GPU, `GPU_WORKERS` processes share it by default. With `join` it
    helps a run of the same set on another device, beginning from the other end; takes say theirs.
    """
    _require_device(config)
    people, template = read_people(config.people), default_template()
    _require(config, people, template)
    if config.device != "cpu":
        workers = workers or min(GPU_WORKERS, default_workers())
    jobs = capture_jobs(config, people)
    store = create_store(config, people, template, join)
    each = _JOBS_A_WORKER if config.device == "cpu" else _JOBS_A_DEVICE_WORKER
    shared = shared_out(jobs, 1 if in_process else workers or default_workers(), each)
    report = run_jobs(
        capture_person,
        _from_the_other_end(shared) if join else shared,
        workers=workers,
        scheduler=scheduler,
        in_process=in_process,
        is_done=is_captured,
        label="recording people",
    )
    if not report.failed:
        left_out = [f"{take.subject} {take.sequence}" for take in store.left_out()]
        store.store.finish({"people": len(jobs), "takes": len(store.takes()), "left_out": left_out})
    return report


def capture_jobs(config: CaptureConfig, people: People) -> dict[str, CaptureJob]:
    """Who is recorded, by name."""
    seed = people.seed or 0
    halves: dict[int, Split] = {
        i: _said(split) or half_of(seed, name)
        for i, (name, split) in enumerate(zip(people.names, people.splits, strict=True))
    }
    pool = [i for i, half in halves.items() if config.split in ("both", half)]
    if config.women is not None or config.men is not None:
        chosen = spread_over(pool, people.sex, people.bmi, config.women or 0, config.men or 0)
    else:
        chosen = pool
    if not chosen:
        raise InputError(
            f"{config.people} has nobody for --split {config.split}; make more people."
        )
    return {people.names[i]: CaptureJob(config, i, people.names[i], halves[i]) for i in chosen}


def shared_out(
    jobs: Mapping[str, CaptureJob], workers: int, each: int = _JOBS_A_WORKER
) -> dict[str, CaptureJob]:
    """The same work in smaller pieces, some sequences of a person, where there are few people for
    so many processes, so that there are `each` jobs for every one: the last ones would work while
    the others wait."""
    parts = -(-each * workers // len(jobs)) if workers > 1 else 1
    shared = {}
    for name, job in jobs.items():
        sequences = protocol_of(job.config).sequences()
        count = min(parts, len(sequences))
        for number in range(count):
            some = sequences[number::count] if count > 1 else ()
            shared[name if count == 1 else f"{name} ({number + 1})"] = replace(job, sequences=some)
    return shared


def _from_the_other_end(jobs: Mapping[str, CaptureJob]) -> dict[str, CaptureJob]:
    """The last person first, with the last sequence: two runs meet with a take each in hand."""
    turned = {}
    for name, job in reversed(list(jobs.items())):
        sequences = job.sequences or protocol_of(job.config).sequences()
        turned[name] = replace(job, sequences=tuple(reversed(sequences)))
    return turned


def _said(split: str) -> Literal["train", "test"] | None:
    """The half that a table gave somebody; None where it gave none."""
    return "train" if split == "train" else "test" if split == "test" else None


def protocol_of(config: CaptureConfig) -> CaptureProtocol:
    """What people are asked to do."""
    match config.protocol:
        case "shapes":
            return ShapesProtocol()
        case "poses":
            return PosesProtocol(config.poses)
        case "dyna":
            return DynaProtocol(config.fps, config.duration, config.motions, config.turned)
        case "mocap":
            return MocapProtocol(config.clips, config.fps)


def is_captured(job: CaptureJob) -> bool:
    """Whether all takes of a person are there."""
    if not job.config.out.exists():
        return False
    store = RegistrationsStore.open(job.config.out)
    return not _missing(store, job)


def capture_person(job: CaptureJob) -> Captured:
    """Record one person, and store every take as soon as it is done."""
    config, template = job.config, default_template()
    if config.device != "cpu":
        share_device_memory()
    store, people = RegistrationsStore.open(config.out), read_people(config.people)
    person = person_of(people, job.index)
    settings = SessionSettings(
        config.deformer,
        config.touch,
        config.seed,
        config.twin,
        config.device,
        config.tissue_spread,
    )
    scanner, protocol = scanner_of(config, template), protocol_of(config)
    counts, left_out, missing = [], [], _missing(store, job)
    checkup = checkup_of(template, config.touch)
    takes = record(
        person,
        template,
        protocol,
        settings,
        job.split,
        missing,
        checkup,
        lambda sequence: _is_there(store, job.name, sequence),
    )
    for subject, take in takes:
        if isinstance(take, LeftOut):
            store.write_left_out(take)
            left_out.append(take)
            continue
        store.write_subject(subject)
        if scanner is not None:
            _scan(store, scanner, take, config)
        store.write_take(take)  # last: a take that is there has its scans
        counts.append(take.frame_count)
    return Captured(len(counts), sum(counts), tuple(left_out))


def checkup_of(template: Template, touch: Touch) -> Checkup:
    """How takes of the template are judged: by the limits that `dataset validate` has."""
    limits = HealthLimits.where_skin_meets_skin(touch == "global")
    return Checkup(FleshRecorders(template), limits.faults)


def person_of(people: People, index: int) -> Person:
    """One of the people."""
    sex = people.sex[index]
    return Person(
        people.names[index],
        "male" if sex == "male" else "female",
        float(people.age[index]),
        people.identity(index),
        people.composition(index),
        people.measurements(index),
    )


def default_template() -> Template:
    """The topology that everything is captured in."""
    return load_default_body().template


def scanner_of(config: CaptureConfig, template: Template) -> Scanner | None:
    """The scanner, if raw scans were asked for."""
    if config.scans is None:
        return None
    marks = marks_on(template) if config.scans.landmarks else None
    return Scanner(config.scans, template.mesh.triangles, marks)


def _scan(store: RegistrationsStore, scanner: Scanner, take: Take, config: CaptureConfig) -> None:
    """Scan a take, a few frames at a time."""
    frames = range(0, take.frame_count, config.scan_every)
    for first in range(0, len(frames), GROUP):
        group = frames[first : first + GROUP]
        scans = [
            scanner.scan(
                np.asarray(take.vertices[frame : frame + 1], np.float32)[0],
                generator("scan", take.notes["seed"], frame),
            )
            for frame in group
        ]
        write_scans(store, take.subject, take.sequence, group, scans, asdict(scanner.settings))


def _missing(store: RegistrationsStore, job: CaptureJob) -> tuple[str, ...]:
    names = job.sequences or protocol_of(job.config).sequences()
    return tuple(name for name in names if not _is_there(store, job.name, name))


def _is_there(store: RegistrationsStore, subject: str, sequence: str) -> bool:
    """Whether a sequence was recorded, or left out; a joined run may have done so meanwhile."""
    return store.has_take(subject, sequence) or store.is_left_out(subject, sequence)


def create_store(
    config: CaptureConfig, people: People, template: Template, join: bool = False
) -> RegistrationsStore:
    """The store of a run, made or taken up; with `join`, whichever device began it."""
    report: Mapping[str, Any] = to_json(config)
    places = ("people", "out", "clips")
    run = {name: value for name, value in report.items() if name not in places}
    for name, usual in _LATER.items():  # stores of before these options were there go on
        if run[name] == usual:
            del run[name]
    if join and config.out.exists():
        run["device"] = RegistrationsStore.open(config.out).store.run.get("device")
    run["people"] = dict(people.run)
    run["clips"] = [file_sha256(clip) for clip in config.clips]
    provenance = {
        "corporeal": corporeal.__version__,
        "verb": "capture",
        "config": report,
        "versions": package_versions(),
    }
    mesh = template.mesh
    name = f"corporeal-{mesh.vertex_count}"
    return RegistrationsStore.create(
        config.out, name, mesh.triangles, mesh.vertex_count, run, provenance
    )


def _require(config: CaptureConfig, people: People, template: Template) -> None:
    if people.template_hash != topology_hash(template.mesh.triangles, template.mesh.vertex_count):
        raise InputError(f"{config.people} has people of another topology than the default body's.")
    if config.scan_every < 1:
        raise InputError(
            f"every {config.scan_every}th frame was to be scanned; expected 1 or more."
        )
    if config.deformer == SKINNED and config.protocol in ("dyna", "mocap"):
        raise InputError(
            f"--protocol {config.protocol} moves flesh, which the deformer {SKINNED} has not; "
            f"choose layered or projective."
        )
    if not 0.0 <= config.tissue_spread <= 1.0:
        raise InputError(
            f"tissue was to vary by {config.tissue_spread} in ln(modulus); expected 0 to 1."
        )
    for clip in config.clips:
        if not clip.is_file():
            raise InputError(f"there is no file {clip}. Check the path.")
    protocol_of(config)
    if config.scans is not None:
        scanner_of(config, template)


def _require_device(config: CaptureConfig) -> None:
    """Refuse a device that is not there, and what it does not simulate."""
    if config.device == "cpu":
        return
    share_device_memory()
    require_device(config.device)
    if config.protocol in ("shapes", "poses"):
        raise InputError(
            f"held poses (--protocol {config.protocol}) are simulated on the CPU alone; "
            f"{config.device} was asked for. Leave --device out."
        )
    if config.touch == "local":
        raise InputError(
            "skin meets skin at joints (local) was asked for on a GPU, which finds it anywhere "
            "(global) or nowhere (off). Choose one of these, or --device cpu."
        )
