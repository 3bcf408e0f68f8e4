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

from corporeal._typing import Bool, Float64, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError
from corporeal.formats.polygons import authored_faces, triangles_and_quads
from corporeal.formats.text_lines import TextLines, whole_numbers
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import MAX_TEXT_BYTES, read_input

_KINDS = (b"OFF", b"COFF", b"NOFF")


def read_off(path: str | Path) -> Mesh:
    """Read an OFF file. Vertices are never merged, dropped or reordered."""
    path = Path(path)
    content = read_input(path, at_most=MAX_TEXT_BYTES)
    try:
        return _parse(content)
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


def _parse(content: bytes) -> Mesh:
    if b"\x00" in content:
        raise ValueError("it is not plain text")
    lines = TextLines(content)
    is_filled = lines.word_counts > 0
    rows = np.flatnonzero(is_filled)
    head = lines.text(int(rows[0])).split() if len(rows) else [b""]
    if head[0] not in _KINDS:
        raise ValueError(f"it does not start with one of {b', '.join(_KINDS).decode()}")
    if len(head) > 1:  # the counts stand beside the word
        counts, rows = head[1:], rows[1:]
    else:
        counts = lines.text(int(rows[1])).split() if len(rows) > 1 else []
        rows = rows[2:]
    if len(counts) < 2 or not all(word.isdigit() and len(word) < 16 for word in counts[:2]):
        raise ValueError("it has no line with the counts of vertices and faces")
    vertex_count, face_count = int(counts[0]), int(counts[1])
    if vertex_count + face_count > len(rows):
        raise ValueError(
            f"it declares {vertex_count} vertices and {face_count} faces and has "
            f"{len(rows)} lines for them; it is truncated"
        )
    vertices = _vertices(lines, rows[:vertex_count])
    sizes, corners = _faces(lines, rows[vertex_count : vertex_count + face_count])
    return Mesh(vertices, *triangles_and_quads(sizes, corners))


def _chosen(lines: TextLines, rows: Int[NumpyArray, "n"]) -> Bool[NumpyArray, "L"]:
    chosen = np.zeros(len(lines.starts), bool)
    chosen[rows] = True
    return chosen


def _vertices(lines: TextLines, rows: Int[NumpyArray, "n"]) -> Float64[NumpyArray, "n 3"]:
    """The first three numbers of every line; normals and colours follow."""
    numbers, counts = lines.numbers(_chosen(lines, rows))
    if len(counts) and counts.min() < 3:
        raise ValueError(f"a line has {counts.min()} numbers; expected 3")
    first = np.cumsum(counts) - counts
    return numbers[first[:, None] + np.arange(3)]


def _faces(
    lines: TextLines, rows: Int[NumpyArray, "n"]
) -> tuple[Int[NumpyArray, "n"], Int[NumpyArray, "c"]]:
    """Corner counts and corners; what follows them on a line is a colour."""
    numbers, counts = lines.numbers(_chosen(lines, rows))
    first = np.cumsum(counts) - counts
    sizes = whole_numbers(numbers[first])
    bad = (sizes < 3) | (sizes > counts - 1)
    if bad.any():
        place = bad.argmax()
        raise ValueError(f"a face has {sizes[place]} corners and {counts[place] - 1} numbers")
    places = np.arange(len(numbers)) - np.repeat(first, counts)
    is_corner = (places > 0) & (places <= np.repeat(sizes, counts))
    return sizes, whole_numbers(numbers[is_corner])
