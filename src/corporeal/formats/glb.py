"""The GLB container: numpy arrays packed into glTF accessors, one JSON and one binary chunk.

Accessors are aligned to four bytes. Three packings, by what a reader must know:

=========== ================================================================================
none        floating-point numbers as glTF 2.0 has them; every reader
quantized   whole numbers (KHR_mesh_quantization)
meshopt     the same, compressed (EXT_meshopt_compression)
=========== ================================================================================

An array that is zero in most rows is sparse where that is smaller, without a buffer view of its
own. Godot 3 takes a missing buffer view for the first one, so the first one holds zeros; to share
it by name is no way out, since Babylon.js writes the sparse values into it.
"""

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import corporeal
from corporeal._typing import NumpyArray
from corporeal.errors import InputError
from corporeal.formats.meshopt import encode_attributes
from corporeal.runtime.files import atomic_write

ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
_COMPONENT_TYPES = {
    "int8": 5120,
    "uint8": 5121,
    "int16": 5122,
    "uint16": 5123,
    "uint32": 5125,
    "float32": 5126,
}
_QUANTIZATION, _MESHOPT = "KHR_mesh_quantization", "EXT_meshopt_compression"

Kind = Literal["SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"]
Packing = Literal["none", "quantized", "meshopt"]
"""How the arrays of a file are packed."""


