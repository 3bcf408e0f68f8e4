"""Pose correctives: features, bounds over all poses, reduction, and the character that has them."""

from dataclasses import replace

import numpy as np
import pytest
from correctives_props import (
    DRIVING,
    ORDER,
    random_poses,
    signed_weights,
    small_character,
    small_correctives,
    xyzw,
)
from scipy.spatial.transform import Rotation

from corporeal.body.character import unsigned_weights
from corporeal.body.correctives import (
    PoseCorrectives,
    corrective_weights,
    correctives_from_blend_shapes,
    pose_features,
    weight_bounds,
)
from corporeal.body.live_weights import BASE_NAME, live_weights
from corporeal.errors import InputError
from corporeal.formats.gltf import write_glb_character
from corporeal.formats.gltf_read import read_glb_character
from corporeal.pipelines.correctives import attach_correctives
from corporeal.skinning.playback import character_vertices

WXYZ = [3, 0, 1, 2]


def test_weights_are_linear_in_the_rotation_matrices():
    """Equation 9 of SMPL, summed element by element; 0 at rest."""
    correctives, poses = small_correctives(), random_poses()
    skeleton = small_character().template.skeleton
    found = corrective_weights(correctives, skeleton, xyzw(poses)[..., WXYZ])
    np.testing.assert_allclose(found, signed_weights(correctives, poses), atol=1e-12)
    np.testing.assert_array_equal(found[0], 0)


def test_features_do_not_mind_the_length_of_quaternions():
    rotations = xyzw(random_poses())[..., WXYZ]
    np.testing.assert_allclose(pose_features(3 * rotations), pose_features(rotations), atol=1e-14)


def test_bounds_hold_for_every_pose_and_are_reached():
    """⟨A, R⟩ is largest at the rotation that Kabsch's algorithm finds, R = U diag(1, 1, ±1) Vᵀ."""
    correctives = small_correctives()
    low, high = weight_bounds(correctives)
    weights = signed_weights(correctives, random_poses(2000))
    assert (weights >= low - 1e-12).all()
    assert (weights <= high + 1e-12).all()
    for sign, bound in ((1.0, high), (-1.0, low)):
        for b, row in enumerate(correctives.feature_weights):
            shares = row.reshape(-1, 3, 3)
            best = [Rotation.align_vectors((sign * a).T, np.eye(3))[0].as_matrix() for a in shares]
            reached = sum(np.sum(a * (r - np.eye(3))) for a, r in zip(shares, best, strict=True))
            np.testing.assert_allclose(reached, bound[b], atol=1e-9)


def test_live_weights_show_the_signed_offsets_without_leaving_zero_to_one():
    correctives, poses = small_correctives(), random_poses(500)
    live = live_weights(correctives)
    weights = live.weights(xyzw(poses)[:, ORDER][..., WXYZ])
    assert weights.min() >= 0
    assert weights.max() <= 1
    shown = np.tensordot(weights, live.targets(correctives.offsets), axes=1)
    expected = np.tensordot(signed_weights(correctives, poses), correctives.offsets, axes=1)
    np.testing.assert_allclose(shown, expected, atol=1e-12)


def test_an_attached_take_is_skinned_with_its_correctives():
    """Skinning of rest + Σ w d, with d added to the rest surface by hand, frame by frame."""
    plain, correctives = small_character(), small_correctives()
    character = attach_correctives(plain, correctives)
    rotations = np.asarray(plain.joint_rotations_wxyz)
    poses = Rotation.from_quat(rotations.reshape(-1, 4)[:, [1, 2, 3, 0]])
    offsets = np.tensordot(signed_weights(correctives, poses), correctives.offsets, axes=1)
    for frame in range(plain.frame_count):
        mesh = plain.template.mesh
        moved = replace(mesh, vertices=np.asarray(mesh.vertices) + offsets[frame])
        by_hand = replace(plain, template=replace(plain.template, mesh=moved))
        np.testing.assert_allclose(
            character_vertices(character, np.array([frame])),
            character_vertices(by_hand, np.array([frame])),
            atol=1e-6,  # float32 offsets, up to 0.3 m at weight 1
        )


def test_files_keep_the_weights_as_they_are():
    """`unsigned_weights` would rescale a target whose weight falls below 0 in the take."""
    character = attach_correctives(small_character(), small_correctives())
    assert unsigned_weights(character) is character
    assert character.morph_names[-1] == BASE_NAME
    assert (character.morph_weights[:, -1] == 1).all()


def test_weights_that_never_fall_below_zero_need_no_base():
    """1 − cos of a turn lies between 0 and 2."""
    shares = np.zeros((1, 9))
    shares[0, 0] = -1.0
    one = PoseCorrectives(("middle",), ("bulge",), shares, small_correctives().offsets[:1])
    live = live_weights(one)
    assert live.morph_names == ("bulge",)
    np.testing.assert_allclose(live.targets(one.offsets), 2 * one.offsets)
    np.testing.assert_allclose(live.shares, shares / 2)
    assert attach_correctives(small_character(), one).morph_names == ("bulge",)


