"""Stanford PLY: text or binary, surfaces and point clouds.

================== ========================================================================
survives           vertices and their order, triangles, quads
does not           texture coordinates, mirror map; on reading, all properties but positions and
                   polygons are skipped, and polygons of five and more corners are split into fans
================== ========================================================================

Metres and y up; PLY itself has no units. Declared sizes are checked against the file before any
memory is taken.
"""

import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from corporeal._typing import Float, Float64, Int, NumpyArray
from corporeal.body.checks import require_indices
from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError
from corporeal.formats.polygons import triangles_and_quads
from corporeal.formats.text_lines import TextLines, whole_numbers
from corporeal.runtime.files import atomic_write
from corporeal.runtime.input_files import MAX_TEXT_BYTES, read_input

_TYPES = {
    "char": "i1",
    "int8": "i1",
    "uchar": "u1",
    "uint8": "u1",
    "short": "i2",
    "int16": "i2",
    "ushort": "u2",
    "uint16": "u2",
    "int": "i4",
    "int32": "i4",
    "uint": "u4",
    "uint32": "u4",
    "float": "f4",
    "float32": "f4",
    "double": "f8",
    "float64": "f8",
}
_ORDERS = {"binary_little_endian": "<", "binary_big_endian": ">", "ascii": "="}
_POLYGONS = ("vertex_indices", "vertex_index")
_AXES = ("x", "y", "z")
_HEADER_LIMIT = 65536
_MAX_ELEMENTS = 1000
_MAX_MIXED_ROWS = 1_000_000
"""Rows with lists of different lengths, which are read one by one."""


@dataclass(frozen=True)
class Property:
    """One column; a list has a type for its length as well."""

    name: str
    """As in the header, such as `x` or `vertex_indices`."""
    kind: str
    """Type of a value, PLY's word such as `float` or `uchar`."""
    length_kind: str | None = None
    """Type of a list's length; None for a single value."""


@dataclass(frozen=True)
class Element:
    """One table of the file."""

    name: str
    """As in the header, such as `vertex` or `face`."""
    count: int
    """Number of rows."""
    properties: tuple[Property, ...]
    """Columns, in the file's order."""


def read_ply(path: str | Path) -> Mesh:
    """Read a PLY file; a point cloud is a mesh without triangles."""
    path = Path(path)
    data = read_input(path)
    try:
        order, elements, start = _parse_header(data)
        tables = _Body(data[start:], order).tables(elements)
        return _mesh(tables)
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise FormatError(f"{path} cannot be read as PLY: {error}") from error


def read_ply_columns(
    path: str | Path,
) -> tuple[Float[NumpyArray, "V 3"], Int[NumpyArray, "F 3"], dict[str, NumpyArray]]:
    """Points as the file has them, finite or not; triangles; and every single-valued column of the
    points by name: colours, normals, …"""
    path = Path(path)
    data = read_input(path)
    try:
        order, elements, start = _parse_header(data)
        tables = _Body(data[start:], order).tables(elements)
        columns = {
            name: np.asarray(values)
            for name, values in tables.get("vertex", {}).items()
            if not isinstance(values, tuple)
        }
        vertices, triangles, _ = _surface(tables)
        require_indices("scan's triangles", triangles, len(vertices))
        return vertices, triangles, columns
    except (ValueError, IndexError, KeyError, OverflowError) as error:
        raise FormatError(f"{path} cannot be read as PLY: {error}") from error


