"""Engine files by their suffix."""

from pathlib import Path

import numpy as np
import pytest
from small_body import small_animation
from takes import soft_character, soft_take

from corporeal.errors import InputError, OutputError
from corporeal.formats.obj import read_obj
from corporeal.formats.pc2 import read_pc2
from corporeal.formats.registry import read_mesh
from corporeal.pipelines.exports import (
    CHARACTER_WRITERS,
    convert_character,
    read_character,
    write_cache,
    write_character,
)
from corporeal.pipelines.results import write_animation_result
from corporeal.skinning.playback import character_vertices


@pytest.mark.parametrize("suffix", CHARACTER_WRITERS)
def test_every_suffix_is_written(tmp_path: Path, suffix: str):
    if suffix.startswith(".usd"):
        pytest.importorskip("pxr", reason="needs the extra 'usd'")
    write_character(tmp_path / f"a{suffix}", soft_character(frames=3, rank=2))
    assert (tmp_path / f"a{suffix}").stat().st_size > 1000


def test_a_glb_becomes_an_fbx(tmp_path: Path):
    character = soft_character(frames=3, rank=2)
    write_character(tmp_path / "a.glb", character)
    read = convert_character(tmp_path / "a.glb", tmp_path / "b.fbx")
    assert np.abs(character_vertices(read) - character_vertices(character)).max() < 2e-6
    assert (tmp_path / "b.fbx").read_bytes().startswith(b"Kaydara")


def test_a_pc2_comes_with_the_surface_that_it_moves(tmp_path: Path):
    character = soft_character(frames=3, rank=2)
    mesh, vertices = character.template.mesh, character_vertices(character)
    written = write_cache(tmp_path / "a.pc2", mesh, vertices, 24.0)
    assert [path.name for path in written] == ["a.pc2", "a.obj"]
    np.testing.assert_array_equal(read_obj(written[1]).quads, mesh.quads)
    np.testing.assert_array_equal(read_pc2(written[0]).vertices, vertices.astype(np.float32))


@pytest.mark.parametrize(("suffix", "module"), [(".abc", "alembic3d"), (".usdc", "pxr")])
def test_other_caches_are_one_file(tmp_path: Path, suffix: str, module: str):
    pytest.importorskip(module, reason="needs an extra")
    character = soft_character(frames=3, rank=2)
    path = tmp_path / f"a{suffix}"
    vertices = character_vertices(character)
    assert write_cache(path, character.template.mesh, vertices, 24.0) == (path,)
    assert path.stat().st_size > 3 * 72 * 12


def test_other_suffixes_and_places_are_refused(tmp_path: Path):
    character = soft_character(frames=3, rank=2)
    mesh = character.template.mesh
    with pytest.raises(InputError, match=r"expected the suffix .glb, .fbx"):
        write_character(tmp_path / "a.max", character)
    with pytest.raises(InputError, match="cannot read a character from"):
        read_character(tmp_path / "a.fbx")
    with pytest.raises(InputError, match="cannot write a cache"):
        write_cache(tmp_path / "a.mdd", mesh, np.zeros((1, 72, 3)), 24.0)
    with pytest.raises(OutputError, match="does not exist"):
        write_character(tmp_path / "none" / "a.glb", character)
    assert list(tmp_path.iterdir()) == []


def test_an_animation_is_baked_for_engines_and_the_report_says_so(tmp_path: Path):
    """Joints alone suffice for linear blending; a soft take needs its morph targets."""
    assert write_animation_result(tmp_path / "a.fbx", small_animation(), {})["morphs"] == 0
    report = write_animation_result(tmp_path / "b.fbx", soft_take(frames=8, rank=2), {})
    assert report["morphs"] == 2
    assert report["max_error_mm"] < 0.5
    assert write_animation_result(tmp_path / "c.pc2", small_animation(), {})["surface"] == "c.obj"
    np.testing.assert_array_equal(
        read_pc2(tmp_path / "c.pc2").vertices, np.float32(small_animation().vertices)
    )


@pytest.mark.parametrize("suffix", [".off", ".stl"])
def test_one_frame_is_a_surface(tmp_path: Path, suffix: str):
    take = small_animation()
    assert write_animation_result(tmp_path / f"a{suffix}", take, {}, 3) == {"frame": 3}
    mesh = read_mesh(tmp_path / f"a{suffix}")
    corners = np.asarray(take.vertices)[3][take.template.mesh.triangles]
    np.testing.assert_allclose(np.asarray(mesh.vertices)[mesh.triangles], corners, atol=1e-7)
