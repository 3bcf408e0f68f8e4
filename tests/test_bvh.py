"""BVH files: closed forms, round trips, and every refusal."""

import re
from pathlib import Path

import numpy as np
import public_data
import pytest
from scipy.spatial.transform import Rotation
from small_body import small_motion, small_template

from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import CorporealError, FormatError, InputError, OutputError
from corporeal.formats.bvh import read_bvh, write_bvh
from corporeal.formats.bvh_motion import frames_a_second
from corporeal.formats.bvh_units import UNITS, axis_rotation
from corporeal.geometry.rotations import EULER_ORDERS, geodesic_angle, matrix_from_axis_angle
from corporeal.skinning.kinematics import forward_kinematics

CLIPS = [public_data.cmu_clip(stem) for stem in public_data.CMU_CLIPS]

ARM = """HIERARCHY
ROOT hips
{{
  OFFSET 0 1 0
  CHANNELS 6 Xposition Yposition Zposition {a}rotation {b}rotation {c}rotation
  JOINT upper arm
  {{
    OFFSET 2 0 0
    CHANNELS 3 {a}rotation {b}rotation {c}rotation
    End Site
    {{
      OFFSET 3 0 0
    }}
  }}
}}
MOTION
Frames: 2
Frame Time: 0.0333333
1 2 3 10 20 30 40 50 60
1 2 3 -10 5 30 -40 50 -60
"""


def arm(tmp_path: Path, order: str = "ZXY", text: str = ARM) -> Path:
    path = tmp_path / "arm.bvh"
    a, b, c = order
    path.write_text(text.format(a=a, b=b, c=c))
    return path


def altered(tmp_path: Path, old: str, new: str) -> Path:
    """The small file with one piece of text replaced."""
    text = arm(tmp_path).read_text()
    assert old in text
    path = tmp_path / "altered.bvh"
    path.write_text(text.replace(old, new))
    return path


@pytest.mark.parametrize("order", EULER_ORDERS)
def test_channels_turn_in_file_order(tmp_path: Path, order: str):
    """SciPy's intrinsic Euler angles are the independent reference for all six orders."""
    reading = read_bvh(arm(tmp_path, order), unit=1.0)
    expected = Rotation.from_euler(order, [[40, 50, 60], [-40, 50, -60]], degrees=True)
    found = matrix_from_axis_angle(reading.motion.joint_rotations[:, 1])
    np.testing.assert_allclose(found, expected.as_matrix(), atol=1e-14)


def test_positions_come_out_as_by_hand(tmp_path: Path):
    """The tip of the arm at frame 0, composed by hand: p = t + R₀ (o₁ + R₁ o₂), in metres."""
    reading = read_bvh(arm(tmp_path, "ZYX"), unit="cm")
    motion = reading.motion
    frames = forward_kinematics(
        motion.joint_rotations, motion.skeleton.joints, motion.skeleton.parents,
        motion.root_translation,
    )  # fmt: skip
    tip = frames[0, 1, :3, 3] + frames[0, 1, :3, :3] @ reading.end_sites["upper arm"]
    root = Rotation.from_euler("ZYX", [10, 20, 30], degrees=True)
    joint = Rotation.from_euler("ZYX", [40, 50, 60], degrees=True)
    by_hand = np.array([1.0, 2, 3]) + root.apply(np.add([2.0, 0, 0], joint.apply([3.0, 0, 0])))
    np.testing.assert_allclose(tip, 0.01 * by_hand, atol=1e-15)
    assert motion.fps == 30.0
    assert motion.skeleton.names == ("hips", "upper arm")


