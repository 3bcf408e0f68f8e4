"""Meshes and skeletons of the user's own: parts, weights, units, and motions by joint names."""

from dataclasses import replace

import numpy as np
import pytest
from creatures import ball, coarse_dragon, joined, tentacle
from solids import icosphere

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.formats.mesh_units import place_mesh, place_skeleton
from corporeal.formats.skeletons import SkeletonReading
from corporeal.geometry.components import closed_seams, connected_parts
from corporeal.geometry.level_set import zero_surface
from corporeal.geometry.orientation import turned_over
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.geometry.volume import enclosed_volume
from corporeal.motions.custom_skeleton import CustomMotion, by_way_of_a_person, human_form
from corporeal.motions.derivatives import world_frames
from corporeal.motions.library import make_motion
from corporeal.motions.transfer import posed_like, same_names, transfer
from corporeal.pipelines.custom_mesh import custom_body
from corporeal.pipelines.example_creature import dragon_skeleton, flap
from corporeal.skinning.automatic_weights import automatic_weights, fewest_weights, heating_bones
from corporeal.skinning.followers import bind_follower
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.skinning.linear import LinearBlendSkinning

RANDOM = np.random.default_rng(3)
ENGINE_NAMES = (
    "rig:Hips",
    "rig:LeftUpLeg",
    "rig:RightUpLeg",
    "rig:Spine",
    "rig:LeftLeg",
    "rig:RightLeg",
    "rig:Spine1",
    "rig:LeftFoot",
    "rig:RightFoot",
    "rig:Spine2",
    "rig:LeftToeBase",
    "rig:RightToeBase",
    "rig:Neck",
    "rig:LeftShoulder",
    "rig:RightShoulder",
    "rig:Head",
    "rig:LeftArm",
    "rig:RightArm",
    "rig:LeftForeArm",
    "rig:RightForeArm",
    "rig:LeftHand",
    "rig:RightHand",
)
"""The default body's 22 joints as another program calls them."""


def rigid(points: np.ndarray) -> np.ndarray:
    turn = matrix_from_axis_angle(np.array([0.3, -1.1, 0.7]))
    return points @ turn.T + np.array([2.0, -1.0, 0.5])


class TestSurfaces:
    def test_a_level_set_is_a_closed_sphere_of_its_volume(self):
        """The volume of surface nets errs by O(h²): 2 % at ten cells a radius."""
        side = np.arange(-1.3, 1.31, 0.1)
        grid = np.stack(np.meshgrid(side, side, side, indexing="ij"), axis=-1)
        vertices, quads = zero_surface(np.linalg.norm(grid, axis=-1) - 1.0, grid[0, 0, 0], 0.1)
        triangles = quads[:, [0, 1, 2, 0, 2, 3]].reshape(-1, 3)
        edges = np.sort(triangles[:, [0, 1, 1, 2, 2, 0]].reshape(-1, 2), axis=1)
        assert (np.unique(edges, axis=0, return_counts=True)[1] == 2).all()
        volume = float(enclosed_volume(vertices, triangles))
        np.testing.assert_allclose(volume, 4 / 3 * np.pi, rtol=0.02)

    def test_seams_that_a_file_opened_are_closed(self):
        """Three vertices a triangle, as STL has: the sphere is one part again."""
        vertices, triangles = icosphere(2)
        soup, corners = vertices[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3)
        assert connected_parts(corners, len(soup)).max() + 1 == len(triangles)
        stand_in = closed_seams(soup, corners)
        assert len(np.unique(stand_in)) == len(vertices)
        np.testing.assert_array_equal(soup[stand_in], soup)
        assert connected_parts(stand_in[corners], len(soup))[stand_in].max() == 0

    def test_triangles_are_turned_outwards(self):
        """Of two spheres, one inside out and one with random triangles reversed: all look out."""
        vertices, triangles = icosphere(2)
        mixed = np.where(RANDOM.random(len(triangles)) < 0.4, 1, 0)[:, None]
        scrambled = np.where(mixed == 1, triangles[:, ::-1], triangles)
        both = joined((vertices, triangles[:, ::-1]), (vertices + 5.0, scrambled))
        turned = turned_over(np.asarray(both.vertices), both.triangles)
        np.testing.assert_array_equal(turned[: len(triangles)], True)
        np.testing.assert_array_equal(turned[len(triangles) :], mixed[:, 0] == 1)

    def test_a_band_with_one_side_is_left_as_it_is(self):
        """A Möbius band of ten quads has no outside."""
        angle = np.arange(10) * np.pi / 10
        wide = 0.3 * np.stack([np.cos(angle), np.sin(angle)], axis=1)
        ring = np.stack([np.cos(2 * angle), np.sin(2 * angle)], axis=1)
        edge = [
            np.column_stack([(1 + sign * wide[:, :1]) * ring, sign * wide[:, 1]])
            for sign in (1, -1)
        ]
        low = np.arange(10)
        after = np.r_[1:10, 10]  # the last quad meets the first one crosswise
        a, b, c, d = low, after, after + 10, low + 10
        b, c = np.where(b == 10, 10, b), np.where(c == 20, 0, c)
        triangles = np.concatenate([np.stack([a, b, c], axis=1), np.stack([a, c, d], axis=1)])
        assert not turned_over(np.concatenate(edge), triangles).any()

    def test_closed_surfaces_that_touch_stay_apart(self):
        """Vertices in the same place are one only where an edge is open."""
        touching = joined(icosphere(1), icosphere(1))
        count = touching.vertex_count
        stand_in = closed_seams(np.asarray(touching.vertices), touching.triangles)
        np.testing.assert_array_equal(stand_in, np.arange(count))


