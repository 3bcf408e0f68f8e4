"""`corporeal export-viewer`: one page with takes in it, which plays from a file in a browser."""

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from studio_page import PATIENCE_MS, browser

from corporeal.appearance.dress import looks_of
from corporeal.appearance.wardrobe import underwear
from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.formats.native import read_animation, write_animation
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.deformers import make_deformer
from corporeal.skinning.linear import LinearBlendSkinning
from corporeal.viewer.standalone.cache import STEP, decoded, encoded
from corporeal.viewer.standalone.export import ExportViewerConfig, export_viewer


@pytest.mark.parametrize("frames", [1, 2, 3, 70])
def test_frames_come_back_to_half_a_step(frames: int):
    """Bodies that walk, turn and jump from one frame to the next: no number is further off than
    half a step, which float32 rounding of metres (2⁻²⁴ of 4) adds to."""
    dice = np.random.default_rng(frames)
    walk = 0.02 * np.arange(frames)[:, None, None] + dice.normal(0.0, 0.3, (1, 50, 3))
    shaken = walk + dice.normal(0.0, 0.01, (frames, 50, 3))
    shaken[frames // 2] += 3.0
    cache = encoded(shaken)
    assert cache.step == STEP
    assert np.abs(decoded(cache) - shaken).max() <= 0.5 * STEP * (1 + 1e-6)


def test_long_ways_take_larger_steps():
    """65 535 steps of 0.1 mm are 6.5 m: a walk of 20 m is kept in steps of 0.31 mm."""
    far = np.zeros((3, 2, 3))
    far[2, :, 2] = 20.0
    cache = encoded(far)
    assert cache.step == pytest.approx(20.0 / 65534)
    assert np.abs(decoded(cache) - far).max() <= 0.5 * cache.step * (1 + 1e-6)


def test_positions_that_are_no_numbers_are_refused():
    with pytest.raises(InputError, match="finite"):
        encoded(np.full((2, 3, 3), np.nan))


@pytest.fixture(scope="module")
def take(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The default body, which hops and raises its left arm within ten frames."""
    template, model = load_default_body().template, PhenotypeModel()
    rotations = np.zeros((10, template.skeleton.joint_count, 3))
    rotations[:, template.skeleton.index("left_shoulder"), 2] = np.linspace(0.0, 1.2, 10)
    way = np.zeros((10, 3))
    way[:, 1] = 0.04 * np.sin(0.25 * np.pi * np.arange(10))
    motion = Motion("raise", 30.0, rotations, way, template.skeleton)
    animation = LinearBlendSkinning(template).animate(model.prepare({}), motion)
    path = tmp_path_factory.mktemp("take") / "raise.npz"
    write_animation(path, animation, {})
    return path


@pytest.fixture(scope="module")
def chromium() -> Iterator:
    with browser() as started:
        yield started


def test_a_page_plays_from_a_file(take: Path, tmp_path: Path, chromium):
    """Opened by file://, nothing else is asked for; the page shows the take's own vertices (bare
    skin: cloth is smoothed), plays, and goes to the frame that is scrubbed to."""
    made = export_viewer(ExportViewerConfig(takes=(take, take), out=tmp_path / "viewer.html"))
    assert made.frames == (10, 10)
    assert made.bytes == made.out.stat().st_size < 6 << 20
    assert json.loads(made.manifest.read_text())["report"]["bytes"] == made.bytes
    context = chromium.new_context(viewport={"width": 600, "height": 400}, bypass_csp=True)
    tab = context.new_page()
    tab.set_default_timeout(PATIENCE_MS)
    wrong, asked = [], []
    tab.on("pageerror", lambda error: wrong.append(str(error)))
    tab.on("console", lambda line: wrong.append(line.text) if line.type == "error" else None)
    tab.on("request", lambda request: asked.append(request.url))
    tab.goto(made.out.as_uri())
    tab.wait_for_function("window.player && player.drawn > 1")
    assert tab.evaluate("player.playing")
    tab.locator("#play").click()
    tab.evaluate("player.seek(player.seconds)")
    shown = tab.evaluate("Array.from(player.bodies[1].skin.positions)")
    assert asked == [made.out.as_uri()]
    assert wrong == []
    last = np.asarray(read_animation(take).vertices)[-1]
    bare = load_default_body().template.part("left_hand")
    off = np.abs(np.array(shown).reshape(-1, 3)[bare] - last[bare]).max()
    assert off <= 0.5 * STEP + 1e-6


def test_live_flesh_moves_as_the_deformer_does(take: Path, tmp_path: Path, chromium):
    """Stepped frame by frame, the page's bare skin is `dmpl`'s (cloth is smoothed): both run the
    same equations; positions are rounded to half a step, shapes to 2⁻¹⁵ of a centimetre at weights
    of some tens. Dynamics themselves go more than four times as far."""
    page = tmp_path / "live.html"
    export_viewer(ExportViewerConfig(takes=(take,), out=page, live=True, live_shapes=500))
    still = read_animation(take)
    deformer = make_deformer("dmpl", still.template)
    truth = deformer.animate(still.identity, still.motion, None)
    static = deformer.animate(still.identity, still.motion, {"dynamics": False})
    tab = chromium.new_context(viewport={"width": 300, "height": 200}).new_page()
    tab.set_default_timeout(PATIENCE_MS)
    tab.goto(page.as_uri())
    tab.wait_for_selector("#veil", state="hidden")
    shown = tab.evaluate(
        """() => {
          player.playing = false;
          const [body] = player.bodies;
          body.live.restart();
          for (let n = 0; n < 10; n += 1) body.show(n / 30, n ? 1 / 30 : 0);
          return Array.from(body.skin.positions);
        }"""
    )
    template = load_default_body().template
    bare = underwear(template, still.identity) < -0.03
    face = looks_of(template, still.identity, texture_size=None).offsets  # a look's, not the take's
    assert face is not None
    bare &= np.abs(face).max(axis=1) < 1e-6
    found = np.array(shown).reshape(-1, 3)[bare]
    last, plain = (np.asarray(made.vertices)[-1][bare] for made in (truth, static))
    assert np.abs(found - last).max() < 2e-4
    assert np.abs(last - plain).max() > 8e-4


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"out": Path("viewer.png")}, "suffix .html"),
        ({"skin": "green"}, "skin is 'green'"),
        ({"step_mm": 0.0}, "expected 0.001 to 10"),
        ({"takes": ()}, "0 takes came"),
        ({"live_shapes": 0}, "0 dynamic shapes"),
    ],
)
def test_what_cannot_be_is_refused(change: dict[str, object], words: str, tmp_path: Path):
    usual: dict[str, object] = {"takes": (Path("take.npz"),), "out": tmp_path / "viewer.html"}
    with pytest.raises(InputError, match=words):
        export_viewer(ExportViewerConfig(**{**usual, **change}))  # pyright: ignore[reportArgumentType]
