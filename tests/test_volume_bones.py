"""Bones with volume: automatic radii, the length condition, tips of leaves."""

import numpy as np
import pytest
from limbs import limb
from solids import box, circle, tube

from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.physics.volumetric_mesh.bones import VolumetricSkeleton, inflate_skeleton


def test_a_bone_takes_three_quarters_of_its_distance_to_the_faces_of_a_box():
    """Faces are nearer than corners: 10 cm from the axis, whatever the triangulation."""
    vertices, triangles = box(0.2, 2.0, 0.6)
    joints = np.array([[0.0, -0.4, 0.0], [0.0, 0.4, 0.0]])
    bones = inflate_skeleton(Mesh(vertices, triangles), Skeleton(("a", "b"), (-1, 0), joints))
    np.testing.assert_allclose(bones.bone_radii[0], 0.075, rtol=1e-12)
    np.testing.assert_allclose(bones.node_radii[:2], 0.075, rtol=1e-12)


def test_a_leaf_goes_on_until_the_skin_ahead_is_as_near_as_around():
    """From (0, 0.4, 0) the box ends at y = 1, 0.6 m ahead, and its side is 0.1 m away."""
    vertices, triangles = box(0.2, 2.0, 0.6)
    joints = np.array([[0.0, -0.4, 0.0], [0.0, 0.4, 0.0]])
    bones = inflate_skeleton(Mesh(vertices, triangles), Skeleton(("a", "b"), (-1, 0), joints))
    np.testing.assert_allclose(bones.nodes[2], [0.0, 0.9, 0.0], atol=1e-12)
    assert bones.node_joints.tolist() == [0, 1, 1]
    assert bones.bones.tolist() == [[0, 1], [1, 2]]


def test_spheres_and_capsule_fit_on_every_bone():
    """r₁ + r₂ + 2 r_b ≤ l_b, also where the joints are far closer than the skin."""
    vertices, triangles = tube(circle(0.2, 24), 2.0, 21)
    joints = np.array([[0.0, 0.8, 0.0], [0.0, 0.9, 0.0], [0.0, 1.8, 0.0]])
    bones = inflate_skeleton(
        Mesh(vertices, triangles), Skeleton(("a", "b", "c"), (-1, 0, 1), joints)
    )
    ends = bones.node_radii[bones.bones].sum(axis=1)
    assert (ends + 2 * bones.bone_radii <= bones.lengths * (1 + 1e-12)).all()
    # four equal radii on 10 cm: each is 2.5 cm, and the bone is a ball
    np.testing.assert_allclose(bones.bone_radii[0], 0.025, rtol=1e-12)
    low, high = bones.capsule_places()[0]
    np.testing.assert_allclose(low, high, atol=1e-12)


def test_radii_of_the_user_are_taken():
    mesh, skeleton = limb()
    bones = inflate_skeleton(mesh, skeleton, radii=np.array([0.01, 0.03, 0.02]))
    np.testing.assert_allclose(bones.node_radii[:3], [0.01, 0.03, 0.02])
    np.testing.assert_allclose(bones.bone_radii[:2], [0.03, 0.02])


def test_a_bone_that_leaves_the_skin_keeps_a_tenth_of_the_usual_distance():
    """All vertices are nearest to the one bone; a line would let the flesh spin about it."""
    mesh, _ = limb()
    joints = np.array([[0.0, 0.5, 0.0], [1.0, 0.5, 0.0]])
    bones = inflate_skeleton(mesh, Skeleton(("in", "out"), (-1, 0), joints))
    foot = np.stack([np.clip(mesh.vertices[:, 0], 0, 1), np.full(len(mesh.vertices), 0.5)], axis=1)
    away = np.linalg.norm(mesh.vertices[:, [0, 1]] - foot, axis=1)
    away = np.hypot(away, mesh.vertices[:, 2])
    assert bones.bone_radii[0] == pytest.approx(0.1 * np.median(away), rel=1e-9)


def test_a_lone_joint_is_a_ball():
    mesh, _ = limb()
    bones = inflate_skeleton(mesh, Skeleton(("only",), (-1,), np.array([[0.0, 0.5, 0.0]])))
    assert bones.bones.tolist() == [[0, 1]]
    assert bones.bone_radii[0] == 0.0
    # the tube is a polygon of 24 sides: its faces are 5 cm · cos(π/24) away
    np.testing.assert_allclose(bones.node_radii[0], 0.75 * 0.05 * np.cos(np.pi / 24), rtol=1e-9)


def test_wrong_radii_are_refused():
    mesh, skeleton = limb()
    with pytest.raises(InputError, match="2 radii came for 3 joints"):
        inflate_skeleton(mesh, skeleton, radii=np.array([0.01, 0.02]))
    with pytest.raises(InputError, match=r"down to -0\.01 m"):
        inflate_skeleton(mesh, skeleton, radii=np.array([0.01, -0.01, 0.01]))


def test_an_unknown_virtual_bone_is_refused():
    mesh, skeleton = limb()
    with pytest.raises(InputError, match="no joint 'trunk'"):
        inflate_skeleton(mesh, skeleton, virtual_bones=("trunk",))


def test_bones_must_name_nodes():
    with pytest.raises(InputError, match="bones hold indices"):
        VolumetricSkeleton(
            np.zeros((2, 3)),
            np.arange(2),
            np.zeros(2),
            np.array([[0, 2]]),
            np.zeros(1),
            np.zeros(1, bool),
        )
