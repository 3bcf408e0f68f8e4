"""Authored motions: free fall in flight, feet that stay, repeatable by seed."""

from itertools import combinations

import numpy as np
import pytest

from corporeal.assets.default_body import load_default_body
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.balance import centre_of_mass
from corporeal.motions.legs import Leg, leg_rotations
from corporeal.motions.library import MOTIONS, make_motion
from corporeal.motions.limits import limit_excess
from corporeal.motions.sketch import beside_the_flanks
from corporeal.motions.timing import ballistic, bump, quintic, smooth_step, takeoff_speed
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.units import GRAVITY

TEMPLATE = load_default_body().template
JUMPING = {
    "jumping-jacks",
    "light-hopping-loose",
    "light-hopping-stiff",
    "one-leg-jump",
    "running-on-spot",
}
BODIES = [{}, {"gender": 0.0, "weight": 1.0, "height": 0.0}, {"gender": 1.0, "height": 1.0}]


@pytest.fixture(scope="module", params=BODIES, ids=["average", "short", "tall"])
def identity(request) -> Identity:
    return PhenotypeModel().prepare(request.param)


@pytest.fixture(scope="module", params=sorted(MOTIONS))
def motion(request, identity) -> Motion:
    return make_motion(request.param, identity, TEMPLATE, seed=3, fps=120.0, duration=6.0)


def posed_joints(motion: Motion) -> np.ndarray:
    frames = forward_kinematics(
        motion.joint_rotations,
        motion.skeleton.joints,
        motion.skeleton.parents,
        motion.root_translation,
    )
    return frames[..., :3, 3]


def flights(motion: Motion, joints: np.ndarray) -> list[np.ndarray]:
    """Runs of frames in which both balls of the feet are well over their rest height.

    What is shorter than 40 ms is a step, not a jump."""
    balls = [motion.skeleton.index(f"{side}_foot") for side in ("left", "right")]
    rest = np.asarray(motion.skeleton.joints)[balls, 1]
    up = np.all(joints[:, balls, 1] > rest + 1e-3, axis=1)
    edges = np.flatnonzero(np.diff(np.concatenate([[False], up, [False]]).astype(int)))
    return [np.arange(a, b) for a, b in edges.reshape(-1, 2) if b - a >= 5]


def test_curves_meet_their_ends():
    """Closed forms: Hermite data are met, free fall has second derivative −g."""
    x = np.linspace(0, 1, 2001)
    start, end, span = (0.3, -1.2, 4.0), (0.9, 2.0, -9.81), 0.4
    y, h = quintic(x, span, start, end), span / 2000
    velocity, acceleration = np.gradient(y, h, edge_order=2), np.diff(y, 2) / h**2
    assert y[0] == pytest.approx(start[0])
    assert y[-1] == pytest.approx(end[0])
    # Forward differences of order h: the third derivative of this quintic is below 2e3.
    assert velocity[0] == pytest.approx(start[1], abs=2e3 * h)
    assert velocity[-1] == pytest.approx(end[1], abs=2e3 * h)
    assert acceleration[0] == pytest.approx(start[2], abs=2e3 * h)
    assert acceleration[-1] == pytest.approx(end[2], abs=2e3 * h)
    fall = ballistic(x, span, 1.0, 1.1)
    np.testing.assert_allclose(np.diff(fall, 2) / h**2, -GRAVITY, rtol=1e-5)
    assert fall[-1] == pytest.approx(1.1)
    assert (fall[1] - fall[0]) / h == pytest.approx(takeoff_speed(span, 1.0, 1.1), abs=GRAVITY * h)
    assert smooth_step(np.array([-1.0, 0.0, 0.5, 1.0, 2.0])).tolist() == [0, 0, 0.5, 1, 1]
    assert bump(np.array([0.0, 0.5, 1.0])).tolist() == [0, 1, 0]


def test_a_leg_reaches_where_it_is_asked_to():
    """Forward kinematics of the solved rotations lands on the target, knee bent forwards."""
    generator = np.random.default_rng(0)
    leg = Leg(
        hip=np.array([0.08, -0.07, 0.0]),
        thigh=np.array([0.01, -0.40, 0.01]),
        shank=np.array([0.02, -0.41, -0.03]),
        foot=np.array([0.0, -0.05, 0.13]),
        ball_height=0.03,
    )
    direction = generator.normal(size=(200, 3)) * [0.4, 0.2, 0.5] - [0, 1, 0]
    direction /= np.linalg.norm(direction, axis=1, keepdims=True)
    target = direction * generator.uniform(0.3, 0.999, (200, 1)) * leg.reach
    hip, knee = leg_rotations(leg, target, np.tile([1.0, 0.0, 0.0], (200, 1)))
    reached = np.einsum("nij,nj->ni", hip, leg.thigh + knee @ leg.shank)
    np.testing.assert_allclose(reached, target, atol=1e-12)
    np.testing.assert_allclose(np.linalg.det(hip), 1.0, atol=1e-12)
    assert np.all(np.arctan2(knee[:, 2, 1], knee[:, 1, 1]) > -0.2)
    with pytest.raises(InputError, match="asked to span"):
        leg_rotations(leg, target / np.linalg.norm(target, axis=1, keepdims=True), target)


