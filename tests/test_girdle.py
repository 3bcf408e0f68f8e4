"""Scapulohumeral rhythm: what the collar takes of an arm's elevation, and what it leaves alone."""

from dataclasses import replace

import numpy as np
import pytest

from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.geometry.rotations import geodesic_angle, matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.custom_skeleton import motion_from_memory
from corporeal.motions.derivatives import world_frames
from corporeal.motions.girdle import (
    collar_elevation,
    collar_retraction,
    collar_turn,
    sides_with_collars,
    turned_collars,
    with_girdle,
)
from corporeal.motions.incoming import IncomingOptions
from corporeal.motions.library import make_motion
from corporeal.motions.retarget.retarget import retarget
from corporeal.motions.timing import smooth_step

MODEL = PhenotypeModel()
BODY = MODEL.template.skeleton
COLLARS = [BODY.index(f"{side}_collar") for side in ("left", "right")]
SHOULDERS = [BODY.index(f"{side}_shoulder") for side in ("left", "right")]


def wild(frames: int = 60, seed: int = 1) -> Motion:
    """Arms, collars and trunk anywhere."""
    generator = np.random.default_rng(seed)
    rotations = generator.uniform(-1.2, 1.2, (frames, BODY.joint_count, 3))
    return Motion("wild", 60.0, rotations, generator.normal(size=(frames, 3)), BODY)


def raised(elevations) -> Motion:
    """Both arms in the frontal plane, at elevations in radians; below 0 and beyond π they cross."""
    rotations = np.zeros((len(elevations), BODY.joint_count, 3))
    for shoulder, sign in zip(SHOULDERS, (1.0, -1.0), strict=True):
        rotations[:, shoulder, 2] = sign * (np.asarray(elevations) - 0.5 * np.pi)
    return Motion("raise", 60.0, rotations, np.zeros((len(elevations), 3)), BODY)


@pytest.mark.parametrize(
    ("arm", "up", "back"),
    [
        (0.0, -12.0, 0.0),  # hanging, as the posture of measuring has it
        (30.0, -12.0 + 0.2 * 15.0 / 4.0, 0.0),  # the middle of the rounding: w/4
        (90.0, 0.0, 0.0),  # the T-pose is the zero
        (150.0, 12.0, 45.0 / 6.0),
        (180.0, 0.2 * (150.0 - 15.0) - 12.0, (75.0 - 15.0) / 6.0),
    ],
)
def test_the_collars_share(arm: float, up: float, back: float):
    """e(θ) − e(90°) and r(θ) in closed form, degrees."""
    elevation = np.radians(arm)
    at = np.array([elevation])
    np.testing.assert_allclose(np.degrees(collar_elevation(at)), up, atol=1e-12)
    np.testing.assert_allclose(np.degrees(collar_retraction(at)), back, atol=1e-12)
    motion = with_girdle(raised([elevation]))
    for collar, sign in zip(COLLARS, (1.0, -1.0), strict=True):
        x, y, z = matrix_from_axis_angle(motion.joint_rotations[0, collar]) @ [sign, 0.0, 0.0]
        assert np.degrees(np.arcsin(y)) == pytest.approx(up, abs=1e-9)
        assert np.degrees(np.arctan2(-z, sign * x)) == pytest.approx(back, abs=1e-9)


def test_ratio_of_arm_to_girdle_lies_between_clavicle_and_scapula():
    """Of a degree beyond the setting phase 1/5: less than the scapula's 1/3.3 (Braman 2009), more
    than the clavicle's 15° in 150° (Ludewig 2004), since one joint is both."""
    arm = np.radians([60.0, 140.0])
    share = np.diff(collar_elevation(arm))[0] / np.diff(arm)[0]
    assert 15.0 / 150.0 < share < 1.0 / 3.3


def test_all_but_the_collars_keeps_its_orientation_in_the_world():
    """Arms, hands and trunk point where the motion had them, to rounding."""
    motion = wild()
    before = world_frames(motion)[..., :3, :3]
    after = world_frames(with_girdle(motion))[..., :3, :3]
    others = [j for j in range(BODY.joint_count) if j not in COLLARS]
    np.testing.assert_allclose(after[:, others], before[:, others], atol=1e-9)
    assert geodesic_angle(after[:, COLLARS], before[:, COLLARS]).max() > np.radians(5.0)


def test_joints_that_have_no_part_in_it_stay_bit_for_bit():
    motion = wild()
    after = with_girdle(motion)
    others = [j for j in range(BODY.joint_count) if j not in (*COLLARS, *SHOULDERS)]
    np.testing.assert_array_equal(
        after.joint_rotations[:, others], motion.joint_rotations[:, others]
    )
    np.testing.assert_array_equal(after.root_translation, motion.root_translation)


def test_world_and_local_rotations_agree():
    """Turning the collars' world rotations is the same as turning collars and shoulders."""
    motion = wild()
    frames = turned_collars(world_frames(motion)[..., :3, :3], BODY, ("left", "right"))
    expected = world_frames(with_girdle(motion))[..., :3, :3]
    np.testing.assert_allclose(frames, expected, atol=1e-9)


def test_a_t_pose_is_left_as_it_is():
    still = raised([0.5 * np.pi])
    np.testing.assert_allclose(
        with_girdle(still).joint_rotations, still.joint_rotations, atol=1e-12
    )


@pytest.mark.parametrize("middle", [0.0, np.pi])
def test_an_arm_goes_smoothly_through_the_vertical(middle: float):
    """Below and above, the collar rests: 1 mrad of the arm, on a way that passes 10 mrad beside the
    vertical, never turns it by more than 1 mrad, and steps differ by less than 0.1 mrad."""
    swing = middle + np.arange(-0.6, 0.6, 1e-3)
    along = np.stack([np.sin(swing), -np.cos(swing), np.full_like(swing, 0.01)], axis=-1)
    turns = collar_turn(along, "left")
    steps = geodesic_angle(turns[1:], turns[:-1])
    assert steps.max() < 1e-3
    assert np.abs(np.diff(steps)).max() < 1e-4


