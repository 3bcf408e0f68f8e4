"""The virtual 4D scanner's parts: seeds, people, tissue, poses, cameras."""

import json
from dataclasses import replace
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import public_data
import pytest
from clips import write_authored_clip
from scipy.optimize import minimize

from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.anthropometry.measure import measure
from corporeal.assets.default_body import load_default_body
from corporeal.body.composition import Composition
from corporeal.body.motion import Motion
from corporeal.body.scan import Scan
from corporeal.body.tissues import FAT, LIPID_SHARE, MUSCLE
from corporeal.capture.clearance import ARMS, capsules_of, segment_distances
from corporeal.capture.leg_clearance import leg_pairs
from corporeal.capture.moving_clearance import cleared_motion, eased
from corporeal.capture.person import Person
from corporeal.capture.protocols.dyna import DynaProtocol
from corporeal.capture.protocols.mocap import MocapProtocol
from corporeal.capture.protocols.poses import PosesProtocol, draw_poses
from corporeal.capture.protocols.shapes import ShapesProtocol
from corporeal.capture.protocols.standing import a_pose
from corporeal.capture.scanner.ring import ring
from corporeal.capture.scanner.scanner import Scanner, ScannerSettings, marks_on
from corporeal.capture.seeds import generator, seed_of
from corporeal.capture.selection import half_of, spread_over
from corporeal.capture.tissue import (
    SPREAD,
    YOUNG,
    mixed_stiffness,
    soft_fat_share,
    tissue_of,
    two_compartment_density,
)
from corporeal.capture.trunk import ALONG, TrunkSkin
from corporeal.errors import InputError
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.motions.limits import joint_limits, limit_excess
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.skinning.linear import LinearBlendSkinning

TEMPLATE = load_default_body().template


@pytest.fixture(scope="module")
def person() -> Person:
    identity = PhenotypeModel().prepare({"gender": 0.0, "age": 30.0})
    composition = Composition(20.0, 22.0)
    return Person("anna", "female", 30.0, identity, composition, measure(identity))


def of_composition(person: Person, fat: float, muscle: float) -> Person:
    return Person(
        "x", "female", 30.0, person.identity, Composition(fat, muscle), person.measurements
    )


@pytest.mark.quick
def test_seeds_depend_on_their_words_alone() -> None:
    assert seed_of("a", 1) == seed_of("a", 1)
    words = [("a", 1), ("a", "1"), ("a1",), ("a", 2), ("b", 1), (1, "a")]
    assert len({seed_of(*w) for w in words}) == len(words)
    assert generator("a").uniform() == generator("a").uniform()


@pytest.mark.quick
def test_training_and_test_people_never_meet() -> None:
    """A person's half depends on the person alone, and three of eight are kept for tests."""
    names = [f"p{n:05d}" for n in range(4000)]
    halves = [half_of(1, name) for name in names]
    share = halves.count("test") / len(names)
    deviation = np.sqrt(3 / 8 * 5 / 8 / len(names))
    assert abs(share - 3 / 8) < 4 * deviation
    assert [half_of(1, name) for name in reversed(names)][::-1] == halves
    assert halves != [half_of(2, name) for name in names]


def test_people_are_chosen_evenly_over_the_body_mass_index() -> None:
    random = np.random.default_rng(0)
    bmi = random.lognormal(np.log(26), 0.2, 300)
    sexes = ["female" if n % 2 else "male" for n in range(300)]
    pool = list(range(40, 300))
    chosen = spread_over(pool, sexes, bmi, 5, 3)
    assert len(set(chosen)) == 8
    assert set(chosen) <= set(pool)
    assert [sexes[i] for i in chosen].count("female") == 5
    women = np.sort(bmi[[i for i in chosen if sexes[i] == "female"]])
    low, high = np.percentile(bmi[[i for i in pool if sexes[i] == "female"]], (2, 98))
    marks = low + (high - low) * (np.arange(5) + 0.5) / 5
    np.testing.assert_allclose(women, marks, atol=(high - low) / 20)
    with pytest.raises(InputError, match="200 of sex 'female' were asked for and 130"):
        spread_over(pool, sexes, bmi, 200, 0)


