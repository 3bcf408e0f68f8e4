"""Posed bones and the inner surface they carry."""

import numpy as np
import pytest
from limbs import limb, posed

from corporeal.errors import InputError
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.physics.coupling.anchors import make_rings
from corporeal.physics.coupling.coupling import (
    Coupling,
    joint_twists,
    node_positions,
    node_rotations,
)
from corporeal.physics.volumetric_mesh.carried_parts import followers
from corporeal.physics.volumetric_mesh.model import build_volumetric_model
from corporeal.skinning.kinematics import rest_to_world

BEND = {"middle": [0.0, 0.0, 1.4]}


@pytest.fixture(scope="module")
def arm():
    mesh, skeleton = limb()
    carriers = followers(np.where(mesh.vertices[:, 1] > 0.9, 2, -1), skeleton.joint_count)
    return build_volumetric_model(mesh, skeleton, carriers=carriers), skeleton


def capsule_distances(points, model, nodes):
    """Signed distances to all spheres and capsules at `nodes`, element by element."""
    bones = model.bones
    found = [
        np.linalg.norm(points - n, axis=1) - r for n, r in zip(nodes, bones.node_radii, strict=True)
    ]
    for (start, end), places, radius in zip(
        bones.bones, bones.capsule_places(), bones.bone_radii, strict=True
    ):
        low, high = (nodes[start] + p * (nodes[end] - nodes[start]) for p in places)
        axis = high - low
        along = np.clip((points - low) @ axis / max(axis @ axis, 1e-300), 0, 1)
        found.append(np.linalg.norm(points - low - along[:, None] * axis, axis=1) - radius)
    return np.array(found)


@pytest.mark.parametrize("sliding", [True, False])
def test_at_rest_nothing_moves(arm, sliding):
    model, skeleton = arm
    rest = posed(skeleton, {})
    coupling = Coupling(model, skeleton, sliding=sliding)
    np.testing.assert_allclose(coupling.inner_positions(rest), model.inner, atol=1e-14)
    np.testing.assert_allclose(coupling.carried_skin(rest), model.skin[model.carried], atol=1e-15)


@pytest.mark.parametrize("sliding", [True, False])
def test_a_rigid_motion_of_all_joints_carries_everything_rigidly(arm, sliding):
    model, skeleton = arm
    frames = posed(skeleton, {"root": [0.4, -1.1, 2.0]}, (0.3, 2.0, -1.0))
    motion = rest_to_world(frames, np.asarray(skeleton.joints, float))[0]
    coupling = Coupling(model, skeleton, sliding=sliding)
    for found, start in (
        (coupling.inner_positions(frames), model.inner),
        (coupling.carried_skin(frames), model.skin[model.carried]),
    ):
        np.testing.assert_allclose(found, start @ motion[:3, :3].T + motion[:3, 3], atol=1e-13)


def test_a_bent_joint_turns_half_way(arm):
    """Mean of the incident bones' quaternions: half the angle about the same axis."""
    model, skeleton = arm
    joints = np.asarray(skeleton.joints, float)
    rotation_vectors = node_rotations(
        posed(skeleton, BEND), np.asarray(skeleton.parents), joints, model.bones, np.zeros(3)
    )
    half = matrix_from_axis_angle(np.array([0.0, 0.0, 0.7]))
    np.testing.assert_allclose(rotation_vectors[1], half, atol=1e-15)
    np.testing.assert_allclose(rotation_vectors[0], np.eye(3), atol=1e-15)
    # the joint beyond the bend turns with both its bones, which turn alike
    whole = matrix_from_axis_angle(np.array([0.0, 0.0, 1.4]))
    np.testing.assert_allclose(rotation_vectors[2], whole, atol=1e-15)


def test_vertices_far_from_joints_move_rigidly_with_their_bone(arm):
    model, skeleton = arm
    frames = posed(skeleton, BEND)
    moved = Coupling(model, skeleton).inner_positions(frames)
    motion = rest_to_world(frames, np.asarray(skeleton.joints, float))[1]
    middle = np.abs(model.inner[:, 1] - 0.65) < 0.04
    assert middle.any()
    expected = model.inner[middle] @ motion[:3, :3].T + motion[:3, 3]
    np.testing.assert_allclose(moved[middle], expected, atol=1e-13)


def test_anchor_rings_lie_on_their_bones_and_joints(arm):
    model, _ = arm
    bones, rings = model.bones, make_rings(model.bones)
    for bone in range(len(bones.bones)):
        for end in range(2):
            node = bones.bones[bone, end]
            from_joint = rings.joint_anchors[bone, end] - bones.nodes[node]
            np.testing.assert_allclose(
                np.linalg.norm(from_joint, axis=1), bones.node_radii[node], rtol=1e-12
            )
            np.testing.assert_allclose(from_joint @ rings.joint_normals[bone, end], 0, atol=1e-14)
            across = rings.bone_anchors[bone, end][:, [0, 2]]  # the limb is straight along y
            np.testing.assert_allclose(
                np.linalg.norm(across, axis=1), bones.bone_radii[bone], rtol=1e-12
            )


