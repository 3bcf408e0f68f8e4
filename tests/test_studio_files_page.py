"""Files in a real browser: given to the studio, edited there, and taken away again."""

import json
from pathlib import Path

import numpy as np
import pytest
from studio_page import PATIENCE_MS, StudioPage, browser, running_studio

from corporeal.formats.gltf_read import read_glb_character
from corporeal.formats.skeletons import read_skeleton

pytestmark = pytest.mark.slow  # software GL draws a frame in a quarter of a second

CUBE = """
v -0.3 0 -0.3
v 0.3 0 -0.3
v 0.3 0 0.3
v -0.3 0 0.3
v -0.3 1.6 -0.3
v 0.3 1.6 -0.3
v 0.3 1.6 0.3
v -0.3 1.6 0.3
f 1 2 3 4
f 8 7 6 5
f 1 5 6 2
f 2 6 7 3
f 3 7 8 4
f 4 8 5 1
"""
"""A box of 0.6 × 1.6 × 0.6 around the y axis."""


@pytest.fixture(scope="module")
def page():
    with running_studio() as (_, address), browser() as opened:
        made = StudioPage(opened, address, width=900, height=600)
        made.tell("studio.change(['views'], [{ deformer: 'lbs', controls: {} }])")
        made.tell("studio.change(['motion'], { name: 'punching', duration: 2 })")
        made.tell("studio.change(['playing'], false)")
        made.wait("stage.bodies.length === 1 && !studio.document.playing")
        yield made


def give(page: StudioPage, name: str, content: bytes) -> None:
    """Choose a file with the button in the header."""
    with page.tab.expect_file_chooser() as waiting:
        page.tab.get_by_role("button", name="Open", exact=True).click()
    file = {"name": name, "mimeType": "application/octet-stream", "buffer": content}
    waiting.value.set_files([file])


def taken(page: StudioPage, press: str, path: Path) -> Path:
    """What a button gives to download."""
    with page.tab.expect_download(timeout=PATIENCE_MS) as waiting:
        page.tab.get_by_role("button", name=press, exact=True).click()
    waiting.value.save_as(path)
    return path


def test_a_malformed_upload_shows_why_and_the_studio_goes_on(page: StudioPage):
    give(page, "broken.bvh", b"HIERARCHY\nROOT hips\n{ OFFSET 0")
    page.wait("document.querySelector('.toast.bad')?.textContent.startsWith('broken.bvh ')")
    page.tell("studio.change(['speed'], 0.5)")
    page.wait("studio.document.speed === 0.5")
    assert page.complaints == []


def test_an_exported_character_is_downloaded_and_holds_the_take(page: StudioPage, tmp_path: Path):
    page.open_panel("out")
    path = taken(page, "Export", tmp_path / "take.glb")
    character = read_glb_character(path)
    assert character.frame_count == 121
    assert character.template.mesh.vertex_count == page.tell("stage.bodies[0].skin.count")
    assert page.complaints == []


def test_a_session_is_saved_and_loaded(page: StudioPage, tmp_path: Path):
    page.open_panel("out")
    saved = json.loads(taken(page, "Save session", tmp_path / "mine.json").read_text())
    assert saved["motion"]["name"] == "punching"
    give(page, "mine.json", json.dumps(saved | {"speed": 2.0}).encode())
    page.wait("studio.document.speed === 2")


def test_joints_are_placed_in_a_mesh_by_clicking_and_saved(page: StudioPage, tmp_path: Path):
    """A click on the middle of the box puts a joint half-way through it: on its axis, within the
    box. The camera looks from aside, so the place is not known more closely."""
    give(page, "box.obj", CUBE.encode())
    page.wait("stage.alone !== null && studio.document.rig.mesh === 'box.obj'")
    page.tab.get_by_role("button", name="Place joints").click()
    box = page.tab.locator("#canvas").bounding_box()
    for share, count in ((0.6, 1), (0.4, 2)):
        page.tab.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + share * box["height"])
        page.wait(f"studio.document.rig.joints.length === {count}")
    skeleton = read_skeleton(taken(page, ".skel", tmp_path / "box.skel")).skeleton
    assert skeleton.parents == (-1, 0)
    joints = np.asarray(skeleton.joints)
    assert (np.abs(joints[:, [0, 2]]) < 0.3).all()
    assert joints[1, 1] > joints[0, 1] > 0.0
    page.open_panel("body")
    page.wait("stage.alone === null")
    assert page.complaints == []
