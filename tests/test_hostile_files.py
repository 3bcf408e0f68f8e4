"""A malformed file costs at most 5 s and 1 GB above the import baseline, and ends in a named error.

Each file here is made by hand, from what readers once took minutes, gigabytes or a traceback for.
All are read in one process whose address space is limited to what it has after importing and a
gigabyte more; the seconds are processor time.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import hostile_files
import pytest

from corporeal.errors import FormatError, InputError
from corporeal.formats.npz import open_npz
from corporeal.formats.pickled import read_pickled_arrays
from corporeal.formats.registry import read_mesh
from corporeal.pipelines.people_table import read_people_table
from corporeal.runtime.input_files import open_input, read_input

SECONDS = 5.0
BYTES = 10**9

READ_ALL = """
import json, resource, signal, sys, time
from pathlib import Path
sys.path.insert(0, {tests!r})
import hostile_files
import numpy as np
from corporeal.errors import CorporealError
from corporeal.formats.registry import read_mesh
from corporeal.formats.native import read_body
from corporeal.formats.smpl import read_smpl
from corporeal.pipelines.deformer_options import read_numbers
from corporeal.formats.bvh import read_bvh
from corporeal.formats.fbx_tree import read_fbx_tree
from corporeal.pipelines.people_table import read_persons
import scipy.sparse, PIL.Image

folder = Path({folder!r})
cases = [("mesh " + n, "a" + s, m, read_mesh) for n, (s, m) in hostile_files.MESHES.items()]
cases += [("npz " + n, "a.npz", m, read_body) for n, m in hostile_files.ARCHIVES.items()]
cases += [("pkl " + n, "a.pkl", m, read_smpl) for n, m in hostile_files.PICKLES.items()]
cases += [("map " + n, "a.npy", m, read_numbers) for n, m in hostile_files.MAPS.items()]
cases += [("rig " + n, "a.fbx", m, read_fbx_tree) for n, m in hostile_files.RIGS.items()]
cases += [("table " + n, "a.csv", m, read_persons) for n, m in hostile_files.TABLES.items()]
def late(*_):
    raise TimeoutError("still at it")

signal.signal(signal.SIGALRM, late)
said = {{}}
for name, file, maker, read in cases:
    place = hostile_files.write(folder / file, maker)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + {room}, resource.RLIM_INFINITY))
    start = time.process_time()
    signal.alarm(30)
    try:
        result = read(place)
        words = "read"
    except CorporealError as error:
        words = "named" if file in str(error) else "nameless: " + str(error)
    except BaseException as error:
        words = "unnamed " + repr(error)[:300]
    signal.alarm(0)
    seconds = time.process_time() - start
    resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    result = error = None
    said[name] = [words, round(seconds, 2)]
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def said(tmp_path_factory: pytest.TempPathFactory) -> dict[str, tuple[str, float]]:
    folder = tmp_path_factory.mktemp("hostile")
    script = READ_ALL.format(tests=str(Path(__file__).parent), folder=str(folder), room=BYTES)
    # one thread each: a thread's stack and arena count as address space
    single = {f"{name}_NUM_THREADS": "1" for name in ("OMP", "OPENBLAS", "MKL")}
    made = subprocess.run(
        [sys.executable, "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, **single, "MALLOC_ARENA_MAX": "1"},
    )
    assert made.returncode == 0, made.stderr[-2000:]
    return json.loads(made.stdout)


LEGAL = ("mesh glb chained nodes",)
"""Costly, but nothing is wrong with them: they are read, in time."""
NAMES = [
    *(f"mesh {name}" for name in hostile_files.MESHES),
    *(f"npz {name}" for name in hostile_files.ARCHIVES),
    *(f"pkl {name}" for name in hostile_files.PICKLES),
    *(f"map {name}" for name in hostile_files.MAPS),
    *(f"rig {name}" for name in hostile_files.RIGS),
    *(f"table {name}" for name in hostile_files.TABLES),
]


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="needs /proc")
@pytest.mark.parametrize("name", NAMES)
def test_a_hostile_file_is_refused_by_name(name: str, said: dict[str, tuple[str, float]]):
    words, seconds = said[name]
    assert words == ("read" if name in LEGAL else "named")
    assert seconds < SECONDS


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs POSIX")
class TestWhatIsNoFile:
    """Opened without waiting, then asked what it is: pipes, devices, folders, loops."""

    @pytest.mark.parametrize("place", ["/dev/zero", "/dev/null", "/dev/urandom"])
    def test_devices(self, place: str):
        with pytest.raises(InputError, match="it is a device"):
            read_input(place)

    def test_a_pipe_without_a_writer(self, tmp_path: Path):
        os.mkfifo(tmp_path / "pipe.obj")
        with pytest.raises(InputError, match="it is a pipe"), open_input(tmp_path / "pipe.obj"):
            pass

    def test_a_link_to_a_device(self, tmp_path: Path):
        (tmp_path / "zero.npz").symlink_to("/dev/zero")
        with pytest.raises(InputError, match="it is a device"):
            read_input(tmp_path / "zero.npz")

    def test_a_loop_of_links(self, tmp_path: Path):
        (tmp_path / "a").symlink_to(tmp_path / "b")
        (tmp_path / "b").symlink_to(tmp_path / "a")
        with pytest.raises(InputError, match="cannot read"):
            read_input(tmp_path / "a")

    def test_names_that_no_file_has(self, tmp_path: Path):
        with pytest.raises(InputError, match="no file can have that name"):
            read_input("a\0b")
        with pytest.raises(InputError, match=r"cannot read n{100}…n{100}: File name too long"):
            read_input("n" * 5000)

    @pytest.mark.skipif(not Path("/proc/kallsyms").exists(), reason="needs /proc")
    def test_a_file_longer_than_it_says(self, tmp_path: Path):
        """Files under /proc state 0 bytes and have some."""
        with pytest.raises(FormatError, match="more than 10 bytes"):
            read_input("/proc/cpuinfo", at_most=10)


