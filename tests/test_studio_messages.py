"""Whatever a page says, the tab lives: every message goes through one schema, faults are told."""

import json
import random
import struct
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from studio_session import Visitor

from corporeal.errors import FormatError, InputError
from corporeal.viewer.background import MOST_PROCESSES, MOST_WAITING, Background
from corporeal.viewer.document import ColourChoice, Document, View, parse, read_document
from corporeal.viewer.job_process import Job, JobProcess
from corporeal.viewer.messages import MESSAGES, require_message
from corporeal.viewer.packets import Packet, decode
from corporeal.viewer.uploads import Uploads
from corporeal.viewer.worker import _packet, all_actions

NASTY = [
    float("inf"),
    float("-inf"),
    float("nan"),
    1e308,
    -1,
    10**400,
    2**63,
    0.5,
    None,
    True,
    "",
    "x" * 400,
    "../../etc/passwd",
    "\0",
    "take:none",
    [],
    [[]],
    [1, [2, [3]]],
    {},
    {"a": {"b": []}},
    [float("inf")] * 3,
    ["views", 99],
    ["views", -1, "deformer"],
    ["colour", "against"],
    ["body"],
    [{}],
    [None],
    ["look", "tone"],
    {"skin": "green"},
    {"deformer": 7},
    [{"deformer": "lbs", "controls": [1]}],
    {"what": "weight", "joint": "tail"},
    -7,
    4,
    1e9,
]
PATHS = [
    ["body", "sliders", "weight"],
    ["body", "scan"],
    ["motion", "name"],
    ["motion", "duration"],
    ["views"],
    ["views", 0],
    ["views", 0, "controls"],
    ["colour", "against"],
    ["colour", "joint"],
    ["colour", "most"],
    ["colour", "what"],
    ["look", "skin_opacity"],
    ["appearance"],
    ["appearance", "skin"],
    ["appearance", "hair"],
    ["appearance", "face"],
    ["appearance", "face", "nose-hump"],
    ["appearance", "expression"],
    ["appearance", "wear"],
    ["look", "cut"],
    ["painted"],
    ["painted", "5"],
    ["exaggerated"],
    ["growth", "belly"],
    ["rig"],
    ["rig", "joints"],
    ["speed"],
    ["playing"],
    ["colour"],
    ["nothing", "there"],
]


@pytest.fixture(scope="module")
def visitor(tmp_path_factory: pytest.TempPathFactory) -> Visitor:
    made = Visitor(tmp_path_factory.mktemp("fuzzed"))
    made.session.background.spawn = lambda *_: None  # pyright: ignore[reportAttributeAccessIssue]
    return made


def raw(kind: object, fields: dict[str, object], rows: object = ()) -> bytes:
    """A message as a hostile page would write it: with Infinity and NaN."""
    text = json.dumps({**fields, "kind": kind, "arrays": list(rows)}).encode()  # pyright: ignore[reportCallIssue, reportArgumentType]
    return struct.pack("<I", len(text)) + text + bytes(64)


def fuzzed(dice: random.Random) -> bytes:
    kind = dice.choice([*MESSAGES, "dance", "", 7])
    message = MESSAGES.get(kind) if isinstance(kind, str) else None
    names = [*message.fields, *message.optional] if message else ["what"]
    fields = {name: dice.choice(NASTY) for name in names if dice.random() < 0.85}
    if kind == "change" and dice.random() < 0.8:
        fields["path"] = dice.choice(PATHS)
    rows = [
        [
            name,
            dice.choice([dtype, "float32", "uint8", 3]),
            dice.choice([[2], [2, 1], [9**9], "x"]),
            0,
        ]
        for name, dtype in (message.arrays if message else {}).items()
        if dice.random() < 0.8
    ]
    return raw(kind, fields, rows) if dice.random() < 0.97 else dice.randbytes(dice.randrange(40))