class TestFollowers:
    def test_rigid_motions_are_followed_exactly(self):
        vertices, triangles = icosphere(2)
        points = RANDOM.normal(size=(50, 3))
        groups = np.where(np.arange(50) < 20, 0, -1)
        follower = bind_follower(points, groups, vertices, triangles)
        np.testing.assert_allclose(follower.weights.sum(axis=1), 1.0, atol=1e-12)
        followed = follower.follow(np.stack([vertices, rigid(vertices)]))
        np.testing.assert_allclose(followed[0], points, atol=1e-12)
        np.testing.assert_allclose(followed[1], rigid(points), atol=1e-12)

    def test_small_parts_keep_their_shape_when_the_skin_does_not(self):
        vertices, triangles = icosphere(2)
        points = np.array([0.0, 1.1, 0.0]) + 0.05 * RANDOM.normal(size=(30, 3))
        follower = bind_follower(points, np.zeros(30, int), vertices, triangles)
        bent = vertices * [1.5, 0.7, 1.0] + 0.2 * np.sin(3 * vertices[:, [1, 2, 0]])
        followed = follower.follow(bent[None])[0]
        between = np.linalg.norm(points[:, None] - points, axis=2)
        np.testing.assert_allclose(
            np.linalg.norm(followed[:, None] - followed, axis=2), between, atol=1e-12
        )

    def test_a_skin_without_area_is_refused(self):
        flat = np.zeros((3, 3))
        with pytest.raises(InputError, match="no skin to follow"):
            bind_follower(np.zeros((1, 3)), np.array([-1]), flat, np.array([[0, 1, 2]]))


class TestWeights:
    def test_heat_is_a_partition_that_is_symmetric_where_the_bones_are(self):
        """Two bones that meet in the middle of a tube: w(h) = 1 − w(H − h), falling from 1 to 0."""
        (vertices, triangles), _ = tentacle(40)
        segments = np.array([[[0, 0.1, 0], [0, 0.6, 0]], [[0, 0.6, 0], [0, 1.1, 0]]])
        weights = automatic_weights(Mesh(vertices, triangles), segments, np.array([0, 1]), 2)
        dense, height = weights.dense(), vertices[:, 1]
        np.testing.assert_allclose(dense.sum(axis=1), 1.0, atol=1e-12)
        assert dense[height < 0.2, 0].min() > 0.95
        assert dense[height > 1.0, 1].min() > 0.95
        lower = np.array([dense[np.abs(height - h) < 1e-9, 0].mean() for h in np.unique(height)])
        assert (np.diff(lower) < 1e-6).all()
        np.testing.assert_allclose(lower + lower[::-1], 1.0, atol=1e-3)

    def test_a_leg_is_not_heated_by_the_other(self):
        """Two tubes 1 cm apart; the inner side of each is nearer to the other's bone."""
        (vertices, triangles), _ = tentacle()
        legs = joined((vertices, triangles), (vertices + np.array([0.21, 0, 0]), triangles))
        bones = np.array([[[-0.08, 0, 0], [-0.08, 1.2, 0]], [[0.29, 0.0, 0.0], [0.29, 1.2, 0.0]]])
        bones[:, :, 0] = [[0.09, 0.09], [0.12, 0.12]]  # each bone at its inner wall
        heated, _ = heating_bones(np.asarray(legs.vertices), legs.triangles, bones)
        side = np.arange(legs.vertex_count) >= len(vertices)
        ring = np.abs(np.asarray(legs.vertices)[:, 1] - 0.6) < 0.3
        np.testing.assert_array_equal(heated[ring], side[ring].astype(int))

    def test_few_weights_change_smoothly(self):
        """Rows that cross where the fourth and fifth weight change places: no jump."""
        share = np.linspace(-1e-3, 1e-3, 21)[:, None]
        rows = np.array([0.3, 0.25, 0.2, 0.125, 0.125]) + share * np.array([0, 0, 0, 1, -1])
        dense = fewest_weights(rows, 4).dense()
        np.testing.assert_allclose(dense.sum(axis=1), 1.0, atol=1e-12)
        assert (dense > 0).sum(axis=1).max() <= 4
        assert np.abs(np.diff(dense, axis=0)).max() < 1e-3
        assert fewest_weights(np.full((1, 9), 1 / 9), 4).values.shape == (1, 4)

    def test_an_inside_out_surface_has_the_same_weights(self):
        (vertices, triangles), _ = tentacle()
        segments = np.array([[[0, 0.1, 0], [0, 0.6, 0]], [[0, 0.6, 0], [0, 1.1, 0]]])
        joints = np.array([0, 1])
        one = automatic_weights(Mesh(vertices, triangles), segments, joints, 2)
        other = automatic_weights(Mesh(vertices, triangles[:, ::-1]), segments, joints, 2)
        np.testing.assert_allclose(one.dense(), other.dense(), atol=1e-12)

    def test_no_bones_are_refused(self):
        with pytest.raises(InputError, match="at least one bone"):
            automatic_weights(Mesh(*icosphere(0)), np.zeros((0, 2, 3)), np.zeros(0, int), 1)


