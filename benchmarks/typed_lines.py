"""Lines as users type them, right and wrong, over files written for them: what each one says.

    python benchmarks/typed_lines.py [--only WORD …] [--out benchmarks/results/users.json]

Motions are in the conventions of their producers (`tests/producers`), hostile files are those of
`tests/hostile_files.py` and some more. Every line is a process of its own in one folder; kept are
its status, processor seconds and what it said. A line that ends in a traceback, by a signal or
after more than 120 s is a failure, and so is one whose status is not the expected one. The result
file is the state: with --only, the other lines stay as they are.
"""

import argparse
import json
import os
import platform
import resource
import shlex
import subprocess
import sys
import time
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[1]
RESULTS = Path(__file__).parent / "results" / "users.json"
LONGEST_S = 120.0
DONE, REFUSED = 0, 2

LINES: list[tuple[str, str, int]] = [
    # 1 motions from anywhere
    ("1", "motion info rokoko.bvh", DONE),
    ("1", "motion info bandai-namco.bvh", DONE),
    ("1", "motion info z-up.bvh", DONE),
    ("1", "animate --motion rokoko.bvh --deformer dqs --out rokoko_out.bvh", DONE),
    ("1", "animate --motion bandai-namco.bvh --deformer dqs --out bandai_out.bvh", DONE),
    ("1", "animate --motion bandai-namco.bvh --unit cm --deformer dqs --out cm.bvh", DONE),
    ("1", "animate --motion z-up.bvh --deformer dqs --out zup_out.bvh", DONE),
    ("1", "animate --motion crawl.bvh --deformer dqs --out crawl_out.bvh", DONE),
    ("1", "animate --motion lying.bvh --deformer dqs --out lying_out.bvh", REFUSED),
    ("1", "animate --motion cartwheel.bvh --deformer dqs --out cartwheel_out.bvh", DONE),
    # 2 FBX, USD and GLB in
    ("2", "animate --motion hips --deformer lbs --fps 10 --duration 2 --out person.fbx", DONE),
    ("2", "animate --motion hips --deformer lbs --fps 10 --duration 2 --out person.usdc", DONE),
    ("2", "animate --motion hips --deformer lbs --fps 10 --duration 2 --out person.glb", DONE),
    ("2", "motion info person.fbx", DONE),
    ("2", "motion info person.usdc", DONE),
    ("2", "motion info person.glb", DONE),
    ("2", "animate --motion person.fbx --deformer dqs --out from_fbx.bvh", DONE),
    ("2", "convert person.fbx --out person_fbx.obj", DONE),
    ("2", "convert person.usdc --out person_usd.obj", DONE),
    ("2", "animate --mesh person.glb --motion person.glb --deformer lbs --out third.glb", DONE),
    # 3 flags
    (
        "3",
        "animate --motion rokoko.bvh --deformer dqs --fps 24 --start 0.5 --end 1.5 --quiet"
        " --out part.bvh",
        DONE,
    ),
    ("3", "animate --motion rokoko.bvh --deformer dqs --duration 1 --out second.bvh", DONE),
    ("3", "animate --motion rokoko.bvh --deformer dqs --seed 3 --out seed.bvh", REFUSED),
    ("3", "animate --motion clips --deformer dqs --out {motion}_batch.bvh", DONE),
    ("3", "animate --motion 'clips/*.bvh' --deformer dqs --out one.bvh", REFUSED),
    ("3", "animate --motion rokoko.bvh --deformer dqs --start 0 --end 0.2 --out a.gif", DONE),
    ("3", "convert rokoko.bvh --out again.bvh", DONE),
    (
        "3",
        "animate --motion hips --deformer dqs --fps 10 --duration 2 --morphs 8 --out eight.glb",
        DONE,
    ),
    (
        "3",
        "animate --motion hips --deformer dqs --fps 10 --duration 2 --error-mm 2 --out two.glb",
        DONE,
    ),
    ("3", "animate --motion hips --deformer dqs --morphs -4 --out a.glb", REFUSED),
    ("3", "animate --help", DONE),
    ("3", "doctor", DONE),
    # 4 light characters
    (
        "4",
        "animate --motion hips --deformer dqs --fps 10 --duration 2 --lod 2k --compress quantized"
        " --out light.glb",
        DONE,
    ),
    (
        "4",
        "animate --motion hips --deformer dqs --fps 10 --duration 2 --compress meshopt"
        " --out packed.glb",
        DONE,
    ),
    # 5 readers and command lines
    ("5", "convert memo.pkl --out a.npz", REFUSED),
    ("5", "animate --model memo.pkl --motion hips --out a.bvh", REFUSED),
    ("5", "animate --body bomb.npz --motion hips --deformer dqs --out a.bvh", REFUSED),
    ("5", "animate --body zeros.npz --motion hips --deformer dqs --out a.bvh", REFUSED),
    ("5", "animate --body texts.npz --motion hips --deformer dqs --out a.bvh", REFUSED),
    ("5", "animate --body beyond_unicode.npz --motion hips --deformer dqs --out a.bvh", REFUSED),
    ("5", "animate --body lzma.npz --motion hips --deformer dqs --out a.bvh", REFUSED),
    ("5", "convert rows.ply --out a.obj", REFUSED),
    ("5", "convert float_length.ply --out a.obj", REFUSED),
    ("5", "convert float_list.ply --out a.obj", REFUSED),
    ("5", "convert chain.glb --out a.obj", DONE),
    ("5", "convert shared.glb --out a.obj", REFUSED),
    ("5", "convert huge.obj --out a.ply", REFUSED),
    ("5", "animate --motion pipe.bvh --deformer dqs --out a.bvh", REFUSED),
    ("5", "animate --motion device.bvh --deformer dqs --out a.bvh", REFUSED),
    ("5", "body --from device.csv --out {name}.npz", REFUSED),
    ("5", "body --from /dev/zero --out {name}.npz", REFUSED),
    ("5", "body --config /dev/zero --out a.npz", REFUSED),
    ("5", "animate --config pipe.bvh", REFUSED),
    ("5", "dataset info frames.hdf5", REFUSED),
    ("5", "animate --motion hips --deformer projective --stiffness-map empty.npy --out a.bvh", 2),
    ("5", "animate --motion hips --deformer projective --stiffness-map digits.npy --out a.bvh", 2),
    (
        "5",
        "animate --motion rokoko.bvh --name-map digits.json --deformer dqs --out a.bvh",
        REFUSED,
    ),
    ("5", "body --config manifest.json --out a.npz", REFUSED),
    ("5", "body --config nothing.json --out a.npz", REFUSED),
    ("5", "body --config mistyped.json --out a.npz", REFUSED),
    ("5", "animate --motion hips --deformer dqs --seed -1 --out a.bvh", REFUSED),
    ("5", "body --from people.csv --out {name}.npz --scheduler tls://127.0.0.1:9", 7),
    ("5", "body --from people.csv --out {name}.npz --scheduler ucx://127.0.0.1:9", 7),
    ("5", "body --from people.csv --out {name}.npz --scheduler tcp://127.0.0.1:9", 7),
    ("5", "animate --motion loop.bvh --deformer dqs --out a.bvh", REFUSED),
    ("5", "convert LONG.obj --out a.ply", REFUSED),
    ("5", "body --gender male --out NOTTEXT.npz", DONE),
    ("5", "convert NOTTEXT.npz --out NOTTEXT.obj", DONE),
    ("5", "convert bom.obj --out leftover.ply", DONE),
    # 6 silently accepted
    ("6", "convert vt.obj --out a.ply", REFUSED),
    ("6", "convert far.obj --out a.ply", REFUSED),
    ("6", "convert half.off --out a.ply", REFUSED),
    ("6", "body --from twice.csv --out {name}.npz", REFUSED),
    ("6", "convert bom.obj --out bom.ply", DONE),
    ("6", "convert latin.off --out latin.ply", DONE),
]
"""Item of the list of complaints, what is typed behind `corporeal`, and the expected status."""


