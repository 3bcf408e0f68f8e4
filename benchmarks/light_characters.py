"""A physics take of 4 s as an engine file of every size: bytes, errors, and three.js's view of it.

    python benchmarks/light_characters.py [--take TAKE.npz] [--out RESULTS.json]

Without --take, the default body runs on the spot for 4 s with projective skinning. Every file is
checked before it is reported: read back, and where chromium and npm's three are installed
(CORPOREAL_NODE_MODULES), played in three.js, whose vertices are compared with those of the take at
three frames; load time and the time of a frame are three.js's, drawn as Chromium draws here.
"""

import argparse
import json
import os
import platform
import shutil
import sys
from datetime import UTC, datetime
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "light_characters.json"
TESTS = Path(__file__).parents[1] / "tests"
CASES = {
    "plain": {},
    "quantized": {"compress": "quantized"},
    "meshopt": {"compress": "meshopt"},
    "plain 6k": {"lod": "6k"},
    "plain 2k": {"lod": "2k"},
    "meshopt 2k": {"lod": "2k", "compress": "meshopt"},
}
FRAMES = (0, 100, 200)


def take_of(path: Path | None) -> Any:
    """The animation to write."""
    if path is not None:
        from corporeal.formats.native import read_animation

        return read_animation(path)
    import corporeal as cp

    return cp.animate(None, "running-on-spot", deformer="projective", duration=4)


def in_three(glb: Path, take: Any, full: bool) -> dict[str, Any]:
    """What three.js shows of a file; nothing where it is not installed."""
    three = Path(os.environ.get("CORPOREAL_NODE_MODULES", "node_modules")) / "three"
    chromium = shutil.which("chromium")
    if chromium is None or not three.is_dir():
        return {}
    sys.path.insert(0, str(TESTS))
    times = ",".join(str(frame / take.motion.fps) for frame in FRAMES)
    results = import_module("browser").run_page(
        chromium,
        TESTS / "clients" / "three.html",
        {"three": three, "character.glb": glb},
        f"times={times}&frames=30",
        timeout_s=600,
    )
    if results["done"] != b"ok":
        raise SystemExit(results["done"].decode())
    said = {f"three_{k}": round(v, 1) for k, v in json.loads(results["speed"]).items()}
    if full:  # the first vertices are the take's own; copies at seams follow
        expected = np.asarray(take.vertices)[list(FRAMES)]
        found = [np.frombuffer(results[f"frame_{i}"], "<f8") for i in range(len(FRAMES))]
        shown = np.stack([f.reshape(-1, 3)[: expected.shape[1]] for f in found])
        apart = 1e3 * np.linalg.norm(shown - expected, axis=-1)
        said |= {
            "three_within_1mm": round(float((apart <= 1).mean()), 5),
            "three_largest_mm": round(float(apart.max()), 3),
        }
    if folder := os.environ.get("CORPOREAL_PICTURES"):
        (Path(folder) / f"{glb.stem}.png").write_bytes(results["picture"])
    return said


def main() -> None:
    """Write, check and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--take", type=Path)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    from corporeal.formats.gltf_read import read_glb_character
    from corporeal.pipelines.light_character import LightOptions
    from corporeal.pipelines.results import write_engine_character

    take = take_of(options.take)
    done = json.loads(options.out.read_text()) if options.out.is_file() else {}
    rows: dict[str, Any] = done.get("files", {})
    for case in options.cases:
        with TemporaryDirectory() as folder:
            glb = Path(folder) / f"{case.replace(' ', '_')}.glb"
            report = write_engine_character(glb, take, LightOptions(**CASES[case]))
            character = read_glb_character(glb)
            if character.frame_count != take.motion.frame_count:
                raise SystemExit(f"{case}: {character.frame_count} frames came back")
            report |= {"vertices": character.template.mesh.vertex_count}
            rows[case] = report | in_three(glb, take, "lod" not in CASES[case])
            print(case, rows[case], flush=True)
        content = {
            "command": "python benchmarks/light_characters.py",
            "take": f"{take.motion.name}, {take.deformer}, {take.motion.frame_count} frames at "
            f"{take.motion.fps:g} fps",
            "machine": platform.platform(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "files": rows,
        }
        options.out.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
