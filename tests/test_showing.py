"""Views: films and pictures that a notebook shows without network."""

import base64
import re
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from small_body import small_animation, small_mesh
from test_loading import small_body, small_registrations

import corporeal as cp
from corporeal.api.showing import Shown
from corporeal.errors import InputError
from corporeal.formats.mp4 import read_mp4


def embedded(view: Shown) -> bytes:
    """The bytes inside the page, which must name no address outside it."""
    page = view._repr_html_()
    assert "http" not in page
    found = re.search(r'src="data:[a-z]+/[a-z0-9]+;base64,([A-Za-z0-9+/=]+)"', page)
    assert found is not None
    return base64.b64decode(found.group(1))


def test_a_take_is_a_film(tmp_path: Path):
    """7 frames at 24 a second last 0.29 s: 4 pictures at 15 a second, of the asked size."""
    view = cp.show(small_animation(), fps=15, width=120, height=80)
    assert "<video " in view._repr_html_()
    assert embedded(view) == view.data
    frames = list(read_mp4(view.save(tmp_path / "a.mp4")))
    assert len(frames) == 4
    assert frames[0].shape == (80, 120, 3)
    assert np.abs(frames[0].astype(int) - frames[-1]).max() > 50  # something moves
    assert view.path.read_bytes() == view.data


@pytest.mark.parametrize("thing", [small_body, small_mesh])
def test_things_at_rest_are_pictures(thing, tmp_path: Path):
    view = cp.show(thing(), width=120, height=80)
    assert "<img " in view._repr_html_()
    path = tmp_path / "a.png"
    path.write_bytes(embedded(view))
    with Image.open(path) as picture:
        assert picture.size == (120, 80)
        assert np.ptp(np.asarray(picture)) > 50


def test_characters_and_registrations_are_films():
    """A baked take looks as the take itself: the pictures differ by what compression leaves."""
    take = small_animation()
    size = {"width": 120, "height": 80}
    assert cp.show(small_registrations(), **size).suffix == ".mp4"
    baked = cp.show(cp.bake(take, max_error_mm=0.01)[0], **size)
    assert baked.about == "bend, 7 frames, 0 morph targets"


def test_a_view_says_what_to_do_outside_a_notebook():
    words = repr(cp.show(small_animation(), width=64, height=48))
    assert "bend by lbs, 7 frames" in words
    assert "corporeal studio" in words
    assert ".open()" in words


def test_titles_cannot_break_out_of_the_page():
    view = Shown(b"1", ".png", '"><script>', 10)
    assert "<script>" not in view._repr_html_()


def test_refused_views(tmp_path: Path):
    with pytest.raises(InputError, match=r"expected \.png"):
        Shown(b"1", ".png", "", 10).save(tmp_path / "a.mp4")
    with pytest.raises(InputError, match="a Skeleton came, which has no picture"):
        cp.show(small_animation().template.skeleton)
    with pytest.raises(InputError, match="registrations without takes"):
        cp.show(small_registrations().where(lambda take: False))
