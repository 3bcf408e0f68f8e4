"""Ten real captures on a short heavy woman and a tall thin man."""

from pathlib import Path

import numpy as np
import public_data
import pytest

from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.body.template import Template
from corporeal.errors import InputError
from corporeal.formats.amass import LAYOUTS
from corporeal.formats.bvh import read_bvh, write_bvh
from corporeal.formats.native import write_motion
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.derivatives import world_frames
from corporeal.motions.flight import check_frame_rate
from corporeal.motions.incoming import IncomingOptions, motion_for_body
from corporeal.motions.retarget.feet import feet_of_body
from corporeal.motions.retarget.guess import guess_name_map
from corporeal.motions.retarget.measures import ground_penetration, planted_slides, spikes
from corporeal.motions.retarget.retarget import Retargeted, retarget
from corporeal.skinning.kinematics import rest_to_world

CLIPS = [public_data.cmu_clip(stem) for stem in public_data.CMU_CLIPS]

MODEL = PhenotypeModel()
PEOPLE = {
    "short heavy woman": {"gender": 0.0, "height": 0.4, "weight": 1.0, "muscle": 0.3},
    "tall thin man": {"gender": 1.0, "height": 0.65, "weight": 0.1},
}
SLIDE_M, PENETRATION_M = 0.015, 0.01
FLIP_RAD_S = 20.0
"""At 120 Hz a flip by half a turn is 377 rad/s."""


def skeleton_of(identity: Identity) -> Skeleton:
    rest = MODEL.template.skeleton
    return Skeleton(rest.names, rest.parents, np.asarray(identity.joints, np.float64))


def lowest_skin(template: Template, identity: Identity, motion: Motion, step: int) -> float:
    """Height of the lowest of every seventh vertex and all of the feet, by linear blending."""
    vertices = np.asarray(identity.rest_vertices, np.float64)
    chosen = np.union1d(np.arange(0, len(vertices), 7), np.flatnonzero(vertices[:, 1] < 0.1))
    frames = rest_to_world(world_frames(motion)[::step], np.asarray(identity.joints, np.float64))
    dense = np.asarray(template.weights.dense(), np.float64)[chosen]
    rows = np.einsum("vj,njk->nvk", dense, frames[:, :, 1, :], optimize=True)
    return float(((rows[..., :3] * vertices[chosen]).sum(-1) + rows[..., 3]).min())


def require_good(source: Motion, result: Retargeted, identity: Identity, step: int) -> None:
    slides = planted_slides(source, result)
    assert max((slide.distance for slide in slides), default=0.0) < SLIDE_M
    assert ground_penetration(result) < 1e-9
    assert lowest_skin(MODEL.template, identity, result.motion, step) > -PENETRATION_M
    assert spikes(source, result, above=FLIP_RAD_S) == []
    assert result.sinking < 0.05


@pytest.mark.data("cmu-mocap")
@pytest.mark.parametrize("person", PEOPLE)
@pytest.mark.parametrize("path", CLIPS, ids=lambda p: p.stem)
def test_feet_stay_planted_and_nothing_flips(path: Path, person: str):
    identity = MODEL.prepare(PEOPLE[person])
    source = read_bvh(path).motion
    result = retarget(source, skeleton_of(identity), feet=feet_of_body(MODEL.template, identity))
    require_good(source, result, identity, step=8)


@pytest.mark.slow
@pytest.mark.data("cmu-mocap")
@pytest.mark.parametrize(
    ("gender", "stature", "mass"), [("female", 1.55, 95.0), ("male", 1.95, 70.0)]
)
def test_the_two_named_people(gender: str, stature: float, mass: float):
    from corporeal.anthropometry.solve import solve_measurements

    identity = solve_measurements({"stature": stature, "mass": mass}, gender).identity
    for path in CLIPS:
        source = read_bvh(path).motion
        result = retarget(
            source, skeleton_of(identity), feet=feet_of_body(MODEL.template, identity)
        )
        require_good(source, result, identity, step=2)


@pytest.mark.data("cmu-mocap")
def test_arms_point_where_the_captured_arms_point():
    """Upper arm and forearm directions equal the source's at every frame, on any body."""
    identity = MODEL.prepare(PEOPLE["short heavy woman"])
    source = read_bvh(next(p for p in CLIPS if p.stem.startswith("35_01"))).motion
    result = retarget(source, skeleton_of(identity))
    ours, theirs = (world_frames(m)[..., :3, 3] for m in (result.motion, source))
    for start, end in (("shoulder", "elbow"), ("elbow", "wrist")):
        directions = []
        for places, skeleton, names in (
            (theirs, source.skeleton, result.names.joints),
            (ours, result.motion.skeleton, {n: n for n in result.motion.skeleton.names}),
        ):
            a, b = (skeleton.index(names[f"left_{joint}"]) for joint in (start, end))
            bone = places[:, b] - places[:, a]
            directions.append(bone / np.linalg.norm(bone, axis=-1, keepdims=True))
        np.testing.assert_allclose(directions[1], directions[0], atol=1e-6)


