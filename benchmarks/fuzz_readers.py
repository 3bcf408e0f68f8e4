"""A fuzz campaign over every reader of foreign files: 5 s and 1 GB a mutant, or it is a failure.

    python benchmarks/fuzz_readers.py [--mutants 100000] [--out RESULTS.json]

Mutants of small whole files (`tests/mutants.py`) are read in processes whose address space is what
they have after importing and a gigabyte more. A mutant fails that ends in anything but a
result or a named error that says the file's name, takes more than 5 s of processor time, or kills
its process. What the package reads in a process of its own (C3D, USD) is read in a fork here, with
the same function and limits: imports would be most of the time; every 100th mutant takes the whole
way. The campaign is resumable: the result file is its state, every reader goes
on where it stopped.
"""

import argparse
import json
import os
import platform
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory, TemporaryFile
from typing import Any

RESULTS = Path(__file__).parent / "results" / "fuzz_readers.json"
TESTS = Path(__file__).parents[1] / "tests"
SECONDS, BYTES = 5.0, 10**9
BATCH = 2000

Reader = Callable[[Path], object]
Writer = Callable[[Path], None]


def readers() -> dict[str, tuple[str, Reader, Writer]]:
    """Name → suffix, reader, and writer of a small whole file."""
    sys.path.insert(0, str(TESTS))
    import numpy as np

    from corporeal.formats.bvh import read_bvh
    from corporeal.formats.bvh_write import write_bvh
    from corporeal.formats.gltf import write_glb_character
    from corporeal.formats.gltf_read import read_glb_character
    from corporeal.formats.hdf5 import read_dfaust
    from corporeal.formats.npz import read_npy
    from corporeal.formats.png import read_png, write_png
    from corporeal.formats.smpl import read_smpl, write_smpl
    from corporeal.motions.retarget.name_maps import read_name_map
    from corporeal.physics.fast_projective_skinning.environment_file import read_environment
    from corporeal.pipelines.people_table import read_persons
    from corporeal.runtime.manifest import read_manifest

    small, soft_character = import_module("test_reader_fuzz"), import_module("takes").soft_character
    suffixes = {"stl text": ".stl", "ply text": ".ply", "json skeleton": ".json"}
    table: dict[str, tuple[str, Reader, Writer]] = {}
    for name, (read, write) in small.READERS.items():
        kind = "npz" if name.startswith("native") else name.split()[0]
        table[name] = (suffixes.get(name, f".{kind}"), read, write)
    motion = small.small_motion(small.small_template())
    model = import_module("small_smpl").model()
    pixels = np.random.default_rng(0).integers(0, 255, (16, 16, 3)).astype(np.uint8)
    scene = {
        "colliders": [
            {"shape": "box", "size": [1, 2, 3], "position": [0, 1, 0]},
            {"shape": "sphere", "radius": 0.5, "track": [{"time": 0}, {"time": 1}]},
        ],
        "wind": {"velocity": [1, 0, 0]},
    }
    manifest = {"corporeal": "0", "verb": "body", "config": {}, "inputs": [], "outputs": []}
    joints = {
        "joints": {"pelvis": "Hips"},
        "spine": ["Spine"],
        "reference_deg": {"Hips": [1, 2, 3]},
    }

    def frames(path: Path) -> None:
        import h5py

        with h5py.File(path, "w") as file:
            file["faces"] = np.array([[0, 1, 2]], np.uint32)
            file["50004_jumps"] = np.zeros((3, 3, 4), np.float32)

    def read_frames(path: Path) -> object:
        found = read_dfaust(path)
        return [np.asarray(take.vertices[0:1]) for take in found.takes]

    def text(content: Any) -> Writer:
        words = content if isinstance(content, str) else json.dumps(content)

        def write(path: Path) -> None:
            path.write_text(words)

        return write

    def packed(path: Path) -> None:
        write_glb_character(path, soft_character(frames=5, rank=2), packing="meshopt")

    return (
        table
        | _rigs_and_models(soft_character, import_module("small_body"))
        | {
            "bvh": (".bvh", read_bvh, lambda path: write_bvh(path, motion)),
            "smpl npz": (".npz", read_smpl, lambda path: write_smpl(path, model)),
            "smpl pkl": (".pkl", read_smpl, lambda path: write_smpl(path, model)),
            "hdf5": (".hdf5", read_frames, frames),
            "glb meshopt": (".glb", read_glb_character, packed),
            "png": (".png", read_png, lambda path: write_png(path, pixels)),
            "map": (".npy", read_npy, lambda path: np.save(path, np.linspace(0, 1, 50))),
            "name map": (".json", read_name_map, text(joints)),
            "scene": (".json", read_environment, text(scene)),
            "manifest": (".json", read_manifest, text(manifest)),
            "people": (
                ".csv",
                read_persons,
                text("name,gender,age,stature,mass\nanna,female,30,1.7,60\nben,male,41,1.8,80\n"),
            ),
        }
    )


