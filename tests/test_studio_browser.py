"""The studio's way from the first picture to an exported character, in a real browser.

Chromium with software GL draws the very page; window and pixels are few, and time stands still
where it may, so that it takes seconds. Other panels are tested in `test_studio_page`.
"""

from pathlib import Path

from studio_page import StudioPage, browser, running_studio

from corporeal.formats.gltf_read import read_glb_character


def test_from_opening_to_an_exported_character(tmp_path: Path):
    with running_studio() as (_, address), browser() as opened:
        page = StudioPage(opened, address, width=860, height=520, density=0.5)
        page.pause()
        two_bodies_are_drawn(page)
        a_wrong_token_is_refused(opened, address.url)
        a_slider_reshapes_the_body(page)
        a_motion_and_a_deformer_are_chosen(page)
        a_broken_file_is_told(page)
        flesh_is_pulled_and_let_go(page)
        the_take_is_exported(page, tmp_path / "take.glb")
        assert page.complaints == []
        assert page.outside == []


def two_bodies_are_drawn(page: StudioPage) -> None:
    """Skin is warmer (red over blue) than the grey room, in both halves."""
    assert page.tell("stage.bodies.length") == 2
    page.wait("!stage.dirty")
    picture = page.canvas()
    warm = (picture[..., 0] - picture[..., 2]) > 25
    half = picture.shape[1] // 2
    assert warm[:, :half].mean() > 0.01
    assert warm[:, half:].mean() > 0.01


def a_wrong_token_is_refused(opened, url: str) -> None:
    """Neither the page nor its socket is served to who does not know the token."""
    stranger = opened.new_page()
    token = url.rstrip("/").rpartition("/")[2]
    answer = stranger.goto(url.replace(token, token[::-1]))
    assert answer.status == 403
    assert "Wrong or missing token" in stranger.content()
    stranger.close()


def a_slider_reshapes_the_body(page: StudioPage) -> None:
    page.wait("studio.facts.mass > 0")
    before = page.tell("studio.facts.mass")
    knob = page.tab.get_by_label("Weight", exact=True)
    knob.focus()
    knob.press("End")
    page.wait(f"studio.facts.mass > {before} + 5")
    page.tab.keyboard.press("Control+z")
    page.wait("studio.document.body.sliders.weight === undefined")


def a_motion_and_a_deformer_are_chosen(page: StudioPage) -> None:
    page.open_panel("motion")
    page.tell("studio.change(['motion', 'duration'], 2)")
    page.press("Punching")
    page.wait("studio.document.motion.name === 'punching'")
    page.open_panel("deformers")
    page.tab.locator(".card select").first.select_option("dqs")
    page.wait("studio.document.views[0].deformer === 'dqs'")


def a_broken_file_is_told(page: StudioPage) -> None:
    page.give("broken.bvh", b"HIERARCHY\nROOT hips\n{ OFFSET 0")
    page.complaint("broken.bvh ")
    page.tell("studio.change(['speed'], 0.5)")
    page.wait("studio.document.speed === 0.5")


def flesh_is_pulled_and_let_go(page: StudioPage) -> None:
    """A drag of the belly towards the side moves its skin there by more than 2 mm, and back."""
    page.settle()
    page.seek(0)
    index = page.foremost(1, "belly")
    start = page.vertex(1, index)[0]
    x, y = page.on_screen(1, index)
    page.tab.mouse.move(x, y)
    page.tab.mouse.down()
    page.tab.mouse.move(x + 25, y, steps=3)
    pulled = f"Math.abs(stage.bodies[1].skin.positions[{3 * index}] - {start}) > 0.002"
    page.wait(pulled)
    page.tab.mouse.up()
    page.wait(f"!({pulled})")


def the_take_is_exported(page: StudioPage, path: Path) -> None:
    """The downloaded GLB is a character with joints and the two seconds of motion."""
    page.open_panel("out")
    page.tell("studio.choose(0)")
    character = read_glb_character(page.taken("Export", path))
    assert character.template.mesh.vertex_count == page.tell("stage.bodies[0].skin.count")
    assert character.frame_count == 121
