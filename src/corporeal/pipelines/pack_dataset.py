"""Captures into one small file with a stated error: `corporeal dataset pack`."""

import tempfile
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path
from typing import Any, Final

import numpy as np

from corporeal._typing import Float32, Int, NumpyArray
from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.registrations import Registrations, Take
from corporeal.body.topology import topology_hash
from corporeal.errors import InputError
from corporeal.formats.npz import open_npz, write_npz
from corporeal.formats.packed_registrations import (
    SUFFIX,
    PackedCode,
    PackedRegistrations,
    is_packed,
    write_packed,
)
from corporeal.formats.registrations import RegistrationsStore
from corporeal.numerics.transform_coding import Code, differences, make_code
from corporeal.pipelines.pack_config import PackConfig
from corporeal.pipelines.pack_facts import packed_facts, require_identity
from corporeal.pipelines.packed_dataset import (
    Carrier,
    CodedRows,
    PackedError,
    about_error,
    error_of,
    pose_of,
    rounded_poses,
    template_of,
)
from corporeal.runtime.files import require_writable
from corporeal.runtime.jobs import run_jobs

SHAPE_ERROR: Final = 5e-5
"""Of rest shapes, metres, root mean square; offsets make up for it."""
SAMPLE: Final = 4_000
"""Frames at most that directions are found on; the time for it grows with their third power."""
FAR_STEP: Final = 1e-4
"""Metres, of vertices that are told one by one."""
_ORDERS: Final = (0, 1)


@dataclass(frozen=True, eq=False)
class Packed:
    """What came of packing."""

    out: Path
    """The file."""
    bytes: int
    """Its size."""
    frames: int
    """Frames of all takes, twins not counted."""
    errors: dict[str, PackedError]
    """Of `takes`, `twins` and `shapes`, as measured on all of them."""
    directions: dict[str, int]
    """By the name of the code."""


@dataclass(frozen=True)
class _TakeJob:
    """One take, to be brought to the rest pose."""

    data: Path
    subject: str
    sequence: str
    scratch: Path
    """Folder with the codes."""
    every: int = 0
    """Frames from one of the sample to the next; 0 to encode all."""


@dataclass(frozen=True, eq=False)
class _Encoded:
    """A take in whole numbers."""

    poses: Int[NumpyArray, "N q"]
    coded: dict[str, tuple[NumpyArray, NumpyArray, NumpyArray, NumpyArray]]
    """Steps, rows, vertices and steps of single vertices, by the name of the code."""
    errors: dict[str, PackedError]
    frames: int


@dataclass
class _Summed:
    """Errors of many takes together."""

    squares: float = 0.0
    weights: float = 0.0
    percentiles: list[float] = field(default_factory=list)
    largest: float = 0.0

    def add(self, error: PackedError, frames: int) -> None:
        self.squares += frames * error.rms**2
        self.weights += frames
        self.percentiles.append(error.percentile99)
        self.largest = max(self.largest, error.largest)

    def total(self) -> PackedError:
        rms = float(np.sqrt(self.squares / max(self.weights, 1.0)))
        return PackedError(rms, float(np.mean(self.percentiles or [0.0])), self.largest)


def pack_dataset(
    config: PackConfig, workers: int | None = None, in_process: bool = False
) -> Packed:
    """Pack a store of captures; poses and rest shapes must be known, as those of captures are."""
    if not is_packed(config.out):
        raise InputError(f"cannot pack into {config.out}; expected a name that ends in {SUFFIX}.")
    require_writable(config.out)
    held = RegistrationsStore.open(config.data).read()
    _require_known(held, config)
    with tempfile.TemporaryDirectory() as folder:
        scratch = Path(folder)
        shapes, shape_error = _code_shapes(held, scratch)
        found = _code_takes(held, config, scratch, workers, in_process)
    about, arrays = packed_facts(held, config), _rig()
    codes = {"shape": shapes, **found.codes}
    errors = {"shapes": shape_error, **found.errors}
    about["errors"] = {name: about_error(error) for name, error in errors.items()}
    about["codes"] = {
        name: {"basis_step": c.code.basis_step, "step": c.code.step, "far_step": c.far_step}
        for name, c in codes.items()
    }
    lengths = {
        "shape": [1] * len(held.subjects),
        "pose": [take.frame_count for take in held.takes],
        "dynamic": [take.frame_count for take in held.takes if take.twin is not None],
    }
    joints = np.stack([require_identity(held, name).joints for name in held.subjects])
    packed = PackedRegistrations(
        about,
        held.triangles,
        arrays.parents,
        arrays.skin_joints,
        arrays.skin_weights,
        joints.astype(np.float32),
        _differences(found.poses, np.full(found.poses.shape[1], 2), lengths["pose"]),
        {name: _packed(code, lengths[name]) for name, code in codes.items()},
    )
    write_packed(config.out, packed)
    size = config.out.stat().st_size
    counts = {name: code.code.count for name, code in codes.items()}
    return Packed(config.out, size, held.frame_count, errors, counts)


