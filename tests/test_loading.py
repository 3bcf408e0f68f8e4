"""One way to load and to save: every noun there and back, every refusal with words."""

import json
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
from linear_models import random_model
from registered import TEMPLATE as TUBE
from registered import take as tube_take
from small_body import small_animation, small_mesh, small_template

import corporeal as cp
from corporeal.anthropometry.definitions import NAMES
from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.body.registrations import Registrations
from corporeal.body.scan import Scan
from corporeal.cli.anatomy import Anatomy
from corporeal.cli.animate import Animate
from corporeal.cli.body import BodyVerb
from corporeal.cli.evaluate import Evaluate
from corporeal.cli.train import Train
from corporeal.errors import FormatError, InputError, OutputError
from corporeal.formats.npz import write_npz
from corporeal.formats.registry import FORMATS, Noun, nouns_of
from corporeal.formats.zarr_store import ZarrStore
from corporeal.pipelines.loading import held_nouns
from corporeal.pipelines.saving import noun_of
from corporeal.pipelines.smpl_models import smpl_model
from corporeal.population.people_store import MEASURED, PeopleGroup, held_people
from corporeal.runtime.manifest import read_manifest
from corporeal.viewer.document import read_document

OLD = Path(__file__).parent / "written_by_0_1_0"
"""Files that version 0.1.0 wrote before there was a front door."""


def small_body() -> cp.Body:
    take = small_animation()
    return cp.Body(take.template, take.identity, {"stature": 1.7, "mass": 82.0})


def small_layers() -> cp.LayeredBody:
    body = small_body()
    skin = np.asarray(body.identity.rest_vertices, np.float64)
    muscle, bone = skin * [0.7, 1, 0.7], skin * [0.4, 1, 0.4]
    triangles = body.template.mesh.triangles
    known = (Composition(20.0, 25.0), {"sex": "female", "body_mass": 82.0})
    return cp.LayeredBody(body, Layers(skin, muscle, bone, triangles, np.ones(72, bool), *known))


def small_people() -> Any:
    """Three people of four vertices in two groups."""
    random = np.random.default_rng(5)

    def group(first: int, count: int) -> PeopleGroup:
        return PeopleGroup(
            tuple(f"p{first + i:05d}" for i in range(count)),
            ("female", "male")[:count],
            random.uniform(18, 80, count),
            random.normal(size=(count, 4, 3)).astype(np.float32),
            random.normal(size=(count, 2, 3)).astype(np.float32),
            random.uniform(size=(count, 2)),
            random.uniform(1, 2, (count, len(MEASURED))),
            random.uniform(1, 2, (count, len(NAMES))),
            random.uniform(10, 20, (count, 2)),
            np.zeros((count, 2), np.int64),
        )

    run = {"count": 3, "seed": 5, "crowd": "adults", "women": 0.5}
    return held_people((group(0, 2), group(2, 1)), run, ("gender", "age"), "abc")


def small_registrations() -> Registrations:
    takes = (tube_take("anna", "hips", 3), tube_take("ben", "hips", 2, 1))
    mesh = TUBE.mesh
    return Registrations("tube", np.asarray(mesh.triangles), mesh.vertex_count, takes)


def small_scan() -> Scan:
    random = np.random.default_rng(2)
    points = random.normal(size=(50, 3))
    cameras = random.integers(0, 4, 50)
    return Scan(points, random.uniform(size=50), cameras, points[:2], ("nose", "navel"))


THINGS: dict[Noun, Callable[[], Any]] = {
    "mesh": small_mesh,
    "body": small_body,
    "layers": small_layers,
    "motion": lambda: small_animation().motion,
    "animation": small_animation,
    "character": lambda: cp.bake(small_animation())[0],
    "skeleton": lambda: small_template().skeleton,
    "model": lambda: smpl_model(random_model(20, 3)),
    "people": small_people,
    "registrations": small_registrations,
    "scan": small_scan,
}


