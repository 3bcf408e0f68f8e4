"""STL (`.stl`): loose triangles, binary or text.

================== ========================================================================
survives           triangles, as float32 corners in file order
does not           shared vertices: every triangle has three of its own, in the order of the
                   file, and they are left so; quads, texture coordinates, mirror map
================== ========================================================================

Metres and y up; STL itself has no units. Printing programs expect millimetres and z up: scale
and turn there.
"""

from pathlib import Path

import numpy as np

from corporeal._typing import Float, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError
from corporeal.formats.text_lines import TextLines
from corporeal.geometry.surface import triangle_area_vectors
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import MAX_TEXT_BYTES, read_input

_HEAD_BYTES = 80
_RECORD = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("spare", "<u2")])


def read_stl(path: str | Path) -> Mesh:
    """Read an STL file: vertices 3i, 3i+1 and 3i+2 are triangle i; none are merged."""
    path = Path(path)
    data = read_input(path)
    try:
        corners = _binary_corners(data)
        if corners is None:
            corners = _text_corners(data)
        return Mesh(corners, np.arange(len(corners)).reshape(-1, 3))
    except ValueError as error:
        raise FormatError(f"{path} cannot be read as STL: {error}") from error


def write_stl(path: str | Path, mesh: Mesh) -> None:
    """Write a binary STL file."""
    vertices = np.asarray(mesh.vertices, np.float64)
    records = np.zeros(len(mesh.triangles), _RECORD)
    area = triangle_area_vectors(vertices, mesh.triangles)
    length = np.linalg.norm(area, axis=1, keepdims=True)
    records["normal"] = np.divide(area, length, out=np.zeros_like(area), where=length > 0)
    records["corners"] = vertices[mesh.triangles]
    head = b"corporeal: metres, y up".ljust(_HEAD_BYTES)
    with atomic_write(path) as temporary:
        count = np.uint32(len(records)).astype("<u4").tobytes()
        temporary.write_bytes(head + count + records.tobytes())


def _binary_corners(data: bytes) -> Float[NumpyArray, "v 3"] | None:
    """Corners, if the size is exactly that of a binary file; text files often start alike."""
    if len(data) < _HEAD_BYTES + 4:
        return None
    count = int(np.frombuffer(data, "<u4", 1, _HEAD_BYTES)[0])
    if len(data) != _HEAD_BYTES + 4 + count * _RECORD.itemsize:
        return None
    records = np.frombuffer(data, _RECORD, count, _HEAD_BYTES + 4)
    return records["corners"].astype(np.float32).reshape(-1, 3)


def _text_corners(data: bytes) -> Float[NumpyArray, "v 3"]:
    if not data.lstrip()[:5].lower() == b"solid":
        raise ValueError(
            f"its {len(data)} bytes are neither a whole binary file nor text that starts with "
            f"'solid'; it is truncated or another kind of file"
        )
    if len(data) > MAX_TEXT_BYTES:
        raise ValueError(
            f"it has {len(data)} bytes of text; at most {MAX_TEXT_BYTES} are read. Save it as "
            f"binary STL"
        )
    lines = TextLines(data.lower(), comments=False)
    is_corner = lines.starting_with(b"vertex")
    corners, counts = lines.numbers(is_corner, skip=6)
    if (counts != 3).any():
        line = np.flatnonzero(is_corner)[(counts != 3).argmax()]
        raise ValueError(
            f"line {line + 1} has {counts[(counts != 3).argmax()]} numbers; expected 3"
        )
    if not len(counts) or len(counts) % 3:
        raise ValueError(f"it has {len(counts)} triangle corners; expected a multiple of 3")
    return corners.reshape(-1, 3)
