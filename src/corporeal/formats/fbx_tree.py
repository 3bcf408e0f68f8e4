"""The tree of nodes in a binary FBX file (7.0 to 7.7), hostile until parsed.

A node has a name, values and children. Every length is checked against the bytes that are there
before anything is made of it, packed arrays unpack to the size they state and no further, and depth
and number of nodes are bounded.
"""

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, NoReturn

import numpy as np

from corporeal.errors import FormatError
from corporeal.runtime.input_files import read_input

MAX_BYTES: Final = 256 * 1024**2
"""Largest file that is read."""
_MAGIC: Final = b"Kaydara FBX Binary  \x00\x1a\x00"
_MAX_DEPTH: Final = 64
_MAX_NODES: Final = 500_000
_MAX_VALUES: Final = 5_000_000
"""Single numbers and texts; what is long comes in arrays."""
_GROWTH: Final = 64
"""Arrays may take this many times the bytes of the file, and a few megabytes more."""
_FREE_BYTES: Final = 16 * 1024**2
_MAX_UNPACKED: Final = 600 * 1024**2
_ARRAYS: Final = {"f": "<f4", "d": "<f8", "l": "<i8", "i": "<i4", "b": "<u1"}
_SCALARS: Final = {"Y": "<h", "C": "<B", "I": "<i", "F": "<f", "D": "<d", "L": "<q"}


@dataclass
class FbxNode:
    """A node: its name, its values, its children."""

    name: str
    """Such as `Model`."""
    values: list[Any] = field(default_factory=list)
    """Numbers, texts, bytes and arrays."""
    children: list["FbxNode"] = field(default_factory=list)
    """In file order."""

    def all(self, name: str) -> Iterator["FbxNode"]:
        """Children of a name."""
        return (child for child in self.children if child.name == name)

    def first(self, name: str) -> "FbxNode | None":
        """The first child of a name."""
        return next(self.all(name), None)

    def array(self, name: str, kind: str) -> np.ndarray:
        """The array that a child holds, as `kind`; empty if there is none."""
        child = self.first(name)
        value = child.values[0] if child is not None and child.values else None
        return value.astype(kind) if isinstance(value, np.ndarray) else np.zeros(0, kind)

    def properties(self) -> dict[str, list[Any]]:
        """Values of `Properties70` by name."""
        block = self.first("Properties70")
        rows = () if block is None else block.all("P")
        return {str(row.values[0]): row.values[4:] for row in rows if len(row.values) >= 4}


def read_fbx_tree(path: Path) -> FbxNode:
    """The root of a file; `FormatError` says what is wrong with one that is damaged."""
    content = read_input(path, at_most=MAX_BYTES)
    if content[: len(_MAGIC)] != _MAGIC or len(content) < 27:
        text = b"FBXHeaderExtension" in content[:4096]
        raise FormatError(
            f"{path} is {'an FBX file of text' if text else 'no binary FBX file'}; expected a "
            f"binary one, 7.0 or newer. Export it as binary FBX, or as .glb."
        )
    (version,) = struct.unpack_from("<I", content, 23)
    if not 7000 <= version < 8000:
        raise FormatError(f"{path} is FBX version {version}; expected 7.0 to 7.7. Export it again.")
    return _Reader(path, content, wide=version >= 7500).root()


class _Reader:
    def __init__(self, path: Path, content: bytes, *, wide: bool) -> None:
        self.path, self.content = path, content
        self.head = "<QQQB" if wide else "<IIIB"
        self.count, self.values, self.unpacked = 0, 0, 0

    def root(self) -> FbxNode:
        root, place = FbxNode(""), 27
        while place + struct.calcsize(self.head) <= len(self.content):
            node, place = self.node(place, len(self.content), 0)
            if node is None:
                break
            root.children.append(node)
        return root

    def refuse(self, why: str) -> NoReturn:
        raise FormatError(f"{self.path}: {why}. The file is damaged; export it again.")

    def node(self, place: int, limit: int, depth: int) -> tuple[FbxNode | None, int]:
        self.count += 1
        if depth > _MAX_DEPTH or self.count > _MAX_NODES:
            self.refuse("its nodes are too many, or too deep")
        size = struct.calcsize(self.head)
        if place + size > limit:
            self.refuse("a node ends past its parent")
        end, count, length, name = struct.unpack_from(self.head, self.content, place)
        place += size
        if end == 0:
            return None, place
        after = place + name + length
        if not place <= after <= end <= limit:
            self.refuse(f"a node at byte {place - size} ends at {end} of {limit}")
        self.values += count
        if self.values > _MAX_VALUES:
            self.refuse(f"its nodes have more than {_MAX_VALUES} values")
        node = FbxNode(self.content[place : place + name].decode("latin-1"))
        place += name
        for _ in range(count):
            value, place = self.value(place, after)
            node.values.append(value)
        place = after
        while place < end:
            child, place = self.node(place, end, depth + 1)
            if child is None:
                break
            node.children.append(child)
        return node, end

    def value(self, place: int, limit: int) -> tuple[Any, int]:
        if place >= limit:
            self.refuse("a value ends past its node")
        code = chr(self.content[place])
        place += 1
        if code in _SCALARS:
            size = struct.calcsize(_SCALARS[code])
            self.within(place + size, limit)
            return struct.unpack_from(_SCALARS[code], self.content, place)[0], place + size
        if code in "SR":
            self.within(place + 4, limit)
            (size,) = struct.unpack_from("<I", self.content, place)
            self.within(place + 4 + size, limit)
            raw = self.content[place + 4 : place + 4 + size]
            return raw.decode("utf-8", "replace") if code == "S" else raw, place + 4 + size
        if code not in _ARRAYS:
            self.refuse(f"a value has the type {code!r}, which is unknown")
        return self.array(code, place, limit)

    def array(self, code: str, place: int, limit: int) -> tuple[np.ndarray, int]:
        self.within(place + 12, limit)
        count, packed, size = struct.unpack_from("<III", self.content, place)
        place += 12
        self.within(place + size, limit)
        dtype = np.dtype(_ARRAYS[code])
        expected = count * dtype.itemsize
        self.unpacked += expected
        if self.unpacked > min(_FREE_BYTES + _GROWTH * len(self.content), _MAX_UNPACKED):
            self.refuse("its arrays unpack to far more than the file")
        raw = self.content[place : place + size]
        if packed:
            try:
                raw = zlib.decompressobj().decompress(raw, max(expected, 1))
            except zlib.error as error:
                self.refuse(f"an array cannot be unpacked ({error})")
        if len(raw) < expected:
            self.refuse(f"an array has {len(raw)} bytes of {expected}")
        return np.frombuffer(raw[:expected], dtype), place + size

    def within(self, end: int, limit: int) -> None:
        if end > limit:
            self.refuse(f"a value ends at byte {end}, past its node at {limit}")
