"""Files in a real browser: given to the studio, edited there, and taken away again."""

import json
from pathlib import Path

import numpy as np
import pytest
from studio_page import StudioPage, browser, running_studio

from corporeal.formats.bvh_write import write_bvh
from corporeal.formats.skeletons import read_skeleton
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion

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


def test_a_clip_is_dropped_on_the_picture_and_played(page: StudioPage, tmp_path: Path):
    model = PhenotypeModel()
    motion = make_motion("shake-hips", model.prepare(), model.template, fps=20.0, duration=2.0)
    write_bvh(tmp_path / "wave.bvh", motion)
    page.drop("wave.bvh", (tmp_path / "wave.bvh").read_bytes())
    page.wait("studio.document.motion.name === 'wave.bvh'")
    page.wait("document.getElementById('busy').hidden")
    assert page.tell("studio.files.motions") == ["wave.bvh"]
    page.tell("studio.change(['motion', 'name'], 'punching')")
    page.wait("studio.document.motion.name === 'punching'")
    assert page.complaints == []


def test_an_exported_take_is_opened_beside_its_body(page: StudioPage, tmp_path: Path):
    """What was exported comes back as a view; posed by the same joints, no vertex is further off
    than the millimetre that glTF's single precision and morph targets leave."""
    page.open_panel("out")
    page.tell("studio.choose(0)")
    path = page.taken("Export", tmp_path / "take.glb")
    page.give("take.glb", path.read_bytes())
    page.wait("stage.bodies.length === 2 && studio.document.motion.name === 'take.glb'")
    page.settle()
    page.pause()
    page.seek(60)
    count = page.tell("stage.bodies[0].skin.count")
    for index in range(0, count, count // 20):
        apart = np.linalg.norm(page.vertex(0, index) - page.vertex(1, index))
        assert apart < 1e-3
    page.tell("studio.send('undo')")
    page.wait("stage.bodies.length === 1")
    assert page.complaints == []


def test_a_session_is_saved_and_loaded(page: StudioPage, tmp_path: Path):
    page.open_panel("out")
    saved = json.loads(page.taken("Save session", tmp_path / "mine.json").read_text())
    assert saved["motion"]["name"] == "punching"
    page.give("mine.json", json.dumps(saved | {"speed": 2.0}).encode())
    page.wait("studio.document.speed === 2")


def test_joints_are_placed_in_a_mesh_by_clicking_and_saved(page: StudioPage, tmp_path: Path):
    """A click on the middle of the box puts a joint half-way through it: on its axis, within the
    box. The camera looks from aside, so the place is not known more closely."""
    page.give("box.obj", CUBE.encode())
    page.wait("stage.alone !== null && studio.document.rig.mesh === 'box.obj'")
    page.tab.get_by_role("button", name="Place joints").click()
    box = page.tab.locator("#canvas").bounding_box()
    for share, count in ((0.6, 1), (0.4, 2)):
        page.tab.mouse.click(box["x"] + 0.5 * box["width"], box["y"] + share * box["height"])
        page.wait(f"studio.document.rig.joints.length === {count}")
    skeleton = read_skeleton(page.taken(".skel", tmp_path / "box.skel")).skeleton
    assert skeleton.parents == (-1, 0)
    joints = np.asarray(skeleton.joints)
    assert (np.abs(joints[:, [0, 2]]) < 0.3).all()
    assert joints[1, 1] > joints[0, 1] > 0.0
    page.open_panel("body")
    page.wait("stage.alone === null")
    assert page.complaints == []