def arrays_in(thing: Any, place: str = "") -> dict[str, Any]:
    """All numbers and words in a thing, by where they are."""
    if is_dataclass(thing) and not isinstance(thing, type):
        inside = {f.name: getattr(thing, f.name) for f in fields(thing)}
        inside.pop("notes", None)
    elif isinstance(thing, dict):
        inside = thing
    elif isinstance(thing, tuple) and any(is_dataclass(item) for item in thing):
        inside = {str(i): item for i, item in enumerate(thing)}
    else:
        return {place: thing}
    found: dict[str, Any] = {}
    for name, item in inside.items():
        found |= arrays_in(item, f"{place}.{name}")
    return found


def assert_same(found: Any, expected: Any) -> None:
    """To the precision of float32, in which moving vertices are kept."""
    left, right = arrays_in(found), arrays_in(expected)
    assert left.keys() == right.keys()
    for place, value in left.items():
        if isinstance(value, np.ndarray):
            assert np.allclose(value, right[place], rtol=0, atol=2e-7), place
        else:
            assert value == right[place], place


def test_the_registry_and_the_front_door_cover_the_same_nouns():
    """Every noun of the table is loaded and saved, and each can come back from a file."""
    assert set(THINGS) == set(get_args(Noun))
    for noun, make in THINGS.items():
        assert noun_of(make()) == noun
        assert any(noun in f.reads for f in FORMATS), noun
        assert any(noun in f.writes for f in FORMATS), noun


LOSSLESS = {
    "body": ".npz",
    "layers": ".npz",
    "motion": ".npz",
    "animation": ".npz",
    "scan": ".npz",
    "skeleton": ".json",
}


@pytest.mark.parametrize(("noun", "suffix"), LOSSLESS.items())
def test_everything_survives_the_round_trip(noun: Noun, suffix: str, tmp_path: Path):
    thing = THINGS[noun]()
    cp.save(thing, tmp_path / f"a{suffix}")
    assert held_nouns(tmp_path / f"a{suffix}")[0] == noun
    back = cp.load(tmp_path / f"a{suffix}")
    assert type(back) is type(thing)
    assert_same(back, thing)


@pytest.mark.parametrize("suffix", [".npz", ".pkl"])
def test_models_survive(suffix: str, tmp_path: Path):
    """A loaded model poses as the saved one; files hold float64."""
    model = THINGS["model"]()
    cp.save(model, tmp_path / f"a{suffix}")
    back = cp.load(tmp_path / f"a{suffix}")
    pose = np.random.default_rng(0).normal(0, 0.3, (2, 69))
    betas = np.ones((2, 3))
    found = back(betas=betas, body_pose=pose).vertices
    assert np.allclose(found, model(betas=betas, body_pose=pose).vertices, rtol=0, atol=1e-12)


def test_a_loaded_model_is_called_as_smplx_is(tmp_path: Path):
    """The same file in `smplx` and here: vertices and the 24 joints of three people.

    Within 1e−6 m: smplx adds 1e−8 to every angle before it takes the norm.
    """
    torch = pytest.importorskip("torch", reason="peer test: needs torch and smplx")
    smplx = pytest.importorskip("smplx", reason="peer test: needs torch and smplx")
    cp.save(random_model(6890, 10), tmp_path / "SMPL_NEUTRAL.pkl")
    peer = smplx.SMPL(str(tmp_path / "SMPL_NEUTRAL.pkl"), dtype=torch.float64, batch_size=3)
    random = np.random.default_rng(0)
    sizes = {"betas": 10, "body_pose": 69, "global_orient": 3, "transl": 3}
    given = {name: random.normal(0, 0.4, (3, size)) for name, size in sizes.items()}
    expected = peer(**{name: torch.tensor(value) for name, value in given.items()})
    found = cp.load(tmp_path / "SMPL_NEUTRAL.pkl")(**given)
    assert np.allclose(found.vertices, expected.vertices.detach(), rtol=0, atol=1e-6)
    assert np.allclose(found.joints, expected.joints.detach()[:, :24], rtol=0, atol=1e-6)


