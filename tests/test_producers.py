"""Motions from anywhere: files as ten and more producers build them, with known positions.

Before this, Rokoko's, LAFAN1's and Bandai-Namco's rigs came out bent double or with legs off by
half a turn, Bandai-Namco's lost their way, and files with z up lay on their backs.
"""

import warnings
from dataclasses import replace
from pathlib import Path

import numpy as np
import producers
import public_data
import pytest
from producers import RIGS, Take

from corporeal.errors import InputError
from corporeal.formats.bvh import read_bvh
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.derivatives import world_frames
from corporeal.motions.incoming import IncomingMotion, IncomingOptions, motion_for_body
from corporeal.motions.retarget.floor import KNEE_FLESH
from corporeal.motions.retarget.guess import name_map_for
from corporeal.motions.retarget.hands import palm_height
from corporeal.motions.retarget.measures import ground_penetration

MODEL = PhenotypeModel()
PERSON = MODEL.prepare()
LIMBS = [
    (f"{side}_{start}", f"{side}_{end}")
    for side in ("left", "right")
    for start, end in (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"),
                       ("elbow", "wrist"))
]  # fmt: skip
LIMB_DEG, TRAVEL, LINE_DEG = 5.0, 0.02, 6.0


def written(take: Take, path: Path) -> Path:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # gimbal lock, as in the producers' own files
        return producers.write(take, path)


def came(take: Take, path: Path, **options) -> IncomingMotion:
    file = written(take, path)
    return motion_for_body(file, MODEL.template, PERSON, IncomingOptions(**options))