def test_a_thousand_fuzzed_messages_leave_the_tab_alive(visitor: Visitor):
    """None ends the session, and none is taken for a fault: all are refused or done, and then
    a frame can be shown."""
    dice, actions, session = random.Random(23), all_actions(), visitor.session
    heard = len(visitor.heard)
    for number in range(1000):
        session.handle(_packet(fuzzed(dice)), actions)
        if number % 10 == 0:
            session.tick()
            session._seen = session._sent
    refused = [
        str(packet.fields["why"]) for packet in visitor.heard[heard:] if packet.kind == "refused"
    ]
    assert len(refused) > 500
    assert [why for why in refused if "fault" in why] == []
    for packet in visitor.heard[heard:]:
        packet.encode()
    session.background.close()
    session.background = Background(session._refused)
    session.apply(replace(Document(views=(View("lbs"),)), playing=True))
    del visitor.heard[:]
    session.open()
    session.tick()
    assert visitor.said("frame")


@pytest.mark.parametrize("word", ["Infinity", "NaN", "-Infinity"])
def test_numbers_that_json_has_not_are_refused(word: str):
    text = f'{{"kind": "seek", "place": {word}}}'.encode()
    with pytest.raises(FormatError):
        decode(struct.pack("<I", len(text)) + text)


@pytest.mark.parametrize("place", [float("inf"), [1], "soon", None, True, 10**400])
def test_fields_have_their_types(place: object):
    with pytest.raises(InputError, match="place of message 'seek'"):
        require_message(Packet("seek", {"place": place}), all_actions())


def test_missing_unknown_and_badly_typed_parts_are_named():
    actions = all_actions()
    few, odd = np.zeros(2, np.uint32), np.full(2, np.nan, np.float32)
    for packet, words in [
        (Packet("seek"), "lacks its field 'place'"),
        (Packet("undo", {"place": 1}), "unknown field 'place'"),
        (Packet("paint", {}, {"vertices": few}), "factors of message 'paint' is nothing"),
        (Packet("paint", {}, {"vertices": few, "factors": odd}), "not finite"),
        (Packet("grab", {"view": 0, "vertices": [0], "point": [0, 0, 0]}), "expected a list of 3"),
        (Packet("change", {"path": [0], "value": 1}), "begins with"),
    ]:
        with pytest.raises(InputError, match=words):
            require_message(packet, actions)


def test_every_action_has_its_message_and_every_message_its_action():
    assert set(all_actions()) | {"seen"} == set(MESSAGES)


def test_documents_with_infinities_and_bad_indices_are_refused():
    """Such a session file once ended the tab: −5 became an index, 1e999 an infinity."""
    with pytest.raises(InputError, match="finite"):
        read_document(b'{"speed": 1e999}')
    with pytest.raises(InputError, match="against"):
        parse({"colour": {"against": -5}})
    with pytest.raises(InputError, match="finite"):
        parse({"colour": {"most": 10**400}})


def test_a_joint_that_is_none_is_refused_at_once(visitor: Visitor):
    visitor.ask("change", path=["colour"], value={"what": "weight", "joint": "tail"})
    assert "no joint 'tail'" in visitor.last_refusal
    assert visitor.session.document.colour == ColourChoice()


