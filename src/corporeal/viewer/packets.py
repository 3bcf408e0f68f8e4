"""Messages between page, server and session: a JSON header, then plain arrays.

====== ======================================================================================
bytes  meaning
====== ======================================================================================
4      length of the header, little-endian
n      the header, UTF-8 JSON padded with blanks to a multiple of 8 with the length before it;
       its `kind` says what the message is, its `arrays` are `[name, dtype, shape, offset]`
rest   the arrays, little-endian, each on a multiple of 8 from the end of the header
====== ======================================================================================
"""

import json
import math
import struct
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.errors import FormatError

_DTYPES = ("uint8", "int8", "uint16", "int16", "uint32", "int32", "float32")
"""What a browser has typed arrays for."""
BEGIN, LEAVE = b"+", b"-"
"""From the server to a session: a page is there, or has gone. Pages cannot say it: what they send
is passed on from `LEAST` bytes on."""
LEAST = 4
_MOST_HEADER = 4 << 20
"""Bytes."""


@dataclass(frozen=True)
class Packet:
    """One message."""

    kind: str
    """Which message it is; decides what the fields mean."""
    fields: Mapping[str, Any] = field(default_factory=dict)
    """JSON values by name."""
    arrays: Mapping[str, NumpyArray] = field(default_factory=dict)
    """Plain arrays by name."""

    def encode(self) -> bytes:
        """The message as bytes."""
        rows, parts, place = [], [], 0
        for name, array in self.arrays.items():
            if array.dtype.name not in _DTYPES:
                raise FormatError(
                    f"array {name!r} is {array.dtype}; expected one of {', '.join(_DTYPES)}."
                )
            rows.append([name, array.dtype.name, list(array.shape), place])
            content = np.ascontiguousarray(array).astype(array.dtype.newbyteorder("<")).tobytes()
            parts += [content, b"\0" * (-len(content) % 8)]
            place += len(content) + len(parts[-1])
        header = {**self.fields, "kind": self.kind, "arrays": rows}
        text = json.dumps(header, allow_nan=False, separators=(",", ":")).encode()
        text += b" " * (-(4 + len(text)) % 8)
        return b"".join([struct.pack("<I", len(text)), text, *parts])


def decode(content: bytes) -> Packet:
    """The message in some bytes; raises `FormatError` for anything that is none."""
    if len(content) < LEAST:
        raise FormatError(f"a message has {len(content)} bytes; expected at least 4.")
    (length,) = struct.unpack_from("<I", content)
    if length > min(_MOST_HEADER, len(content) - 4):
        raise FormatError(f"a message states a header of {length} bytes; it is too short for it.")
    try:
        header = json.loads(content[4 : 4 + length].decode(), parse_constant=_no_number)
    except (ValueError, RecursionError) as error:
        raise FormatError("a message's header is no JSON.") from error
    if not isinstance(header, dict) or not isinstance(header.get("kind"), str):
        raise FormatError("a message's header names no kind.")
    rows = header.pop("arrays", [])
    body = memoryview(content)[4 + length :]
    try:
        arrays = {str(name): _array(body, *rest) for name, *rest in rows}
    except (TypeError, ValueError, OverflowError) as error:
        raise FormatError("a message's arrays are not where its header says.") from error
    return Packet(header.pop("kind"), header, arrays)


def _no_number(word: str) -> float:
    raise ValueError(f"{word} is no number of JSON")


def _array(body: memoryview, dtype: str, shape: list[int], offset: int) -> NumpyArray:
    if dtype not in _DTYPES or any(type(n) is not int or n < 0 for n in (*shape, offset)):
        raise ValueError(f"no array is {dtype} of shape {shape}")
    count = math.prod(shape)
    return np.frombuffer(body, np.dtype(dtype).newbyteorder("<"), count, offset).reshape(shape)
