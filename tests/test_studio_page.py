"""The studio in a real browser: Chromium, software GL, the whole way from server to pixels."""

from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from studio_page import StudioPage, browser, running_studio


@pytest.fixture(scope="module")
def page():
    with running_studio() as (_, address), browser() as opened:
        yield StudioPage(opened, address, width=960, height=640)


def shown(page: StudioPage) -> np.ndarray:
    """The canvas as the person sees it, RGBA."""
    content = page.tab.locator("#stage").screenshot(timeout=300_000)
    return np.asarray(Image.open(BytesIO(content)).convert("RGB"), np.int16)


def vertex(page: StudioPage, view: int, index: int) -> np.ndarray:
    """Where the page has a vertex, metres."""
    start = 3 * index
    body = f"stage.bodies[{view}].skin.positions"
    return np.array(page.tell(f"Array.from({body}.slice({start}, {start + 3}))"))


def on_screen(page: StudioPage, view: int, index: int) -> tuple[float, float]:
    """Where a vertex is drawn, CSS pixels of the window."""
    x, y = page.tell(
        f"""(() => {{
          const part = stage.parts()[{view}];
          const box = stage.canvas.getBoundingClientRect();
          stage.camera.aspect = part.width / part.height;
          stage.camera.updateProjectionMatrix();
          const {{ positions }} = stage.bodies[{view}].skin;
          const p = stage.camera.position.clone().fromArray(positions, {3 * index});
          p.project(stage.camera);
          const across = part.x + (p.x + 1) / 2 * part.width;
          const down = part.y + (1 - p.y) / 2 * part.height;
          return [box.left + across, box.top + down];
        }})()"""
    )
    return x, y


def belly_vertex(page: StudioPage) -> int:
    return page.tell(
        """(() => {
          const label = stage.model.parts.indexOf("belly");
          const labels = stage.model.arrays.part_labels;
          const p = stage.bodies[1].skin.positions;
          let best = -1;
          for (let v = 0; v < labels.length; v += 1)
            if (labels[v] === label && (best < 0 || p[3 * v + 2] > p[3 * best + 2])) best = v;
          return best;
        })()"""
    )


def test_it_opens_shows_two_bodies_and_complains_of_nothing(page: StudioPage):
    """Bodies are drawn: skin is warmer (red over blue) than the grey room, in both halves."""
    assert page.tell("stage.bodies.length") == 2
    picture = shown(page)
    warm = (picture[..., 0] - picture[..., 2]) > 25
    half = picture.shape[1] // 2
    assert warm[:, :half].mean() > 0.01
    assert warm[:, half:].mean() > 0.01
    assert page.complaints == []
    assert page.outside == []


def test_a_slider_reshapes_the_body(page: StudioPage):
    page.open_panel("body")
    page.settle()
    before = page.tell("studio.facts.mass")
    knob = page.tab.get_by_label("Weight", exact=True)
    knob.focus()
    knob.press("End")
    page.wait("studio.document.body.sliders.weight === 1")
    page.wait(f"studio.facts.mass > {before} + 5")
    page.tab.keyboard.press("Control+z")
    page.wait("studio.document.body.sliders.weight === undefined")


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


def test_flesh_is_grabbed_with_the_mouse_and_let_go(page: StudioPage):
    """A drag of the belly towards the side moves its skin there by more than 2 mm."""
    page.settle()
    page.wait("studio.document.views[1].deformer === 'projective'")
    page.tell("studio.change(['playing'], false)")
    page.wait("!studio.document.playing")
    page.tell("studio.send('seek', { place: 0 })")
    page.wait("stage.place === 0")
    page.tell("studio.use('grab')")
    index = belly_vertex(page)
    before = vertex(page, 1, index)
    x, y = on_screen(page, 1, index)
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.tab.mouse.move(x + 40, y, steps=4)
    pulled = f"Math.abs(stage.bodies[1].skin.positions[{3 * index}] - {before[0]}) > 0.002"
    page.wait(pulled)
    page.tab.mouse.up()
    page.wait(f"!({pulled})")
    assert page.complaints == []


def test_paint_makes_flesh_softer(page: StudioPage):
    page.tell("studio.use('paint')")
    x, y = on_screen(page, 1, belly_vertex(page))
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.tab.mouse.move(x + 6, y + 6, steps=2)
    page.tab.mouse.up()
    page.wait("Object.keys(studio.document.painted).length > 5")
    assert max(page.tell("Object.values(studio.document.painted)")) < 1.0
    page.tell("studio.use('grab')")
    page.tab.keyboard.press("Control+z")
    page.wait("Object.keys(studio.document.painted).length === 0")


def test_the_view_is_taken_away_as_a_picture(page: StudioPage, tmp_path: Path):
    page.open_panel("out")
    with page.tab.expect_download(timeout=300_000) as waiting:
        page.tab.get_by_role("button", name="PNG").first.click()
    waiting.value.save_as(tmp_path / "view.png")
    picture = np.asarray(Image.open(tmp_path / "view.png"))
    assert picture.ndim == 3
    assert picture[..., 3].max() == 255
    assert page.complaints == []
