"""USD: UsdSkel's own skinning plays our characters; caches are exact. Needs the extra `usd`."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from takes import played_attachment, soft_character, soft_take

from corporeal.body.character import Character
from corporeal.errors import FormatError, InputError, MissingDependencyError
from corporeal.formats.usd import write_usd, write_usd_cache
from corporeal.formats.usd_read import read_usd_mesh
from corporeal.runtime import extras
from corporeal.skinning.playback import character_joints, character_vertices

FLOAT32_M = 2e-6


def test_a_missing_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    def refuse(name: str):
        raise ModuleNotFoundError(f"No module named {name!r}")

    monkeypatch.setattr(extras, "import_module", refuse)
    with pytest.raises(MissingDependencyError, match=r"pip install 'corporeal\[usd\]'"):
        write_usd(tmp_path / "a.usd", soft_character(frames=2, rank=1))
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def pxr():
    return pytest.importorskip("pxr", reason="needs the extra 'usd' (usd-core)")


@pytest.fixture(scope="module")
def character() -> Character:
    return soft_character()


@pytest.fixture
def usd(pxr, character: Character, tmp_path: Path) -> Path:
    write_usd(tmp_path / "soft.usdc", character)
    return tmp_path / "soft.usdc"


def points(stage, place: str, frame: int) -> np.ndarray:
    from pxr import UsdGeom

    return np.array(UsdGeom.Mesh(stage.GetPrimAtPath(place)).GetPointsAttr().Get(frame), float)


def test_usd_skel_plays_the_character(usd: Path, character: Character):
    """`UsdSkel.BakeSkinning` is the reference implementation: 0.01 mm, in fact rounding."""
    from pxr import Usd, UsdSkel

    stage = Usd.Stage.Open(str(usd))
    assert UsdSkel.BakeSkinning(stage.Traverse())
    joints = character_joints(character)
    for frame in (0, 11, 23):
        expected = character_vertices(character, np.array([frame]))[0]
        assert np.abs(points(stage, "/character/body", frame) - expected).max() < FLOAT32_M
        eye = played_attachment(character, joints)[frame]
        assert np.abs(points(stage, "/character/left_eye_0", frame) - eye).max() < FLOAT32_M


def test_the_validators_find_nothing(usd: Path, tmp_path: Path, character: Character):
    from pxr import Usd, UsdValidation

    write_usd_cache(tmp_path / "cache.usdc", character.template.mesh, np.zeros((2, 72, 3)), 24.0)
    validators = UsdValidation.ValidationRegistry().GetOrLoadAllValidators()
    context = UsdValidation.ValidationContext(validators)
    for path in (usd, tmp_path / "cache.usdc"):
        found = context.Validate(Usd.Stage.Open(str(path)))
        assert [error.GetMessage() for error in found] == []


def test_the_table_is_true(usd: Path, character: Character):
    from pxr import Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.Open(str(usd))
    assert UsdGeom.GetStageMetersPerUnit(stage) == 1
    assert UsdGeom.GetStageUpAxis(stage) == "Y"
    assert stage.GetTimeCodesPerSecond() == character.fps
    assert (stage.GetStartTimeCode(), stage.GetEndTimeCode()) == (0, 23)
    mesh, old = UsdGeom.Mesh(stage.GetPrimAtPath("/character/body")), character.template.mesh
    np.testing.assert_allclose(mesh.GetPointsAttr().Get(), old.vertices, atol=1e-7)
    quads = np.array(mesh.GetFaceVertexIndicesAttr().Get()).reshape(-1, 4)
    np.testing.assert_array_equal(quads, old.quads)
    texture = UsdGeom.PrimvarsAPI(mesh).GetPrimvar("st")
    corners = np.array(texture.ComputeFlattened()).reshape(-1, 4, 2)
    np.testing.assert_allclose(corners[:, :3], old.uv[old.uv_triangles[0::2]], atol=1e-7)
    colours = np.array(mesh.GetDisplayColorPrimvar().Get())
    np.testing.assert_allclose(colours, character.vertex_colours, atol=1e-7)
    binding = UsdSkel.BindingAPI(mesh.GetPrim())
    weights = np.array(binding.GetJointWeightsPrimvar().Get()).reshape(72, -1)
    np.testing.assert_allclose(weights, character.template.weights.values, atol=1e-7)
    targets = binding.GetBlendShapeTargetsRel().GetTargets()
    assert len(targets) == character.morph_count
    for index, target in enumerate(targets):
        shape = UsdSkel.BlendShape(stage.GetPrimAtPath(target))
        assert shape.GetPrim().GetDisplayName() == character.morph_names[index]
        np.testing.assert_array_equal(shape.GetOffsetsAttr().Get(), character.morph_offsets[index])
        np.testing.assert_array_equal(
            shape.GetNormalOffsetsAttr().Get(), character.morph_normals[index]
        )


@pytest.mark.parametrize("suffix", [".usd", ".usda", ".usdc"])
def test_every_suffix_opens(pxr, tmp_path: Path, character: Character, suffix: str):
    from pxr import Usd

    write_usd(tmp_path / f"a{suffix}", character)
    assert Usd.Stage.Open(str(tmp_path / f"a{suffix}")).GetDefaultPrim().GetName() == "character"


def test_awkward_names_become_identifiers(pxr, tmp_path: Path, character: Character):
    """Spaces, colons and a leading digit; two names that become one stay two joints."""
    from pxr import Usd, UsdSkel

    skeleton = replace(character.template.skeleton, names=("1 root", "a:b", "a b", "a.b"))
    odd = replace(character, template=replace(character.template, skeleton=skeleton))
    write_usd(tmp_path / "a.usda", odd)
    stage = Usd.Stage.Open(str(tmp_path / "a.usda"))
    joints = list(UsdSkel.Skeleton(stage.GetPrimAtPath("/character/rig")).GetJointsAttr().Get())
    assert len(set(joints)) == 4
    assert UsdSkel.BakeSkinning(stage.Traverse())
    expected = character_vertices(character, np.array([11]))[0]
    assert np.abs(points(stage, "/character/body", 11) - expected).max() < FLOAT32_M


@pytest.mark.parametrize("normals", [True, False])
def test_a_cache_is_exact(pxr, tmp_path: Path, normals: bool):
    """float32 vertices come back bit by bit at every frame."""
    from pxr import Usd, UsdGeom

    take = soft_take(frames=5)
    vertices = np.asarray(take.vertices, np.float32)
    write_usd_cache(tmp_path / "a.usdc", take.template.mesh, vertices, 24.0, normals=normals)
    stage = Usd.Stage.Open(str(tmp_path / "a.usdc"))
    prim = UsdGeom.Mesh(stage.GetDefaultPrim())
    for frame in range(5):
        np.testing.assert_array_equal(prim.GetPointsAttr().Get(frame), vertices[frame])
    assert (prim.GetNormalsAttr().Get(3) is not None) == normals


def test_what_does_not_fit_is_refused(pxr, tmp_path: Path, character: Character):
    mesh = character.template.mesh
    with pytest.raises(InputError, match="71 vertices a frame"):
        write_usd_cache(tmp_path / "a.usd", mesh, np.zeros((2, 71, 3)), 24.0)
    with pytest.raises(InputError, match="not finite"):
        write_usd_cache(tmp_path / "a.usd", mesh, np.full((2, 72, 3), np.nan), 24.0)
    with pytest.raises(InputError, match="expected the suffix"):
        write_usd(tmp_path / "a.abc", character)
    assert list(tmp_path.iterdir()) == []


def test_damage_that_is_no_text_is_named(pxr, tmp_path: Path):
    """USD's message repeats the file's bytes, and cannot be spelt then."""
    (tmp_path / "a.usda").write_bytes(b'#usda 1.0\ndef Xform "a" {\n float \xa6\xff = 1\n}\n')
    with pytest.raises(FormatError, match=r"a\.usda cannot be read as USD"):
        read_usd_mesh(tmp_path / "a.usda")


def test_vertices_that_are_no_numbers_are_told_with_the_file(pxr, tmp_path: Path):
    write_usd(tmp_path / "a.usda", soft_character(frames=2, rank=1))
    text = (tmp_path / "a.usda").read_text()
    start = text.index("point3f[] points = [(") + len("point3f[] points = [(")
    broken = text[:start] + "inf" + text[text.index(",", start) :]
    (tmp_path / "b.usda").write_text(broken)
    with pytest.raises(FormatError, match=r"b\.usda: .*not finite"):
        read_usd_mesh(tmp_path / "b.usda")