def test_tissue_follows_composition(person: Person) -> None:
    """Closed forms: pure fat, pure muscle, their geometric mean, and Siri's two compartments."""
    assert mixed_stiffness(1.0, 3e3, 48e3) == pytest.approx(3e3)
    assert mixed_stiffness(0.0, 3e3, 48e3) == pytest.approx(48e3)
    assert mixed_stiffness(0.5, 3e3, 48e3) == pytest.approx(12e3)
    assert two_compartment_density(0.0) == pytest.approx(1100)
    assert two_compartment_density(1.0) == pytest.approx(900)
    assert two_compartment_density(0.5) == pytest.approx(990)  # harmonic mean of 900 and 1100
    tissue_kg = LIPID_SHARE * FAT.density  # of fat in a cubic metre of fat tissue
    assert soft_fat_share(tissue_kg, MUSCLE.density) == pytest.approx(0.5)
    lean, fat = (tissue_of(of_composition(person, f, 22.0), None) for f in (8.0, 25.0))
    assert lean.stiffness > fat.stiffness
    assert lean.density > fat.density
    assert lean.damping_ratio == fat.damping_ratio == 0.12


def test_a_share_of_fat_is_counted_once(person: Person) -> None:
    """Layers have their own fat and muscle: lean and fat people's are told the same moduli, those
    of the tissues; muscle's alone falls with age, by the fat that grows into it."""
    masses = (Composition(8.0, 22.0), Composition(25.0, 22.0))
    lean, fat = (tissue_of(replace(person, age=YOUNG, composition=c), None) for c in masses)
    told = lean.controls(60.0, layered=True)
    assert told == fat.controls(60.0, layered=True)
    assert told["stiffness"] == FAT.modulus
    assert told["stiffness"] * told["muscle"] == pytest.approx(MUSCLE.modulus)
    assert lean.controls(60.0, layered=False)["stiffness"] == lean.stiffness
    old = tissue_of(replace(person, age=70.0), None)
    expected = MUSCLE.modulus * (FAT.modulus / MUSCLE.modulus) ** 0.05
    assert old.muscle_modulus == pytest.approx(expected)
    assert old.fat_modulus == FAT.modulus


def test_people_of_one_composition_differ(person: Person) -> None:
    usual = tissue_of(person, None).stiffness
    drawn = np.array([tissue_of(person, seed).stiffness for seed in range(400)])
    spread = np.log(drawn / usual)
    assert abs(spread.mean()) < 4 * SPREAD / 20
    assert spread.std() == pytest.approx(SPREAD, rel=4 / np.sqrt(2 * 400))


def test_a_person_cannot_weigh_less_than_its_parts(person: Person) -> None:
    with pytest.raises(InputError, match="expected less than that"):
        of_composition(person, 60.0, 60.0)


def test_distances_of_segments_against_a_minimiser() -> None:
    """An independent reference: bounded minimisation over both parameters from several starts."""
    random = np.random.default_rng(0)
    first, second = random.normal(size=(2, 12, 2, 3))
    second[3] = first[3] + 0.5  # parallel
    first[5, 1] = first[5, 0]  # a point
    second[7, 1] = second[7, 0]
    first[9, 1], second[9, 1] = first[9, 0], second[9, 0]
    found = segment_distances(first, second)

    for number, (a, b) in enumerate(zip(first, second, strict=True)):

        def apart(place: np.ndarray, a: np.ndarray = a, b: np.ndarray = b) -> float:
            p = a[0] + place[0] * (a[1] - a[0])
            q = b[0] + place[1] * (b[1] - b[0])
            return float(((p - q) ** 2).sum())

        starts = [(0.5, 0.5), (0, 0), (1, 1), (0, 1), (1, 0)]
        best = min(
            minimize(apart, s, bounds=[(0, 1), (0, 1)], options={"ftol": 1e-15, "gtol": 1e-12}).fun
            for s in starts
        )
        assert found[number] == pytest.approx(np.sqrt(best), abs=1e-5)


def test_drawn_poses_cover_and_keep_the_ranges() -> None:
    """Every stratum of every axis is used: the ellipse moves few turns, and none past its end."""
    count = 45
    rotations = draw_poses(TEMPLATE.skeleton, count, np.random.default_rng(3))
    low, high = joint_limits(TEMPLATE.skeleton.names)
    body = slice(1, 22)
    assert np.all(rotations[:, body] >= low[body] - 1e-12)
    assert np.all(rotations[:, body] <= high[body] + 1e-12)
    for name, axis in (("left_knee", 0), ("right_elbow", 1), ("left_hip", 0), ("neck", 1)):
        joint = TEMPLATE.skeleton.index(name)
        seen = np.ptp(rotations[:, joint, axis]) / (high - low)[joint, axis]
        assert seen > 0.75