def test_z_up_files_are_turned_once(tmp_path: Path):
    """Reading with other axes is the same as turning every joint position of the plain reading."""
    path = arm(tmp_path)
    plain, turned = (
        read_bvh(path, unit=1.0).motion,
        read_bvh(path, unit=1.0, up="+z", front="-y").motion,
    )
    rotation = np.array([[1.0, 0, 0], [0, 0, 1], [0, -1, 0]])
    np.testing.assert_array_equal(axis_rotation("+z", "-y"), rotation)
    places = [
        forward_kinematics(
            m.joint_rotations, m.skeleton.joints, m.skeleton.parents, m.root_translation
        )[..., :3, 3]
        for m in (plain, turned)
    ]
    np.testing.assert_allclose(places[1], places[0] @ rotation.T, atol=1e-14)


def test_joints_with_six_channels(tmp_path: Path):
    """Position channels hold the whole offset: a constant one becomes the bone, zeros do not."""
    path = altered(
        tmp_path,
        "CHANNELS 3 Z",
        "CHANNELS 6 Xposition Yposition Zposition Z",
    )
    text = path.read_text().replace("40 50 60", "5 0 0 40 50 60").replace("-5 0 0", "5 0 0 -")
    text = text.replace("-40 50 -60", "5 0 0 -40 50 -60")
    path.write_text(text)
    reading = read_bvh(path, unit=1.0)
    np.testing.assert_allclose(reading.motion.skeleton.joints[1], [5.0, 1, 0])
    assert reading.notes == ()
    path.write_text(text.replace("5 0 0 40", "0 0 0 40").replace("5 0 0 -40", "0 0 0 -40"))
    np.testing.assert_allclose(read_bvh(path, unit=1.0).motion.skeleton.joints[1], [2.0, 1, 0])
    path.write_text(text.replace("5 0 0 40", "4 0 0 40"))
    varying = read_bvh(path, unit=1.0)
    np.testing.assert_allclose(varying.motion.skeleton.joints[1], [4.5, 1, 0])
    assert "'upper arm', by 1 file units" in varying.notes[0]


def test_a_root_without_positions_stays_at_its_offset(tmp_path: Path):
    path = altered(tmp_path, "CHANNELS 6 Xposition Yposition Zposition", "CHANNELS 3")
    path.write_text(path.read_text().replace("1 2 3 ", ""))
    motion = read_bvh(path, unit=1.0).motion
    np.testing.assert_array_equal(motion.root_translation, 0.0)
    np.testing.assert_array_equal(motion.skeleton.joints[0], [0, 1, 0])


def test_layout_does_not_matter(tmp_path: Path):
    """Windows line ends, tabs, a byte-order mark, braces on one line, other letter case."""
    plain = read_bvh(arm(tmp_path), unit=1.0).motion
    text = arm(tmp_path).read_text()
    text = text.replace("\n{", " {").replace("  ", "\t").replace("ROOT", "Root")
    text = text.replace("End Site", "END SITE").replace("Xposition", "XPOSITION")
    path = tmp_path / "odd.bvh"
    path.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    odd = read_bvh(path, unit=1.0).motion
    np.testing.assert_array_equal(odd.joint_rotations, plain.joint_rotations)
    assert odd.skeleton.names == plain.skeleton.names


@pytest.mark.parametrize(
    ("printed", "fps"),
    [
        (".0083333", 120.0),
        ("0.008333", 120.0),
        ("0.0333333", 30.0),
        ("0.016666", 60.0),
        ("0.033367", 30000 / 1001),
        ("0.04", 25.0),
        ("8.33333e-3", 120.0),
        ("0.03", 1 / 0.03),
    ],
)
def test_printed_frame_times_are_read_as_the_rate_that_was_meant(printed: str, fps: float):
    assert frames_a_second("a file", printed) == pytest.approx(fps, rel=1e-15)


@pytest.mark.parametrize("unit", UNITS)
def test_the_unit_is_found_from_the_size(tmp_path: Path, unit: str):
    """A chain of 1.2 m, written in every unit."""
    skeleton = Skeleton(("a", "b"), (-1, 0), np.array([[0.0, 0, 0], [0, 1.2, 0]]))
    motion = Motion("m", 30.0, np.zeros((2, 2, 3)), np.zeros((2, 3)), skeleton)
    write_bvh(tmp_path / "m.bvh", motion, unit=unit)
    reading = read_bvh(tmp_path / "m.bvh")
    assert reading.metres_per_unit == UNITS[unit]
    assert f"unit taken as {unit!r}" in reading.notes[0]


