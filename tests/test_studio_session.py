"""A studio session without a page: what is asked, what comes of it."""

import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.viewer.document import Document, View
from corporeal.viewer.job_process import Job, Limits
from corporeal.viewer.packets import Packet
from corporeal.viewer.players import FleshPlayer
from corporeal.viewer.session import Session
from corporeal.viewer.worker import all_actions

ACTIONS = all_actions()
PATIENCE = 300.0
"""Seconds; a slow machine is no failure."""


class Page:
    """A page that sees every frame at once, unless it sleeps."""

    def __init__(self, folder: Path) -> None:
        self.sent: list[Packet] = []
        self.asleep, self.last = False, 0
        self.session = Session(self.receive, folder)
        self.session.open()

    def receive(self, packet: Packet) -> None:
        packet.encode()
        self.sent.append(packet)
        if packet.kind == "frame":
            self.last = packet.fields["number"]

    def ask(self, kind: str, arrays: dict[str, np.ndarray] | None = None, **fields: object) -> None:
        self.session.handle(Packet(kind, fields, arrays or {}), ACTIONS)

    def change(self, *path: str | int, value: object, final: bool = True) -> None:
        self.ask("change", path=list(path), value=value, final=final)

    def of(self, kind: str) -> list[Packet]:
        return [packet for packet in self.sent if packet.kind == kind]

    def wait(self, until: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE
        while not until():
            assert time.monotonic() < end, (
                f"waited {PATIENCE} s; busy: {self.session.background.busy}"
            )
            time.sleep(min(0.01, self.session.tick()))
            if not self.asleep:
                self.ask("seen", number=self.last)

    def settle(self) -> None:
        self.wait(lambda: not self.session.background.busy)

    def frames(self, count: int) -> list[Packet]:
        before = len(self.of("frame"))
        self.wait(lambda: len(self.of("frame")) >= before + count)
        return self.of("frame")[before:]


BARE = Document(views=(View("lbs"), View("dqs")))
"""Without flesh, which takes seconds to prepare."""
FLESHED = [{"deformer": "lbs"}, {"deformer": "projective"}]


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Page:
    return Page(tmp_path_factory.mktemp("tab"))


@pytest.fixture
def page(shared: Page) -> Page:
    """The shared page, as it is with skinned bodies alone."""
    shared.asleep = False
    shared.session.stage.hands.clear()
    if shared.session.document != BARE:
        shared.session.apply(BARE)
    shared.settle()
    shared.session.past.clear()
    shared.session.future.clear()
    shared.sent.clear()
    return shared


@pytest.fixture
def fleshed(page: Page) -> Page:
    """The same with flesh in the second view."""
    page.change("views", value=FLESHED)
    page.settle()
    return page


def flesh(page: Page) -> FleshPlayer:
    player = page.session.stage.players[1]
    assert isinstance(player, FleshPlayer)
    return player


def test_a_page_is_told_all_it_needs_and_sees_bodies_move(tmp_path: Path):
    """Catalogue, model, person and document come before the first frame; then time goes on, and
    flesh is prepared beside the show."""
    page = Page(tmp_path)
    frames = page.frames(3)
    kinds = [packet.kind for packet in page.sent]
    for kind in ("catalogue", "model", "person", "document"):
        assert kind in kinds[: kinds.index("frame")]
    assert frames[0].fields["place"] < frames[-1].fields["place"]
    count = page.session.model.template.mesh.vertex_count
    assert frames[0].arrays["skin 0"].shape == frames[0].arrays["skin 1"].shape == (count, 3)
    page.settle()
    shown = page.frames(1)[-1].fields["views"]
    assert [view["ready"] for view in shown] == [True, True]
    assert shown[0]["most"] == 0.0
    assert shown[1]["most"] > 1.0  # millimetres away from linear blending


def test_a_slider_reshapes_at_once_and_measures_afterwards(page: Page):
    before = page.session.stage.identity
    page.sent.clear()
    page.change("body", "sliders", "weight", value=0.95, final=False)
    assert page.session.stage.identity is not before
    assert page.of("person")
    assert not page.session.past  # the mouse is still down
    page.change("body", "sliders", "weight", value=1.0)
    page.settle()
    assert len(page.session.past) == 1
    assert page.of("facts")[-1].fields["values"]["bmi"] > 22.0


def test_undo_and_redo_go_back_and_forth(page: Page):
    page.change("body", "sliders", "height", value=0.9)
    page.change("motion", "root", value="fixed")
    page.ask("undo")
    assert page.session.document.motion.root == "free"
    page.ask("undo")
    assert page.session.document == BARE
    page.ask("redo")
    assert page.session.document.body.sliders == {"height": 0.9}
    page.settle()


def test_measurements_make_the_body_that_has_them(page: Page):
    page.ask("measure", targets={"stature": 1.75, "mass": 78.0})
    page.settle()
    found = page.of("facts")[-1].fields["values"]
    assert found["stature"] == pytest.approx(1.75, abs=2e-3)
    assert found["mass"] == pytest.approx(78.0, abs=0.1)
    assert "--stature 1.75" in page.of("document")[-1].fields["commands"][0]


def test_presets_are_people_and_mirroring_swaps_sides(page: Page):
    page.ask("preset", name="Heavy woman")
    page.settle()
    assert page.of("facts")[-1].fields["values"]["mass"] == pytest.approx(104.0, abs=0.1)
    page.change("body", "local", value={"l-upperarm-fat": 0.5})
    page.ask("mirror")
    assert page.session.document.body.local == {"r-upperarm-fat": 0.5}
    page.change("body", "learned", "1", value=2.0)
    page.settle()
    assert not page.of("refused")


def test_what_no_body_has_is_refused_and_the_studio_goes_on(page: Page):
    page.ask("measure", targets={"stature": 1.6, "mass": 600.0})
    page.settle()
    assert "600" in page.of("refused")[-1].fields["why"]
    assert page.session.document.body == BARE.body
    assert page.frames(1)


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("dance", {}),
        ("change", {}),
        ("change", {"path": ["views", 0, "deformer"], "value": "magic"}),
        ("change", {"path": ["motion", "name"], "value": "../../etc/passwd"}),
        ("preset", {"name": "nobody"}),
        ("grab", {"view": 9, "vertices": [0, 1, 2], "point": [0, 0, 0]}),
        ("grab", {"view": 0, "vertices": [0, 1, 2], "point": [0, 0, 0]}),
        ("seek", {"place": "soon"}),
        ("paint", {}),
    ],
)
def test_nonsense_is_refused_in_words(page: Page, kind: str, fields: dict[str, object]):
    page.sent.clear()
    page.ask(kind, **fields)
    page.settle()
    assert page.of("refused"), f"{kind} {fields} was taken"
    assert page.frames(1)


