"""Object File Format (`.off`): text, one surface.

================== ========================================================================
survives           vertices and their order, triangles, quads
does not           texture coordinates, mirror map; on reading, colours are skipped, and polygons
                   of five and more corners are split into fans
================== ========================================================================

Metres and y up; OFF itself has no units. Of its variants, OFF, COFF and NOFF are read, as text.
"""

from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError
from corporeal.formats.polygons import authored_faces, triangles_and_quads
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import read_input

_KINDS = ("OFF", "COFF", "NOFF")


def read_off(path: str | Path) -> Mesh:
    """Read an OFF file. Vertices are never merged, dropped or reordered."""
    path = Path(path)
    content = read_input(path)
    try:
        text = content.decode("ascii")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not plain text; expected an OFF file.") from error
    try:
        return _parse([line.partition("#")[0].split() for line in text.splitlines()])
    except (ValueError, OverflowError) as error:
        raise FormatError(f"{path} cannot be read as OFF: {error}") from error


def write_off(path: str | Path, mesh: Mesh) -> None:
    """Write an OFF file, with quads where the mesh has them."""
    faces = authored_faces(mesh)
    vertices = np.asarray(mesh.vertices)
    lines = ["OFF", f"{len(vertices)} {len(faces)} 0"]
    lines += [" ".join(map(str, row)) for row in vertices]
    lines += [f"{faces.shape[1]} " + " ".join(map(str, face)) for face in faces.tolist()]
    with atomic_write(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")


def _parse(lines: list[list[str]]) -> Mesh:
    rows = [words for words in lines if words]
    if not rows or rows[0][0] not in _KINDS:
        raise ValueError(f"it does not start with one of {', '.join(_KINDS)}")
    rest = rows[0][1:]
    rows = [rest, *rows[1:]] if rest else rows[1:]
    if not rows or len(rows[0]) < 2:
        raise ValueError("it has no line with the counts of vertices and faces")
    vertex_count, face_count = int(rows[0][0]), int(rows[0][1])
    if vertex_count < 0 or face_count < 0 or vertex_count + face_count > len(rows) - 1:
        raise ValueError(
            f"it declares {vertex_count} vertices and {face_count} faces and has "
            f"{len(rows) - 1} lines for them; it is truncated"
        )
    vertices = np.array([_numbers(row, 3) for row in rows[1 : 1 + vertex_count]], np.float64)
    sizes, corners = _faces(rows[1 + vertex_count : 1 + vertex_count + face_count])
    triangles, quads = triangles_and_quads(sizes, corners)
    return Mesh(vertices.reshape(-1, 3), triangles, quads)


def _numbers(words: list[str], count: int) -> list[float]:
    if len(words) < count:
        raise ValueError(f"a line has {len(words)} numbers; expected {count}")
    return [float(word) for word in words[:count]]


def _faces(rows: list[list[str]]) -> tuple[NumpyArray, NumpyArray]:
    sizes: list[int] = []
    corners: list[int] = []
    for row in rows:
        size = int(row[0])
        if size < 3 or len(row) < 1 + size:
            raise ValueError(f"a face has {size} corners and {len(row) - 1} numbers")
        sizes.append(size)
        corners.extend(int(word) for word in row[1 : 1 + size])
    return np.array(sizes, np.int64), np.array(corners, np.int64)
