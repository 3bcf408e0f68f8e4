"""Zarr stores of parts: whole or not at all, and hostile folders refused by name."""

import json
import os
import signal
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from corporeal.errors import FormatError, InputError, OutputError
from corporeal.formats.zarr_store import ZarrStore

KIND = "corporeal-test"
ROWS = np.random.default_rng(0).normal(size=(50, 20, 3)).astype(np.float32)


@pytest.fixture
def store(tmp_path: Path) -> ZarrStore:
    made = ZarrStore.create(tmp_path / "a.zarr", KIND, {"seed": 1}, ("parts",))
    with made.writing("parts", "one") as part:
        part.attributes["names"] = ["Zoë"]
        append = part.stream("rows", ROWS.shape, np.float32, 16)
        for start in range(0, 50, 7):
            append(ROWS[start : start + 7])
        part.add("flags", np.arange(5) > 2)
        part.add("none", np.zeros((4, 0, 3)))
    return made


def metadata(store: ZarrStore, name: str = "rows") -> Path:
    return store.path / "parts" / "one" / name / "zarr.json"


def altered(path: Path, **changes: Any) -> None:
    content = json.loads(path.read_text())
    path.write_text(json.dumps(content | changes))


def read_rows(store: ZarrStore) -> Any:
    part = ZarrStore.open(store.path, KIND).part("parts", "one")
    return part.rows("rows", "f", (None, 20, 3))[0:50]


def test_what_goes_in_comes_out(store: ZarrStore) -> None:
    part = ZarrStore.open(store.path, KIND).part("parts", "one")
    rows = part.rows("rows", "f", (None, 20, 3))
    np.testing.assert_array_equal(rows[13:37], ROWS[13:37])
    np.testing.assert_array_equal(rows.whole(), ROWS)
    np.testing.assert_array_equal(part.array("flags", "b", (5,)), np.arange(5) > 2)
    assert part.attributes["names"] == ["Zoë"]
    assert store.parts("parts") == ["one"]
    assert len(rows[40:30]) == 0
    assert part.array("none", "f", (4, None, 3)).shape == (4, 0, 3)


def test_any_zarr_reader_opens_it(store: ZarrStore) -> None:
    """The library itself, told nothing of our layout, is the independent reference."""
    import zarr

    group = zarr.open_group(store.path, mode="r")
    np.testing.assert_array_equal(np.asarray(group["parts/one/rows"][:]), ROWS)  # pyright: ignore


def test_a_part_with_missing_rows_never_appears(store: ZarrStore) -> None:
    with pytest.raises(InputError, match="has 0 of 50 rows"), store.writing("parts", "two") as part:
        part.stream("rows", (50, 2), np.float32)(np.zeros((3, 2)))
    assert store.parts("parts") == ["one"]
    assert sorted(p.name for p in (store.path / "parts").iterdir()) == ["one", "zarr.json"]


def test_too_many_rows_and_rows_of_another_shape(store: ZarrStore) -> None:
    with pytest.raises(InputError, match="got 4 of 3 rows"), store.writing("parts", "x") as part:
        part.stream("rows", (3, 2), np.float32)(np.zeros((4, 2)))
    with pytest.raises(InputError, match=r"expected\s+\(2,\)"), store.writing("parts", "x") as part:
        part.stream("rows", (3, 2), np.float32)(np.zeros((3, 3)))


def test_the_first_writer_of_a_part_wins(store: ZarrStore) -> None:
    with store.writing("parts", "one") as part:
        part.add("rows", np.zeros((2, 20, 3), np.float32))
    np.testing.assert_array_equal(read_rows(store), ROWS)


def test_names_and_folders_that_are_typing_mistakes_are_refused(tmp_path: Path) -> None:
    for path, words in (("a.npz", "ends in .zarr"), ("none/a.zarr", "is not a folder")):
        with pytest.raises(OutputError, match=words):
            ZarrStore.create(tmp_path / path, KIND, {"seed": 1}, ("parts",))
    assert list(tmp_path.iterdir()) == []