@pytest.mark.data("cmu-mocap")
@pytest.mark.parametrize("path", CLIPS, ids=lambda p: p.stem)
def test_real_clips_survive_the_round_trip(path: Path, tmp_path: Path):
    """BVH → motion → BVH → motion within 1e-4 rad; 6 printed digits leave 1e-8 rad and 1e-8 m."""
    first = read_bvh(path)
    assert first.motion.fps == 120.0
    assert first.metres_per_unit == pytest.approx(0.0254 / 0.45)
    assert first.rest_frame is not None
    write_bvh(tmp_path / "again.bvh", first.motion, end_sites=first.end_sites)
    again = read_bvh(tmp_path / "again.bvh", unit="cm", first_frame="keep")
    assert again.motion.skeleton.names == first.motion.skeleton.names
    angle = geodesic_angle(
        matrix_from_axis_angle(first.motion.joint_rotations),
        matrix_from_axis_angle(again.motion.joint_rotations),
    )
    assert angle.max() < 1e-7
    np.testing.assert_allclose(
        again.motion.skeleton.joints, first.motion.skeleton.joints, atol=1e-7
    )
    np.testing.assert_allclose(
        again.motion.root_translation, first.motion.root_translation, atol=1e-7
    )
    for name, site in first.end_sites.items():
        np.testing.assert_allclose(again.end_sites[name], site, atol=1e-8)


@pytest.mark.data("cmu-mocap")
def test_the_t_pose_before_a_capture_is_left_out_and_kept():
    """Frame 0 of every clip has the legs turned by ∓21 degrees about z and the hips at zero."""
    reading = read_bvh(CLIPS[0])
    kept = read_bvh(CLIPS[0], first_frame="keep").motion
    assert kept.frame_count == reading.motion.frame_count + 1
    assert reading.rest_frame is not None
    legs = reading.rest_frame.joint_rotations[kept.skeleton.index("LeftUpLeg")]
    np.testing.assert_allclose(np.rad2deg(legs), [0, 0, -21], atol=1e-9)
    assert any("T-pose" in note for note in reading.notes)


def test_a_capture_without_t_pose_keeps_its_first_frame(tmp_path: Path):
    times = np.linspace(0, 1, 30)[:, None, None]
    skeleton = Skeleton(("a", "b"), (-1, 0), np.array([[0.0, 0, 0], [0, 1.0, 0]]))
    motion = Motion("m", 30.0, times * np.ones((1, 2, 3)), np.zeros((30, 3)), skeleton)
    write_bvh(tmp_path / "m.bvh", motion)
    assert read_bvh(tmp_path / "m.bvh", unit="cm").motion.frame_count == 30
    assert read_bvh(tmp_path / "m.bvh", unit="cm", first_frame="drop").motion.frame_count == 29


