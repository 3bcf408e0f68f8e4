"""PLY carries surfaces and point clouds without touching their vertices."""

import struct
from pathlib import Path

import numpy as np
import pytest
from small_body import small_mesh

from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError, InputError
from corporeal.formats.ply import read_ply, write_ply


@pytest.mark.parametrize("binary", [True, False])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_round_trip_is_exact(tmp_path: Path, binary: bool, dtype: type) -> None:
    source = small_mesh()
    vertices = np.random.default_rng(3).normal(size=(72, 3)).astype(dtype)
    write_ply(tmp_path / "a.ply", Mesh(vertices, source.triangles, source.quads), binary=binary)
    back = read_ply(tmp_path / "a.ply")
    assert np.asarray(back.vertices).dtype == dtype
    assert np.array_equal(back.vertices, vertices)
    assert np.array_equal(back.triangles, source.triangles)
    assert back.quads is not None
    assert np.array_equal(back.quads, np.asarray(source.quads))


def test_point_cloud(tmp_path: Path) -> None:
    points = np.random.default_rng(4).normal(size=(10, 3))
    write_ply(tmp_path / "a.ply", Mesh(points, np.zeros((0, 3), int)))
    back = read_ply(tmp_path / "a.ply")
    assert np.array_equal(back.vertices, points)
    assert back.triangles.shape == (0, 3)


HEADER = (
    "ply\nformat {order} 1.0\ncomment by hand\nobj_info none\nelement vertex 5\n"
    "property float x\nproperty float y\nproperty float z\nproperty uchar red\n"
    "element face {faces}\nproperty uchar flag\nproperty list uchar {kind} vertex_index\n"
    "property float quality\nend_header\n"
)
POINTS = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0), (2, 2, 2)]


def by_hand(order: str, faces: list[list[int]], kind: str = "uint") -> bytes:
    """A file with extra columns around the ones we read, in either byte order."""
    arrow = "<" if "little" in order else ">"
    body = b"".join(struct.pack(f"{arrow}fffB", *point, 7) for point in POINTS)
    for face in faces:
        body += struct.pack("BB", 1, len(face))
        body += struct.pack(f"{arrow}{len(face)}{'I' if kind == 'uint' else 'h'}", *face)
        body += struct.pack(f"{arrow}f", 0.5)
    return HEADER.format(order=order, faces=len(faces), kind=kind).encode() + body


@pytest.mark.parametrize("order", ["binary_little_endian", "binary_big_endian"])
def test_extra_columns_and_byte_orders(tmp_path: Path, order: str) -> None:
    (tmp_path / "a.ply").write_bytes(by_hand(order, [[0, 1, 2], [0, 2, 3]], "short"))
    mesh = read_ply(tmp_path / "a.ply")
    assert np.array_equal(mesh.vertices, np.array(POINTS, float))
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3]]


@pytest.mark.parametrize("order", ["binary_little_endian", "binary_big_endian"])
def test_polygons_of_different_sizes(tmp_path: Path, order: str) -> None:
    (tmp_path / "a.ply").write_bytes(by_hand(order, [[0, 1, 2, 3], [0, 1, 4]]))
    mesh = read_ply(tmp_path / "a.ply")
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 1, 4]]
    assert mesh.quads is None


def cut(data: bytes, count: int) -> bytes:
    return data[:-count]


GOOD = by_hand("binary_little_endian", [[0, 1, 2], [0, 2, 3]])


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "no PLY header"),
        (bytes(range(256)), "no PLY header"),
        (cut(GOOD, 3), "truncated"),
        (cut(GOOD, 40), "truncated"),
        (GOOD.replace(b"vertex 5", b"vertex 99999999999"), "truncated"),
        (GOOD.replace(b"vertex 5", b"vertex -5"), "truncated"),
        (GOOD.replace(b"float x", b"quadruple x"), "quadruple"),
        (GOOD.replace(b"float x", b"float q"), "with x, y and z"),
        (GOOD.replace(b"binary_little_endian", b"middle_endian"), "middle_endian"),
        (by_hand("binary_little_endian", [[0, 1, 9]]), "expected 0 to 4"),
        (by_hand("binary_little_endian", [[0, 1]]), "2 corners"),
        (b"ply\nformat ascii 1.0\nelement vertex 2\nend_header\n", "without properties"),
        (b"ply\nproperty int x\nend_header\n", "before any element"),
        (b"ply\nelement vertex 0\nend_header\n", "no 'format' line"),
    ],
)
def test_damage_is_named(tmp_path: Path, data: bytes, words: str) -> None:
    (tmp_path / "a.ply").write_bytes(data)
    with pytest.raises(FormatError, match=words):
        read_ply(tmp_path / "a.ply")


def test_short_text(tmp_path: Path) -> None:
    write_ply(tmp_path / "a.ply", small_mesh(), binary=False)
    text = (tmp_path / "a.ply").read_text()
    (tmp_path / "a.ply").write_text(text[: len(text) - 6])
    with pytest.raises(FormatError, match="truncated"):
        read_ply(tmp_path / "a.ply")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        read_ply(tmp_path / "a.ply")
