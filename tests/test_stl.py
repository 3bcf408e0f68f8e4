"""STL: loose triangles in and out."""

from pathlib import Path

import numpy as np
import pytest
from small_body import small_mesh
from solids import box

from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError, InputError
from corporeal.formats.stl import read_stl, write_stl

TEXT = """solid thing
facet normal 0 0 1
 outer loop
  vertex 0 0 0
  vertex 1 0 0
  vertex 0 1 0
 endloop
endfacet
endsolid thing
"""


def test_the_table_is_true(tmp_path: Path):
    """Every triangle comes back with its corners in float32; sharing is lost, nothing is merged."""
    mesh = small_mesh()
    write_stl(tmp_path / "a.stl", mesh)
    back = read_stl(tmp_path / "a.stl")
    assert back.vertex_count == 3 * len(mesh.triangles)
    corners = np.asarray(back.vertices)[back.triangles]
    expected = np.asarray(mesh.vertices)[mesh.triangles].astype(np.float32)
    np.testing.assert_array_equal(corners, expected)
    assert back.quads is None
    assert back.uv is None


def test_normals_point_out_of_a_box(tmp_path: Path):
    """Record: 12 floats, the first three the unit normal; a box about the origin faces outwards."""
    write_stl(tmp_path / "a.stl", Mesh(*box(1, 2, 3)))
    records = np.frombuffer((tmp_path / "a.stl").read_bytes()[84:], np.uint8).reshape(-1, 50)
    numbers = records[:, :48].copy().view("<f4").reshape(-1, 4, 3)
    assert np.allclose(np.linalg.norm(numbers[:, 0], axis=1), 1)
    assert (np.sum(numbers[:, 0] * numbers[:, 1:].mean(axis=1), axis=1) > 0).all()


def test_text_files_are_read(tmp_path: Path):
    (tmp_path / "a.stl").write_text(TEXT)
    mesh = read_stl(tmp_path / "a.stl")
    np.testing.assert_array_equal(mesh.vertices, [[0, 0, 0], [1, 0, 0], [0, 1, 0]])
    assert mesh.triangles.tolist() == [[0, 1, 2]]


def test_a_binary_file_that_starts_like_text_is_read_as_binary(tmp_path: Path):
    write_stl(tmp_path / "a.stl", small_mesh())
    data = (tmp_path / "a.stl").read_bytes()
    (tmp_path / "a.stl").write_bytes(b"solid".ljust(80) + data[80:])
    assert read_stl(tmp_path / "a.stl").vertex_count == 3 * len(small_mesh().triangles)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "truncated or another kind"),
        (b"\0" * 300, "truncated or another kind"),
        (b"solid empty\nendsolid", "0 triangle corners"),
        (TEXT.replace("0 1 0\n", "0 1\n").encode(), "2 numbers"),
        (TEXT.replace("vertex 0 1 0\n", "").encode(), "2 triangle corners"),
        (TEXT.replace("1 0 0", "inf 0 0").encode(), "not finite"),
        (TEXT.replace("1 0 0", "x 0 0").encode(), "something else than numbers"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, words: str):
    (tmp_path / "a.stl").write_bytes(content)
    with pytest.raises(FormatError, match=words):
        read_stl(tmp_path / "a.stl")


def test_a_truncated_binary_file_is_refused(tmp_path: Path):
    write_stl(tmp_path / "a.stl", small_mesh())
    (tmp_path / "b.stl").write_bytes((tmp_path / "a.stl").read_bytes()[:-7])
    with pytest.raises(FormatError, match="truncated"):
        read_stl(tmp_path / "b.stl")


def test_a_missing_file_is_said(tmp_path: Path):
    with pytest.raises(InputError, match="no file"):
        read_stl(tmp_path / "none.stl")