def test_people_survive(tmp_path: Path):
    people = THINGS["people"]()
    cp.save(people, tmp_path / "a.zarr")
    back = cp.load(tmp_path / "a.zarr")
    assert (back.names, back.sex, back.seed) == (people.names, people.sex, 5)
    for table in ("age", "measured", "asked", "flaws"):
        assert np.array_equal(getattr(back, table), getattr(people, table))
    for person in range(3):
        assert_same(back.identity(person), people.identity(person))
        found, expected = back.composition(person), people.composition(person)
        assert (found.fat_mass, found.muscle_mass) == (expected.fat_mass, expected.muscle_mass)
    cp.save(back, tmp_path / "b.zarr")  # from the disk, too
    assert_same(cp.load(tmp_path / "b.zarr").identity(2), people.identity(2))


@pytest.mark.parametrize("name", ["a.zarr", "a.hdf5"])
def test_registrations_survive(name: str, tmp_path: Path):
    held = THINGS["registrations"]()
    if name.endswith("hdf5"):
        pytest.importorskip("h5py")
    report = cp.save(held, tmp_path / name)
    back = cp.load(tmp_path / name)
    assert isinstance(back, Registrations)
    assert back.topology_hash == held.topology_hash
    assert np.allclose(back.vertices(), held.vertices(), atol=1e-6)
    assert ("lost" in report) == (name != "a.zarr")


def test_registrations_go_into_folders_of_ply_files(tmp_path: Path):
    """A folder a take, and each is a set that can be loaded."""
    held = small_registrations()
    cp.save(held, tmp_path / "a")
    back = cp.load(tmp_path / "a" / "anna__hips")
    assert np.allclose(back.vertices(), held.takes[0].vertices, atol=1e-6)
    with pytest.raises(FormatError, match=r"holds no \.ply files"):
        cp.load(tmp_path / "a")


@pytest.mark.parametrize("suffix", [".obj", ".ply", ".off", ".stl"])
def test_surfaces_survive(suffix: str, tmp_path: Path):
    mesh = small_mesh()
    cp.save(mesh, tmp_path / f"a{suffix}")
    back = cp.load(tmp_path / f"a{suffix}")
    corners = np.asarray(mesh.vertices)[mesh.triangles]
    found = np.asarray(back.vertices)[back.triangles]
    if suffix == ".stl":  # keeps triangles, not their shared vertices
        assert np.allclose(found, corners, atol=1e-6)
    else:
        assert np.allclose(back.vertices, mesh.vertices, atol=1e-6)
        assert np.array_equal(back.triangles, mesh.triangles)


def test_a_character_comes_back_from_glb(tmp_path: Path):
    character = THINGS["character"]()
    assert cp.save(character, tmp_path / "a.glb")["frames"] == 7
    back = cp.load(tmp_path / "a.glb")
    assert back.frame_count == 7
    assert isinstance(cp.load(tmp_path / "a.glb", "mesh"), cp.Mesh)
    assert cp.load(tmp_path / "a.glb", "skeleton").names == small_template().skeleton.names
    cp.save(back, tmp_path / "a.obj", frame=-1)
    assert cp.load(tmp_path / "a.obj").vertex_count >= 72


def test_a_glb_without_a_skin_is_a_mesh(tmp_path: Path):
    cp.save(THINGS["layers"](), tmp_path / "a.glb")
    assert isinstance(cp.load(tmp_path / "a.glb"), cp.Mesh)


def test_parts_of_a_file_can_be_asked_for(tmp_path: Path):
    take = small_animation()
    cp.save(take, tmp_path / "take.npz")
    assert_same(cp.load(tmp_path / "take.npz", "motion"), take.motion)
    assert_same(cp.load(tmp_path / "take.npz", "body").identity, take.identity)
    cp.save(THINGS["layers"](), tmp_path / "layers.npz")
    assert isinstance(cp.load(tmp_path / "layers.npz", "body"), cp.Body)
    cp.save(take.motion, tmp_path / "a.bvh")
    assert set(cp.load(tmp_path / "a.bvh", "skeleton").names) == set(take.motion.skeleton.names)


def test_skeletons_come_in_metres_where_their_unit_is_known(tmp_path: Path):
    joints = [{"name": "a", "position": [0, 100, 0]}]
    (tmp_path / "a.json").write_text(json.dumps({"unit": "cm", "joints": joints}))
    assert np.allclose(cp.load(tmp_path / "a.json").joints, [[0, 1, 0]])


