"""A physics take of 4 s as an engine file of every size: bytes, errors, and clients' view of it.

    python benchmarks/light_characters.py [--take TAKE.npz] [--cases plain …] [--pictures FOLDER]

Without --take, the default body runs on the spot for 4 s with projective skinning. Every file is
checked before it is reported: read back, and played by the clients that read it, whose vertices are
compared at three frames with those of the take, and with what the file says (as our own reader
plays it). Load time and the time of a frame are three.js's and Babylon's, drawn as Chromium draws
here. Clients (tests/glb_players.py) that are not installed are left out, and the file says so:
CORPOREAL_NODE_MODULES, CORPOREAL_BPY_PYTHON, `chromium`, `godot3-server`.
"""

import argparse
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import partial
from importlib import import_module
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

RESULTS = Path(__file__).parent / "results" / "light_characters.json"
TESTS = Path(__file__).parents[1] / "tests"
_CASES = {
    "plain": {},
    "quantized": {"compress": "quantized"},
    "meshopt": {"compress": "meshopt"},
    "plain 6k": {"lod": "6k"},
    "plain 2k": {"lod": "2k"},
    "meshopt 2k": {"lod": "2k", "compress": "meshopt"},
}
DRESSED = "dressed "
CASES = {prefix + name: case for prefix in ("", DRESSED) for name, case in _CASES.items()}
"""The body and its eyes in one colour a vertex, and dressed as it comes: with textures, hair and
clothes it has another shape than the take by up to a centimetre, and is compared with its file."""
SKIN = (0.62, 0.40, 0.30)
"""Linear RGB of the body that is not dressed."""
READ_BY = {
    "none": ("three.js", "Babylon.js", "Blender", "Godot 3"),
    "quantized": ("three.js", "Babylon.js", "Blender"),
    "meshopt": ("three.js", "Babylon.js"),
}
"""Packing → clients that read it."""
FRAMES = (0, 100, 200)
TIMED_FRAMES = 30


def take_of(path: Path | None) -> Any:
    """The animation to write."""
    if path is not None:
        from corporeal.formats.native import read_animation

        return read_animation(path)
    import corporeal as cp

    return cp.animate(None, "running-on-spot", deformer="projective", duration=4)


def clients(fps: float) -> dict[str, Callable[[Path, Sequence[float]], Any]]:
    """How each installed client plays a file."""
    sys.path.insert(0, str(TESTS))
    players = import_module("glb_players")
    packages = Path(os.environ.get("CORPOREAL_NODE_MODULES", "node_modules"))
    found: dict[str, Callable[[Path, Sequence[float]], Any]] = {}
    timed = {"timed_frames": TIMED_FRAMES, "timeout_s": 600}
    if chromium := shutil.which("chromium"):
        if (packages / "three").is_dir():
            found["three.js"] = partial(players.in_three, chromium, packages, **timed)
        if (packages / "babylonjs").is_dir() and (packages / "babylonjs-loaders").is_dir():
            found["Babylon.js"] = partial(players.in_babylon, chromium, packages, **timed)
    if blender := os.environ.get("CORPOREAL_BPY_PYTHON"):
        found["Blender"] = partial(players.in_blender, blender, fps=fps)
    if godot := shutil.which("godot3-server"):
        found["Godot 3"] = partial(players.in_godot, godot, fps=fps)
    return found


def distances(found: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """Of every vertex at every frame, millimetres: copies at seams follow the surface's own."""
    return 1e3 * np.linalg.norm(found[:, : expected.shape[1]] - expected, axis=-1)


def shown(played: Any, file: np.ndarray, take: np.ndarray | None) -> dict[str, float]:
    """How far a client's skin is from what the file says, and from the take."""
    said = {"from_file_mm": round(float(distances(played.frames, file).max()), 4)}
    if take is not None:
        apart = distances(played.frames, take)
        said |= {
            "from_take_mean_mm": round(float(apart.mean()), 4),
            "from_take_largest_mm": round(float(apart.max()), 3),
            "within_1mm": round(float((apart <= 1).mean()), 5),
        }
    return said | {name: round(ms, 2) for name, ms in played.speed.items()}


def main() -> None:
    """Write, check and report."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--take", type=Path)
    parser.add_argument("--cases", nargs="*", default=list(CASES), choices=list(CASES))
    parser.add_argument("--pictures", type=Path)
    parser.add_argument("--out", type=Path, default=RESULTS)
    options = parser.parse_args()
    from corporeal.formats.gltf_read import read_glb_character
    from corporeal.pipelines.light_character import LightOptions
    from corporeal.pipelines.results import write_engine_character
    from corporeal.skinning.playback import character_vertices

    take = take_of(options.take)
    vertices = np.asarray(take.vertices)[list(FRAMES)]
    skin = np.tile(SKIN, (vertices.shape[1], 1))
    times = [frame / take.motion.fps for frame in FRAMES]
    installed = clients(take.motion.fps)
    done = json.loads(options.out.read_text()) if options.out.is_file() else {}
    rows: dict[str, Any] = done.get("files", {})
    for case in options.cases:
        with TemporaryDirectory() as folder:
            glb = Path(folder) / f"{case.replace(' ', '_')}.glb"
            is_dressed = case.startswith(DRESSED)
            report = write_engine_character(
                glb, take, LightOptions(**CASES[case]), colours=None if is_dressed else skin
            )
            character = read_glb_character(glb)
            if character.frame_count != take.motion.frame_count:
                raise SystemExit(f"{case}: {character.frame_count} frames came back")
            report |= {"vertices": character.template.mesh.vertex_count}
            file = character_vertices(character, np.array(FRAMES))
            is_comparable = not is_dressed and "lod" not in CASES[case]
            report["clients"] = {}
            for name in READ_BY[report["packing"]]:
                if name not in installed:
                    report["clients"][name] = "not installed"
                    continue
                played = installed[name](glb, times)
                report["clients"][name] = shown(played, file, vertices if is_comparable else None)
                if options.pictures and played.picture:
                    word = f"{glb.stem}_{name.partition('.')[0].replace(' ', '').lower()}.png"
                    (options.pictures / word).write_bytes(played.picture)
            rows[case] = report
            print(case, json.dumps(report, indent=1), flush=True)
        content = {
            "command": "python benchmarks/light_characters.py",
            "take": f"{take.motion.name}, {take.deformer}, {take.motion.frame_count} frames at "
            f"{take.motion.fps:g} fps",
            "commit": subprocess.run(
                ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True
            ).stdout.strip(),
            "machine": f"{platform.platform()}, {os.cpu_count()} cores, load "
            f"{os.getloadavg()[0]:.1f}; Chromium and Godot draw without a graphics card",
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "files": rows,
        }
        options.out.write_text(json.dumps(content, indent=1) + "\n")


if __name__ == "__main__":
    main()
