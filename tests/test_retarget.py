"""Retargeting, piece by piece, against constructions whose answer is known."""

import json
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.geometry.rotations import geodesic_angle, matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.derivatives import world_frames
from corporeal.motions.flight import check_frame_rate
from corporeal.motions.library import make_motion
from corporeal.motions.relaxed_hands import relaxed_hands
from corporeal.motions.retarget.alignment import aligned_frames, local_rotations, swing
from corporeal.motions.retarget.contacts import detect_contacts, is_planted, runs, source_feet
from corporeal.motions.retarget.feet import feet_of_body, feet_of_skeleton
from corporeal.motions.retarget.flanks import abducted, arm_clearance
from corporeal.motions.retarget.ground import upper_envelope
from corporeal.motions.retarget.guess import guess_name_map, name_map_for
from corporeal.motions.retarget.measures import ground_penetration, planted_slides, spikes
from corporeal.motions.retarget.name_maps import CMU, NameMap, body_map, read_name_map
from corporeal.motions.retarget.planting import faded
from corporeal.motions.retarget.reach import furthest, reach, within_reach
from corporeal.motions.retarget.retarget import retarget
from corporeal.motions.two_bones import bend_of

BODY = load_default_body().template.skeleton


def turned_rig(skeleton: Skeleton, pose: np.ndarray, prefix: str = "") -> Skeleton:
    """The same person, rigged in another rest pose: joints where `pose` (axis-angles) puts them."""
    motion = Motion("rest", 1.0, pose[None], np.zeros((1, 3)), skeleton)
    places = world_frames(motion)[0, :, :3, 3]
    return Skeleton(tuple(prefix + name for name in skeleton.names), skeleton.parents, places)


def as_rigged(motion: Motion, rest_pose: np.ndarray) -> Motion:
    """`motion` as a file of a rig with that rest pose holds it: turns since the rest, G R_restᵀ."""
    rig = turned_rig(motion.skeleton, rest_pose)
    rest = Motion("rest", 1.0, rest_pose[None], np.zeros((1, 3)), motion.skeleton)
    frames = world_frames(motion)[..., :3, :3] @ np.swapaxes(
        world_frames(rest)[0, :, :3, :3], -1, -2
    )
    root = np.asarray(motion.root_translation) + motion.skeleton.joints[0] - rig.joints[0]
    return Motion(motion.name, motion.fps, local_rotations(frames, rig.parents), root, rig)


def random_motion(count: int = 6, seed: int = 0, size: float = 0.4) -> Motion:
    generator = np.random.default_rng(seed)
    rotations = generator.normal(scale=size, size=(count, BODY.joint_count, 3))
    return Motion("random", 60.0, rotations, generator.normal(size=(count, 3)), BODY)


def a_pose(arms_deg: float = 45.0) -> np.ndarray:
    pose = np.zeros((BODY.joint_count, 3))
    pose[BODY.index("left_shoulder"), 2] = -np.deg2rad(arms_deg)
    pose[BODY.index("right_shoulder"), 2] = np.deg2rad(arms_deg)
    return pose


def test_a_motion_of_the_body_itself_is_aligned_to_itself():
    motion = random_motion()
    frames = aligned_frames(motion, BODY, body_map(BODY))
    np.testing.assert_allclose(frames, world_frames(motion)[..., :3, :3], atol=1e-12)


@pytest.mark.parametrize("arms_deg", [20.0, 45.0, 80.0])
def test_rigs_that_rest_in_an_a_pose_move_the_body_alike(arms_deg: float):
    """The same movement, written down by an A-pose rig: all joints turn as in the T-pose rig's."""
    motion = random_motion(seed=1)
    source = as_rigged(motion, a_pose(arms_deg))
    frames = aligned_frames(source, BODY, body_map(source.skeleton))
    np.testing.assert_allclose(frames, world_frames(motion)[..., :3, :3], atol=1e-6)


def test_a_reference_pose_in_the_name_map_says_the_same_as_the_offsets():
    """A rig with rest arms down, told by its map that its T-pose has them up by as much."""
    motion = random_motion(seed=2)
    down = a_pose(45.0)
    source = as_rigged(motion, down)
    plain = body_map(source.skeleton)
    up = {name: tuple(-down[BODY.index(name)]) for name in ("left_shoulder", "right_shoulder")}
    named = NameMap("told", plain.joints, plain.spine, plain.neck, up)
    frames = aligned_frames(source, BODY, named)
    np.testing.assert_allclose(frames, world_frames(motion)[..., :3, :3], atol=1e-6)