def test_lines_in_a_ball_of_skin() -> None:
    """Closed form: at the distance d from the middle of a ball of radius R, a line of radius r is
    r + R − d deep, inside and outside alike, wherever the joint has carried the ball."""
    ball, _ = sphere(0.2, (0.0, 0.0, 0.0))
    points = ball.astype(np.float64)
    trunk = TrunkSkin(np.zeros((1, 3)), points, points / 0.2, np.ones((len(points), 1)))
    frame = np.eye(4)
    frame[:3, :3], frame[:3, 3] = [[0, 0, 1], [1, 0, 0], [0, 1, 0]], [1.0, 2.0, 3.0]
    ends = frame[:3, 3] + np.array([[[0.05, 0, 0], [0.17, 0, 0]], [[0, 0.25, 0], [0, 0.6, 0]]])
    found = trunk.overlaps(frame[None], ends, np.array([0.03, 0.05]))
    away = np.array([0.05 + 0.12 * ALONG, 0.25 + 0.35 * ALONG])
    # nearest points are up to half an edge, 2π · 0.2 / 96 / 2, aside
    np.testing.assert_allclose(found, np.array([[0.23], [0.25]]) - away, atol=2e-3)


def test_a_belly_keeps_limbs_out() -> None:
    """Drawn poses put some limbs deep into the trunk of a heavy man, which is no thick line; poses
    that are cleared put none there, and most keep all of their turns."""
    body = body_at_bmi(PhenotypeModel(), 1.0, 40.0, 1.75)
    man = Person("ben", "male", 40.0, body, Composition(50.0, 40.0), measure(body))
    capsules, stand = capsules_of(TEMPLATE, body), a_pose(man, TEMPLATE)
    allowed, places = capsules.allowed(stand), len(capsules.bones) * len(ALONG)
    drawn = draw_poses(TEMPLATE.skeleton, 30, np.random.default_rng(5))
    deep = [capsules.overlaps(pose)[-places:][np.isfinite(allowed[-places:])] for pose in drawn]
    assert sum(found.max() > 0.05 for found in deep) >= 5
    cleared = [capsules.cleared(pose, stand) for pose in drawn]
    assert not any((capsules.overlaps(pose) > allowed).any() for pose, _ in cleared)
    assert sum(share == 1.0 for _, share in cleared) >= 10


def test_limbs_are_turned_back_until_they_are_clear(person: Person) -> None:
    capsules = capsules_of(TEMPLATE, person.identity)
    stand = a_pose(person, TEMPLATE)
    through = stand.copy()
    through[TEMPLATE.skeleton.index("left_shoulder")] = [0.0, -1.6, -1.4]  # into the chest
    through[TEMPLATE.skeleton.index("left_elbow")] = [0.0, -1.0, 0.0]
    allowed = capsules.allowed(stand)
    assert (capsules.overlaps(through) > allowed).any()
    clear, share = capsules.cleared(through, stand)
    assert share < 1.0
    assert not (capsules.overlaps(clear) > allowed).any()
    same, all_of_it = capsules.cleared(stand, stand)
    np.testing.assert_array_equal(same, stand)
    assert all_of_it == 1.0


@pytest.mark.quick
def test_eased_shares_are_nowhere_above_the_given_ones() -> None:
    """The least of 2 m frames either side, averaged twice over m: never more than was given, and
    never faster than one average of w = 2 m + 1 frames lets it change, (1 − least) / w a frame."""
    random = np.random.default_rng(1)
    given = np.ones((200, 5))
    given[random.integers(0, 200, 9), random.integers(0, 5, 9)] = random.uniform(0.2, 0.9, 9)
    found = eased(given, 14)
    assert (found <= given + 1e-12).all()
    assert np.abs(np.diff(found, axis=0)).max() <= (1 - given.min()) / 15 + 1e-12
    np.testing.assert_array_equal(eased(np.ones((30, 5)), 14), 1.0)