def write_files(folder: Path) -> None:
    """Whatever the lines read."""
    sys.path.insert(0, str(ROOT / "tests"))
    hostile, producers = import_module("hostile_files"), import_module("producers")
    for name in ("rokoko", "bandai-namco", "z-up"):
        producers.write(producers.walk(producers.RIGS[name]), folder / f"{name}.bvh")
    rig = producers.RIGS["mixamo"]
    producers.write(producers.crawl(rig), folder / "crawl.bvh")
    producers.write(producers.cartwheel(rig), folder / "cartwheel.bvh")
    # the same from a rig whose rest pose stands in no way: nothing tells where it is upright
    producers.write(producers.crawl(producers.RIGS["rokoko"]), folder / "lying.bvh")
    clips = folder / "clips"
    clips.mkdir()
    for name in ("rokoko", "z-up"):
        (clips / f"{name}.bvh").write_bytes((folder / f"{name}.bvh").read_bytes())
    made = {
        "memo.pkl": hostile.PICKLES["a memo of gigabytes"],
        "zeros.npz": hostile.ARCHIVES["two gigabytes of zeros"],
        "texts.npz": hostile.ARCHIVES["texts of no width"],
        "beyond_unicode.npz": hostile.ARCHIVES["text beyond Unicode"],
        "lzma.npz": hostile.ARCHIVES["damaged LZMA"],
        "rows.ply": hostile.MESHES["ply rows of nothing"][1],
        "float_length.ply": hostile.MESHES["ply endless list length"][1],
        "float_list.ply": hostile.MESHES["ply list of floats"][1],
        "chain.glb": hostile.MESHES["glb chained nodes"][1],
        "shared.glb": hostile.MESHES["glb shared surface"][1],
        "huge.obj": hostile.MESHES["obj index past 64 bits"][1],
        "vt.obj": hostile.MESHES["obj texture not a number"][1],
        "far.obj": hostile.MESHES["obj vertices beyond all bounds"][1],
        "half.off": hostile.MESHES["off index 1.5"][1],
        "empty.npy": hostile.MAPS["nothing"],
    }
    for name, make in made.items():
        (folder / name).write_bytes(make())
    digits = json.dumps({"joints": {"pelvis": "Hips"}, "reference_deg": {"Hips": [1, 2, "N"]}})
    (folder / "digits.json").write_text(digits.replace('"N"', "9" * 400))
    np.savez_compressed(folder / "bomb.npz", a=np.zeros(2**24))
    (folder / "digits.npy").write_bytes(hostile.npy("<f8", (int("9" * 400),)))
    _hdf5(folder / "frames.hdf5")
    os.mkfifo(folder / "pipe.bvh")
    for name in ("device.bvh", "device.csv"):
        (folder / name).symlink_to("/dev/zero")
    for first, second in (("loop.bvh", "ring.bvh"), ("ring.bvh", "loop.bvh")):
        (folder / first).symlink_to(second)
    manifest = {"corporeal": "0", "verb": "body", "inputs": [], "outputs": []}
    for name, config in (
        ("manifest", {"stature": 1.7, "unheard": 1}), ("nothing", {}), ("mistyped", {"gender": 3}),
    ):  # fmt: skip
        (folder / f"{name}.json").write_text(json.dumps({**manifest, "config": config}))
    (folder / "people.csv").write_text("name,gender\nanna,female\nben,male\n")
    (folder / "twice.csv").write_text("name,gender,gender\nanna,female,male\n")
    surface = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n"
    (folder / "bom.obj").write_bytes(b"\xef\xbb\xbf# by M\xfcller\n" + surface)
    (folder / "latin.off").write_bytes(b"OFF # M\xfcller\n3 1 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n")
    (folder / ".leftover.ply.elsewhere-²-ab.part.ply").write_text("half")