@pytest.mark.parametrize("degrees", [-150.0, 90.0, 180.0])
def test_rigs_that_rest_facing_elsewhere_move_the_body_alike(degrees: float):
    pose = np.zeros((BODY.joint_count, 3))
    pose[0, 1] = np.deg2rad(degrees)
    motion = random_motion(seed=3)
    source = as_rigged(motion, pose)
    frames = aligned_frames(source, BODY, body_map(source.skeleton))
    np.testing.assert_allclose(frames, world_frames(motion)[..., :3, :3], atol=1e-6)


@pytest.mark.parametrize("links", [1, 2, 3, 4, 6])
def test_a_spine_of_any_length_bends_evenly(links: int):
    """A foreign spine of k joints, all turning by one angle, spreads over the body's three."""
    names = ["hips", *(f"s{i}" for i in range(links)), "head", "lh", "lk", "la", "rh", "rk", "ra"]
    parents = [-1, *range(links), links, 0, links + 2, links + 3, 0, links + 5, links + 6]
    joints = np.zeros((len(names), 3))
    joints[1 : links + 2, 1] = np.linspace(0.1, 0.6, links + 1)
    for side, first in ((0.1, links + 2), (-0.1, links + 5)):
        joints[first : first + 3] = [[side, 0, 0], [side, -0.4, 0], [side, -0.8, 0]]
    rotations = np.zeros((1, len(names), 3))
    rotations[0, 1 : links + 1, 0] = 0.9 / links
    source = Motion(
        "bow", 1.0, rotations, np.zeros((1, 3)), Skeleton(tuple(names), tuple(parents), joints)
    )
    legs = {"left_hip": "lh", "left_knee": "lk", "left_ankle": "la"}
    legs |= {name.replace("left", "right"): joint.replace("l", "r") for name, joint in legs.items()}
    found = NameMap("n", {"pelvis": "hips", "head": "head"} | legs, tuple(names[1 : links + 1]), ())
    frames = aligned_frames(source, BODY, found)
    for place, joint in enumerate(("spine1", "spine2", "spine3"), start=1):
        expected = Rotation.from_rotvec([0.3 * place, 0, 0]).as_matrix()
        np.testing.assert_allclose(frames[0, BODY.index(joint)], expected, atol=1e-12)
    np.testing.assert_allclose(frames[0, BODY.index("left_wrist")], frames[0, BODY.index("spine3")])


def test_swing_is_the_shortest_rotation():
    generator = np.random.default_rng(4)
    start, end = generator.normal(size=(2, 50, 3))
    end[0], end[1] = -start[0], start[1]
    turned = (swing(start, end) @ start[..., None])[..., 0]
    directions = [v / np.linalg.norm(v, axis=-1, keepdims=True) for v in (turned, end)]
    np.testing.assert_allclose(*directions, atol=1e-9)
    angle = geodesic_angle(swing(start, end), np.broadcast_to(np.eye(3), (50, 3, 3)))
    cosine = np.sum(start * end, -1) / np.linalg.norm(start, axis=-1) / np.linalg.norm(end, axis=-1)
    np.testing.assert_allclose(np.cos(angle), cosine, atol=1e-9)


def test_raw_touches_nothing():
    motion = random_motion(seed=5)
    raw = retarget(motion, BODY, raw=True)
    np.testing.assert_array_equal(raw.motion.joint_rotations, motion.joint_rotations)
    np.testing.assert_array_equal(raw.motion.root_translation, motion.root_translation)
    assert raw.contacts is None


