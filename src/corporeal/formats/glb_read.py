"""Opening a GLB container, hostile until parsed.

Every length, offset, count and index that the file states is checked against the bytes that are
there before an array is made, and all arrays together are bounded by the size of the file, so that
a small file cannot fill the memory.
"""

import json
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NoReturn

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import FormatError
from corporeal.formats.meshopt import decode_attributes
from corporeal.runtime.input_files import read_input

MAX_FILE_BYTES = 256 * 1024**2
_MAX_JSON_BYTES = 16 * 1024**2
_GROWTH = 64
"""Decoded arrays may take this many times the bytes of the file, and `_FREE_BYTES` more."""

_FREE_BYTES = 16 * 1024**2
_MAX_DECODED_BYTES = 512 * 1024**2
"""What decoded arrays may take at most: 300 morph targets of the default body take 200 MB."""
_COMPONENTS = {5120: "<i1", 5121: "<u1", 5122: "<i2", 5123: "<u2", 5125: "<u4", 5126: "<f4"}
_WIDTHS = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4, "MAT4": 16}
_MESHOPT = "EXT_meshopt_compression"
_EXTENSIONS = ("KHR_mesh_quantization", _MESHOPT)
_SCALES = {"i1": 127.0, "u1": 255.0, "i2": 32767.0, "u2": 65535.0}