def test_a_glb_keeps_them(tmp_path):
    character = attach_correctives(small_character(), small_correctives())
    write_glb_character(tmp_path / "a.glb", character)
    found = read_glb_character(tmp_path / "a.glb")
    assert found.morph_names == character.morph_names
    np.testing.assert_allclose(found.morph_weights, character.morph_weights, atol=1e-6)


def test_normals_follow_the_take_where_its_weight_is_largest():
    """With one corrective, the slope is the secant from rest to the largest weight."""
    shares = np.zeros((1, 9))
    shares[0, 1] = 1.0
    base = small_correctives()
    one = PoseCorrectives(("middle",), ("bulge",), shares, 0.3 * base.offsets[:1])
    character = attach_correctives(small_character(), one)
    assert character.morph_normals is not None
    moved = np.tensordot(character.morph_weights, character.morph_normals, axes=1)
    weights = corrective_weights(one, character.template.skeleton, character.joint_rotations_wxyz)
    peak = np.abs(weights[:, 0]).argmax()
    mesh = character.template.mesh
    before, after = (
        _normals(np.asarray(mesh.vertices) + w * one.offsets[0], mesh.triangles)
        for w in (0.0, weights[peak, 0])
    )
    np.testing.assert_allclose(moved[peak], after - before, atol=1e-5)


def _normals(vertices: np.ndarray, triangles: np.ndarray) -> np.ndarray:
    corners = vertices[triangles]
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    sums = np.zeros_like(vertices)
    for corner in range(3):
        np.add.at(sums, triangles[:, corner], areas)
    return sums / np.linalg.norm(sums, axis=1, keepdims=True)


def test_reduction_is_exact_at_the_rank_of_the_blend_shapes():
    """Twenty-seven blend shapes of rank 6: six targets give equation 9, five do not."""
    random = np.random.default_rng(3)
    shapes = np.tensordot(random.normal(size=(27, 6)), random.normal(size=(6, 50, 3)), axes=1)
    features = pose_features(xyzw(random_poses())[:, ORDER][..., WXYZ])
    expected = np.tensordot(features, shapes, axes=1)

    def error(count: int) -> float:
        found = correctives_from_blend_shapes(DRIVING, shapes, count)
        shown = np.tensordot(features @ found.feature_weights.T, found.offsets, axes=1)
        return float(np.abs(shown - expected).max())

    assert error(6) < 1e-10
    assert error(5) > 1e-2


BAD = {
    "no joints": ({"joint_names": (), "feature_weights": np.zeros((5, 0))}, "no joint names"),
    "joint twice": ({"joint_names": ("middle", "middle", "head")}, "stand twice"),
    "morph twice": ({"morph_names": ("a", "a", "b", "c", "d")}, "stand twice"),
    "features": ({"feature_weights": np.zeros((5, 26))}, r"expected \(5, 27\)"),
    "nan share": ({"feature_weights": np.full((5, 27), np.nan)}, "not finite"),
    "infinite offset": ({"offsets": np.full((5, 72, 3), np.inf)}, "not finite"),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_correctives_are_refused(case: str):
    change, message = BAD[case]
    with pytest.raises(InputError, match=message):
        replace(small_correctives(), **change)


def test_offsets_must_be_as_many_as_names():
    """In the tests the annotations refuse this first, so the noun's own check is called."""
    correctives = small_correctives()
    object.__setattr__(correctives, "offsets", correctives.offsets[:4])
    with pytest.raises(InputError, match="4 offsets"):
        correctives.check()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"joint_names": ("middle", "tail", "head")}, "no joint 'tail'"),
        ({"joint_names": ("middle", "root", "head")}, "the root"),
        ({"offsets": np.zeros((5, 71, 3))}, "71 vertices"),
        ({"morph_names": ("a", "b", "c", "d", BASE_NAME)}, "stand twice"),
    ],
)
def test_correctives_of_another_body_are_refused(change: dict, message: str):
    with pytest.raises(InputError, match=message):
        attach_correctives(small_character(), replace(small_correctives(), **change))


def test_attaching_twice_is_refused():
    character = attach_correctives(small_character(), small_correctives())
    with pytest.raises(InputError, match="already has morph targets"):
        attach_correctives(character, small_correctives())


def test_bad_poses_are_refused():
    rotations = xyzw(random_poses())[..., WXYZ]
    skeleton = small_character().template.skeleton
    with pytest.raises(InputError, match="3 joints"):
        corrective_weights(small_correctives(), skeleton, rotations[:, :3])
    with pytest.raises(InputError, match="not finite"):
        pose_features(np.full((2, 4), np.nan))
    with pytest.raises(InputError, match="length 0"):
        pose_features(np.zeros((2, 4)))


@pytest.mark.parametrize("count", [0, 28])
def test_a_count_outside_the_blend_shapes_is_refused(count: int):
    with pytest.raises(InputError, match="expected 1 to 27"):
        correctives_from_blend_shapes(DRIVING, np.zeros((27, 4, 3)), count)


def test_blend_shapes_must_be_nine_a_joint():
    with pytest.raises(InputError, match="9 a joint"):
        correctives_from_blend_shapes(DRIVING, np.zeros((26, 4, 3)), 2)
