"""The studio in a real browser: Chromium, software GL, the whole way from server to pixels.

With CORPOREAL_STUDIO_PICTURES=1 the documentation's pictures are taken anew, not compared.
"""

import os
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from studio_page import StudioPage, browser, running_studio

pytestmark = pytest.mark.slow  # software GL draws a frame in a quarter of a second

PICTURES = Path(__file__).parents[1] / "docs/pictures/studio"
TAKING = bool(os.environ.get("CORPOREAL_STUDIO_PICTURES"))
SKINNED = "[{ deformer: 'lbs', controls: {} }, { deformer: 'dqs', controls: {} }]"
FLESHED = "[{ deformer: 'lbs', controls: {} }, { deformer: 'projective', controls: {} }]"

FROM_THE_FRONT = """
  for (const place of [stage.pelvis, stage.lights.position]) place.set(0, 0, 0);
  stage.camera.position.set(1.35, 1.35, 4.3);
  stage.controls.target.set(0, 0.93, 0);
  stage.dirty = stage.wasTurned = true;
"""
"""The camera goes along with a body, frame by frame; this puts it back."""


@pytest.fixture(scope="module")
def page():
    with running_studio() as (_, address), browser() as opened:
        yield StudioPage(opened, address, width=960, height=640)


def test_another_motion_and_other_deformers(page: StudioPage):
    page.open_panel("motion")
    page.tab.get_by_role("button", name="Shake hips").click()
    page.wait("studio.document.motion.name === 'shake-hips'")
    page.open_panel("deformers")
    page.tab.get_by_role("button", name="Add a body").click()
    page.wait("stage.bodies.length === 3")
    page.tab.locator(".card select").nth(0).select_option("dqs")
    page.wait("studio.document.views[0].deformer === 'dqs'")
    page.tab.get_by_label("Colour by").select_option("strain")
    page.wait("!document.getElementById('legend').hidden")
    page.tab.get_by_title("Take this body away").nth(2).click()
    page.wait("stage.bodies.length === 2")
    page.tab.get_by_label("Colour by").select_option("skin")
    page.wait("document.getElementById('legend').hidden")
    assert page.complaints == []


def stroke(page: StudioPage) -> None:
    """Paint a little on the belly of the second body."""
    x, y = page.on_screen(1, page.foremost(1, "belly"))
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.tab.mouse.move(x + 6, y + 6, steps=2)
    page.tab.mouse.up()


def test_controls_are_set_by_what_they_are(page: StudioPage):
    """A choice by its words, a switch by its box; the command says the flags that do the same."""
    page.open_panel("physics")
    page.tab.get_by_label("contact of skin with skin").select_option("local")
    page.wait("studio.document.views[studio.view].controls.collisions === 'local'")
    page.tab.get_by_label("Ground").locator("visible=true").click()
    page.wait("studio.document.views[studio.view].controls.ground === true")
    assert "--collisions local --ground" in page.tell("studio.commands.join()")
    page.press("Reset flesh")
    page.wait("Object.keys(studio.document.views[studio.view].controls).length === 0")
    page.settle()


def test_stiffness_and_exaggeration_are_painted(page: StudioPage):
    """Softer is a factor below one; livelier one above, which moves the shown skin at once."""
    page.settle()
    page.pause()
    page.seek(60)
    page.open_panel("physics")
    page.tab.locator("#tools button", has_text="Paint").click()
    stroke(page)
    page.wait("Object.keys(studio.document.painted).length > 5")
    assert max(page.tell("Object.values(studio.document.painted)")) < 1.0
    page.tab.keyboard.press("Control+z")
    page.wait("Object.keys(studio.document.painted).length === 0")
    page.settle()
    page.tab.get_by_label("Paint what").select_option("exaggeration")
    page.tab.get_by_label("Make it").select_option("1")
    stroke(page)
    page.wait("Object.keys(studio.document.exaggerated).length > 5")
    assert min(page.tell("Object.values(studio.document.exaggerated)")) > 1.0
    assert "--exaggeration-map exaggerated.npy" in page.tell("studio.commands.join()")
    page.press("Clean")
    page.wait("Object.keys(studio.document.exaggerated).length === 0")
    page.tell("studio.use('grab')")
    assert page.complaints == []