@pytest.mark.parametrize("angle", [0.3, 1.4, 1.9])
def test_sliding_vertices_stay_outside_bones_and_joints(arm, angle):
    """After the projection no vertex near the bend is inside a bone or joint that meets there."""
    model, skeleton = arm
    frames = posed(skeleton, {"middle": [0.0, 0.0, angle]})
    moved = Coupling(model, skeleton).inner_positions(frames)
    nodes = node_positions(frames, np.asarray(skeleton.joints, float), model.bones)
    near = np.abs(model.inner[:, 1] - 0.5) < 0.1
    # elements at the joint: its sphere, and the two capsules that follow the four spheres
    distances = capsule_distances(moved[near], model, nodes)[[1, 4, 5]]
    assert distances.min() > -1e-9


def test_without_projection_the_combination_would_sink_in(arm):
    """What the projection is for: sticking to chords of a bent ring goes through the joint."""
    model, skeleton = arm
    coupling = Coupling(model, skeleton)
    frames = posed(skeleton, {"middle": [0.0, 0.0, 1.4]})
    projected = coupling.inner_positions(frames)
    coupling.projected[:] = False
    plain = coupling.inner_positions(frames)
    assert np.linalg.norm(projected - plain, axis=1).max() > 1e-3


def test_sliding_spreads_the_stretch_over_the_bone(arm):
    """On the outside of a bend the largest stretch of an edge is smaller than when sticking."""
    model, skeleton = arm
    frames = posed(skeleton, BEND)
    edges = np.array([[i, i + 24] for i in range(24 * 40)])
    edges = edges[model.inner[edges].mean(axis=1)[:, 0] > 0.5 * model.bones.bone_radii[0]]
    rest = np.linalg.norm(np.diff(model.inner[edges], axis=1)[:, 0], axis=1)
    edges, rest = edges[rest > 1e-4], rest[rest > 1e-4]
    largest = {}
    for sliding in (True, False):
        moved = Coupling(model, skeleton, sliding=sliding).inner_positions(frames)
        length = np.linalg.norm(np.diff(moved[edges], axis=1)[:, 0], axis=1)
        largest[sliding] = (length / rest).max()
    assert largest[True] < largest[False]


def test_bones_stretch_when_joints_move_apart(arm):
    """A joint moved along its bone by d carries a vertex at place s by s·d."""
    model, skeleton = arm
    frames = posed(skeleton, {})
    frames[1:, 1, 3] += 0.2
    moved = Coupling(model, skeleton, sliding=False).inner_positions(frames)
    inside = np.abs(model.inner[:, 1] - 0.3) < 0.1
    place = (model.inner[inside, 1] - 0.1) / 0.4
    np.testing.assert_allclose(moved[inside, 1], model.inner[inside, 1] + 0.2 * place, atol=1e-13)


def test_a_twist_is_spread_along_the_bone(arm):
    """The joint turns by 1.2 rad about its bone: a vertex at place s turns by 1.2 s, a bend does
    not change that, and without being asked for nothing twists."""
    model, skeleton = arm
    inside = (np.abs(model.inner[:, 1] - 0.3) < 0.1) & (model.inner_nodes < 0)
    place = (model.inner[inside, 1] - 0.1) / 0.4
    x, z = model.inner[inside][:, [0, 2]].T
    for twist, names in ((1.2, ("middle",)), (0.0, ())):
        frames = posed(skeleton, {"middle": [0.0, 1.2, 0.0]})
        coupling = Coupling(model, skeleton, sliding=False, twisting=names)
        moved = coupling.inner_positions(frames)[inside]
        cosine, sine = np.cos(twist * place), np.sin(twist * place)
        expected = np.stack([cosine * x + sine * z, model.inner[inside, 1], cosine * z - sine * x])
        np.testing.assert_allclose(moved, expected.T, atol=1e-13)


def test_a_twist_is_what_a_joint_turns_about_its_bone(arm):
    """Swing after twist: R = R_swing(x) R_twist(y) has the twist's angle about y."""
    _, skeleton = arm
    swing, twist = (matrix_from_axis_angle(np.array(a)) for a in ([0.9, 0.0, 0.0], [0.0, 0.7, 0.0]))
    frames = posed(skeleton, {"root": [0.3, 0.2, 0.1]})
    frames[1, :3, :3] = frames[0, :3, :3] @ swing @ twist
    joints = np.asarray(skeleton.joints, float)
    found = joint_twists(frames, np.asarray(skeleton.parents), joints)
    np.testing.assert_allclose(found[:2], [0.0, 0.7], atol=1e-14)


def test_a_batch_is_every_frame_alone(arm):
    model, skeleton = arm
    coupling = Coupling(model, skeleton)
    frames = np.stack([posed(skeleton, {"middle": [a, 0.0, 0.3]}) for a in (0.0, 0.5, 1.0)])
    together, rigid = coupling.inner_positions(frames), coupling.carried_skin(frames)
    for i, frame in enumerate(frames):
        np.testing.assert_array_equal(together[i], coupling.inner_positions(frame))
        np.testing.assert_allclose(rigid[i], coupling.carried_skin(frame), atol=1e-15)


def test_frames_of_another_skeleton_are_refused(arm):
    model, skeleton = arm
    with pytest.raises(InputError, match="frames of 2 joints"):
        Coupling(model, skeleton).inner_positions(np.tile(np.eye(4), (2, 1, 1)))