def test_joints_that_are_not_listed_depth_first_are_written_so(tmp_path: Path):
    """SMPL lists joints by depth; BVH by branch. By name, everything stays."""
    generator = np.random.default_rng(5)
    names, parents = ("root", "l1", "r1", "l2", "r2"), (-1, 0, 0, 1, 2)
    skeleton = Skeleton(names, parents, generator.normal(size=(5, 3)))
    motion = Motion(
        "m", 50.0, generator.normal(size=(4, 5, 3)), generator.normal(size=(4, 3)), skeleton
    )
    write_bvh(tmp_path / "m.bvh", motion, order="YZX", unit="m")
    again = read_bvh(tmp_path / "m.bvh", unit="m", first_frame="keep").motion
    assert again.skeleton.names == ("root", "l1", "l2", "r1", "r2")
    order = [again.skeleton.index(name) for name in names]
    angle = geodesic_angle(
        matrix_from_axis_angle(again.joint_rotations[:, order]),
        matrix_from_axis_angle(motion.joint_rotations),
    )
    assert angle.max() < 1e-7
    np.testing.assert_allclose(again.skeleton.joints[order], skeleton.joints, atol=2e-6)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("HIERARCHY", "", "expected HIERARCHY"),
        ("MOTION", "", "lacks a line MOTION"),
        ("JOINT upper arm", "ROOT second", "one ROOT outside"),
        ("JOINT upper arm", "JOINT hips", "'hips' a second time"),
        ("JOINT upper arm", "JOINT", "without a name"),
        ("OFFSET 2 0 0", "", "'upper arm' has no OFFSET"),
        ("OFFSET 2 0 0", "OFFSET 2 0 nan", "three finite numbers"),
        ("OFFSET 2 0 0", "OFFSET 2 0", "three finite numbers"),
        ("CHANNELS 3 Z", "CHANNELS 1000000 Z", "CHANNELS 1000000"),
        ("CHANNELS 3 Zrotation Xrotation", "CHANNELS 2 Zrotation", "three rotations or none"),
        ("CHANNELS 3 Zrotation", "CHANNELS 3 Xrotation", "different names"),
        ("CHANNELS 3 Zrotation", "CHANNELS 3 Wrotation", "different names"),
        ("Frames: 2", "Frames: 0", "whole number above 0"),
        ("Frames: 2", "Frames: -2", "whole number above 0"),
        ("Frames: 2", "Frames: 999999999999", "truncated or damaged"),
        ("Frames: 2", "Frames: 3", "truncated"),
        ("-40 50 -60", "-40 50", "holds 1 whole ones of 9 channels: it is truncated"),
        ("Frames: 2", "Frames: 1", "more than the 9 values"),
        ("Frame Time: 0.0333333", "Frame Time: 0", "frame time '0'"),
        ("Frame Time: 0.0333333", "Frame Time: -0.01", "frame time '-0.01'"),
        ("Frame Time: 0.0333333", "Frame Time: nan", "frame time 'nan'"),
        ("Frame Time: 0.0333333", "Frame Time: 33.3333", "may be in milliseconds"),
        ("Frame Time: 0.0333333", "", "expected 'Frames:'"),
        ("-40 50 -60", "-40 nan -60", "frame 1, upper arm Xrotation is 'nan'"),
        ("40 50 60", "40 1e999 60", "is '1e999'"),
        ("40 50 60", "40 fifty 60", "is 'fifty'"),
        ("  }\n}\n", "  }\n", "1 joints still open"),
        ("      OFFSET 3 0 0", "      JOINT inside end site", "one ROOT outside"),
    ],
)
def test_damage_is_refused_in_words(tmp_path: Path, old: str, new: str, words: str):
    with pytest.raises(FormatError) as caught:
        read_bvh(altered(tmp_path, old, new), unit=1.0)
    assert words in str(caught.value)
    assert "altered.bvh" in str(caught.value)


def test_dialects_say_the_same(tmp_path: Path):
    """Lower-case words, remarks, decimal commas and commas behind values: all were refused."""
    plain = tmp_path / "plain.bvh"
    write_bvh(plain, small_motion(small_template()))
    text = plain.read_text()
    words = ["HIERARCHY", "ROOT", "JOINT", "OFFSET", "CHANNELS", "MOTION"]
    dialects = {
        "lower": re.sub("|".join(words), lambda found: found[0].lower(), text),
        "remarks": f"# made by a tool\n{text}# end\n",
        "commas": text.replace(".", ","),
        "listed": re.sub(r"(\d) (?=[-\d])", r"\1, ", text),
    }
    expected = read_bvh(plain).motion
    for name, content in dialects.items():
        assert content != text
        path = tmp_path / f"{name}.bvh"
        path.write_text(content)
        reading = read_bvh(path)
        np.testing.assert_array_equal(reading.motion.joint_rotations, expected.joint_rotations)
        np.testing.assert_array_equal(reading.motion.skeleton.joints, expected.skeleton.joints)
        assert reading.motion.fps == expected.fps
        assert (name == "commas") == any("commas" in note for note in reading.notes)