def write_ply(path: str | Path, mesh: Mesh, *, binary: bool = True) -> None:
    """Write a PLY file; float64 vertices are written as `double`, float32 ones as `float`."""
    vertices = np.asarray(mesh.vertices)
    faces = mesh.triangles if mesh.quads is None else mesh.quads
    kind = "double" if vertices.dtype == np.float64 else "float"
    header = (
        f"ply\nformat {'binary_little_endian' if binary else 'ascii'} 1.0\n"
        f"comment corporeal: metres, y up\nelement vertex {len(vertices)}\n"
        + "".join(f"property {kind} {axis}\n" for axis in "xyz")
        + f"element face {len(faces)}\nproperty list uchar int vertex_indices\nend_header\n"
    )
    if binary:
        rows = np.empty(len(faces), [("length", "u1"), ("corners", "<i4", faces.shape[1])])
        rows["length"], rows["corners"] = faces.shape[1], faces
        body = vertices.astype("<f8" if kind == "double" else "<f4").tobytes() + rows.tobytes()
    else:
        lines = [" ".join(map(str, row)) for row in vertices]
        lines += [f"{faces.shape[1]} " + " ".join(map(str, face)) for face in faces.tolist()]
        body = "".join(f"{line}\n" for line in lines).encode("ascii")
    with atomic_write(path) as temporary:
        temporary.write_bytes(header.encode("ascii") + body)


def _parse_header(data: bytes) -> tuple[str, list[Element], int]:
    head = data[:_HEADER_LIMIT]
    end = head.find(b"end_header")
    if not head.startswith(b"ply") or end < 0:
        raise ValueError("it has no PLY header ('ply' … 'end_header')")
    start = data.index(b"\n", end) + 1
    order: str | None = None
    elements: list[Element] = []
    for line in head[:end].decode("ascii", "replace").splitlines()[1:]:
        words = line.split()
        match words:
            case ["format", name, _]:
                order = _ORDERS[name]
            case ["element", name, count]:
                elements.append(Element(name, int(count), ()))
            case ["property", "list", length_kind, kind, name]:
                _append(elements, Property(name, _TYPES[kind], _TYPES[length_kind]))
            case ["property", kind, name]:
                _append(elements, Property(name, _TYPES[kind]))
            case [] | ["comment" | "obj_info", *_]:
                pass
            case _:
                raise ValueError(f"header line {line!r} is not known")
    if order is None:
        raise ValueError("its header has no 'format' line")
    for element in elements:
        _require_element(element)
    if len(elements) > _MAX_ELEMENTS or len({e.name for e in elements}) != len(elements):
        raise ValueError(f"its header has {len(elements)} elements, or one of them twice")
    return order, elements, start


def _require_element(element: Element) -> None:
    """Refuse tables that no bytes stand for, and lists that are none."""
    if element.count and not element.properties:
        raise ValueError(f"element {element.name!r} has {element.count} rows without properties")
    for item in element.properties:
        if item.length_kind is not None and item.length_kind[0] == "f":
            raise ValueError(f"list {item.name!r} has lengths that are not whole numbers")
        is_polygon = element.name == "face" and item.name in _POLYGONS
        if is_polygon and (item.length_kind is None or item.kind[0] == "f"):
            raise ValueError(f"{item.name!r} is no list of whole numbers")
        if element.name == "vertex" and item.name in _AXES and item.length_kind is not None:
            raise ValueError(f"the position {item.name!r} is a list; expected a number")


def _append(elements: list[Element], item: Property) -> None:
    if not elements:
        raise ValueError(f"property {item.name!r} stands before any element")
    last = elements[-1]
    elements[-1] = Element(last.name, last.count, (*last.properties, item))


Table = dict[str, Any]
"""Column → values; a list column is (lengths, all values one row after the other)."""