def test_the_centre_of_mass_follows_a_translation_and_lies_in_the_middle():
    joints = np.asarray(TEMPLATE.skeleton.joints)[None]
    centre = centre_of_mass(TEMPLATE.skeleton, joints)
    moved = centre_of_mass(TEMPLATE.skeleton, joints + np.array([1.0, 2.0, 3.0]))
    np.testing.assert_allclose(moved - centre, [[1.0, 2.0, 3.0]], atol=1e-12)
    assert abs(centre[0, 0]) < 1e-3
    stature = np.ptp(np.asarray(TEMPLATE.mesh.vertices)[:, 1])
    assert 0.52 < centre[0, 1] / stature < 0.60  # 55–57 % standing, arms down (Palmer 1944)


def test_the_body_falls_freely_while_in_the_air(motion):
    """A parabola fitted to the centre of mass over every flight has −9.81 m/s² within 1 %."""
    joints = posed_joints(motion)
    centre = centre_of_mass(motion.skeleton, joints)[:, 1]
    found = flights(motion, joints)
    assert (len(found) >= 4) == (motion.name in JUMPING)
    for frames in found if motion.name in JUMPING else []:
        fit = np.polyfit(frames / motion.fps, centre[frames], 2)
        assert 2 * fit[0] == pytest.approx(-GRAVITY, rel=0.01)


def moved(motion: Motion, names: list[str]) -> float:
    """How far the named joints turn between their extremes at most, radians."""
    chosen = [motion.skeleton.index(name) for name in names]
    return float(np.ptp(np.asarray(motion.joint_rotations)[:, chosen], axis=0).max())


def test_nobody_is_a_statue(motion):
    """Head, trunk and fingers move in every motion: by 5, 2 and 5 degrees at least."""
    assert moved(motion, ["head"]) > np.radians(5)
    assert moved(motion, ["spine1", "spine2", "spine3"]) > np.radians(2)
    for side in ("left", "right"):
        assert moved(motion, [f"{side}_{finger}2" for finger in ("index", "ring")]) > np.radians(5)


def test_wings_do_not_cross(identity):
    """Fists stay on their own side of the body, 3 cm from its middle and more."""
    for seed in range(4):
        motion = make_motion("chicken-wings", identity, TEMPLATE, seed=seed)
        joints, names = posed_joints(motion), motion.skeleton
        middle = joints[:, [names.index("spine3")], 0]
        for side, sign in (("left", 1.0), ("right", -1.0)):
            hand = [names.index(f"{side}_{name}") for name in ("wrist", "index3", "middle3")]
            assert (sign * (joints[:, hand, 0] - middle)).min() > 0.03


def test_knees_go_up_in_running(identity):
    """Both thighs come up to 60° from the vertical and more."""
    motion = make_motion("running-on-spot", identity, TEMPLATE, seed=1)
    joints, names = posed_joints(motion), motion.skeleton
    for side in ("left", "right"):
        thigh = joints[:, names.index(f"{side}_knee")] - joints[:, names.index(f"{side}_hip")]
        fallen = -thigh[:, 1] / np.linalg.norm(thigh, axis=1)
        assert np.degrees(np.arccos(fallen)).max() > 60


def test_a_loose_leg_swings_clear_of_the_other(identity):
    """Its foot goes to and fro by a quarter of a leg, and no joint comes within 8 cm."""
    for seed in range(3):
        motion = make_motion("one-leg-loose", identity, TEMPLATE, seed=seed)
        joints, names = posed_joints(motion), motion.skeleton
        left, right = (
            joints[60:-60, [names.index(f"{side}_{name}") for name in ("knee", "ankle", "foot")]]
            for side in ("left", "right")
        )
        leg = np.linalg.norm(left[0, 1] - joints[60, names.index("left_hip")])
        travel = [float(np.ptp(side[:, 2, 2])) for side in (left, right)]
        assert max(travel) > 0.25 * leg
        assert min(travel) < 1e-3
        apart = np.linalg.norm(left[:, :, None] - right[:, None], axis=-1)
        assert apart.min() > 0.08


def test_shaking_motions_are_told_apart_by_their_arms(identity):
    """Where the wrists are on average, from the chest: 15 cm from motion to motion and more."""
    places = {}
    for name in ("shake-arms", "shake-shoulders", "jiggle-on-toes"):
        motion = make_motion(name, identity, TEMPLATE, seed=2)
        joints, names = posed_joints(motion)[60:-60], motion.skeleton
        away = joints[:, names.index("left_wrist")] - joints[:, names.index("spine3")]
        places[name] = away.mean(axis=0)
    for one, other in combinations(places, 2):
        assert np.linalg.norm(places[one] - places[other]) > 0.15, (one, other)


