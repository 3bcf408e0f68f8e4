"""Motions and rigs of GLB and USD files, against what was written into them."""

import contextlib
from pathlib import Path

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import corporeal as cp
from corporeal.body.motion import Motion
from corporeal.body.skeleton import Skeleton
from corporeal.errors import CorporealError, FormatError
from corporeal.formats.fbx_read import _Scene, _worlds
from corporeal.formats.fbx_tree import FbxNode
from corporeal.formats.rig_motion import RigFrames, one_tree, rig_motion
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.motions.derivatives import world_frames

SUFFIXES = ["glb", "fbx", "usda", "usdc"]


@pytest.fixture(scope="module")
def played(tmp_path_factory: pytest.TempPathFactory):
    """Half a second of punches, and files of it."""
    folder = tmp_path_factory.mktemp("rigs")
    animation = cp.animate(None, "punching", start=1.0, end=1.5, fps=20)
    plain = cp.Appearance(smile=0.0, clothes="none")  # a mouth and cloth would change the shape
    for suffix in SUFFIXES:
        if suffix.startswith("usd"):
            pytest.importorskip("pxr", reason="needs the package 'usd-core'")
        cp.save(animation, folder / f"punch.{suffix}", appearance=plain)
    return animation, folder


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_joints_are_where_they_were_written(played, suffix: str):
    """Files hold float32: 1e-6 m over a body."""
    animation, folder = played
    motion = cp.load(folder / f"punch.{suffix}", "motion")
    assert (motion.fps, motion.frame_count) == (20.0, 11)
    own = animation.motion
    order = [motion.skeleton.index(name) for name in own.skeleton.names]
    places = world_frames(motion)[..., :3, 3][:, order]
    np.testing.assert_allclose(places, world_frames(own)[..., :3, 3], atol=1e-6)
    skeleton = cp.load(folder / f"punch.{suffix}", "skeleton")
    assert set(skeleton.names) == set(own.skeleton.names)


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_a_rigged_file_moves_a_body_and_is_a_mesh(played, suffix: str):
    animation, folder = played
    motion = cp.make_motion(folder / f"punch.{suffix}")
    assert motion.skeleton.names == animation.motion.skeleton.names
    mesh = cp.load(folder / f"punch.{suffix}", "mesh")
    rest = np.asarray(animation.identity.rest_vertices)
    assert mesh.vertices[: len(rest)].min() == pytest.approx(rest.min(), abs=1e-6)
    assert mesh.vertices[: len(rest)].max() == pytest.approx(rest.max(), abs=1e-6)


def frames_of(motion: Motion, axes: np.ndarray, scale: float) -> RigFrames:
    """The motion as matrices of joints with axes of their own, and scaled."""
    world = world_frames(motion)
    rest = np.tile(np.eye(4), (motion.skeleton.joint_count, 1, 1))
    rest[:, :3, 3] = motion.skeleton.joints
    local = np.tile(np.eye(4), (motion.skeleton.joint_count, 1, 1))
    local[:, :3, :3] = scale * axes
    skeleton = motion.skeleton
    return RigFrames(skeleton.names, skeleton.parents, rest @ local, world @ local, motion.fps)


def test_axes_and_scale_of_joints_do_not_matter():
    generator = np.random.default_rng(0)
    body = cp.make_body().template.skeleton
    rotations = generator.normal(scale=0.4, size=(4, body.joint_count, 3))
    way = generator.normal(size=(4, 3))
    motion = Motion("m", 30.0, rotations, way, body)
    axes = matrix_from_axis_angle(generator.normal(size=(body.joint_count, 3)))
    read = rig_motion(Path("m.glb"), frames_of(motion, axes, 0.01), "m").motion
    np.testing.assert_allclose(world_frames(read), world_frames(motion), atol=1e-9)


def test_a_body_that_a_joint_below_the_root_carries_keeps_its_way():
    """A root that stays at home, and hips that walk."""
    names, parents = ("armature", "hips", "left", "right"), (-1, 0, 1, 1)
    joints = np.array([[0.0, 0, 0], [0, 1, 0], [0.1, 0.5, 0], [-0.1, 0.5, 0]])
    still = Motion(
        "m", 30.0, np.zeros((5, 4, 3)), np.zeros((5, 3)), Skeleton(names, parents, joints)
    )
    frames = frames_of(still, np.tile(np.eye(3), (4, 1, 1)), 1.0)
    frames.world[:, 1:, 2, 3] += np.linspace(0, 2, 5)[:, None]
    motion = rig_motion(Path("m.glb"), frames, "m").motion
    np.testing.assert_allclose(world_frames(motion)[:, 1, 2, 3], np.linspace(0, 2, 5), atol=1e-12)


