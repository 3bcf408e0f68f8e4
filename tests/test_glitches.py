"""Joints that a capture throws about are carried over; honest motion is left alone."""

import numpy as np

from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import compose_axis_angles, matrix_from_axis_angle
from corporeal.motions.retarget.glitches import FASTEST, mended, turned_over

FPS = 120.0


def swinging() -> Motion:
    """Two joints swinging at up to 12 rad/s for two seconds."""
    time = np.arange(240) / FPS
    rotations = np.zeros((240, 2, 3))
    rotations[:, 0, 0] = np.sin(2 * np.pi * time)
    rotations[:, 1, 2] = 1.0 * np.sin(4 * np.pi * time)
    skeleton = Skeleton(("hip", "knee"), (-1, 0), np.array([[0.0, 1, 0], [0, 0.5, 0]]))
    return Motion("swing", FPS, rotations, np.zeros((240, 3)), skeleton)


def thrown(motion: Motion, first: int, last: int) -> Motion:
    """The same, with joint 1 turned by half a turn about y in frames first … last."""
    rotations = np.array(motion.joint_rotations)
    flip = np.tile([0.0, np.pi, 0.0], (last - first + 1, 1))
    rotations[first : last + 1, 1] = compose_axis_angles(rotations[first : last + 1, 1], flip)
    return Motion(motion.name, FPS, rotations, motion.root_translation, motion.skeleton)


def test_an_honest_motion_is_left_alone():
    motion = swinging()
    same, notes = mended(motion)
    assert same is motion
    assert notes == ()


def test_a_flip_there_and_back_is_carried_over():
    """Over ten frames a swing of 12 rad/s at most leaves its chord by ω̈ t²/8 < 0.14 rad."""
    honest = swinging()
    fixed, notes = mended(thrown(honest, 100, 109))
    error = np.abs(fixed.joint_rotations - honest.joint_rotations)
    assert error[:, 0].max() == 0
    assert error[:100].max() < 1e-12
    assert error[110:].max() < 1e-12
    chord = (4 * np.pi) ** 2 * (11 / FPS) ** 2 / 8
    assert error[:, 1].max() < chord
    assert notes == (f"knee jumps by over {FASTEST:g} rad/s; carried over in frames 100–109",)


def test_flips_that_follow_one_another_are_one_glitch():
    motion = thrown(thrown(swinging(), 60, 64), 70, 80)
    _, notes = mended(motion)
    assert notes == (f"knee jumps by over {FASTEST:g} rad/s; carried over in frames 60–80",)


def test_a_single_jump_does_not_come_back_and_stays():
    """A turn that is never undone may be a cut between two takes: nothing tells which is right."""
    motion = thrown(swinging(), 100, 239)
    same, notes = mended(motion)
    assert same is motion
    assert notes == ()


def test_a_foot_that_stays_turned_over_is_turned_back():
    """Half a turn about the foot's length, in two thirds of the clip, is taken back; a foot that
    is so throughout may rest in another pose, and stays."""
    swing = swinging()
    skeleton = Skeleton(
        ("shin", "ankle", "toes"), (-1, 0, 1), np.array([[0.0, 1, 0], [0, 0.1, 0], [0, 0.1, 0.2]])
    )
    rotations = np.concatenate([swing.joint_rotations, np.zeros((240, 1, 3))], axis=1)
    honest = Motion("step", FPS, rotations, np.zeros((240, 3)), skeleton)
    assert turned_over(honest, (1,)) == (honest, ())
    for first, frames in ((80, 160), (0, 0)):
        flipped = rotations.copy()
        flip = np.tile([0.0, 0.0, np.pi], (240 - first, 1))
        flipped[first:, 1] = compose_axis_angles(rotations[first:, 1], flip)
        motion = Motion("step", FPS, flipped, np.zeros((240, 3)), skeleton)
        found, notes = turned_over(motion, (1,))
        expected = rotations if frames else flipped
        np.testing.assert_allclose(
            matrix_from_axis_angle(found.joint_rotations),
            matrix_from_axis_angle(expected),
            atol=1e-9,
        )
        assert len(notes) == (frames > 0)