RIGS = {
    "mixamo": ("mixamorig:{}", "Hips", ["Spine", "Spine1", "Spine2"], ["Neck"], "Head",
               ["{S}UpLeg", "{S}Leg", "{S}Foot", "{S}ToeBase"],
               ["{S}Shoulder", "{S}Arm", "{S}ForeArm", "{S}Hand"]),
    "biped": ("Bip01 {}", "Pelvis", ["Spine", "Spine1", "Spine2"], ["Neck"], "Head",
              ["{L} Thigh", "{L} Calf", "{L} Foot", "{L} Toe0"],
              ["{L} Clavicle", "{L} UpperArm", "{L} Forearm", "{L} Hand"]),
    "unreal": ("{}", "pelvis_root", ["spine_01", "spine_02", "spine_03", "spine_04"], ["neck_01"],
               "head", ["thigh_{l}", "calf_{l}", "foot_{l}", "ball_{l}"],
               ["clavicle_{l}", "upperarm_{l}", "lowerarm_{l}", "hand_{l}"]),
    "old": ("{}", "Root", ["Chest", "Chest2"], ["Neck"], "Head",
            ["{S}Hip", "{S}Knee", "{S}Ankle", "{S}Toe"],
            ["{S}Collar", "{S}Shoulder", "{S}Elbow", "{S}Wrist"]),
    "rigify": ("{}", "torso", ["spine.001", "chest"], ["neck"], "head",
               ["thigh.{L}", "shin.{L}", "foot.{L}", "toe.{L}"],
               ["shoulder.{L}", "upper_arm.{L}", "forearm.{L}", "hand.{L}"]),
}  # fmt: skip


def rig(style: str) -> Skeleton:
    """A skeleton with the names of a known rig, in a T-pose."""
    wrap, hips, spine, neck, head, leg, arm = RIGS[style]
    names, parents, joints = [hips], [-1], [np.array([0.0, 1, 0])]

    def chain(parts: list[str], parent: int, start: list[float], step: list[float]) -> int:
        for index, part in enumerate(parts):
            names.append(part)
            parents.append(parent)
            joints.append(np.array(start) + index * np.array(step))
            parent = len(names) - 1
        return parent

    top = chain(spine, 0, [0, 1.1, 0], [0, 0.1, 0])
    chain([*neck, head], top, [0, 1.5, 0], [0, 0.1, 0])
    for side, x in (("Left", 1.0), ("Right", -1.0)):
        fill = {"S": side, "L": side[0], "l": side[0].lower()}
        chain([p.format(**fill) for p in leg[:3]], 0, [0.1 * x, 0.95, 0], [0, -0.43, 0])
        chain([leg[3].format(**fill)], len(names) - 1, [0.1 * x, 0.02, 0.15], [0, 0, 0])
        chain([p.format(**fill) for p in arm], top, [0.05 * x, 1.4, 0], [0.2 * x, 0, 0])
    return Skeleton(tuple(wrap.format(name) for name in names), tuple(parents), np.array(joints))


@pytest.mark.parametrize("style", RIGS)
def test_names_of_common_rigs_are_guessed(style: str):
    skeleton = rig(style)
    wrap, hips, spine, neck, head, leg, arm = RIGS[style]
    guessed = guess_name_map(skeleton)
    guessed.require_joints_of(skeleton)
    expected = {"pelvis": hips, "head": head}
    for side in ("left", "right"):
        fill = {"S": side.capitalize(), "L": side[0].upper(), "l": side[0]}
        for joint, name in zip(("hip", "knee", "ankle", "foot"), leg, strict=True):
            expected[f"{side}_{joint}"] = name.format(**fill)
        for joint, name in zip(("collar", "shoulder", "elbow", "wrist"), arm, strict=True):
            expected[f"{side}_{joint}"] = name.format(**fill)
    assert guessed.joints == {joint: wrap.format(name) for joint, name in expected.items()}
    assert guessed.spine == tuple(wrap.format(name) for name in spine)
    assert guessed.neck == tuple(wrap.format(name) for name in neck)


def test_known_skeletons_are_recognised_and_unknown_ones_refused():
    assert name_map_for(BODY).name == "smpl"
    assert name_map_for(BODY).joints["left_index1"] == "left_index1"
    with pytest.raises(InputError, match="cannot guess left_hip"):
        name_map_for(Skeleton(("a", "b"), (-1, 0), np.zeros((2, 3))))


