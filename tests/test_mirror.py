"""Left for right: what flesh feels in the mirror, against a motion that was mirrored itself."""

import numpy as np

from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.dynamics.control_vector import bone_controls, driving_names
from corporeal.dynamics.mirror import (
    mirrored_controls,
    mirrored_movement,
    mirrored_offsets,
    mirrored_posture,
    other_side,
)
from corporeal.dynamics.neural.features import clip_features

TEMPLATE = load_default_body().template


def test_features_of_a_mirrored_motion():
    """R' = M R M, that is (x, −y, −z) of an axis-angle vector, for the other side's joint, on a
    skeleton that is mirrored too: controls, movement and pose change places and signs alone."""
    skeleton, random = TEMPLATE.skeleton, np.random.default_rng(0)
    times = np.arange(40)[:, None, None] / 60
    waves = random.normal(0, 0.3, (1, skeleton.joint_count + 1, 3)) * np.sin(
        2 * np.pi * 2 * times + random.uniform(0, 6, (1, skeleton.joint_count + 1, 3))
    )
    twins = other_side(skeleton.names)
    motion = Motion("m", 60.0, waves[:, :-1], waves[:, -1], skeleton)
    image = Motion(
        "i", 60.0, waves[:, :-1][:, twins] * (1, -1, -1), waves[:, -1] * (-1, 1, 1), skeleton
    )
    joints = np.asarray(skeleton.joints, np.float64)
    other = joints[twins] * (-1, 1, 1)
    names = driving_names(skeleton, "bones")
    np.testing.assert_allclose(
        mirrored_controls(names).of(bone_controls(motion, names, joints)),
        bone_controls(image, names, other),
        atol=1e-8,
    )
    here, there = clip_features(motion, joints), clip_features(image, other)
    for one, two, turn in zip(
        here, there, (mirrored_movement(skeleton.names), mirrored_posture(skeleton.names)),
        strict=True,
    ):  # fmt: skip
        np.testing.assert_allclose(turn.of(one), two, atol=1e-8)
        np.testing.assert_array_equal(turn.of(turn.of(one)), one)


def test_offsets_change_sides():
    """The body's own surface is its mirror image, to the template's symmetry."""
    mirror = TEMPLATE.mesh.mirror
    rest = np.asarray(TEMPLATE.mesh.vertices, np.float64)
    image = mirrored_offsets(rest.reshape(1, -1), np.asarray(mirror)).reshape(-1, 3)
    assert np.abs(image - rest).max() < 2e-3
