"""Sets in other formats: DFAUST's hdf5, FAUST's folders, and what is refused by name."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from registered import TEMPLATE, VERTICES, moving, small_store, take

from corporeal.body.mesh import Mesh
from corporeal.cli.main import main
from corporeal.errors import FormatError, InputError
from corporeal.formats.hdf5 import read_dfaust
from corporeal.formats.ply import write_ply
from corporeal.formats.ply_folder import read_ply_folder
from corporeal.formats.registrations import RegistrationsStore
from corporeal.pipelines.dataset import Choice, ImportConfig, export_dataset, import_dataset
from corporeal.pipelines.dataset_check import check_dataset

h5py = pytest.importorskip("h5py")
TRIANGLES = TEMPLATE.mesh.triangles
SMPL_VERTICES, SMPL_TRIANGLES = 6890, 13776


@pytest.fixture
def dfaust(tmp_path: Path) -> Path:
    """A file of the official layout and sizes: V × 3 × T float32, faces uint32."""
    random, path = np.random.default_rng(0), tmp_path / "registrations_m.hdf5"
    with h5py.File(path, "w") as file:
        file["faces"] = random.integers(0, SMPL_VERTICES, (SMPL_TRIANGLES, 3)).astype(np.uint32)
        for name, frames in (("50002_chicken_wings", 9), ("50007_one_leg_jump", 3)):
            file[name] = random.normal(size=(SMPL_VERTICES, 3, frames)).astype(np.float32)
    return path


def test_dfausts_layout_is_read_unmodified(dfaust: Path) -> None:
    read = read_dfaust(dfaust)
    assert [(t.subject, t.sequence, t.frame_count, t.fps) for t in read.takes] == [
        ("50002", "chicken_wings", 9, 60.0),
        ("50007", "one_leg_jump", 3, 60.0),
    ]
    with h5py.File(dfaust) as file:
        expected = np.asarray(file["50002_chicken_wings"]).transpose(2, 0, 1)
        np.testing.assert_array_equal(read.triangles, file["faces"])
    np.testing.assert_array_equal(read.takes[0].vertices[2:6], expected[2:6])


def test_dfaust_through_the_store_and_back(dfaust: Path, tmp_path: Path) -> None:
    count = import_dataset(ImportConfig(inputs=(dfaust,), out=tmp_path / "a.zarr", template="smpl"))
    assert count == 2
    assert (
        import_dataset(ImportConfig(inputs=(dfaust,), out=tmp_path / "a.zarr", template="smpl"))
        == 2
    )
    lost = export_dataset(tmp_path / "a.zarr", tmp_path / "b.hdf5", Choice())
    assert lost == []
    with h5py.File(dfaust) as before, h5py.File(tmp_path / "b.hdf5") as after:
        assert set(before) == set(after)
        for key in before:
            np.testing.assert_array_equal(np.asarray(before[key]), np.asarray(after[key]))


def changed(path: Path, name: str, make: Any) -> None:
    with h5py.File(path, "a") as file:
        if name in file:
            del file[name]
        make(file, name)


HOSTILE = {
    "wrong topology": (
        "50009_hips",
        lambda f, n: f.create_dataset(n, data=np.zeros((10, 3, 2))),
        "wrong topology",
    ),
    "wrong axes": (
        "50009_hips",
        lambda f, n: f.create_dataset(n, data=np.zeros((SMPL_VERTICES, 2))),
        "expected <subject>_<sequence>",
    ),
    "no sequence": (
        "50009",
        lambda f, n: f.create_dataset(n, data=np.zeros((SMPL_VERTICES, 3, 2))),
        "expected <subject>_<sequence>",
    ),
    "nothing behind it": (
        "50009_hips",
        lambda f, n: f.create_dataset(n, (SMPL_VERTICES, 3, 10**9), "f8"),
        "of which the file holds",
    ),
    "link out": (
        "50009_hips",
        lambda f, n: f.__setitem__(n, h5py.ExternalLink("/etc/passwd", "/")),
        "not a plain array",
    ),
    "soft link": (
        "50009_hips",
        lambda f, n: f.__setitem__(n, h5py.SoftLink("/faces")),
        "not a plain array",
    ),
    "group": ("50009_hips", lambda f, n: f.create_group(n), "not a plain array"),
    "text": (
        "50009_hips",
        lambda f, n: f.create_dataset(n, data=[["a"]], dtype=h5py.string_dtype()),
        "expected plain numbers",
    ),
    "faces of floats": (
        "faces",
        lambda f, n: f.create_dataset(n, data=np.zeros((4, 3))),
        "expected F × 3",
    ),
    "faces out of range": (
        "faces",
        lambda f, n: f.create_dataset(n, data=np.full((4, 3), SMPL_VERTICES)),
        "registration triangles",
    ),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_hdf5_is_refused_by_name(dfaust: Path, what: str) -> None:
    name, make, message = HOSTILE[what]
    changed(dfaust, name, make)
    with pytest.raises(FormatError, match=message):
        read_dfaust(dfaust)


def test_external_and_virtual_data_are_refused(dfaust: Path, tmp_path: Path) -> None:
    outside = [(str(tmp_path / "secret"), 0, 8 * 3 * SMPL_VERTICES)]
    (tmp_path / "secret").write_bytes(b"\0" * 8 * 3 * SMPL_VERTICES)
    changed(
        dfaust,
        "50009_hips",
        lambda f, n: f.create_dataset(n, (SMPL_VERTICES, 3, 1), "f8", external=outside),
    )
    with pytest.raises(FormatError, match="not a plain array"):
        read_dfaust(dfaust)


def test_damaged_hdf5(tmp_path: Path, dfaust: Path) -> None:
    (tmp_path / "x.hdf5").write_bytes(b"no hdf5")
    with pytest.raises(FormatError, match="cannot be read as HDF5"):
        read_dfaust(tmp_path / "x.hdf5")
    data = dfaust.read_bytes()
    dfaust.write_bytes(data[: len(data) // 2])
    with pytest.raises(FormatError, match="HDF5"):
        read_dfaust(dfaust)
    with pytest.raises(InputError, match="there is no file"):
        read_dfaust(tmp_path / "nowhere.hdf5")


def test_frames_that_are_not_finite_are_refused(dfaust: Path, tmp_path: Path) -> None:
    bad = np.zeros((SMPL_VERTICES, 3, 2), np.float32)
    bad[5, 1, 1] = np.inf
    changed(dfaust, "50009_hips", lambda f, n: f.create_dataset(n, data=bad))
    with pytest.raises(FormatError, match="50009_hips is not finite"):
        import_dataset(ImportConfig(inputs=(dfaust,), out=tmp_path / "a.zarr"))


@pytest.fixture
def faust(tmp_path: Path) -> Path:
    """FAUST's folders and names: ten poses a subject."""
    home = tmp_path / "FAUST" / "training" / "registrations"
    home.mkdir(parents=True)
    for number in range(12):
        write_ply(home / f"tr_reg_{number:03d}.ply", Mesh(moving(1, number)[0], TRIANGLES))
    return tmp_path / "FAUST"


