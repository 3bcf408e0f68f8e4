"""The studio's page in a real browser: what was mended stays so. One server, one browser, one tab
for all; the bodies are skinned alone, and time stands still where it may."""

import os
import re
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest
from studio_page import StudioPage, browser, running_studio

ROOT = Path(__file__).parents[1]
CLIENT = ROOT / "src/corporeal/viewer/client"
PANELS = (
    "body", "appearance", "motion", "pose", "deformers", "physics", "inside", "skeleton", "out",
)  # fmt: skip


class Running:
    """A page, and a studio that can be started anew at the same address."""

    def __init__(self) -> None:
        self._server = ExitStack()
        _, self.address = self._server.enter_context(running_studio())
        self.page: StudioPage

    def end(self) -> None:
        self._server.close()

    def start_again(self) -> None:
        here = {"port": self.address.port, "token": self.address.token}
        self._server.enter_context(running_studio(**here))


@pytest.fixture(scope="module")
def opened() -> Iterator[Running]:
    running = Running()
    with browser() as chromium:
        page = StudioPage(chromium, running.address, width=700, height=480, density=0.5)
        page.tell("studio.change(['views'], [{ deformer: 'lbs', controls: {} }])")
        page.tell("studio.change(['motion', 'duration'], 2)")
        page.pause()
        page.wait("studio.document.views.length === 1 && stage.bodies.length === 1")
        running.page = page
        yield running
        running.end()


@pytest.fixture
def page(opened: Running) -> StudioPage:
    return opened.page


def test_space_on_a_button_presses_it_and_does_not_play(page: StudioPage):
    """It once did both."""
    page.open_panel("out")
    assert not page.tell("studio.document.playing")
    page.tab.locator("#tabs button[data-name=motion]").focus()
    page.tab.keyboard.press("Space")
    page.wait("document.querySelector('#tab-motion').getAttribute('aria-selected') === 'true'")
    page.tell("studio.change(['speed'], 0.5)")
    page.wait("studio.document.speed === 0.5")  # whatever the key sent before has been done
    assert not page.tell("studio.document.playing")


def test_a_refused_value_goes_out_of_its_field(page: StudioPage):
    """A stature of five metres once stayed in the field that had refused it."""
    page.open_panel("body")
    page.wait("studio.facts.stature > 1")
    before = page.tell("studio.facts.stature * 100")
    field = page.tab.get_by_label("Stature", exact=True)
    field.fill("500")
    field.press("Enter")
    page.wait("document.querySelector('.toast.bad')")
    page.wait(f"Math.abs(Number(document.activeElement.value) - {before}) < 0.1")


def test_resolution_comes_back_when_nothing_moves(page: StudioPage):
    """Idle time once counted as slow drawing: every pause cost pixels for ever. However few
    there are while things move, a still picture has them all."""
    page.tell("stage.rescale(0.25)")
    page.wait("!stage.dirty && stage.renderer.getPixelRatio() === stage.full")
    page.tell("stage.ratio = 0.25; stage.slow = 35; stage.isMoving = true")
    assert (
        page.tell("(() => { stage.pace(1e7); stage.pace(1e7 + 900); return stage.ratio; })()")
        == 0.25
    )
    size = page.tell(
        "(() => { let size; stage.still((canvas) => { size = canvas.width; }); return size; })()"
    )
    assert size == page.tell("Math.floor(stage.canvas.clientWidth * stage.full)")
    page.tell("stage.rescale(stage.full)")


def test_the_legend_and_the_slider_of_a_scale_agree(page: StudioPage):
    """The fat's scale ends at 60 mm; its slider once said 40."""
    page.tell("studio.change(['colour', 'what'], 'strain')")
    page.open_panel("deformers")
    page.wait("!document.getElementById('legend').hidden")
    inside = "document.getElementById('stage').contains(document.getElementById('legend'))"
    assert not page.tell(inside)
    for most in (0, 25):
        page.tell(f"studio.change(['colour', 'most'], {most})")
        page.wait(f"studio.document.colour.most === {most}")
        ends = page.tell("document.querySelector('#legend span:last-child').textContent")
        slider = page.tab.get_by_label("End of the scale").get_attribute("aria-valuetext")
        assert slider is not None
        assert float(ends.split()[0]) == float(slider)
    page.tell("studio.change(['colour'], { what: 'skin' })")


def test_the_shown_command_writes_the_chosen_format(page: StudioPage):
    """It once said .glb, whatever was chosen."""
    page.open_panel("out")
    shown = "[...document.querySelectorAll('.command')].map((line) => line.textContent).join()"
    for name in ("fbx", "npz"):
        page.tab.get_by_label("Format").select_option(name)
        assert f"--out take.{name}" in page.tell(shown)
    page.tab.get_by_label("Format").select_option("html")
    assert "corporeal export-viewer take.npz --out take.html" in page.tell(shown)
    page.tab.get_by_label("Format").select_option("glb")