def _rigs_and_models(character: Callable[..., Any], small: Any) -> dict[str, Any]:
    """Rigs of other programs, markers, scans, models with dynamics."""
    import numpy as np

    from corporeal.formats.c3d import MarkerClip, read_c3d, write_c3d
    from corporeal.formats.dmpl import read_dmpl, write_dmpl
    from corporeal.formats.fbx import write_fbx
    from corporeal.formats.fbx_read import read_fbx_mesh, read_fbx_motion
    from corporeal.formats.glb_motion import read_glb_motion
    from corporeal.formats.gltf import write_glb_character
    from corporeal.formats.raw_scans import read_landmarks, read_raw_scan
    from corporeal.formats.usd import write_usd
    from corporeal.formats.usd_read import read_usd_mesh, read_usd_motion

    models, template = import_module("dynamics_models"), small.small_template()

    def moving() -> Any:
        return character(frames=5, rank=2)

    def marked(path: Path) -> None:
        places = np.random.default_rng(0).normal(size=(6, 3, 3))
        write_c3d(path, MarkerClip(("a", "b", "c"), places, 100.0))

    def cloud(path: Path) -> None:
        np.savetxt(path, np.random.default_rng(0).normal(size=(40, 3)))

    def landmarks(path: Path) -> None:
        path.write_text(json.dumps({"crown": [0, 1.7, 0], "left heel": [0.1, 0, 0]}))

    def swinging(path: Path) -> None:
        write_dmpl(path, models.small_dmpl(template))

    return {
        "fbx motion": (
            ".fbx",
            lambda path: read_fbx_motion(path, "m"),
            lambda path: write_fbx(path, moving()),
        ),
        "fbx mesh": (".fbx", read_fbx_mesh, lambda path: write_fbx(path, moving())),
        "usd motion": (
            ".usdc",
            lambda path: read_usd_motion(path, "m"),
            lambda path: write_usd(path, moving()),
        ),
        "usd mesh text": (".usda", read_usd_mesh, lambda path: write_usd(path, moving())),
        "glb motion": (
            ".glb",
            lambda path: read_glb_motion(path, "m"),
            lambda path: write_glb_character(path, moving()),
        ),
        "c3d": (".c3d", read_c3d, marked),
        "scan xyz": (".xyz", read_raw_scan, cloud),
        "landmarks": (".json", read_landmarks, landmarks),
        "dmpl": (".npz", read_dmpl, swinging),
    }


def work(name: str, first: int, count: int, folder: Path) -> None:
    """Read mutants `first` … in this process, a line of JSON after each that fails, and a sum."""
    suffix, read, write = readers()[name]
    from corporeal.errors import CorporealError

    whole, damaged = folder / f"whole{suffix}", folder / f"damaged{suffix}"
    write(whole)
    read(whole)
    content = whole.read_bytes()
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + BYTES, resource.RLIM_INFINITY))
    signal.signal(signal.SIGVTALRM, _late)
    from corporeal.formats import apart

    by_command = subprocess.run
    refused, longest = 0, 0.0
    for number, mutant in enumerate(import_module("mutants").mutants(content, count, seed=first)):
        (folder / "last").write_text(str(first + number))
        damaged.write_bytes(mutant)
        why = ""
        signal.setitimer(signal.ITIMER_VIRTUAL, 2 * SECONDS)
        apart.subprocess.run = by_command if number % 100 == 0 else by_fork
        start = _processor_time()
        try:
            read(damaged)
        except CorporealError as error:
            refused += 1
            why = "" if str(damaged) in str(error) else f"nameless: {error}"[:200]
        except BaseException as error:  # noqa: BLE001 - whatever it is, it is a finding
            why = f"unnamed: {error!r}"[:200]
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)
        seconds = _processor_time() - start
        longest = max(longest, seconds)
        if seconds > SECONDS:
            why = f"{seconds:.1f} s"
        if why:
            print(json.dumps({"failure": {"mutant": [first, number], "why": why}}), flush=True)
    print(json.dumps({"refused": refused, "longest_s": round(longest, 3)}), flush=True)


