"""Captures in one small file: the error that was asked for, and stated; damage is refused."""

from pathlib import Path

import numpy as np
import pytest

from corporeal.body.composition import Composition
from corporeal.body.identity import Identity
from corporeal.body.pose import Pose
from corporeal.body.registrations import Subject, Take, Truth, Twin
from corporeal.cli.main import main
from corporeal.errors import FormatError, InputError
from corporeal.formats.npz import open_npz, write_npz
from corporeal.formats.packed_registrations import numbers_of, planes_of
from corporeal.formats.registrations import RegistrationsStore
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.numerics import transform_coding
from corporeal.numerics.transform_coding import differences, make_code, sums, water_level
from corporeal.pipelines.dataset import read_dataset
from corporeal.pipelines.pack_config import PackConfig
from corporeal.pipelines.pack_dataset import pack_dataset
from corporeal.pipelines.packed_dataset import POSE_STEP, Carrier

FRAMES = 12
ERROR, LARGEST = 1e-4, 1e-3


class TestCoding:
    @pytest.mark.parametrize("products", [2500, 50])
    def test_error_is_what_was_asked_for(
        self, monkeypatch: pytest.MonkeyPatch, products: int
    ) -> None:
        """Rows of a falling spectrum, few and many: below the error, and not by much, since less
        costs bytes."""
        monkeypatch.setattr(transform_coding, "MOST_PRODUCTS", products)
        random = np.random.default_rng(0)
        directions = np.linalg.qr(random.normal(size=(300, 60)))[0].T
        spread = 0.1 * 0.8 ** np.arange(60)
        rows = ((random.normal(size=(500, 60)) * spread) @ directions + 3.0).astype(np.float32)
        for error in (1e-2, 1e-3):
            code = make_code(rows, error)
            found = code.decoded(code.encoded(rows))
            off = np.linalg.norm((found - rows).reshape(500, -1, 3), axis=-1)
            rms = np.sqrt(np.mean(off**2))
            assert 0.6 * error < rms <= error
        assert code.count < 60

    def test_rows_that_hardly_differ_need_no_direction(self) -> None:
        """Their mean is near enough."""
        rows = np.ones((5, 6), np.float32) + 1e-5 * np.eye(5, 6, dtype=np.float32)
        code = make_code(rows, 1e-3)
        assert code.count == 0
        np.testing.assert_allclose(code.decoded(code.encoded(rows)), rows, atol=2e-5)

    def test_an_error_of_nothing_is_refused(self) -> None:
        with pytest.raises(InputError, match="expected more than 0"):
            make_code(np.ones((3, 3), np.float32), 0.0)

    def test_water_level(self) -> None:
        """Σ min(variance, θ) is what is allowed: by hand, and for random variances."""
        assert water_level(np.array([4.0, 1.0]), 3.0) == pytest.approx(2.0)  # 1 whole, 2 of the 4
        assert water_level(np.array([4.0, 1.0]), 1.0) == pytest.approx(0.5)
        variances = np.random.default_rng(1).exponential(size=50)
        for share in (0.01, 0.3, 0.9):
            allowed = share * variances.sum()
            level = water_level(variances, allowed)
            assert np.minimum(variances, level).sum() == pytest.approx(allowed)

    def test_whole_numbers_come_back(self) -> None:
        """Planes and differences lose nothing, at the ends of 32 bits too."""
        ends = np.array([[0, -1, 1], [2**31 - 1, -(2**31), 255], [-256, 128, -128]], np.int32)
        np.testing.assert_array_equal(numbers_of(planes_of(ends)), ends)
        small = np.arange(-60, 60, dtype=np.int32).reshape(-1, 2)
        assert len(planes_of(small)) == 1
        for order in (0, 1, 2):
            np.testing.assert_array_equal(sums(differences(small, order), order), small)


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two people of the default body: a movement with its twin each, and held poses of one."""
    model, path = PhenotypeModel(), tmp_path_factory.mktemp("captures") / "captures.zarr"
    mesh, joints = model.template.mesh, model.template.skeleton.joint_count
    triangles = np.asarray(mesh.triangles)
    store = RegistrationsStore.create(path, "test", triangles, mesh.vertex_count, {})
    carrier, random = Carrier(model.template), np.random.default_rng(2)
    waves = 1e-3 * random.normal(size=(4, 3 * mesh.vertex_count)).astype(np.float32)
    for name, weight in (("anna", 0.3), ("bert", 0.8)):
        made = model.prepare({"weight": weight})
        rest, places = np.asarray(made.rest_vertices, np.float32), np.asarray(made.joints)
        who = Identity(rest, places.astype(np.float32), {"weight": np.array(weight)})
        facts = {"sex": "female", "mass": 60.0, "stature": 1.7}
        store.write_subject(Subject(name, who, None, Composition(20.0, 25.0), facts))
        turns = (
            0.3 * np.sin(np.arange(FRAMES) / 3.0)[:, None, None] * random.normal(size=(joints, 3))
        )
        pose = Pose(turns.astype(np.float32), random.normal(size=(FRAMES, 3)).astype(np.float32))
        still = carrier.posed(who, pose, random.normal(size=(FRAMES, 2)).astype("f4") @ waves[:2])
        lively = random.normal(size=(FRAMES, 2)).astype("f4") @ waves[2:]
        lively += 3e-5 * random.normal(size=lively.shape).astype("f4")
        lively.reshape(FRAMES, -1, 3)[4, 77] += 0.02  # one vertex that no code knows
        moved = carrier.posed(who, pose, carrier.to_rest(who, pose, still) + lively)
        truth = Truth(pose.joint_rotations, pose.root_translation, {"stiffness": 3000.0})
        split = "train" if name == "anna" else "test"
        store.write_take(Take(name, "run", 60.0, moved, truth, split, {"seed": 3}, Twin(still)))
        if name == "bert":
            store.write_take(Take(name, "poses", 0.0, still, truth, split))
    return path


@pytest.fixture(scope="module")
def packed(captures: Path) -> Path:
    """The same, packed."""
    out = captures.with_name("captures.packed.npz")
    pack_dataset(PackConfig(data=captures, out=out, error=ERROR, largest=LARGEST), in_process=True)
    return out


def distances(here: np.ndarray, there: np.ndarray) -> np.ndarray:
    """Of all vertices, metres."""
    return np.linalg.norm(np.asarray(here, np.float64) - there, axis=-1)


def test_frames_and_twins_are_as_near_as_asked(captures: Path, packed: Path) -> None:
    """Root mean square and largest distance, of every take; the file says what they are."""
    before, after = (read_dataset(path) for path in (captures, packed))
    off = []
    for take, back in zip(before.takes, after.takes, strict=True):
        assert (take.subject, take.sequence, take.fps) == (back.subject, back.sequence, back.fps)
        assert (take.split, take.notes) == (back.split, back.notes)
        off.append(distances(back.vertices[0:FRAMES], np.asarray(take.vertices[0:FRAMES])))
        assert (take.twin is None) == (back.twin is None)
        if take.twin is not None and back.twin is not None:
            twins = np.asarray(take.twin.vertices[0:FRAMES])
            apart = distances(back.twin.vertices[0:FRAMES], twins)
            assert np.sqrt(np.mean(apart**2)) < ERROR
    every = np.concatenate(off)
    rms = np.sqrt(np.mean(every**2))
    assert rms <= ERROR
    assert every.max() <= 2 * LARGEST  # of two codes
    stated = after.provenance["packed"]["takes"]
    assert stated["rms"] == pytest.approx(rms, rel=0.02)
    assert stated["largest"] == pytest.approx(every.max(), rel=0.02)


def test_some_frames_are_those_of_all(packed: Path) -> None:
    """Any slice gives the rows that the whole take has there."""
    rows = read_dataset(packed).takes[0].vertices
    whole = np.asarray(rows[0:FRAMES])
    for chosen in (slice(3, 5), slice(None, None, 4), slice(-2, None), slice(5, 5)):
        np.testing.assert_allclose(rows[chosen], whole[chosen], atol=1e-6)


def test_poses_and_people_come_along(captures: Path, packed: Path) -> None:
    """Poses to half a step, rest shapes to a tenth of a millimetre, facts as they were."""
    before, after = (read_dataset(path) for path in (captures, packed))
    for take, back in zip(before.takes, after.takes, strict=True):
        assert take.truth is not None
        assert back.truth is not None
        for name in ("joint_rotations", "root_translation"):
            exact = np.asarray(getattr(take.truth, name)[0:FRAMES], np.float64)
            np.testing.assert_allclose(getattr(back.truth, name), exact, atol=0.51 * POSE_STEP)
        assert dict(back.truth.materials) == dict(take.truth.materials)
    for name in ("anna", "bert"):
        was, now = before.subjects[name], after.subjects[name]
        assert was.identity is not None
        assert now.identity is not None
        apart = distances(now.identity.rest_vertices, np.asarray(was.identity.rest_vertices))
        assert np.sqrt(np.mean(apart**2)) < 1e-4
        np.testing.assert_array_equal(now.identity.joints, was.identity.joints)
        assert now.facts == was.facts
        assert now.composition is not None
        assert (now.composition.fat_mass, now.composition.muscle_mass) == (20.0, 25.0)


def test_much_smaller_and_unpacked_by_the_verb(
    captures: Path, packed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A few percent of the store; `dataset import` makes a store of it that says the same."""
    there = sum(file.stat().st_size for file in captures.rglob("*") if file.is_file())
    assert packed.stat().st_size < 0.5 * there
    assert main(["dataset", "import", str(packed), "--out", str(tmp_path / "back.zarr")]) == 0
    back, held = read_dataset(tmp_path / "back.zarr"), read_dataset(packed)
    assert [t.sequence for t in back.takes] == ["run", "poses", "run"]
    np.testing.assert_array_equal(back.takes[0].vertices[0:3], held.takes[0].vertices[0:3])
    assert main(["dataset", "info", str(packed)]) == 0
    assert "24" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("name", "change", "message"),
    [
        ("format", lambda a: np.array("something else"), "holds no packed registrations"),
        ("about", lambda a: a[:-9], "does not say what it holds"),
        ("triangles", lambda a: a + 99_999, "triangles point outside"),
        ("skin_joints", lambda a: a - 99, "skin_joints point outside"),
        ("dynamic_far_vertices", lambda a: a + 10**6, "point outside of the set"),
        ("dynamic_deviations", lambda a: -a, "not above 0"),
        ("pose_steps", lambda a: a[:, :, :-1], "rows of pose came"),
        ("poses", lambda a: a.astype(np.int64), "planes of int64"),
        ("pose_basis", lambda a: a[:, :1], "expected"),
    ],
)
def test_damage_is_refused_by_name(
    packed: Path, tmp_path: Path, name: str, change: object, message: str
) -> None:
    """Arrays that do not belong together."""
    with open_npz(packed, tight=True) as file:
        kinds = {n: (h.dtype.kind, h.shape) for n, h in file.headers.items()}
        arrays = {
            n: file.array(n, "i" if k == "u" else k, shape) for n, (k, shape) in kinds.items()
        }
    bad = tmp_path / "bad.packed.npz"
    write_npz(bad, {**arrays, name: change(arrays[name])})  # type: ignore[operator]
    with pytest.raises(FormatError, match=message):
        read_dataset(bad)


