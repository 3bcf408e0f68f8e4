"""PC2: what is written comes back, and damaged files are refused by name."""

import struct
from pathlib import Path

import numpy as np
import pytest

from corporeal.errors import FormatError, InputError
from corporeal.formats.pc2 import read_pc2, write_pc2

VERTICES = np.random.default_rng(0).normal(size=(5, 7, 3)).astype(np.float32)


@pytest.mark.parametrize("z_up", [False, True])
def test_the_table_is_true(tmp_path: Path, z_up: bool):
    """float32 positions survive exactly: a turn of the axes only swaps and negates."""
    write_pc2(tmp_path / "a.pc2", VERTICES, start_frame=3.0, z_up=z_up)
    back = read_pc2(tmp_path / "a.pc2", z_up=z_up)
    np.testing.assert_array_equal(back.vertices, VERTICES)
    assert (back.start_frame, back.frames_a_sample) == (3.0, 1.0)


def test_the_layout_is_the_published_one(tmp_path: Path):
    """`POINTCACHE2\\0`, version, points, start, rate, samples, then float32 triples."""
    write_pc2(tmp_path / "a.pc2", VERTICES.astype(np.float64), z_up=True)
    data = (tmp_path / "a.pc2").read_bytes()
    assert struct.unpack_from("<12siiffi", data) == (b"POINTCACHE2\0", 1, 7, 0.0, 1.0, 5)
    first = np.frombuffer(data, "<f4", 3, 32)
    x, y, z = VERTICES[0, 0]
    np.testing.assert_array_equal(first, [x, -z, y])
    assert len(data) == 32 + VERTICES.nbytes


@pytest.mark.parametrize(
    ("damage", "words"),
    [
        (lambda data: b"", "does not start as a PC2 file"),
        (lambda data: b"\0" * 200, "does not start as a PC2 file"),
        (lambda data: data[:-1], "truncated or damaged"),
        (lambda data: data + b"0", "truncated or damaged"),
        (lambda data: data[:12] + b"\2" + data[13:], "version 2"),
        (lambda data: data[:16] + b"\xff\xff\xff\xff" + data[20:], "-1 vertices"),
        (lambda data: data[:28] + b"\xff\xff\xff\x7f" + data[32:], "truncated"),
        (lambda data: data[:32] + struct.pack("<f", np.nan) + data[36:], "not finite"),
    ],
)
def test_damaged_files_are_refused(tmp_path: Path, damage, words: str):
    path = tmp_path / "a.pc2"
    write_pc2(path, VERTICES)
    path.write_bytes(damage(path.read_bytes()))
    with pytest.raises(FormatError, match=words):
        read_pc2(path)


def test_what_cannot_be_written_or_found_is_said(tmp_path: Path):
    with pytest.raises(InputError, match="not finite"):
        write_pc2(tmp_path / "a.pc2", np.full((1, 2, 3), np.nan))
    with pytest.raises(InputError, match="no file"):
        read_pc2(tmp_path / "none.pc2")
    assert list(tmp_path.iterdir()) == []
