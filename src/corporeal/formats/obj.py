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

from corporeal._typing import NumpyArray
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError
from corporeal.formats.polygons import fan_triangles, triangles_and_quads
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import read_input


def read_obj(path: str | Path) -> Mesh:
    """Read an OBJ file. Vertices are never merged, dropped or reordered."""
    path = Path(path)
    vertices: list[list[str]] = []
    uv: list[list[str]] = []
    sizes: list[int] = []
    corners: list[tuple[int, int]] = []
    for number, line in enumerate(_lines(path), start=1):
        kind, *values = line.split() or [""]
        try:
            if kind == "v":
                vertices.append(_take(values, 3))
            elif kind == "vt":
                uv.append(_take([*values, "0"], 2))
            elif kind == "f":
                corners.extend(_corner(text, len(vertices), len(uv)) for text in values)
                sizes.append(len(_take(values, 3, at_least=True)))
        except ValueError as error:
            raise FormatError(f"{path} line {number}: {error}.") from error
    if not vertices:
        raise FormatError(f"{path} has no vertices; expected lines such as 'v 0.1 1.2 0.3'.")
    return _mesh(path, vertices, uv, np.array(sizes, np.int64), np.array(corners, np.int64))


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


def _lines(path: Path) -> list[str]:
    try:
        text = read_input(path).decode("utf-8")
    except UnicodeDecodeError as error:
        raise FormatError(f"{path} is not text; expected a Wavefront OBJ file.") from error
    return text.replace("\r\n", "\n").replace("\\\n", " ").splitlines()


def _take(values: list[str], count: int, *, at_least: bool = False) -> list[str]:
    if len(values) < count:
        raise ValueError(f"has {len(values)} values; expected at least {count}")
    return values if at_least else values[:count]


def _corner(text: str, vertex_count: int, uv_count: int) -> tuple[int, int]:
    """Zero-based vertex and texture indices of `7`, `7/3`, `7//2`, `7/3/2` or `-1/-1`."""
    vertex, _, rest = text.partition("/")
    texture = rest.partition("/")[0]
    return _index(vertex, vertex_count), _index(texture, uv_count) if texture else -1


def _index(text: str, count: int) -> int:
    index = int(text)
    zero_based = index - 1 if index > 0 else count + index
    if index == 0 or zero_based < 0:
        raise ValueError(
            f"has index {index}; expected 1 and up, or negative within the file so far"
        )
    return zero_based


def _mesh(
    path: Path,
    vertices: list[list[str]],
    uv: list[list[str]],
    sizes: NumpyArray,
    corners: NumpyArray,
) -> Mesh:
    corners = corners.reshape(-1, 2)
    try:
        places = np.array(vertices, np.float64)
        textures = np.array(uv, np.float64).reshape(-1, 2)
        triangles, quads = triangles_and_quads(sizes, corners[:, 0])
        if len(corners) and (corners[:, 1] >= 0).all():
            return Mesh(places, triangles, quads, textures, fan_triangles(sizes, corners[:, 1]))
        return Mesh(places, triangles, quads)
    except ValueError as error:
        raise FormatError(f"{path}: {error}") from error
