"""Groups of arrays on the disk: written row by row, read when rows are asked for."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import FormatError, InputError
from corporeal.formats.zarr_layout import MAX_CHUNK_BYTES, ArrayLayout, is_array, read_layout
from corporeal.runtime.manifest import to_json

CHUNK_BYTES = 8 * 1024**2
"""Aim for the size of a chunk: large enough to read fast, small enough to hold many."""
MAX_ARRAY_BYTES = 2 * 1024**3
"""Most bytes that are read at once; longer arrays are read by rows."""
NAME = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.\-]{0,99}")
"""What arrays and parts may be called: nothing that leads elsewhere."""
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
        if kind.kind not in "biuf" or not shape or not NAME.fullmatch(name):
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
    """What the array's metadata declares."""

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of every axis; the first counts the rows."""
        return self.layout.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the numbers."""
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
    """Folder of the group."""
    attributes: Mapping[str, Any]
    """JSON values of the group."""

    def rows(self, name: str, kind: str, shape: tuple[int | None, ...]) -> RowReader:
        """The array `name` of kind `f`, `i` or `b`; None in `shape` stands for any length."""
        if not NAME.fullmatch(name):
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
        """Whether the group holds an array of this name."""
        return bool(NAME.fullmatch(name)) and is_array(self.path / name)


def _blocks(array: NumpyArray, rows: int) -> Iterator[NumpyArray]:
    for start in range(0, len(array), rows):
        yield array[start : start + rows]
