"""The GLB container: numpy arrays packed into glTF accessors, one JSON and one binary chunk.

Accessors are dense, tightly packed and aligned to four bytes: sparse ones break several importers.
"""

import json
import struct
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np

import corporeal
from corporeal._typing import NumpyArray
from corporeal.runtime.files import atomic_write

ARRAY_BUFFER, ELEMENT_ARRAY_BUFFER = 34962, 34963
_COMPONENT_TYPES = {"uint8": 5121, "uint16": 5123, "uint32": 5125, "float32": 5126}

Kind = Literal["SCALAR", "VEC2", "VEC3", "VEC4", "MAT4"]


@dataclass
class GlbDocument:
    """A glTF document under construction. Every `add` gives back the index of what it added."""

    content: dict[str, list[Any]] = field(default_factory=dict)
    """Lists of the JSON chunk by key: `nodes`, `meshes`, `accessors`, …"""
    _binary: bytearray = field(default_factory=bytearray)

    def add(self, section: str, item: dict[str, Any]) -> int:
        """Append to a top-level list, such as `nodes`."""
        items = self.content.setdefault(section, [])
        items.append(item)
        return len(items) - 1

    def add_accessor(
        self, array: NumpyArray, kind: Kind, *, target: int | None = None, bounds: bool = False
    ) -> int:
        """Pack an array (rows are elements); `bounds` writes its smallest and largest values."""
        self._binary.extend(bytes(-len(self._binary) % 4))
        data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False)
        view = {"buffer": 0, "byteOffset": len(self._binary), "byteLength": data.nbytes}
        if target is not None:
            view["target"] = target
        self._binary.extend(data.tobytes())
        accessor = {
            "bufferView": self.add("bufferViews", view),
            "componentType": _COMPONENT_TYPES[array.dtype.name],
            "count": len(array),
            "type": kind,
        }
        if bounds:
            rows = array.reshape(len(array), -1)
            accessor["min"] = [value.item() for value in rows.min(axis=0)]
            accessor["max"] = [value.item() for value in rows.max(axis=0)]
        return self.add("accessors", accessor)

    def write(self, path: str | Path) -> None:
        """Write the `.glb`, wholly or not at all."""
        binary = bytes(self._binary) + bytes(-len(self._binary) % 4)
        document = {
            "asset": {"version": "2.0", "generator": f"corporeal {corporeal.__version__}"},
            **self.content,
            "buffers": [{"byteLength": len(binary)}],
        }
        text = json.dumps(document, separators=(",", ":"), allow_nan=False).encode()
        text += b" " * (-len(text) % 4)
        length = 12 + 8 + len(text) + 8 + len(binary)
        with atomic_write(path) as temporary, temporary.open("wb") as file:
            file.write(struct.pack("<4sII", b"glTF", 2, length))
            file.write(struct.pack("<I4s", len(text), b"JSON") + text)
            file.write(struct.pack("<I4s", len(binary), b"BIN\x00") + binary)
