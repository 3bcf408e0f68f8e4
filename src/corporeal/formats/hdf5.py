"""DFAUST and Dyna's `.hdf5`: every sequence of every subject in one file.

================== =========================================================================
survives           `<subject>_<sequence>` V × 3 × N (metres, y up), `faces` F × 3; 60 fps
does not           truth, splits, notes, other frame rates; all are listed by `lost_in_hdf5`
================== =========================================================================

Official files load unmodified. Links to other files, virtual and external data are refused, and so
are arrays that no bytes in the file stand for.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.registrations import Registrations, Take
from corporeal.errors import FormatError, InputError
from corporeal.runtime.extras import import_extra
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import require_input

FPS = 60.0
"""Of DFAUST and Dyna, frames a second."""
_FACES = "faces"
_MAX_VERTICES = 10_000_000
_MAX_ROWS_BYTES = 256 * 1024**2
_MAX_CHUNK_BYTES = 128 * 1024**2
"""A chunk is unpacked whole, whatever is read of it."""
_MAX_FACES_BYTES = 128 * 1024**2
_FILTERS = ("gzip", "lzf", None)
_DAMAGE = (
    OSError, RuntimeError, LookupError, ValueError, TypeError, AttributeError, ArithmeticError,
    MemoryError, AssertionError, EOFError,
)  # fmt: skip
"""What h5py raises for damaged bytes."""
_BLOCK = 64
"""Frames written at a time."""


@dataclass(frozen=True)
class Hdf5Frames:
    """Frames of one sequence, read when they are asked for; holds no open file."""

    path: Path
    """The file."""
    key: str
    """Name of the data set, subject and sequence joined by `_`."""
    shape: tuple[int, ...]
    """N × V × 3, frames first."""

    def __getitem__(self, rows: slice) -> NumpyArray:
        start, stop, step = rows.indices(self.shape[0])
        if step != 1:
            raise InputError(f"rows were asked for in steps of {step}; expected a plain range.")
        needed = max(0, stop - start) * self.shape[1] * 24
        if needed > _MAX_ROWS_BYTES:
            raise InputError(
                f"{stop - start} frames of {self.key} take {needed} bytes; expected at most "
                f"{_MAX_ROWS_BYTES} at once. Read fewer at a time."
            )
        with _opened(self.path) as file:
            frames = file[self.key][:, :, start:stop]
        block = np.ascontiguousarray(np.moveaxis(frames, 2, 0), np.float32)
        if not np.isfinite(block).all():
            raise FormatError(
                f"{self.path}: {self.key} is not finite in frames {start} to {stop}. Mend it first."
            )
        return block


def read_dfaust(path: str | Path, template: str = "") -> Registrations:
    """All sequences of a file; vertices are read when they are asked for."""
    path = Path(path)
    with _opened(path) as file:
        for key in file:
            _require_plain(path, file, key)
        if _FACES not in file:
            raise FormatError(
                f"{path} has no 'faces'; expected DFAUST's layout: faces, and "
                f"<subject>_<sequence> of shape vertices × 3 × frames."
            )
        faces = file[_FACES]
        if faces.ndim != 2 or faces.shape[1] != 3 or faces.dtype.kind not in "iu":
            raise FormatError(
                f"{path}: faces are {faces.dtype} {faces.shape}; expected F × 3 whole numbers."
            )
        triangles = np.asarray(faces[:], np.int64)
        keys = {key: file[key].shape for key in file if key != _FACES}
    if not keys:
        raise FormatError(f"{path} holds no sequences.")
    count = next(iter(keys.values()))[0]
    takes = tuple(_take(path, key, shape, count) for key, shape in sorted(keys.items()))
    try:
        return Registrations(
            template or f"topology-{count}", triangles, count, takes, provenance={"file": path.name}
        )
    except InputError as error:
        raise FormatError(f"{path}: {error}") from error


def write_dfaust(path: str | Path, registrations: Registrations) -> None:
    """Write DFAUST's layout, a few frames at a time; the whole file or none."""
    hdf5 = import_extra("h5py", "hdf5", "writing .hdf5")
    for take in registrations.takes:
        if "_" in take.subject:
            raise InputError(
                f"subject {take.subject!r} has a '_' in its name, which ends the subject in "
                f"DFAUST's layout; rename it."
            )
    with atomic_write(path) as temporary, hdf5.File(temporary, "w") as file:
        file.create_dataset(_FACES, data=registrations.triangles.astype(np.uint32))
        for take in registrations.takes:
            shape = (registrations.vertex_count, 3, take.frame_count)
            data = file.create_dataset(f"{take.subject}_{take.sequence}", shape, "f4")
            for start in range(0, take.frame_count, _BLOCK):
                block = np.asarray(take.vertices[start : start + _BLOCK], np.float32)
                data[:, :, start : start + len(block)] = np.moveaxis(block, 0, 2)


