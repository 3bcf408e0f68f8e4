"""Zarr stores made of parts: every part appears whole or not at all.

A store is a folder that any Zarr reader opens: a group with attributes, common arrays, and folders
of parts. A part is a group of its own (a sequence, a batch of people); it is written under a hidden
name and moved to its place in one step. So many processes may write at once, a kill at any moment
leaves whole parts only, and a rerun writes those that are missing.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import FormatError, InputError, OutputError
from corporeal.formats.zarr_layout import (
    MAX_CHUNK_BYTES,
    ArrayLayout,
    is_array,
    read_attributes,
    read_layout,
)
from corporeal.runtime.files import atomic_folder
from corporeal.runtime.manifest import to_json

CHUNK_BYTES = 8 * 1024**2
"""Aim for the size of a chunk: large enough to read fast, small enough to hold many."""
MAX_ARRAY_BYTES = 2 * 1024**3
"""Most bytes that are read at once; longer arrays are read by rows."""
_NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
_FORMAT, _VERSION, _RUN = "format", "version", "run"
_FINISHED = "finished"
_DAMAGE = (ValueError, RuntimeError, TypeError, KeyError, OSError, BufferError)
"""What Zarr and its codecs raise for damaged bytes."""


class GroupWriter:
    """An unfinished group: arrays are added, attributes set, and then it is moved to its place."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._streams: list[RowWriter] = []
        self.attributes: dict[str, Any] = {}

    def add(self, name: str, array: NumpyArray, chunk_rows: int | None = None) -> None:
        """Write a whole array of numbers; chunks are `chunk_rows` long, by default about 8 MB."""
        append = self.stream(name, array.shape, array.dtype, chunk_rows)
        for block in _blocks(array, append.chunk_rows):
            append(block)

    def stream(
        self,
        name: str,
        shape: tuple[int, ...],
        dtype: np.dtype[Any] | type | str,
        chunk_rows: int | None = None,
    ) -> "RowWriter":
        """An array that is written in blocks of rows, one after the other."""
        import zarr
        from zarr.codecs import BloscCodec, Crc32cCodec

        kind = np.dtype(dtype)
        if kind.kind not in "biuf" or not shape or not _NAME.fullmatch(name):
            raise InputError(f"array {name!r} is {kind} {shape}; expected rows of plain numbers.")
        row = max(1, int(np.prod(shape[1:], dtype=np.int64)) * kind.itemsize)
        rows = chunk_rows or max(1, CHUNK_BYTES // row)
        rows = max(1, min(rows, shape[0], MAX_CHUNK_BYTES // row))
        packing = BloscCodec(cname="lz4", clevel=5, shuffle="bitshuffle", typesize=kind.itemsize)
        made = zarr.create_array(
            self._path / name,
            shape=shape,
            dtype=kind,
            chunks=(rows, *(max(1, length) for length in shape[1:])),
            compressors=[packing, Crc32cCodec()],
            zarr_format=3,
            config={"write_empty_chunks": True},
        )
        self._streams.append(RowWriter(made, name, rows))
        return self._streams[-1]

    def close(self) -> None:
        """Write the attributes; refuse arrays that have not got all their rows."""
        import zarr

        for stream in self._streams:
            stream.require_whole()
        zarr.create_group(self._path, attributes=to_json(self.attributes))


class RowWriter:
    """Appends blocks of rows to an array of known length; writes whole chunks."""

    def __init__(self, array: Any, name: str, chunk_rows: int) -> None:
        self._array, self._name = array, name
        self.chunk_rows = chunk_rows
        self.written = 0
        self._held: list[NumpyArray] = []

    def __call__(self, block: NumpyArray) -> None:
        """Append a block."""
        if block.shape[1:] != self._array.shape[1:]:
            raise InputError(
                f"array {self._name!r} got rows of shape {block.shape[1:]}; expected "
                f"{self._array.shape[1:]}."
            )
        self._held.append(np.array(block, self._array.dtype))
        total = self.written + sum(map(len, self._held))
        if total > self._array.shape[0]:
            raise InputError(f"array {self._name!r} got {total} of {self._array.shape[0]} rows.")
        if total == self._array.shape[0] or total - self.written >= self.chunk_rows:
            self._flush(total)

    def _flush(self, total: int) -> None:
        rows = np.concatenate(self._held)
        whole = len(rows)
        if total < self._array.shape[0]:
            whole -= whole % self.chunk_rows
        self._array[self.written : self.written + whole] = rows[:whole]
        self.written += whole
        self._held = [rows[whole:]]

    def require_whole(self) -> None:
        """Raise `InputError` while rows are missing."""
        if self.written != self._array.shape[0]:
            raise InputError(
                f"array {self._name!r} has {self.written} of {self._array.shape[0]} rows."
            )


@dataclass(frozen=True)
class RowReader:
    """An array on the disk that gives rows when they are asked for, like `reader[10:20]`."""

    layout: ArrayLayout

    @property
    def shape(self) -> tuple[int, ...]:
        return self.layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.layout.dtype

    @cached_property
    def _array(self) -> Any:
        import zarr

        return zarr.open_array(self.layout.path, mode="r", zarr_format=3)

    def __len__(self) -> int:
        return self.layout.shape[0]

    def __getitem__(self, rows: slice) -> NumpyArray:
        start, stop, step = rows.indices(len(self))
        if step != 1:
            raise InputError(f"rows were asked for in steps of {step}; expected a plain range.")
        stop = max(start, stop)
        wanted = (stop - start) * (self.layout.nbytes // max(1, len(self)))
        if wanted > MAX_ARRAY_BYTES:
            raise InputError(
                f"{wanted} bytes of {self.layout.path} were asked for at once; expected at most "
                f"{MAX_ARRAY_BYTES}. Read fewer rows at a time."
            )
        last = min(-(-stop // self.layout.chunk_rows), self.layout.chunk_count)
        for chunk in range(start // self.layout.chunk_rows, last):
            self.layout.require_chunk(chunk)
        try:
            return np.asarray(self._array[start:stop])
        except _DAMAGE as error:
            raise FormatError(
                f"{self.layout.path} cannot be read from row {start} to {stop} ({error}). The "
                f"store is damaged; make that part again."
            ) from error

    def whole(self) -> NumpyArray:
        """All rows."""
        return self[0 : len(self)]


@dataclass(frozen=True)
class GroupReader:
    """A group whose metadata has been checked."""

    path: Path
    attributes: Mapping[str, Any]

    def rows(self, name: str, kind: str, shape: tuple[int | None, ...]) -> RowReader:
        """The array `name` of kind `f`, `i` or `b`; None in `shape` stands for any length."""
        if not _NAME.fullmatch(name):
            raise InputError(f"{name!r} cannot name an array.")
        layout = read_layout(self.path / name)
        kinds = "iu" if kind == "i" else kind
        fits = layout.dtype.kind in kinds and len(layout.shape) == len(shape)
        fits = fits and all(w in (None, n) for n, w in zip(layout.shape, shape, strict=False))
        if not fits:
            wanted = ", ".join("any" if w is None else str(w) for w in shape)
            raise FormatError(
                f"{self.path}: array {name!r} is {layout.dtype} {layout.shape}; expected kind "
                f"{kind!r} ({wanted})."
            )
        return RowReader(layout)

    def array(self, name: str, kind: str, shape: tuple[int | None, ...]) -> NumpyArray:
        """All of the array `name`; numbers must be finite."""
        array = self.rows(name, kind, shape).whole()
        if kind == "f" and not np.isfinite(array).all():
            raise FormatError(f"{self.path}: array {name!r} holds values that are not finite.")
        return array

    def has(self, name: str) -> bool:
        return bool(_NAME.fullmatch(name)) and is_array(self.path / name)


class ZarrStore:
    """A store on this machine's disk. Holds no open files: pass its path between processes."""

    def __init__(self, path: Path, group: GroupReader) -> None:
        self.path, self._group = path, group

    @classmethod
    def create(
        cls,
        path: str | Path,
        kind: str,
        run: Mapping[str, Any],
        folders: Sequence[str],
        arrays: Mapping[str, NumpyArray] | None = None,
        attributes: Mapping[str, Any] | None = None,
        version: int = 1,
    ) -> "ZarrStore":
        """Make a store, or take up one that the same `run` began.

        `run` is what decides the content (JSON values); a store of another run is refused by name.
        `arrays` are common to all parts; `attributes` may differ from run to run.
        """
        target = Path(path)
        if not target.exists():
            with atomic_folder(target) as hidden:
                _write_root(hidden, kind, run, folders, arrays or {}, attributes or {}, version)
        store = cls.open(target, kind, version)
        _require_same_run(target, store.run, to_json(run))
        return store

    @classmethod
    def open(cls, path: str | Path, kind: str, version: int = 1) -> "ZarrStore":
        """Open a store of this kind; nothing but its attributes is read."""
        path = Path(path)
        if path.is_file():
            raise FormatError(f"{path} is a file; expected the folder of a Zarr store.")
        attributes = read_attributes(path.resolve())
        if attributes.get(_FORMAT) != kind:
            raise FormatError(
                f"{path} is a Zarr store of {str(attributes.get(_FORMAT))[:60]!r}; expected "
                f"{kind!r}."
            )
        if attributes.get(_VERSION) != version:
            raise FormatError(
                f"{path} has version {str(attributes.get(_VERSION))[:20]} of {kind!r}; expected "
                f"{version}. Read it with the corporeal that wrote it."
            )
        return cls(path.resolve(), GroupReader(path.resolve(), attributes))

    @property
    def run(self) -> Mapping[str, Any]:
        """What decides the content."""
        run = self._group.attributes.get(_RUN, {})
        if not isinstance(run, dict):
            raise FormatError(f"{self.path} does not say what made it.")
        return run

    @property
    def common(self) -> GroupReader:
        """Attributes and arrays that belong to no part."""
        return self._group

    def has(self, folder: str, name: str) -> bool:
        """Whether a part is there (then it is whole)."""
        return (self._place(folder, name) / "zarr.json").is_file()

    def parts(self, folder: str) -> list[str]:
        """Names of the parts in a folder, sorted."""
        home = self._folder(folder)
        found = (item.name for item in home.iterdir() if item.is_dir())
        return sorted(name for name in found if _NAME.fullmatch(name) and self.has(folder, name))

    def part(self, folder: str, name: str) -> GroupReader:
        """A part, its attributes checked."""
        place = self._place(folder, name)
        return GroupReader(place, read_attributes(place))

    @contextmanager
    def writing(self, folder: str, name: str) -> Iterator[GroupWriter]:
        """Write a part; it appears when the block ends well. One that is there is kept."""
        with atomic_folder(self._place(folder, name)) as hidden:
            writer = GroupWriter(hidden)
            yield writer
            writer.close()

    def finish(self, report: Mapping[str, Any] | None = None) -> None:
        """Mark the store as whole."""
        if not self.is_finished:
            with atomic_folder(self.path / _FINISHED) as hidden:
                writer = GroupWriter(hidden)
                writer.attributes = dict(report or {})
                writer.close()

    @property
    def is_finished(self) -> bool:
        return (self.path / _FINISHED / "zarr.json").is_file()

    def require_finished(self) -> None:
        """Raise `InputError` for a store whose run was stopped."""
        if not self.is_finished:
            raise InputError(
                f"{self.path} is not whole: the run that writes it was stopped, or is still going. "
                f"Run the same command again; it takes up where it stopped."
            )

    def _folder(self, folder: str) -> Path:
        home = self.path / folder
        if not _NAME.fullmatch(folder) or home.is_symlink() or not home.is_dir():
            raise FormatError(f"{self.path} has no plain folder {folder!r}; it is damaged.")
        return home

    def _place(self, folder: str, name: str) -> Path:
        if not _NAME.fullmatch(name):
            raise InputError(
                f"{name!r} cannot name a part of a store; expected up to 100 letters, digits, "
                f"'_', '-', '.', starting with a letter, digit or '_'."
            )
        return self._folder(folder) / name


def _write_root(
    hidden: Path,
    kind: str,
    run: Mapping[str, Any],
    folders: Sequence[str],
    arrays: Mapping[str, NumpyArray],
    attributes: Mapping[str, Any],
    version: int,
) -> None:
    writer = GroupWriter(hidden)
    writer.attributes = {_FORMAT: kind, _VERSION: version, _RUN: run, **attributes}
    for name, array in arrays.items():
        writer.add(name, array)
    for folder in folders:
        GroupWriter(hidden / folder).close()
    writer.close()


def _require_same_run(path: Path, there: Mapping[str, Any], asked: Mapping[str, Any]) -> None:
    for name in sorted({*there, *asked}):
        if there.get(name) != asked.get(name):
            raise OutputError(
                f"{path} was begun with {name} = {str(there.get(name))[:100]}; this run has "
                f"{str(asked.get(name))[:100]}. Give another --out, or remove that folder."
            )


def _blocks(array: NumpyArray, rows: int) -> Iterator[NumpyArray]:
    for start in range(0, len(array), rows):
        yield array[start : start + rows]