def test_an_archive_of_zeros_is_refused_before_it_is_unpacked(tmp_path: Path):
    """Whatever the caller wants: a stated ratio to the file's own size."""
    path = hostile_files.write(tmp_path / "a.npz", hostile_files.npz_of_zeros)
    with pytest.raises(FormatError, match="made to fill the memory"), open_npz(path):
        pass


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("a memo of gigabytes", "a memo of 1073741823 entries"),
        ("a sparse matrix of gigabytes", "a sparse matrix of 1 by 134217728"),
        ("one text many times", "arrays of more than"),
        ("endless opcodes", "more than 1000000 opcodes"),
    ],
)
def test_pickles_are_refused_for_what_they_ask(name: str, why: str, tmp_path: Path):
    path = hostile_files.write(tmp_path / "a.pkl", hostile_files.PICKLES[name])
    with pytest.raises(FormatError, match=why):
        read_pickled_arrays(path)


@pytest.mark.parametrize("suffix", [".obj", ".off"])
def test_marks_and_notes_of_other_programs_are_read_as_meant(suffix: str, tmp_path: Path):
    """A byte order mark, and a comment in Latin-1."""
    places = b"0 0 0\n1 0 0\n0 1 0\n"
    if suffix == ".obj":
        content = b"# Fl\xe4che\r\n" + places.replace(b"\n", b"\nv ").join([b"v ", b""])[:-2]
        content += b"f 1 2 3 # f\xfcr alle\n"
    else:
        content = b"OFF # Fl\xe4che\n3 1 0\n" + places + b"3 0 1 2\n"
    (tmp_path / f"a{suffix}").write_bytes(b"\xef\xbb\xbf" + content)
    mesh = read_mesh(tmp_path / f"a{suffix}")
    assert mesh.vertex_count == 3
    assert mesh.triangles.tolist() == [[0, 1, 2]]


def test_a_doubled_column_is_refused(tmp_path: Path):
    (tmp_path / "a.csv").write_text("name,age,age\nanna,30,40\n")
    with pytest.raises(FormatError, match="column 'age' 2 times"):
        read_people_table(tmp_path / "a.csv", "{name}.npz", {"age": "age"}, {})
