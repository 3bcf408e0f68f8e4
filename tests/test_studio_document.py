"""The studio's document: checked whole, changed by paths, the same in a file."""

import json

import pytest

from corporeal.errors import InputError
from corporeal.viewer.command_line import command_lines
from corporeal.viewer.document import (
    MOST_SIZE,
    BodyChoice,
    Document,
    MotionChoice,
    View,
    as_json,
    changed,
    parse,
    read_document,
)


def test_a_document_survives_its_session_file():
    document = Document(
        body=BodyChoice({"weight": 0.7}, {}, {"mass": 80.0}),
        motion=MotionChoice("hips", 6.0, 3, "in-place"),
        views=(View("dqs"), View("projective", {"stiffness": 2e4})),
        painted={"12": 0.5},
        speed=0.25,
    )
    assert read_document(json.dumps(as_json(document)).encode()) == document


@pytest.mark.parametrize(
    ("path", "value"),
    [
        (["body", "sliders", "weight"], 0.9),
        (["motion", "root"], "fixed"),
        (["views", 1, "controls", "stiffness"], 3e4),
        (["views"], [{"deformer": "dqs", "controls": {}}]),
        (["colour", "what"], "strain"),
        (["speed"], 0.5),
        (["look", "skeleton"], True),
    ],
)
def test_a_change_reaches_its_place_and_no_other(path: list[str | int], value: object):
    before = as_json(Document())
    after = as_json(changed(Document(), path, value))
    place = after
    for word in path[:-1]:
        place = place[word]
    assert place[path[-1]] == value
    first = path[0]
    assert {k: v for k, v in after.items() if k != first} == {
        k: v for k, v in before.items() if k != first
    }


def test_none_takes_a_named_number_away():
    document = changed(Document(), ["body", "sliders", "weight"], 0.9)
    assert changed(document, ["body", "sliders", "weight"], None) == Document()


@pytest.mark.parametrize(
    ("path", "value", "word"),
    [
        (["body", "sliders", "weight"], "heavy", "finite number"),
        (["body", "sliders", "weight"], float("nan"), "finite number"),
        (["body", "nose"], {}, "no nose"),
        (["nowhere"], 1, "no nowhere"),
        (["motion", "root"], "loose", "free, in-place, fixed"),
        (["motion", "duration"], 1e9, "2 to 600"),
        (["views"], [], "1 to 4"),
        (["views"], [{"deformer": "lbs"}] * 5, "1 to 4"),
        (["views", 0], {"deformer": "magic"}, "no deformer 'magic'"),
        (["views", 0], {"deformer": "lbs", "controls": {"stiffness": 1e4}}, "no control"),
        (["views", 1, "controls", "stiffness"], 1.0, "1000 to"),
        (["views", 7, "deformer"], "lbs", "leads nowhere"),
        (["playing"], 1, "expected bool"),
        (["speed"], 100.0, "0.05 to 4"),
        ([], 1, "leads nowhere"),
    ],
)
def test_what_does_not_fit_is_refused(path: list, value: object, word: str):
    with pytest.raises(InputError, match=word):
        changed(Document(), path, value)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"[]",
        b"{",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"views": 3}',
        b"1e999",
        b" " * (MOST_SIZE + 1),
    ],
    ids=["empty", "list", "cut", "bytes", "deep", "wrong kind", "number", "huge"],
)
def test_broken_session_files_are_refused(content: bytes):
    with pytest.raises(InputError):
        read_document(content)


def test_parse_takes_what_as_json_gives():
    assert parse(as_json(Document())) == Document()


def test_commands_say_what_was_chosen():
    document = Document(
        body=BodyChoice({"gender": 0.0, "age": 30.0, "weight": 0.6}, {}, {"stature": 1.7}),
        motion=MotionChoice("hips", seed=4),
        views=(View("projective", {"stiffness": 2e4}),),
    )
    assert command_lines(document) == [
        "corporeal body --gender 0 --age 30 --stature 1.7 --out body.npz",
        "corporeal animate --body body.npz --motion hips --seed 4 --deformer projective "
        "--stiffness 20000 --out take.glb",
    ]
    assert command_lines(Document(views=(View("lbs"), View("dqs")))) == [
        "corporeal animate --motion jumping-jacks --deformer lbs --out take-1.glb",
        "corporeal animate --motion jumping-jacks --deformer dqs --out take-2.glb",
    ]
