"""`corporeal convert`: every source, every target, and what cannot be."""

import json
from pathlib import Path

import numpy as np
import pytest
from small_body import small_animation, small_mesh
from takes import soft_character

from corporeal.body.body import Body
from corporeal.cli.main import main
from corporeal.errors import FormatError, InputError
from corporeal.formats.gltf import write_glb_character
from corporeal.formats.gltf_read import read_glb_character
from corporeal.formats.native import write_animation, write_body, write_motion
from corporeal.formats.obj import read_obj, write_obj
from corporeal.formats.pc2 import read_pc2
from corporeal.formats.registry import read_mesh
from corporeal.pipelines.convert import ConvertConfig, convert
from corporeal.skinning.playback import character_vertices


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".off", ".stl"])
def test_surfaces_keep_their_triangles(tmp_path: Path, suffix: str):
    write_obj(tmp_path / "a.obj", small_mesh())
    made = convert(ConvertConfig(tmp_path / "a.obj", tmp_path / f"b{suffix}"))
    assert made.kind == "surface"
    back = read_mesh(made.out)
    corners = np.asarray(small_mesh().vertices)[small_mesh().triangles]
    np.testing.assert_allclose(np.asarray(back.vertices)[back.triangles], corners, atol=1e-7)
    assert made.manifest.is_file()


def test_a_character_changes_its_format_and_keeps_its_take(tmp_path: Path):
    character = soft_character(frames=4, rank=2)
    write_glb_character(tmp_path / "a.glb", character)
    expected = character_vertices(character)
    for name in ("b.fbx", "b.glb", "b.pc2"):
        made = convert(ConvertConfig(tmp_path / "a.glb", tmp_path / name))
        assert made.kind == "character"
        assert made.report["frames"] == 4
    assert (
        np.abs(character_vertices(read_glb_character(tmp_path / "b.glb")) - expected).max() < 2e-6
    )
    assert np.abs(read_pc2(tmp_path / "b.pc2").vertices - expected).max() < 2e-6


@pytest.mark.parametrize("frame", [2, -2])
def test_one_frame_of_a_character_is_a_surface(tmp_path: Path, frame: int):
    character = soft_character(frames=4, rank=2)
    write_glb_character(tmp_path / "a.glb", character)
    convert(ConvertConfig(tmp_path / "a.glb", tmp_path / "b.obj", frame))
    expected = character_vertices(character, np.array([2]))[0]
    assert np.abs(read_obj(tmp_path / "b.obj").vertices - expected).max() < 2e-6


def test_a_glb_without_a_frame_is_the_surface_at_rest(tmp_path: Path):
    character = soft_character(frames=4, rank=2)
    write_glb_character(tmp_path / "a.glb", character)
    convert(ConvertConfig(tmp_path / "a.glb", tmp_path / "b.ply"))
    places = np.asarray(read_mesh(tmp_path / "b.ply").vertices)[:72]
    np.testing.assert_allclose(places, character.template.mesh.vertices, atol=1e-6)


def test_own_archives_become_anything(tmp_path: Path):
    take = small_animation()
    write_animation(tmp_path / "a.npz", take, {})
    assert convert(ConvertConfig(tmp_path / "a.npz", tmp_path / "a.fbx")).kind == "animation"
    write_body(tmp_path / "b.npz", Body(take.template, take.identity, {}))
    assert convert(ConvertConfig(tmp_path / "b.npz", tmp_path / "b.off")).kind == "body"
    np.testing.assert_allclose(read_mesh(tmp_path / "b.off").vertices, take.identity.rest_vertices)


def test_what_cannot_be_converted_is_said_and_nothing_is_left(tmp_path: Path):
    write_obj(tmp_path / "a.obj", small_mesh())
    write_motion(tmp_path / "m.npz", small_animation().motion)
    write_glb_character(tmp_path / "c.glb", soft_character(frames=4, rank=2))
    before = sorted(tmp_path.iterdir())
    cases = [
        (ConvertConfig(tmp_path / "a.obj", tmp_path / "b.fbx"), "holds a surface"),
        (ConvertConfig(tmp_path / "a.obj", tmp_path / "a.obj"), "both source and target"),
        (ConvertConfig(tmp_path / "a.mp4", tmp_path / "b.obj"), "no file"),
        (ConvertConfig(tmp_path / "c.glb", tmp_path / "b.obj", 9), "frame 9 was asked for"),
    ]
    for config, words in cases:
        with pytest.raises(InputError, match=words):
            convert(config)
    with pytest.raises(FormatError, match="corporeal animate"):
        convert(ConvertConfig(tmp_path / "m.npz", tmp_path / "b.obj"))
    assert sorted(tmp_path.iterdir()) == before


def test_the_verb_speaks_to_people_and_to_machines(tmp_path: Path, capsys):
    write_obj(tmp_path / "a.obj", small_mesh())
    source, out = str(tmp_path / "a.obj"), str(tmp_path / "b.ply")
    assert main(["convert", source, out]) == 0
    assert "from surface: vertices 72, triangles 128" in capsys.readouterr().out
    assert main(["convert", source, out, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["report"]["triangles"] == 128
    assert main(["convert", source, str(tmp_path / "b.fbx")]) == 2