def test_planted_feet_stay_where_they_are(motion):
    """Within a contact no ball of a foot moves by 1 mm; none goes under the ground."""
    joints = posed_joints(motion)
    for side in ("left", "right"):
        index = motion.skeleton.index(f"{side}_foot")
        ball, rest = joints[:, index], np.asarray(motion.skeleton.joints)[index, 1]
        assert ball[:, 1].min() > rest - 1e-6
        down = ball[:, 1] < rest + 1e-6
        edges = np.flatnonzero(np.diff(np.concatenate([[False], down, [False]]).astype(int)))
        for first, last in edges.reshape(-1, 2):
            assert np.ptp(ball[first:last], axis=0).max() < 1e-3


@pytest.mark.parametrize("clearance", [0.0, 0.1, 0.3, 0.6])
def test_an_arm_that_goes_down_beside_a_wide_body_never_goes_up(clearance):
    """smooth_step rises by at most 15/8 an onset of 2.5 clearances: a quarter of the way stays."""
    wanted = np.linspace(1.0, -1.3, 400)
    held = beside_the_flanks(wanted, clearance)
    way = np.diff(held) / np.diff(wanted)
    assert way.min() > 0.25 - 1e-3
    assert way.max() < 1 + 1e-9
    assert held[-1] == pytest.approx(-1.3 + clearance)


def test_no_joint_jerks(motion):
    """Joint speeds stay under 22 rad/s; even a landing changes none by 12 rad/s in 1/120 s.

    A body falling at 1.2 m/s onto legs of 0.85 m, knees bent by 0.6 rad, sets the knees turning at
    1.2 / (0.85/2 · sin 0.3) = 9.6 rad/s; by √(0.85/0.55) faster for the shortest legs.
    """
    speed = np.diff(motion.joint_rotations, axis=0) * motion.fps
    assert np.abs(speed).max() < 22
    assert np.abs(np.diff(speed, axis=0)).max() < 12


@pytest.mark.parametrize("name", sorted(MOTIONS))
@pytest.mark.parametrize("seed", range(3))
def test_joint_limits_are_kept(name, seed):
    identity = PhenotypeModel().prepare()
    motion = make_motion(name, identity, TEMPLATE, seed=seed, duration=5.0)
    excess = limit_excess(motion)
    worst = int(excess.argmax())
    assert excess[worst] == 0.0, (motion.skeleton.names[worst], np.degrees(excess[worst]))


def test_a_turn_past_its_range_is_found():
    """A knee bent backwards by 20° is 15° past its range; a left turn is a right turn mirrored."""
    skeleton = TEMPLATE.skeleton
    rotations = np.zeros((1, skeleton.joint_count, 3))
    rotations[0, skeleton.index("left_knee"), 0] = np.radians(-20)
    rotations[0, skeleton.index("left_elbow"), 1] = np.radians(-90)
    rotations[0, skeleton.index("right_elbow"), 1] = np.radians(-90)
    excess = np.degrees(limit_excess(Motion("m", 30.0, rotations, np.zeros((1, 3)), skeleton)))
    assert excess[skeleton.index("left_knee")] == pytest.approx(15)
    assert excess[skeleton.index("left_elbow")] == 0
    assert excess[skeleton.index("right_elbow")] == pytest.approx(85)


@pytest.mark.parametrize("name", sorted(MOTIONS))
def test_motions_start_in_an_a_pose_on_request(name):
    """Upper arms 40° to 55° below the horizontal, both feet down, standing still."""
    motion = make_motion(name, PhenotypeModel().prepare(), TEMPLATE, a_pose=True, duration=5.0)
    joints = posed_joints(motion)
    for side in ("left", "right"):
        shoulder, elbow = (motion.skeleton.index(f"{side}_{j}") for j in ("shoulder", "elbow"))
        arm = joints[0, elbow] - joints[0, shoulder]
        assert 40 < np.degrees(np.arcsin(-arm[1] / np.linalg.norm(arm))) < 55
        ball = motion.skeleton.index(f"{side}_foot")
        assert joints[0, ball, 1] == pytest.approx(np.asarray(motion.skeleton.joints)[ball, 1])
    assert np.abs(np.diff(joints[:3], axis=0)).max() * motion.fps < 0.05


def test_a_seed_is_a_style(identity):
    first, again, other = (
        make_motion("jumping-jacks", identity, TEMPLATE, seed=seed) for seed in (0, 0, 1)
    )
    np.testing.assert_array_equal(first.joint_rotations, again.joint_rotations)
    np.testing.assert_array_equal(first.root_translation, again.root_translation)
    assert np.abs(first.joint_rotations - other.joint_rotations).max() > 0.01


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"name": "moonwalk"}, "no motion is called 'moonwalk'; there are chicken-wings"),
        ({"name": "jumping-jacks", "fps": 0.0}, "expected 1 to 1000"),
        ({"name": "jumping-jacks", "duration": 0.1}, "expected 2 to 600"),
    ],
)
def test_what_cannot_be_made_is_refused(arguments, words):
    with pytest.raises(InputError, match=words):
        make_motion(**arguments, identity=PhenotypeModel().prepare(), template=TEMPLATE)