def test_frames_stop_where_nobody_looks(page: Page):
    """At most three frames are on their way; a page that does not answer gets no more."""
    page.frames(1)
    page.asleep = True
    before = len(page.of("frame"))
    for _ in range(30):
        page.session.tick()
        time.sleep(0.01)
    assert len(page.of("frame")) - before <= 3
    page.asleep = False


def test_grabbed_flesh_follows_the_hand_and_comes_back(fleshed: Page):
    """A pull of 8 cm on the belly draws skin by more than 5 mm that way; let go, it returns."""
    page = fleshed
    page.settle()
    page.change("playing", value=False)
    page.ask("seek", place=0)
    page.wait(lambda: not page.session.stage.linger())
    template = page.session.model.template
    quiet = flesh(page).skin.copy()
    belly = template.part("belly")
    vertex = int(belly[np.argmax(quiet[belly, 2])])
    corners = template.mesh.triangles[(template.mesh.triangles == vertex).any(axis=1)][0]
    point = quiet[vertex].astype(float)
    for wrong in ({"vertices": [0, 1, 10**9]}, {"point": [0.0, "x", 0.0]}):
        asked = {"vertices": corners.tolist(), "point": point.tolist()} | wrong
        before = len(page.of("refused"))
        page.ask("grab", view=1, **asked)
        assert len(page.of("refused")) == before + 1
    page.ask("grab", view=1, vertices=corners.tolist(), point=point.tolist())
    page.ask("drag", view=1, target=(point + np.array([0.0, 0.0, 0.08])).tolist())
    assert page.frames(25)[-1].fields["grabbed"] == [1]
    assert (flesh(page).skin[vertex] - quiet[vertex])[2] > 0.005
    page.ask("release", view=1)
    page.wait(lambda: not page.session.stage.linger())
    assert np.abs(flesh(page).skin - quiet).max() < 0.002