class _Body:
    """The bytes after the header, consumed table by table."""

    def __init__(self, data: bytes, order: str) -> None:
        self.order = order
        self.data = data
        self.position = 0
        self.words = _text_numbers(data) if order == "=" else np.zeros(0)

    def tables(self, elements: list[Element]) -> dict[str, Table]:
        return {element.name: self._table(element) for element in elements}

    def _table(self, element: Element) -> Table:
        self._require_room(element)
        if self.order == "=":
            return self._text_table(element)
        lengths = self._first_lengths(element)
        rows = self._uniform_rows(element, lengths)
        return self._mixed_table(element) if rows is None else _columns(element, rows)

    def _require_room(self, element: Element) -> None:
        """A row takes at least one byte a value (text: one word), so a false count shows."""
        left = len(self.words) - self.position if self.order == "=" else self._bytes_left()
        least = (
            len(element.properties)
            if self.order == "="
            else sum(np.dtype(p.length_kind or p.kind).itemsize for p in element.properties)
        )
        if element.count < 0 or element.count * least > left:
            raise ValueError(
                f"it declares {element.count} rows of {element.name!r} and has room for "
                f"{left // max(least, 1)}; it is truncated"
            )

    def _bytes_left(self) -> int:
        return len(self.data) - self.position

    def _first_lengths(self, element: Element) -> list[int]:
        """List lengths of the first row: most files have the same in every row."""
        lengths: list[int] = []
        position = self.position
        for item in element.properties if element.count else ():
            if item.length_kind is None:
                position += np.dtype(item.kind).itemsize
                continue
            kind = np.dtype(self.order + item.length_kind)
            lengths.append(int(np.frombuffer(self.data, kind, 1, position)[0]))
            position += kind.itemsize + lengths[-1] * np.dtype(item.kind).itemsize
        return lengths

    def _uniform_rows(self, element: Element, lengths: list[int]) -> NumpyArray | None:
        """All rows at once if every list is as long as in the first row, else None."""
        fields: list[tuple[Any, ...]] = []
        remaining = iter(lengths)
        for item in element.properties:
            if item.length_kind is not None and element.count:
                fields.append((f"{item.name} length", self.order + item.length_kind))
                fields.append((item.name, self.order + item.kind, (next(remaining),)))
            else:
                fields.append((item.name, self.order + item.kind))
        kind = np.dtype(fields)
        if element.count * kind.itemsize > self._bytes_left():
            return None
        rows = np.frombuffer(self.data, kind, element.count, self.position)
        for name, length in zip(
            (p.name for p in element.properties if p.length_kind), lengths, strict=False
        ):
            if (rows[f"{name} length"] != length).any():
                return None
        self.position += element.count * kind.itemsize
        return rows

    def _mixed_table(self, element: Element) -> Table:
        """Row by row, for lists of different lengths."""
        if element.count > _MAX_MIXED_ROWS:
            raise ValueError(
                f"{element.count} rows of {element.name!r} have lists of different lengths; at "
                f"most {_MAX_MIXED_ROWS} are read. Make them triangles"
            )
        stream = io.BytesIO(self.data)
        stream.seek(self.position)
        columns: dict[str, tuple[list[int], list[NumpyArray]]] = {
            item.name: ([], []) for item in element.properties
        }
        for _ in range(element.count):
            for item in element.properties:
                count = 1
                if item.length_kind is not None:
                    count = int(_values(stream, self.order + item.length_kind, 1)[0])
                lengths, chunks = columns[item.name]
                lengths.append(count)
                chunks.append(_values(stream, self.order + item.kind, count))
        self.position = stream.tell()
        return {
            item.name: (np.array(lengths, np.int64), np.concatenate(chunks))
            if item.length_kind
            else np.concatenate(chunks)
            for item, (lengths, chunks) in zip(element.properties, columns.values(), strict=True)
        }

    def _text_table(self, element: Element) -> Table:
        """All rows at once if every list is as long as in the first, else row by row."""
        width, place = 0, self.position
        for item in element.properties if element.count else ():
            count = 1
            if item.length_kind is not None:
                count = 1 + int(whole_numbers(self.words[place : place + 1])[0])
            width, place = width + count, place + count
        rows = self.words[self.position : self.position + width * element.count]
        if len(rows) == width * element.count:
            table = _even_rows(element, rows.reshape(element.count, -1))
            if table is not None:
                self.position += rows.size
                return table
        return self._uneven_text(element)

    def _uneven_text(self, element: Element) -> Table:
        if element.count > _MAX_MIXED_ROWS:
            raise ValueError(f"{element.count} rows of {element.name!r} are too many of as text")
        columns: dict[str, tuple[list[int], list[NumpyArray]]] = {
            item.name: ([], []) for item in element.properties
        }
        for _ in range(element.count):
            for item in element.properties:
                count = 1
                if item.length_kind is not None:
                    count = int(whole_numbers(self.words[self.position : self.position + 1])[0])
                    self.position += 1
                values = self.words[self.position : self.position + max(count, 0)]
                if count < 0 or len(values) != count:
                    raise ValueError(f"a row of {element.name!r} is cut short; it is truncated")
                lengths, words = columns[item.name]
                lengths.append(count)
                words.append(values)
                self.position += count
        return {
            item.name: (np.array(lengths, np.int64), _numbers(np.concatenate(words), item))
            if item.length_kind
            else _numbers(np.concatenate(words), item)
            for item, (lengths, words) in zip(element.properties, columns.values(), strict=True)
        }


