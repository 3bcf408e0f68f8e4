"""Runtime scripts compute the weights of the float64 reference, each in its own language."""

import json
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import numpy as np
import pytest
from client_files import SCRIPTS, TOLERANCE_MM, blender_python, node_package, program
from correctives_props import DRIVING, ORDER, random_poses, small_character, small_correctives, xyzw
from scipy.spatial.transform import Rotation

from corporeal.body.character import Character
from corporeal.body.live_weights import live_weights
from corporeal.errors import InputError, OutputError
from corporeal.formats.fbx import write_fbx
from corporeal.formats.gltf import split_seams, write_glb_character
from corporeal.pipelines.correctives import attach_correctives, write_runtime_scripts
from corporeal.skinning.playback import character_vertices

TOLERANCE = 1e-6
"""Of weights between 0 and 1; tables have ten digits, Unity's weights are float32."""

JOINTS = ("root", "middle", "head", "branch")
WXYZ = [3, 0, 1, 2]


@pytest.fixture(scope="module")
def character() -> Character:
    return attach_correctives(small_character(), small_correctives())


@pytest.fixture(scope="module")
def scripts(character: Character, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, ...]:
    """Blender's, three.js's and Unity's."""
    folder = tmp_path_factory.mktemp("scripts")
    return write_runtime_scripts(folder / "anna-1.glb", character, small_correctives())


def reference(turns_xyzw: np.ndarray) -> np.ndarray:
    """Weights (pose, morph) of the NumPy reference; `test_correctives.py` checks it."""
    return live_weights(small_correctives()).weights(turns_xyzw[:, ORDER][..., WXYZ])


def test_scripts_lie_beside_the_character(scripts: tuple[Path, ...]):
    names = [path.name for path in scripts]
    assert names == ["anna_1_correctives.py", "anna_1_correctives.mjs", "Anna_1Correctives.cs"]
    assert all(path.is_file() for path in scripts)


def test_a_folder_gets_scripts_named_after_the_take(character: Character, tmp_path: Path):
    named = replace(character, name="2 steps/../..")
    paths = write_runtime_scripts(tmp_path, named, small_correctives())
    assert [path.parent for path in paths] == [tmp_path.resolve()] * 3
    assert paths[0].name == "_2_steps_correctives.py"