def test_the_largest_tree_is_taken_and_names_made_unique():
    order, names, parents = one_tree(["ik", "hips", "leg", "leg"], [-1, -1, 1, 1])
    assert ([*order], names, parents) == ([1, 2, 3], ("hips", "leg", "leg#2"), (-1, 0, 0))


def test_files_without_motion_or_of_another_kind_are_refused(tmp_path: Path):
    cp.save(cp.make_body(), tmp_path / "still.glb")
    with pytest.raises(FormatError, match="has 0 animations"):
        cp.load(tmp_path / "still.glb", "motion")
    (tmp_path / "bad.usda").write_text("no USD")
    pytest.importorskip("pxr", reason="needs the package 'usd-core'")
    with pytest.raises(FormatError, match="cannot be read as USD"):
        cp.load(tmp_path / "bad.usda", "motion")


def limb(name: str, number: int, **properties: tuple[float, ...]) -> FbxNode:
    """An FBX bone with properties."""
    rows = [FbxNode("P", [key.replace("_", " "), "", "", "A", *map(float, value)])
            for key, value in properties.items()]  # fmt: skip
    return FbxNode("Model", [number, f"{name}\x00\x01Model", "LimbNode"],
                   [FbxNode("Properties70", [], rows)])  # fmt: skip


def test_pivots_and_rotation_orders_of_fbx():
    """T O P A R B⁻¹ P⁻¹ o p S p⁻¹, multiplied out by SciPy's rotations, for all six orders."""
    generator = np.random.default_rng(1)
    for order in range(6):
        vectors = {
            name: tuple(generator.normal(scale=20.0, size=3))
            for name in ("Lcl_Translation", "Lcl_Rotation", "PreRotation", "PostRotation",
                         "RotationOffset", "RotationPivot", "ScalingOffset", "ScalingPivot")
        }  # fmt: skip
        scale = tuple(generator.uniform(0.5, 2.0, 3))
        bone = limb("hips", 1, Lcl_Scaling=scale, RotationActive=(1,), RotationOrder=(order,),
                    **vectors)  # fmt: skip
        scene = _Scene(Path("a.fbx"), {1: bone}, {}, {})
        found = _worlds(scene, [1], {}, np.zeros(1))[0, 0]
        first = ("xyz", "xzy", "yzx", "yxz", "zxy", "zyx")[order]

        def shift(vector) -> np.ndarray:
            matrix = np.eye(4)
            matrix[:3, 3] = vector
            return matrix

        def turn(axes: str, vector) -> np.ndarray:
            matrix = np.eye(4)
            angles = [vector["xyz".index(axis)] for axis in axes]
            matrix[:3, :3] = Rotation.from_euler(axes, angles, degrees=True).as_matrix()
            return matrix

        pivot, scaling = np.array(vectors["RotationPivot"]), np.array(vectors["ScalingPivot"])
        expected = (
            shift(vectors["Lcl_Translation"]) @ shift(vectors["RotationOffset"]) @ shift(pivot)
            @ turn("xyz", vectors["PreRotation"]) @ turn(first, vectors["Lcl_Rotation"])
            @ np.linalg.inv(turn("xyz", vectors["PostRotation"])) @ shift(-pivot)
            @ shift(vectors["ScalingOffset"]) @ shift(scaling) @ np.diag([*scale, 1.0])
            @ shift(-scaling)
        )  # fmt: skip
        np.testing.assert_allclose(found, expected, atol=1e-9)


def test_damaged_fbx_files_are_refused(played, tmp_path: Path):
    """Cut off anywhere, with bytes turned over, or text: read, or refused by name; never more."""
    content = (played[1] / "punch.fbx").read_bytes()
    generator = np.random.default_rng(2)
    mutants = [content[: int(n)] for n in generator.integers(0, len(content), 20)]
    for _ in range(40):
        mutant = bytearray(content)
        for place in generator.integers(23, len(mutant), 6):
            mutant[place] = generator.integers(0, 256)
        mutants.append(bytes(mutant))
    for mutant in [*mutants, b"; FBX 7.4.0\nFBXHeaderExtension: {", b""]:
        (tmp_path / "a.fbx").write_bytes(mutant)
        for noun in ("motion", "mesh"):
            with contextlib.suppress(CorporealError):
                cp.load(tmp_path / "a.fbx", noun)
    (tmp_path / "a.fbx").write_bytes(b"; FBX 7.4.0\nFBXHeaderExtension: {")
    with pytest.raises(FormatError, match="FBX file of text"):
        cp.load(tmp_path / "a.fbx")


def test_a_rigged_glb_moves_with_its_own_skin(played):
    """Played by linear blending with a motion of its own joints: the file's own vertices."""
    animation, folder = played
    moved = cp.animate(folder / "punch.glb", folder / "punch.glb")
    assert any("own skin weights are kept" in note for note in moved.notes)
    np.testing.assert_allclose(moved.vertices, animation.vertices, atol=2e-4)
