"""AMASS files of the exact published layouts, made here: the real ones are licensed."""

import pickle
from pathlib import Path

import numpy as np
import pytest

from corporeal.body.skeleton import Skeleton
from corporeal.errors import CorporealError, FormatError, InputError
from corporeal.formats.amass import LAYOUTS, read_amass, y_up_from_z_up
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.skinning.kinematics import forward_kinematics

_PARENTS_BY_NAME = {
    "knee": "hip", "ankle": "knee", "foot": "ankle", "shoulder": "collar", "elbow": "shoulder",
    "wrist": "elbow",
}  # fmt: skip


def smplh_skeleton(names: tuple[str, ...] = LAYOUTS[156]) -> Skeleton:
    """SMPL's tree over `names`, with joints anywhere."""
    parents = []
    for name in names:
        side, _, joint = name.partition("_")
        if name == "pelvis":
            parents.append(-1)
        elif joint in _PARENTS_BY_NAME:
            parents.append(names.index(f"{side}_{_PARENTS_BY_NAME[joint]}"))
        elif joint[-1:] in ("2", "3"):
            parents.append(names.index(f"{side}_{joint[:-1]}{int(joint[-1]) - 1}"))
        elif joint[-1:] == "1" or joint == "hand":
            parents.append(names.index(f"{side}_wrist"))
        else:
            parents.append(0)
    joints = np.random.default_rng(1).normal(size=(len(names), 3))
    return Skeleton(names, tuple(parents), joints)


def smplh_arrays(count: int = 7) -> dict[str, np.ndarray]:
    generator = np.random.default_rng(2)
    return {
        "poses": generator.normal(size=(count, 156)),
        "trans": generator.normal(size=(count, 3)),
        "betas": generator.normal(size=16),
        "dmpls": generator.normal(size=(count, 8)),
        "gender": np.array("female"),
        "mocap_framerate": np.array(120.0),
    }


def smplx_arrays(count: int = 5) -> dict[str, np.ndarray]:
    poses = np.random.default_rng(3).normal(size=(count, 165))
    return {
        "poses": poses,
        "trans": np.zeros((count, 3)),
        "betas": np.zeros(16),
        "gender": np.array(b"neutral"),
        "surface_model_type": np.array("smplx"),
        "mocap_frame_rate": np.array(60),
        "root_orient": poses[:, :3],
        "pose_body": poses[:, 3:66],
        "pose_jaw": poses[:, 66:69],
        "pose_eye": poses[:, 69:75],
        "pose_hand": poses[:, 75:],
    }


def saved(tmp_path: Path, arrays: dict[str, np.ndarray]) -> Path:
    np.savez(tmp_path / "clip_poses.npz", **arrays)
    return tmp_path / "clip_poses.npz"


def test_joints_other_than_the_root_are_the_same_axis_angles(tmp_path: Path):
    """Feeding the file is feeding its axis-angles by hand, on the 52-joint body."""
    arrays = smplh_arrays()
    reading = read_amass(saved(tmp_path, arrays), smplh_skeleton())
    by_hand = arrays["poses"].reshape(7, 52, 3)
    np.testing.assert_array_equal(reading.motion.joint_rotations[:, 1:], by_hand[:, 1:])
    assert reading.motion.fps == 120.0
    assert reading.gender == "female"
    np.testing.assert_array_equal(reading.betas, arrays["betas"])
    assert any("betas" in note and "not used" in note for note in reading.notes)
    assert any("dmpls" in note for note in reading.notes)


def test_the_24_joint_body_takes_its_22_joints(tmp_path: Path):
    arrays = smplh_arrays()
    skeleton = smplh_skeleton((*LAYOUTS[156][:22], "left_hand", "right_hand"))
    reading = read_amass(saved(tmp_path, arrays), skeleton)
    by_hand = arrays["poses"].reshape(7, 52, 3)
    np.testing.assert_array_equal(reading.motion.joint_rotations[:, 1:22], by_hand[:, 1:22])
    np.testing.assert_array_equal(reading.motion.joint_rotations[:, 22:], 0.0)
    assert any("left_hand, right_hand" in note for note in reading.notes)


def test_smplx_stage_two_skips_jaw_and_eyes(tmp_path: Path):
    """The hands stand after nine face numbers; the other spelling of the rate, as an integer."""
    arrays = smplx_arrays()
    reading = read_amass(saved(tmp_path, arrays), smplh_skeleton())
    hands = arrays["pose_hand"].reshape(5, 30, 3)
    np.testing.assert_array_equal(reading.motion.joint_rotations[:, 22:], hands)
    np.testing.assert_array_equal(
        reading.motion.joint_rotations[:, 1:22], arrays["pose_body"].reshape(5, 21, 3)
    )
    assert reading.motion.fps == 60.0
    assert reading.gender == "neutral"


