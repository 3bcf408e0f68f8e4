"""Sets of registrations: what survives, what is refused, and how little memory they need."""

import threading
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from registered import TEMPLATE, VERTICES, kill_one_writer, moving, small_store, take, write_person
from small_body import small_identity

from corporeal.body.composition import Composition
from corporeal.body.layers import Layers
from corporeal.body.registrations import Registrations, Subject, Take, Truth
from corporeal.errors import FormatError, InputError
from corporeal.formats.registrations import RegistrationsStore
from corporeal.runtime.jobs import run_jobs


def test_everything_survives_the_store(tmp_path: Path) -> None:
    store, identity = small_store(tmp_path / "a.zarr"), small_identity(TEMPLATE)
    truth = Truth(np.full((5, 4, 3), 0.25), np.full((5, 3), 0.5), {"stiffness": 9e3})
    skin = np.asarray(identity.rest_vertices, np.float32)
    layers = Layers(skin, skin, skin, TEMPLATE.mesh.triangles, np.zeros(VERTICES, bool))
    facts = {"sex": "female", "age": 30.0}
    store.write_subject(Subject("anna", identity, layers, Composition(20.0, 25.0), facts))
    store.write_take(Take("anna", "walk", 60.0, moving(5), truth, "test", {"seed": 7}))
    read = RegistrationsStore.open(tmp_path / "a.zarr").read()
    found, who = read.takes[0], read.subjects["anna"]
    assert (found.subject, found.sequence, found.fps, found.split) == ("anna", "walk", 60.0, "test")
    np.testing.assert_array_equal(found.vertices[0:5], moving(5))
    assert found.truth is not None
    np.testing.assert_array_equal(found.truth.joint_rotations[0:5], np.full((5, 4, 3), 0.25))
    assert found.truth.materials == {"stiffness": 9e3}
    assert found.notes == {"seed": 7}
    assert who.identity is not None
    assert who.layers is not None
    np.testing.assert_array_equal(who.identity.rest_vertices, skin)
    assert who.identity.parameters["local"].tolist() == [0.1, -0.2, 0.3]
    assert who.composition is not None
    assert (who.composition.fat_mass, who.facts) == (20.0, facts)
    assert read.template == "tube"
    np.testing.assert_array_equal(read.triangles, TEMPLATE.mesh.triangles)


def test_blocks_walk_through_every_frame_once(tmp_path: Path) -> None:
    store = small_store(tmp_path / "a.zarr")
    for number, frames in enumerate((7, 1, 64)):
        store.write_take(take("a", f"s{number}", frames, number))
    read = store.read()
    seen = [(b.take.sequence, b.first, len(b.vertices)) for b in read.blocks(5)]
    assert sum(length for *_, length in seen) == read.frame_count == 72
    assert seen[0] == ("s0", 0, 5)
    assert seen[1] == ("s0", 5, 2)
    whole = read.where(lambda t: t.sequence == "s0").vertices()
    np.testing.assert_array_equal(whole, moving(7, 0))
    with pytest.raises(InputError, match="Walk through them with blocks"):
        read.vertices(most_bytes=1000)


def test_another_topology_is_refused_by_name(tmp_path: Path) -> None:
    store = small_store(tmp_path / "a.zarr")
    with pytest.raises(InputError, match="take a b has 10 vertices a frame; the set's topology"):
        store.write_take(Take("a", "b", 60.0, np.zeros((3, 10, 3), np.float32)))
    with pytest.raises(InputError, match="frames × vertices × 3"):
        Take("a", "b", 60.0, np.zeros((3, 10), np.float32))
    with pytest.raises(InputError, match="at least 0"):
        Take("a", "b", -1.0, np.zeros((3, 10, 3), np.float32))
    with pytest.raises(InputError, match="registration triangles"):
        Registrations("x", np.array([[0, 1, 9]]), 3, ())


def test_what_is_not_finite_is_never_stored(tmp_path: Path) -> None:
    store, bad = small_store(tmp_path / "a.zarr"), moving(70)
    bad[66, 3, 1] = np.nan
    with pytest.raises(InputError, match="not finite in frame 66"):
        store.write_take(Take("a", "b", 60.0, bad))
    assert store.takes() == []


