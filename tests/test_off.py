"""OFF: text surfaces in and out."""

from pathlib import Path

import numpy as np
import pytest
from small_body import small_mesh

from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError, InputError
from corporeal.formats.off import read_off, write_off


def test_the_table_is_true(tmp_path: Path):
    """Vertices (to the last bit), order, quads and triangles survive; texture does not."""
    mesh = small_mesh()
    write_off(tmp_path / "a.off", mesh)
    back = read_off(tmp_path / "a.off")
    np.testing.assert_array_equal(back.vertices, mesh.vertices)
    np.testing.assert_array_equal(back.triangles, mesh.triangles)
    np.testing.assert_array_equal(back.quads, mesh.quads)
    assert back.uv is None
    assert back.mirror is None


def test_triangles_alone_survive(tmp_path: Path):
    mesh = Mesh(np.eye(3), np.array([[0, 1, 2]]))
    write_off(tmp_path / "a.off", mesh)
    back = read_off(tmp_path / "a.off")
    assert back.quads is None
    np.testing.assert_array_equal(back.triangles, mesh.triangles)


@pytest.mark.parametrize(
    "text",
    [
        "OFF\n4 1 0\n0 0 0\n1 0 0\n1 1 0\n0 0 0\n3 0 1 2\n",
        "OFF 4 1 0\n# a note\n0 0 0\n1 0 0 # here\n\n1 1 0\n0 0 0\n3 0 1 2 255 0 0\n",
        "COFF\n4 1 0\n0 0 0 1 0 0 1\n1 0 0 1 0 0 1\n1 1 0 1 0 0 1\n0 0 0 1 0 0 1\n3 0 1 2\n",
    ],
)
def test_variants_are_read_and_equal_vertices_stay_apart(tmp_path: Path, text: str):
    (tmp_path / "a.off").write_text(text)
    mesh = read_off(tmp_path / "a.off")
    assert mesh.vertex_count == 4
    assert mesh.triangles.tolist() == [[0, 1, 2]]


def test_polygons_are_split_into_fans(tmp_path: Path):
    (tmp_path / "a.off").write_text("OFF\n5 1 0\n0 0 0\n1 0 0\n1 1 0\n0 1 0\n0 0 1\n5 0 1 2 3 4")
    assert read_off(tmp_path / "a.off").triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4]]


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "does not start"),
        (b"PLY\n", "does not start"),
        (b"OFF\n", "no line with the counts"),
        (b"OFF\n3 1 0\n0 0 0\n", "truncated"),
        (b"OFF\n-1 1 0\n0 0 0\n", "no line with the counts"),
        (b"OFF\n999999999 1 0\n0 0 0\n", "truncated"),
        (b"OFF\n1 0 0\n0 0\n", "2 numbers"),
        (b"OFF\n1 0 0\n0 0 nan\n", "not finite"),
        (b"OFF\n1 0 0\n0 0 x\n", "something else than numbers"),
        (b"OFF\n1 1 0\n0 0 0\n3 0 0 7\n", "indices from 0 to 7"),
        (b"OFF\n1 1 0\n0 0 0\n2 0 0\n", "2 corners"),
        (b"OFF\n1 1 0\n0 0 0\n9 0 0\n", "9 corners"),
        (b"OFF\n\xff\xfe", "no line with the counts"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, content: bytes, words: str):
    (tmp_path / "a.off").write_bytes(content)
    with pytest.raises(FormatError, match=words):
        read_off(tmp_path / "a.off")


def test_a_missing_file_is_said(tmp_path: Path):
    with pytest.raises(InputError, match="no file"):
        read_off(tmp_path / "none.off")
