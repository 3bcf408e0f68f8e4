"""What a Zarr folder declares, hostile until checked.

Only plain arrays in Zarr's third version are read: little-endian numbers, cut along their first
axis alone, packed by the few codecs that are written here. Names, sizes and the presence of every
chunk are checked before the library opens anything, so that metadata cannot ask for memory that no
file backs, missing chunks do not read as zeros, and links cannot lead out of the folder.
"""

import json
import math
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.errors import FormatError, InputError

MAX_CHUNK_BYTES = 256 * 1024**2
"""Most bytes that one chunk may unpack to."""
MAX_CHUNKS = 1_000_000
_MAX_METADATA = 64 * 1024**2
_METADATA = "zarr.json"
_DTYPES = frozenset(
    {"bool", "float32", "float64"} | {f"{s}int{b}" for s in ("", "u") for b in (8, 16, 32, 64)}
)
CODECS = ("bytes", "blosc", "crc32c")
"""What may pack a chunk, in this order."""
_BLOSC_HEADER, _CRC_BYTES = 16, 4


@dataclass(frozen=True)
class ArrayLayout:
    """What is known of an array before it is read."""

    path: Path
    """Folder of the array."""
    shape: tuple[int, ...]
    """Length of every axis; the first counts the rows."""
    dtype: np.dtype[Any]
    """Type of the numbers."""
    chunk_rows: int
    """Rows of a chunk; chunks divide the first axis alone."""
    codecs: tuple[str, ...]
    """Names of the codecs that pack a chunk, in order."""

    @property
    def nbytes(self) -> int:
        """Bytes of all numbers, unpacked."""
        return math.prod(self.shape) * self.dtype.itemsize

    @property
    def chunk_bytes(self) -> int:
        """Of every chunk once unpacked; the last one is padded."""
        return self.chunk_rows * math.prod(self.shape[1:]) * self.dtype.itemsize

    @property
    def chunk_count(self) -> int:
        """Number of chunks; 0 for an empty array."""
        return -(-self.shape[0] // self.chunk_rows) if math.prod(self.shape) else 0

    def chunk_path(self, number: int) -> Path:
        """File of the chunk of this number."""
        return self.path.joinpath("c", str(number), *["0"] * (len(self.shape) - 1))

    def require_chunk(self, number: int) -> None:
        """Raise `FormatError` unless a chunk is there and unpacks to what the metadata says."""
        path = self.chunk_path(number)
        if not path.is_file() or _is_linked(path, self.path):
            raise FormatError(
                f"{self.path} declares {self.chunk_count} chunks and lacks {path.name!r} of chunk "
                f"{number}, or it is a link. The store is damaged; capture that part again."
            )
        extra = _CRC_BYTES * ("crc32c" in self.codecs)
        size = path.stat().st_size
        if "blosc" not in self.codecs:
            fits = size == self.chunk_bytes + extra
        else:
            with path.open("rb") as file:
                header = file.read(_BLOSC_HEADER)
            unpacked, _, packed = (
                struct.unpack("<III", header[4:]) if len(header) == _BLOSC_HEADER else (-1, 0, 0)
            )
            fits = unpacked == self.chunk_bytes and packed + extra == size
        if not fits:
            raise FormatError(
                f"{path} ({size} bytes) does not unpack to the {self.chunk_bytes} bytes that its "
                f"array declares. The store is damaged; capture that part again."
            )


def read_attributes(path: Path) -> dict[str, Any]:
    """The attributes of the group at `path`."""
    return _metadata(path, "group").get("attributes", {})


def is_array(path: Path) -> bool:
    """Whether a folder says that it is an array."""
    return (path / _METADATA).is_file() and _metadata(path, None)["node_type"] == "array"


def read_layout(path: Path) -> ArrayLayout:
    """Check what the array at `path` declares against what lies there."""
    content = _metadata(path, "array")
    try:
        layout = _layout(path, content)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(
            f"{path / _METADATA} does not describe an array ({type(error).__name__}: {error})."
        ) from error
    for number in range(layout.chunk_count):
        if not layout.chunk_path(number).is_file():
            layout.require_chunk(number)
    return layout


def _layout(path: Path, content: dict[str, Any]) -> ArrayLayout:
    kind = content["data_type"]
    if not isinstance(kind, str) or kind not in _DTYPES:
        raise FormatError(
            f"{path} holds {str(kind)[:60]!r}; expected plain numbers: "
            f"{', '.join(sorted(_DTYPES))}."
        )
    shape = _lengths(path, "shape", content["shape"])
    grid = content["chunk_grid"]
    chunks = _lengths(path, "chunk shape", grid["configuration"]["chunk_shape"])
    keys = content["chunk_key_encoding"]
    plain = keys["name"] == "default" and keys.get("configuration", {}).get("separator") == "/"
    if grid["name"] != "regular" or not plain or content.get("storage_transformers"):
        raise FormatError(
            f"{path} is cut in an unknown way; expected a regular grid, keys 'c/0/0'."
        )
    rows = tuple(max(1, length) for length in shape[1:])
    if not shape or len(chunks) != len(shape) or chunks[1:] != rows or min(chunks) < 1:
        raise FormatError(
            f"{path} has shape {shape} in chunks of {chunks}; expected chunks along the first axis."
        )
    layout = ArrayLayout(path, shape, np.dtype(kind), chunks[0], _codecs(path, content["codecs"]))
    if layout.chunk_bytes > MAX_CHUNK_BYTES or layout.chunk_count > MAX_CHUNKS:
        raise FormatError(
            f"{path} declares {layout.chunk_count} chunks of {layout.chunk_bytes} bytes; expected "
            f"at most {MAX_CHUNKS} of {MAX_CHUNK_BYTES}. It is damaged or made to fill the memory."
        )
    return layout


def _lengths(path: Path, what: str, values: Any) -> tuple[int, ...]:
    if not isinstance(values, list) or not all(type(v) is int and 0 <= v < 2**40 for v in values):
        raise FormatError(f"{path} has the {what} {str(values)[:60]}; expected a few lengths.")
    return tuple(values)


def _codecs(path: Path, entries: list[dict[str, Any]]) -> tuple[str, ...]:
    names = tuple(str(entry["name"])[:60] for entry in entries)
    known = [name for name in CODECS if name in names]
    endian = entries[0].get("configuration", {}).get("endian", "little") if entries else ""
    if list(names) != known or names[:1] != ("bytes",) or endian != "little":
        raise FormatError(
            f"{path} is packed by {', '.join(names) or 'nothing'} ({endian or 'no'} endian); "
            f"expected {', '.join(CODECS)} or fewer, in this order, little endian."
        )
    return names


def _metadata(path: Path, kind: str | None) -> dict[str, Any]:
    file = path / _METADATA
    if path.is_symlink() or file.is_symlink():
        raise FormatError(f"{path} is a link; expected a plain folder of a Zarr store.")
    try:
        if file.stat().st_size > _MAX_METADATA:
            raise FormatError(f"{file} is larger than {_MAX_METADATA} bytes; it is no metadata.")
        content = json.loads(file.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError) as error:
        raise InputError(f"there is no Zarr {kind or 'node'} at {path}. Check the path.") from error
    except (OSError, ValueError, RecursionError) as error:
        if isinstance(error, FormatError):
            raise
        raise FormatError(f"{file} is not Zarr metadata: {error}.") from error
    if not isinstance(content, dict) or content.get("zarr_format") != 3:
        raise FormatError(f"{file} is not of Zarr's third version, which is the one read here.")
    if content.get("node_type") not in ({kind} if kind else {"group", "array"}):
        raise FormatError(f"{path} is a Zarr {content.get('node_type')!r}; expected {kind!r}.")
    if not isinstance(content.get("attributes", {}), dict):
        raise FormatError(f"{file} has attributes that are no table of names.")
    return content


def _is_linked(path: Path, stop: Path) -> bool:
    """Whether a file, or a folder on the way up to `stop`, is a link."""
    while path != stop:
        if path.is_symlink():
            return True
        path = path.parent
    return False