def test_a_map_from_json(tmp_path: Path):
    path = tmp_path / "mine.json"
    content = {"joints": dict(CMU.joints), "spine": list(CMU.spine), "neck": ["Neck"],
               "reference_deg": {"LeftArm": [0, 0, 90]}}  # fmt: skip
    path.write_text(json.dumps(content))
    found = read_name_map(path)
    assert found.joints == CMU.joints
    assert found.neck == ("Neck",)
    np.testing.assert_allclose(found.reference["LeftArm"], [0, 0, np.pi / 2])


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "is no JSON"),
        ("[" * 100_000, "is no JSON"),
        ("[1]", "expected an object with keys"),
        ('{"joints": {}, "extra": 1}', "expected an object with keys"),
        ('{"joints": {"pelvis": 3}}', "expected names by body joint"),
        ('{"joints": {}, "spine": "Spine"}', "expected a list of joint names"),
        ('{"joints": {}, "reference_deg": {"a": [1, 2]}}', "expected three numbers each"),
        ('{"joints": {}, "reference_deg": {"a": [1, 2, NaN]}}', "expected three numbers each"),
    ],
)
def test_maps_that_are_none_are_refused(tmp_path: Path, text: str, words: str):
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(FormatError) as caught:
        read_name_map(tmp_path / "bad.json")
    assert words in str(caught.value)


def test_maps_that_do_not_fit_are_refused(tmp_path: Path):
    with pytest.raises(InputError, match="there is no file"):
        read_name_map(tmp_path / "absent.json")
    with pytest.raises(InputError, match="names Head, Hips"):
        retarget(random_motion(), BODY, names=CMU)
    short = NameMap("short", {"pelvis": "pelvis"}, (), ())
    with pytest.raises(InputError, match="has nothing for left_hip"):
        retarget(random_motion(), BODY, names=short)
    flat = Skeleton(BODY.names, BODY.parents, np.zeros((BODY.joint_count, 3)))
    still = Motion("flat", 1.0, np.zeros((3, BODY.joint_count, 3)), np.zeros((3, 3)), flat)
    with pytest.raises(InputError, match=r"legs of 0 m"):
        retarget(still, BODY)


def test_contacts_are_where_a_point_is_low_and_slow():
    """A point that rests for 40 frames, is carried away at 1 m/s, rests high, and rests again."""
    fps = 100.0
    x = np.concatenate([np.zeros(40), np.linspace(0.01, 1, 100), np.ones(80)])
    y = np.concatenate([np.zeros(40), np.full(100, 0.03), np.full(40, 0.2), np.zeros(40)])
    point = np.stack([x, y, 0 * x], axis=1)
    planted = is_planted(point, 0.0, fps)
    assert runs(planted) == [(0, 39), (181, 220)]
    assert runs(np.array([True, False, True])) == [(0, 1), (2, 3)]
    assert runs(np.zeros(4, bool)) == []


def test_fading_goes_through_zero_if_there_is_time_and_straight_if_not():
    values = np.ones((200, 1))
    known = np.zeros(200, bool)
    known[[50, 150]] = True
    far = faded(values, known, fps=100.0)[:, 0]
    assert far[50] == far[150] == 1.0
    np.testing.assert_array_equal(far[[0, 25, 75, 100, 125, 175, 199]], 0.0)
    assert np.abs(np.diff(far)).max() < 2.0 / 25  # minimum jerk: at most 15/8 of the mean speed
    near = faded(values, known, fps=1000.0)[:, 0]
    np.testing.assert_allclose(near[50:151], 1.0)


def test_the_upper_envelope_is_smooth_and_nowhere_below():
    generator = np.random.default_rng(6)
    values = np.maximum(generator.normal(size=300), 0.0)
    curve = upper_envelope(values, 10)
    assert (curve >= values - 1e-12).all()
    assert np.abs(np.diff(curve)).max() < np.abs(np.diff(values)).max() / 4
    np.testing.assert_allclose(upper_envelope(np.full(50, 2.0), 7), 2.0)


