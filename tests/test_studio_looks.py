"""Looks in the studio: the page shows the same appearance as pictures and files, and keeps it."""

import time
from collections.abc import Iterator
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from studio_page import StudioPage, browser, running_studio
from studio_session import Visitor

from corporeal.appearance.appearance import Appearance
from corporeal.appearance.dress import looks_of, with_face
from corporeal.appearance.following import soft_part_places
from corporeal.appearance.resolving import resolve, wearer_of
from corporeal.appearance.skin_paint import paint_of
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.runtime.user_cache import cache_folder, keep, kept
from corporeal.skinning.linear import LinearBlendSkinning
from corporeal.viewer.command_line import look_words
from corporeal.viewer.document import Document, as_json, changed, parse
from corporeal.viewer.looks import DRAFT_SIZE, SIZE, dressed_up, skin_picture
from corporeal.viewer.packets import Packet


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path_factory.mktemp("cache")
    monkeypatch.setenv("XDG_CACHE_HOME", str(home))
    return home


def test_a_document_keeps_a_look_and_takes_the_old_word_for_a_skin():
    """Through JSON and back; sessions of before said the tone among how the page draws."""
    look = Appearance(
        skin=-20.0, hair="bun", face=(("nose-hump", 0.4),), expression=(("jawOpen", 0.5),)
    )
    document = Document(appearance=look)
    assert parse(as_json(document)).appearance == look
    old = parse({"look": {"tone": "deep", "ground": False}})
    assert old.appearance.skin == -55.0
    assert not old.look.ground
    moved = changed(document, ["appearance", "face", "nose-hump"], -0.2)
    assert dict(moved.appearance.face) == {"nose-hump": -0.2}
    assert moved.appearance.hair == "bun"


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"skin": 500}, "skin"),
        ({"hair": "mohican"}, "hair"),
        ({"face": {"nose-jump": 0.1}}, "no face slider"),
        ({"face": {"nose-hump": 7}}, "from -1 to 1"),
        ({"expression": {"grin": 1}}, "no expression"),
        ({"wear": ["/etc/passwd"]}, "no assets"),
        ([], "values by name"),
    ],
)
def test_a_page_can_ask_for_no_impossible_look(value: object, words: str):
    """A page names no file, and nothing that the appearance has not."""
    with pytest.raises(InputError, match=words):
        parse({"appearance": value})


def test_expressions_and_faces_share_one_paint():
    """What is not painted does not make a picture anew; what is painted does."""
    model = PhenotypeModel()
    person = wearer_of(model.prepare({"gender": 0.0}))
    paint = paint_of(resolve(Appearance(), person))
    assert paint == paint_of(resolve(Appearance(smile=1.0, face_seed=3, gaze_up=9.0), person))
    for other in (Appearance(skin=0.0), Appearance(lips=0.9), Appearance(hair="bald")):
        assert paint_of(resolve(other, person)) != paint


def test_flags_of_a_look_read_as_the_look():
    """The shown command's words, through the command line's own reader."""
    from corporeal.pipelines.presentation import LookOptions

    look = Appearance(skin=12.5, hair="short", smile=0.1, expression=(("jawOpen", 0.25),))
    words = look_words(look)
    at = words.index("--look")
    options = LookOptions(look=tuple(words[at + 1 :]), expression=tuple(words[1:at]))
    assert words[0] == "--expression"
    assert options.presentation().appearance == look
    assert look_words(Appearance()) == []
    assert look_words(Appearance(face=(("nose-hump", 0.4),)))[0] == "--appearance"


def test_skin_is_painted_once_and_kept(own_cache: Path):
    """The second time the picture is that of the cache; a damaged file is painted anew."""
    from corporeal.viewer import looks

    identity, look = PhenotypeModel().prepare({}), Appearance(skin=3.0)
    first = skin_picture(identity, look, looks.SIZE)
    (place,) = cache_folder(looks.PAINT).iterdir()
    assert place.is_relative_to(own_cache)
    again = skin_picture(identity, look, looks.SIZE)
    np.testing.assert_array_equal(again.arrays["colour"], first.arrays["colour"])
    place.write_bytes(b"no packet")
    mended = skin_picture(identity, look, looks.SIZE)
    np.testing.assert_array_equal(mended.arrays["colour"], first.arrays["colour"])


def test_a_cache_holds_a_few_dozen_and_needs_no_folder(monkeypatch: pytest.MonkeyPatch):
    for number in range(60):
        keep("things", f"{number:02d}", b"x")
    assert len(list(cache_folder("things").iterdir())) == 48
    assert kept("things", "59") == b"x"
    monkeypatch.setenv("XDG_CACHE_HOME", "/proc/nowhere")
    keep("things", "a", b"x")
    assert kept("things", "a") is None


def test_a_session_dresses_the_person_and_somebody_has_another_look(tmp_path: Path):
    visitor = Visitor(tmp_path)
    session = visitor.session
    session.open()
    visitor.settle()
    names = [part["name"] for part in visitor.said("looks")[-1].fields["parts"]]
    assert {"left_eye", "right_eye", "lashes", "hair", "upper_teeth"} <= set(names)
    first = visitor.said("skin")[-1].fields["key"]
    told = len(visitor.said("picture"))
    visitor.ask("change", path=["appearance", "expression", "jawOpen"], value=0.6)
    visitor.settle()
    assert visitor.said("skin")[-1].fields["key"] == first
    assert len(visitor.said("picture")) == told  # the page has them all
    visitor.ask("somebody", seed=4)
    visitor.settle()
    assert session.document.appearance.face_seed
    assert visitor.said("skin")[-1].fields["key"] != first
    visitor.ask("undo")
    assert session.document.appearance == Appearance(expression=(("jawOpen", 0.6),))
    session.background.close()


