"""Bake: an engine character plays what the deformer made, to the error it states."""

import copy
from dataclasses import replace

import numpy as np
import pytest
from small_body import small_animation
from synthetic import arm_template, identity_of, random_motion
from takes import eye, soft_take

from corporeal.body.character import Character, unsigned_weights
from corporeal.body.mesh import Mesh
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.geometry.surface import vertex_normals
from corporeal.pipelines.bake import bake, rest_offsets
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.playback import character_joints, character_vertices


def test_a_linear_blend_take_bakes_without_morphs():
    """LBS is what an engine plays: nothing is left to carry, to 0.001 mm."""
    character, report = bake(small_animation(20), max_error_mm=0.001)
    assert report.morph_count == character.morph_count == 0
    assert report.max_error_mm < 0.001
    assert report.reached


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_offsets_of_rank_twelve_bake_with_twelve_morphs(kind):
    """Twelve independent shapes need twelve morph targets, and then 0.01 mm is kept.

    float32 vertices at 1 m carry 1e-4 mm of rounding.
    """
    take = soft_take(frames=40, rank=12)
    take = replace(take, vertices=np.asarray(take.vertices, kind))
    character, report = bake(take, max_error_mm=0.01)
    assert character.morph_count == 12
    assert report.max_error_mm < 0.01
    eleven, worse = bake(take, morphs=11)
    assert eleven.morph_count == 11
    assert worse.max_error_mm > 0.01


def test_rest_offsets_are_the_offsets_that_were_put_in():
    """Unposing undoes the skinning formula: the known offsets come back, float32 apart."""
    take = soft_take()
    rig, _ = bake(take, morphs=0)
    found = rest_offsets(rig, np.asarray(take.vertices))
    size = np.abs(take.dynamic_offsets).max()
    assert np.abs(found - take.dynamic_offsets).max() < 1e-5 * size


def test_the_report_is_what_playing_the_character_shows():
    """An independent comparison of every vertex at every frame gives the reported numbers."""
    take = soft_take()
    character, report = bake(take, max_error_mm=5.0)
    distances = 1e3 * np.linalg.norm(character_vertices(character) - take.vertices, axis=-1)
    assert report.max_error_mm == pytest.approx(distances.max())
    assert report.mean_error_mm == pytest.approx(distances.mean())
    worst = distances[report.worst_frame, report.worst_vertex]
    assert worst == pytest.approx(distances.max())
    assert report.reached
    joints_alone = bake(take, morphs=0)[1]
    assert report.morphless_error_mm == pytest.approx(joints_alone.max_error_mm)


def test_a_smaller_error_takes_more_morphs():
    counts = [bake(soft_take(), max_error_mm=e)[1].morph_count for e in (200.0, 20.0, 5.0, 0.01)]
    assert counts == sorted(counts)
    assert counts[0] < counts[-1] == 6


def test_morph_weights_lie_within_one_and_reach_it():
    """Engines clamp large weights: every morph is scaled to a peak of exactly 1."""
    character, _ = bake(soft_take(), max_error_mm=0.01)
    assert np.abs(character.morph_weights).max() <= 1
    np.testing.assert_allclose(character.morph_weights.max(axis=0), 1, rtol=1e-6)


def test_weights_for_files_lie_between_nought_and_one_and_play_the_same():
    """One more morph target carries what the shift of the signed ones leaves, to float32."""
    character, _ = bake(soft_take(), max_error_mm=0.01)
    shifted = unsigned_weights(character)
    assert shifted.morph_count == character.morph_count + 1
    assert shifted.morph_weights.min() >= 0
    assert shifted.morph_weights.max() <= 1
    played = character_vertices(shifted) - character_vertices(character)
    assert np.abs(played).max() < 1e-6
    normals = np.tensordot(shifted.morph_weights, shifted.morph_normals, axes=1)
    before = np.tensordot(character.morph_weights, character.morph_normals, axes=1)
    np.testing.assert_allclose(normals, before, atol=1e-5)


def test_weights_that_are_never_negative_stay_as_they_are():
    character = unsigned_weights(bake(soft_take(), max_error_mm=0.01)[0])
    assert unsigned_weights(character) is character
    joints_alone = bake(small_animation())[0]
    assert unsigned_weights(joints_alone) is joints_alone


def test_the_base_morph_finds_a_free_name():
    character, _ = bake(soft_take(rank=2), max_error_mm=0.01)
    named = replace(character, morph_names=("base", "other"))
    assert unsigned_weights(named).morph_names == ("base", "other", "base_2")


def test_morph_normals_are_those_of_the_morphed_surface():
    character, _ = bake(soft_take(), max_error_mm=0.01)
    mesh = character.template.mesh
    still = vertex_normals(np.asarray(mesh.vertices), mesh.triangles)
    for offsets, change in zip(character.morph_offsets, character.morph_normals, strict=True):
        shown = vertex_normals(np.asarray(mesh.vertices) + offsets, mesh.triangles)
        np.testing.assert_allclose(still + change, shown, atol=1e-5)


def test_a_dual_quaternion_take_is_carried_by_morphs():
    """What linear blending cannot show (kept volume) becomes offsets; the stated error holds."""
    template = arm_template()
    identity, motion = identity_of(template), random_motion(template, 12)
    motion = replace(motion, joint_rotations=0.5 * motion.joint_rotations)
    take = DualQuaternionSkinning(template).animate(identity, motion)
    character, report = bake(take, max_error_mm=0.05)
    assert report.morphless_error_mm > 1
    assert character.morph_count > 0
    assert report.max_error_mm <= 0.05