def test_a_faust_folder_is_read_unmodified(faust: Path) -> None:
    read = read_ply_folder(faust)
    assert [(t.subject, t.frame_count) for t in read.takes] == [("faust00", 10), ("faust01", 2)]
    np.testing.assert_array_equal(read.takes[1].vertices[1:2], moving(1, 11))


def test_raw_scans_and_other_topologies_are_refused_by_name(faust: Path, tmp_path: Path) -> None:
    odd = faust / "training" / "registrations" / "tr_reg_007.ply"
    write_ply(odd, Mesh(moving(1, 7)[0], TRIANGLES[:, [1, 0, 2]]))
    with pytest.raises(FormatError, match=r"tr_reg_007\.ply .* wrong topology"):
        import_dataset(ImportConfig(inputs=(faust,), out=tmp_path / "a.zarr"))
    small_store(tmp_path / "tube.zarr")
    single = tmp_path / "one"
    single.mkdir()
    write_ply(single / "a.ply", Mesh(np.zeros((4, 3)), np.array([[0, 1, 2], [0, 2, 3]])))
    with pytest.raises(FormatError, match="one has the wrong topology: 4 vertices"):
        import_dataset(
            ImportConfig(inputs=(single,), out=tmp_path / "b.zarr", like=tmp_path / "tube.zarr")
        )
    turned = TRIANGLES.copy()
    turned[0] = turned[0, ::-1]
    write_ply(single / "a.ply", Mesh(moving(1, 0)[0], turned))
    with pytest.raises(FormatError, match="triangles, 1 of them other ones"):
        import_dataset(
            ImportConfig(inputs=(single,), out=tmp_path / "b.zarr", like=tmp_path / "tube.zarr")
        )
    assert not (tmp_path / "b.zarr").exists()
    write_ply(single / "a.ply", Mesh(np.zeros((4, 3)), np.zeros((0, 3), np.int64)))
    with pytest.raises(FormatError, match="has no triangles"):
        read_ply_folder(single)


