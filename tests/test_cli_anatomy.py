"""`corporeal anatomy` and `--deformer layered`: masses in, masses out, and what is refused."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from small_body import small_identity, small_template

from corporeal.body.body import Body
from corporeal.body.layered_body import LayeredBody
from corporeal.body.motion import Motion
from corporeal.cli.main import main
from corporeal.formats.gltf_read import read_glb_mesh
from corporeal.formats.layers import read_layers, write_layers
from corporeal.formats.native import read_animation, read_body, write_body, write_motion
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.anatomy import MOST_MISSED
from corporeal.pipelines.example_creature import write_dragon
from corporeal.pipelines.layered_body import layers_for
from corporeal.runtime.manifest import manifest_path, read_manifest

Capture = pytest.CaptureFixture[str]


def call(line: str) -> int:
    return main(shlex.split(line))


def call_json(line: str, capsys: Capture) -> dict:
    assert call(f"{line} --json") == 0
    return json.loads(capsys.readouterr().out)


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a woman of about 50 kg (anna.npz) and her layers (layers.npz)."""
    folder = tmp_path_factory.mktemp("anatomy")
    body = f"body --gender female --age 30 --stature 1.62 --mass 50 --out {folder}/anna.npz"
    assert call(body) == 0
    assert call(f"anatomy fit {folder}/anna.npz --out {folder}/layers.npz") == 0
    return folder


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, fitted: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own, on copies."""
    for file in fitted.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def refused(line: str, capsys: Capture) -> str:
    """What is said; nothing in the folder may change, and nothing may come."""
    before = {file.name: file.read_bytes() for file in Path().iterdir()}
    assert call(line) == 2
    assert {file.name: file.read_bytes() for file in Path().iterdir()} == before
    return capsys.readouterr().err


class TestFit:
    def test_the_file_holds_the_body_and_its_layers(self) -> None:
        body, layered = read_body("anna.npz"), read_layers("layers.npz")
        np.testing.assert_array_equal(
            layered.body.identity.rest_vertices, body.identity.rest_vertices
        )
        assert (layered.layers.metadata or {})["sex"] == "female"
        content = read_manifest(manifest_path("layers.npz"))
        assert content["verb"] == "anatomy fit"
        assert content["inputs"][0]["path"].endswith("anna.npz")
        held = layered.layers.composition
        assert held is not None
        assert content["report"]["after"]["fat"] == held.fat_mass
        assert content["report"]["after"]["body"] == pytest.approx(50, abs=0.2)

    def test_people_are_told_masses_and_what_to_do_next(self, capsys: Capture) -> None:
        most = (read_layers("layers.npz").layers.metadata or {})["fat_mass_most"]
        asked = float(most) + 0.9 * MOST_MISSED
        assert call(f"anatomy fit anna.npz --fat-mass {asked} --out fat.npz") == 0
        words = capsys.readouterr()
        assert "fitting bones, muscles and fat into anna.npz" in words.err
        assert f"asked for {asked:.1f} kg of fat; its surface has room for" in words.err
        assert f"fat         {asked:.2f}" in words.out
        assert "--deformer layered" in words.out

    def test_a_run_is_repeated_from_its_manifest(self, capsys: Capture) -> None:
        """The same numbers; a flag beside --config changes what it names."""
        report = call_json("anatomy fit --config layers.npz.manifest.json --out again.npz", capsys)
        assert report["out"] == "again.npz"
        ours, theirs = read_layers("layers.npz").layers, read_layers("again.npz").layers
        np.testing.assert_array_equal(ours.muscle, theirs.muscle)
        assert ours.metadata == theirs.metadata

    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            ("--fat-mass -3", "-3 kg; expected 0 kg or more"),
            ("--muscle-mass nan", "nan kg; expected 0 kg or more"),
            ("--fat-mass 30 --muscle-mass 25", "55 kg were asked for in a body of 50"),
            ("--age 7", "age is 7 years"),
            ("--fat-mass 35", "35 kg of fat were asked for; its surface can hold"),
            ("--muscle-mass 45", "45 kg of muscle were asked for; its surface can hold"),
            ("--template anna.npz", "expected corporeal-anatomy-template"),
        ],
    )
    def test_impossible_people_are_refused(self, flags: str, words: str, capsys: Capture) -> None:
        assert words in refused(f"anatomy fit anna.npz {flags} --out layers.npz", capsys)

    def test_another_topology_is_refused(self, capsys: Capture) -> None:
        template = small_template()
        write_body("tube.npz", Body(template, small_identity(template), {}))
        words = refused("anatomy fit tube.npz --out layers.npz", capsys)
        assert "another topology" in words
        assert "Register the surface first" in words

    @pytest.mark.parametrize("how", ["posed", "arm"])
    def test_another_pose_or_a_missing_limb_is_refused(self, how: str, capsys: Capture) -> None:
        """The skin alone is wrong, as after a bad registration; joints stand in the T-pose."""
        body = read_body("anna.npz")
        skin = np.array(body.identity.rest_vertices)
        for part in ("left_forearm", "left_hand"):
            index = body.template.part(part)
            elbow = np.asarray(body.identity.joints)[body.template.skeleton.index("left_elbow")]
            way = skin[index] - elbow
            turned = way[:, [1, 0, 2]] * [1, -1, 1]
            skin[index] = elbow + (turned if how == "posed" else 0.05 * way)
        old = body.identity
        identity = type(old)(skin, old.joints, old.parameters)
        write_body("wrong.npz", Body(body.template, identity, {}))
        words = refused(
            "anatomy fit wrong.npz --fat-mass 12 --muscle-mass 17 --out layers.npz", capsys
        )
        assert "A missing limb, or a skin in another pose" in words

    def test_a_lying_body_is_refused_before_it_is_weighed(self, capsys: Capture) -> None:
        """z up: volume, mass and stature mean nothing, so the axes must be what is named."""
        body = read_body("anna.npz")
        old = body.identity
        skin, joints = (
            np.array(x)[:, [0, 2, 1]] * [1, 1, -1] for x in (old.rest_vertices, old.joints)
        )
        write_body("lying.npz", Body(body.template, type(old)(skin, joints, old.parameters), {}))
        assert "y up, in metres" in refused("anatomy fit lying.npz --out layers.npz", capsys)

    def test_a_body_without_gender_is_asked_for_its_sex(self, capsys: Capture) -> None:
        model = PhenotypeModel()
        nameless = model.prepare()
        identity = type(nameless)(nameless.rest_vertices, nameless.joints, {})
        write_body("nobody.npz", Body(model.template, identity, {}))
        assert "--sex" in refused("anatomy fit nobody.npz --out layers.npz", capsys)

    def test_another_format_or_folder_is_refused(self, capsys: Capture) -> None:
        assert ".npz" in refused("anatomy fit anna.npz --out layers.obj", capsys)
        assert "there is no file" in refused("anatomy fit none.npz --out layers.npz", capsys)


class TestGrow:
    def test_fat_by_region(self, capsys: Capture) -> None:
        """Mass by layer densities is met to 2 %; fat is gained where it was asked for."""
        report = call_json(
            "anatomy grow layers.npz --mass +6 --region belly,hips --out heavier.npz", capsys
        )
        assert report["after"]["body"] - report["before"]["body"] == pytest.approx(6, rel=0.02)
        assert report["after"]["fat"] > report["before"]["fat"] + 4
        assert report["after"]["muscle"] == report["before"]["muscle"]
        thin, heavy = read_layers("layers.npz"), read_layers("heavier.npz")
        moved = np.linalg.norm(heavy.layers.skin - thin.layers.skin, axis=1)
        parts = np.array(thin.body.template.part_names)[thin.body.template.part_labels]
        assert moved[parts == "belly"].mean() > 20 * moved[parts == "left_forearm"].mean()
        assert heavy.body.measurements["mass"] == report["after"]["body"]
        assert (heavy.layers.metadata or {})["body_mass"] == report["after"]["body"]
        assert (heavy.layers.metadata or {})["fat_grown"] == 6
        waist = "waist_circumference"
        assert heavy.body.measurements[waist] > thin.body.measurements[waist] + 0.03

    def test_what_was_gained_is_lost_again_muscle_too(self, capsys: Capture) -> None:
        """A second run starts from what the first one weighed."""
        report = call_json("anatomy grow layers.npz --mass -3 --out less.npz", capsys)
        again = call_json("anatomy grow less.npz --mass -1 --tissue muscle --out weak.npz", capsys)
        assert again["before"] == report["after"]
        assert again["after"]["muscle"] == pytest.approx(report["after"]["muscle"] - 1, abs=1e-9)
        assert again["after"]["body"] == pytest.approx(report["before"]["body"] - 4, abs=0.08)
        repeated = call_json("anatomy grow --config less.npz.manifest.json --out same.npz", capsys)
        assert repeated["after"] == report["after"]
        more = call_json("anatomy grow less.npz --mass +2 --out more.npz", capsys)
        assert (read_layers("more.npz").layers.metadata or {})["fat_grown"] == -1
        assert more["before"] == report["after"]

    @pytest.mark.parametrize(
        ("line", "words"),
        [
            ("layers.npz --mass -40", "asked to lose 40 kg"),
            ("layers.npz --mass -30 --tissue muscle", "asked for -30 kg of muscle"),
            ("layers.npz --mass +500", "at most +80 kg"),
            ("layers.npz --mass nan", "expected kilograms to gain"),
            ("layers.npz --mass 0", "expected kilograms to gain"),
            ("layers.npz --mass 5 --region belly,knees", "there is no region 'knees'"),
            ("layers.npz --mass -5 --tissue muscle --visceral", "--visceral is for fat"),
            ("anna.npz --mass 5", "anna.npz is a corporeal-body file"),
            ("anna.npz.manifest.json --mass 5", "anna.npz.manifest.json"),
        ],
    )
    def test_refusals(self, line: str, words: str, capsys: Capture) -> None:
        assert words in refused(f"anatomy grow {line} --out layers.npz", capsys)


class TestTransfer:
    def test_fat_goes_where_the_donor_has_it(self, capsys: Capture) -> None:
        """A donor whose fat lies at the belly alone gives more of a belly than the person's own fat
        does; the default name says whose."""
        own = read_layers("layers.npz")
        parts = np.array(own.body.template.part_names)[own.body.template.part_labels]
        lean = own.layers.muscle + 0.1 * (own.layers.skin - own.layers.muscle)
        skin = np.where((parts == "belly")[:, None], own.layers.skin, lean)
        donor = type(own.layers)(
            skin, own.layers.muscle, own.layers.bone, own.layers.triangles, own.layers.layered
        )
        old = own.body.identity
        identity = type(old)(skin, old.joints, old.parameters)
        write_layers("ben.npz", LayeredBody(Body(own.body.template, identity, {}), donor))
        report = call_json("anatomy transfer-fat --from ben.npz --to layers.npz --mass 4", capsys)
        assert report["out"] == "layers-like-ben.npz"
        assert report["after"]["body"] - report["before"]["body"] == pytest.approx(4, rel=0.02)
        line = "anatomy transfer-fat --from layers.npz --to layers.npz --mass 4 --out plain.npz"
        call_json(line, capsys)
        belly = [
            np.linalg.norm(read_layers(file).layers.skin - own.layers.skin, axis=1)[
                parts == "belly"
            ].mean()
            for file in ("layers-like-ben.npz", "plain.npz")
        ]
        assert belly[0] > 1.3 * belly[1]
        manifest = "layers-like-ben.npz.manifest.json"
        again = call_json(f"anatomy transfer-fat --config {manifest} --out again.npz", capsys)
        assert again["after"] == report["after"]

    def test_a_body_without_layers_is_refused(self, capsys: Capture) -> None:
        line = "anatomy transfer-fat --from anna.npz --to layers.npz --mass 4"
        assert "expected corporeal-layers" in refused(line, capsys)

    def test_more_loss_than_there_is_is_refused(self, capsys: Capture) -> None:
        line = "anatomy transfer-fat --from layers.npz --to layers.npz --mass -40"
        assert "asked to lose 40 kg" in refused(line, capsys)


def test_a_manifest_of_another_verb_is_refused(capsys: Capture) -> None:
    words = refused("anatomy fit --config anna.npz.manifest.json --out layers.npz", capsys)
    assert "of a run of 'corporeal body'" in words


def test_layers_are_separate_nodes_of_a_glb(capsys: Capture) -> None:
    """Read back by a reader that knows nothing of layers, the three surfaces follow each other."""
    report = call_json("convert layers.npz layers.glb", capsys)
    assert report["kind"] == "layers"
    assert report["report"]["nodes"] == ["bone", "muscle", "skin"]
    layers, mesh = read_layers("layers.npz").layers, read_glb_mesh("layers.glb")
    stacked = np.concatenate([layers.bone, layers.muscle, layers.skin])
    np.testing.assert_allclose(mesh.vertices, stacked, rtol=0, atol=2e-7)
    assert len(mesh.triangles) == 3 * len(layers.triangles)


def test_a_picture_shows_what_is_inside(capsys: Capture) -> None:
    """Through the skin and cut, side by side; the same again from its manifest."""
    report = call_json("anatomy picture layers.npz --width 300 --out a.png", capsys)
    assert report["out"] == "a.png"
    call_json("anatomy picture --config a.png.manifest.json --out b.png", capsys)
    assert Path("a.png").read_bytes() == Path("b.png").read_bytes()
    assert "name with .png" in refused("anatomy picture layers.npz --out layers.npz", capsys)
    assert "corporeal-layers" in refused("anatomy picture anna.npz --out c.png", capsys)


class TestAnimate:
    def test_the_layers_of_the_file_are_moved(self, capsys: Capture) -> None:
        """Standing still in the zero pose, the skin of the layers is what is seen."""
        layered = read_layers("layers.npz")
        skeleton = layered.body.template.skeleton
        zero = np.zeros((2, skeleton.joint_count, 3), np.float32)
        write_motion("still.npz", Motion("still", 30.0, zero, zero[:, 0], skeleton))
        line = "animate --body layers.npz --motion still.npz --raw --deformer layered --static"
        report = call_json(f"{line} --out moved.npz", capsys)
        assert report["deformer"] == "layered"
        assert report["report"]["body_notes"] == []
        vertices = read_animation("moved.npz").vertices
        assert np.abs(vertices - layered.layers.skin).max() < 5e-5

    def test_a_plain_body_gets_layers_first(self) -> None:
        """Those that `anatomy fit` writes, and it is said; stored ones are taken as they are."""
        body, stored = read_body("anna.npz"), read_layers("layers.npz").layers
        layers, notes = layers_for(Path("anna.npz"), body)
        np.testing.assert_allclose(layers.muscle, stored.muscle, rtol=0, atol=1e-9)
        assert "it holds no layers, so they were fitted first" in notes[0]
        assert layers_for(Path("layers.npz"), body)[1] == []

    def test_an_own_mesh_is_refused(self, capsys: Capture) -> None:
        write_dragon(".")
        line = "animate --mesh dragon.off --skeleton dragon.skel --motion flap.bvh"
        words = refused(f"{line} --deformer layered --out layers.npz", capsys)
        assert "a custom mesh came" in words

    @pytest.mark.parametrize(
        ("flags", "words"),
        [
            ("--soft jelly=0.5", "a factor came for 'jelly'"),
            ("--scene none.json", "no file none.json"),
            ("--bone_radii 0.5", "deformer 'layered' has no control bone_radii"),
            ("--age 7", "control age is 7 years"),
        ],
    )
    def test_refusals(self, flags: str, words: str, capsys: Capture) -> None:
        line = f"animate --body layers.npz --motion jumping-jacks --deformer layered {flags}"
        assert words in refused(f"{line} --out layers.npz", capsys)
