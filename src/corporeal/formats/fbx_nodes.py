"""Binary FBX 7.4: a tree of nodes, each with a name, typed properties and child nodes.

A node is stored as (end offset, property count, property bytes, name, properties, children); a list
of children ends with an empty record. Numbers are little-endian; arrays are zlib-compressed.
"""

import struct
import zlib
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from corporeal.errors import OutputError


class Int64(int):
    """A whole number that is stored in 64 bits."""


Property = bool | int | float | str | bytes | np.ndarray

_MAGIC = b"Kaydara FBX Binary  \x00\x1a\x00"
_VERSION = 7400
_HEADER = struct.Struct("<IIIB")
_SENTINEL = bytes(_HEADER.size)
_MAX_OFFSET = 2**32 - 1
_COMPRESS_FROM = 256
"""Arrays of fewer bytes are stored as they are."""

FILE_ID = bytes.fromhex("28b32aebb624ccc2bfc8b02aa92bfcf1")
CREATION_TIME = "1970-01-01 10:00:00:000"
_FOOTER_ID = bytes.fromhex("fabcab09d0c8d466b176fb831cf7267e")
"""The three belong together: readers check the footer against the id and the time of the head."""

_FOOTER_END = bytes.fromhex("f85a8c6adef5d97eece90ce3758f290b")
_ARRAY_CODES = {"float32": b"f", "float64": b"d", "int32": b"i", "int64": b"l"}


@dataclass
class FbxNode:
    """One node of the tree.

    Properties: `int` is stored in 32 bits and `Int64` in 64, `float` in 64; `bytes` are raw.
    """

    name: str
    """At most 255 bytes."""
    properties: tuple[Property, ...] = ()
    """Typed values, in order."""
    children: list["FbxNode"] = field(default_factory=list)
    """Nodes below, in order."""
    block: bool = False
    """Store an (empty) list of children; Autodesk's reader drops some nodes without it."""

    def add(self, name: str, *properties: Property, block: bool = False) -> "FbxNode":
        """Append a child and give it back."""
        child = FbxNode(name, properties, block=block)
        self.children.append(child)
        return child


def encode_document(nodes: Sequence[FbxNode]) -> bytes:
    """The bytes of a whole file."""
    out = bytearray(_MAGIC + struct.pack("<I", _VERSION))
    for node in nodes:
        _encode_node(out, node)
    out += _SENTINEL + _FOOTER_ID + bytes(4)
    out += bytes(16 - len(out) % 16)
    out += struct.pack("<I", _VERSION) + bytes(120) + _FOOTER_END
    if len(out) > _MAX_OFFSET:
        raise OutputError(
            f"the FBX file would have {len(out)} bytes; FBX 7.4 holds at most {_MAX_OFFSET}. "
            f"Keep fewer morph targets."
        )
    return bytes(out)


def _encode_node(out: bytearray, node: FbxNode) -> None:
    start = len(out)
    name = node.name.encode()
    out += bytes(_HEADER.size) + name
    before = len(out)
    for value in node.properties:
        _encode_property(out, value)
    property_bytes = len(out) - before
    for child in node.children:
        _encode_node(out, child)
    if node.children or node.block:
        out += _SENTINEL
    end = min(len(out), _MAX_OFFSET)  # `encode_document` refuses a longer file
    _HEADER.pack_into(out, start, end, len(node.properties), property_bytes, len(name))


def _encode_property(out: bytearray, value: Property) -> None:
    if isinstance(value, np.ndarray):
        _encode_array(out, value)
    elif isinstance(value, bool):
        out += struct.pack("<cB", b"C", value)
    elif isinstance(value, Int64):
        out += struct.pack("<cq", b"L", value)
    elif isinstance(value, int):
        out += struct.pack("<ci", b"I", value)
    elif isinstance(value, float):
        out += struct.pack("<cd", b"D", value)
    else:
        content = value.encode() if isinstance(value, str) else value
        code = b"S" if isinstance(value, str) else b"R"
        out += struct.pack("<cI", code, len(content)) + content


def _encode_array(out: bytearray, array: np.ndarray) -> None:
    data = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<"), copy=False).tobytes()
    packed = zlib.compress(data, 1) if len(data) >= _COMPRESS_FROM else data
    code = _ARRAY_CODES[array.dtype.name]
    out += struct.pack("<cIII", code, array.size, int(packed is not data), len(packed)) + packed
