"""Base points: nearest points, the stretched-out skeleton, smoothing."""

import numpy as np
from limbs import limb

from corporeal.body.mesh import Mesh
from corporeal.body.skeleton import Skeleton
from corporeal.physics.volumetric_mesh.base_points import (
    closest_base_points,
    smooth_base_points,
    stretched_out,
)
from corporeal.physics.volumetric_mesh.bones import inflate_skeleton


def star_skeleton(arms: int) -> Skeleton:
    """One bone into a hub, and `arms` out of it, all bent to one side."""
    ends = [[0.1 * i, 1.4, 0.0] for i in range(arms)]
    joints = np.array([[0.0, 0.6, 0.0], [0.0, 1.0, 0.0], *ends])
    names = ("root", "hub", *(f"arm{i}" for i in range(arms)))
    return Skeleton(names, (-1, 0, *[1] * arms), joints)


def test_base_points_of_a_straight_tube_are_at_the_height_of_the_skin():
    mesh, skeleton = limb()
    bones = inflate_skeleton(mesh, skeleton)
    points = closest_base_points(mesh.vertices, bones)
    positions = points.positions(bones.nodes, bones.bones)
    top = bones.nodes[:, 1].max()
    np.testing.assert_allclose(positions[:, 1], np.clip(mesh.vertices[:, 1], 0.1, top), atol=1e-12)
    np.testing.assert_allclose(positions[:, [0, 2]], 0.0, atol=1e-12)


def test_bones_meet_at_the_widest_angles_when_stretched_out():
    """A hub with n bones: cos = −1/(n−1) between any two, for n = 2, 3, 4; lengths stay."""
    mesh, _ = limb()
    for arms in (1, 2, 3):
        bones = inflate_skeleton(mesh, star_skeleton(arms))
        nodes = stretched_out(bones)
        at_hub = (bones.bones == 1).any(axis=1)
        pairs = bones.bones[at_hub]
        away = np.where(pairs[:, :1] == 1, pairs[:, 1:], pairs[:, :1])[:, 0]
        directions = nodes[away] - nodes[1]
        length = np.linalg.norm(directions, axis=1)
        np.testing.assert_allclose(length, bones.lengths[at_hub], rtol=1e-12)
        cosine = (directions / length[:, None]) @ (directions / length[:, None]).T
        others = cosine[~np.eye(len(cosine), dtype=bool)]
        np.testing.assert_allclose(others, -1 / arms, atol=1e-12)


def test_smoothing_takes_a_spike_away_and_leaves_the_tips():
    """One base point thrown to the far end comes back among its neighbours."""
    mesh, skeleton = limb()
    bones = inflate_skeleton(mesh, skeleton)
    nearest = closest_base_points(mesh.vertices, bones)
    thrown = 10 * 24  # a vertex at height 0.25
    places = nearest.places.copy()
    places[thrown] = 1.0
    spiked = type(nearest)(nearest.bones, places)
    smooth, rounds = smooth_base_points(spiked, bones, mesh.vertices, mesh.triangles)
    height = smooth.positions(bones.nodes, bones.bones)[:, 1]
    assert rounds > 1
    assert abs(height[thrown] - height[thrown + 1]) < 0.01
    top = nearest.places[nearest.bones == 2] >= 1.0
    assert top.any()
    np.testing.assert_array_equal(smooth.places[nearest.bones == 2][top], 1.0)


def test_smoothing_slides_points_across_joints():
    """Points that all sit on the upper bones' far ends spread over the joint between them."""
    mesh, skeleton = limb()
    bones = inflate_skeleton(mesh, skeleton)
    nearest = closest_base_points(mesh.vertices, bones)
    # everything of the first bone is thrown to its start
    squeezed = type(nearest)(nearest.bones, np.where(nearest.bones == 0, 0.0, nearest.places))
    smooth, _ = smooth_base_points(squeezed, bones, mesh.vertices, mesh.triangles)
    assert (smooth.bones[nearest.bones == 1] == 0).any()


def test_a_vertex_of_no_triangle_keeps_its_base_point():
    mesh, skeleton = limb()
    vertices = np.concatenate([mesh.vertices, [[0.02, 0.3, 0.0]]])
    loose = Mesh(vertices, mesh.triangles)
    bones = inflate_skeleton(loose, skeleton)
    nearest = closest_base_points(vertices, bones)
    smooth, _ = smooth_base_points(nearest, bones, vertices, mesh.triangles)
    assert smooth.places[-1] == nearest.places[-1]
