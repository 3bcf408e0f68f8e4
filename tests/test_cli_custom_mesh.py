"""`corporeal animate --mesh` and `corporeal skeleton`: what a new user does, right and wrong."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
from creatures import coarse_dragon, tentacle

from corporeal.body.mesh import Mesh
from corporeal.body.motion import Motion
from corporeal.cli.main import main
from corporeal.formats.bvh import write_bvh
from corporeal.formats.gltf_read import read_glb_character
from corporeal.formats.native import read_animation
from corporeal.formats.off import write_off
from corporeal.formats.registry import read_mesh, write_mesh
from corporeal.formats.skel import write_skel
from corporeal.pipelines.example_creature import dragon_skeleton, flap, write_dragon
from corporeal.runtime.manifest import read_manifest

Capture = pytest.CaptureFixture[str]
DRAGON = "animate --mesh dragon.off --skeleton dragon.skel --motion flap.bvh"


@pytest.fixture(autouse=True)
def inside(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Every test works in a folder of its own, with a coarse dragon and a tube in it."""
    monkeypatch.chdir(tmp_path)
    write_off("dragon.off", coarse_dragon())
    write_skel("dragon.skel", dragon_skeleton())
    write_bvh("flap.bvh", flap(dragon_skeleton(), 0.4), unit="cm")
    (vertices, triangles), skeleton = tentacle(21)
    write_off("tube.off", Mesh(vertices, triangles))
    write_skel("tube.skel", skeleton)
    rotations = np.zeros((8, 3, 3))
    rotations[:, 1, 0] = np.linspace(0, 0.8, 8)
    write_bvh("bend.bvh", Motion("bend", 30.0, rotations, np.zeros((8, 3)), skeleton), unit="cm")
    return tmp_path


def call(line: str) -> int:
    return main(shlex.split(line))


def refusal(line: str, capsys: Capture) -> str:
    assert call(line) == 2
    return capsys.readouterr().err


def test_the_example_is_written_and_read_again(tmp_path: Path):
    folder = tmp_path / "example"
    folder.mkdir()
    write_dragon(folder, 0.06)
    assert {p.name for p in folder.iterdir()} == {"dragon.off", "dragon.skel", "flap.bvh"}
    mesh = read_mesh(folder / "dragon.off")
    assert mesh.quads is not None


def test_flesh_of_an_own_mesh_becomes_a_character(capsys: Capture):
    """The line of the documentation, on a coarser dragon; the report says what was matched."""
    assert call(f"{DRAGON} --deformer projective --collisions global --out dragon.glb") == 0
    printed = capsys.readouterr()
    assert "35 of 35 joints matched by name" in printed.err
    assert "2 loose parts of 256 vertices follow the skin" in printed.err
    character = read_glb_character("dragon.glb")
    assert character.template.mesh.vertex_count == coarse_dragon().vertex_count
    assert set(character.template.skeleton.names) == set(dragon_skeleton().names)
    config = read_manifest("dragon.glb.manifest.json")["config"]
    assert config["controls"] == {"collisions": "global"}
    assert config["mesh"] == "dragon.off"


@pytest.mark.parametrize("deformer", ["lbs", "dqs", "projective"])
def test_every_deformer_moves_a_tube(deformer: str):
    line = "animate --mesh tube.off --skeleton tube.skel --motion bend.bvh"
    assert call(f"{line} --deformer {deformer} --out {deformer}.npz") == 0
    animation = read_animation(f"{deformer}.npz")
    top = np.asarray(animation.vertices)[:, np.asarray(read_mesh("tube.off").vertices)[:, 1] > 1.0]
    middle = np.asarray(animation.world_from_joint)[-1, 1, :3, 3]
    way = top[-1].mean(axis=0) - middle
    angle = np.arctan2(way[2], way[1])
    assert abs(angle - 0.8) < 0.1