class TestOwnBody:
    def test_the_dragon_is_one_skin_with_two_eyes(self):
        mesh = coarse_dragon()
        own = custom_body(mesh, dragon_skeleton())
        loose = own.skin_vertices < 0
        assert loose.sum() == 256
        assert any("2 loose parts of 256 vertices" in note for note in own.notes)
        assert own.follower is not None
        assert own.follower.rigid_groups.max() == 1
        assert own.body.template.mesh is mesh
        assert own.body.template.weights.values.shape[1] <= 4
        motion = flap(dragon_skeleton())
        skin = LinearBlendSkinning(own.skin.template).animate(own.skin.identity, motion)
        whole = own.whole(skin)
        np.testing.assert_array_equal(
            whole.vertices[:, ~loose], skin.vertices[:, own.skin_vertices[~loose]]
        )
        eyes = np.asarray(whole.vertices)[:, loose][:, :128]
        head = np.asarray(whole.world_from_joint)[:, dragon_skeleton().index("head"), :3, 3]
        away = np.linalg.norm(eyes.mean(axis=1) - head, axis=1)
        assert np.ptp(away) < 0.02

    def test_parts_that_hold_the_skeleton_are_flesh(self):
        """A tube cut in two, both halves on the bones; a small ball beside them is not."""
        (vertices, triangles), skeleton = tentacle()
        lower = (vertices * [1, 0.49, 1], triangles)
        upper = (vertices * [1, 0.49, 1] + [0, 0.61, 0], triangles)
        mesh = joined(lower, upper, ball((0.15, 0.3, 0.0), 0.03))
        own = custom_body(mesh, skeleton)
        assert own.skin.template.mesh.vertex_count == 2 * len(vertices)
        largest = custom_body(mesh, skeleton, "largest")
        assert largest.skin.template.mesh.vertex_count == len(vertices)
        everything = custom_body(mesh, skeleton, "all")
        assert everything.skin.template.mesh.vertex_count == mesh.vertex_count
        assert everything.follower is None

    def test_triangle_soup_moves_in_one_piece(self):
        (vertices, triangles), skeleton = tentacle()
        soup = Mesh(vertices[triangles].reshape(-1, 3), np.arange(triangles.size).reshape(-1, 3))
        own = custom_body(soup, skeleton)
        assert own.skin.template.mesh.vertex_count == len(vertices)
        assert (own.skin_vertices >= 0).all()
        np.testing.assert_array_equal(
            np.asarray(own.skin.template.mesh.vertices)[own.skin_vertices], soup.vertices
        )

    def test_vertices_of_no_triangle_follow(self):
        (vertices, triangles), skeleton = tentacle()
        mesh = Mesh(np.concatenate([vertices, [[0.2, 0.5, 0.0]]]), triangles)
        own = custom_body(mesh, skeleton)
        assert own.skin_vertices[-1] == -1
        motion = Motion("still", 30.0, np.zeros((1, 3, 3)), np.ones((1, 3)), skeleton)
        skin = LinearBlendSkinning(own.skin.template).animate(own.skin.identity, motion)
        np.testing.assert_allclose(own.whole(skin).vertices[0], mesh.vertices + 1, atol=1e-12)

    def test_a_skeleton_outside_is_refused(self):
        (vertices, triangles), skeleton = tentacle()
        beside = replace(skeleton, joints=np.asarray(skeleton.joints) + np.array([0.2, 0, 0]))
        with pytest.raises(InputError, match="3 of 3 joints lie outside the skin"):
            custom_body(Mesh(vertices, triangles), beside)

    def test_values_a_vertex_go_to_the_skin(self):
        mesh = coarse_dragon()
        own = custom_body(mesh, dragon_skeleton())
        values = np.arange(mesh.vertex_count, dtype=float) + 1
        skin = own.to_skin(values)
        held = own.skin_vertices >= 0
        np.testing.assert_array_equal(skin[own.skin_vertices[held]], values[held])