def test_eyes_are_cut_with_the_skin(page: StudioPage):
    """Eyeballs once hung in the air where the head was cut away."""
    page.tell("studio.change(['look', 'cut'], 0.5)")
    page.wait("stage.looks.materials.get('left_eye')?.clippingPlanes.length === 1")
    assert page.tell(
        "[...stage.looks.materials.values()].every(({ clippingPlanes }) =>"
        " clippingPlanes[0] === stage.bodies[0].material.clippingPlanes[0])"
    )
    page.tell("studio.change(['look', 'cut'], -1)")


def test_skin_stays_solid_until_there_is_something_inside(page: StudioPage):
    """Bones take seconds to fit; meanwhile the body once looked like a ghost."""
    page.settle()
    shown = page.tell(
        """(() => {
          const { look } = studio.document;
          studio.document.look = { ...look, bone: true, skin_opacity: 0.35 };
          const shown = [false, true].map((isInside) => {
            stage.isInside = isInside;
            stage.follow();
            return stage.bodies[0].material.opacity;
          });
          studio.document.look = look;
          stage.isInside = false;
          stage.follow();
          return [...shown, stage.bodies[0].material.opacity];
        })()"""
    )
    assert shown == [1, 0.35, 1]


def test_a_view_is_chosen_by_key_and_fills_the_picture(page: StudioPage):
    """Seen from the front, a standing body is between six and nine tenths of the picture high."""
    page.seek(0)
    page.tab.locator("#canvas").focus()
    page.tab.keyboard.press("1")
    page.settle()
    highest, lowest = page.tell(
        """(() => {
          const { positions } = stage.bodies[0].skin;
          stage.draw();
          let [low, high] = [1, -1];
          for (let i = 0; i < positions.length; i += 3) {
            const place = stage.camera.position.clone().fromArray(positions, i);
            const { y } = place.project(stage.camera);
            [low, high] = [Math.min(low, y), Math.max(high, y)];
          }
          return [high, low];
        })()"""
    )
    assert 1.2 < highest - lowest < 1.9
    assert lowest > -1
    assert highest < 1
    far = page.tell("stage.camera.position.distanceTo(stage.controls.target)")
    page.press("Face")
    assert page.tell("stage.camera.position.distanceTo(stage.controls.target)") < 0.4 * far
    page.press("Front")


def test_the_rim_of_the_brush_is_shown(page: StudioPage):
    page.tell("studio.use('paint')")
    x, y = page.on_screen(0, page.foremost(0, "belly"))
    page.tab.mouse.move(x, y)
    page.wait(
        "stage.extras.some(({ view, group }) => view === 0"
        " && group.children.some((mark) => mark.visible && mark.scale.x === 0.06))"
    )
    page.tell("studio.use('grab')")


def test_all_words_of_the_page_are_in_its_table(page: StudioPage):
    """So that another language needs no other file."""
    for name in PANELS:
        page.open_panel(name)
    page.settle()
    assert page.tell("[...missingWords]") == []
    table = (CLIENT / "table.js").read_text(encoding="utf-8")
    texts = re.findall(r'^    "(.+)",$', table, re.MULTILINE)
    assert len(texts) > 200
    assert len(set(texts)) == len(texts)
    german = re.findall(r'^      "(.+)": "(.+)",$', table, re.MULTILINE)
    assert [text for text, _ in german] == texts
    for text, other in german:
        assert sorted(re.findall(r"{\w+}", text)) == sorted(re.findall(r"{\w+}", other))


def test_tabs_go_by_arrow_keys(page: StudioPage):
    page.open_panel("body")
    page.tab.locator("#tab-body").focus()
    page.tab.keyboard.press("ArrowDown")
    assert page.tell("document.activeElement.id") == "tab-appearance"
    assert page.tell("document.getElementById('panel-appearance').hidden") is False
    page.tab.keyboard.press("End")
    assert page.tell("document.activeElement.id") == "tab-out"
    assert page.tell("[...document.querySelectorAll('#tabs [tabindex=\"0\"]')].length") == 1


def test_no_serious_finding_of_an_accessibility_checker(page: StudioPage):
    """axe-core, in every panel: nothing serious or critical, contrast included."""
    modules = os.environ.get("CORPOREAL_NODE_MODULES")
    script = Path(modules or "missing") / "axe-core/axe.min.js"
    if not script.is_file():
        pytest.skip("axe-core is not installed; CORPOREAL_NODE_MODULES says where it lies")
    page.tab.evaluate(script.read_text(encoding="utf-8"))
    found = {}
    for name in PANELS:
        page.open_panel(name)
        rows = page.tell(
            "axe.run(document, { resultTypes: ['violations'] }).then(({ violations }) => violations"
            ".map(({ id, impact, nodes }) => [id, impact, nodes[0].html.slice(0, 160)]))"
        )
        found[name] = [row for row in rows if row[1] in ("serious", "critical")]
    assert {name: rows for name, rows in found.items() if rows} == {}


