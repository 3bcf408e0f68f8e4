"""The newcomer's path by keyboard alone: shape, motion, touch, take away, without a mouse."""

from pathlib import Path

import pytest
from studio_page import PATIENCE_MS, StudioPage, browser, running_studio

pytestmark = pytest.mark.slow  # software GL draws a frame in a quarter of a second

MOST_TABS = 120
"""Presses after which something cannot be reached."""


def reach(page: StudioPage, condition: str) -> None:
    """Press Tab until a condition on `it`, the focused element, holds; what has the focus is drawn
    so that it can be seen."""
    for _ in range(MOST_TABS):
        page.tab.keyboard.press("Tab")
        if page.tell(f"((it) => {condition})(document.activeElement)"):
            assert page.tell(
                "document.activeElement.matches(':focus-visible') "
                "&& getComputedStyle(document.activeElement).outlineStyle !== 'none'"
            ), f"no focus is seen where {condition}"
            return
    raise AssertionError(f"Tab does not lead to {condition}")


def named(name: str) -> str:
    return f"it.tagName === 'BUTTON' && it.textContent.trim() === {name!r}"


def choose_panel(page: StudioPage, name: str) -> None:
    """By arrows on the list of panels."""
    reach(page, "it.closest('#tabs') !== null")
    page.tab.keyboard.press("Home")
    while page.tell("document.activeElement.id") != f"tab-{name}":
        page.tab.keyboard.press("ArrowDown")


def test_the_newcomers_path_needs_no_mouse(tmp_path: Path):
    with browser() as opened, running_studio() as (_, address):
        page = StudioPage(opened, address, width=1280, height=760)
        keys = page.tab.keyboard
        reach(page, named("Heavy woman"))
        keys.press("Enter")
        page.wait("studio.document.body.measured.mass === 104")
        choose_panel(page, "motion")
        reach(page, named("Shake hips"))
        keys.press("Enter")
        page.wait("studio.document.motion.name === 'shake-hips'")
        page.settle()
        page.wait("stage.lastFrame.views.every(({ ready }) => ready)")
        reach(page, "it.id === 'canvas'")
        keys.press("Enter")
        page.wait("document.getElementById('canvas').classList.contains('holding')")
        assert page.tell("studio.view") == 1  # the body that can be grabbed
        before = page.tell("touch.held.target.x")
        for _ in range(4):
            keys.press("ArrowLeft")
        assert page.tell("touch.held.target.x") < before - 0.05
        keys.press("Escape")
        page.wait("!document.getElementById('canvas').classList.contains('holding')")
        choose_panel(page, "out")
        reach(page, named("Export"))
        with page.tab.expect_download(timeout=3 * PATIENCE_MS) as waiting:
            keys.press("Enter")
            page.wait("!document.getElementById('busy').hidden")
        waiting.value.save_as(tmp_path / "take.glb")
        assert (tmp_path / "take.glb").read_bytes()[:4] == b"glTF"
        assert page.complaints == []