def _text_numbers(data: bytes) -> Float64[NumpyArray, "n"]:
    if len(data) > MAX_TEXT_BYTES:
        raise ValueError(
            f"it has {len(data)} bytes of text; at most {MAX_TEXT_BYTES} are read. Save it as "
            f"binary PLY"
        )
    lines = TextLines(data, comments=False)
    return lines.numbers(np.ones(len(lines.starts), bool))[0]


def _even_rows(element: Element, rows: Float64[NumpyArray, "n w"]) -> Table | None:
    """The columns of text rows that are equally long; None if a list's length says otherwise."""
    table: Table = {}
    place = 0
    for item in element.properties:
        if item.length_kind is None:
            table[item.name] = _numbers(rows[:, place], item)
            place += 1
            continue
        count = int(rows[0, place]) if len(rows) else 0
        if (rows[:, place] != count).any():
            return None
        values = rows[:, place + 1 : place + 1 + count].reshape(-1)
        table[item.name] = (np.full(len(rows), count, np.int64), _numbers(values, item))
        place += 1 + count
    return table


def _numbers(values: Float64[NumpyArray, "n"], item: Property) -> NumpyArray:
    kind = np.dtype(item.kind)
    if kind.kind == "f":
        with np.errstate(over="ignore"):  # what overflows is not finite, and refused as such
            return values.astype(kind)
    whole, limits = whole_numbers(values), np.iinfo(kind)
    if len(whole) and not (limits.min <= whole.min() and whole.max() <= limits.max):
        raise ValueError(f"a number of {item.name!r} does not fit its type {kind}")
    return whole.astype(kind)


def _values(stream: io.BytesIO, kind: str, count: int) -> NumpyArray:
    size = np.dtype(kind).itemsize * count
    data = stream.read(size) if count >= 0 else b""
    if count < 0 or len(data) != size:
        raise ValueError("a row is cut short; it is truncated")
    return np.frombuffer(data, kind)


def _columns(element: Element, rows: NumpyArray) -> Table:
    table: Table = {}
    for item in element.properties:
        values = rows[item.name]
        if item.length_kind is None:
            table[item.name] = values
        elif element.count:
            lengths = np.full(element.count, values.shape[1], np.int64)
            table[item.name] = (lengths, values.reshape(-1))
        else:
            table[item.name] = (np.zeros(0, np.int64), values)
    return table


def _mesh(tables: dict[str, Table]) -> Mesh:
    return Mesh(*_surface(tables))


def _surface(
    tables: dict[str, Table],
) -> tuple[Float[NumpyArray, "V 3"], Int[NumpyArray, "F 3"], Int[NumpyArray, "Q 4"] | None]:
    if "vertex" not in tables or not {"x", "y", "z"} <= set(tables["vertex"]):
        raise ValueError("it has no element 'vertex' with x, y and z")
    axes = [tables["vertex"][axis] for axis in "xyz"]
    single = all(axis.dtype.itemsize <= 4 for axis in axes)
    vertices = np.stack(axes, axis=1).astype(np.float32 if single else np.float64)
    faces = tables.get("face", {})
    lists = [faces[name] for name in _POLYGONS if name in faces]
    if not lists:
        return vertices, np.zeros((0, 3), np.int64), None
    sizes, corners = lists[0]
    if len(sizes) and sizes.min() < 3:
        raise ValueError(f"a face has {sizes.min()} corners; expected three and more")
    triangles, quads = triangles_and_quads(sizes, corners.astype(np.int64))
    return vertices, triangles, quads
