"""An own atlas through the builder: names, tables, placement, and BodyParts3D as a whole."""

from pathlib import Path

import numpy as np
import public_data
import pytest
from scipy.spatial.transform import Rotation
from solids import icosphere

from corporeal.anatomy.atlas.build import build_template
from corporeal.anatomy.atlas.carrying import Carriers
from corporeal.anatomy.atlas.names import template_bone
from corporeal.anatomy.atlas.parts import AtlasFrame, AtlasPart, read_atlas, sorted_atlas
from corporeal.anatomy.atlas.placing import mirror_name, place_bone
from corporeal.anatomy.building.affine import Affine
from corporeal.anatomy.template import layered_template
from corporeal.anatomy.template_file import read_template, write_template
from corporeal.body.mesh import Mesh
from corporeal.cli.main import main
from corporeal.errors import FormatError, InputError
from corporeal.formats.obj import write_obj

DATA = public_data.folder("bodyparts3d")
MILLIMETRES = AtlasFrame("mm", "+z", "-y")


@pytest.mark.parametrize(
    ("name", "bone"),
    [
        ("right femur", "r_femur"),
        ("Femur_Left", "l_femur"),
        ("Left-Femur", "l_femur"),
        ("left hip bone", "l_pelvis"),
        ("third lumbar vertebra", "lumbar3_geom_1_lumbar3"),
        ("T12", "torso_geom_1_thoracic12_s"),
        ("right second rib", "torso_geom_13_ribcage_s"),
        ("navicular bone of left foot", "l_foot"),
        ("left fibularis longus", None),
        ("intervertebral disk of first lumbar vertebra", None),
        ("interosseous membrane of right leg", None),
        ("right radius", "radius_r"),
        ("femur", None),
    ],
)
def test_names_tell_the_bone(name: str, bone: str | None):
    assert template_bone(name) == bone


def test_every_name_that_is_told_is_a_bone_of_the_template():
    own = {bone.name for bone in layered_template("male").bones}
    given = {
        template_bone(f"{side} {word}") for side in ("left", "right") for word in ("femur", "ulna")
    }
    given |= {
        template_bone(f"{region}{n}")
        for region, count in (("l", 5), ("t", 12))
        for n in range(1, count + 1)
    }
    assert given <= own


def test_the_other_side_of_a_bone():
    assert mirror_name("l_femur") == "r_femur"
    assert mirror_name("ulna_r") == "ulna_l"
    assert mirror_name("hat_jaw") is None


def test_a_bone_finds_its_place_from_a_hanging_arm():
    """The template's own humerus, hung down, turned and shrunk, comes back within a millimetre."""
    bone = next(b for b in layered_template("male").bones if b.name == "humerus_l")
    turn = Rotation.from_rotvec([0.1, 0.2, -1.4]).as_matrix()
    moved = 0.9 * (bone.vertices - bone.vertices.mean(axis=0)) @ turn.T + [0.3, -0.4, 0.1]
    found = place_bone(
        "humerus_l", Mesh(moved, bone.triangles), Mesh(bone.vertices, bone.triangles)
    )
    back = found.placement(moved)
    assert np.linalg.norm(back - bone.vertices, axis=1).max() < 1.5e-3
    assert np.linalg.det(found.placement.matrix) > 0


def test_muscles_go_along_with_the_bone_they_lie_on():
    """Two bones part by 1 m: vertices at either end follow theirs, one between both."""
    points, _ = icosphere(1)
    bones = {"a": 0.01 * points, "b": 0.01 * points + [0.4, 0, 0]}
    moves = {"a": Affine(np.eye(3), np.zeros(3)), "b": Affine(np.eye(3), np.array([0.0, 1.0, 0.0]))}
    muscle = AtlasPart(
        "m", np.array([[0.0, 0, 0.012], [0.4, 0, 0.012], [0.2, 0, 0]]), np.array([[0, 1, 2]]), ()
    )
    carried = Carriers(bones, moves).carried(muscle)
    np.testing.assert_allclose(carried[:, 1], [0.0, 1.0, 0.5], atol=2e-3)
    given = AtlasPart("m", muscle.vertices, muscle.triangles, ("a",))
    np.testing.assert_allclose(Carriers(bones, moves).carried(given), muscle.vertices, atol=1e-12)


