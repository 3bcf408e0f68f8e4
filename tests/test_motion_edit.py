"""Resampling, derivatives, cutting, blending and looping, against closed forms."""

import numpy as np
import pytest

from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import InputError
from corporeal.geometry.rotations import geodesic_angle, matrix_from_axis_angle
from corporeal.motions.derivatives import derivatives, in_root_axes, turning_speed, world_frames
from corporeal.motions.edit import blend, cut, loop, moved_on_ground
from corporeal.motions.resample import resample

ARM = Skeleton(("root", "arm"), (-1, 0), np.array([[0.0, 1, 0], [0.5, 1, 0]]))


def spinning(fps: float = 100.0, seconds: float = 1.0, rate: float = 2.0) -> Motion:
    """The root turns about the vertical at `rate` rad/s while it falls freely along a parabola."""
    time = np.arange(round(seconds * fps) + 1) / fps
    rotations = np.zeros((len(time), 2, 3))
    rotations[:, 0, 1] = rate * time
    rotations[:, 1, 2] = 0.3 * rate * time
    path = np.stack([1.5 * time, 2.0 * time - 0.5 * 9.81 * time**2, 0 * time], axis=1)
    return Motion("spin", fps, rotations, path, ARM)


@pytest.mark.parametrize("fps", [25.0, 50.0, 60.0, 100.0, 240.0, 999.0])
def test_resampling_a_steady_turn_is_exact(fps: float):
    """Slerp is exact for constant angular speed; the cubic is exact for parabolas inside."""
    slow = resample(spinning(100.0), fps)
    time = np.arange(slow.frame_count) / fps
    assert abs(slow.duration - 1.0) < 1.0 / fps
    np.testing.assert_allclose(slow.joint_rotations[:, 0, 1], 2.0 * time, atol=1e-12)
    inside = (time > 0.01) & (time < 0.99)
    exact = 2.0 * time - 0.5 * 9.81 * time**2
    np.testing.assert_allclose(slow.root_translation[inside, 1], exact[inside], atol=1e-12)


def test_resampling_to_its_own_rate_changes_nothing():
    motion = spinning(120.0)
    again = resample(motion, 120.0)
    np.testing.assert_allclose(again.joint_rotations, motion.joint_rotations, atol=1e-14)
    np.testing.assert_allclose(again.root_translation, motion.root_translation, atol=1e-14)


def test_resampling_takes_the_short_way_round():
    """From 179° to −179° are two degrees, not 358."""
    rotations = np.zeros((2, 2, 3))
    rotations[:, 1, 0] = np.deg2rad([179.0, -179.0])
    middle = resample(Motion("flip", 10.0, rotations, np.zeros((2, 3)), ARM), 20.0)
    assert abs(np.linalg.norm(middle.joint_rotations[1, 1])) == pytest.approx(np.pi)


def test_a_single_frame_can_be_resampled():
    one = Motion("one", 30.0, np.ones((1, 2, 3)), np.ones((1, 3)), ARM)
    np.testing.assert_allclose(resample(one, 60.0).joint_rotations, one.joint_rotations)


def test_world_derivatives_of_a_falling_spin():
    """v = ẋ + ω × r and a = ẍ + ω × (ω × r); central differences err by (ωΔt)²/6 of that."""
    motion = spinning(200.0)
    found = derivatives(motion)
    time = np.arange(motion.frame_count) / 200.0
    velocity = np.stack([1.5 + 0 * time, 2.0 - 9.81 * time, 0 * time], axis=1)
    np.testing.assert_allclose(found.velocity[:, 0], velocity, atol=1e-12)
    np.testing.assert_allclose(found.acceleration[:, 0], [[0, -9.81, 0]] * len(time), atol=1e-9)
    radius = 0.5 * np.stack([np.cos(2 * time), 0 * time, -np.sin(2 * time)], axis=1)
    inner = slice(1, -1)
    expected = velocity + np.cross([0, 2.0, 0], radius)
    tolerance = 0.5 * 2.0 * (2.0 / 200) ** 2
    np.testing.assert_allclose(found.velocity[inner, 1], expected[inner], atol=tolerance)
    pull = np.array([0, -9.81, 0]) - 4.0 * radius
    np.testing.assert_allclose(found.acceleration[inner, 1], pull[inner], atol=4 * tolerance)
    np.testing.assert_allclose(found.angular_velocity[:, 0], [[0, 2.0, 0]] * len(time), atol=1e-9)


def test_root_derivatives_do_not_see_how_the_body_moves():
    """Riding on the root, only the arm's own turn remains: 0.6 rad/s about z, arm joint at rest."""
    found = derivatives(spinning(200.0), "root")
    np.testing.assert_allclose(found.velocity, 0.0, atol=1e-10)
    np.testing.assert_allclose(found.acceleration, 0.0, atol=1e-8)
    np.testing.assert_allclose(found.angular_velocity[:, 0], 0.0, atol=1e-10)
    np.testing.assert_allclose(found.angular_velocity[:, 1, 2], 0.6, atol=1e-9)
    np.testing.assert_allclose(found.angular_acceleration, 0.0, atol=1e-7)


