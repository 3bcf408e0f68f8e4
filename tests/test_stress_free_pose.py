"""Flesh that is free of stress as the body was sculpted: that pose, the way back, the shape."""

from dataclasses import replace

import numpy as np
import pytest
import synthetic

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.repose import Repose
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.physics.fast_projective_skinning.controls import ProjectiveControls, StressFree
from corporeal.physics.fast_projective_skinning.simulation import ProjectiveSimulation
from corporeal.physics.stress_free_pose import stress_free_pose

ROUNDING = 1e-12
"""Metres: a few float64 steps at the size of a body, over matrices of condition 1.1."""
BALANCE = 1e-5
"""Metres that a static shape may still move in a round of iterations."""
MODEL = PhenotypeModel()
TEMPLATE = MODEL.template
SKELETON = TEMPLATE.skeleton


def known_repose() -> Repose:
    assert TEMPLATE.repose is not None
    return TEMPLATE.repose


def sculpted_skin(identity: Identity) -> np.ndarray:
    rest, joints = (
        np.asarray(part, np.float64) for part in (identity.rest_vertices, identity.joints)
    )
    return known_repose().sculpted_vertices(rest, joints)


def test_the_way_back_undoes_the_repose():
    """Any skin and joints, sent to the T-pose, come back: both maps are linear."""
    repose, random = known_repose(), np.random.default_rng(3)
    joints = random.normal(size=(SKELETON.joint_count, 3))
    skin = random.normal(size=(TEMPLATE.mesh.vertex_count, 3))
    there, centres = repose.vertices(skin, joints), repose.joints(joints)
    np.testing.assert_allclose(repose.sculpted_joints(centres), joints, atol=10 * ROUNDING)
    np.testing.assert_allclose(repose.sculpted_vertices(there, centres), skin, atol=10 * ROUNDING)


def test_the_sculpted_pose_is_a_pose_of_the_skeleton():
    """Forward kinematics puts the joints where the way back does; elbows are bent by 43°."""
    joints = np.asarray(SKELETON.joints, np.float64)
    skeleton = Skeleton(SKELETON.names, SKELETON.parents, joints)
    pose = stress_free_pose(skeleton, TEMPLATE.repose)
    expected = known_repose().sculpted_joints(joints)
    np.testing.assert_allclose(pose.skeleton.joints, expected, atol=ROUNDING)
    elbow = pose.pose.joint_rotations[SKELETON.index("left_elbow")]
    assert np.degrees(np.linalg.norm(elbow)) == pytest.approx(42.9, abs=0.1)


def test_its_own_frames_are_without_rotation():
    """Told from the stress-free pose it is the pose at zero; the zero pose is turned back."""
    skeleton = replace(SKELETON, joints=np.asarray(SKELETON.joints, np.float64))
    pose = stress_free_pose(skeleton, TEMPLATE.repose)
    frames = pose.frames(pose.pose)
    np.testing.assert_allclose(frames[:, :3, :3] - np.eye(3), 0.0, atol=ROUNDING)
    np.testing.assert_allclose(frames[:, :3, 3], pose.skeleton.joints, atol=ROUNDING)
    assert pose.turn_to(pose.pose) < 1e-7
    zero = Pose(np.zeros((SKELETON.joint_count, 3)), np.zeros(3))
    np.testing.assert_allclose(pose.frames(zero)[:, :3, 3], skeleton.joints, atol=ROUNDING)
    assert pose.rotations is not None
    back = pose.frames(zero)[:, :3, :3] @ pose.rotations
    np.testing.assert_allclose(back - np.eye(3), 0.0, atol=ROUNDING)


@pytest.mark.parametrize("stress_free", ["sculpted", "t-pose"])
def test_a_body_that_stands_as_sculpted_looks_as_sculpted(stress_free: StressFree):
    """In balance under gravity, to what the balance leaves; flesh of the T-pose is off by more than
    20 mm at the shoulders."""
    identity = MODEL.prepare()
    simulation = ProjectiveSimulation(
        TEMPLATE, ProjectiveControls(dynamics=False, stress_free=stress_free)
    )
    joints = np.asarray(identity.joints, np.float64)
    pose = stress_free_pose(replace(SKELETON, joints=joints), TEMPLATE.repose).pose
    skin = simulation.skin(simulation.start(identity, pose))
    away = np.linalg.norm(skin - sculpted_skin(identity), axis=1).max()
    assert away < BALANCE if stress_free == "sculpted" else away > 0.02


def test_moving_flesh_stays_as_sculpted():
    """Steps of moving flesh find the sculpted shape at rest, too."""
    identity = MODEL.prepare()
    simulation = ProjectiveSimulation(TEMPLATE)
    joints = np.asarray(identity.joints, np.float64)
    pose = stress_free_pose(replace(SKELETON, joints=joints), TEMPLATE.repose).pose
    state = simulation.start(identity, pose)
    for _ in range(3):
        state = simulation.step(state, pose, 1 / 60)
    away = np.abs(simulation.skin(state) - sculpted_skin(identity)).max()
    assert away < BALANCE


def test_bodies_without_a_sculpted_pose_rest_in_their_own():
    """A mesh with a skeleton alone: both choices are the same flesh, bit for bit."""
    template = synthetic.arm_template()
    identity = synthetic.identity_of(template)
    rotations = np.zeros((template.skeleton.joint_count, 3))
    rotations[1, 2] = 0.5
    skins = []
    for stress_free in ("sculpted", "t-pose"):
        settings = ProjectiveControls(dynamics=False, stress_free=stress_free)
        simulation = ProjectiveSimulation(template, settings)
        assert simulation.body(identity).stress_free.is_zero
        skins.append(simulation.skin(simulation.start(identity, Pose(rotations, np.zeros(3)))))
    np.testing.assert_array_equal(*skins)


def test_a_repose_of_another_surface_is_refused():
    repose = known_repose()
    fewer = replace(
        repose, bone_indices=repose.bone_indices[1:], bone_weights=repose.bone_weights[1:]
    )
    with pytest.raises(InputError, match="a repose for 13379 and 52"):
        replace(TEMPLATE, repose=fewer)


def test_the_view_of_24_joints_has_no_sculpted_pose():
    """Its hands have no fingers that could be bent."""
    assert load_default_body().smpl_view().repose is None