def test_measurements_stay_with_a_take(tmp_path: Path):
    """They come from the body, not from measuring the surface again."""
    body = small_body()
    take = cp.animate(body, small_animation().motion)
    cp.save(take, tmp_path / "take.npz")
    assert cp.load(tmp_path / "take.npz", "body").measurements == {"stature": 1.7, "mass": 82.0}
    assert cp.load(tmp_path / "take.npz").measurements == {"stature": 1.7, "mass": 82.0}


def test_amass_files_load_as_motions(tmp_path: Path):
    arrays = {
        "poses": np.zeros((4, 156)),
        "trans": np.zeros((4, 3)),
        "mocap_framerate": np.asarray(120.0),
    }
    write_npz(tmp_path / "amass.npz", arrays)
    motion = cp.load(tmp_path / "amass.npz")
    assert isinstance(motion, cp.Motion)
    assert motion.fps == 120.0


def test_shipped_models_load_by_name():
    assert cp.load("smpl").data.joint_count == 24
    assert cp.load("smpl-sparse", "model").data.joint_count == 24


def test_refused_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    Path("notes.txt").write_text("hello")
    Path("film.mp4").write_bytes(b"")
    Path("none").write_bytes(b"")
    write_npz("state.npz", {"format": np.asarray("corporeal-state"), "a": np.zeros(3)})
    write_npz("other.npz", {"a": np.zeros(3)})
    ZarrStore.create("other.zarr", "something", {}, ())
    cp.save(small_body(), "body.npz")
    refused = {
        "gone.npz": (InputError, "there is no file gone.npz"),
        "notes.txt": (InputError, r"suffix '\.txt'; expected \.bvh, .*\.zarr"),
        "none": (InputError, "it has no suffix"),
        "film.mp4": (InputError, r"\.mp4 files \(animation, registrations\) are written and not"),
        "state.npz": (FormatError, "is a corporeal-state file, which load does not read"),
        "other.npz": (FormatError, "holds a; expected a file of this package"),
        "other.zarr": (FormatError, "Zarr store of 'something'"),
    }
    for name, (kind, words) in refused.items():
        with pytest.raises(kind, match=words):
            cp.load(name)
    with pytest.raises(InputError, match=r"body\.npz holds a body, not a motion"):
        cp.load("body.npz", "motion")
    with pytest.raises(InputError, match="noun is 'face'; expected one of mesh, body"):
        cp.load("body.npz", "face")  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_refused_results(tmp_path: Path):
    with pytest.raises(InputError, match=r"a body as .*\.fbx.*A \.fbx file holds an animation or"):
        cp.save(small_body(), tmp_path / "a.fbx")
    with pytest.raises(InputError, match=r"people as .* expected \.zarr"):
        cp.save(small_people(), tmp_path / "a.npz")
    with pytest.raises(InputError, match="a int came, which no file can hold; expected Mesh"):
        cp.save(3, tmp_path / "a.npz")
    with pytest.raises(InputError, match="frame 2 came with a Body, which has no frames"):
        cp.save(small_body(), tmp_path / "a.obj", frame=2)
    with pytest.raises(InputError, match="one surface, not an animation"):
        cp.save(small_animation(), tmp_path / "a.obj")
    with pytest.raises(InputError, match="one surface, not a moving character"):
        cp.save(THINGS["character"](), tmp_path / "a.obj")
    with pytest.raises(InputError, match="frame 9 was asked for; there are 7"):
        cp.save(THINGS["character"](), tmp_path / "a.obj", frame=9)
    with pytest.raises(OutputError):
        cp.save(small_body(), tmp_path / "no" / "such" / "a.npz")
    assert not list(tmp_path.iterdir())


def test_the_table_says_what_a_suffix_can_hold():
    assert nouns_of(".bvh") == ("motion", "skeleton")
    assert nouns_of(".GLB", written=True) == ("body", "layers", "animation", "character")
    assert nouns_of(".doc") == ()
    assert {f.suffix for f in cp.list_formats()} >= {".npz", ".glb", ".zarr", ".pkl", ".mp4"}


