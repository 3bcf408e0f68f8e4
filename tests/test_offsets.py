"""Offsets in the rest pose by cause: planted ones are found, what cannot be undone is counted."""

import inspect
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import synthetic

from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.weights import SkinWeights
from corporeal.errors import InputError
from corporeal.formats.native import read_animation, write_animation
from corporeal.formats.npz import write_npz
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.offsets import offsets_by_cause, static_take
from corporeal.skinning.offsets import SkinningName, rest_offsets, skinned_offsets

TEMPLATE = synthetic.arm_template()


def arm_take(seed: int = 3) -> Animation:
    """Linear blending of an arm in lively poses."""
    motion = synthetic.random_motion(TEMPLATE, frames=20, seed=seed, dtype=np.float64)
    identity = synthetic.identity_of(TEMPLATE, np.float64)
    return make_deformer("lbs", TEMPLATE).animate(identity, motion)


@pytest.mark.parametrize("skinning", ["lbs", "dqs"])
def test_planted_offsets_are_found(skinning: SkinningName) -> None:
    """d = unpose(skin(r + d)) − r, to rounding times the condition; more frames than one piece."""
    take = arm_take()
    planted = 0.01 * np.random.default_rng(0).standard_normal(np.shape(take.vertices))
    moved = replace(take, vertices=skinned_offsets(take, planted, skinning))
    found, singular = rest_offsets(moved, skinning)
    assert not singular.any()
    np.testing.assert_allclose(found, planted, rtol=0, atol=1e-11)
    by_cause = offsets_by_cause(moved, skinning=skinning)
    np.testing.assert_array_equal(by_cause.total, found)
    assert not by_cause.dynamic.any()


def test_offsets_are_relative_to_the_root() -> None:
    """Turning and moving the whole take leaves them as they are."""
    deformer, identity, motion = (
        make_deformer("dqs", TEMPLATE),
        arm_take().identity,
        arm_take().motion,
    )
    found = []
    for root, place in (([0.0, 0.0, 0.0], 0.0), ([0.4, 2.0, -0.7], 5.0)):
        rotations = np.asarray(motion.joint_rotations).copy()
        rotations[:, 0] = root
        translation = np.full((motion.frame_count, 3), place)
        moved = Motion("moved", motion.fps, rotations, translation, motion.skeleton)
        found.append(offsets_by_cause(deformer.animate(identity, moved)).pose)
    assert np.abs(found[0]).max() > 1e-3
    np.testing.assert_allclose(found[1], found[0], rtol=0, atol=1e-11)


def test_what_cannot_be_undone_is_counted() -> None:
    """Half of one joint and half of its child turned by π: the blend of 1 and R(π) has rank 1."""
    count = TEMPLATE.skeleton.joint_count
    rotations = np.zeros((1, count, 3))
    rotations[0, 1, 0] = np.pi
    motion = Motion("twist", 30.0, rotations, np.zeros((1, 3)), TEMPLATE.skeleton)
    identity = synthetic.identity_of(TEMPLATE, np.float64)
    dense, shared = TEMPLATE.weights.dense(), range(7)
    dense[shared] = 0.0
    dense[shared, :2] = 0.5
    template = replace(TEMPLATE, weights=SkinWeights.from_dense(dense, 4))
    take = make_deformer("lbs", template).animate(identity, motion)
    found = offsets_by_cause(take)
    assert set(np.flatnonzero(found.singular[0])) >= set(shared)
    assert found.singular_count == int(found.singular.sum())
    assert not found.total[found.singular].any()
    assert offsets_by_cause(take, skinning="dqs").singular_count == 0


def test_known_offsets_are_given_as_they_are() -> None:
    """In double precision those of `smpl` are exact; relative to another skinning they are not."""
    template = load_default_body().template
    identity = synthetic.identity_of(template, np.float64)
    motion = synthetic.random_motion(template, frames=2, seed=1, dtype=np.float64)
    take = make_deformer("smpl", template).animate(identity, motion)
    assert take.offset_skinning == "lbs"
    np.testing.assert_array_equal(offsets_by_cause(take).pose, take.pose_offsets)
    assert np.abs(offsets_by_cause(take, skinning="dqs").pose - take.pose_offsets).max() > 1e-3
    unsaid = replace(take, offset_skinning="")
    known = np.asarray(take.pose_offsets)
    np.testing.assert_allclose(offsets_by_cause(unsaid).pose, known, rtol=0, atol=1e-12)


def test_a_file_keeps_what_its_offsets_are_relative_to(tmp_path: Path) -> None:
    """A file from before says nothing, and its offsets are found by unposing."""
    take = arm_take()
    zero = np.zeros(np.shape(take.vertices))
    write_animation(tmp_path / "a.npz", replace(take, pose_offsets=zero, offset_skinning="dqs"), {})
    assert read_animation(tmp_path / "a.npz").offset_skinning == "dqs"
    arrays = dict(np.load(tmp_path / "a.npz"))
    del arrays["offset_skinning"]
    write_npz(tmp_path / "old.npz", arrays)
    old = read_animation(tmp_path / "old.npz")
    assert old.offset_skinning == ""
    assert np.abs(offsets_by_cause(old, skinning="dqs").pose).max() > 1e-3


def test_pose_and_movement_are_told_apart() -> None:
    """Flesh: the static take is the pose's part, the rest of the way is the movement's."""
    identity = synthetic.identity_of(TEMPLATE, np.float64)
    motion = synthetic.random_motion(TEMPLATE, frames=4, seed=2, dtype=np.float64)
    flesh = make_deformer("projective", TEMPLATE)
    callback = {"stiffness": 5e3}
    take, static = (
        flesh.animate(identity, motion, callback),
        static_take(flesh, identity, motion, callback),
    )
    np.testing.assert_array_equal(
        static.vertices, flesh.animate(identity, motion, callback | {"dynamics": False}).vertices
    )
    found = offsets_by_cause(take, static)
    well = ~found.singular
    pose = skinned_offsets(take, found.pose)
    np.testing.assert_allclose(pose[well], static.vertices[well], rtol=0, atol=1e-9)
    both = skinned_offsets(take, found.total)
    np.testing.assert_allclose(both[well], take.vertices[well], rtol=0, atol=1e-9)
    other = static_take(flesh, identity, replace(motion, root_translation=np.ones((4, 3))))
    with pytest.raises(InputError, match="other root than the animation"):
        offsets_by_cause(take, other)


def test_wrong_calls_are_refused() -> None:
    take = arm_take()
    with pytest.raises(InputError, match="no skinning 'spline'; expected lbs or dqs"):
        inspect.unwrap(rest_offsets)(take, "spline")  # pyright: ignore[reportArgumentType]
    foreign = replace(take, deformer="somebody's model")
    with pytest.raises(InputError, match="depend on the frames before"):
        offsets_by_cause(foreign)
    rest = np.stack([np.asarray(take.identity.rest_vertices)] * 2)
    joints = np.stack([np.asarray(take.identity.joints)] * 2)
    with pytest.raises(InputError, match="batch of identities"):
        offsets_by_cause(replace(take, identity=Identity(rest, joints, {})))