@dataclass(frozen=True, eq=False)
class _Found:
    """All takes in whole numbers."""

    poses: Int[NumpyArray, "N q"]
    codes: dict[str, CodedRows]
    errors: dict[str, PackedError]


def _code_shapes(held: Registrations, scratch: Path) -> tuple[CodedRows, PackedError]:
    """The rest shapes of all subjects, and how far they are off; leaves them in the folder."""
    bodies = [require_identity(held, name).rest_vertices for name in held.subjects]
    rows = np.stack([np.asarray(b, np.float32) for b in bodies]).reshape(len(bodies), -1)
    code = make_code(rows, SHAPE_ERROR)
    coded = CodedRows(code, *_encoded(code, rows, 0.5e-3), FAR_STEP)
    found = coded.rows(slice(None))
    np.save(scratch / "rest.npy", found)
    return coded, error_of(rows, found)


def _code_takes(
    held: Registrations, config: PackConfig, scratch: Path, workers: int | None, in_process: bool
) -> _Found:
    """Directions from a sample of frames, then every take in whole numbers."""
    every = max(1, -(-held.frame_count // SAMPLE))
    names = list(held.subjects)
    for number, name in enumerate(names):
        np.save(scratch / f"{name}.npy", np.array(number))
    jobs = {
        f"{t.subject} {t.sequence}": _TakeJob(
            config.data.resolve(), t.subject, t.sequence, scratch, every
        )
        for t in held.takes
    }
    sampled = run_jobs(
        _sampled, jobs, workers=workers, in_process=in_process, label="sampling takes"
    )
    if (error := sampled.error()) is not None:
        raise error
    moving = any(take.twin is not None for take in held.takes)
    share = config.error / np.sqrt(2.0) if moving else config.error
    for name in ("pose", "dynamic"):
        rows = [part[name] for part in sampled.done.values() if name in part]
        if rows:
            code = make_code(np.concatenate(rows), 0.9 * float(share))
            _save_code(scratch / f"{name}.npz", code, config.largest)
    sampled.done.clear()
    whole = {k: _TakeJob(j.data, j.subject, j.sequence, scratch) for k, j in jobs.items()}
    report = run_jobs(_encode, whole, workers=workers, in_process=in_process, label="packing takes")
    if (error := report.error()) is not None:
        raise error
    return _joined([report.done[key] for key in whole], scratch)


def _joined(takes: list[_Encoded], scratch: Path) -> _Found:
    codes = {}
    for name in ("pose", "dynamic"):
        parts = [take.coded[name] for take in takes if name in take.coded]
        if not parts:
            continue
        firsts = np.cumsum([0, *(len(steps) for steps, *_ in parts[:-1])])
        code, _ = _load_code(scratch / f"{name}.npz")
        codes[name] = CodedRows(
            code,
            np.concatenate([steps for steps, *_ in parts]),
            np.concatenate([rows + n for (_, rows, _, _), n in zip(parts, firsts, strict=True)]),
            np.concatenate([vertices for _, _, vertices, _ in parts]),
            np.concatenate([far for *_, far in parts]),
            FAR_STEP,
        )
    errors = {}
    for kind in ("takes", "twins"):
        total = _Summed()
        for take in takes:
            if kind in take.errors:
                total.add(take.errors[kind], take.frames)
        if total.percentiles:
            errors[kind] = total.total()
    return _Found(np.concatenate([take.poses for take in takes]), codes, errors)


def _sampled(job: _TakeJob) -> dict[str, Float32[NumpyArray, "n d"]]:
    """Offsets of some frames of a take, by the name of the code."""
    take = RegistrationsStore.open(job.data).take(job.subject, job.sequence)
    offset = sum(map(ord, job.subject + job.sequence)) % min(job.every, take.frame_count)
    return _offsets(job, take, slice(offset, None, job.every))[1]


def _encode(job: _TakeJob) -> _Encoded:
    """A take in whole numbers, and how far it is off."""
    take = RegistrationsStore.open(job.data).take(job.subject, job.sequence)
    poses, offsets = _offsets(job, take, slice(None))
    coded, decoded = {}, {}
    for name, rows in offsets.items():
        code, largest = _load_code(job.scratch / f"{name}.npz")
        coded[name] = _encoded(code, rows, largest)
        steps, *places, far = coded[name]
        decoded[name] = CodedRows(code, steps, places[0], places[1], far, FAR_STEP).rows(
            slice(None)
        )
    errors = {}
    if "dynamic" in offsets:
        errors["twins"] = error_of(offsets["pose"], decoded["pose"])
    exact, found = (sum(parts.values()) for parts in (offsets, decoded))
    errors["takes"] = error_of(exact, found)  # type: ignore[arg-type]
    return _Encoded(poses, coded, errors, take.frame_count)


def _offsets(
    job: _TakeJob, take: Take, chosen: slice
) -> tuple[Int[NumpyArray, "N q"], dict[str, Float32[NumpyArray, "n d"]]]:
    """Rounded poses of a take, and offsets of the chosen frames by cause."""
    number = int(np.load(job.scratch / f"{job.subject}.npy"))
    rest = np.load(job.scratch / "rest.npy", mmap_mode="r")[number].reshape(-1, 3)
    subject = RegistrationsStore.open(job.data).subject(job.subject)
    assert subject.identity is not None
    joints = np.asarray(subject.identity.joints, np.float32)
    identity = Identity(np.ascontiguousarray(rest), joints, {})
    poses = rounded_poses(take)
    pose, count = pose_of(poses[chosen]), take.frame_count

    def offsets(vertices: Any) -> Float32[NumpyArray, "n d"]:
        skins = np.asarray(vertices[0:count], np.float32)[chosen]
        return _carrier().to_rest(identity, pose, skins).astype(np.float32)

    whole = offsets(take.vertices)
    if take.twin is None:
        return poses, {"pose": whole}
    still = offsets(take.twin.vertices)
    return poses, {"pose": still, "dynamic": whole - still}


def _encoded(
    code: Code, rows: Float32[NumpyArray, "n d"], largest: float
) -> tuple[NumpyArray, NumpyArray, NumpyArray, NumpyArray]:
    """Steps of rows, and the vertices that would be off by more than `largest` metres."""
    steps = code.encoded(rows)
    off = (rows - code.decoded(steps)).reshape(len(rows), -1, 3)
    far_rows, far_vertices = np.nonzero(np.linalg.norm(off, axis=-1) > largest)
    far = np.round(off[far_rows, far_vertices] / FAR_STEP).astype(np.int32)
    return steps, far_rows, far_vertices, far


def _packed(coded: CodedRows, lengths: list[int]) -> PackedCode:
    """Columns as differences where these are smaller."""
    counts = [_bits(_differences(coded.steps, np.full(coded.code.count, n), lengths))
              for n in _ORDERS]  # fmt: skip
    orders = np.argmin(np.stack(counts), axis=0)
    return PackedCode(
        coded.code.mean,
        coded.code.basis,
        coded.code.deviations,
        _differences(coded.steps, orders, lengths),
        orders,
        coded.far_rows,
        coded.far_vertices,
        coded.far_steps,
    )


def _differences(
    steps: Int[NumpyArray, "n c"], orders: Int[NumpyArray, "c"], lengths: list[int]
) -> Int[NumpyArray, "n c"]:
    """Differences of every column along every take, so often as `orders` says."""
    found, first = steps.copy(), 0
    for length in lengths:
        some = slice(first, first + length)
        for order in (1, 2):
            columns = np.flatnonzero(orders == order)
            found[some, columns] = differences(found[some, columns], order)
        first += length
    return found


def _bits(steps: Int[NumpyArray, "n c"]) -> NumpyArray:
    """About how many bits every column takes."""
    return np.log2(1.0 + 2.0 * np.abs(steps)).sum(axis=0)


def _require_known(held: Registrations, config: PackConfig) -> None:
    if not held.takes:
        raise InputError(f"{config.data} has no takes; there is nothing to pack.")
    mesh = load_default_body().template.mesh
    if held.topology_hash != topology_hash(mesh.triangles, mesh.vertex_count):
        raise InputError(f"{config.data} has another topology than the default body's: its skin "
                         f"cannot be carried to a rest pose.")  # fmt: skip
    for take in held.takes:
        subject = held.subjects.get(take.subject)
        if take.truth is None or subject is None or subject.identity is None:
            raise InputError(
                f"{config.data}: the pose or the rest shape of take {take.subject} "
                f"{take.sequence} is not known; only captures can be packed."
            )


@lru_cache(maxsize=1)
def _rig() -> PackedRegistrations:
    """Tree and weights of the default body, as a packed file has them."""
    template = load_default_body().template
    return PackedRegistrations(
        {},
        np.asarray(template.mesh.triangles, np.int64),
        np.asarray(template.skeleton.parents, np.int64),
        np.asarray(template.weights.joint_indices, np.int64),
        np.asarray(template.weights.values, np.float32),
        np.asarray(template.skeleton.joints, np.float32)[None],
        np.zeros((0, 0), np.int32),
        {},
    )


@lru_cache(maxsize=1)
def _carrier() -> Carrier:
    return Carrier(template_of(_rig()))


def _save_code(path: Path, code: Code, largest: float) -> None:
    write_npz(
        path,
        {
            "mean": code.mean,
            "basis": code.basis,
            "deviations": code.deviations,
            "steps": np.array([code.basis_step, code.step, largest]),
        },
    )


@lru_cache(maxsize=4)
def _load_code(path: Path) -> tuple[Code, float]:
    """A code that this run saved, and the largest error of a vertex."""
    with open_npz(path) as file:
        basis_step, step, largest = file.array("steps", "f", (3,))
        code = Code(
            file.array("mean", "f", ("d",)),
            file.array("basis", "i", ("c", "d")),
            float(basis_step),
            file.array("deviations", "f", ("c",)),
            float(step),
        )
    return code, float(largest)