class TestUnits:
    @pytest.mark.parametrize(("factor", "unit"), [(1.0, "m"), (100.0, "cm"), (1000.0, "mm")])
    def test_a_mesh_takes_the_unit_in_which_it_has_a_size(self, factor: float, unit: str):
        (vertices, triangles), skeleton = tentacle()
        mesh, metres, notes = place_mesh(Mesh(factor * vertices, triangles), "auto", "+y", "+z")
        np.testing.assert_allclose(mesh.vertices, vertices, atol=1e-12)
        assert metres == 1 / factor
        assert bool(notes) == (unit != "m")
        reading = SkeletonReading(replace(skeleton, joints=factor * skeleton.joints), None)
        placed, notes = place_skeleton(mesh, reading, metres, "+y", "+z")
        np.testing.assert_allclose(placed.joints, skeleton.joints, atol=1e-12)
        assert notes == ()

    def test_a_skeleton_in_another_unit_is_told(self):
        (vertices, triangles), skeleton = tentacle()
        reading = SkeletonReading(replace(skeleton, joints=100 * skeleton.joints), None)
        placed, notes = place_skeleton(Mesh(vertices, triangles), reading, 1.0, "+y", "+z")
        np.testing.assert_allclose(placed.joints, skeleton.joints, atol=1e-12)
        assert "taken as cm" in notes[0]
        with pytest.raises(InputError, match="would fit if its unit were cm"):
            place_skeleton(Mesh(vertices, triangles), replace(reading, unit="m"), 1.0, "+y", "+z")

    def test_a_skeleton_elsewhere_is_refused(self):
        (vertices, triangles), skeleton = tentacle()
        reading = SkeletonReading(replace(skeleton, joints=skeleton.joints + 7), None)
        with pytest.raises(InputError, match="0 of 3 joints lie in its box"):
            place_skeleton(Mesh(vertices, triangles), reading, 1.0, "+y", "+z")

    def test_axes_turn_mesh_and_skeleton_alike(self):
        (vertices, triangles), _ = tentacle()
        swapped = vertices @ np.array([[1, 0, 0], [0, 0, -1], [0, 1, 0]]).T  # z up, −y front
        mesh, _, _ = place_mesh(Mesh(swapped, triangles), "m", "+z", "-y")
        np.testing.assert_allclose(mesh.vertices, vertices, atol=1e-12)

    @pytest.mark.parametrize(
        ("vertices", "triangles", "words"),
        [
            (np.zeros((0, 3)), np.zeros((0, 3), int), "0 vertices"),
            (np.eye(3), np.zeros((0, 3), int), "0 triangles"),
            (np.ones((3, 3)), np.array([[0, 1, 2]]), "one place"),
            (1e9 * np.eye(3), np.array([[0, 1, 2]]), "no creature's size"),
        ],
    )
    def test_meshes_without_a_size_are_refused(
        self, vertices: np.ndarray, triangles: np.ndarray, words: str
    ):
        with pytest.raises(InputError, match=words):
            place_mesh(Mesh(vertices, triangles), "auto", "+y", "+z")


