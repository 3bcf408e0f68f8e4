"""The embedded body: topology, symmetry, T-pose, weights, joints, and damage to its files."""

import json
import shutil
from importlib.resources import as_file
from pathlib import Path

import numpy as np
import pytest

from corporeal.assets.archive import package_data, read_archive
from corporeal.assets.default_body import (
    DefaultBody,
    body_from_arrays,
    grounded,
    load_default_body,
    read_default_body,
)
from corporeal.assets.smpl_view import smpl_joint_shares, smpl_template
from corporeal.assets.targets import Targets
from corporeal.body.repose import Repose
from corporeal.body.skeleton import Skeleton
from corporeal.errors import AssetError, InputError

BODY = load_default_body()
TEMPLATE = BODY.template
NAMES = TEMPLATE.skeleton.names
FLOAT32_M = 1e-6
"""A few float32 steps at the size of a body."""
MIRROR = np.array([-1.0, 1.0, 1.0], np.float32)


def joint(name: str) -> np.ndarray:
    return np.asarray(TEMPLATE.skeleton.joints)[TEMPLATE.skeleton.index(name)]


def other_side(name: str) -> str:
    swap = {"left": "right", "right": "left"}
    side, bar, rest = name.partition("_")
    return swap.get(side, side) + bar + rest


OTHER_SIDE = np.array([NAMES.index(other_side(name)) for name in NAMES])


def random_coefficients(count: int, seed: int) -> np.ndarray:
    """Mixtures of a few of the asset's own targets each, up to full strength."""
    rng = np.random.default_rng(seed)
    own = np.arange(BODY.targets.count) < len(read_archive("default_body")["target_names"])
    chosen = (rng.random((count, BODY.targets.count)) < 0.03) & own
    return rng.random((count, BODY.targets.count)) * chosen


class TestTree:
    def test_has_smplh_joints_in_smpls_order(self) -> None:
        """The first 22 names and parents as SMPL publishes them, then 15 joints a hand."""
        body = (
            "pelvis left_hip right_hip spine1 left_knee right_knee spine2 left_ankle right_ankle "
            "spine3 left_foot right_foot neck left_collar right_collar head left_shoulder "
            "right_shoulder left_elbow right_elbow left_wrist right_wrist"
        )
        assert NAMES[:22] == tuple(body.split())
        assert TEMPLATE.skeleton.parents[:22] == (
            -1, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 9, 9, 12, 13, 14, 16, 17, 18, 19,
        )  # fmt: skip
        fingers = [f"{finger}{n}" for finger in FINGERS for n in (1, 2, 3)]
        assert NAMES[22:37] == tuple(f"left_{finger}" for finger in fingers)
        assert NAMES[37:] == tuple(f"right_{finger}" for finger in fingers)
        assert TEMPLATE.skeleton.parents[22:28] == (20, 22, 23, 20, 25, 26)
        assert TEMPLATE.skeleton.parents[37:40] == (21, 37, 38)

    def test_hip_centres_are_anatomical(self) -> None:
        """±79 mm on the average man (the source rig has ±110 mm), at 53 % of the height."""
        man = gendered("male")
        left_hip = NAMES.index("left_hip")
        vertices, joints = shape(man)
        assert joints[left_hip, 0] == pytest.approx(0.079, abs=0.001)
        assert joints[left_hip, 1] / vertices[:, 1].max() == pytest.approx(0.53, abs=0.01)


FINGERS = ("index", "middle", "pinky", "ring", "thumb")


def gendered(word: str) -> np.ndarray:
    """Coefficients of the young average man or woman."""
    stems = [f"macrodetails/{a}-{word}-young" for a in ("african", "asian", "caucasian")]
    coefficients = np.zeros(BODY.targets.count)
    coefficients[[BODY.targets.names.index(stem) for stem in stems]] = 1 / 3
    return coefficients