def test_paint_and_controls_reach_the_flesh(fleshed: Page):
    page = fleshed
    vertices = page.session.model.template.part("belly").astype(np.uint32)
    factors = np.full(len(vertices), 0.4, np.float32)
    page.ask("paint", {"vertices": vertices, "factors": factors})
    page.change("views", 1, "controls", "stiffness", value=30e3)
    page.settle()
    simulation = flesh(page).stepper
    assert isinstance(simulation, ProjectiveSimulation)
    assert simulation.settings.stiffness == 30e3
    assert len(page.session.document.painted) == len(vertices)
    assert page.frames(1)[-1].fields["views"][1]["ready"]
    page.ask("unpaint")
    assert not page.session.document.painted


def test_painted_exaggeration_carries_the_shown_skin_further(page: Page):
    """x = x_lbs + e (x − x_lbs) of dual quaternions; linear blending stays where it is."""
    stage = page.session.stage
    page.ask("seek", place=60)
    vertices = np.arange(200, dtype=np.uint32)
    factors = np.full(200, 3.0, np.float32)
    page.ask("paint", {"vertices": vertices, "factors": factors}, what="exaggeration")
    assert len(page.session.document.exaggerated) == 200
    plain, curved = (player.skin for player in stage.players)
    np.testing.assert_array_equal(stage.shown(stage.players[0]), plain)
    wanted = curved.copy()
    wanted[:200] = plain[:200] + 3.0 * (curved - plain)[:200]
    np.testing.assert_allclose(stage.shown(stage.players[1]), wanted, atol=1e-6)
    page.change("colour", "what", value="exaggeration")
    assert page.frames(1)[-1].arrays["shades 1"][:201].tolist() == [188] * 200 + [128]
    assert "--exaggeration-map exaggerated.npy" in page.of("document")[-1].fields["commands"][1]
    page.ask("unpaint", what="exaggeration")
    np.testing.assert_array_equal(stage.shown(stage.players[1]), stage.players[1].skin)


def test_bodies_come_and_go(page: Page):
    page.change("views", value=[{"deformer": name} for name in ("lbs", "dqs", "lbs", "dqs")])
    assert len(page.frames(1)[-1].fields["views"]) == 4
    page.change("views", value=[{"deformer": "dqs"}])
    page.change("colour", "what", value="strain")
    last = page.frames(2)[-1]
    assert len(last.fields["views"]) == 1
    assert last.arrays["shades 0"].max() > 0


def test_a_motion_that_does_not_loop_stops_at_its_end(page: Page):
    page.change("loop", value=False)
    page.ask("seek", place=237)
    page.wait(lambda: not page.session.document.playing)
    assert page.session.stage.playhead.place == page.session.stage.playhead.last


def test_flesh_of_somebody_who_has_left_is_dropped(fleshed: Page):
    """Prepared for one person, ready when another stands there: plain skinning stays."""
    page = fleshed
    page.settle()
    live = flesh(page).live
    assert live is not None
    page.change("body", "sliders", "weight", value=0.8, final=False)
    flesh(page).begin(live)
    flesh(page).begin(replace(live, state=None))
    assert not flesh(page).ready


def test_the_show_stands_still_while_a_file_is_made(page: Page):
    """A job that wants to be alone has all cores: no step until it ends, and no leap after."""
    last = page.frames(2)[-1].fields["place"]
    job = Job(time.sleep, (600.0,), Limits(600.0, 8 << 30), alone=True)
    page.session.background.spawn("file", job, lambda answer: None)
    before = len(page.of("frame"))
    for _ in range(30):
        time.sleep(0.02)
        page.session.tick()
        page.ask("seen", number=page.last)
    assert all(frame.fields["place"] == last for frame in page.of("frame")[before:])
    page.session.background.cancel("file")
    gone = page.frames(3)[-1].fields["place"] - last
    assert 0 < gone < 18  # frames; it stood still for 36
