"""Hostile files: thousands of mutants of real ones meet named errors or are read, nothing else."""

import resource
import zipfile
from pathlib import Path

import numpy as np
import public_data
import pytest
from clips import write_authored_clip
from test_amass import saved, smplh_arrays, smplh_skeleton, smplx_arrays

from corporeal.errors import CorporealError
from corporeal.formats.amass import read_amass
from corporeal.formats.bvh import read_bvh

CAPTURE = public_data.cmu_clip("05_06_dance_pirouette_jete")
QUICK, FULL = 500, 10_000
MEMORY_BYTES = 512 * 1024**2
"""No mutant of a file of at most 200 kB may make the process grow by more."""

TOKENS = (
    b"{", b"}", b"ROOT x", b"JOINT x", b"End Site", b"OFFSET 1 2 3", b"OFFSET nan 0 0", b"MOTION",
    b"CHANNELS 3 Xrotation Yrotation Zrotation", b"CHANNELS 1000000", b"CHANNELS -3", b"HIERARCHY",
    b"Frames: 99999999999", b"Frames: -1", b"Frame Time: 0", b"Frame Time: 1e-300", b"1e999",
    b"nan", b"-", b"\0", b"\xff\xfe", b"1_0", "١٢".encode(), b"\n\n", b"\r", b"\t", b"0x10",
)  # fmt: skip


def mutant(content: bytes, generator: np.random.Generator) -> bytes:
    """One to eight changes: bytes flipped, cut out, doubled, moved, or replaced by a keyword."""
    data = bytearray(content)
    for _ in range(generator.integers(1, 9)):
        if not data:
            break
        at = int(generator.integers(len(data)))
        # Half of all changes hit the head of the file, where the structure is.
        at = at % min(len(data), 4000) if generator.random() < 0.5 else at
        size = int(generator.integers(1, 200))
        kind = generator.integers(6)
        if kind == 0:
            data[at] = int(generator.integers(256))
        elif kind == 1:
            del data[at : at + size]
        elif kind == 2:
            data[at:at] = data[at : at + size]
        elif kind == 3:
            token = TOKENS[int(generator.integers(len(TOKENS)))]
            data[at : at + len(token)] = token
        elif kind == 4:
            del data[at:]
        else:
            other = int(generator.integers(len(data)))
            data[at : at + size] = data[other : other + size]
    return bytes(data)


def peak_bytes() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def first_frames(clip: Path) -> bytes:
    """The hierarchy and the first 40 frames of a clip."""
    head, _, rest = clip.read_bytes().partition(b"Frames:")
    lines = rest.split(b"\n")
    return head + b"Frames: 40\n" + lines[1] + b"\n" + b"\n".join(lines[2:42]) + b"\n"


def survive_bvh(tmp_path: Path, clip: Path, count: int, seed: int) -> tuple[int, int]:
    generator = np.random.default_rng(seed)
    content, path = first_frames(clip), tmp_path / "mutant.bvh"
    before, read, refused = peak_bytes(), 0, 0
    for _ in range(count):
        path.write_bytes(mutant(content, generator))
        try:
            read_bvh(path)
            read += 1
        except CorporealError:
            refused += 1
    assert peak_bytes() - before < MEMORY_BYTES
    return read, refused


def survive_amass(tmp_path: Path, count: int, seed: int) -> tuple[int, int]:
    generator = np.random.default_rng(seed)
    contents = [
        saved(tmp_path, smplh_arrays()).read_bytes(),
        saved(tmp_path, smplx_arrays()).read_bytes(),
    ]
    np.savez_compressed(tmp_path / "packed.npz", **smplh_arrays())
    contents.append((tmp_path / "packed.npz").read_bytes())
    path, skeleton = tmp_path / "mutant.npz", smplh_skeleton()
    before, read, refused = peak_bytes(), 0, 0
    for index in range(count):
        path.write_bytes(mutant(contents[index % len(contents)], generator))
        try:
            read_amass(path, skeleton)
            read += 1
        except CorporealError:
            refused += 1
    assert peak_bytes() - before < MEMORY_BYTES
    return read, refused


def test_mutants_of_a_capture(tmp_path: Path):
    """Some mutants stay readable (a digit changed), most do not: both ways are taken."""
    clip = write_authored_clip(tmp_path / "jacks.bvh")
    read, refused = survive_bvh(tmp_path, clip, QUICK, seed=1)
    assert read > 0
    assert refused > QUICK // 4


@pytest.mark.data("cmu-mocap")
def test_mutants_of_a_real_capture(tmp_path: Path):
    """As above, of a file that this package did not write."""
    read, refused = survive_bvh(tmp_path, CAPTURE, QUICK, seed=1)
    assert read > 0
    assert refused > QUICK // 4


def test_mutants_of_an_amass_file(tmp_path: Path):
    read, refused = survive_amass(tmp_path, QUICK, seed=2)
    assert refused > QUICK // 4
    assert read + refused == QUICK


@pytest.mark.slow
@pytest.mark.data("cmu-mocap")
def test_ten_thousand_mutants_of_a_capture(tmp_path: Path):
    read, refused = survive_bvh(tmp_path, CAPTURE, FULL, seed=3)
    assert read + refused == FULL


@pytest.mark.slow
def test_ten_thousand_mutants_of_an_amass_file(tmp_path: Path):
    read, refused = survive_amass(tmp_path, FULL, seed=4)
    assert read + refused == FULL


def test_an_archive_that_unpacks_to_gigabytes_is_refused(tmp_path: Path):
    """The declared size is believed before a byte is unpacked: 64 GB of zeros pack into 64 MB."""
    path = tmp_path / "bomb.npz"
    with (
        zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive,
        archive.open("poses.npy", "w") as f,
    ):
        header = {"descr": "<f8", "fortran_order": False, "shape": (50_000_000, 156)}
        np.lib.format.write_array_header_1_0(f, header)
        for _ in range(16):
            f.write(bytes(1 << 20))
    before = peak_bytes()
    with pytest.raises(CorporealError, match=r"bomb\.npz"):
        read_amass(path, smplh_skeleton())
    assert peak_bytes() - before < 64 * 1024**2
