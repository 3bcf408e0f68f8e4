"""The first tutorial, walked as it is written: from the command to a downloaded, jiggling GLB.

With CORPOREAL_STUDIO_PICTURES=1 its pictures are taken anew on the way. How long each step took is
printed (pytest -s); no time is asserted.
"""

import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from studio_page import StudioPage, browser

from corporeal.formats.gltf_read import read_glb_character
from corporeal.viewer.server import Address

pytestmark = pytest.mark.slow  # software GL draws a frame in a quarter of a second

DOCS = Path(__file__).parents[1] / "docs"
PICTURES = DOCS / "pictures/studio"
TAKING = bool(os.environ.get("CORPOREAL_STUDIO_PICTURES"))


@contextmanager
def command() -> Iterator[Address]:
    """`corporeal studio`, started as a person does, with the address that it prints."""
    words = [sys.executable, "-m", "corporeal.cli.main", "studio", "--no-browser"]
    with (
        TemporaryDirectory() as state,
        subprocess.Popen(
            words, stdout=subprocess.PIPE, text=True, env={**os.environ, "XDG_STATE_HOME": state}
        ) as process,
    ):
        assert process.stdout is not None
        found = re.match(r"studio: http://(.+):(\d+)/(.+)/$", process.stdout.readline())
        assert found is not None
        try:
            yield Address(found[1], int(found[2]), found[3])
        finally:
            process.terminate()


class Steps:
    """What the tutorial says, and how long it took."""

    def __init__(self) -> None:
        self._text = (DOCS / "tutorials/studio.md").read_text(encoding="utf-8")
        self._start = time.perf_counter()

    def done(self, name: str) -> None:
        """A step of the tutorial, by its title."""
        assert f"**{name}**" in self._text
        print(f"{name} {time.perf_counter() - self._start:.1f} s")


def picture(page: StudioPage, name: str) -> None:
    if TAKING:
        page.picture(PICTURES / f"{name}.png")


def test_the_tutorial_leads_to_a_jiggling_character(tmp_path: Path):
    """Somewhere the exported flesh swings by more than a centimetre about its mean shape."""
    with browser() as opened:
        steps = Steps()
        with command() as address:
            page = StudioPage(opened, address, width=1280, height=760)
            steps.done("1. Open the studio.")
            page.press("Heavy woman")
            page.wait("studio.document.body.measured.mass === 104")
            if TAKING:
                page.settle()
                picture(page, "open")
            steps.done("2. Shape somebody.")
            page.open_panel("motion")
            page.press("Shake hips")
            page.wait("studio.document.motion.name === 'shake-hips'")
            page.settle()
            steps.done("3. Choose a motion.")
            pull(page)
            steps.done("4. Touch it.")
            page.open_panel("out")
            path = page.taken("Export", tmp_path / "take.glb")
            steps.done("5. Take it away.")
            assert page.complaints == []
    character = read_glb_character(path)
    # d_tv = Σ_b w_tb d_bv: what morph targets add to the rest shape at every frame
    offsets = np.tensordot(character.morph_weights, character.morph_offsets, axes=1)
    swing = np.linalg.norm(offsets - offsets.mean(axis=0), axis=-1)
    assert swing.max() > 0.01


def pull(page: StudioPage) -> None:
    """Take the belly of the right body, pull, let go."""
    page.wait("studio.document.views[1].deformer === 'projective'")
    index = page.foremost(1, "belly")
    x, y = page.on_screen(1, index)
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.wait("document.getElementById('canvas').classList.contains('holding')")
    page.tab.mouse.move(x - 70, y + 10, steps=6)
    page.tab.wait_for_timeout(1000)
    picture(page, "grab")
    page.tab.mouse.up()
