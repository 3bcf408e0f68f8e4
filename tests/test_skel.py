"""Skeleton files: `.skel` and JSON hold what was written, and say what is wrong with them."""

import json
from pathlib import Path

import numpy as np
import pytest
from synthetic import arm_template, identity_of, random_motion

from corporeal.body.skeleton import Skeleton
from corporeal.errors import FormatError, InputError
from corporeal.formats.bvh import write_bvh
from corporeal.formats.gltf import write_glb
from corporeal.formats.skel import read_skel, write_skel
from corporeal.formats.skeleton_json import read_skeleton_json, write_skeleton_json
from corporeal.formats.skeletons import read_skeleton, write_skeleton

SKELETON = Skeleton(
    ("pelvis", "spine", "Kopf_é", "leg"),
    (-1, 0, 1, 0),
    np.array([[0, 1, 0], [0.1, 1.25, 1 / 3], [0, 1.7, -1e-9], [0.2, 0.5, 0]]),
)
GOOD = "2\n0 0 0 a root\n1 0 0 b a\n"


def same(one: Skeleton, other: Skeleton) -> bool:
    equal = np.array_equal(one.joints, other.joints)
    return (one.names, one.parents) == (other.names, other.parents) and equal


@pytest.mark.parametrize("name", ["a.skel", "a.json"])
def test_what_is_written_is_read_to_the_last_digit(name: str, tmp_path: Path):
    write_skeleton(tmp_path / name, SKELETON)
    reading = read_skeleton(tmp_path / name)
    assert same(reading.skeleton, SKELETON)
    assert reading.unit == ("m" if name.endswith("json") else None)


def test_children_may_stand_before_their_parents(tmp_path: Path):
    """Blank lines, comments and Windows line ends are fine; the tree comes out in order."""
    text = "# limb\r\n3\r\n\r\n2 0 0 hand elbow\r\n1 0 0 elbow arm # bent\r\n0 0 0 arm root"
    (tmp_path / "limb.skel").write_bytes(text.encode())
    skeleton = read_skel(tmp_path / "limb.skel")
    assert skeleton.names == ("arm", "elbow", "hand")
    assert skeleton.parents == (-1, 0, 1)
    np.testing.assert_array_equal(skeleton.joints[:, 0], [0, 1, 2])


def test_a_joint_may_be_called_root(tmp_path: Path):
    skeleton = Skeleton(("root", "a", "b"), (-1, 0, 1), np.eye(3))
    write_skel(tmp_path / "a.skel", skeleton)
    assert same(read_skel(tmp_path / "a.skel"), skeleton)
    other = Skeleton(("hips", "root", "a"), (-1, 0, 1), np.eye(3))
    write_skel(tmp_path / "b.skel", other)
    assert same(read_skel(tmp_path / "b.skel"), other)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "first line is ''"),
        ("solid\nfacet", "first line is 'solid'"),
        ("two\n0 0 0 a root", "first line is 'two'"),
        ("-1\n", "first line is '-1'"),
        ("0\n", "1 to 10000"),
        ("99999999999999999999\n", "1 to 10000"),
        ("3\n0 0 0 a root\n1 0 0 b a\n", "states 3 joints and has 2 lines"),
        ("1\n0 0 0 a root\n1 0 0 b a\n", "states 1 joints and has 2 lines"),
        ("1\n0 0 0 a\n", "4 words; expected five"),
        ("1\n0 0 0 left hand root\n", "6 words; expected five"),
        ("1\n0 zero 0 a root\n", "three numbers"),
        ("1\nnan 0 0 a root\n", "finite"),
        ("1\n1e999 0 0 a root\n", "finite"),
        ("2\n0 0 0 a root\n1 0 0 a root\n", "'a' stands twice"),
        ("2\n0 0 0 a root\n1 0 0 b root\n", "2 joints have no parent ('a', 'b')"),
        ("2\n0 0 0 a b\n1 0 0 b a\n", "0 joints have no parent"),
        ("3\n0 0 0 a root\n0 0 0 b c\n1 0 0 c b\n", "'b', 'c' are each other's ancestors"),
        ("2\n0 0 0 a root\n1 0 0 b nobody\n", "parent 'nobody', which is no joint"),
    ],
)
def test_damaged_files_are_refused_in_words(text: str, words: str, tmp_path: Path):
    (tmp_path / "bad.skel").write_text(text)
    with pytest.raises(FormatError, match="bad") as caught:
        read_skel(tmp_path / "bad.skel")
    assert words in str(caught.value)