def play_javascript(script: str, job: dict, folder: Path) -> np.ndarray:
    (folder / "job.json").write_text(json.dumps(job))
    command = [program("node"), str(SCRIPTS / script), str(folder / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-2000:]
    return np.array(json.loads(done.stdout))


def test_javascript_gives_the_weights(scripts, character: Character, tmp_path: Path):
    rotations = xyzw(random_poses())
    job = {
        "module": str(scripts[1]),
        "joints": JOINTS,
        "morphs": character.morph_names,
        "poses": rotations.tolist(),
    }
    found = play_javascript("correctives_stub.mjs", job, tmp_path)
    np.testing.assert_allclose(found, reference(rotations), atol=TOLERANCE)
    assert np.ptp(found, axis=0).max() > 0.3, "the weights must move, or the test shows nothing"


def test_javascript_names_what_a_mesh_lacks(scripts, character: Character, tmp_path: Path):
    job = {"module": str(scripts[1]), "joints": JOINTS[:3], "morphs": [], "poses": []}
    (tmp_path / "job.json").write_text(json.dumps(job))
    command = [program("node"), str(SCRIPTS / "correctives_stub.mjs"), str(tmp_path / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert 'no joint "branch"' in done.stderr


def test_three_js_shows_live_poses(scripts, character: Character, tmp_path: Path):
    """A .glb posed by hand, away from its take, is skinned with the right correctives."""
    rotations = xyzw(random_poses(6))
    write_glb_character(tmp_path / "a.glb", character)
    job = {
        "three": str(node_package("three")),
        "glb": str(tmp_path / "a.glb"),
        "module": str(scripts[1]),
        "poses": rotations.tolist(),
    }
    found = play_javascript("correctives_three.mjs", job, tmp_path)
    live = replace(
        small_character(1),
        joint_rotations_wxyz=rotations[..., WXYZ],
        root_translation=np.zeros((len(rotations), 3)),  # the file's nodes stand at rest
        morph_weights=np.zeros((len(rotations), 0)),
    )
    expected = character_vertices(attach_correctives(live, small_correctives()))
    apart = np.linalg.norm(found - expected[:, split_seams(character.template.mesh).source], axis=2)
    print(f"three.js, live poses: {1e3 * apart.max():.6f} mm")
    assert 1e3 * apart.max() < TOLERANCE_MM


AXES = {"y up": np.eye(3), "z up": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])}


class StubBlender(ModuleType):
    """One armature with bones of arbitrary roll, one mesh with shape keys, handlers as lists."""

    def __init__(self, character: Character, axes: np.ndarray) -> None:
        super().__init__("bpy")
        skeleton = character.template.skeleton
        self._axes, self._parents = axes, skeleton.parents
        self._rolls = Rotation.random(len(JOINTS), random_state=5).as_matrix()
        places = np.asarray(skeleton.joints) @ axes.T * 100 + [3.0, 1.0, 2.0]
        bones = {
            name: SimpleNamespace(matrix_local=self._rolls[j], head_local=places[j])
            for j, name in enumerate(JOINTS)
        }
        self._posed = {name: SimpleNamespace(bone=bones[name]) for name in JOINTS}
        for name, parent in zip(JOINTS, self._parents, strict=True):
            self._posed[name].parent = self._posed[JOINTS[parent]] if parent >= 0 else None
        self.values = {name: SimpleNamespace(value=0.0) for name in character.morph_names}
        evaluated = SimpleNamespace(pose=SimpleNamespace(bones=self._posed))
        armature = SimpleNamespace(
            type="ARMATURE",
            data=SimpleNamespace(bones=bones),
            evaluated_get=lambda depsgraph: evaluated,
        )
        curve = SimpleNamespace(data_path='key_blocks["bulge 1"].value', mute=False)
        other = SimpleNamespace(data_path='key_blocks["smile"].value', mute=False)
        self.curves = (curve, other)
        action = SimpleNamespaceHashable(fcurves=[curve, other])
        keys = SimpleNamespace(
            key_blocks=self.values, animation_data=SimpleNamespace(action=action, nla_tracks=[])
        )
        mesh = SimpleNamespace(
            type="MESH", data=SimpleNamespace(shape_keys=keys), find_armature=lambda: armature
        )
        lamp = SimpleNamespace(type="LIGHT", data=None)
        self.data = SimpleNamespace(objects=[lamp, armature, mesh])
        self.utils = SimpleNamespace(escape_identifier=str)
        self.handlers = SimpleNamespace(
            frame_change_post=[], depsgraph_update_post=[], persistent=lambda function: function
        )
        self.app = SimpleNamespace(handlers=self.handlers)
        self.context = SimpleNamespace(scene=None, evaluated_depsgraph_get=lambda: None)

    def pose(self, rotations: np.ndarray) -> None:
        """Set the bones as Blender does: world rotations in its axes, times the bone's own."""
        world: list[np.ndarray] = []
        for j, parent in enumerate(self._parents):
            world.append(rotations[j] if parent < 0 else world[parent] @ rotations[j])
            turned = self._axes @ world[j] @ self._axes.T
            self._posed[JOINTS[j]].matrix = 0.01 * turned @ self._rolls[j]


class SimpleNamespaceHashable(SimpleNamespace):
    __hash__ = object.__hash__


@pytest.mark.parametrize("axes", AXES)
def test_blender_script_gives_the_weights(
    scripts, character: Character, axes: str, monkeypatch: pytest.MonkeyPatch
):
    """In a stand-in for Blender whose bones have rolls, scale and either up axis."""
    bpy = StubBlender(character, AXES[axes])
    monkeypatch.setitem(sys.modules, "bpy", bpy)
    rotations = xyzw(random_poses())
    matrices = Rotation.from_quat(rotations.reshape(-1, 4)).as_matrix().reshape(-1, 4, 3, 3)
    bpy.pose(matrices[0])
    code = compile(scripts[0].read_text(encoding="utf-8"), "blender", "exec")
    for _ in range(2):  # running it again replaces the handlers
        exec(code, {"__name__": "__main__"})
    assert len(bpy.handlers.frame_change_post) == len(bpy.handlers.depsgraph_update_post) == 1
    assert [curve.mute for curve in bpy.curves] == [True, False]
    found = []
    for pose in matrices:
        bpy.pose(pose)
        bpy.handlers.frame_change_post[0](None, None)
        found.append([bpy.values[name].value for name in character.morph_names])
    np.testing.assert_allclose(found, reference(rotations), atol=TOLERANCE)


def unity_quaternions(turns_xyzw: np.ndarray) -> np.ndarray:
    """The same turns seen in a mirror across x = 0, as Unity has them: R' = M R M, float32."""
    mirror = np.diag([-1.0, 1.0, 1.0])
    matrices = Rotation.from_quat(turns_xyzw.reshape(-1, 4)).as_matrix()
    return Rotation.from_matrix(mirror @ matrices @ mirror).as_quat().astype(np.float32)


def unity_table(text: str, name: str) -> np.ndarray:
    inside = re.search(rf"double\[\] {name} = \{{(.*?)\}};", text, re.DOTALL)
    assert inside is not None
    return np.array([float(word) for word in inside[1].split(",") if word.strip()])


def test_unity_tables_give_the_weights(scripts):
    """The component's arithmetic on its own tables, in Python."""
    text = scripts[2].read_text(encoding="utf-8")
    rotations = xyzw(random_poses())
    x, y, z, w = np.moveaxis(unity_quaternions(rotations).reshape(-1, 4, 4)[:, ORDER], -1, 0)
    matrices = Rotation.from_quat(np.stack([x, -y, -z, w], -1).reshape(-1, 4)).as_matrix()
    features = (matrices - np.eye(3)).reshape(len(rotations), 9 * len(DRIVING))
    shares = unity_table(text, "Shares").reshape(-1, features.shape[1])
    found = np.clip(unity_table(text, "Constants") + features @ shares.T, 0, 1)
    np.testing.assert_allclose(found, reference(rotations), atol=TOLERANCE)


def compiled_player(script: Path, folder: Path) -> str:
    """The component with a stand-in for UnityEngine, compiled by Mono; warnings are errors."""
    player = str(folder / "player.exe")
    command = [program("mcs"), "-warnaserror+", "-nowarn:649", f"-out:{player}", str(script)]
    command.append(str(SCRIPTS / "UnityStub.cs"))
    built = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert built.returncode == 0, built.stdout + built.stderr
    return player


@pytest.mark.parametrize("full_weight", [100, 1])
def test_unity_component_gives_the_weights(
    scripts, character: Character, full_weight: int, tmp_path: Path
):
    """Compiled with Mono beside a stand-in for UnityEngine; percent in FBX, else 0 to 1."""
    script, runner = scripts[2], program("mono")
    player = compiled_player(script, tmp_path)
    rotations = xyzw(random_poses())
    shapes = ["morphs.smile", *(f"morphs.{name}" for name in character.morph_names)]
    rows = unity_quaternions(rotations).reshape(len(rotations), -1).tolist()
    lines = ["\t".join(JOINTS), "\t".join(shapes), *("\t".join(map(repr, row)) for row in rows)]
    played = subprocess.run(
        [runner, player, script.stem, str(full_weight)],
        input="\n".join(lines),
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert played.returncode == 0, played.stderr[-2000:]
    found = np.array([line.split("\t") for line in played.stdout.splitlines()], float)
    np.testing.assert_array_equal(found[:, 0], 0)
    np.testing.assert_allclose(found[:, 1:] / full_weight, reference(rotations), atol=TOLERANCE)


def straightened_last_frame(character: Character, joint: str) -> Character:
    """The last frame alone, with one joint turned back to its rest."""
    rotations_wxyz = np.array(character.joint_rotations_wxyz[-1:])
    rotations_wxyz[:, JOINTS.index(joint)] = [1, 0, 0, 0]
    plain = replace(
        small_character(1),
        joint_rotations_wxyz=rotations_wxyz,
        root_translation=character.root_translation[-1:],
    )
    return attach_correctives(plain, small_correctives())


@pytest.fixture(scope="module")
def blender(scripts, character: Character, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Vertices that Blender shows. The files hold the weights of the rest pose, which are wrong."""
    folder = tmp_path_factory.mktemp("blender")
    rest = live_weights(small_correctives()).constants
    still = replace(character, morph_weights=np.tile(rest, (character.frame_count, 1)))
    write_glb_character(folder / "a.glb", still)
    write_fbx(folder / "a.fbx", still)
    job = {
        "script": str(scripts[0]),
        "fps": character.fps,
        "frames": list(range(character.frame_count)),
        "files": {kind: str(folder / name) for kind, name in BLENDER_FILES.items()},
        "straighten": "middle",
        "out": str(folder),
    }
    (folder / "job.json").write_text(json.dumps(job))
    command = [blender_python(), str(SCRIPTS / "blender_correctives.py"), str(folder / "job.json")]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    return folder


BLENDER_FILES = {"glb": "a.glb", "fbx": "a.fbx", "fbx_legacy": "a.fbx"}


@pytest.mark.slow
@pytest.mark.parametrize("kind", BLENDER_FILES)
def test_blender_itself_follows_the_pose(blender: Path, character: Character, kind: str):
    """Wrong before the script is run, right after it: in the take, and posed by hand."""
    source = split_seams(character.template.mesh).source if kind == "glb" else slice(None)

    def error_mm(what: str, shown: Character) -> float:
        found = np.load(blender / f"{kind}_{what}.npy")[..., [0, 2, 1]] * [1, 1, -1]
        apart = np.linalg.norm(found - character_vertices(shown)[:, source], axis=2)
        print(f"Blender, {kind}, {what}: {1e3 * apart.max():.6f} mm")
        return 1e3 * float(apart.max())

    assert error_mm("before", character) > 5
    assert error_mm("after", character) < TOLERANCE_MM
    assert error_mm("hand", straightened_last_frame(character, "middle")) < TOLERANCE_MM


def test_a_character_without_the_correctives_is_refused(tmp_path: Path):
    with pytest.raises(InputError, match="attach_correctives first"):
        write_runtime_scripts(tmp_path, small_character(), small_correctives())
    assert not list(tmp_path.iterdir())


def test_unknown_joints_are_refused(character: Character, tmp_path: Path):
    strange = replace(small_correctives(), joint_names=("middle", "tail", "head"))
    with pytest.raises(InputError, match="no joint 'tail'"):
        write_runtime_scripts(tmp_path, character, strange)


def test_a_name_without_letters_is_refused(character: Character, tmp_path: Path):
    with pytest.raises(InputError, match="no plain letter"):
        write_runtime_scripts(tmp_path / "…", character, small_correctives())


def test_a_missing_folder_is_refused(character: Character, tmp_path: Path):
    with pytest.raises(OutputError, match="does not exist"):
        write_runtime_scripts(tmp_path / "no" / "anna.glb", character, small_correctives())


NASTY = tuple(f'"; import os\n#\\{b}\U0001f600\u2028' for b in range(5))
"""Quotes, newlines, backslashes and letters beyond the basic plane."""


@pytest.fixture
def nasty_scripts(tmp_path: Path) -> tuple[Path, ...]:
    correctives = replace(small_correctives(), morph_names=NASTY)
    named = attach_correctives(small_character(), correctives)
    return write_runtime_scripts(tmp_path / "a", named, correctives)


def test_names_stay_strings_in_python(nasty_scripts: tuple[Path, ...]):
    text = nasty_scripts[0].read_text(encoding="utf-8").replace("import bpy", "")
    names: dict = {"__name__": "a"}
    exec(compile(text, "a", "exec"), names)
    assert names["MORPHS"][:5] == NASTY


def test_names_stay_strings_in_javascript(nasty_scripts: tuple[Path, ...]):
    code = f"import({str(nasty_scripts[1])!r}).then(m => console.log(JSON.stringify(m.MORPHS)))"
    command = [program("node"), "-e", code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    assert tuple(json.loads(done.stdout)[:5]) == NASTY


def test_names_stay_strings_in_csharp(nasty_scripts: tuple[Path, ...], tmp_path: Path):
    compiled_player(nasty_scripts[2], tmp_path)
