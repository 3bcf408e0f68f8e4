"""Readers in a process of their own: however it ends, arrays come or a named error does."""

from pathlib import Path

import apart_readers
import numpy as np
import pytest
from mutants import mutants
from takes import soft_character

from corporeal.errors import FormatError
from corporeal.formats import apart
from corporeal.formats.apart import read_apart
from corporeal.formats.c3d import MarkerClip, read_c3d, write_c3d
from corporeal.formats.usd import write_usd
from corporeal.formats.usd_read import read_usd_motion


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "größe 1.odd"
    path.write_bytes(b"abc")
    return path


def read(path: Path, function: str) -> dict[str, np.ndarray]:
    return read_apart(path, "odd", f"{apart_readers.__name__}:{function}")


def test_what_is_read_comes_back_whatever_the_library_prints(file: Path):
    held = read(file, "chat")
    assert bytes(held["content"]) == b"abc"
    assert str(held["name"]) == "µ"


@pytest.mark.parametrize(
    ("function", "words"),
    [
        ("crash", "crashed its reader \\(SIGSEGV\\)"),
        ("hoard", "Unable to allocate|MemoryError"),
        ("refuse", "odd hält nichts"),
    ],
)
def test_a_reader_that_dies_is_a_named_error(file: Path, function: str, words: str):
    with pytest.raises(FormatError, match=words) as said:
        read(file, function)
    assert str(file) in str(said.value)


@pytest.mark.parametrize(("function", "patience"), [("spin", 1e5), ("sleep", 10.0)])
def test_a_reader_without_an_end_is_ended(
    file: Path, function: str, patience: float, monkeypatch: pytest.MonkeyPatch
):
    """One that works by its processor time, one that waits by the clock."""
    monkeypatch.setattr(apart, "SECONDS", 0.2)
    monkeypatch.setattr(apart, "PATIENCE", patience)
    with pytest.raises(FormatError, match="found no end of it"):
        read(file, function)


def test_the_folder_one_stands_in_is_not_imported_from(
    file: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
):
    """A folder of downloads may hold a `json.py` of its own."""
    (tmp_path / "json.py").write_text("raise SystemExit('imported from here')")
    monkeypatch.chdir(tmp_path)
    assert bytes(read(Path(file.name), "chat")["content"]) == b"abc"


def test_a_file_that_crashes_usd_is_refused(tmp_path: Path):
    """The 18th of these mutants ended the program with a segmentation fault (usd-core 26)."""
    pytest.importorskip("pxr", reason="needs the extra 'usd' (usd-core)")
    path = tmp_path / "a.usdc"
    write_usd(path, soft_character(frames=5, rank=2))
    path.write_bytes(list(mutants(path.read_bytes(), 18, seed=3000))[-1])
    with pytest.raises(FormatError, match="cannot be read as USD"):
        read_usd_motion(path)


def test_an_empty_usd_file_is_called_empty(tmp_path: Path):
    """USD's own words were about a call of the system."""
    pytest.importorskip("pxr", reason="needs the extra 'usd' (usd-core)")
    (tmp_path / "a.usdc").write_bytes(b"")
    with pytest.raises(FormatError, match=r"a\.usdc is empty"):
        read_usd_motion(tmp_path / "a.usdc")


def test_c3d_round_trip(tmp_path: Path):
    """Labels without their subject, places to a thousandth of a millimetre, gaps; cut files."""
    pytest.importorskip("ezc3d")
    places = np.random.default_rng(0).random((5, 3, 3))
    places[2, 1] = np.nan
    path = tmp_path / "a.c3d"
    write_c3d(path, MarkerClip(("Anna:C7", "LASI", "RASI"), places, 120.0))
    clip = read_c3d(path)
    assert clip.labels == ("C7", "LASI", "RASI")
    assert clip.fps == 120.0
    np.testing.assert_allclose(clip.places, places, atol=1e-6)
    (tmp_path / "b.c3d").write_bytes(path.read_bytes()[:600])
    with pytest.raises(FormatError):
        read_c3d(tmp_path / "b.c3d")
    (tmp_path / "c.c3d").write_bytes(b"nothing")
    with pytest.raises(FormatError, match="no C3D"):
        read_c3d(tmp_path / "c.c3d")


def test_a_c3d_file_without_an_end_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    """Cut within its table of parameters, a file sent the package's reader round for ever."""
    pytest.importorskip("ezc3d")
    monkeypatch.setattr(apart, "SECONDS", 0.5)
    places = np.random.default_rng(0).random((6, 3, 3))
    write_c3d(tmp_path / "a.c3d", MarkerClip(("a", "b", "c"), places, 100.0))
    (tmp_path / "b.c3d").write_bytes((tmp_path / "a.c3d").read_bytes()[:757])
    with pytest.raises(FormatError, match="found no end of it"):
        read_c3d(tmp_path / "b.c3d")