def test_hands_rest_on_wide_hips() -> None:
    """Hands that were put where a heavy woman has flesh come to lie on it; legs and the first frame
    stay, bit by bit, and a slim woman moves as she did."""
    deepest = []
    for bmi in (19.0, 40.0):
        body = body_at_bmi(PhenotypeModel(), 0.0, bmi, 1.65)
        her = Person("eva", "female", 40.0, body, Composition(0.2 * bmi, 20.0), measure(body))
        motion = make_motion("hips", body, TEMPLATE, fps=10.0, duration=3.0, a_pose=True)
        rotations = np.asarray(motion.joint_rotations, np.float64)
        cleared = cleared_motion(motion, her, TEMPLATE, rotations[0])
        clear, share = cleared.motion, cleared.share
        capsules = capsules_of(TEMPLATE, body)
        allowed, arms = capsules.allowed(rotations[0]), np.isin(capsules.limbs, ARMS)
        places = len(capsules.bones) * len(ALONG)
        of_arms = np.repeat(arms[capsules.bones[:, 0]], len(ALONG))
        found = np.asarray(clear.joint_rotations)
        np.testing.assert_array_equal(found[:, ~arms], rotations[:, ~arms])
        np.testing.assert_array_equal(found[0], rotations[0])
        before, after = (
            max(float((capsules.overlaps(r) - allowed)[-places:][of_arms].max()) for r in rows)
            for rows in (rotations, found)
        )
        deepest.append((before, after, share))
    slim, heavy = deepest
    assert heavy[0] > 0.02
    assert heavy[1] <= 1e-9
    assert heavy[2] < 1  # of her arms' turns some was taken back
    assert heavy[2] <= slim[2]


def test_legs_that_would_meet_are_spread(person: Person) -> None:
    """A foot that swings into the other calf passes beside it; soles and the height of the standing
    foot stay, what was clear is not touched, and nothing moves suddenly."""
    skeleton, stand = TEMPLATE.skeleton, a_pose(person, TEMPLATE)
    capsules, frames = capsules_of(TEMPLATE, person.identity), np.arange(91)
    rotations = np.tile(stand, (91, 1, 1))
    into = np.exp(-(((frames - 60) / 6.0) ** 2))[:, None]
    rotations[:, skeleton.index("left_hip")] += into * [-0.5, 0.0, -0.25]
    rotations[:, skeleton.index("left_knee")] += into * [0.9, 0.0, 0.0]
    motion = Motion("across", 60.0, rotations, np.zeros((91, 3)), skeleton)
    allowed, between = capsules.allowed(stand), leg_pairs(capsules)
    found = cleared_motion(motion, person, TEMPLATE, stand, legs=True)
    clear = np.asarray(found.motion.joint_rotations)
    before, after = (
        max(float((capsules.overlaps(r) - allowed)[between].max()) for r in rows)
        for rows in (rotations, clear)
    )
    assert before > 0.01
    assert after <= 1e-9
    assert 0.0 < 0.9 * found.spread <= found.turned <= found.spread < 0.4  # about d × x
    np.testing.assert_array_equal(clear[:10], rotations[:10])
    roots = np.asarray(found.motion.root_translation)
    world = [
        forward_kinematics(rows, np.broadcast_to(capsules.joints, rows.shape), skeleton.parents, at)
        for rows, at in ((rotations, np.zeros((91, 3))), (clear, roots))
    ]
    ankles = [skeleton.index("left_ankle"), skeleton.index("right_ankle")]
    soles = [np.asarray(each)[:, ankles, :3, :3] for each in world]
    np.testing.assert_allclose(soles[0], soles[1], atol=1e-9)
    low = [np.asarray(each)[:, ankles, 1, 3].min(axis=1) for each in world]
    np.testing.assert_allclose(low[0], low[1], atol=1e-9)
    steps = np.abs(np.diff(clear - rotations, axis=0)).max()
    assert steps <= 1.5 * found.spread / 15  # one average's width, and the chain's turns


def test_protocols_are_repeatable_and_stand_on_the_ground(person: Person) -> None:
    protocol = PosesProtocol(6)
    first, again, other = (protocol.direct(person, TEMPLATE, "poses", s) for s in (1, 1, 2))
    np.testing.assert_array_equal(first.motion.joint_rotations, again.motion.joint_rotations)
    assert not np.array_equal(first.motion.joint_rotations, other.motion.joint_rotations)
    assert not first.moving
    skin = LinearBlendSkinning(TEMPLATE).animate(person.identity, first.motion).vertices
    np.testing.assert_allclose(np.asarray(skin)[..., 1].min(axis=1), 0.0, atol=1e-5)
    stand = ShapesProtocol().direct(person, TEMPLATE, "stand", 4)
    assert stand.motion.frame_count == 1
    assert limit_excess(stand.motion).max() < 0.2