def lost_in_hdf5(registrations: Registrations) -> list[str]:
    """What of a set DFAUST's layout cannot carry, in words."""
    lost = []
    if any(take.fps != FPS for take in registrations.takes):
        rates = sorted({take.fps for take in registrations.takes})
        lost.append(
            f"frame rates ({', '.join(f'{rate:g}' for rate in rates)}; the layout means 60)"
        )
    if any(take.truth is not None for take in registrations.takes):
        lost.append("poses and materials")
    if any(take.twin is not None or take.health is not None for take in registrations.takes):
        lost.append("quasi-static twins and health records")
    if registrations.subjects:
        lost.append("what is known of the subjects")
    if any(take.split for take in registrations.takes):
        lost.append("the division into training and test")
    return lost


def _take(path: Path, key: str, shape: tuple[int, ...], count: int) -> Take:
    subject, _, sequence = key.partition("_")
    if len(shape) != 3 or shape[1] != 3 or not subject or not sequence:
        raise FormatError(
            f"{path}: {key!r} has shape {shape}; expected <subject>_<sequence> of shape "
            f"vertices × 3 × frames."
        )
    if shape[0] != count:
        raise FormatError(
            f"{path}: {key} has {shape[0]} vertices and others {count}; wrong topology. "
            f"Registrations of one set share one."
        )
    return Take(subject, sequence, FPS, Hdf5Frames(path, key, (shape[2], shape[0], 3)))


def _require_plain(path: Path, file: Any, key: str) -> None:
    """Refuse what leads out of the file, or promises more than the file holds."""
    hdf5 = import_extra("h5py", "hdf5", "reading .hdf5")
    hard = isinstance(file.get(key, getlink=True), hdf5.HardLink)
    node: Any = file[key] if hard else None
    if not isinstance(node, hdf5.Dataset) or node.is_virtual or node.external:
        raise FormatError(f"{path}: {key!r} is not a plain array of this file; not read.")
    size = int(np.prod(node.shape, dtype=np.float64)) * node.dtype.itemsize
    held = node.id.get_storage_size()
    packed = node.compression is not None
    if (
        node.dtype.kind not in "iuf"
        or node.compression not in _FILTERS
        or (held < size if not packed else held * 2000 < size)
    ):
        raise FormatError(
            f"{path}: {key!r} is {node.dtype} {node.shape}, {size} bytes, of which the file holds "
            f"{held} (packed by {node.compression}); expected plain numbers that are there."
        )
    chunk = int(np.prod(node.chunks or (0,), dtype=np.float64)) * node.dtype.itemsize
    if chunk > _MAX_CHUNK_BYTES or (key == _FACES and size > _MAX_FACES_BYTES):
        raise FormatError(
            f"{path}: {key!r} takes {size} bytes in chunks of {chunk}; expected chunks of at most "
            f"{_MAX_CHUNK_BYTES}, and faces of {_MAX_FACES_BYTES}."
        )
    if node.ndim == 3 and node.shape[0] > _MAX_VERTICES:
        raise FormatError(f"{path}: {key!r} has {node.shape[0]} vertices; expected fewer.")


@contextmanager
def _opened(path: Path) -> Iterator[Any]:
    hdf5 = import_extra("h5py", "hdf5", "reading .hdf5")
    require_input(path)
    try:
        with hdf5.File(path, "r") as file:
            yield file
    except _DAMAGE as error:
        if isinstance(error, InputError):
            raise
        raise FormatError(f"{path} cannot be read as HDF5: {error}. It is damaged.") from error