def test_a_leg_reaches_what_it_is_asked_for():
    """The end lands on the target, a leg already there stays, and the knee bends backwards."""
    foot = feet_of_skeleton(BODY)[0]
    generator = np.random.default_rng(7)
    thigh = matrix_from_axis_angle(generator.normal(scale=0.5, size=(200, 3)))
    flexion = np.zeros((200, 3))
    flexion[:, 0] = generator.uniform(0.1, 2.0, 200)
    shank = thigh @ matrix_from_axis_angle(flexion)
    hinge = np.broadcast_to([1.0, 0, 0], (200, 3))
    bend = bend_of(foot.thigh, foot.shank, np.swapaxes(thigh, -1, -2) @ shank, hinge)
    here = (thigh @ foot.thigh) + (shank @ foot.shank)
    same = reach(bend, foot.thigh, foot.shank, thigh, shank, here, np.linalg.norm(here, axis=1))
    np.testing.assert_allclose(same[0], thigh, atol=1e-7)
    np.testing.assert_allclose(same[1], shank, atol=1e-7)
    way = generator.normal(size=(200, 3))
    distance = generator.uniform(0.4, 0.8, 200)
    way *= (distance / np.linalg.norm(way, axis=1))[:, None]
    new_thigh, new_shank = reach(bend, foot.thigh, foot.shank, thigh, shank, way, distance)
    np.testing.assert_allclose(new_thigh @ foot.thigh + new_shank @ foot.shank, way, atol=1e-9)
    knee = Rotation.from_matrix(np.swapaxes(new_thigh, -1, -2) @ new_shank).as_rotvec()
    assert (knee[:, 0] > 0).all()
    np.testing.assert_allclose(knee[:, 1:], 0.0, atol=1e-9)


def test_the_reach_is_cut_off_sharply_or_gently():
    foot = feet_of_skeleton(BODY)[0]
    bend = bend_of(foot.thigh, foot.shank, np.eye(3)[None], np.array([[1.0, 0, 0]]))
    far, full, zero = np.array([9.0]), np.ones(1), np.zeros(1)
    assert within_reach(bend, far, full) == pytest.approx(furthest(bend))
    assert within_reach(bend, far, zero) == pytest.approx(furthest(bend))
    near = 0.9 * furthest(bend)
    assert within_reach(bend, near, full) == within_reach(bend, near, zero) == near


@pytest.fixture(scope="module")
def tall_and_short():
    model = PhenotypeModel()
    tall = model.prepare({"gender": 1.0, "height": 0.8})
    short = model.prepare({"gender": 0.0, "height": 0.2, "weight": 1.0})
    return model.template, tall, short


@pytest.fixture(scope="module")
def jacks(tall_and_short):
    template, tall, _ = tall_and_short
    return make_motion("jumping-jacks", tall, template, fps=100.0, duration=4.0)


def test_feet_stay_planted_on_a_body_of_another_size(tall_and_short, jacks):
    template, _, short = tall_and_short
    skeleton = Skeleton(BODY.names, BODY.parents, np.asarray(short.joints, np.float64))
    result = retarget(jacks, skeleton, feet=feet_of_body(template, short))
    assert result.scale < 0.9
    assert max(slide.distance for slide in planted_slides(jacks, result)) < 0.005
    assert ground_penetration(result) < 1e-9
    assert spikes(jacks, result) == []
    assert result.at_rest == ()


def test_the_measures_see_what_is_wrong(tall_and_short, jacks):
    """Drift by 5 cm a second, sinking by 3 cm and a flipped elbow are found, with their size."""
    template, tall, _ = tall_and_short
    good = retarget(jacks, jacks.skeleton, feet=feet_of_body(template, tall))
    drifting = np.asarray(good.motion.root_translation).copy()
    drifting[:, 0] += 0.05 * np.arange(len(drifting)) / 100.0
    drifting[:, 1] -= 0.03
    rotations = np.asarray(good.motion.joint_rotations).copy()
    elbow = BODY.index("left_elbow")
    rotations[100:, elbow] += np.array([np.pi / 2, 0, 0])
    bad = type(good)(
        **{**vars(good), "motion": Motion("bad", 100.0, rotations, drifting, jacks.skeleton)}
    )
    slides = planted_slides(jacks, bad)
    longest = max(slides, key=lambda slide: slide.last - slide.first)
    expected = 0.05 * (longest.last - longest.first) / 100.0
    assert longest.distance == pytest.approx(expected, rel=0.05, abs=2e-3)
    assert ground_penetration(bad) == pytest.approx(0.03, abs=1e-3)
    assert [(s.joint, s.frame) for s in spikes(jacks, bad)] == [("left_elbow", 99)]


def test_contacts_of_an_authored_motion_alternate_with_flights(jacks):
    contacts = detect_contacts(source_feet(jacks, name_map_for(jacks.skeleton)))
    for foot in contacts:
        assert 0.2 < foot.ball.mean() < 0.95
        assert len(runs(foot.ball)) >= 3


