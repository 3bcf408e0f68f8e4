"""Parts of the studio's session: time, numbers on the skin, hands, bytes."""

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.errors import InputError
from corporeal.evaluation.skin_strain import triangle_strains
from corporeal.viewer.background import Background
from corporeal.viewer.colouring import Colouring, SkinStrain, painted_map
from corporeal.viewer.document import ColourChoice
from corporeal.viewer.frames import quantised
from corporeal.viewer.hands import take
from corporeal.viewer.players import Moment, TakePlayer
from corporeal.viewer.playhead import Playhead, rooted


@pytest.fixture(scope="module")
def template():
    return load_default_body().template


def turning(template, count: int = 61, fps: float = 60.0) -> Motion:
    """An elbow that turns steadily, 0.01 rad a frame, while the root goes 1 cm a frame."""
    joints = template.skeleton.joint_count
    rotations, way = np.zeros((count, joints, 3)), np.zeros((count, 3))
    rotations[:, 18, 1] = rotations[:, 0, 1] = 0.01 * np.arange(count)
    way[:, 0] = way[:, 1] = 0.01 * np.arange(count)
    return Motion("turning", fps, rotations, way, template.skeleton)


def test_a_pose_between_frames_lies_between_them(template):
    """A steady turn is a great circle: at place 2.5 it has gone 0.025 rad, and the root 2.5 cm."""
    head = Playhead(turning(template))
    head.seek(2.5)
    assert head.pose().joint_rotations[18, 1] == pytest.approx(0.025, abs=1e-12)
    assert head.pose().root_translation[0] == pytest.approx(0.025, abs=1e-12)


def test_a_loop_wraps_and_a_single_take_ends(template):
    """60 frames: from 59.5 a step leads to 0.5 over the seam, or to the end, which it tells."""
    head = Playhead(turning(template))
    head.seek(59.5)
    assert head.step(1.0, loop=True)
    assert (head.place, head.wrapped) == (pytest.approx(0.5), True)
    head.seek(59.5)
    assert not head.step(1.0, loop=False)
    assert head.place == 60.0


def test_motions_of_any_rate_last_as_long(template):
    head = Playhead(turning(template, count=31, fps=30.0))
    assert head.last == 60.0


def test_the_root_is_free_in_place_or_held(template):
    motion = turning(template)
    assert rooted(motion, "free") is motion
    there = rooted(motion, "in-place")
    np.testing.assert_array_equal(there.root_translation[:, 0], 0.0)
    np.testing.assert_array_equal(there.root_translation[:, 1], motion.root_translation[:, 1])
    held = rooted(motion, "fixed")
    assert not held.root_translation.any()
    assert not held.joint_rotations[:, 0].any()
    np.testing.assert_array_equal(held.joint_rotations[:, 1:], motion.joint_rotations[:, 1:])


def test_quantised_positions_are_within_half_a_step():
    skin = np.random.default_rng(0).normal(size=(500, 3)).astype(np.float32)
    packed = quantised(skin)
    back = np.array(packed.origin) + packed.step * packed.numbers
    single = 1e-6  # rounding of positions of a few metres in single precision
    assert np.abs(back - skin).max() <= 0.5 * packed.step + single
    assert packed.step <= (skin.max(axis=0) - skin.min(axis=0)).max() / 65535 * 1.001


def test_a_single_point_can_be_quantised():
    packed = quantised(np.full((1, 3), 2.0, np.float32))
    assert packed.origin == (2.0, 2.0, 2.0)


def test_strain_is_that_of_the_evaluation(template):
    """Against the singular values of `evaluation.skin_strain`, averaged at corners."""
    rest = np.asarray(template.mesh.vertices, np.float32)
    triangles = template.mesh.triangles
    noise = np.random.default_rng(1).normal(scale=5e-4, size=rest.shape)
    moved = (rest * [1.1, 1.0, 0.95] + noise).astype(np.float32)
    strains = triangle_strains(rest, moved, triangles)
    count = np.bincount(triangles.ravel(), minlength=len(rest))
    expected = np.bincount(triangles.ravel(), np.repeat(strains, 3), len(rest)) / count
    found = SkinStrain(rest, triangles).at_vertices(moved)
    # single precision: edges of 2 mm and more at 2 m have relative errors of 1e-4; σ ≈ √ of it
    assert np.abs(found - expected).max() < 0.02
    assert np.median(np.abs(found - expected)) < 1e-4