def test_z_up_becomes_y_up_for_every_joint(tmp_path: Path):
    """Posing first and turning the world after is the same: joint′ = R joint for all joints."""
    arrays, skeleton = smplh_arrays(), smplh_skeleton()
    motion = read_amass(saved(tmp_path, arrays), skeleton).motion
    posed = [
        forward_kinematics(rotations, skeleton.joints, skeleton.parents, translation)[..., :3, 3]
        for rotations, translation in (
            (arrays["poses"].reshape(7, 52, 3), arrays["trans"]),
            (motion.joint_rotations, motion.root_translation),
        )
    ]
    turned = np.stack([posed[0][..., 0], posed[0][..., 2], -posed[0][..., 1]], axis=-1)
    np.testing.assert_allclose(posed[1], turned, atol=1e-13)


def test_the_turn_is_the_stated_formula():
    """t′ = R (t + J₀) − J₀, with z = (0, 0, 1) going to y = (0, 1, 0)."""
    pelvis = np.array([0.1, 0.9, 0.2])
    rotation, translation = y_up_from_z_up(np.zeros((1, 3)), np.array([[0.0, 0, 2]]), pelvis)
    np.testing.assert_allclose(translation, [[0.0, 2.2 - 0.9, -0.9 - 0.2]], atol=1e-15)
    np.testing.assert_allclose(
        matrix_from_axis_angle(rotation[0]) @ [0, 0, 1], [0, 1, 0], atol=1e-15
    )


class _Bomb:
    """Pickles to a call that would make a file."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self):
        return Path.touch, (self.path,)


def test_pickled_objects_are_skipped_by_name_and_never_run(tmp_path: Path):
    trace = tmp_path / "ran"
    arrays = smplh_arrays() | {"labels_obs": np.array([_Bomb(trace)], dtype=object)}
    reading = read_amass(saved(tmp_path, arrays), smplh_skeleton())
    assert any("labels_obs" in note and "skipped" in note for note in reading.notes)
    assert not trace.exists()
    pickle.loads(pickle.dumps(_Bomb(trace)))  # noqa: S301 - shows that the bomb is live
    assert trace.exists()


def test_poses_that_are_pickled_are_refused(tmp_path: Path):
    arrays = smplh_arrays() | {"poses": np.array([[1], [2]], dtype=object)}
    with pytest.raises(FormatError, match="no array 'poses'"):
        read_amass(saved(tmp_path, arrays), smplh_skeleton())


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"poses": np.zeros((7, 72))}, "shape (7, 72) 'poses'"),
        ({"poses": np.zeros(156)}, "shape (156,) 'poses'"),
        ({"poses": np.full((7, 156), np.nan)}, "not finite"),
        ({"trans": np.zeros((6, 3))}, "expected floating-point (7, 3)"),
        ({"mocap_framerate": np.array(0.0)}, "'mocap_framerate' is 0.0"),
        ({"mocap_framerate": np.array([120.0, 60.0])}, "'mocap_framerate'"),
        ({"poses": np.zeros((0, 156)), "trans": np.zeros((0, 3))}, "no frames"),
    ],
)
def test_damage_is_refused_in_words(tmp_path: Path, change: dict, words: str):
    with pytest.raises(InputError) as caught:
        read_amass(saved(tmp_path, smplh_arrays() | change), smplh_skeleton())
    assert words in str(caught.value)


def test_a_file_without_rate_and_a_body_with_other_names_are_refused(tmp_path: Path):
    arrays = smplh_arrays()
    del arrays["mocap_framerate"]
    with pytest.raises(FormatError, match="neither 'mocap_framerate' nor 'mocap_frame_rate'"):
        read_amass(saved(tmp_path, arrays), smplh_skeleton())
    foreign = Skeleton(("Hips",), (-1,), np.zeros((1, 3)))
    with pytest.raises(FormatError, match="root is 'Hips'"):
        read_amass(saved(tmp_path, smplh_arrays()), foreign)


@pytest.mark.parametrize("share", np.linspace(0, 0.999, 23))
def test_truncated_files_are_refused(tmp_path: Path, share: float):
    path = saved(tmp_path, smplh_arrays())
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(CorporealError):
        read_amass(path, smplh_skeleton())
