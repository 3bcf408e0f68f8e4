"""Poses of the person's own: keys within the joints' limits, and the motion between them."""

from pathlib import Path

import numpy as np
import pytest
from studio_session import Visitor

from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.viewer.command_line import command_lines
from corporeal.viewer.document import Document, as_json, changed, parse
from corporeal.viewer.posing import POSES, Key, eased, posed, read_keys, turn_limits


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{"turns": {"left_knee": [3.0, 0.0, 0.0]}}], "left_knee is turned by 172° about x"),
        ([{"turns": {"tail": [0.0, 0.0, 0.0]}}], "no joint 'tail'"),
        ([{"turns": {"left_knee": [0.0, 0.0]}}], "three numbers"),
        ([{"turns": {"left_knee": [float("inf"), 0.0, 0.0]}}], "three numbers"),
        ([{"seconds": -1.0}], "expected 0 to"),
        ([{}, {}], "at the same time"),
        ([{}] * 65, "at most 64"),
        ("keys", "no list"),
    ],
)
def test_keys_that_cannot_be_are_refused(rows: object, words: str):
    with pytest.raises(InputError, match=words):
        read_keys(rows)


def test_the_motion_goes_through_its_keys():
    """At a key it has the key's turns; half-way in time it is half-way about the one axis, as
    3 x² − 2 x³ is ½ there; and the lowest joint is as high as at rest, sitting down included."""
    model = PhenotypeModel()
    identity = model.prepare({})
    bent = {"left_knee": (1.5, 0.0, 0.0), "right_knee": (1.5, 0.0, 0.0)}
    bent |= {"left_hip": (-1.4, 0.0, 0.0), "right_hip": (-1.4, 0.0, 0.0)}
    motion = posed([Key(), Key(1.0, bent), Key(3.0)], identity, model.template, 60.0)
    assert motion.frame_count == 181
    knee = motion.skeleton.index("left_knee")
    turns = np.asarray(motion.joint_rotations)[:, knee, 0]
    np.testing.assert_allclose(turns[[0, 30, 60, 180]], [0.0, 0.75, 1.5, 0.0], atol=1e-9)
    joints = np.asarray(identity.joints, np.float64)
    for frame in (0, 60, 180):
        placed = forward_kinematics(
            np.asarray(motion.joint_rotations)[frame],
            joints,
            model.template.skeleton.parents,
            np.asarray(motion.root_translation)[frame],
        )
        assert placed[:, 1, 3].min() == pytest.approx(joints[:, 1].min(), abs=1e-6)


def test_times_between_keys_are_eased():
    """0 before the first key, and 1 + 3/16 − 2/64 a quarter of the way from the second on."""
    found = eased(np.array([0.0, 1.0, 2.25, 9.0]), np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(found, [0.0, 0.0, 1.0 + 3 / 16 - 2 / 64, 2.0])


def test_limits_of_right_and_left_are_mirrored():
    limits = turn_limits()
    (_, low_y, _), (_, high_y, _) = limits["left_elbow"]
    (_, other_low, _), (_, other_high, _) = limits["right_elbow"]
    assert (low_y, high_y) == (-other_high, -other_low)


def test_keys_are_part_of_the_document():
    document = parse({"keys": [{"seconds": 1.0, "turns": {"head": [0.2, 0.0, 0.0]}}]})
    assert parse(as_json(document)) == document
    document = changed(document, ["keys", 0, "turns", "head"], [0.1, 0.0, 0.0])
    assert document.keys[0].turns["head"] == (0.1, 0.0, 0.0)
    named = changed(document, ["motion", "name"], POSES)
    assert "--motion motion.npz" in command_lines(named)[0]
    assert Document().keys == ()


def test_a_pose_is_taken_and_turned(tmp_path: Path):
    """What is shown becomes a key; turning a joint moves the skin at once, before the gesture's
    end."""
    visitor = Visitor(tmp_path)
    session = visitor.session
    visitor.ask("seek", place=60)
    shown = np.asarray(session.stage.moment.pose.joint_rotations)
    visitor.ask("take pose")
    visitor.settle()
    assert session.document.motion.name == POSES
    assert not session.document.playing
    session.stage.seek(0.0)
    limits = turn_limits()
    low, high = (
        np.array([limits[n][k] for n in session.model.template.skeleton.names]) for k in (0, 1)
    )
    now = np.asarray(session.stage.moment.pose.joint_rotations)
    np.testing.assert_allclose(now, np.clip(shown, low, high), atol=1e-6)
    before = session.stage.players[0].skin.copy()
    path = ["keys", 0, "turns", "left_elbow"]
    visitor.ask("change", path=path, value=[0.0, -1.0, 0.0], final=False)
    assert np.abs(session.stage.players[0].skin - before).max() > 0.05
    visitor.ask("change", path=path, value=[0.0, 3.0, 0.0])
    assert "left_elbow is turned by 172° about y" in visitor.last_refusal
    session.background.close()