def test_protocols_refuse_what_they_cannot_do() -> None:
    with pytest.raises(InputError, match="0 poses"):
        PosesProtocol(0)
    with pytest.raises(InputError, match="expected some of"):
        DynaProtocol(motions=("moonwalk",))
    with pytest.raises(InputError, match=r"0\.0 frames a second; expected 1 to 1000"):
        DynaProtocol(fps=0.0)
    with pytest.raises(InputError, match=r"last 0\.5 s; expected 2 to 600"):
        DynaProtocol(duration=0.5)
    with pytest.raises(InputError, match=r"clips asked at -1\.0 frames a second"):
        MocapProtocol((Path("walk.bvh"),), fps=-1.0)
    with pytest.raises(InputError, match="without clips"):
        MocapProtocol(())
    with pytest.raises(InputError, match=r"0 to 0\.3"):
        ShapesProtocol(wobble=1.0)


WALK = public_data.cmu_clip("35_01_walk")


def test_an_authored_clip_is_retargeted_to_the_person(person: Person, tmp_path: Path) -> None:
    """A clip of our own in a capture's layout: joints are the person's, feet leave the ground."""
    clip = write_authored_clip(tmp_path / "jacks.bvh")
    protocol = MocapProtocol((clip,), fps=30.0)
    assert protocol.sequences() == ("jacks",)
    recording = protocol.direct(person, TEMPLATE, "jacks", seed=0)
    motion = recording.motion
    assert (recording.moving, motion.fps) == (True, 30.0)
    np.testing.assert_allclose(motion.skeleton.joints, person.identity.joints, atol=1e-6)
    assert np.ptp(np.asarray(motion.root_translation)[:, 1]) > 0.05  # it jumps
    assert json.loads(json.dumps(recording.notes))["clip"] == clip.name


@pytest.mark.data("cmu-mocap")
def test_clips_are_retargeted_to_the_person(person: Person) -> None:
    protocol = MocapProtocol((WALK,), fps=30.0)
    assert protocol.sequences() == ("35_01_walk",)
    recording = protocol.direct(person, TEMPLATE, "35_01_walk", seed=0)
    motion = recording.motion
    assert (recording.moving, motion.fps) == (True, 30.0)
    np.testing.assert_allclose(motion.skeleton.joints, person.identity.joints, atol=1e-6)
    assert np.ptp(np.asarray(motion.root_translation)[:, [0, 2]], axis=0).max() > 1.0  # it walks
    assert json.loads(json.dumps(recording.notes))["clip"] == WALK.name
    with pytest.raises(InputError, match="stand twice"):
        MocapProtocol((WALK, Path("other") / WALK.name))


def sphere(radius: float, centre: tuple[float, float, float]) -> tuple[np.ndarray, np.ndarray]:
    """A fine sphere, triangles facing outward."""
    rings, around = 48, 96
    down, turn = np.meshgrid(
        np.linspace(0.02, np.pi - 0.02, rings),
        2 * np.pi * np.arange(around) / around,
        indexing="ij",
    )
    points = np.stack(
        [np.sin(down) * np.sin(turn), np.cos(down), np.sin(down) * np.cos(turn)], axis=-1
    ).reshape(-1, 3)
    row, column = np.divmod(np.arange((rings - 1) * around), around)
    a, b = row * around + column, row * around + (column + 1) % around
    faces = np.concatenate(
        [np.stack([a, a + around, b], 1), np.stack([b, a + around, b + around], 1)]
    )
    return (radius * points + centre).astype(np.float32), faces


