"""What poses are likely: energies and their slopes, straight limbs' turns about themselves."""

import numpy as np
import pytest

from corporeal.body.pose import RotationPose
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.registration.person_model import person_model
from corporeal.registration.pose_prior import TWISTED, pose_prior, with_straight_twists
from corporeal.skinning.kinematics import kinematic_state, parent_rotations, rotate_joints


def test_pose_prior_gradient() -> None:
    """½ λ E_θ added to the equations: its pull is the energy's slope, within the limits' reach."""
    model = person_model()
    prior = pose_prior(model.template.skeleton.names)
    state = model.start()
    size = 3 * model.joint_count
    matrix, right = np.zeros((size, size)), np.zeros(size)
    frames = np.broadcast_to(np.eye(3), (model.joint_count, 3, 3))
    prior.add_to(matrix, right, state.pose, frames, 0, 1.0)
    joint = model.template.skeleton.names.index("left_shoulder")
    turned = state.pose.rotations.copy()
    turned[joint] = matrix_from_axis_angle(np.array([0.0, 0.0, 1e-5]))
    rise = prior.energy(RotationPose(turned, np.zeros(3))) - prior.energy(state.pose)
    assert 0.5 * rise / 1e-5 == pytest.approx(-right[3 * joint + 2], rel=1e-3)


@pytest.mark.parametrize("straight", [False, True])
def test_prior_pulls_down_its_own_energy(straight: bool) -> None:
    """The right side is −½ ∂E/∂δ, by central differences, elbows bent by two radians too, and with
    the turns of straight arms held."""
    model = person_model()
    names, parents = model.template.skeleton.names, model.parents
    vectors = 0.2 * np.random.default_rng(2).normal(size=(len(names), 3))
    vectors[names.index("left_elbow"), 1] = -2.0
    pose = RotationPose(matrix_from_axis_angle(vectors), np.zeros(3))
    world = kinematic_state(pose, model.space.mean_joints, parents).world_rotations
    prior = pose_prior(names)
    if straight:
        prior = with_straight_twists(prior, names, model.space.mean_joints)
    size = 3 * len(names) + 3
    matrix, right = np.zeros((size, size)), np.zeros(size)
    prior.add_to(matrix, right, pose, parent_rotations(world, parents), 0, 1.0)
    h = 1e-6
    shoulder = 3 * names.index("right_shoulder")
    elbow = 3 * names.index("left_elbow") + 2
    for column in (4, 10, 19, elbow, 3 * names.index("spine2"), shoulder):
        step = np.zeros(size)
        step[column] = h
        after, before = (
            prior.energy(rotate_joints(pose, world, parents, sign * step)) for sign in (1.0, -1.0)
        )
        slope = (after - before) / (2 * h)
        assert right[column] == pytest.approx(-0.5 * slope, rel=1e-4, abs=1e-4)


def test_a_straight_arm_is_held_and_a_bent_one_is_not() -> None:
    """An upper arm turned by τ about itself costs (τ/σ)² more while its elbow is straight, a
    quarter of that at a bend of 60°, and nothing from a right angle on."""
    model = person_model()
    names = model.template.skeleton.names
    joints = model.space.mean_joints
    prior = pose_prior(names)
    held = with_straight_twists(prior, names, joints)
    shoulder, elbow, wrist = (names.index(f"left_{n}") for n in ("shoulder", "elbow", "wrist"))
    axis = (joints[elbow] - joints[shoulder]) / np.linalg.norm(joints[elbow] - joints[shoulder])
    across = np.cross(axis, [0.0, 0.0, 1.0])
    twist = 0.3
    for bend, share in ((0.0, 1.0), (np.pi / 3, 0.25), (0.6 * np.pi, 0.0)):
        vectors = np.zeros((len(names), 3))
        vectors[shoulder] = twist * axis
        vectors[elbow] = bend * across / np.linalg.norm(across)
        pose = RotationPose(matrix_from_axis_angle(vectors), np.zeros(3))
        # what the forearm's own turn costs (the bend is hardly about its bone) is told apart
        bone = joints[wrist] - joints[elbow]
        bone /= np.linalg.norm(bone)
        own = 2 * np.arctan(np.tan(bend / 2) * float(vectors[elbow] @ bone) / max(bend, 1e-12))
        more = held.energy(pose) - prior.energy(pose) - (own / TWISTED) ** 2
        assert more == pytest.approx(share * (twist / TWISTED) ** 2, abs=1e-6)