def test_colours_show_what_they_say(template):
    """Skin moved by 3 mm is 3 mm off, at 3/40 of the scale; weights are the template's."""
    identity = Identity(template.mesh.vertices, template.skeleton.joints, {})
    skin = np.asarray(template.mesh.vertices, np.float32)
    away = skin + np.float32([0.0, 0.003, 0.0])
    colours = Colouring(ColourChoice("offset"), template, identity, {})
    values = colours.values(away, skin, skin)
    np.testing.assert_allclose(values, 3.0, atol=1e-3)
    np.testing.assert_array_equal(colours.shades(values), round(255 * 3 / 40))
    weights = Colouring(ColourChoice("weight", joint="left_knee"), template, identity, {})
    joint = template.skeleton.index("left_knee")
    np.testing.assert_allclose(
        weights.values(skin, skin, skin), template.weights.dense()[:, joint], atol=1e-6
    )
    painted = Colouring(ColourChoice("stiffness"), template, identity, {"5": 10.0})
    assert painted.values(skin, skin, skin)[[4, 5]].tolist() == [0.0, 1.0]


def test_paint_is_a_factor_a_vertex():
    factors = painted_map({"1": 0.5}, 3)
    assert factors is not None
    assert factors.tolist() == [1.0, 0.5, 1.0]
    assert painted_map({}, 3) is None
    for word in ("3", "-1", "x", "1" * 30):
        with pytest.raises(InputError, match="was painted"):
            painted_map({word: 0.5}, 3)


def test_a_hand_takes_a_patch_and_draws_it_as_one(template):
    """Fingers lie within reach and apart; their targets keep their places around the point."""
    skin = np.asarray(template.mesh.vertices, np.float32)
    corner = int(template.part("belly")[0])
    triangle = template.mesh.triangles[(template.mesh.triangles == corner).any(axis=1)][0]
    point = skin[triangle].mean(axis=0).astype(np.float64)
    hand = take(skin, np.asarray(triangle, np.int64), point)
    assert 2 <= len(hand.vertices) <= 8
    assert len(set(hand.vertices.tolist())) == len(hand.vertices)
    assert np.linalg.norm(hand.offsets, axis=1).max() < 0.035
    pull = np.array([0.0, 0.0, 0.1])
    drawn = hand.drawn(point + pull)
    for grab, offset in zip(drawn.grabs(), hand.offsets, strict=True):
        np.testing.assert_allclose(grab.target, point + offset + pull)
    with pytest.raises(InputError, match="were touched"):
        take(skin, np.array([0, 1, len(skin)]), point)


def test_a_take_goes_by_time():
    frames = np.arange(4, dtype=np.float32)[:, None, None] * np.ones((4, 2, 3), np.float32)
    player = TakePlayer(frames, 10.0)
    pose = Pose(np.zeros((1, 3)), np.zeros(3))
    for seconds, frame in ((0.0, 0), (0.11, 1), (0.26, 3), (9.0, 3)):
        player.jump(Moment(pose, seconds))
        assert player.skin[0, 0] == frame


def test_the_newest_wish_wins_and_failures_are_told():
    refused: list[tuple[str, str]] = []
    background = Background(lambda name, why: refused.append((name, why)))
    found: list[int] = []

    def refuse() -> int:
        raise InputError("no such body.")

    background.start("body", lambda: 1, found.append)
    background.start("body", lambda: 2, found.append)
    background.start("other", refuse, found.append)
    background.start("gone", lambda: 3, found.append)
    background.cancel("gone")
    while background.busy:
        background.poll()
    background.close()
    assert found == [2]
    assert refused == [("other", "no such body.")]