def test_a_set_whose_triangles_were_changed_is_refused(tmp_path: Path) -> None:
    """The hash in the attributes is the independent witness."""
    store = small_store(tmp_path / "a.zarr")
    other = tmp_path / "b.zarr"
    mesh = TEMPLATE.mesh
    RegistrationsStore.create(other, "tube", mesh.triangles[::-1].copy(), VERTICES, {"seed": 3})
    for file in (other / "triangles").rglob("*"):
        if file.is_file():
            home = store.store.path / "triangles" / file.relative_to(other / "triangles")
            home.write_bytes(file.read_bytes())
    with pytest.raises(FormatError, match="do not belong to its topology's hash"):
        store.read()


def test_a_renamed_take_is_noticed(tmp_path: Path) -> None:
    store = small_store(tmp_path / "a.zarr")
    store.write_take(take("a", "b"))
    home = store.store.path / "sequences"
    (home / "a__b").rename(home / "c__d")
    with pytest.raises(FormatError, match="says that it is 'a', 'b'"):
        store.read()


def test_reading_needs_the_memory_of_a_few_blocks(tmp_path: Path) -> None:
    """A take of 47 MB is walked through with less than 20 MB: two blocks and two chunks."""
    store, count = small_store(tmp_path / "a.zarr"), 54_000

    class Long:
        shape = (count, VERTICES, 3)

        def __getitem__(self, rows: slice) -> np.ndarray:
            start, stop, _ = rows.indices(count)
            ramp = np.arange(start, stop, dtype=np.float32)[:, None, None]
            return np.broadcast_to(ramp, (stop - start, VERTICES, 3)).copy()

    tracemalloc.start()
    store.write_take(Take("a", "long", 60.0, Long()))
    frames = 0
    for block in store.read().blocks(64):
        assert block.vertices[0, 0, 0] == block.first
        frames += len(block.vertices)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert frames == count
    assert count * VERTICES * 12 > 46e6
    # 8 MB chunks: one being filled, its copy, one packed; blocks are 55 kB
    assert peak < 40e6


def checked(path: Path, people: int) -> None:
    """All takes of all people are there, each once, and as their seeds say."""
    read = RegistrationsStore.open(path).read()
    names = [(t.subject, t.sequence) for t in read.takes]
    assert sorted(names) == sorted((f"p{p}", f"s{s}") for p in range(people) for s in range(4))
    for held in read.takes:
        seed = 10 * int(held.subject[1:]) + int(held.sequence[1:])
        np.testing.assert_array_equal(held.vertices[0:5], moving(5, seed))
    left = [p.name for p in (path / "sequences").iterdir() if p.name.startswith(".")]
    assert left == []


def test_a_killed_process_loses_and_doubles_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.zarr"
    small_store(path)
    killer = threading.Thread(target=kill_one_writer, args=(tmp_path,))
    killer.start()
    items = {f"p{n}": (str(path), n) for n in range(3)}
    report = run_jobs(write_person, items, workers=2)
    killer.join()
    assert report.failed == {}
    checked(path, 3)


def test_a_killed_dask_worker_loses_and_doubles_nothing(tmp_path: Path) -> None:
    distributed = pytest.importorskip("distributed")
    path = tmp_path / "a.zarr"
    small_store(path)
    with distributed.LocalCluster(
        n_workers=2,
        threads_per_worker=1,
        processes=True,
        dashboard_address=None,
        local_directory=str(tmp_path / "dask"),
        silence_logs=50,
        env={"PYTHONPATH": str(Path(__file__).parent)},
    ) as cluster:
        killer = threading.Thread(target=kill_one_writer, args=(tmp_path,))
        killer.start()
        items = {f"p{n}": (str(path), n) for n in range(4)}
        report = run_jobs(write_person, items, scheduler=cluster.scheduler_address)
        killer.join()
    assert report.failed == {}
    checked(path, 4)