@dataclass
class GlbDocument:
    """A glTF document under construction. Every `add` gives back the index of what it added."""

    content: dict[str, list[Any]] = field(default_factory=dict)
    """Lists of the JSON chunk by key: `nodes`, `meshes`, `accessors`, …"""
    packing: Packing = "none"
    """What its readers must know."""
    shared: dict[int, int] = field(default_factory=dict)
    """Materials that were added, by the id of what they were made from."""
    _binary: bytearray = field(default_factory=bytearray)
    _unpacked: int = 0

    def add(self, section: str, item: dict[str, Any]) -> int:
        """Append to a top-level list, such as `nodes`."""
        items = self.content.setdefault(section, [])
        items.append(item)
        return len(items) - 1

    def add_accessor(
        self,
        array: NumpyArray,
        kind: Kind,
        *,
        target: int | None = None,
        bounds: bool = False,
        normalized: bool = False,
    ) -> int:
        """Pack an array (rows are elements); `bounds` writes its smallest and largest values.

        Whole numbers that are `normalized` stand for −1 … 1, or 0 … 1.
        """
        accessor: dict[str, Any] = {
            "bufferView": self._add_rows(array, target, aligned=kind != "SCALAR"),
            **_described(array, kind, bounds, normalized),
        }
        return self.add("accessors", accessor)

    def add_mostly_zero(self, array: NumpyArray, *, bounds: bool, normalized: bool = False) -> int:
        """Pack vectors of morph targets: sparse where that is smaller."""
        places = np.flatnonzero(array.any(axis=1))
        width = 2 if len(array) < 2**16 else 4
        size = array.dtype.itemsize * 3
        dense = len(array) * (-(-size // 4) * 4)
        if self.packing == "meshopt" or len(places) * (width + size) > 0.9 * dense:
            return self.add_accessor(array, "VEC3", bounds=bounds, normalized=normalized)
        accessor = _described(array, "VEC3", bounds, normalized)
        if len(places):
            accessor["sparse"] = {
                "count": len(places),
                "indices": {
                    "bufferView": self._add_view(places.astype(f"<u{width}").tobytes()),
                    "componentType": _COMPONENT_TYPES["uint16" if width == 2 else "uint32"],
                },
                "values": {"bufferView": self._add_view(_little(array[places]).tobytes())},
            }
        return self.add("accessors", accessor)

    def add_bytes(self, data: bytes) -> int:
        """A buffer view of a file within the file, such as a picture."""
        return self._add_view(data)

    def begin_with_zeros(self, count: int) -> None:
        """Let the first buffer view be `count` vectors of zeros, for sparse arrays in Godot 3."""
        if self._binary:
            raise InputError("zeros came after other arrays; they must be the first buffer view.")
        self._add_view(bytes(12 * count))

    def _add_rows(self, array: NumpyArray, target: int | None, *, aligned: bool) -> int:
        """A buffer view of rows; `aligned` ones begin at multiples of four bytes."""
        rows = np.ascontiguousarray(_little(array)).reshape(len(array), -1)
        raw = rows.view(np.uint8).reshape(len(array), -1)
        if aligned and raw.shape[1] % 4:
            raw = np.pad(raw, ((0, 0), (0, -raw.shape[1] % 4)))
        strided = raw.shape[1] != rows.shape[1] * rows.itemsize
        extra: dict[str, Any] = {} if target is None else {"target": target}
        if strided:
            extra["byteStride"] = raw.shape[1]
        whole = target == ELEMENT_ARRAY_BUFFER or raw.shape[1] % 4 or len(raw) < 64
        if self.packing != "meshopt" or whole:
            return self._add_view(raw.tobytes(), extra)
        return self._add_compressed(raw, extra)

    def _add_view(self, data: bytes, extra: dict[str, Any] | None = None) -> int:
        self._binary.extend(bytes(-len(self._binary) % 4))
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": len(data)}
        self._binary.extend(data)
        return self.add("bufferViews", view | (extra or {}))

    def _add_compressed(self, raw: NumpyArray, extra: dict[str, Any]) -> int:
        """A view into a buffer that is nowhere, and where its packed bytes are."""
        self._binary.extend(bytes(-len(self._binary) % 4))
        packed = encode_attributes(raw)
        about = {
            "buffer": 0,
            "byteOffset": len(self._binary),
            "byteLength": len(packed),
            "byteStride": raw.shape[1],
            "count": len(raw),
            "mode": "ATTRIBUTES",
        }
        self._binary.extend(packed)
        view = {
            "buffer": 1,
            "byteOffset": self._unpacked,
            "byteLength": raw.size,
            **extra,
            "extensions": {_MESHOPT: about},
        }
        self._unpacked += raw.size
        return self.add("bufferViews", view)

    def write(self, path: str | Path) -> None:
        """Write the `.glb`, wholly or not at all."""
        binary = bytes(self._binary) + bytes(-len(self._binary) % 4)
        document: dict[str, Any] = {
            "asset": {"version": "2.0", "generator": f"corporeal {corporeal.__version__}"},
            **self.content,
            "buffers": [{"byteLength": len(binary)}],
        }
        if self.packing != "none":
            needed = [_QUANTIZATION, *([_MESHOPT] if self._unpacked else [])]
            document |= {"extensionsUsed": needed, "extensionsRequired": needed}
        if self._unpacked:
            about = {"extensions": {_MESHOPT: {"fallback": True}}}
            document["buffers"].append({"byteLength": self._unpacked, **about})
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + len(binary)
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            file.write(struct.pack("<4sII", b"glTF", 2, length))
            file.write(struct.pack("<I4s", len(text), b"JSON") + text)
            file.write(struct.pack("<I4s", len(binary), b"BIN\x00") + binary)


def _little(array: NumpyArray) -> NumpyArray:
    return np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)


def _described(array: NumpyArray, kind: Kind, bounds: bool, normalized: bool) -> dict[str, Any]:
    accessor: dict[str, Any] = {
        "componentType": _COMPONENT_TYPES[array.dtype.name],
        "count": len(array),
        "type": kind,
    }
    if normalized:
        accessor["normalized"] = True
    if bounds:
        rows = array.reshape(len(array), -1)
        accessor["min"] = [value.item() for value in rows.min(axis=0)]
        accessor["max"] = [value.item() for value in rows.max(axis=0)]
    return accessor


def quantized(values: NumpyArray, dtype: str) -> NumpyArray:
    """Numbers from −1 (unsigned: 0) to 1 as normalized whole numbers of `dtype`."""
    most = np.iinfo(dtype).max
    low = -1.0 if np.dtype(dtype).kind == "i" else 0.0
    return np.rint(np.clip(values, low, 1.0) * most).astype(dtype)