OLD_FILES = {
    "body.npz": cp.Body,
    "motion.npz": cp.Motion,
    "take.npz": cp.Animation,
    "layers.npz": cp.LayeredBody,
    "registrations.zarr": cp.Registrations,
}


@pytest.mark.parametrize("name", OLD_FILES)
def test_files_of_version_0_1_0_load(name: str):
    """They were written from the same small things, so that these are what must come back."""
    found = cp.load(OLD / name)
    assert type(found) is OLD_FILES[name]
    expected = {
        "body.npz": small_body,
        "layers.npz": small_layers,
        "motion.npz": THINGS["motion"],
        "take.npz": small_animation,
    }
    if name == "registrations.zarr":
        assert np.array_equal(found.vertices(), tube_take("anna", "hips", 3).vertices)
    elif name == "take.npz":
        assert found.measurements == {"stature": 1.7, "mass": 82.0}
        assert np.allclose(found.vertices, small_animation().vertices, atol=2e-7)
    else:
        assert_same(found, expected[name]())


@pytest.mark.parametrize("name", ["model.npz", "model.pkl"])
def test_models_of_version_0_1_0_load(name: str):
    """Eight vertices, two shape coefficients, of the same random numbers."""
    found, expected = cp.load(OLD / name).data, random_model(8, 2)
    assert np.allclose(found.mean_vertices, expected.mean_vertices, rtol=0, atol=1e-15)
    assert np.allclose(found.pose_offsets, expected.pose_offsets, rtol=0, atol=1e-15)


MANIFESTS: dict[str, Callable[[dict[str, Any]], Any]] = {
    "made_body.npz": BodyVerb.from_manifest,
    "animated.glb": Animate.from_manifest,
    "moved_model.glb": Animate.from_manifest,
    "fitted.npz": Anatomy.from_manifest,
    "grown.npz": Anatomy.from_manifest,
    "transferred.npz": Anatomy.from_manifest,
    "trained.npz": Train.from_manifest,
    "evaluated.html": Evaluate.from_manifest,
}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_of_version_0_1_0_can_be_repeated(name: str):
    content = read_manifest(OLD / f"{name}.manifest.json")
    assert content["corporeal"] == "0.1.0"
    assert callable(MANIFESTS[name](content).run)


def test_an_old_manifest_gives_the_same_run():
    again = Animate.from_manifest(read_manifest(OLD / "animated.glb.manifest.json"))
    assert (again.deformer, again.motion, again.soft) == (
        "projective",
        ("one-leg-jump",),
        ("belly=0.5",),
    )
    config = next(iter(again._configs().values()))
    assert dict(config.controls) == {"stiffness": 9000.0, "collisions": "global"}


@pytest.mark.parametrize("name", MANIFESTS)
def test_manifests_of_other_versions_are_refused_by_their_version(name: str):
    """A name that this version does not know would change the run if it were dropped."""
    content = read_manifest(OLD / f"{name}.manifest.json")
    content["corporeal"] = "9.9.0"
    content["config"]["fur"] = 1.0
    with pytest.raises(FormatError, match=r"written by corporeal 9\.9\.0 and has fur"):
        MANIFESTS[name](content)


def test_sessions_of_version_0_1_0_load():
    document = read_document((OLD / "session.json").read_bytes())
    assert document.motion.name == "punching"
    assert [view.deformer for view in document.views] == ["lbs", "projective", "smpl", "layered"]
    assert dict(document.views[1].controls) == {"stiffness": 9000.0, "volume": 0.0}
    assert dict(document.growth) == {"belly": 3.0}


def test_files_of_later_versions_are_refused_by_their_version(tmp_path: Path):
    with np.load(OLD / "body.npz") as file:
        arrays = dict(file) | {"format_version": np.asarray(7)}
    write_npz(tmp_path / "later.npz", arrays)
    with pytest.raises(FormatError, match="format version 7; this corporeal reads up to 1"):
        cp.load(tmp_path / "later.npz")
