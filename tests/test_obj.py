"""OBJ carries surfaces without touching their vertices."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from small_body import small_mesh

from corporeal.body.mesh import Mesh
from corporeal.errors import FormatError, InputError
from corporeal.formats.obj import read_obj, write_obj
from corporeal.formats.registry import format_to_write, read_mesh, write_mesh


def test_round_trip_is_exact(tmp_path: Path) -> None:
    """Shortest decimal numbers give the same float64 back, so every bit survives."""
    random = np.random.default_rng(1)
    mesh = replace(small_mesh(), vertices=random.normal(size=(72, 3)), mirror=None)
    write_obj(tmp_path / "a.obj", mesh)
    back = read_obj(tmp_path / "a.obj")
    for name in ("vertices", "triangles", "quads", "uv", "uv_triangles"):
        assert np.array_equal(getattr(back, name), getattr(mesh, name)), name


def test_float32_and_triangles_alone(tmp_path: Path) -> None:
    random = np.random.default_rng(2)
    vertices = random.normal(size=(5, 3)).astype(np.float32)
    mesh = Mesh(vertices, np.array([[0, 1, 2], [2, 3, 4]]))
    write_obj(tmp_path / "a.obj", mesh)
    back = read_obj(tmp_path / "a.obj")
    assert np.array_equal(np.asarray(back.vertices).astype(np.float32), vertices)
    assert np.array_equal(back.triangles, mesh.triangles)
    assert back.quads is None
    assert back.uv is None


def test_nothing_is_merged_or_dropped(tmp_path: Path) -> None:
    """Two vertices in one place and one that no face uses all stay."""
    text = "v 0 0 0\nv 0 0 0\nv 1 0 0\nv 9 9 9\nv 0 1 0\nf 1 3 5\nf 2 3 5\n"
    (tmp_path / "a.obj").write_text(text)
    mesh = read_obj(tmp_path / "a.obj")
    assert mesh.vertex_count == 5
    assert mesh.triangles.tolist() == [[0, 2, 4], [1, 2, 4]]


def test_dialects(tmp_path: Path) -> None:
    """Comments, colours, normals, negative indices, line breaks, a pentagon beside a triangle."""
    (tmp_path / "a.obj").write_text(
        "# by hand\no thing\nv 0 0 0 1 0 0\nv 1 0 0\nv 2 1 0\nv 1 2 0\nv 0 1 0\nvn 0 0 1\n"
        "usemtl skin\nf 1//1 2//1 3//1 \\\n 4//1 5//1\nf -5 -4 -3\n"
    )
    mesh = read_obj(tmp_path / "a.obj")
    assert mesh.triangles.tolist() == [[0, 1, 2], [0, 2, 3], [0, 3, 4], [0, 1, 2]]
    assert mesh.quads is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "has no vertices"),
        ("v 0 0\n", "line 1: has 2 values"),
        ("v 0 0 x\nf 1 1 1\n", "line 1: .* something else than numbers"),
        ("v 0 0 nan\nf 1 1 1\n", "not finite"),
        ("v 0 0 0\nf 1 2 3\n", "expected 0 to 0"),
        ("v 0 0 0\nf 0 1 1\n", "has index 0"),
        ("v 0 0 0\nf -2 1 1\n", "has index -2"),
        ("v 0 0 0\nf 1 1\n", "line 2: has 2 values"),
        ("v 0 0 0\nf a 1 1\n", "line 2: .* something else than numbers"),
    ],
)
def test_damage_is_named(tmp_path: Path, text: str, words: str) -> None:
    (tmp_path / "a.obj").write_text(text)
    with pytest.raises(FormatError, match=words):
        read_obj(tmp_path / "a.obj")


def test_garbage_and_missing_files(tmp_path: Path) -> None:
    (tmp_path / "a.obj").write_bytes(bytes(range(256)) * 10)
    with pytest.raises(FormatError, match="is not text"):
        read_obj(tmp_path / "a.obj")
    with pytest.raises(InputError, match="there is no file"):
        read_obj(tmp_path / "b.obj")


def test_registry_goes_by_suffix(tmp_path: Path) -> None:
    mesh = small_mesh()
    for name in ("a.obj", "b.PLY"):
        write_mesh(tmp_path / name, mesh)
        assert np.array_equal(read_mesh(tmp_path / name).triangles, mesh.triangles)


def test_unknown_suffix_lists_the_known() -> None:
    with pytest.raises(
        InputError, match=r"'\.fbx'; expected \.npz, \.glb, \.obj, \.ply, \.off, \.stl, \.png\."
    ):
        format_to_write("a.fbx", "body")
    with pytest.raises(InputError, match="no suffix"):
        format_to_write("a", "animation")
    with pytest.raises(InputError, match="cannot read a mesh"):
        read_mesh("a.mp4")