def test_a_store_of_another_run_or_kind_is_refused(store: ZarrStore, tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="begun with seed = 1; this run has 2"):
        ZarrStore.create(store.path, KIND, {"seed": 2}, ("parts",))
    with pytest.raises(FormatError, match="expected 'corporeal-people'"):
        ZarrStore.open(store.path, "corporeal-people")
    with pytest.raises(FormatError, match="version 1 of"):
        ZarrStore.open(store.path, KIND, version=2)
    with pytest.raises(InputError, match="there is no Zarr group"):
        ZarrStore.open(tmp_path / "nowhere", KIND)
    (tmp_path / "file").touch()
    with pytest.raises(FormatError, match="is a file"):
        ZarrStore.open(tmp_path / "file", KIND)


def test_finishing(store: ZarrStore) -> None:
    with pytest.raises(InputError, match="not whole"):
        store.require_finished()
    store.finish({"parts": 1})
    store.finish()
    store.require_finished()


@pytest.mark.parametrize("name", ["../out", "a/b", "", ".hidden", "x" * 101, "a\0b"])
def test_names_that_lead_elsewhere_are_refused(store: ZarrStore, name: str) -> None:
    with pytest.raises(InputError, match="cannot name a part"):
        store.has("parts", name)


HOSTILE = {
    "absurd shape": ({"shape": [10**12, 20, 3]}, "made to fill the memory"),
    "negative shape": ({"shape": [-1, 20, 3]}, "expected a few lengths"),
    "shape of text": ({"shape": ["50", 20, 3]}, "expected a few lengths"),
    "more rows than files": ({"shape": [500, 20, 3]}, "declares 32 chunks and lacks"),
    "object dtype": ({"data_type": "object"}, "expected plain numbers"),
    "string dtype": ({"data_type": {"name": "fixed_length_utf32"}}, "expected plain numbers"),
    "another version": ({"zarr_format": 2}, "third version"),
    "another node": ({"node_type": "group"}, "expected 'array'"),
    "pickle codec": (
        {"codecs": [{"name": "bytes"}, {"name": "numcodecs.pickle"}]},
        "packed by bytes, numcodecs.pickle",
    ),
    "big endian": (
        {"codecs": [{"name": "bytes", "configuration": {"endian": "big"}}]},
        "little endian",
    ),
    "sharding": ({"codecs": [{"name": "sharding_indexed"}]}, "packed by sharding_indexed"),
    "no codecs": ({"codecs": []}, "packed by nothing"),
    "codecs of numbers": ({"codecs": [1]}, "does not describe an array"),
    "irregular grid": (
        {"chunk_grid": {"name": "rectilinear", "configuration": {"chunk_shape": [16, 20, 3]}}},
        "unknown way",
    ),
    "cut across": (
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [16, 10, 3]}}},
        "expected chunks along the first axis",
    ),
    "empty chunks": (
        {"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [0, 20, 3]}}},
        "expected chunks along the first axis",
    ),
    "attributes of numbers": ({"attributes": [1]}, "no table of names"),
}


@pytest.mark.parametrize("what", HOSTILE)
def test_hostile_metadata_is_refused_by_name(store: ZarrStore, what: str) -> None:
    changes, message = HOSTILE[what]
    altered(metadata(store), **changes)
    with pytest.raises(FormatError, match=message):
        read_rows(store)


def test_a_chunk_of_absurd_size_is_refused(store: ZarrStore) -> None:
    grid = {"name": "regular", "configuration": {"chunk_shape": [2**33, 20, 3]}}
    altered(metadata(store), shape=[2**33, 20, 3], chunk_grid=grid)
    with pytest.raises(FormatError, match="made to fill the memory"):
        read_rows(store)


@pytest.mark.parametrize("text", ["", "{", "[]", "null", "\x00", "[" * 10000])
def test_metadata_that_is_none(store: ZarrStore, text: str) -> None:
    metadata(store).write_text(text)
    with pytest.raises(FormatError):
        read_rows(store)


def chunk(store: ZarrStore) -> Path:
    return store.path / "parts" / "one" / "rows" / "c" / "1" / "0" / "0"


def test_missing_chunks_do_not_read_as_zeros(store: ZarrStore) -> None:
    chunk(store).unlink()
    with pytest.raises(FormatError, match="lacks"):
        read_rows(store)