def test_a_first_picture_wears_clothes(tmp_path: Path):
    """Before the first frame the page has painted skin, coarse the first time; the second time all
    of the look, and nothing is made anew."""
    edges: list[list[int]] = []
    for number in range(2):
        visitor = Visitor(tmp_path / str(number))
        visitor.session.prepare()
        visitor.session.background.release()
        visitor.session.open()
        visitor.session.tick()
        kinds = [packet.kind for packet in visitor.heard]
        before = kinds[: kinds.index("frame")]
        assert "skin" in before
        assert ("looks" in before) == (number == 1)
        visitor.settle()
        assert visitor.said("looks")
        edges.append([edge_of(packet) for packet in visitor.said("skin")])
        visitor.session.background.close()
    assert edges == [[DRAFT_SIZE, SIZE], [SIZE]]


def edge_of(skin: Packet) -> int:
    """Texels along an edge of a picture."""
    return Image.open(BytesIO(skin.arrays["colour"].tobytes())).size[0]


@pytest.fixture(scope="module")
def page() -> Iterator[StudioPage]:
    with running_studio() as (_, address), browser() as chromium:
        made = StudioPage(chromium, address, width=700, height=480, density=0.5)
        made.tell("studio.change(['views'], [{ deformer: 'lbs', controls: {} }])")
        made.pause()
        made.wait("stage.isPainted && stage.looks.message && stage.bodies.length === 1")
        made.settle()
        made.seek(30)
        yield made


def shown(page: StudioPage, expression: str) -> np.ndarray:
    return np.array(page.tell(f"Array.from({expression})")).reshape(-1, 3)


def test_the_page_moves_face_and_hair_as_pictures_do(page: StudioPage):
    """Against `with_face` and `soft_part_places` in the same frame, within the step of the page's
    positions (0.03 mm) and single precision; cloth is left out."""
    model = PhenotypeModel()
    identity = model.prepare({row.name: row.default for row in model.parameters})
    look = Appearance(smile=1.0, expression=(("jawOpen", 1.0),), hair="long")
    page.tell(
        "studio.change(['appearance'],"
        " { smile: 1, expression: { jawOpen: 1 }, face: {}, hair: 'long' })"
    )
    page.wait("studio.document.appearance.hair === 'long'")
    page.settle()
    from corporeal.motions.library import make_motion
    from corporeal.viewer.playhead import FPS

    whole = make_motion("jumping-jacks", identity, model.template, fps=FPS, duration=4.0)
    motion = Motion(
        "one", FPS, whole.joint_rotations[30:31], whole.root_translation[30:31], whole.skeleton
    )
    looks = looks_of(model.template, identity, look, 512)
    plain = LinearBlendSkinning(model.template).animate(identity, motion)
    truth = with_face(plain, looks)
    head = model.template.part("head")
    wanted = np.asarray(truth.vertices[0])[head]
    for _ in range(40):  # a busy machine takes a while to draw the face anew
        found = shown(page, "stage.bodies[0].skin.positions")
        if np.abs(found[head] - wanted).max() < 1e-4:
            break
        time.sleep(0.25)
    np.testing.assert_allclose(found[head], wanted, atol=1e-4)
    assert np.abs(np.asarray(truth.vertices - plain.vertices)).max() > 5e-3
    for number, part in enumerate(looks.parts):
        if part.binding is None:
            continue
        places = soft_part_places(part, truth, 0)
        drawn = shown(page, f"stage.bodies[0].parts.made[{number}].skin.positions")
        np.testing.assert_allclose(drawn, places, atol=2e-4, err_msg=part.name)


def test_panels_change_the_look_and_numbers_hide_it(page: StudioPage):
    page.open_panel("appearance")
    page.tab.get_by_label("Hair", exact=True).select_option("bald")
    page.wait("stage.looks.message.parts.every(({ name }) => name !== 'hair')")
    before = page.canvas()
    page.tell("void (window.paintBefore = stage.looks.skin)")
    page.tell("studio.change(['appearance', 'skin'], -60)")
    page.wait(
        "stage.looks.skin !== paintBefore && stage.looks.skin.colour"
        " && stage.bodies[0].material.map === stage.looks.skin.colour"
    )
    page.settle()
    page.wait("!stage.dirty")
    assert before.sum() - page.canvas().sum() > 1e4  # darker
    page.tell("studio.change(['colour', 'what'], 'strain')")
    page.wait("!stage.bodies[0].parts.group.visible")
    page.tell("studio.change(['colour', 'what'], 'skin')")
    page.wait("stage.bodies[0].parts.group.visible")
    assert page.tell("[...missingWords]") == []
    assert page.complaints == []


def test_a_reload_keeps_the_look(page: StudioPage):
    page.tell("studio.change(['appearance', 'eyes'], 'green')")
    page.wait("studio.document.appearance.eyes === 'green'")
    page.tab.reload()
    page.wait("window.stage && stage.isPainted && studio.document.appearance.eyes === 'green'")


def test_drafts_are_small_and_parts_few():
    """While a slider moves, a quarter of the texels; a look is a fraction of a megabyte."""
    identity = PhenotypeModel().prepare({})
    template = PhenotypeModel().template
    made = dressed_up(template, identity, Appearance())
    assert len(made.looks.encode()) < 500_000
    draft = skin_picture(identity, replace(Appearance(), skin=1.0), DRAFT_SIZE)
    assert len(draft.encode()) < 200_000