def test_the_frame_rate_check_finds_halved_and_doubled_rates():
    """A jump at 9.81 m/s², relabelled at twice the rate, falls four times too fast."""
    time = np.arange(100) / 100.0
    height = np.maximum(2.5 * (time - 0.2) - 0.5 * 9.81 * (time - 0.2) ** 2, 0.0)
    path = np.stack([0 * time, height, 0 * time], axis=1)
    jump = Motion("jump", 100.0, np.zeros((100, BODY.joint_count, 3)), path, BODY)
    assert check_frame_rate(jump).verdict == "fits"
    assert check_frame_rate(jump).flights[0].acceleration == pytest.approx(-9.81)
    for factor in (2.0, 0.5):
        wrong = Motion("w", 100.0 * factor, jump.joint_rotations, path, BODY)
        checked = check_frame_rate(wrong)
        assert checked.verdict == "differs"
        assert checked.fps == 100.0
        assert "really 100 Hz" in checked.words
    still = Motion("s", 60.0, np.zeros((50, BODY.joint_count, 3)), np.zeros((50, 3)), BODY)
    assert check_frame_rate(still).verdict == "unknown"


def test_hanging_arms_are_held_clear_of_a_wide_body_and_raised_ones_stay():
    """In the T-pose nothing changes; arms straight down turn by the whole angle, legs do not."""
    rest = np.broadcast_to(np.eye(3), (1, BODY.joint_count, 3, 3))
    np.testing.assert_allclose(abducted(rest, BODY, 0.3), rest)
    hanging = Motion("h", 1.0, a_pose(90.0)[None], np.zeros((1, 3)), BODY)
    before = world_frames(hanging)[..., :3, :3]
    after = abducted(before, BODY, 0.3)
    angle = geodesic_angle(before, after)[0]
    arm = [i for i, n in enumerate(BODY.names) if n.startswith(("left_", "right_")) and i >= 16]
    np.testing.assert_allclose(angle[arm], 0.3, atol=1e-12)
    np.testing.assert_allclose(np.delete(angle, arm), 0.0, atol=1e-7)
    for side, sign in (("left", 1.0), ("right", -1.0)):
        bone = (
            BODY.joints[BODY.index(f"{side}_elbow")] - BODY.joints[BODY.index(f"{side}_shoulder")]
        )
        direction = after[0, BODY.index(f"{side}_shoulder")] @ (bone / np.linalg.norm(bone))
        np.testing.assert_allclose(direction, [sign * np.sin(0.3), -np.cos(0.3), 0], atol=1e-2)


def test_wider_bodies_need_more_clearance(tall_and_short):
    template, tall, short = tall_and_short
    model = PhenotypeModel()
    assert arm_clearance(template, model.prepare()) == pytest.approx(0.0, abs=1e-6)
    assert arm_clearance(template, short) > np.deg2rad(3.0)
    assert arm_clearance(template, model.prepare({"weight": 0.0})) == 0.0
    result = retarget(
        make_motion("jumping-jacks", tall, template),
        BODY,
        arm_clearance=arm_clearance(template, short),
    )
    plain = retarget(make_motion("jumping-jacks", tall, template), BODY)
    left = BODY.index("left_shoulder")
    turn = geodesic_angle(
        matrix_from_axis_angle(result.motion.joint_rotations[:, left]),
        matrix_from_axis_angle(plain.motion.joint_rotations[:, left]),
    )
    assert turn.max() == pytest.approx(arm_clearance(template, short), rel=0.05)
    assert turn.min() < 1e-6


def test_fingers_that_nothing_moves_are_relaxed(jacks):
    """A rig without fingers leaves them at rest, bent towards the palm."""
    names = body_map(BODY)
    without = {j: n for j, n in names.joints.items() if not j[-1].isdigit()}
    result = retarget(jacks, BODY, names=NameMap("n", without, names.spine, names.neck))
    bend = result.motion.joint_rotations[:, BODY.index("left_index2")]
    np.testing.assert_allclose(
        bend, np.broadcast_to(relaxed_hands(BODY)[BODY.index("left_index2")], bend.shape), atol=1e-7
    )
    assert bend[0, 2] < -0.2
    assert "left_index2" in result.at_rest
