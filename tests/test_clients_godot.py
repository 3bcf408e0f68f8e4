"""Godot imports our GLB and holds, on its way to the graphics card, the surface that we mean."""

from pathlib import Path

from client_files import FRAMES, TOLERANCE_MM, client_character, error_mm, program
from glb_players import in_godot

from corporeal.body.character import unsigned_weights
from corporeal.formats.gltf import split_seams, write_glb_character


def test_godot_shows_the_character(tmp_path: Path):
    """Its own arrays, blend weights and skin matrices, put together by the skinning formula."""
    godot, character = program("godot3-server"), unsigned_weights(client_character())
    glb = tmp_path / "character.glb"
    write_glb_character(glb, character)
    played = in_godot(godot, glb, [frame / character.fps for frame in FRAMES], character.fps)
    assert played.shape_count == character.morph_count
    source = split_seams(character.template.mesh).source
    for index, found in enumerate(played.frames):
        assert error_mm(found, index, source) < TOLERANCE_MM
