"""Godot imports our GLB, holds the surface that we mean, and draws it where we say it is."""

import io
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from client_files import (
    FRAMES,
    TOLERANCE_MM,
    client_character,
    error_mm,
    expected_vertices,
    program,
)
from glb_players import Played, godot_window, in_godot
from PIL import Image, ImageDraw
from scipy.ndimage import binary_dilation

from corporeal.body.character import unsigned_weights
from corporeal.formats.gltf import split_seams, write_glb_character

PIXELS = 640
FINER = 4
EYE, AIM, VIEW_DEGREES = np.array([0.9, 1.3, 3.1]), np.array([0.0, 0.85, 0.0]), 35.0
"""The camera of `clients/godot_draw.gd`."""


@cache
def played() -> Played:
    godot, character = program("godot3-server"), unsigned_weights(client_character())
    with TemporaryDirectory() as folder:
        glb = Path(folder) / "character.glb"
        write_glb_character(glb, character)
        return in_godot(godot, glb, [frame / character.fps for frame in FRAMES], character.fps)


def test_godot_shows_the_character():
    """Its own arrays, blend weights and skin matrices, put together by the skinning formula."""
    character = unsigned_weights(client_character())
    assert played().shape_count == character.morph_count
    source = split_seams(character.template.mesh).source
    for index, found in enumerate(played().frames):
        assert error_mm(found, index, source) < TOLERANCE_MM


def test_godot_draws_the_pose():
    """The outline in its window is that of the posed skin, seen by a camera written here.

    Nothing is blended at edges there, so a pixel is skin where its centre is; ours are as exact to
    a quarter of a pixel. Both may differ by a pixel (3 mm), no more: joints show, morphs do not.
    """
    if not godot_window():
        pytest.skip("godot3, or xvfb-run (or a display) to draw it in, is not installed")
    drawn = np.asarray(Image.open(io.BytesIO(played().picture)).convert("RGB"), float)
    assert drawn.shape == (PIXELS, PIXELS, 3)
    warmth = drawn[..., 0] - drawn[..., 2]
    seen = np.abs(warmth - warmth[0, 0]) > 3
    meant = outline(expected_vertices()[1])
    stray = np.sum(seen > binary_dilation(meant, np.ones((3, 3))))
    lost = np.sum(meant > binary_dilation(seen, np.ones((3, 3))))
    print(f"skin {meant.sum()} pixels, unlike {(seen != meant).sum()}, stray {stray}, lost {lost}")
    assert meant.sum() > 0.05 * PIXELS**2
    assert stray == 0
    assert lost == 0


def outline(vertices: np.ndarray) -> np.ndarray:
    """Where the picture's pixel centres are on the skin."""
    back = (EYE - AIM) / np.linalg.norm(EYE - AIM)
    right = np.cross([0.0, 1.0, 0.0], back)
    right /= np.linalg.norm(right)
    x, y, z = np.stack([right, np.cross(back, right), -back]) @ (vertices - EYE).T
    reach = z * np.tan(np.radians(VIEW_DEGREES / 2))
    size = PIXELS * FINER
    places = np.stack([1 + x / reach, 1 - y / reach], axis=1) * size / 2
    picture = Image.new("1", (size, size))
    draw = ImageDraw.Draw(picture)
    for face in client_character().template.mesh.triangles:
        draw.polygon([tuple(place) for place in places[face]], fill=1)
    return np.asarray(picture)[FINER // 2 :: FINER, FINER // 2 :: FINER]