class TestFolders:
    @pytest.fixture
    def folders(self, tmp_path: Path) -> Path:
        points, faces = icosphere(1)
        for kind, names in (("bones", ("left femur", "odd")), ("muscles", ("biceps",))):
            (tmp_path / kind).mkdir()
            for name in names:
                write_obj(tmp_path / kind / f"{name}.obj", Mesh(1000.0 * points, faces))
        return tmp_path

    def test_meshes_are_read_in_metres_and_our_axes(self, folders: Path):
        atlas = read_atlas(folders / "bones", folders / "muscles", MILLIMETRES)
        assert [part.name for part in atlas.bones] == ["left femur"]
        assert atlas.bones[0].bones == ("l_femur",)
        assert [part.name for part in atlas.muscles] == ["biceps"]
        assert atlas.left_out == ("odd",)
        assert np.abs(atlas.bones[0].vertices).max() == pytest.approx(1.0, abs=0.01)
        np.testing.assert_allclose(MILLIMETRES.metres(np.array([[0, -1000.0, 0]])), [[0, 0, 1]])

    def test_a_table_says_what_names_do_not(self, folders: Path):
        table = folders / "parts.csv"
        table.write_text("part,kind,bone\nodd,bone,r_tibia\nbiceps,muscle,humerus_l radius_l\n")
        atlas = read_atlas(folders / "bones", folders / "muscles", MILLIMETRES, table)
        assert {part.name: part.bones for part in atlas.bones}["odd"] == ("r_tibia",)
        assert atlas.muscles[0].bones == ("humerus_l", "radius_l")

    @pytest.mark.parametrize(
        ("text", "words"),
        [
            ("part,kind,bone\nnobody,bone,r_tibia\n", "that are no mesh"),
            ("part,kind,bone\nodd,skin,\n", "kind 'skin'"),
            ("a,b\n1,2\n", "expected the columns part, kind, bone"),
        ],
    )
    def test_wrong_tables_are_refused(self, folders: Path, text: str, words: str):
        (folders / "parts.csv").write_text(text)
        with pytest.raises((InputError, FormatError), match=words):
            read_atlas(folders / "bones", folders / "muscles", table=folders / "parts.csv")

    def test_refusals_of_the_verb(self, folders: Path, capsys: pytest.CaptureFixture[str]):
        """No folder, no bones in it, a bone that cannot be one: no file comes."""
        line = ["anatomy", "template", "--out", str(folders / "own.npz"), "--unit", "mm", "--bones"]
        bones, muscles = str(folders / "bones"), str(folders / "muscles")
        assert main([*line, str(folders / "none"), "--muscles", muscles]) == 2
        assert "there is no folder" in capsys.readouterr().err
        assert main([*line, muscles, "--muscles", muscles]) == 2
        assert "no mesh is one of the template's bones" in capsys.readouterr().err
        assert main([*line, bones, "--muscles", muscles]) == 2
        assert "Check unit, axes" in capsys.readouterr().err
        axes = ["--up", "-y", "--front", "-y"]
        assert main([*line, bones, "--muscles", muscles, *axes]) == 2
        assert "-y" in capsys.readouterr().err
        assert not (folders / "own.npz").exists()


def test_a_template_survives_its_file(tmp_path: Path):
    template = layered_template("female")
    write_template(tmp_path / "t.npz", template)
    back = read_template(tmp_path / "t.npz")
    np.testing.assert_array_equal(back.bone, template.bone)
    np.testing.assert_array_equal(back.muscle_thickness, template.muscle_thickness)
    assert [b.name for b in back.bones] == [b.name for b in template.bones]
    np.testing.assert_array_equal(back.bones[5].triangles, template.bones[5].triangles)
    assert back.muscles == ()


@pytest.mark.slow
@pytest.mark.data("bodyparts3d")
def test_bodyparts3d_becomes_a_template():
    """Bones within 4 mm of the template's on average, no tetrahedron inverted, half the lines meet
    a muscle (back, belly and vastus lateralis are not in the atlas), and a body can be fitted."""
    from corporeal.anatomy.fit.layers import fit_layers
    from corporeal.anatomy.nesting import check_nesting
    from corporeal.body.composition import Composition
    from corporeal.models.phenotype.model import PhenotypeModel

    atlas = sorted_atlas([*stored_parts("bone"), *stored_parts("muscle")])
    template, report = build_template(atlas, "male")
    assert len(report.bones_placed) > 30
    assert report.mean_distance < 0.004
    assert report.met > 0.45
    prisms = template.prisms()
    assert not prisms.inverted(template.skin, template.muscle).any()
    assert not prisms.inverted(template.muscle, template.bone).any()
    man = PhenotypeModel().prepare({"gender": 1.0, "weight": 0.7})
    layers = fit_layers(man, "male", Composition(15.0, 26.0), template=template)
    assert check_nesting(layers).sound


def stored_parts(kind: str) -> list[tuple[str, AtlasPart]]:
    """All bones or muscles of BodyParts3D."""
    with np.load(DATA / f"{kind}s.npz") as stored:
        names, v, f = stored["names"].astype(str), stored["v_offsets"], stored["f_offsets"]
        vertices, faces = MILLIMETRES.metres(stored["vertices_mm"]), stored["faces"]
    return [
        (
            kind,
            AtlasPart(
                str(name), vertices[v[i] : v[i + 1]], faces[f[i] : f[i + 1]].astype(np.int64), ()
            ),
        )
        for i, name in enumerate(names)
    ]
