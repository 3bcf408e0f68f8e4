"""Hands at rest: fingers beside each other, bent towards the palm, within the joints' limits."""

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.motions.library import make_motion
from corporeal.motions.limits import joint_limits, limit_excess
from corporeal.motions.relaxed_hands import CURL, SPREAD, relaxed_hands
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.skinning.linear import LinearBlendSkinning

FINGERS = tuple(CURL)


@pytest.fixture(scope="module")
def skeleton():
    return load_default_body().template.skeleton


def directions(skeleton, rotations, side, knuckle):
    """Unit vectors along the bones of the four fingers in the world, hand in its T-pose."""
    joints = np.asarray(skeleton.joints, np.float64)
    frames = forward_kinematics(rotations, joints, skeleton.parents, np.zeros(3))[:, :3, :3]
    found = []
    for finger in FINGERS:
        here, after = (skeleton.index(f"{side}_{finger}{k}") for k in (knuckle, knuckle + 1))
        bone = frames[here] @ (joints[after] - joints[here])
        found.append(bone / np.linalg.norm(bone))
    return np.array(found)


@pytest.mark.parametrize("side", ["left", "right"])
def test_fingers_lie_beside_each_other(skeleton, side):
    """The yaw of each first bone from the hand's own is `SPREAD` of the T-pose's, to within what
    bending about a tilted axis changes: nothing, since the axis is square to the bone."""
    rest = directions(skeleton, np.zeros((skeleton.joint_count, 3)), side, 1)
    relaxed = directions(skeleton, relaxed_hands(skeleton), side, 1)
    joints = np.asarray(skeleton.joints, np.float64)
    hand = joints[skeleton.index(f"{side}_middle1")] - joints[skeleton.index(f"{side}_wrist")]

    def yaws(bones):
        angle = np.arctan2(bones[:, 2], bones[:, 0]) - np.arctan2(hand[2], hand[0])
        return (angle + np.pi) % (2 * np.pi) - np.pi

    np.testing.assert_allclose(yaws(relaxed), SPREAD * yaws(rest), atol=1e-6)


@pytest.mark.parametrize("side", ["left", "right"])
def test_fingers_bend_towards_the_palm_by_the_stated_angles(skeleton, side):
    """The T-pose's palms look down: after k knuckles a level bone points down by their sum."""
    for knuckle in (1, 2):
        bones = directions(skeleton, relaxed_hands(skeleton), side, knuckle)
        wanted = [-np.sin(sum(CURL[finger][:knuckle])) for finger in FINGERS]
        np.testing.assert_allclose(bones[:, 1], wanted, atol=0.01)


def test_both_hands_are_mirrored_and_nothing_else_moves(skeleton):
    """Mirroring in x = 0 keeps the x component of a rotation vector and turns y and z around."""
    rotations = relaxed_hands(skeleton)
    for index, name in enumerate(skeleton.names):
        if name.startswith("left_") and name[-1] in "123" and "spine" not in name:
            twin = rotations[skeleton.index(name.replace("left_", "right_"))]
            np.testing.assert_allclose(rotations[index] * [1, -1, -1], twin, atol=1e-4)
        elif not name.startswith("right_"):
            assert not rotations[index].any(), name


def test_limits_are_kept(skeleton):
    low, high = joint_limits(skeleton.names)
    rotations = relaxed_hands(skeleton)
    assert np.all(rotations >= low)
    assert np.all(rotations <= high)


def test_authored_motions_start_with_hands_at_rest(skeleton):
    """Within the envelope fingers move by themselves; before it they are at rest."""
    template = load_default_body().template
    identity = Identity(template.mesh.vertices, skeleton.joints, {})
    motion = make_motion("hips", identity, template, fps=10.0, duration=2.0)
    fingers = [skeleton.index(f"left_{finger}{k}") for finger in FINGERS for k in (1, 2, 3)]
    wanted = relaxed_hands(skeleton)[fingers]
    np.testing.assert_allclose(motion.joint_rotations[0][fingers], wanted, atol=1e-6)


def test_no_skin_is_folded_into_skin(skeleton):
    """The web between thumb and index finger was, 3 mm deep, with a thumb that lay further in."""
    template = load_default_body().template
    rest = np.asarray(template.mesh.vertices, np.float64)
    identity = Identity(rest, np.asarray(skeleton.joints, np.float64), {})
    pose = Pose(relaxed_hands(skeleton), np.zeros(3))
    posed = np.asarray(LinearBlendSkinning(template).vertices(identity, pose), np.float64)
    depths = PenetrationMeter(rest, np.asarray(template.mesh.triangles)).depths(posed)
    assert depths.max() < 2e-4


def test_fists_close_as_far_as_limits_let_them(skeleton):
    template = load_default_body().template
    identity = Identity(template.mesh.vertices, skeleton.joints, {})
    motion = make_motion("punching", identity, template, fps=30.0, duration=2.0)
    assert np.degrees(limit_excess(motion)).max() < 1e-6
    middle = motion.joint_rotations[:, skeleton.index("left_middle2"), 2]
    assert np.degrees(middle.min()) < -65