@pytest.mark.skipif(find_spec("embreex") is None, reason="needs corporeal[scans]")
class TestScanner:
    """Seen on bodies whose every distance is known."""

    def test_a_sphere_is_measured_where_it_is(self) -> None:
        """Without noise all points lie on the facets: within r(1 − cos(π/96)) below the sphere."""
        vertices, faces = sphere(0.5, (0.0, 1.0, 0.0))
        settings = ScannerSettings(points=20_000, noise=0.0, outliers=0.0)
        scan = Scanner(settings, faces).scan(vertices, np.random.default_rng(0))
        away = np.linalg.norm(scan.points - [0.0, 1.0, 0.0], axis=1)
        assert away.max() < 0.5 + 1e-4
        assert away.min() > 0.5 * np.cos(np.pi / 48) ** 2 - 1e-3
        assert abs(len(scan.points) / 20_000 - 1) < 0.1
        assert set(scan.cameras) == set(range(22))
        # confidence is the cosine between ray and normal, here of the sphere itself
        place = ring(22).left[scan.cameras]
        rays = scan.points - place
        rays /= np.linalg.norm(rays, axis=1, keepdims=True)
        normals = (scan.points - [0.0, 1.0, 0.0]) / away[:, None]
        cosine = -np.einsum("ni,ni->n", rays, normals)
        assert np.abs(cosine - scan.confidence).max() < 0.05
        assert scan.confidence.min() >= np.cos(np.radians(75.0)) - 1e-6

    def test_noise_is_as_large_as_asked(self) -> None:
        vertices, faces = sphere(0.5, (0.0, 1.0, 0.0))
        settings = ScannerSettings(points=20_000, noise=2e-3, outliers=0.0, grazing=40.0)
        scan = Scanner(settings, faces).scan(vertices, np.random.default_rng(0))
        off = np.linalg.norm(scan.points - [0.0, 1.0, 0.0], axis=1) - 0.5
        # depths are 1.7 to 2 m of the usual 2.2 to 2.4, so σ z²/z₀² lies between 0.5 and 1 of it
        assert 0.5 * 2e-3 < off.std() < 1.0 * 2e-3

    def test_outliers_are_as_many_as_asked(self) -> None:
        vertices, faces = sphere(0.5, (0.0, 1.0, 0.0))
        settings = ScannerSettings(points=20_000, noise=0.0, outliers=0.05)
        scan = Scanner(settings, faces).scan(vertices, np.random.default_rng(0))
        off = np.abs(np.linalg.norm(scan.points - [0.0, 1.0, 0.0], axis=1) - 0.5)
        assert 0.03 < (off > 5e-3).mean() < 0.055

    def test_what_one_camera_of_a_pair_cannot_see_is_a_hole(self) -> None:
        """A gap of 3 cm between two large spheres: nobody looks into its middle."""
        one, faces = sphere(0.4, (0.0, 1.0, 0.0))
        two, _ = sphere(0.4, (0.83, 1.0, 0.0))
        both = np.concatenate([one, two])
        triangles = np.concatenate([faces, faces + len(one)])
        settings = ScannerSettings(points=40_000, noise=0.0, outliers=0.0)
        scan = Scanner(settings, triangles).scan(both, np.random.default_rng(0))
        inside_gap = np.linalg.norm(scan.points[:, 1:] - [1.0, 0.0], axis=1) < 0.03
        between = np.abs(scan.points[:, 0] - 0.415) < 0.02
        assert not (inside_gap & between).any()
        far_side = np.linalg.norm(scan.points[:, 1:] - [1.0, 0.0], axis=1) < 0.03
        assert (far_side & (scan.points[:, 0] < -0.39)).any()

    def test_scans_are_repeatable_and_follow_the_subject(self) -> None:
        vertices, faces = sphere(0.5, (0.0, 1.0, 0.0))
        scanner = Scanner(ScannerSettings(points=2000), faces)
        here = scanner.scan(vertices, np.random.default_rng(5))
        again = scanner.scan(vertices, np.random.default_rng(5))
        np.testing.assert_array_equal(here.points, again.points)
        there = scanner.scan(vertices + np.float32([3, 0, 1]), np.random.default_rng(5))
        assert abs(len(there.points) - len(here.points)) < 20
        np.testing.assert_allclose(there.points.mean(0) - here.points.mean(0), [3, 0, 1], atol=0.02)

    def test_marks_are_found_where_they_are(self, person: Person) -> None:
        marks = marks_on(TEMPLATE)
        settings = ScannerSettings(points=1000, noise=1e-4, landmarks=True)
        skin = np.asarray(person.identity.rest_vertices, np.float32)
        scan = Scanner(settings, TEMPLATE.mesh.triangles, marks).scan(
            skin, np.random.default_rng(0)
        )
        assert scan.landmark_names == tuple(marks)
        np.testing.assert_allclose(scan.landmarks, skin[list(marks.values())], atol=1e-3)
        left, right = (scan.landmark_names.index(f"{side}_heel") for side in ("left", "right"))
        assert scan.landmarks[left, 0] > 0 > scan.landmarks[right, 0]

    def test_scanners_that_cannot_be(self) -> None:
        with pytest.raises(InputError, match="scanner has noise"):
            ScannerSettings(noise=-1.0)
        with pytest.raises(InputError, match="camera pairs"):
            ring(0)
        with pytest.raises(InputError, match="outside 0 to 1"):
            Scan(np.zeros((2, 3)), np.full(2, 1.5), np.zeros(2, int), np.zeros((0, 3)))
        with pytest.raises(InputError, match="1 landmarks and 0 names"):
            Scan(np.zeros((2, 3)), np.zeros(2), np.zeros(2, int), np.zeros((1, 3)))
