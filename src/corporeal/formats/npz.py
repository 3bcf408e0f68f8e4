"""Plain-array `.npz` archives, hostile until parsed.

Reading looks at the headers first: names, types, shapes and declared sizes are checked against what
is expected before any data is unpacked. Object arrays (pickles) are refused by name, or skipped by
name for formats known to hold some, and never loaded. Writing is deterministic: the same arrays
give the same bytes.
"""

import lzma
import math
import os
import struct
import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Literal, cast

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import FormatError, InputError
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import open_input

MAX_BYTES = 16 * 1024**3
"""Most bytes that one archive may unpack to."""
FREE_BYTES = 256 * 1024**2
"""What any archive may unpack to, however small it is."""
MAX_GROWTH = 4
"""Beyond `FREE_BYTES`, an archive may unpack to this many times its own size: large arrays are
stored as they are, and moving vertices shrink to a third at best. Zeros shrink to a thousandth."""
TIGHT_GROWTH = 16
"""The same of archives packed by LZMA: whole steps of offsets shrink to a tenth."""

MAX_ENTRIES = 4096
_MAX_DIRECTORY = 512 * MAX_ENTRIES
"""Bytes of a zip file's list of entries."""
_MAX_UNICODE = 0x10FFFF
_HALVES = (0xD800, 0xDFFF)
"""Code points that are halves of UTF-16 pairs, and no characters."""
_PACKINGS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
_MAX_DICTIONARY = 64 * 1024**2
"""Bytes that unpacking LZMA may hold in memory beside the array; what is written asks for 8 MiB."""
_NAMED = 12
"""Arrays that a refusal names."""
_COMPRESS_BELOW = 4 * 1024**2
"""Larger arrays are stored as they are: moving vertices hardly shrink and take long to pack."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
_DAMAGE = (
    zipfile.BadZipFile,
    zlib.error,
    lzma.LZMAError,
    struct.error,
    ValueError,
    EOFError,
    SyntaxError,
    KeyError,
    NotImplementedError,
    RuntimeError,
    OSError,
    MemoryError,
    TypeError,
    tokenize.TokenError,
    OverflowError,
)
"""What zip and numpy raise for damaged bytes."""

_KINDS = {"f": "floating-point", "i": "integer", "U": "text", "S": "bytes"}


@dataclass(frozen=True)
class Header:
    """What an archive says about one array before it is read."""

    shape: tuple[int, ...]
    """Length of every axis."""
    dtype: np.dtype[Any]
    """Type of the numbers or the text, as declared."""


@dataclass
class NpzReader:
    """An open archive. Dimension letters keep one length for all arrays read from it."""

    path: Path
    """Where it lies, for messages."""
    headers: Mapping[str, Header]
    """Declared shape and type of every array, by name."""
    archive: zipfile.ZipFile
    """The open zip file; closed with the reader."""
    skipped: tuple[str, ...] = ()
    """Names of the object arrays that were passed over without loading."""
    lengths: dict[str, int] = field(default_factory=dict)
    """Length that every dimension letter has in this file so far."""

    def array(self, name: str, kind: str, shape: tuple[int | str, ...]) -> NumpyArray:
        """The array `name`: of kind `f`, `i`, `U` or `S`; a letter in `shape` is a kept length."""
        header = self.headers.get(name)
        if header is None:
            names = sorted(self.headers)
            more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
            raise FormatError(
                f"{self.path} has no array {name!r}; it has {', '.join(names[:_NAMED])}{more}."
            )
        self._require_layout(name, header, kind, shape)
        with _damage_named(self.path, name), self.archive.open(f"{name}.npy") as file:
            array = np.lib.format.read_array(cast(IO[bytes], file), allow_pickle=False)
        if kind == "U":
            _require_characters(self.path, name, array)
        if kind == "f" and not np.isfinite(array).all():
            raise FormatError(
                f"{self.path}: array {name!r} holds {int((~np.isfinite(array)).sum())} values that "
                f"are not finite. Make the file again."
            )
        return array

    def text(self, name: str) -> str:
        """The single text `name`."""
        return str(self.array(name, "U", ()))

    def names(self, prefix: str) -> list[str]:
        """Names of the arrays that start with `prefix`, in file order."""
        return [name for name in self.headers if name.startswith(prefix)]

    def _require_layout(
        self, name: str, header: Header, kind: str, shape: tuple[int | str, ...]
    ) -> None:
        kinds = "iu" if kind == "i" else kind
        fits = header.dtype.kind in kinds and len(header.shape) == len(shape)
        wanted = tuple(self.lengths.get(d, d) if isinstance(d, str) else d for d in shape)
        for length, expected in zip(header.shape, wanted, strict=False):
            fits = fits and (isinstance(expected, str) or length == expected)
        if not fits:
            raise FormatError(
                f"{self.path}: array {name!r} is {header.dtype} {header.shape}; expected "
                f"{_KINDS[kind]} ({', '.join(map(str, wanted))})."
            )
        for length, letter in zip(header.shape, shape, strict=True):
            if isinstance(letter, str):
                self.lengths[letter] = length


@contextmanager
def open_npz(
    path: str | Path,
    *,
    max_bytes: int = MAX_BYTES,
    object_arrays: Literal["refuse", "skip"] = "refuse",
    tight: bool = False,
) -> Iterator[NpzReader]:
    """Open an archive and check every header; nothing is unpacked yet.

    Object arrays are refused, or passed over and listed in `NpzReader.skipped`. Arrays packed by
    LZMA are read where `tight` ones are expected.
    """
    path = Path(path)
    with open_input(path) as stream:
        size = os.fstat(stream.fileno()).st_size
        try:
            _require_short_directory(stream, size)
            archive = zipfile.ZipFile(stream)
        except _DAMAGE as error:
            raise FormatError(
                f"{path} is not a whole .npz archive ({size} bytes: {error}). It is "
                f"empty, truncated or another kind of file; make it again."
            ) from error
        try:
            headers = _headers(path, archive, max_bytes, size, tight)
            objects = tuple(name for name, header in headers.items() if header.dtype.hasobject)
            if objects and object_arrays == "refuse":
                raise FormatError(
                    f"{path}: array '{objects[0]}.npy' holds pickled Python objects, which can run "
                    f"code; refused without loading. Save plain arrays."
                )
            plain = {name: header for name, header in headers.items() if name not in objects}
            yield NpzReader(path, plain, archive, objects)
        except FormatError:
            raise
        except InputError as error:  # a noun refused what the arrays hold
            raise FormatError(f"{path}: {error}") from error


def write_npz(path: str | Path, arrays: Mapping[str, NumpyArray], *, tight: bool = False) -> None:
    """Write plain arrays, wholly or not at all; `tight` packs all of them by LZMA, which takes
    long and is half the size."""
    for name, array in arrays.items():
        if array.dtype.hasobject:
            raise InputError(
                f"array {name!r} holds Python objects; expected plain numbers or text."
            )
    with atomic_write(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            entry = zipfile.ZipInfo(f"{name}.npy", _EPOCH)
            small = array.nbytes < _COMPRESS_BELOW
            entry.compress_type = zipfile.ZIP_DEFLATED if small else zipfile.ZIP_STORED
            if tight:
                entry.compress_type = zipfile.ZIP_LZMA
            with archive.open(entry, "w", force_zip64=True) as file:
                np.lib.format.write_array(cast(IO[bytes], file), array, allow_pickle=False)


def _require_short_directory(stream: IO[bytes], size: int) -> None:
    """Refuse a list of entries that would fill the memory, before the zip library reads it."""
    stream.seek(max(0, size - 65_557 - 76))  # a comment, and the two kinds of end records
    tail = stream.read()
    stream.seek(0)
    end = tail.rfind(b"PK\x05\x06")
    if end < 0 or len(tail) < end + 22:
        return  # the library says what is missing
    length = struct.unpack_from("<I", tail, end + 12)[0]
    wide = tail.rfind(b"PK\x06\x06", 0, end)
    if length == 2**32 - 1 and wide >= 0 and len(tail) >= wide + 56:
        length = struct.unpack_from("<Q", tail, wide + 40)[0]
    if length > _MAX_DIRECTORY:
        raise ValueError(f"its list of entries takes {length} bytes")


def _require_characters(path: Path, name: str, array: NumpyArray) -> None:
    """Refuse what is no Unicode text: it cannot be shown, nor written anywhere."""
    codes = np.ascontiguousarray(array.astype(array.dtype.newbyteorder("="))).reshape(-1)
    codes = codes.view(np.uint32) if codes.size and codes.dtype.itemsize else np.zeros(0, np.uint32)
    if np.any((codes > _MAX_UNICODE) | ((codes >= _HALVES[0]) & (codes <= _HALVES[1]))):
        raise FormatError(
            f"{path}: array {name!r} holds text beyond Unicode. The file is damaged; make it again."
        )


def _headers(
    path: Path, archive: zipfile.ZipFile, max_bytes: int, size: int, tight: bool
) -> dict[str, Header]:
    entries = archive.infolist()
    declared = sum(entry.file_size for entry in entries)
    packed = sum(entry.compress_size for entry in entries)
    growth = TIGHT_GROWTH if tight else MAX_GROWTH
    allowed = min(max_bytes, max(FREE_BYTES, growth * size))
    if len(entries) > MAX_ENTRIES or declared > allowed or packed > size:
        raise FormatError(
            f"{path} declares {len(entries)} arrays of {declared} bytes packed into {packed}, in a "
            f"file of {size}; expected at most {MAX_ENTRIES} arrays and {allowed} bytes. It is "
            f"damaged or made to fill the memory: not read."
        )
    headers: dict[str, Header] = {}
    for entry in entries:
        name = entry.filename.removesuffix(".npy")
        if name == entry.filename or name in headers:
            raise FormatError(
                f"{path} holds {entry.filename!r}; expected .npy arrays with unique names."
            )
        if tight and entry.compress_type == zipfile.ZIP_LZMA:
            _require_small_dictionary(path, archive, entry)
        elif entry.compress_type not in _PACKINGS:
            raise FormatError(
                f"{path}: array {name!r} is packed by method {entry.compress_type}; stored and "
                f"deflated ones are read, as numpy.savez and savez_compressed write them."
            )
        headers[name] = _header(path, archive, entry)
    return headers


def _require_small_dictionary(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> None:
    """Refuse LZMA data that asks for more memory than ours ever does, before the library reads it.

    The local header's 30 bytes, name and extra field come first; then version, length of the
    properties, one byte of them, and the size of the dictionary (zip's application note, 5.8.8).
    """
    with _damage_named(path, entry.filename):
        file = archive.fp
        assert file is not None
        file.seek(entry.header_offset)
        head = file.read(30)
        name, extra = struct.unpack_from("<HH", head, 26)
        file.seek(entry.header_offset + 30 + name + extra)
        dictionary = struct.unpack_from("<I", file.read(9), 5)[0]
    if dictionary > _MAX_DICTIONARY:
        raise FormatError(
            f"{path}: array {entry.filename!r} asks for {dictionary} bytes to unpack; expected "
            f"at most {_MAX_DICTIONARY}. It is damaged or made to fill the memory: not read."
        )


def _header(path: Path, archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> Header:
    with _damage_named(path, entry.filename), archive.open(entry) as file:
        return _declared(file, entry.file_size)


def _declared(file: Any, size: int) -> Header:
    """What an array file of `size` bytes says of itself, if its data is as long as it says."""
    version = np.lib.format.read_magic(file)
    reader = {
        (1, 0): np.lib.format.read_array_header_1_0,
        (2, 0): np.lib.format.read_array_header_2_0,
    }.get(version)
    if reader is None:
        raise ValueError(f"array format {version} is not known")
    shape, _, dtype = reader(file)
    data_bytes = size - file.tell()
    if dtype.hasobject:
        return Header(shape, dtype)
    count = math.prod(shape)
    # lengths of no width, or beside a length of 0, take no bytes and may be anything
    most = max(data_bytes, 1) if dtype.itemsize else 1
    if count * dtype.itemsize != data_bytes or count > most or max(shape, default=0) > 2**40:
        needed = count * dtype.itemsize
        raise ValueError(
            f"it declares {dtype} {str(shape)[:60]}, {needed if needed < 2**64 else 'too many'} "
            f"bytes, and has {data_bytes}"
        )
    return Header(shape, dtype)


def read_npy(path: str | Path, *, at_most: int = FREE_BYTES) -> NumpyArray:
    """The plain array of an `.npy` file; nothing pickled is loaded."""
    path = Path(path)
    with open_input(path, at_most=at_most) as file, _damage_named(path, path.stem):
        header = _declared(file, os.fstat(file.fileno()).st_size)
        if header.dtype.kind not in "biuf":
            raise ValueError(f"it holds {header.dtype}; expected numbers")
        file.seek(0)
        return np.lib.format.read_array(file, allow_pickle=False)


@contextmanager
def _damage_named(path: Path, name: str) -> Iterator[None]:
    """Turn what zip and numpy raise for damaged bytes into one clear error."""
    try:
        yield
    except FormatError:
        raise
    except _DAMAGE as error:
        raise FormatError(
            f"{path}: array {name!r} cannot be read ({error}). The file is damaged; make it again."
        ) from error