def test_a_fault_while_showing_is_told_and_the_last_picture_comes_back(
    visitor: Visitor, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    """`tick` once let everything through: a fault in a frame ended the tab without a word."""
    session = visitor.session
    visitor.ask("change", path=["colour", "what"], value="skin")
    session._seen = session._sent
    session.tick()
    good = session._shown
    visitor.ask("change", path=["colour", "what"], value="strain")

    def broken(*_: object) -> None:
        raise ZeroDivisionError("strain of nothing")

    monkeypatch.setattr("corporeal.viewer.colouring.SkinStrain.at_vertices", broken)
    session._next, session._seen = 0.0, session._sent
    session.tick()
    assert "ZeroDivisionError (strain of nothing)" in visitor.last_refusal
    assert "strain of nothing" in capsys.readouterr().err
    assert session.document == replace(good, playing=False)
    session._dirty, session._next, session._seen = True, 0.0, session._sent
    before = len(visitor.said("frame"))
    session.tick()
    assert len(visitor.said("frame")) == before + 1


def refused_work() -> Packet:
    raise LookupError("nobody thought of this")


def test_a_fault_in_a_job_is_told_by_name():
    """A child once died with a traceback of its own and left "exit code 1" behind."""
    job = JobProcess(Job(refused_work, ()))
    while (answer := job.poll()) is None:
        pass
    assert "LookupError (nobody thought of this)" in str(answer.fields["why"])


class _Process:
    """A job that never ends."""

    alone, progress = False, ""

    def __init__(self, job: Job) -> None:
        pass

    def poll(self) -> None:
        return None

    def kill(self) -> None:
        pass


def test_forgetting_a_name_takes_no_other_file_away(tmp_path: Path):
    """A name from a page once led to any `.npy` file: it was joined to the folder and removed."""
    uploads = Uploads(tmp_path / "tab")
    other = tmp_path / "precious.npy"
    other.write_bytes(b"mine")
    uploads.forget("../precious")
    assert other.exists()


def test_many_uploads_make_few_processes(monkeypatch: pytest.MonkeyPatch):
    """Sixty-four uploads once made sixty-four processes; now others wait, and too many are
    refused."""
    monkeypatch.setattr("corporeal.viewer.background.JobProcess", _Process)
    background = Background(lambda *_: None)
    job = Job(refused_work, ())
    for number in range(64):
        background.spawn(f"file {number}", job, lambda _: None)
    assert background.process_count == MOST_PROCESSES
    assert len(background.busy) == 64
    background.cancel("file 0")
    background.poll()
    assert background.process_count == MOST_PROCESSES
    for number in range(MOST_WAITING - len(background.busy) + MOST_PROCESSES):
        background.spawn(f"more {number}", job, lambda _: None)
    with pytest.raises(InputError, match="jobs wait already"):
        background.spawn("one more", job, lambda _: None)
    background.close()
    assert background.busy == ()


def test_a_session_file_brings_its_files(visitor: Visitor, tmp_path: Path):
    """One file holds the document and what it names; hostile ones are refused."""
    from corporeal.viewer.jobs.bundle import unpacked, written

    take = tmp_path / "walk.bvh"
    take.write_bytes(b"HIERARCHY\n")
    written(tmp_path / "session.zip", {"motion": {"name": "walk.bvh"}}, {"walk.bvh": take})
    answer = unpacked(tmp_path / "session.zip")
    assert answer.fields["files"] == ["walk.bvh"]
    assert answer.fields["document"] == {"motion": {"name": "walk.bvh"}}
    found = Path(str(answer.fields["folder"])) / "walk.bvh"
    assert found.read_bytes() == take.read_bytes()
    written(tmp_path / "evil.zip", {}, {"../evil.bvh": take})
    with pytest.raises(FormatError, match="evil"):
        unpacked(tmp_path / "evil.zip")
    (tmp_path / "none.zip").write_bytes(b"PK\x03\x04 nothing")
    with pytest.raises(FormatError, match="no session file"):
        unpacked(tmp_path / "none.zip")


def test_a_page_that_comes_back_is_told_everything_again(tmp_path: Path):
    """After a reload the same session answers: with the document as it was, and not as a fresh
    one; while nobody looks, nothing moves."""
    visitor = Visitor(tmp_path)
    session = visitor.session
    session.open()
    assert visitor.said("catalogue")[-1].fields["fresh"]
    visitor.ask("change", path=["body", "sliders", "weight"], value=0.8)
    session.leave()
    place = session.stage.playhead.place
    for _ in range(5):
        session.tick()
    assert session.stage.playhead.place == place
    del visitor.heard[:]
    session.open()
    kinds = [packet.kind for packet in visitor.heard]
    assert {"catalogue", "model", "person", "document", "files"} <= set(kinds)
    assert not visitor.said("catalogue")[-1].fields["fresh"]
    assert visitor.said("document")[-1].fields["document"]["body"]["sliders"] == {"weight": 0.8}
    visitor.ask("restore", document=visitor.said("document")[-1].fields["document"])
    assert session.document.body.sliders == {"weight": 0.8}
    session.background.close()