def test_links_are_not_followed(store: ZarrStore, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    chunk(store).rename(outside)
    chunk(store).symlink_to(outside)
    with pytest.raises(FormatError, match="is a link"):
        read_rows(store)
    part = store.path / "parts" / "one"
    part.rename(tmp_path / "moved")
    part.symlink_to(tmp_path / "moved")
    with pytest.raises(FormatError, match="is a link"):
        read_rows(store)


def test_every_changed_byte_of_a_chunk_is_noticed(store: ZarrStore) -> None:
    """A checksum lies over every chunk: no flipped bit may come out as a number."""
    data = chunk(store).read_bytes()
    for place in np.random.default_rng(1).integers(0, len(data), 40):
        changed = bytearray(data)
        changed[place] ^= 1 << int(place) % 8
        chunk(store).write_bytes(changed)
        with pytest.raises(FormatError):
            read_rows(store)
    chunk(store).write_bytes(data[:-1])
    with pytest.raises(FormatError, match="does not unpack"):
        read_rows(store)


def test_a_chunk_that_claims_to_unpack_to_gigabytes(store: ZarrStore) -> None:
    data = bytearray(chunk(store).read_bytes())
    data[4:8] = struct.pack("<I", 2**32 - 1)
    chunk(store).write_bytes(data)
    with pytest.raises(FormatError, match="does not unpack"):
        read_rows(store)


def test_other_arrays_than_expected(store: ZarrStore) -> None:
    part = store.part("parts", "one")
    with pytest.raises(FormatError, match="expected kind 'i'"):
        part.rows("rows", "i", (None, 20, 3))
    with pytest.raises(FormatError, match=r"\(any, 21, 3\)"):
        part.rows("rows", "f", (None, 21, 3))
    with pytest.raises(InputError, match="steps of 2"):
        part.rows("rows", "f", (None, 20, 3))[::2]
    with pytest.raises(InputError, match="cannot name an array"):
        part.rows("../rows", "f", (None,))


WRITER = """
import sys, numpy as np
from corporeal.formats.zarr_store import ZarrStore
store = ZarrStore.create(sys.argv[1], "corporeal-test", {"seed": 1}, ("parts",))
print("ready", flush=True)
for number in range(40):
    if not store.has("parts", f"p{number}"):
        with store.writing("parts", f"p{number}") as part:
            append = part.stream("rows", (8, 1000, 3), np.float32, 2)
            for row in range(8):
                append(np.full((1, 1000, 3), 10 * number + row, np.float32))
store.finish()
"""


def test_a_kill_at_any_moment_leaves_whole_parts_only(tmp_path: Path) -> None:
    """Kill at random moments, check what lies there, and go on; then nothing is lost or double."""
    path, random = tmp_path / "k.zarr", np.random.default_rng(2)
    command = [sys.executable, "-c", WRITER, str(path)]
    seen: set[str] = set()
    for _ in range(5):
        writer = subprocess.Popen(command, stdout=subprocess.PIPE)
        assert writer.stdout is not None
        writer.stdout.readline()
        time.sleep(float(random.uniform(0, 0.1)))
        os.kill(writer.pid, signal.SIGKILL)
        writer.wait()
        writer.stdout.close()
        seen |= _check_parts(ZarrStore.open(path, KIND), seen)
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
    store = ZarrStore.open(path, KIND)
    store.require_finished()
    assert _check_parts(store, seen) == {f"p{n}" for n in range(40)}
    left = [p.name for p in (store.path / "parts").iterdir() if p.name.startswith(".")]
    assert left == []


def _check_parts(store: ZarrStore, before: set[str]) -> set[str]:
    """Every part that can be seen is whole, and those seen before are still there."""
    names = set(store.parts("parts"))
    assert before <= names
    for name in names:
        rows = store.part("parts", name).array("rows", "f", (8, 1000, 3))
        expected = 10 * int(name[1:]) + np.arange(8)
        np.testing.assert_array_equal(rows, np.broadcast_to(expected[:, None, None], rows.shape))
    return names
