"""A small binary FBX reader, independent of the writer: the tree of nodes and their properties."""

import struct
import zlib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

_ARRAYS = {"f": "<f4", "d": "<f8", "l": "<i8", "i": "<i4", "b": "<u1"}
_SCALARS = {"Y": "<h", "C": "<B", "I": "<i", "F": "<f", "D": "<d", "L": "<q"}


@dataclass
class ReadNode:
    name: str
    properties: list[Any]
    children: list["ReadNode"] = field(default_factory=list)
    has_block: bool = False

    def all(self, name: str) -> list["ReadNode"]:
        return [child for child in self.children if child.name == name]

    def one(self, name: str) -> "ReadNode":
        (found,) = self.all(name)
        return found


def read_fbx_tree(path: Path) -> tuple[ReadNode, bytes]:
    """The root with all nodes, and the bytes after them."""
    data = path.read_bytes()
    assert data[:23] == b"Kaydara FBX Binary  \x00\x1a\x00"
    assert struct.unpack_from("<I", data, 23) == (7400,)
    root, place = ReadNode("", []), 27
    while True:
        node, place = _node(data, place)
        if node is None:
            return root, data[place:]
        root.children.append(node)


def _node(data: bytes, place: int) -> tuple[ReadNode | None, int]:
    end, count, size, length = struct.unpack_from("<IIIB", data, place)
    place += 13
    if end == 0:
        assert (count, size, length) == (0, 0, 0)
        return None, place
    node = ReadNode(data[place : place + length].decode(), [])
    place += length
    stop = place + size
    for _ in range(count):
        value, place = _property(data, place)
        node.properties.append(value)
    assert place == stop, f"{node.name}: properties end at {place}, not {stop}"
    while place < end:
        child, place = _node(data, place)
        if child is None:
            node.has_block = True
            break
        node.children.append(child)
    assert place == end, f"{node.name} ends at {place}, not {end}"
    return node, place


def _property(data: bytes, place: int) -> tuple[Any, int]:
    code = chr(data[place])
    place += 1
    if code in _SCALARS:
        size = struct.calcsize(_SCALARS[code])
        return struct.unpack_from(_SCALARS[code], data, place)[0], place + size
    if code in "SR":
        (size,) = struct.unpack_from("<I", data, place)
        content = data[place + 4 : place + 4 + size]
        return content.decode() if code == "S" else content, place + 4 + size
    count, packed, size = struct.unpack_from("<III", data, place)
    content = data[place + 12 : place + 12 + size]
    array = np.frombuffer(zlib.decompress(content) if packed else content, _ARRAYS[code])
    assert len(array) == count
    return array, place + 12 + size