def test_the_view_is_taken_away_as_a_picture(page: StudioPage, tmp_path: Path):
    page.open_panel("out")
    with page.tab.expect_download(timeout=300_000) as waiting:
        page.tab.get_by_role("button", name="PNG").first.click()
    waiting.value.save_as(tmp_path / "view.png")
    picture = np.asarray(Image.open(tmp_path / "view.png"))
    assert picture.ndim == 3
    assert picture[..., 3].max() == 255
    assert page.complaints == []


def still(page: StudioPage, views: str, colour: str, place: int) -> None:
    """Stand at a frame of jumping jacks, with these bodies and colours."""
    page.tell("studio.send('preset', { name: 'Average adult' })")
    page.tell("studio.change(['motion'], { name: 'jumping-jacks' })")
    page.tell(f"studio.change(['views'], {views})")
    page.tell(f"studio.change(['colour', 'what'], '{colour}')")
    page.pause()
    page.wait(f"studio.document.colour.what === '{colour}'")
    page.settle()
    page.seek(place)
    page.tell(FROM_THE_FRONT)
    page.wait("!stage.dirty")


def test_pictures_look_as_they_did(page: StudioPage):
    """Bodies posed by skinning alone are the same every time: seen through a grid of 8 pixels, no
    cell may be more than 12 of 255 off on average over its colours, and all less than 1."""
    page.tell("stage.adaptive = false; stage.renderer.setPixelRatio(1); stage.dirty = true")
    still(page, SKINNED, "offset", 96)
    page.tell(
        "for (const id of ['labels', 'toasts', 'views']) document.getElementById(id).hidden = true"
    )
    now = page.canvas()
    page.tell(
        "for (const id of ['labels', 'toasts', 'views']) document.getElementById(id).hidden = false"
    )
    kept = PICTURES / "compared.png"
    if TAKING:
        Image.fromarray(now.astype(np.uint8)).save(kept)
    if not kept.exists():
        pytest.skip("no picture is kept yet; CORPOREAL_STUDIO_PICTURES=1 takes it")
    before = np.asarray(Image.open(kept).convert("RGB"), np.int16)
    assert now.shape == before.shape
    apart = np.abs(coarse(now) - coarse(before))
    assert apart.mean() < 1.0
    assert apart.max() < 12.0
    assert page.complaints == []


@pytest.mark.skipif(not TAKING, reason="pictures are taken with CORPOREAL_STUDIO_PICTURES=1")
@pytest.mark.parametrize(("name", "panel"), [("offset", "physics"), ("inside", "inside")])
def test_take_pictures(page: StudioPage, name: str, panel: str):
    page.tab.set_viewport_size({"width": 1280, "height": 760})
    still(page, FLESHED, "offset" if name == "offset" else "skin", 60)
    page.open_panel(panel)
    if name == "inside":
        for switch in ("Bones", "Muscles"):
            page.tab.get_by_label(switch, exact=True).click()
        page.tell("studio.change(['look', 'skin_opacity'], 0.35)")
        page.wait("studio.document.look.bone && studio.document.look.muscle")
        page.settle()
    page.tell("studio.change(['playing'], true)")
    page.wait("stage.place > 90")
    page.pause()
    Image.fromarray(page.canvas().astype(np.uint8)).save(PICTURES / f"{name}.png")


def coarse(picture: np.ndarray) -> np.ndarray:
    """Means over cells of 8 × 8 pixels."""
    height, width = (8 * (size // 8) for size in picture.shape[:2])
    cells = picture[:height, :width].reshape(height // 8, 8, width // 8, 8, 3)
    return cells.mean(axis=(1, 3, 4))