def test_a_cut_is_told_once(capsys: Capture):
    """A root that jumps by 20 m between two frames, in flesh; none in plain skinning."""
    skeleton, root = tentacle(21)[1], np.zeros((8, 3))
    root[4:, 2] = 20.0
    write_bvh("leap.bvh", Motion("leap", 30.0, np.zeros((8, 3, 3)), root, skeleton), unit="m")
    line = "animate --mesh tube.off --skeleton tube.skel --motion leap.bvh"
    assert call(f"{line} --deformer projective --out leap.npz") == 0
    printed = capsys.readouterr().err
    assert printed.count("cut at frame") == 1
    assert "leap.bvh: cut at frame 4: the root jumps at 600 m/s; flesh goes with it" in printed
    skin = np.asarray(read_animation("leap.npz").vertices)
    assert np.abs(skin[4:] - skin[0] - [0.0, 0.0, 20.0]).max() < 1e-3
    assert call(f"{line} --deformer lbs --out plain.npz") == 0
    assert "cut at frame" not in capsys.readouterr().err


def test_a_run_is_repeated_with_its_controls_and_files(capsys: Capture):
    np.save("map.npy", np.full(read_mesh("tube.off").vertex_count, 0.5))
    Path("world.json").write_text(json.dumps({"colliders": [{"shape": "ground"}]}))
    line = "animate --mesh tube.off --skeleton tube.skel --motion bend.bvh --deformer projective"
    flags = "--stiffness 20000 --static --no-sliding --soft top=0.7 --stiffness-map map.npy"
    assert call(f"{line} {flags} --scene world.json --out one.npz") == 0
    assert call("animate --config one.npz.manifest.json --out two.npz") == 0
    one, two = (read_animation(f"{name}.npz").vertices for name in ("one", "two"))
    np.testing.assert_array_equal(one, two)
    first, second = (read_manifest(f"{n}.npz.manifest.json")["config"] for n in ("one", "two"))
    assert first["controls"] == {"stiffness": 20000.0, "sliding": False, "dynamics": False}
    assert {**first, "out": ""} == {**second, "out": ""}
    assert call("animate --config one.npz.manifest.json --stiffness 5000 --out three.npz") == 0
    third = read_manifest("three.npz.manifest.json")["config"]
    assert third["controls"]["stiffness"] == 5000.0