@dataclass
class GlbFile:
    """An open file: the JSON document, and its arrays on demand."""

    path: Path
    """Where it lies, for messages."""
    document: Mapping[str, Any]
    """The JSON chunk."""
    binary: bytes
    """The binary chunk."""
    _decoded_bytes: int = field(default=0, repr=False)
    _views: dict[int, bytes] = field(default_factory=dict, repr=False)

    def refuse(self, why: str) -> NoReturn:
        """Raise the one error of this reader."""
        raise FormatError(f"{self.path}: {why}. The file is damaged or not supported.")

    def items(self, section: str) -> list[Mapping[str, Any]]:
        """A top-level list of objects, such as `nodes`; empty where the file has none."""
        return self.objects(self.document, section)

    def objects(self, owner: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
        """A list of objects inside `owner`; empty where there is none."""
        found = owner.get(name, [])
        if not isinstance(found, list) or not all(isinstance(item, dict) for item in found):
            self.refuse(f"{name!r} is not a list of objects")
        return found

    def inside(self, owner: Mapping[str, Any], name: str) -> Mapping[str, Any]:
        """An object inside `owner`; empty where there is none."""
        found = owner.get(name, {})
        if not isinstance(found, dict):
            self.refuse(f"{name!r} is {type(found).__name__}; expected an object")
        return found

    def integer(self, owner: Mapping[str, Any], name: str, default: int | None = None) -> int:
        """A whole number from 0 on."""
        value = owner.get(name, default)
        if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < 2**53:
            self.refuse(f"{name!r} is {str(value)[:40]}; expected a whole number from 0 on")
        return value

    def index(self, owner: Mapping[str, Any], name: str, count: int, what: str) -> int:
        """A number that names one of `count` things."""
        value = self.integer(owner, name)
        if value >= count:
            self.refuse(f"{name!r} names {what} {value}; there are {count}")
        return value

    def indices(self, owner: Mapping[str, Any], name: str, count: int, what: str) -> list[int]:
        """A list of numbers that each name one of `count` things."""
        found = owner.get(name, [])
        if not isinstance(found, list):
            self.refuse(f"{name!r} is not a list")
        for value in found:
            if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < count:
                self.refuse(f"{name!r} names {what} {str(value)[:40]}; there are {count}")
        return found

    def numbers(
        self, owner: Mapping[str, Any], name: str, default: tuple[float, ...]
    ) -> NumpyArray:
        """As many finite numbers as `default` has."""
        found = owner.get(name, default)
        if not isinstance(found, list | tuple) or len(found) != len(default):
            self.refuse(f"{name!r} is not a list of {len(default)} numbers")
        if not all(isinstance(v, int | float) and not isinstance(v, bool) for v in found):
            self.refuse(f"{name!r} holds something else than numbers")
        try:
            values = np.array(found, np.float64)
        except OverflowError:
            self.refuse(f"{name!r} holds a number beyond all bounds")
        if not np.isfinite(values).all():
            self.refuse(f"{name!r} holds numbers that are not finite")
        return values

    def text(self, owner: Mapping[str, Any], name: str, default: str) -> str:
        """A text."""
        value = owner.get(name, default)
        if not isinstance(value, str):
            self.refuse(f"{name!r} is {type(value).__name__}; expected a text")
        return value

    def array(self, index: int, kind: str, *, whole: bool = False) -> NumpyArray:
        """Accessor `index` as rows of `kind`: float64, or int64 where `whole` is asked for."""
        accessors = self.items("accessors")
        if index >= len(accessors):
            self.refuse(f"accessor {index} is asked for; there are {len(accessors)}")
        accessor = accessors[index]
        if accessor.get("type") != kind:
            self.refuse(f"accessor {index} is {str(accessor.get('type'))[:20]}; expected {kind}")
        dtype = self._component(accessor, index)
        if whole and dtype.kind == "f":
            self.refuse(f"accessor {index} holds floating-point numbers; expected whole ones")
        count = self.integer(accessor, "count")
        width = _WIDTHS[kind]
        self._spend(count * width * 8)
        rows = np.zeros((count, width), np.int64 if whole else np.float64)
        if "bufferView" in accessor:
            offset = self.integer(accessor, "byteOffset", 0)
            view = self.index(accessor, "bufferView", len(self.items("bufferViews")), "buffer view")
            with np.errstate(invalid="ignore"):  # NaN is refused below
                rows[:] = self._strided(view, offset, dtype, count, width)
        if "sparse" in accessor:
            self._fill_sparse(rows, self.inside(accessor, "sparse"), dtype)
        return self._finished(rows, accessor, dtype, whole, index)

    def _component(self, accessor: Mapping[str, Any], index: int) -> np.dtype[Any]:
        code = accessor.get("componentType")
        if not isinstance(code, int) or code not in _COMPONENTS:
            self.refuse(f"accessor {index} has component type {str(code)[:40]}, which is unknown")
        return np.dtype(_COMPONENTS[code])

    def _finished(
        self,
        rows: NumpyArray,
        accessor: Mapping[str, Any],
        dtype: np.dtype[Any],
        whole: bool,
        index: int,
    ) -> NumpyArray:
        if whole:
            return rows
        if not np.isfinite(rows).all():
            self.refuse(f"accessor {index} holds values that are not finite")
        scale = _SCALES.get(dtype.str[1:])
        if accessor.get("normalized") is True and scale is not None:
            np.maximum(rows / scale, -1.0, out=rows)
        return rows

    def _spend(self, count: int) -> None:
        self._decoded_bytes += count
        allowed = min(_FREE_BYTES + _GROWTH * (len(self.binary) + 1), _MAX_DECODED_BYTES)
        if self._decoded_bytes > allowed:
            self.refuse(
                f"its arrays unpack to more than {allowed} bytes from {len(self.binary)} stored"
            )

    def _strided(
        self, view: int, offset: int, dtype: np.dtype[Any], count: int, width: int
    ) -> NumpyArray:
        item = self.items("bufferViews")[view]
        if _MESHOPT in self.inside(item, "extensions"):
            return self._unpacked(view, item, offset, dtype, count, width)
        if self.integer(item, "buffer") != 0:
            self.refuse(f"buffer view {view} lies outside the file; expected buffer 0")
        start = self.integer(item, "byteOffset", 0)
        length = self.integer(item, "byteLength")
        element = dtype.itemsize * width
        stride = self.integer(item, "byteStride", element)
        if start + length > len(self.binary):
            self.refuse(f"buffer view {view} ends at byte {start + length} of {len(self.binary)}")
        if stride < element:
            self.refuse(f"buffer view {view} has a stride of {stride}; elements take {element}")
        if count and offset + (count - 1) * stride + element > length:
            self.refuse(
                f"{count} elements of an accessor end past the {length} bytes of buffer view {view}"
            )
        if count == 0:
            return np.zeros((0, width), dtype)
        return np.ndarray(
            (count, width), dtype, self.binary, start + offset, (stride, dtype.itemsize)
        )

    def _unpacked(
        self,
        view: int,
        item: Mapping[str, Any],
        offset: int,
        dtype: np.dtype[Any],
        count: int,
        width: int,
    ) -> NumpyArray:
        """Elements of a compressed buffer view, which is decoded once."""
        about = self.inside(self.inside(item, "extensions"), _MESHOPT)
        if about.get("mode") != "ATTRIBUTES" or about.get("filter", "NONE") != "NONE":
            self.refuse(f"buffer view {view} is compressed in a way that is not read")
        stride, rows = self.integer(about, "byteStride"), self.integer(about, "count")
        start, length = self.integer(about, "byteOffset", 0), self.integer(about, "byteLength")
        if self.integer(about, "buffer") != 0 or start + length > len(self.binary):
            self.refuse(f"buffer view {view} has compressed bytes outside the file")
        element = dtype.itemsize * width
        if stride < element or count > rows or offset + element > max(stride, element):
            self.refuse(f"{count} elements of an accessor end past buffer view {view}")
        if view not in self._views:
            self._spend(rows * stride)
            packed = self.binary[start : start + length]
            try:
                self._views[view] = decode_attributes(packed, rows, stride).tobytes()
            except FormatError as error:
                self.refuse(str(error).rstrip("."))
        if count == 0:
            return np.zeros((0, width), dtype)
        return np.ndarray(
            (count, width), dtype, self._views[view], offset, (stride, dtype.itemsize)
        )

    def _fill_sparse(
        self, rows: NumpyArray, sparse: Mapping[str, Any], dtype: np.dtype[Any]
    ) -> None:
        count = self.integer(sparse, "count")
        if count > len(rows):
            self.refuse(f"a sparse accessor replaces {count} of {len(rows)} elements")
        views = len(self.items("bufferViews"))
        where, what = self.inside(sparse, "indices"), self.inside(sparse, "values")
        kind = self._component(where, -1)
        if kind.kind != "u":
            self.refuse("a sparse accessor has indices that are not whole numbers")
        places = self._strided(
            self.index(where, "bufferView", views, "buffer view"),
            self.integer(where, "byteOffset", 0),
            kind,
            count,
            1,
        )[:, 0].astype(np.int64)
        if count and places.max() >= len(rows):
            self.refuse(f"a sparse accessor replaces element {places.max()} of {len(rows)}")
        values = self._strided(
            self.index(what, "bufferView", views, "buffer view"),
            self.integer(what, "byteOffset", 0),
            dtype,
            count,
            rows.shape[1],
        )
        with np.errstate(invalid="ignore"):  # NaN is refused afterwards
            rows[places] = values


def open_glb(path: str | Path) -> GlbFile:
    """Read the container and parse its JSON; no array is decoded yet."""
    path = Path(path)
    content = read_input(path, at_most=MAX_FILE_BYTES)
    if len(content) < 20 or content[:4] != b"glTF":
        raise FormatError(
            f"{path} does not start as a .glb file ({len(content)} bytes). It is empty, truncated "
            f"or another kind of file."
        )
    version, length = struct.unpack_from("<II", content, 4)
    if version != 2:
        raise FormatError(f"{path} is glTF version {version}; expected 2. Export it again.")
    if length > len(content):
        raise FormatError(
            f"{path} states {length} bytes and has {len(content)}: it is truncated. Copy it again."
        )
    chunks = _chunks(path, content[:length])
    if "JSON" not in chunks:
        raise FormatError(f"{path} has no JSON chunk. The file is damaged; export it again.")
    return GlbFile(path, _parse(path, chunks["JSON"]), chunks.get("BIN\x00", b""))


def _chunks(path: Path, content: bytes) -> dict[str, bytes]:
    chunks: dict[str, bytes] = {}
    place = 12
    while place + 8 <= len(content):
        size, kind = struct.unpack_from("<I4s", content, place)
        if place + 8 + size > len(content):
            raise FormatError(
                f"{path} has a chunk of {size} bytes at byte {place}, past its end at "
                f"{len(content)}. The file is damaged or truncated."
            )
        chunks.setdefault(kind.decode("latin-1"), content[place + 8 : place + 8 + size])
        place += 8 + size
    return chunks


def _parse(path: Path, text: bytes) -> Mapping[str, Any]:
    if len(text) > _MAX_JSON_BYTES:
        raise FormatError(f"{path} has {len(text)} bytes of JSON; expected {_MAX_JSON_BYTES}.")
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise FormatError(f"{path} holds JSON that cannot be read ({error}).") from error
    if not isinstance(document, dict):
        raise FormatError(f"{path} holds JSON that is not an object.")
    needed = document.get("extensionsRequired", [])
    if not isinstance(needed, list) or not all(name in _EXTENSIONS for name in needed):
        raise FormatError(
            f"{path} needs the glTF extensions {str(needed)[:200]}; {' and '.join(_EXTENSIONS)} "
            f"are read. Export it without other compression."
        )
    return document