def filled(path: Path) -> Path:
    store = small_store(path)
    for subject in ("anna", "ben"):
        store.write_take(take(subject, "walk", 4, len(subject)))
    store.store.finish()
    return path


def test_export_chooses_takes(tmp_path: Path) -> None:
    source = filled(tmp_path / "a.zarr")
    export_dataset(source, tmp_path / "ply", Choice(subjects=("ben",)))
    assert [p.name for p in (tmp_path / "ply").iterdir()] == ["ben__walk"]
    read = read_ply_folder(tmp_path / "ply" / "ben__walk")
    np.testing.assert_array_equal(read.takes[0].vertices[0:4], moving(4, 3))
    export_dataset(source, tmp_path / "b.npz", Choice())
    with np.load(tmp_path / "b.npz") as arrays:
        np.testing.assert_array_equal(arrays["ben__walk"], moving(4, 3))
    export_dataset(source, tmp_path / "b.zarr", Choice(split="train"))
    assert RegistrationsStore.open(tmp_path / "b.zarr").read().frame_count == 8
    with pytest.raises(InputError, match="no take is of carl"):
        export_dataset(source, tmp_path / "c.npz", Choice(subjects=("carl",)))
    with pytest.raises(InputError, match="cannot export"):
        export_dataset(source, tmp_path / "c.docx", Choice())
    with pytest.raises(InputError, match="there already"):
        export_dataset(source, tmp_path / "ply", Choice())


def test_sheets_and_films_show_as_many_takes_as_they_have_room_for(tmp_path: Path) -> None:
    store = small_store(tmp_path / "many.zarr")
    for number in range(7):
        store.write_take(take(f"p{number}", "walk", 3, number))
    for name in ("many.png", "many.mp4"):
        export_dataset(tmp_path / "many.zarr", tmp_path / name, Choice())
        assert (tmp_path / name).stat().st_size > 1000


def test_the_check_finds_what_was_broken(tmp_path: Path) -> None:
    """Explosions, jumps and damage that were put there on purpose, and nothing else."""
    store = small_store(tmp_path / "a.zarr")
    store.write_take(take("anna", "calm", 6))
    jump = take("anna", "jump", 6)
    jumped = np.array(jump.vertices)
    jumped[3:] += 2.0
    store.write_take(type(jump)("anna", "jump", 60.0, jumped))
    store.write_take(take("ben", "lost", 6))
    chunk = store.store.path / "sequences" / "ben__lost" / "vertices" / "c" / "0" / "0" / "0"
    data = bytearray(chunk.read_bytes())
    data[len(data) // 2] ^= 1
    chunk.write_bytes(data)
    found = check_dataset(tmp_path / "a.zarr", thorough=0, workers=1)
    assert list(found.unreadable) == ["ben lost"]
    assert [(f.frame, f.what) for f in found.faults["anna jump"]] == [(3, "speed")]
    assert found.faults["anna jump"][0].worst == pytest.approx(120 * np.sqrt(3), rel=0.05)
    assert found.broken == 1
    assert found.finished is False


def test_the_verb(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    source = filled(tmp_path / "a.zarr")
    assert main(["dataset", "info", str(source), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["takes"], facts["frames"], facts["vertices"]) == (2, 8, VERTICES)
    assert facts["finished"] is True
    assert main(["dataset", "info", str(source)]) == 0
    assert "walk" in capsys.readouterr().out
    assert main(["dataset", "info", str(tmp_path / "nothing")]) == 2
    assert main(["dataset", "export", str(source), "--out", str(tmp_path / "b.hdf5")]) == 0
    assert "does not carry" in capsys.readouterr().out
