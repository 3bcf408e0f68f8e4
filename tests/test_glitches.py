"""Joints that a capture throws about are carried over; honest motion is left alone."""

from dataclasses import replace

import numpy as np

from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import (
    compose_axis_angles,
    geodesic_angle,
    matrix_from_axis_angle,
)
from corporeal.motions.derivatives import world_frames
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


def test_a_flip_that_never_returns_is_turned_back():
    """Half a turn from frame 100 on: the joint goes on as before, but for the step of one frame."""
    honest = swinging()
    fixed, notes = mended(thrown(honest, 100, 239))
    off = geodesic_angle(
        matrix_from_axis_angle(fixed.joint_rotations),
        matrix_from_axis_angle(honest.joint_rotations),
    )
    assert off[:, 0].max() < 1e-7
    assert off[:100].max() < 1e-7
    assert off[100:, 1].max() < 4 * np.pi / FPS + 1e-6  # what the swing did in that frame
    assert notes == ("knee flips by 180° after frame 99 and never returns; turned back from there "
                     "on",)  # fmt: skip


def test_a_joint_that_makes_up_for_a_flip_stays_where_it_is():
    """Joint 1 flips, joint 2 flips back: the world sees joint 1 alone, and joint 2 is left."""
    honest = chain(swinging())
    flip = np.tile([0.0, np.pi, 0.0], (140, 1))
    rotations = np.array(honest.joint_rotations)
    rotations[100:, 1] = compose_axis_angles(rotations[100:, 1], flip)
    rotations[100:, 2] = compose_axis_angles(-flip, rotations[100:, 2])
    fixed, notes = mended(replace(honest, joint_rotations=rotations))
    off = geodesic_angle(world(fixed)[:, 2], world(honest)[:, 2])
    assert off.max() < 1e-6
    assert len(notes) == 1


def test_a_cut_between_takes_is_no_flip():
    """Where most joints jump at once, nothing is turned: the take that follows is another."""
    motion = swinging()
    rotations = np.array(motion.joint_rotations)
    rotations[100:, :] = compose_axis_angles(
        rotations[100:], np.broadcast_to([0.0, 0.0, 2.0], (140, 2, 3))
    )
    same, notes = mended(replace(motion, joint_rotations=rotations))
    assert np.array_equal(same.joint_rotations, rotations)
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


def chain(motion: Motion) -> Motion:
    """With a third joint below, which turns slowly, and two that rest."""
    names, parents = ("hip", "knee", "foot", "head", "hand"), (-1, 0, 1, 0, 3)
    skeleton = Skeleton(names, parents, np.random.default_rng(0).normal(size=(5, 3)))
    rotations = np.concatenate([motion.joint_rotations, np.zeros((240, 3, 3))], axis=1)
    rotations[:, 2, 1] = 0.3 * np.sin(np.arange(240) / 60)
    return replace(motion, joint_rotations=rotations, skeleton=skeleton)


def world(motion: Motion) -> np.ndarray:
    return world_frames(motion)[..., :3, :3]