@pytest.mark.data("cmu-mocap")
def test_flights_keep_the_shape_of_the_source():
    """In flight the hips fall with the source's acceleration times the ratio of leg lengths."""
    identity = MODEL.prepare(PEOPLE["tall thin man"])
    source = read_bvh(next(p for p in CLIPS if p.stem.startswith("16_05"))).motion
    result = retarget(source, skeleton_of(identity), feet=feet_of_body(MODEL.template, identity))
    (flight,) = check_frame_rate(source).flights
    hips = [result.motion.skeleton.index(f"{side}_hip") for side in ("left", "right")]
    height = world_frames(result.motion)[flight.first : flight.last + 1, hips, 1, 3].mean(axis=1)
    curve = np.polynomial.Polynomial.fit(np.arange(len(height)) / source.fps, height, 2).convert()
    assert 2 * curve.coef[2] == pytest.approx(result.scale * flight.acceleration, rel=0.02)


@pytest.mark.data("cmu-mocap")
@pytest.mark.parametrize("path", CLIPS, ids=lambda p: p.stem)
def test_every_clip_with_clean_flights_confirms_its_rate(path: Path):
    """The clips are known to be 120 Hz; walks have no flights and the dance no clean ones."""
    source = read_bvh(path).motion
    expected = "unknown" if path.stem[:5] in ("35_01", "05_06") else "fits"
    assert check_frame_rate(source).verdict == expected
    doubled = Motion("d", 240.0, source.joint_rotations, source.root_translation, source.skeleton)
    if expected == "fits":
        assert check_frame_rate(doubled).fps == 120.0


@pytest.mark.data("cmu-mocap")
def test_the_guess_finds_the_same_joints_as_the_built_in_map():
    source = read_bvh(CLIPS[0]).motion
    guessed, known = (
        guess_name_map(source.skeleton),
        retarget(source, MODEL.template.skeleton).names,
    )
    assert known.name == "cmu"
    assert known.joints.items() <= guessed.joints.items()
    assert (guessed.spine, guessed.neck) == (known.spine, known.neck)


@pytest.mark.data("cmu-mocap")
def test_any_motion_file_becomes_a_motion_of_the_body(tmp_path: Path):
    """BVH with a rate in doubt, AMASS and native files through one door, and what it refuses."""
    identity = MODEL.prepare()
    clip = read_bvh(next(p for p in CLIPS if p.stem.startswith("16_05")))
    fast = Motion("f", 240.0, clip.motion.joint_rotations, clip.motion.root_translation,
                  clip.motion.skeleton)  # fmt: skip
    write_bvh(tmp_path / "fast.bvh", fast)
    came = motion_for_body(tmp_path / "fast.bvh", MODEL.template, identity)
    assert any("really 120 Hz" in note for note in came.notes)
    assert came.facts["name_map"] == "cmu"
    native = tmp_path / "own.npz"
    write_motion(native, came.motion)
    again = motion_for_body(native, MODEL.template, identity)
    np.testing.assert_array_equal(again.motion.joint_rotations, came.motion.joint_rotations)
    write_motion(native, clip.motion)
    with pytest.raises(InputError, match="expected the same joints"):
        motion_for_body(native, MODEL.template, identity)
    with pytest.raises(InputError, match=r"suffix '\.txt'"):
        motion_for_body(tmp_path / "a.txt", MODEL.template, identity)


def test_an_amass_motion_stands_on_the_ground_and_raw_leaves_it_alone(tmp_path: Path):
    """A person who stands still, z up, 10 cm too high: the soles come down to y = 0."""
    identity = MODEL.prepare()
    poses = np.zeros((40, 156))
    poses[:, 0] = np.pi / 2  # y up to z up
    generator = np.random.default_rng(0)
    poses[:, 66:] = generator.normal(scale=0.1, size=90)
    pelvis = np.asarray(identity.joints, np.float64)[0]
    standing = np.array([0.0, -pelvis[1], pelvis[1] - pelvis[2] + 0.1])
    path = tmp_path / "still_poses.npz"
    np.savez(path, poses=poses, trans=np.tile(standing, (40, 1)), mocap_framerate=120.0)
    came = motion_for_body(path, MODEL.template, identity)
    assert came.retargeted is not None
    assert ground_penetration(came.retargeted) < 1e-9
    assert lowest_skin(MODEL.template, identity, came.motion, 8) == pytest.approx(0, abs=2e-3)
    raw = motion_for_body(path, MODEL.template, identity, IncomingOptions(raw=True))
    by_hand = poses.reshape(40, 52, 3)
    names = MODEL.template.skeleton.names
    for joint in ("left_hip", "right_ring2", "neck"):
        np.testing.assert_array_equal(
            raw.motion.joint_rotations[:, names.index(joint)], by_hand[:, LAYOUTS[156].index(joint)]
        )
    assert lowest_skin(MODEL.template, identity, raw.motion, 8) == pytest.approx(0.1, abs=2e-3)