class TestTransfer:
    def test_the_same_skeleton_gets_the_same_motion(self):
        skeleton = dragon_skeleton()
        motion = flap(skeleton)
        result = transfer(motion, skeleton, same_names(skeleton, skeleton))
        np.testing.assert_allclose(result.motion.joint_rotations, motion.joint_rotations, atol=1e-7)
        np.testing.assert_allclose(result.motion.root_translation, motion.root_translation)
        assert result.scale == 1.0
        assert result.largest_turn < 1e-6

    def test_bones_point_as_the_sources_do_from_any_rest_pose(self):
        """A chain at rest in another pose and half as large: the same directions at every frame."""
        source = Skeleton(("a", "b", "c", "d"), (-1, 0, 1, 2), np.cumsum(np.eye(4, 3), axis=0))
        bent = RANDOM.normal(size=(4, 3))
        bent /= 2 * np.linalg.norm(bent, axis=1, keepdims=True)
        lengths = np.linalg.norm(np.diff(np.asarray(source.joints), axis=0), axis=1)
        bent[1:] *= lengths[:, None]
        target = replace(source, joints=np.cumsum(bent, axis=0))
        rotations = RANDOM.normal(size=(5, 4, 3))
        motion = Motion("random", 30.0, rotations, RANDOM.normal(size=(5, 3)), source)
        result = transfer(motion, target, same_names(target, source))
        moved = [
            forward_kinematics(
                m.joint_rotations, m.skeleton.joints, source.parents, m.root_translation
            )[..., :3, 3]
            for m in (motion, result.motion)
        ]
        ways = [np.diff(places, axis=1) for places in moved]
        ways = [way / np.maximum(np.linalg.norm(way, axis=2, keepdims=True), 1e-9) for way in ways]
        solid = lengths > 0
        np.testing.assert_allclose(ways[1][:, solid], ways[0][:, solid], atol=1e-7)
        np.testing.assert_allclose(result.scale, 0.5, rtol=1e-12)
        np.testing.assert_allclose(result.motion.root_translation, 0.5 * motion.root_translation)

    def test_a_body_in_a_pose_has_the_same_form_as_at_rest(self):
        """Bone lengths are kept, and the pose is taken off again: planted feet stay planted."""
        body = load_default_body().template.skeleton
        rotations = np.zeros((body.joint_count, 3))
        rotations[body.index("left_shoulder")] = [0, 0.2, -0.8]
        rotations[body.index("right_hip")] = [0.2, 0, 0.2]
        joints = np.asarray(body.joints, np.float64)
        frames = forward_kinematics(rotations, joints, body.parents, np.zeros(3))
        posed = replace(body, joints=frames[:, :3, 3])
        again = posed_like(posed, body, same_names(posed, body))
        np.testing.assert_allclose(again.joints, joints, atol=1e-6)
        form = human_form(posed, body)
        np.testing.assert_allclose(form.body.joints, joints, atol=1e-6)

    def test_joints_without_a_partner_go_with_their_parents(self):
        skeleton = dragon_skeleton()
        motion = flap(skeleton)
        partners = same_names(skeleton, skeleton)
        del partners["tail3"]
        result = transfer(motion, skeleton, partners)
        assert result.unmatched == ("tail3",)
        still = np.asarray(result.motion.joint_rotations)[:, skeleton.index("tail3")]
        np.testing.assert_allclose(still, 0.0, atol=1e-12)

    def test_a_person_by_other_names_moves_as_the_body_does(self):
        """A larger body with a game engine's joint names and no fingers: the same places."""
        template = load_default_body().template
        body = template.skeleton
        joints = 1.2 * np.asarray(body.joints, np.float64)
        engine = Skeleton(ENGINE_NAMES, body.parents[:22], joints[:22])

        def author(form: Skeleton) -> CustomMotion:
            identity = Identity(template.mesh.vertices, form.joints, {})
            made = make_motion("jumping-jacks", identity, template, fps=10.0, duration=2.0)
            return CustomMotion(made, ())

        came = by_way_of_a_person(engine, body, author)
        expected = author(replace(body, joints=joints)).motion
        ours, theirs = (world_frames(motion)[..., :3, 3] for motion in (came.motion, expected))
        np.testing.assert_allclose(ours, theirs[:, :22], atol=1e-6)
        assert "22 joints matched" in came.notes[-1]

    def test_a_dragon_is_not_human(self):
        with pytest.raises(InputError, match="not human"):
            human_form(dragon_skeleton(), load_default_body().template.skeleton)


def test_a_pose_of_the_rest_leaves_an_own_mesh_as_it_is():
    own = custom_body(coarse_dragon(), dragon_skeleton())
    skinning = LinearBlendSkinning(own.skin.template)
    pose = Pose(np.zeros((35, 3)), np.zeros(3))
    rest = np.asarray(own.skin.template.mesh.vertices)
    np.testing.assert_allclose(skinning.vertices(own.skin.identity, pose), rest, atol=1e-12)