def test_more_than_four_weights_a_vertex_are_cut_and_the_rest_is_carried():
    """Five influences: the cut moves the skin by millimetres, the morphs bring it back."""
    template = arm_template(influences=5)
    assert template.weights.values.shape[1] == 5
    from corporeal.skinning.linear import LinearBlendSkinning

    take = LinearBlendSkinning(template).animate(identity_of(template), random_motion(template, 8))
    character, report = bake(take, max_error_mm=0.05)
    assert character.template.weights.values.shape[1] == 4
    assert report.morphless_error_mm > 0.1
    assert report.max_error_mm <= 0.05


def test_a_half_turn_that_folds_the_skin_flat_stays_finite():
    """At a twist of 180° the blend is singular: offsets stay small, and the report says so."""
    still = small_animation(3)
    world = np.asarray(still.world_from_joint).copy()
    flip = np.diag([-1.0, 1, -1])
    world[1, 2, :3, :3] = world[1, 1, :3, :3] @ flip
    weights = SkinWeights(np.tile(np.array([1, 2], np.int32), (72, 1)), np.full((72, 2), 0.5), 4)
    take = replace(still, world_from_joint=world, template=replace(still.template, weights=weights))
    rig, _ = bake(take, morphs=0)
    target = character_vertices(rig) + 0.01
    character, report = bake(replace(take, vertices=target), max_error_mm=0.1)
    assert np.abs(character.morph_offsets).max() < 100
    assert not report.reached
    assert report.max_error_mm == pytest.approx(
        1e3 * np.linalg.norm(character_vertices(character) - target, axis=-1).max()
    )


def test_joint_tracks_give_the_frames_back_and_never_jump():
    """Forward kinematics of the tracks is the animation's, over more than one full turn."""
    take = small_animation(30)
    character, _ = bake(take)
    np.testing.assert_allclose(character_joints(character), take.world_from_joint, atol=1e-12)
    tracks = character.joint_rotations_wxyz
    assert (np.sum(tracks[1:] * tracks[:-1], axis=-1) > 0).all()


def test_vertices_without_area_are_carried_too():
    """The area weighting must not lose a vertex that belongs to no triangle."""
    take = soft_take(rank=3)
    mesh = take.template.mesh
    bare = Mesh(mesh.vertices, mesh.triangles[: len(mesh.triangles) // 2])
    take = replace(take, template=replace(take.template, mesh=bare))
    character, report = bake(take, max_error_mm=0.01)
    assert character.morph_count == 3
    assert report.max_error_mm < 0.01


def test_attachments_and_colours_come_along():
    take = soft_take()
    colours = np.full((take.template.mesh.vertex_count, 3), 0.25)
    character, _ = bake(take, attachments=[eye()], vertex_colours=colours)
    assert character.attachments[0].name == "left_eye"
    assert character.vertex_colours is colours


@pytest.mark.parametrize("value", [0.0, -1.0, np.nan, np.inf])
def test_a_senseless_error_is_refused(value):
    with pytest.raises(InputError, match="max_error_mm"):
        bake(small_animation(), max_error_mm=value)


def test_a_negative_number_of_morphs_is_refused():
    with pytest.raises(InputError, match="expected 0 or more"):
        bake(small_animation(), morphs=-1)


def test_a_batch_of_people_is_refused():
    take = small_animation()
    two = replace(
        take.identity,
        rest_vertices=np.stack([take.identity.rest_vertices] * 2),
        joints=np.stack([take.identity.joints] * 2),
    )
    with pytest.raises(InputError, match="one person"):
        bake(replace(take, identity=two))


def small_character() -> Character:
    return bake(soft_take(), max_error_mm=5.0)[0]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda c: {"fps": 0.0}, "fps 0.0"),
        (lambda c: {"morph_names": c.morph_names[:-1]}, "morph names"),
        (lambda c: {"morph_names": ("a",) * c.morph_count}, "stand twice"),
        (lambda c: {"morph_weights": c.morph_weights[:-1]}, "frames of joint rotations"),
        (lambda c: {"root_translation": c.root_translation[:-1]}, "of root translation"),
        (lambda c: {"joint_rotations_wxyz": 2 * c.joint_rotations_wxyz}, "length 2.0000"),
        (lambda c: {"joint_rotations_wxyz": c.joint_rotations_wxyz[:, :-1]}, "3 joints"),
        (lambda c: {"morph_offsets": c.morph_offsets[:, :-1]}, "71 vertices"),
        (lambda c: {"morph_offsets": np.nan * c.morph_offsets}, "not finite"),
        (lambda c: {"morph_normals": c.morph_normals[:-1]}, "morph normals"),
        (lambda c: {"morph_normals": np.inf * c.morph_normals}, "not finite"),
        (lambda c: {"vertex_colours": np.zeros((3, 3))}, "3 colours"),
        (
            lambda c: {
                "joint_rotations_wxyz": c.joint_rotations_wxyz[:0],
                "root_translation": c.root_translation[:0],
                "morph_weights": c.morph_weights[:0],
            },
            "no frames",
        ),
    ],
)
def test_a_character_whose_parts_do_not_fit_is_refused(change, words):
    """`check` is called by itself: the run-time type check of the tests would come first."""
    character = copy.copy(small_character())
    for name, value in change(character).items():
        object.__setattr__(character, name, value)
    with pytest.raises(InputError, match=words):
        character.check()


def test_a_character_with_five_weights_a_vertex_is_refused():
    character = small_character()
    weights = SkinWeights(np.zeros((72, 5), np.int32), np.full((72, 5), 0.2), 4)
    with pytest.raises(InputError, match="5 weights a vertex"):
        replace(character, template=replace(character.template, weights=weights))