def by_fork(command: list[str], timeout: float, **_: Any) -> subprocess.CompletedProcess[bytes]:
    """What `apart` asks for, in a fork of this process: the same status, output and errors."""
    from corporeal.formats import apart

    reader, path, memory, seconds = command[4:]
    import_module(reader.partition(":")[0])
    with TemporaryFile() as out, TemporaryFile() as err:
        child = os.fork()
        if child == 0:
            os.dup2(out.fileno(), 1)
            os.dup2(err.fileno(), 2)
            signal.setitimer(signal.ITIMER_VIRTUAL, 0)
            status = 1
            try:
                status = apart.main(reader, path, int(memory), float(seconds))
            except BaseException as error:  # noqa: BLE001 - as the interpreter would say it
                os.write(2, f"{type(error).__name__}: {error}".encode("utf-8", "replace"))
            os._exit(status)
        end = time.monotonic() + timeout
        while (ended := os.waitpid(child, os.WNOHANG)) == (0, 0):
            if time.monotonic() > end:
                os.kill(child, signal.SIGKILL)
            time.sleep(0.001)
        out.seek(0)
        err.seek(0)
        status = os.waitstatus_to_exitcode(ended[1])
        return subprocess.CompletedProcess(command, status, out.read(), err.read())


def _processor_time() -> float:
    """Of this process and of all that it has waited for."""
    used = os.times()
    return used.user + used.system + used.children_user + used.children_system


def _late(*_: object) -> None:
    raise TimeoutError("still at it")


def campaign(total: int, out: Path, only: list[str]) -> dict[str, Any]:
    """Go on until every reader has had its share."""
    state: dict[str, Any] = json.loads(out.read_text()) if out.is_file() else {"readers": {}}
    names = only or list(readers())
    share = -(-total // len(names) // BATCH) * BATCH
    while True:
        open_names = [n for n in names if state["readers"].get(n, {}).get("mutants", 0) < share]
        if not open_names:
            return state
        name = min(open_names, key=lambda n: state["readers"].get(n, {}).get("mutants", 0))
        row = state["readers"].setdefault(
            name, {"mutants": 0, "refused": 0, "longest_s": 0.0, "failures": []}
        )
        with TemporaryDirectory() as folder:
            first, read = row["mutants"], BATCH
            command = [sys.executable, __file__, "--work", name, str(first), folder]
            done = subprocess.run(command, capture_output=True, text=True, env=_single())
            for line in done.stdout.splitlines():
                said = json.loads(line)
                if "failure" in said:
                    row["failures"].append(said["failure"])
                else:
                    row["refused"] += said["refused"]
                    row["longest_s"] = max(row["longest_s"], said["longest_s"])
            if done.returncode:
                last = Path(folder, "last")
                if not last.is_file():
                    raise SystemExit(f"{name}: the whole file is not read: {done.stderr[-300:]}")
                read = int(last.read_text()) + 1 - first  # the next batch begins behind it
                why = f"ended with {done.returncode}: {done.stderr[-300:]}"
                row["failures"].append({"mutant": [first, read - 1], "why": why})
        row["mutants"] += read
        mutants = sum(r["mutants"] for r in state["readers"].values())
        state |= {
            "command": "python benchmarks/fuzz_readers.py",
            "rule": f"{SECONDS:g} s of processor time, {BYTES} bytes of address space, named error",
            "mutants": mutants,
            "failures": sum(len(r["failures"]) for r in state["readers"].values()),
            "machine": platform.platform(),
            "python": platform.python_version(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
        }
        out.parent.mkdir(parents=True, exist_ok=True)
        out.write_text(json.dumps(state, indent=1) + "\n")
        print(f"{mutants} mutants, {state['failures']} failures ({name})", flush=True)


def _single() -> dict[str, str]:
    """One thread each: a thread's stack counts as address space."""
    names = ("OMP", "OPENBLAS", "MKL", "NUMBA")
    return {**os.environ, **{f"{n}_NUM_THREADS": "1" for n in names}, "MALLOC_ARENA_MAX": "1"}


def main() -> None:
    """Run the campaign, or one batch of it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--mutants", type=int, default=100_000)
    parser.add_argument("--out", type=Path, default=RESULTS)
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--work", nargs=3, metavar=("READER", "FIRST", "FOLDER"))
    options = parser.parse_args()
    if options.work:
        work(options.work[0], int(options.work[1]), BATCH, Path(options.work[2]))
        return
    state = campaign(options.mutants, options.out, options.only)
    print(f"{state['mutants']} mutants, {state['failures']} failures")


if __name__ == "__main__":
    main()