def _hdf5(path: Path) -> None:
    """A file of frames with a damaged table of contents."""
    import h5py

    with h5py.File(path, "w") as file:
        file["faces"] = np.array([[0, 1, 2]], np.uint32)
        file["50004_jumps"] = np.zeros((3, 3, 4), np.float32)
    content = bytearray(path.read_bytes())
    start = content.index(b"TREE")
    content[start : start + 24] = bytes(24)
    path.write_bytes(content)


def typed(line: str, folder: Path) -> dict[str, object]:
    """What came of one line."""
    words = [
        word.replace("LONG", "n" * 5000).replace("NOTTEXT", os.fsdecode(b"\xff\xfe"))
        for word in shlex.split(line)
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begun = time.monotonic()
    try:
        done = subprocess.run(
            [sys.executable, "-m", "corporeal.cli.main", *words],
            cwd=folder, capture_output=True, timeout=LONGEST_S, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        status, said = done.returncode, done.stdout + done.stderr
    except subprocess.TimeoutExpired as late:
        status, said = -14, (late.stdout or b"") + (late.stderr or b"")
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    text = said.decode("utf-8", "replace").replace(str(folder), "").replace(str(ROOT), "…")
    seconds = round(time.monotonic() - begun, 1)
    return {"status": status, "cpu_s": round(spent, 2), "seconds": seconds, "said": text[-1500:]}


def _kept(known: dict[str, dict[str, Any]], out: Path) -> dict[str, Any]:
    """What is known of the lines, written down."""
    rows = [known[line] for _, line, _ in LINES if line in known]
    state = {
        "command": "python benchmarks/typed_lines.py",
        "machine": platform.platform(),
        "python": platform.python_version(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "failures": sum(row["failed"] for row in rows),
        "lines": rows,
    }
    out.write_text(json.dumps(state, indent=1, ensure_ascii=False) + "\n")
    return state


def main() -> None:
    """Type all lines, or those that hold a word."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--only", nargs="*", default=[])
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    state = json.loads(options.out.read_text()) if options.out.is_file() else {}
    known = {row["typed"]: row for row in state.get("lines", [])}
    with TemporaryDirectory() as name:
        folder = Path(name)
        write_files(folder)
        for item, line, expected in LINES:
            if options.only and not any(word in line for word in options.only):
                continue
            row = {"item": item, "typed": line, "expected": expected, **typed(line, folder)}
            failed = row["status"] != expected or "Traceback" in str(row["said"])
            print("FAILED" if failed else "ok", row["status"], row["cpu_s"], line, flush=True)
            known[line] = {**row, "failed": failed}
            _kept(known, options.out)
    state = _kept(known, options.out)
    print(f"{len(state['lines'])} lines, {state['failures']} failures")


if __name__ == "__main__":
    main()