def test_two_skeletons_in_a_file_are_refused_by_name(tmp_path: Path):
    path = altered(tmp_path, "MOTION", "ROOT other\n{\nOFFSET 0 0 0\nCHANNELS 0\n}\nMOTION")
    with pytest.raises(FormatError, match="more than one root \\('hips', then 'other'"):
        read_bvh(path, unit=1.0)


def test_a_file_with_a_million_channels_is_refused_before_it_is_believed(tmp_path: Path):
    joints = "\n".join(f"JOINT j{i}\n{{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n}}"
                       for i in range(5000))  # fmt: skip
    path = tmp_path / "wide.bvh"
    path.write_text(
        "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 3 Xrotation Yrotation Zrotation\n"
        f"{joints}\n}}\nMOTION\nFrames: 1\nFrame Time: 0.01\n0\n"
    )
    with pytest.raises(FormatError, match="more than 4096 joints"):
        read_bvh(path)


@pytest.mark.parametrize("content", [b"", b"\0\1\2\3" * 100, b"\xff\xfe garbage", b"HIERARCHY"])
def test_empty_and_binary_files_are_refused(tmp_path: Path, content: bytes):
    path = tmp_path / "bad.bvh"
    path.write_bytes(content)
    with pytest.raises(FormatError, match=r"bad\.bvh"):
        read_bvh(path)


def test_every_truncation_of_a_file_is_refused(tmp_path: Path):
    text = arm(tmp_path).read_text()
    path = tmp_path / "cut.bvh"
    whole = len(text.rstrip())
    for length in range(whole - 2):  # a file cut within its last number can still be whole
        path.write_text(text[:length])
        with pytest.raises(CorporealError):
            read_bvh(path, unit=1.0)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"unit": "ell"}, "unit 'ell'; expected one of m, cm"),
        ({"unit": -1.0}, "unit -1.0"),
        ({"up": "y"}, "axis 'y'; expected one of"),
        ({"up": "+z", "front": "-z"}, "are one line"),
        ({}, "fits a person in none of the units"),
    ],
)
def test_options_are_checked(tmp_path: Path, options: dict, words: str):
    with pytest.raises(InputError) as caught:
        read_bvh(arm(tmp_path), **options)
    assert words in str(caught.value)


def test_what_cannot_be_written_is_refused(tmp_path: Path):
    motion = read_bvh(arm(tmp_path), unit=1.0).motion
    with pytest.raises(InputError, match="Euler order 'ABC'"):
        write_bvh(tmp_path / "x.bvh", motion, order="ABC")
    with pytest.raises(OutputError, match="does not exist"):
        write_bvh(tmp_path / "no" / "x.bvh", motion)
    brace = Skeleton(("a{",), (-1,), np.zeros((1, 3)))
    with pytest.raises(InputError, match=r"'a\{' cannot be written"):
        write_bvh(
            tmp_path / "x.bvh", Motion("m", 1.0, np.zeros((1, 1, 3)), np.zeros((1, 3)), brace)
        )
    with pytest.raises(InputError, match="there is no file"):
        read_bvh(tmp_path / "absent.bvh")
    with pytest.raises(InputError, match="cannot read"):
        read_bvh(tmp_path)
    one = Motion("m", 1.0, np.zeros((1, 2, 3)), np.zeros((1, 3)), motion.skeleton)
    write_bvh(tmp_path / "one.bvh", one)
    with pytest.raises(FormatError, match="has one frame"):
        read_bvh(tmp_path / "one.bvh", unit="cm", first_frame="drop")