def test_vectors_in_root_axes():
    """After a quarter turn to the left, what points to the world's +x points to the root's back."""
    rotations = np.zeros((1, 2, 3))
    rotations[0, 0, 1] = 0.5 * np.pi
    motion = Motion("m", 1.0, rotations, np.zeros((1, 3)), ARM)
    vectors = np.broadcast_to([1.0, 0, 0], (1, 2, 3))
    np.testing.assert_allclose(in_root_axes(motion, vectors)[0, 0], [0, 0, 1], atol=1e-15)


def test_turning_speed_is_that_of_the_joints_themselves():
    np.testing.assert_allclose(turning_speed(spinning())[:, 0], 2.0, atol=1e-9)
    np.testing.assert_allclose(turning_speed(spinning())[:, 1], 0.6, atol=1e-9)


def test_cutting():
    part = cut(spinning(100.0), 0.25, 0.5)
    assert part.frame_count == 26
    np.testing.assert_array_equal(part.root_translation, spinning(100.0).root_translation[25:51])


def test_moving_over_the_ground_keeps_everything_but_place_and_heading():
    """Joint heights and distances stay; root place and heading at the frame become the other's."""
    first, second = spinning(100.0, rate=1.0), spinning(100.0, rate=-3.0)
    moved = moved_on_ground(second, onto=first, frame=10, onto_frame=50)
    before, after = (world_frames(m)[..., :3, 3] for m in (second, moved))
    np.testing.assert_allclose(after[..., 1], before[..., 1], atol=1e-12)
    np.testing.assert_allclose(
        np.linalg.norm(after[:, 0] - after[:1, 0], axis=-1),
        np.linalg.norm(before[:, 0] - before[:1, 0], axis=-1),
        atol=1e-12,
    )
    np.testing.assert_allclose(
        moved.root_translation[10, [0, 2]], first.root_translation[50, [0, 2]], atol=1e-12
    )
    np.testing.assert_allclose(
        moved.joint_rotations[10, 0], first.joint_rotations[50, 0], atol=1e-12
    )


def test_blending_a_motion_into_its_own_continuation_is_that_motion():
    """Cut in two with an overlap, and blended back over it: nothing has changed."""
    motion = spinning(100.0)
    joined = blend(cut(motion, 0.0, 0.6), cut(motion, 0.41, 1.0), 0.2)
    assert joined.frame_count == motion.frame_count
    angle = geodesic_angle(
        matrix_from_axis_angle(joined.joint_rotations),
        matrix_from_axis_angle(motion.joint_rotations),
    )
    assert angle.max() < 1e-12
    np.testing.assert_allclose(joined.root_translation, motion.root_translation, atol=1e-12)


def test_a_loop_walks_on():
    """Three times 1 m forwards with an overlap of a tenth: 1 + 2 × 0.9 m, without a jump."""
    time = np.linspace(0, 1, 101)
    path = np.stack([0 * time, 0 * time, time], axis=1)
    walk = Motion("walk", 100.0, np.zeros((101, 2, 3)), path, ARM)
    looped = loop(walk, 3, 0.1)
    steps = np.diff(looped.root_translation[:, 2])
    np.testing.assert_allclose(steps, 0.01, atol=1e-12)
    assert looped.frame_count == 101 + 2 * 91
    np.testing.assert_array_equal(loop(walk, 1, 0.1).root_translation, path)


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (lambda m: resample(m, 0.0), "0.0 frames a second; expected 1 to 10000"),
        (lambda m: resample(m, np.nan), "nan frames a second"),
        (lambda m: cut(m, 0.5, 0.2), "cut from 0.5 s to 0.2 s"),
        (lambda m: cut(m, 0.0, 9.0), "cut from 0.0 s to 9.0 s of a motion of 1.000 s"),
        (lambda m: blend(m, m, 5.0), "500 frames; expected 1 to 100"),
        (lambda m: blend(m, m, 0.0), "0 frames; expected 1 to 100"),
        (lambda m: loop(m, 0, 0.1), "0 repetitions"),
        (lambda m: blend(m, resample(m, 50.0), 0.1), "100.0 and 50.0 frames a second"),
        (lambda m: derivatives(cut(m, 0.0, 0.01)), "2 frames; derivatives need at least 3"),
        (
            lambda m: blend(
                m,
                Motion("o", 100.0, np.zeros((9, 1, 3)), np.zeros((9, 3)),
                       Skeleton(("r",), (-1,), np.zeros((1, 3)))),
                0.05,
            ),
            "different names",
        ),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(act, words: str):
    with pytest.raises(InputError) as caught:
        act(spinning(100.0))
    assert words in str(caught.value)