def degrees(a: np.ndarray, b: np.ndarray) -> float:
    cosine = np.sum(a * b, -1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
    return float(np.rad2deg(np.arccos(np.clip(cosine, -1, 1))).max())


def places_of(result: IncomingMotion):
    places = world_frames(result.motion)[..., :3, 3]
    return lambda joint: places[:, result.motion.skeleton.index(joint)]


@pytest.mark.parametrize("producer", RIGS)
def test_limbs_point_and_bodies_go_where_the_producer_had_them(producer: str, tmp_path: Path):
    take = producers.walk(RIGS[producer])
    result = came(take, tmp_path / "walk.bvh")
    ours, theirs = places_of(result), take.place
    for start, end in LIMBS:
        assert degrees(ours(end) - ours(start), theirs(end) - theirs(start)) < LIMB_DEG, start
    for pair in ("hip", "shoulder"):
        lines = [at(f"left_{pair}") - at(f"right_{pair}") for at in (ours, theirs)]
        assert degrees(*lines) < LINE_DEG, pair
    if "left_foot" in take.rig.roles and producer != "cmu":  # whose map knows other feet
        for side in ("left", "right"):
            feet = [(at(f"{side}_foot") - at(f"{side}_ankle")) * [1, 0, 1] for at in (ours, theirs)]
            assert degrees(*feet) < LINE_DEG
    ways = [0.5 * (at("left_hip") + at("right_hip")) for at in (ours, theirs)]
    scale = result.retargeted.scale
    went, had = ways[0][-1] - ways[0][0], scale * (ways[1][-1] - ways[1][0])
    assert np.linalg.norm((went - had)[[0, 2]]) < TRAVEL * np.linalg.norm(had)


@pytest.mark.parametrize("producer", RIGS)
def test_the_reader_finds_every_joint_where_the_producer_put_it(producer: str, tmp_path: Path):
    """Unit, offsets, Euler order and position channels, against this test's own kinematics.

    The file has six digits after the point, of degrees: 1e-6° over 2 m are below a micrometre.
    """
    take = producers.walk(RIGS[producer])
    motion = read_bvh(written(take, tmp_path / "walk.bvh")).motion
    places = world_frames(motion)[..., :3, 3]
    expected = take.places @ take.rig.world.T
    if take.rig.carrier:  # the root goes only half of the body's way
        places, expected = places[:, 1:], expected[:, 1:]
    np.testing.assert_allclose(places, expected, atol=2e-6)
    assert len(motion.skeleton.names) == len(take.rig.joints)


@pytest.mark.parametrize("producer", RIGS)
def test_joint_names_of_every_producer_are_understood(producer: str, tmp_path: Path):
    rig = RIGS[producer]
    motion = read_bvh(written(producers.walk(rig, seconds=0.2), tmp_path / "a.bvh")).motion
    names = name_map_for(motion.skeleton)
    found = {role: name for role, name in rig.roles.items() if role not in ("neck", "pelvis")}
    assert {role: names.joints.get(role) for role in found} == found
    assert names.joints["pelvis"] == rig.roles["pelvis"]
    assert names.spine == rig.spine


def test_what_was_found_is_told(tmp_path: Path):
    rokoko = came(producers.walk(RIGS["rokoko"]), tmp_path / "a.bvh").notes
    assert any("rests in no pose that stands" in note for note in rokoko)
    z_up = came(producers.walk(RIGS["z-up"]), tmp_path / "b.bvh").notes
    assert any("+z is up" in note and "faces -y" in note for note in z_up)
    lying = came(producers.walk(RIGS["z-up-around-y-up"]), tmp_path / "c.bvh").notes
    assert any("set upright" in note for note in lying)
    bandai = came(producers.walk(RIGS["bandai-namco"]), tmp_path / "d.bvh").notes
    assert any("the way of 'Hips' counts as the body's" in note for note in bandai)


def test_a_told_axis_is_obeyed_and_a_front_goes_with_it(tmp_path: Path):
    """z up needs no --front, and what is told agrees with what is found."""
    take = producers.walk(RIGS["z-up"], seconds=1.0)
    found = came(take, tmp_path / "a.bvh").motion
    told = came(take, tmp_path / "a.bvh", up="+z").motion
    np.testing.assert_array_equal(told.joint_rotations, found.joint_rotations)


def test_bodies_that_never_stand_and_have_no_floor_are_refused(tmp_path: Path):
    """A body that tumbles through the air shows no up: say it."""
    take = producers.walk(RIGS["xsens"], seconds=1.0)
    spin = producers.about("x", np.linspace(0, 720, len(take.turns)))
    turns = spin[:, None] @ take.turns
    root = np.array([0.0, 1.0, 0.0]) * np.linspace(0, 3, len(turns))[:, None] ** 2
    tumbling = Take(take.rig, turns, producers.forward(take.rig, turns, root))
    with pytest.raises(InputError, match=r"which way is up .* is in doubt.*--up"):
        came(tumbling, tmp_path / "a.bvh")
    assert came(tumbling, tmp_path / "a.bvh", up="+y").motion.frame_count == len(turns)


def test_a_mirrored_capture_is_refused(tmp_path: Path):
    """Left and right names exchanged: the feet point backwards from the hips."""
    rig = RIGS["sfu"]
    swapped = rig.tree.replace("Left", "#").replace("Right", "Left").replace("#", "Right")
    take = producers.walk(rig, seconds=1.0)
    with pytest.raises(InputError, match=r"left joints on the right-hand side.*--name-map"):
        came(replace(take, rig=replace(rig, tree=swapped)), tmp_path / "a.bvh")


@pytest.mark.parametrize("producer", ["xsens", "mixamo", "sfu", "cmu", "3ds-max-biped"])
def test_hands_and_knees_lie_on_the_floor(producer: str, tmp_path: Path):
    """Crawling: knees sank by 54 mm, and arms were bent by 51° to keep the hands out of the ground.

    Knees and wrists have their flesh under them, and nothing is in the ground.
    """
    take = producers.crawl(RIGS[producer])
    result = came(take, tmp_path / "crawl.bvh")
    ours, theirs = places_of(result), take.place
    for side in ("left", "right"):
        assert abs(ours(f"{side}_knee")[:, 1] - KNEE_FLESH).max() < 0.02
        assert abs(ours(f"{side}_wrist")[:, 1] - palm_height(result.motion.skeleton)).max() < 0.03
    for start, end in LIMBS:
        assert degrees(ours(end) - ours(start), theirs(end) - theirs(start)) < LIMB_DEG, start
    assert ground_penetration(result.retargeted) < 1e-3
    assert any("stays on a floor" in note for note in result.notes)


def test_a_cartwheel_goes_over_the_hands(tmp_path: Path):
    """Where hands carry the body it is they that are on the floor, and the arms stay straight."""
    take = producers.cartwheel(RIGS["xsens"])
    result = came(take, tmp_path / "cartwheel.bvh")
    ours, theirs = places_of(result), take.place
    over = theirs("left_ankle")[:, 1] > 1.2
    hands = np.minimum(ours("left_wrist")[:, 1], ours("right_wrist")[:, 1])
    carried = over & (np.minimum(theirs("left_wrist")[:, 1], theirs("right_wrist")[:, 1]) < 0.1)
    assert carried.sum() > 5
    assert abs(hands[carried] - palm_height(result.motion.skeleton)).max() < 0.04
    for start, end in LIMBS[2:4]:
        limbs = [at(end)[carried] - at(start)[carried] for at in (ours, theirs)]
        assert degrees(*limbs) < LIMB_DEG, start


@pytest.mark.data("cmu-mocap")
def test_the_rig_of_an_archive_is_that_of_its_file():
    """CMU's names, tree and offsets against the public file; the rig's are rounded at a thousandth.

    Of the file's joints only fingers and thumbs are not in the rig.
    """
    path = public_data.cmu_clip("35_01_walk")
    rig, joints = RIGS["cmu"], read_bvh(path, unit=RIGS["cmu"].metres).motion.skeleton
    rest = np.asarray(joints.joints, np.float64) / rig.metres
    for name, parent, offset in rig.joints:
        index = joints.index(name)
        above = joints.parents[index]
        assert (joints.names[above] if parent >= 0 else "") == (
            rig.joints[parent][0] if parent >= 0 else ""
        )
        if parent >= 0:
            np.testing.assert_allclose(rest[index] - rest[above], offset, atol=6e-4)
    left = set(joints.names) - {name for name, *_ in rig.joints}
    assert all("Finger" in name or "Index" in name or "Thumb" in name for name in left)