def test_truncated_files_are_refused(packed: Path, tmp_path: Path) -> None:
    bad = tmp_path / "bad.packed.npz"
    bad.write_bytes(packed.read_bytes()[:-1000])
    with pytest.raises(FormatError):
        read_dataset(bad)


def test_sets_without_truth_are_refused(tmp_path: Path) -> None:
    """Real scans have no known pose."""
    mesh = PhenotypeModel().template.mesh
    path = tmp_path / "scans.zarr"
    store = RegistrationsStore.create(
        path, "test", np.asarray(mesh.triangles), mesh.vertex_count, {}
    )
    store.write_take(Take("anna", "scan", 0.0, np.zeros((1, mesh.vertex_count, 3), np.float32)))
    config = PackConfig(data=path, out=tmp_path / "scans.packed.npz")
    with pytest.raises(InputError, match="only captures can be packed"):
        pack_dataset(config, in_process=True)
    with pytest.raises(InputError, match=r"\.packed\.npz"):
        pack_dataset(PackConfig(data=path, out=tmp_path / "scans.npz"), in_process=True)


def test_a_dictionary_made_to_fill_the_memory_is_refused(tmp_path):
    """LZMA data names the memory that unpacking takes: 4 GiB are refused before the library
    reads them, what is written here is read."""
    path = tmp_path / "tight.npz"
    write_npz(path, {"numbers": np.arange(1000)}, tight=True)
    with open_npz(path, tight=True) as file:
        np.testing.assert_array_equal(file.array("numbers", "i", (1000,)), np.arange(1000))
    with pytest.raises(FormatError, match="method 14"), open_npz(path):
        pass
    data = bytearray(path.read_bytes())
    name, extra = int.from_bytes(data[26:28], "little"), int.from_bytes(data[28:30], "little")
    place = 30 + name + extra + 5
    data[place : place + 4] = (2**32 - 1).to_bytes(4, "little")
    path.write_bytes(bytes(data))
    with pytest.raises(FormatError, match="4294967295 bytes"), open_npz(path, tight=True):
        pass