def shape(coefficients: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    vertices = BODY.base_vertices + np.tensordot(coefficients, BODY.targets.vertex_offsets, 1)
    joints = BODY.base_joints + np.tensordot(coefficients, BODY.targets.joint_offsets, 1)
    return grounded(vertices, joints)


class TestSurface:
    def test_is_one_closed_oriented_sphere(self) -> None:
        """Every edge once in each direction, V − E + F = 2, positive volume."""
        triangles = TEMPLATE.mesh.triangles
        directed = np.concatenate(
            [triangles[:, [0, 1]], triangles[:, [1, 2]], triangles[:, [2, 0]]]
        )
        unique, counts = np.unique(directed, axis=0, return_counts=True)
        assert counts.max() == 1
        assert {tuple(e) for e in unique[:, ::-1].tolist()} == {tuple(e) for e in unique.tolist()}
        edges = len(directed) // 2
        assert TEMPLATE.mesh.vertex_count - edges + len(triangles) == 2
        assert TEMPLATE.mesh.vertex_count == 13_380
        corners = np.asarray(TEMPLATE.mesh.vertices, np.float64)[triangles]
        volume = np.linalg.det(corners).sum() / 6
        assert 0.05 < volume < 0.08  # cubic metres: 50 to 80 litres

    def test_is_mirror_symmetric(self) -> None:
        """Vertices, joints, weights and labels map onto themselves under x → −x."""
        mesh, mirror = TEMPLATE.mesh, TEMPLATE.mesh.mirror
        assert mirror is not None
        np.testing.assert_allclose(mesh.vertices, mesh.vertices[mirror] * MIRROR, atol=FLOAT32_M)
        joints = np.asarray(TEMPLATE.skeleton.joints)
        np.testing.assert_allclose(joints, joints[OTHER_SIDE] * MIRROR, atol=FLOAT32_M)
        weights = TEMPLATE.weights.dense()
        np.testing.assert_allclose(weights, weights[mirror][:, OTHER_SIDE], atol=4 / 65_535)
        parts = np.array(TEMPLATE.part_names)[TEMPLATE.part_labels]
        assert [other_side(part) for part in parts[mirror]] == parts.tolist()

    def test_keeps_quads_and_texture(self) -> None:
        mesh = TEMPLATE.mesh
        assert mesh.quads is not None
        assert mesh.quads.shape == (13_378, 4)
        assert mesh.uv is not None
        assert mesh.uv_triangles is not None
        assert mesh.uv_triangles.shape == mesh.triangles.shape
        assert mesh.uv.min() >= 0
        assert mesh.uv.max() <= 1

    def test_cavities_lie_inside_the_head(self) -> None:
        for name in ("inner_mouth", "left_eye_socket", "right_eye_socket"):
            cavity = TEMPLATE.mesh.vertices[TEMPLATE.part(name)]
            head = TEMPLATE.mesh.vertices[TEMPLATE.part("head")]
            assert len(cavity) > 100
            assert cavity[:, 2].max() < head[:, 2].max()
            assert cavity[:, 1].min() > joint("neck")[1]

    def test_every_part_has_vertices(self) -> None:
        assert all(len(TEMPLATE.part(name)) > 20 for name in TEMPLATE.part_names)


class TestWeights:
    def test_at_most_four_largest_first(self) -> None:
        values = TEMPLATE.weights.values
        assert values.shape[1] == 4
        assert (np.diff(values, axis=1) <= 1e-7).all()
        np.testing.assert_allclose(values.sum(axis=1), 1, atol=FLOAT32_M)

    def test_every_joint_moves_skin(self) -> None:
        assert (TEMPLATE.weights.dense().max(axis=0) > 0.4).all()


class TestTPose:
    def test_arms_lie_along_x(self) -> None:
        """Shoulder, elbow, wrist and middle knuckle of the average adult on one horizontal line."""
        line = np.stack([joint(f"left_{n}") for n in ("shoulder", "elbow", "wrist", "middle1")])
        np.testing.assert_allclose(np.ptp(line[:, 1:], axis=0), 0, atol=FLOAT32_M)
        assert (np.diff(line[:, 0]) > 0.08).all()

    @pytest.mark.parametrize("finger", FINGERS)
    def test_fingers_are_straight(self, finger: str) -> None:
        first, second, third = (joint(f"left_{finger}{n}") for n in (1, 2, 3))
        bend = np.cross(second - first, third - second)
        assert np.linalg.norm(bend) < 1e-4 * np.linalg.norm(second - first)
        if finger != "thumb":
            assert first[1] == pytest.approx(third[1], abs=FLOAT32_M)

    def test_palms_face_down(self) -> None:
        """The plane of wrist and knuckles is level, and the thumb is in front."""
        along = joint("left_middle1") - joint("left_wrist")
        across = joint("left_index1") - joint("left_pinky1")
        palm = np.cross(along, across)
        assert palm[1] / np.linalg.norm(palm) == pytest.approx(-1, abs=1e-6)
        assert joint("left_thumb3")[2] > joint("left_wrist")[2] + 0.04

    def test_stands_on_level_soles(self) -> None:
        """The lowest vertex is at 0, and heel and ball of each foot come within 1 mm of it."""
        vertices = TEMPLATE.mesh.vertices
        assert vertices[:, 1].min() == 0
        for side in ("left", "right"):
            foot = vertices[TEMPLATE.part(f"{side}_foot")]
            heel = foot[foot[:, 2] < joint(f"{side}_ankle")[2]]
            ball = foot[foot[:, 2] > joint(f"{side}_foot")[2] - 0.03]
            assert heel[:, 1].min() < 0.001
            assert ball[:, 1].min() < 0.001

    def test_commutes_with_blending(self) -> None:
        """T-posing a blended shape equals blending T-posed targets: the repose is linear."""
        stored = read_archive("default_body")
        repose = stored_repose(stored)
        coefficients = random_coefficients(3, seed=1)
        own = coefficients[:, : len(stored["target_names"])] * 1e-4
        deltas = stored["target_deltas"].transpose(0, 2, 1)
        vertices = stored["vertices"] + np.tensordot(own, deltas, 1)
        joints = stored["joints"] + np.tensordot(own, stored["target_joint_deltas"], 1)
        reposed = grounded(repose.vertices(vertices, joints), repose.joints(joints))
        for posed_first, blended_first in zip(
            zip(*reposed, strict=True), map(shape, coefficients), strict=True
        ):
            for one, other in zip(posed_first, blended_first, strict=True):
                np.testing.assert_allclose(one, other, atol=2 * FLOAT32_M)

    def test_linear_ground_is_close(self) -> None:
        """Before the exact shift the lowest vertex is within 3 mm of the ground."""
        women, men = gendered("female"), gendered("male")
        for share in np.linspace(0, 1, 5):
            mix = share * women + (1 - share) * men
            heights = BODY.base_vertices[:, 1] + mix @ BODY.targets.vertex_offsets[..., 1]
            assert abs(heights.min()) < 0.003


def stored_repose(stored: dict[str, np.ndarray]) -> Repose:
    return Repose(
        rotations=stored["repose_rotations"],
        parents=stored["repose_parents"].astype(int),
        pivots=stored["repose_pivots"].astype(int),
        bone_indices=stored["repose_indices"].astype(int),
        bone_weights=stored["repose_weights"] / 65_535,
        joint_bones=stored["repose_joint_bones"].astype(int),
    )


class TestJointRegressor:
    def test_error_is_as_stated(self) -> None:
        """docs/methods/default-body.md states 2 mm RMS over joints and people, spine2 worst."""
        joints, found = [], []
        for word in ("male", "female"):
            for extra in ("", "maxmuscle-averageweight", "averagemuscle-maxweight"):
                coefficients = gendered(word)
                if extra:
                    name = f"macrodetails/universal-{word}-young-{extra}"
                    coefficients[BODY.targets.names.index(name)] = 1
                vertices, centres = shape(coefficients)
                joints.append(centres)
                found.append(BODY.joint_regressor.astype(float) @ vertices)
        error = np.linalg.norm(np.array(joints) - np.array(found), axis=-1)
        assert np.sqrt((error**2).mean()) < 0.002
        assert error.max() < 0.022

    def test_follows_a_shift(self) -> None:
        np.testing.assert_allclose(BODY.joint_regressor.sum(axis=1), 1, atol=2e-6)


class TestSmplView:
    VIEW = BODY.smpl_view()

    def test_adds_hands_and_sums_finger_weights(self) -> None:
        assert self.VIEW.skeleton.names == (*NAMES[:22], "left_hand", "right_hand")
        assert self.VIEW.skeleton.parents[22:] == (20, 21)
        whole, view = TEMPLATE.weights.dense(), self.VIEW.weights.dense()
        np.testing.assert_allclose(view[:, :22], whole[:, :22], atol=FLOAT32_M)
        np.testing.assert_allclose(view[:, 22], whole[:, 22:37].sum(axis=1), atol=FLOAT32_M)
        np.testing.assert_allclose(view[:, 23], whole[:, 37:].sum(axis=1), atol=FLOAT32_M)

    def test_hand_joint_sits_among_the_knuckles(self) -> None:
        hand = np.asarray(self.VIEW.skeleton.joints)[22]
        knuckles = [joint(f"left_{f}1") for f in ("index", "middle", "ring", "pinky")]
        np.testing.assert_allclose(hand, np.mean(knuckles, axis=0), atol=FLOAT32_M)
        np.testing.assert_allclose(smpl_joint_shares(TEMPLATE.skeleton).sum(axis=1), 1)

    def test_refuses_a_body_without_fingers(self) -> None:
        with pytest.raises(InputError, match="24 joints; expected SMPL-H's 52"):
            smpl_template(self.VIEW)


class TestDamage:
    @pytest.fixture
    def copy(self, tmp_path: Path) -> Path:
        with as_file(package_data()) as folder:
            for file in ("default_body.npz.xz", "default_body.json"):
                shutil.copy(folder / file, tmp_path / file)
        return tmp_path

    def test_whole_copy_loads(self, copy: Path) -> None:
        assert "quads" in read_archive("default_body", copy)

    def test_truncated_file_is_refused(self, copy: Path) -> None:
        file = copy / "default_body.npz.xz"
        file.write_bytes(file.read_bytes()[:-1000])
        with pytest.raises(AssetError, match=r"damaged.*Reinstall"):
            read_default_body(copy)

    def test_altered_byte_is_refused(self, copy: Path) -> None:
        file = copy / "default_body.npz.xz"
        data = bytearray(file.read_bytes())
        data[len(data) // 2] ^= 1
        file.write_bytes(bytes(data))
        with pytest.raises(AssetError, match="SHA-256"):
            read_default_body(copy)

    def test_missing_file_is_refused(self, copy: Path) -> None:
        (copy / "default_body.json").unlink()
        with pytest.raises(AssetError, match=r"default_body.json is missing"):
            read_default_body(copy)

    def test_damaged_manifest_is_refused(self, copy: Path) -> None:
        (copy / "default_body.json").write_text("{")
        with pytest.raises(AssetError, match="manifest"):
            read_default_body(copy)

    def test_is_compact_and_tells_its_origin(self) -> None:
        manifest = json.loads((package_data() / "default_body.json").read_text())
        assert manifest["bytes"] < 4_000_000
        assert "CC0" in manifest["licence"]
        assert (package_data() / "LICENSE-CC0.md").is_file()


class TestTargets:
    def test_extra_targets_come_last(self) -> None:
        extra = Targets(("belly",), np.zeros((1, 13_380, 3)), np.ones((1, 52, 3)))
        body = BODY.with_targets(extra)
        assert body.local.names[-1] == "belly"
        assert body.macro_count == BODY.macro_count
        assert body.default_coefficients[-1] == 0
        np.testing.assert_array_equal(body.targets.joint_offsets[-1], 1)

    def test_refuses_another_topology(self) -> None:
        extra = Targets(("belly",), np.zeros((1, 4, 3)), np.ones((1, 52, 3)))
        with pytest.raises(InputError, match="same vertices"):
            BODY.with_targets(extra)

    def test_refuses_counts_that_differ(self) -> None:
        with pytest.raises(InputError, match="2 names"):
            Targets(("a", "b"), np.zeros((1, 4, 3)), np.zeros((1, 2, 3)))

    def test_refuses_a_name_twice(self) -> None:
        with pytest.raises(InputError, match="stand twice"):
            Targets(("a", "a"), np.zeros((2, 4, 3)), np.zeros((2, 2, 3)))

    def test_body_refuses_missing_defaults(self) -> None:
        with pytest.raises(InputError, match="default coefficients"):
            DefaultBody(
                TEMPLATE,
                BODY.base_vertices,
                BODY.base_joints,
                BODY.targets,
                BODY.macro_count,
                BODY.default_coefficients[:-1],
                BODY.joint_regressor,
            )


class TestRepose:
    def test_turns_about_the_pivot(self) -> None:
        """One bone turned 90° about z at joint 1: the closed form x → c + R (x − c)."""
        quarter = np.array([[0.0, -1, 0], [1, 0, 0], [0, 0, 1]])
        repose = Repose(
            rotations=np.stack([np.eye(3), quarter]),
            parents=np.array([-1, 0]),
            pivots=np.array([0, 1]),
            bone_indices=np.array([[0], [1]]),
            bone_weights=np.ones((2, 1)),
            joint_bones=np.array([0, 0]),
        )
        joints = np.array([[0.0, 0, 0], [1, 0, 0]])
        moved = repose.vertices(np.array([[2.0, 0, 0], [2, 0, 5]]), joints)
        np.testing.assert_allclose(moved, [[2, 0, 0], [1, 1, 5]], atol=1e-15)
        np.testing.assert_allclose(repose.joints(joints), joints)

    def test_refuses_a_bone_that_is_not_there(self) -> None:
        with pytest.raises(InputError, match="repose bones"):
            Repose(
                rotations=np.eye(3)[None],
                parents=np.array([-1]),
                pivots=np.array([0]),
                bone_indices=np.array([[1]]),
                bone_weights=np.ones((1, 1)),
                joint_bones=np.array([0]),
            )

    @pytest.mark.parametrize(
        ("name", "value", "words"),
        [
            ("parents", np.array([7]), "parents are"),
            ("parents", np.array([0]), "parents are"),
            ("parents", np.array([-2]), "parents are"),
            ("rotations", np.full((1, 3, 3), np.nan), "orthonormal"),
            ("rotations", np.zeros((1, 3, 3)), "orthonormal"),
            ("bone_weights", np.array([[0.5]]), "sum to 1"),
            ("bone_weights", np.array([[np.inf]]), "sum to 1"),
        ],
    )
    def test_refuses_what_moves_no_bone(self, name: str, value: np.ndarray, words: str) -> None:
        """Files may hold anything; what comes of it must not be a traceback later on."""
        parts = {
            "rotations": np.eye(3)[None],
            "parents": np.array([-1]),
            "pivots": np.array([0]),
            "bone_indices": np.array([[0]]),
            "bone_weights": np.ones((1, 1)),
            "joint_bones": np.array([0]),
        }
        Repose(**parts)
        with pytest.raises(InputError, match=words):
            Repose(**parts | {name: value})

    def test_says_where_there_is_no_way_back(self) -> None:
        """Half of a vertex turns by 180° about z, half stays: x and y are lost."""
        repose = Repose(
            rotations=np.stack([np.eye(3), np.diag([-1.0, -1.0, 1.0])]),
            parents=np.array([-1, 0]),
            pivots=np.array([0, 0]),
            bone_indices=np.array([[0, 1]]),
            bone_weights=np.array([[0.5, 0.5]]),
            joint_bones=np.array([0]),
        )
        with pytest.raises(InputError, match="no way back"):
            repose.sculpted_vertices(np.ones((1, 3)), np.zeros((1, 3)))


def test_arrays_make_the_same_body_again() -> None:
    """Unpacking is deterministic."""
    again = body_from_arrays(read_archive("default_body"))
    np.testing.assert_array_equal(again.template.mesh.vertices, TEMPLATE.mesh.vertices)


def test_is_loaded_once() -> None:
    assert load_default_body() is BODY


def test_skeleton_of_a_stranger_has_no_view() -> None:
    stranger = Skeleton(("root",), (-1,), np.zeros((1, 3)))
    with pytest.raises(InputError, match="has 1 joints"):
        smpl_joint_shares(stranger)