def test_other_surface_formats_do_as_well(capsys: Capture):
    """Quads from OBJ, triangle soup from STL, a GLB that brings its skeleton."""
    mesh = read_mesh("tube.off")
    line = "--skeleton tube.skel --motion bend.bvh --frame 3"
    for suffix in (".obj", ".ply", ".stl"):
        write_mesh(f"tube{suffix}", mesh)
        assert call(f"animate --mesh tube{suffix} {line} --out out{suffix}") == 0
        assert len(read_mesh(f"out{suffix}").triangles) == len(mesh.triangles)
    assert call("animate --mesh tube.off --skeleton tube.skel --motion bend.bvh --out t.glb") == 0
    assert call("animate --mesh t.glb --motion bend.bvh --out again.npz") == 0
    assert read_animation("again.npz").template.skeleton.names == ("foot", "middle", "top")
    assert call("animate --body again.npz --motion bend.bvh --out third.npz") == 0
    one, other = (read_animation(f"{name}.npz").vertices for name in ("again", "third"))
    np.testing.assert_allclose(one, other, atol=1e-5)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--mesh text.off --skeleton dragon.skel", "does not start with one of OFF"),
        ("--mesh empty.off --skeleton dragon.skel", "0 vertices and 0 triangles"),
        ("--mesh none.off --skeleton dragon.skel", "no file none.off"),
        ("--mesh dragon.off --skeleton none.skel", "no file none.skel"),
        ("--mesh dragon.off", "corporeal skeleton dragon.off"),
        ("--skeleton dragon.skel", "--skeleton came without --mesh"),
        ("--mesh dragon.off --skeleton dragon.skel --body a.npz", "came together"),
        ("--mesh dragon.off --skeleton twice.skel", "'a' stands twice"),
        ("--mesh dragon.off --skeleton far.skel", "does not fit the mesh"),
        ("--mesh dragon.off --skeleton dragon.skel --mesh-unit parsec", "unit 'parsec'"),
        ("--mesh dragon.off --skeleton dragon.skel --mesh-up up", "axis 'up'"),
        ("--mesh dragon.off --skeleton dragon.skel --stiffness 1e4", "Use --deformer projective"),
        ("--mesh tube.off --skeleton tube.skel", "tell no legs"),
        ("--mesh tube.off --skeleton tube.skel --device abacus", "no device is called 'abacus'"),
        ("--mesh tube.off --skeleton tube.skel --device gpu:77", "device gpu:77 is not there"),
        ("--mesh dragon.txt --skeleton dragon.skel", "suffix '.txt'"),
    ],
)
def test_refusals(flags: str, words: str, capsys: Capture):
    Path("text.off").write_text("hello\n")
    Path("empty.off").write_text("OFF\n0 0 0\n")
    Path("dragon.txt").write_text("")
    Path("twice.skel").write_text("2\n0 0 0 a root\n0 1 0 a a\n")
    Path("far.skel").write_text("2\n9 0 0 a root\n9 1 0 b a\n")
    Path("a.npz").write_bytes(b"")
    assert words in refusal(f"animate {flags} --motion flap.bvh --out o.npz", capsys)


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        ("--stiffness 2", "expected 1000 to 1e+06 Pa"),
        ("--soft wing", "such as belly=0.5"),
        ("--soft wing=-1", "such as belly=0.5"),
        ("--soft nose=0.5", "'nose'"),
        ("--stiffness-map short.npy", "shape (7,)"),
        ("--mass-map negative.npy", "not above 0"),
        ("--stiffness-map tube.off", "no .npy file"),
        ("--stiffness-map none.npy", "no file none.npy"),
        ("--scene none.json", "no file none.json"),
    ],
)
def test_refusals_of_flesh(flags: str, words: str, capsys: Capture):
    np.save("short.npy", np.ones(7))
    np.save("negative.npy", -np.ones(read_mesh("tube.off").vertex_count))
    line = "animate --mesh tube.off --skeleton tube.skel --motion bend.bvh --deformer projective"
    assert words in refusal(f"{line} {flags} --out o.npz", capsys)


def test_a_human_motion_does_not_fit_a_dragon(capsys: Capture):
    line = "animate --mesh dragon.off --skeleton dragon.skel --motion jumping-jacks --out o.npz"
    assert "its trunk does not stand upright" in refusal(line, capsys)


def test_a_skeleton_is_fitted_and_the_mesh_moves_with_it(capsys: Capture):
    """From a human surface in centimetres to an animation, with nothing else given."""
    from corporeal.assets.default_body import load_default_body

    template = load_default_body().template
    mesh = Mesh(100.0 * np.asarray(template.mesh.vertices, np.float64), template.mesh.triangles)
    write_mesh("scan.ply", mesh)
    assert call("skeleton scan.ply --up +y --out scan.skel --json") == 0
    printed = json.loads(capsys.readouterr().out)
    assert printed["unit"] == "cm"
    assert printed["joints"] == 52
    assert printed["confidence"] > 0.95
    assert printed["surface_distance"] < 0.01
    line = "animate --mesh scan.ply --skeleton scan.skel --motion jumping-jacks --fps 10"
    assert call(f"{line} --duration 2 --out scan.npz") == 0
    assert "by way of a human body" in capsys.readouterr().err
    vertices = np.asarray(read_animation("scan.npz").vertices)
    assert vertices.shape == (21, mesh.vertex_count, 3)
    lowest = vertices[..., 1].min(axis=1)
    assert np.abs(lowest[[0, -1]]).max() < 0.04
    assert "expected .skel, .json" in refusal("skeleton scan.ply --out scan.txt", capsys)