def test_a_phone_has_everything_within_its_width(page: StudioPage):
    """At 390 pixels nothing is wider than the window, and the picture has its place."""
    page.tab.set_viewport_size({"width": 390, "height": 800})
    page.open_panel("body")
    wide = page.tell(
        "[...document.querySelectorAll('#top button, #panel button, #panel input, #timeline *, "
        "#views button')].filter((one) => one.offsetParent"
        " && one.getBoundingClientRect().right > innerWidth + 1).length"
    )
    assert wide == 0
    assert page.tell("stage.canvas.clientHeight") > 200
    assert page.tell("stage.canvas.clientWidth") == 390
    page.tab.set_viewport_size({"width": 700, "height": 480})


def test_a_joint_is_dragged_within_its_limits(page: StudioPage):
    """A pose is taken; the wrist, drawn far across the body, turns the elbow, and no further than
    elbows go."""
    page.seek(0)
    page.open_panel("pose")
    page.press("Take this pose")
    page.wait("studio.document.keys.length === 1 && studio.document.motion.name === 'own-poses'")
    page.settle()
    wrist = """(() => {
      const [part] = stage.parts();
      const box = stage.canvas.getBoundingClientRect();
      const joint = 16 * stage.model.joints.indexOf("left_wrist");
      const place = stage.camera.position.clone();
      place.set(stage.joints[joint + 3], stage.joints[joint + 7], stage.joints[joint + 11]);
      place.project(stage.camera);
      return [box.left + (place.x + 1) / 2 * part.width, box.top + (1 - place.y) / 2 * part.height];
    })()"""
    x, y = page.tell(wrist)
    before = page.tell("studio.document.keys[0].turns.left_elbow ?? [0, 0, 0]")
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.tab.mouse.move(x - 40, y - 30, steps=3)
    page.tab.mouse.up()
    changed = f"JSON.stringify(studio.document.keys[0].turns.left_elbow) !== '{before}'"
    page.wait(f"studio.document.keys[0].turns.left_elbow && {changed}")
    page.settle()
    turn = page.tell("studio.document.keys[0].turns.left_elbow")
    low, high = page.tell("studio.catalogue.limits.left_elbow")
    assert all(a - 1e-6 <= t <= b + 1e-6 for a, t, b in zip(low, turn, high, strict=True))
    assert np.hypot(*(np.array(page.tell(wrist)) - (x, y))) > 5
    assert page.complaints == []


def test_a_reload_keeps_the_work(page: StudioPage):
    """It once began anew: the session ended with its socket."""
    page.tell("studio.change(['body', 'sliders', 'weight'], 0.9)")
    page.wait("studio.document.body.sliders.weight === 0.9")
    undo = page.tell("document.querySelector('#history button[title^=Undo]').disabled")
    page.tab.reload()
    page.wait("window.stage && stage.frames > 0")
    assert page.tell("studio.document.body.sliders.weight") == 0.9
    assert page.tell("studio.document.views.length") == 1
    assert page.tell("document.querySelector('#history button[title^=Undo]').disabled") == undo
    assert page.complaints == []


def test_a_page_goes_on_with_a_studio_that_is_started_anew(opened: Running):
    """The server ends and starts again at the same address: the page brings back what it had."""
    page = opened.page
    page.tell("studio.change(['views'], [{ deformer: 'dqs', controls: {} }])")
    page.tell("studio.change(['body', 'sliders', 'weight'], 0.8)")
    page.wait("studio.document.body.sliders.weight === 0.8")
    opened.end()
    page.wait("document.querySelector('.toast.bad') && !studio.isOpen")
    opened.start_again()
    page.wait("studio.isOpen && studio.document.body.sliders.weight === 0.8")
    assert page.tell("studio.document.views.map(({ deformer }) => deformer)") == ["dqs"]
    shown = page.tell("stage.frames")
    page.settle()
    assert page.tell("stage.frames") > shown
    assert np.isfinite(page.vertex(0, 0)).all()


def test_software_draws_fewer_samples_and_coarse_shadows(page: StudioPage):
    """This browser draws without a card, which the page finds out: one sample a pixel; shadows of
    a moving body are drawn in every third picture, and of fewer triangles than the body has."""
    assert page.tell("stage.inSoftware")
    assert page.tell("stage.renderer.getContext().getParameter(0x80A9)") == 0  # SAMPLES
    drawn = page.tell(
        """(() => {
          stage.adaptive = false;
          stage.drawings = 0;
          return [true, true, true, true, false].map((moves) => {
            stage.isMoving = moves;
            stage.renderer.info.reset();
            stage.draw();
            return stage.renderer.info.render.triangles;
          });
        })()"""
    )
    page.tell("stage.adaptive = true")
    shadows = [count - min(drawn) for count in drawn]
    assert shadows[1] == shadows[2] == 0
    assert shadows[0] == shadows[3] == shadows[4] > 9000
    body = page.tell("stage.bodies[0].skin.mesh.geometry.index.count / 3")
    assert shadows[0] < body


def test_a_new_person_is_drawn_once(page: StudioPage):
    """A rest shape alone draws nothing: the frame that follows does. It drew the old body once."""
    page.settle()
    page.wait("!stage.dirty")
    drawn = page.tell(
        "(() => { const before = stage.drawings; studio.emit('person', stage.person);"
        " return stage.dirty || stage.drawings > before; })()"
    )
    assert not drawn