def test_left_and_right_are_mirrored():
    """R(M a) of the right is M R(a) M of the left, M = diag(−1, 1, 1)."""
    along = np.random.default_rng(2).normal(size=(50, 3))
    mirror = np.diag([-1.0, 1.0, 1.0])
    left, right = collar_turn(along, "left"), collar_turn(along @ mirror, "right")
    np.testing.assert_allclose(right, mirror @ left @ mirror, atol=1e-15)


def test_motions_without_collars_are_unharmed():
    """The same without the girdle's joints, and where arms hang on the chest itself."""
    bare = Skeleton(("pelvis", "left_shoulder", "left_elbow"), (-1, 0, 1), np.eye(3))
    motion = Motion("m", 30.0, np.full((4, 3, 3), 0.3), np.zeros((4, 3)), bare)
    assert sides_with_collars(bare) == ()
    np.testing.assert_array_equal(with_girdle(motion).joint_rotations, motion.joint_rotations)
    beside = replace(bare, names=("left_collar", "left_shoulder", "left_elbow"), parents=(-1, 0, 0))
    assert sides_with_collars(beside) == ()
    assert sides_with_collars(BODY) == ("left", "right")


def seen_from_chest(motion: Motion, joints: list[int]):
    """Rotations of joints against spine3, N × 2 × 3 × 3."""
    frames = world_frames(motion)[..., :3, :3]
    chest = frames[:, BODY.index("spine3"), None]
    return np.swapaxes(chest, -1, -2) @ frames[:, joints]


SWEEP = np.radians(np.linspace(5.0, 170.0, 40))


def test_retargeting_moves_the_collars_that_a_capture_leaves_still():
    """The arms' world rotations stay; the collars have the closed form at every elevation."""
    source = raised(SWEEP)
    off, on = retarget(source, BODY), retarget(source, BODY, girdle=True)
    assert on.girdle == ("left", "right")
    assert off.girdle == ()
    before, after = (world_frames(made.motion)[..., :3, :3] for made in (off, on))
    others = [j for j in range(BODY.joint_count) if j not in COLLARS]
    np.testing.assert_allclose(after[:, others], before[:, others], atol=1e-9)
    left = seen_from_chest(on.motion, COLLARS)[:, 0] @ [1.0, 0.0, 0.0]
    np.testing.assert_allclose(np.arcsin(left[:, 1]), collar_elevation(SWEEP), atol=1e-9)


def test_captured_collars_stay_as_captured():
    """One side moved by 3° in one frame: that side is the capture's, the other the girdle's."""
    source = raised(SWEEP)
    rotations = np.array(source.joint_rotations)
    rotations[7, COLLARS[0], 2] = np.radians(3.0)
    source = replace(source, joint_rotations=rotations)
    off, on = retarget(source, BODY), retarget(source, BODY, girdle=True)
    assert on.girdle == ("right",)
    chain = [COLLARS[0], SHOULDERS[0]]
    np.testing.assert_array_equal(
        on.motion.joint_rotations[:, chain], off.motion.joint_rotations[:, chain]
    )


def test_a_raw_motion_is_untouched():
    source = raised(SWEEP)
    raw = retarget(source, BODY, girdle=True, raw=True)
    np.testing.assert_array_equal(raw.motion.joint_rotations, source.joint_rotations)


def test_authored_collars_follow_the_rhythm_and_arms_point_as_authored():
    """On: the closed form of the arm's elevation. Off: the rise 0.30 s(…) − 0.06 of before."""
    identity = MODEL.prepare()
    on, off = (
        make_motion("jumping-jacks", identity, MODEL.template, fps=30.0, girdle=girdle)
        for girdle in (True, False)
    )
    arms = seen_from_chest(on, SHOULDERS)
    np.testing.assert_allclose(arms, seen_from_chest(off, SHOULDERS), atol=1e-9)
    along = arms[:, 0] @ [1.0, 0.0, 0.0]
    elevation = np.arctan2(np.hypot(along[:, 0], along[:, 2]), -along[:, 1])
    assert np.ptp(elevation) > np.radians(90.0)
    collar = seen_from_chest(on, COLLARS)[:, 0] @ [1.0, 0.0, 0.0]
    np.testing.assert_allclose(np.arcsin(collar[:, 1]), collar_elevation(elevation), atol=1e-9)
    rise = off.joint_rotations[:, COLLARS[0], 2]
    assert rise.min() >= -0.06
    assert rise.max() <= 0.30 * smooth_step(np.array([1.0]))[0] - 0.06 + 1e-12


def test_a_skeleton_without_collars_gets_the_same_arms():
    """By way of a person: what the girdle takes there is given back before it is carried over."""
    keep = [j for j in range(BODY.joint_count) if j not in COLLARS]
    parents = [BODY.parents[BODY.parents[j]] if BODY.parents[j] in COLLARS else BODY.parents[j]
               for j in keep]  # fmt: skip
    own = Skeleton(
        tuple(BODY.names[j].upper() for j in keep),
        tuple(-1 if p < 0 else keep.index(p) for p in parents),
        np.asarray(BODY.joints)[keep],
    )
    on, off = (
        motion_from_memory(raised(SWEEP), own, BODY, IncomingOptions(girdle=girdle)).motion
        for girdle in (True, False)
    )
    np.testing.assert_allclose(
        world_frames(on)[..., :3, :3], world_frames(off)[..., :3, :3], atol=1e-9
    )