@pytest.mark.parametrize("cut", range(len(GOOD) - 1))
def test_a_truncated_file_is_refused_or_whole(cut: int, tmp_path: Path):
    (tmp_path / "cut.skel").write_text(GOOD[:cut])
    with pytest.raises(FormatError):
        read_skel(tmp_path / "cut.skel")


def test_files_that_are_not_there_or_not_text(tmp_path: Path):
    with pytest.raises(InputError, match="no file"):
        read_skel(tmp_path / "none.skel")
    (tmp_path / "binary.skel").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(FormatError, match="plain text"):
        read_skel(tmp_path / "binary.skel")
    with pytest.raises(InputError, match="expected"):
        read_skeleton(tmp_path / "a.txt")
    with pytest.raises(InputError, match="cannot read"):
        read_skel(tmp_path)


def test_names_that_text_cannot_hold(tmp_path: Path):
    skeleton = Skeleton(("left hand",), (-1,), np.zeros((1, 3)))
    with pytest.raises(InputError, match=r"\.json"):
        write_skel(tmp_path / "a.skel", skeleton)
    write_skeleton_json(tmp_path / "a.json", skeleton, None)
    read, unit = read_skeleton_json(tmp_path / "a.json")
    assert same(read, skeleton)
    assert unit is None


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "no JSON"),
        ([], "expected an object"),
        ({"joints": [], "bones": 1}, "expected an object"),
        ({"joints": []}, "no list"),
        ({"joints": 3}, "no list"),
        ({"unit": 1, "joints": [{"name": "a", "position": [0, 0, 0]}]}, "'unit'"),
        ({"joints": [{"name": "a"}]}, "expected an object"),
        ({"joints": [{"name": 1, "position": [0, 0, 0]}]}, "expected text"),
        ({"joints": [{"name": "a", "position": [0, 0]}]}, "three numbers"),
        ({"joints": [{"name": "a", "position": [0, 0, True]}]}, "three numbers"),
        ({"joints": [{"name": "a", "position": [0, 0, 10**400]}]}, "beyond"),
        ({"joints": [{"name": "a", "parent": "a", "position": [0, 0, 0]}]}, "no parent"),
    ],
)
def test_damaged_json_is_refused_in_words(content: object, words: str, tmp_path: Path):
    text = content if isinstance(content, str) else json.dumps(content)
    (tmp_path / "bad.json").write_text(text)
    with pytest.raises(FormatError, match="bad") as caught:
        read_skeleton_json(tmp_path / "bad.json")
    assert words in str(caught.value)


def test_skeletons_come_out_of_glb_and_bvh(tmp_path: Path):
    """The joints of a GLB's skin in metres; those of a BVH in its own unit."""
    template = arm_template()
    write_glb(tmp_path / "arm.glb", template, identity_of(template))
    glb = read_skeleton(tmp_path / "arm.glb")
    assert glb.unit == "m"
    assert glb.skeleton.names == template.skeleton.names
    np.testing.assert_allclose(glb.skeleton.joints, template.skeleton.joints, atol=1e-6)
    write_bvh(tmp_path / "arm.bvh", random_motion(template), unit="cm")
    bvh = read_skeleton(tmp_path / "arm.bvh")
    assert bvh.unit is None
    assert set(bvh.skeleton.names) == set(template.skeleton.names)
    order = [bvh.skeleton.index(name) for name in template.skeleton.names]
    joints = np.asarray(bvh.skeleton.joints)[order]
    np.testing.assert_allclose(joints, 100 * template.skeleton.joints, atol=1e-4)
