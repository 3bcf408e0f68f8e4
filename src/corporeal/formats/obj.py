"""Wavefront OBJ: text, one surface.

================== ========================================================================
survives           vertices and their order, triangles, quads, texture coordinates with seams
does not           mirror map; on reading, normals, colours, groups and materials are not used,
                   and polygons of five and more corners are split into fans
================== ========================================================================

Metres and y up, as everywhere inside; OBJ itself has no units, so a file in other units must be
scaled by its reader.
"""

from pathlib import Path

import numpy as np

from corporeal._typing import Float64, Int, NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError
from corporeal.formats.polygons import fan_triangles, triangles_and_quads
from corporeal.formats.text_lines import TextLines, face_corners
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import MAX_TEXT_BYTES, read_input


def read_obj(path: str | Path) -> Mesh:
    """Read an OBJ file. Vertices are never merged, dropped or reordered."""
    path = Path(path)
    try:
        return _parse(_lines(path))
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error


def write_obj(path: str | Path, mesh: Mesh) -> None:
    """Write an OBJ file, with quads and texture coordinates where the mesh has them."""
    vertices = np.asarray(mesh.vertices)
    lines = [f"# corporeal: {mesh.vertex_count} vertices, metres, y up"]
    lines += _rows("v", vertices)
    faces = (mesh.triangles if mesh.quads is None else mesh.quads) + 1
    if mesh.uv is None or mesh.uv_triangles is None:
        lines += ["f " + " ".join(map(str, face)) for face in faces.tolist()]
    else:
        uv_faces = mesh.uv_triangles + 1
        if mesh.quads is not None:
            uv_faces = np.concatenate([uv_faces[0::2], uv_faces[1::2, 2:]], axis=1)
        lines += _rows("vt", mesh.uv)
        for face, uv_face in zip(faces.tolist(), uv_faces.tolist(), strict=True):
            pairs = (f"{v}/{t}" for v, t in zip(face, uv_face, strict=True))
            lines.append("f " + " ".join(pairs))
    with atomic_write(path) as temporary:
        temporary.write_text("\n".join(lines) + "\n", encoding="ascii", newline="\n")


def _rows(kind: str, values: NumpyArray) -> list[str]:
    """Lines with the fewest digits that give the same numbers back."""
    return [f"{kind} " + " ".join(map(str, row)) for row in values]


def _lines(path: Path) -> TextLines:
    content = read_input(path, at_most=MAX_TEXT_BYTES)
    if b"\x00" in content:
        raise FormatError("it is not text; expected a Wavefront OBJ file.")
    if b"\\" in content:
        content = content.replace(b"\\\r\n", b" ").replace(b"\\\n", b" ")
    return TextLines(content)


def _parse(lines: TextLines) -> Mesh:
    is_vertex, is_uv, is_face = (lines.starting_with(word) for word in (b"v", b"vt", b"f"))
    vertices = _columns(lines, is_vertex, 1, 3, 3)
    if not len(vertices):
        raise FormatError("it has no vertices; expected lines such as 'v 0.1 1.2 0.3'.")
    uv = _columns(lines, is_uv, 2, 1, 2)
    sizes = lines.word_counts[is_face] - 1
    if len(sizes) and sizes.min() < 3:
        line = np.flatnonzero(is_face)[sizes.argmin()]
        raise FormatError(f"line {line + 1}: has {sizes.min()} values; expected at least 3.")
    first, second, textured = face_corners(lines.bytes_of(is_face, 1))
    corners = _indices(lines, first, is_face, is_vertex)
    triangles, quads = triangles_and_quads(sizes, corners)
    if len(corners) and textured.all():
        uv_corners = _indices(lines, second, is_face, is_uv)
        return Mesh(vertices, triangles, quads, uv, fan_triangles(sizes, uv_corners))
    return Mesh(vertices, triangles, quads)


def _columns(
    lines: TextLines, chosen: NumpyArray, skip: int, least: int, count: int
) -> Float64[NumpyArray, "n c"]:
    """The first `count` numbers of the chosen lines, 0 where there are fewer but `least`."""
    numbers, counts = lines.numbers(chosen, skip=skip)
    if len(counts) and counts.min() < least:
        line = np.flatnonzero(chosen)[counts.argmin()]
        raise FormatError(f"line {line + 1}: has {counts.min()} values; expected at least {least}.")
    first = np.cumsum(counts) - counts
    table = np.zeros((len(counts), count))
    for column in range(count):
        there = counts > column
        table[there, column] = numbers[first[there] + column]
    return table


def _indices(
    lines: TextLines, letters: NumpyArray, faces: NumpyArray, named: NumpyArray
) -> Int[NumpyArray, "n"]:
    """Zero-based indices of corners; negative ones count back from what stands before the face."""
    indices = lines.whole(letters, faces)
    sizes = lines.word_counts[faces] - 1
    if len(indices) != sizes.sum():
        raise FormatError("a face has a corner that is no index; expected such as 7, 7/3, 7//2.")
    so_far = np.repeat(np.cumsum(named)[faces], sizes)
    zero_based = np.where(indices > 0, indices - 1, so_far + indices)
    bad = (indices == 0) | (zero_based < 0)
    if bad.any():
        line = np.repeat(np.flatnonzero(faces), sizes)[bad.argmax()]
        raise FormatError(
            f"line {line + 1}: has index {indices[bad.argmax()]}; expected 1 and up, or negative "
            f"within the file so far."
        )
    return zero_based
