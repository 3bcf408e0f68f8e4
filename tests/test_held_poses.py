"""Poses hold what their names say, on the average adult's skeleton."""

import numpy as np
import pytest

from corporeal.body.pose import Pose
from corporeal.capture.clearance import capsules_of
from corporeal.evaluation.held_anchors import APART, AnchorHealth, nearest_limbs
from corporeal.evaluation.held_poses import HELD_POSES, SHEET, joint_rotations, mirror_pose
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.skinning.kinematics import forward_kinematics

MODEL = PhenotypeModel()
TEMPLATE = MODEL.template
SKELETON = TEMPLATE.skeleton
REST = np.asarray(SKELETON.joints, np.float64)


def frames(name: str):
    """World frames of all joints, by joint name."""
    rotations = joint_rotations(SKELETON, SHEET[name])
    moved = forward_kinematics(rotations, REST, SKELETON.parents, np.zeros(3))
    return dict(zip(SKELETON.names, moved, strict=True))


def place(found, joint: str):
    return found[joint][:3, 3]


def test_hands_on_hips_are_on_the_hips():
    """Wrists within a hand's breadth (9 cm) of the trunk, under the ribs, elbows wider out."""
    found = frames("hands-on-hips")
    labels = np.asarray(TEMPLATE.part_names)[TEMPLATE.part_labels]
    trunk = np.asarray(TEMPLATE.mesh.vertices)[np.isin(labels, ["hips", "belly", "back"])]
    for side in ("left", "right"):
        wrist, elbow = place(found, f"{side}_wrist"), place(found, f"{side}_elbow")
        assert np.linalg.norm(trunk - wrist, axis=1).min() < 0.09
        assert REST[SKELETON.index("left_hip"), 1] < wrist[1] < elbow[1]
        assert abs(elbow[0]) > abs(wrist[0]) + 0.1


def test_crossed_arms_cross_before_the_chest():
    """Each wrist is beyond the midline or on it, before the trunk, between navel and shoulders."""
    found = frames("arms-crossed")
    low, high = (REST[SKELETON.index(name), 1] for name in ("spine1", "left_shoulder"))
    for side, sign in (("left", 1.0), ("right", -1.0)):
        wrist = place(found, f"{side}_wrist")
        assert sign * wrist[0] < 0.02
        assert wrist[2] > 0.14
        assert low + 0.05 < wrist[1] < high


@pytest.mark.parametrize("name", ["deep-squat", "sitting"])
def test_standing_soles_are_level(name: str):
    """Turns about x from pelvis to ankle cancel: to 1°, since the splay of the hips mixes in."""
    found = frames(name)
    for side in ("left", "right"):
        tilt = np.arctan2(found[f"{side}_ankle"][2, 1], found[f"{side}_ankle"][1, 1])
        assert abs(tilt) < np.radians(1.0)


def test_kneeling_shanks_lie_on_the_ground():
    """Knee and ankle are level to 3 cm."""
    found = frames("kneeling")
    for side in ("left", "right"):
        assert abs(place(found, f"{side}_knee")[1] - place(found, f"{side}_ankle")[1]) < 0.03


def test_a_toe_touch_stands_on_straight_legs_and_reaches_down():
    """Hip over ankle as at rest, wrists nearer to the toes than to the knees."""
    found = frames("toe-touch")
    for side in ("left", "right"):
        hip, knee, ankle, foot, wrist = (
            place(found, f"{side}_{joint}") for joint in ("hip", "knee", "ankle", "foot", "wrist")
        )
        rest = REST[SKELETON.index(f"{side}_hip")] - REST[SKELETON.index(f"{side}_ankle")]
        np.testing.assert_allclose(hip - ankle, rest, atol=1e-9)
        assert np.linalg.norm(wrist - foot) < np.linalg.norm(wrist - knee)


def test_forty_poses_know_their_joints_and_mirror_twice_to_themselves():
    assert len(HELD_POSES) == 40
    for pose in HELD_POSES.values():
        assert np.isfinite(joint_rotations(SKELETON, pose)).all()
        assert mirror_pose(mirror_pose(pose)) == pose


def test_no_held_pose_asks_for_bones_through_bones():
    """Middle lines of limbs are apart by a share of their radii that hard anchors fit between.
    (Wrists, forearms and shins of six poses went right through each other.)"""
    capsules = capsules_of(TEMPLATE, MODEL.prepare())
    for name, pose in HELD_POSES.items():
        nearest = nearest_limbs(capsules, SKELETON, joint_rotations(SKELETON, pose))
        assert nearest.share >= APART, f"{name}: {nearest}"


def test_nearest_limbs_are_told_by_name_and_distance():
    """Both thighs turned inwards by the same angle φ: their middle lines meet, and the capsules say
    at which joints they begin; in the zero pose hips are nearest, as far apart as their joints."""
    capsules = capsules_of(TEMPLATE, MODEL.prepare())
    hips = [REST[SKELETON.index(f"{side}_hip")] for side in ("left", "right")]
    zero = nearest_limbs(capsules, SKELETON, joint_rotations(SKELETON, {}))
    assert zero.names == ("left_hip", "right_hip")
    assert zero.distance == pytest.approx(np.linalg.norm(hips[0] - hips[1]), abs=1e-9)
    inwards = {"left_hip": (0.0, 0.0, -0.4), "right_hip": (0.0, 0.0, 0.4)}
    assert nearest_limbs(capsules, SKELETON, joint_rotations(SKELETON, inwards)).share < 1e-6


def test_hard_anchors_are_seen_to_cross_where_bones_do():
    """Knees turned inwards until shins pass through each other: anchors cross; as the body stands
    none does, and none is inside out."""
    simulation = ProjectiveSimulation(TEMPLATE)
    body = simulation.body(MODEL.prepare())
    health = AnchorHealth(body)
    inwards = {"left_hip": (0.0, 0.0, -0.4), "right_hip": (0.0, 0.0, 0.4)}
    for pose, crosses in (({}, False), (inwards, True)):
        frames = body.frames(Pose(joint_rotations(SKELETON, pose), np.zeros(3)))
        assert (health.crossings(frames) > 0) == crosses
        assert health.inverted(frames) == 0
