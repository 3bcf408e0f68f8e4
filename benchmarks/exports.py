"""Baking and writing a full-size take: time, file size, and error after reading back.

    python benchmarks/exports.py [--out benchmarks/results/exports.json]

300 frames of jumping jacks of the default body (13 380 vertices) by dual quaternions, with smooth
travelling waves on the skin as soft tissue, baked to 30 morph targets. Every file is checked before
its time is reported: GLB through the package's reader, PC2 byte by byte, USD and Alembic (where
their extras are installed) through their own libraries. FBX is checked against ufbx where that is
installed. Times are the best of three; on a busy machine the processor's seconds tell more.
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from corporeal.body.animation import Animation
from corporeal.body.character import Character
from corporeal.formats.gltf import write_glb_character
from corporeal.formats.gltf_read import read_glb_character
from corporeal.formats.pc2 import read_pc2, write_pc2
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.pipelines.bake import bake
from corporeal.pipelines.exports import write_cache, write_character
from corporeal.skinning.dual_quaternion import DualQuaternionSkinning
from corporeal.skinning.playback import character_vertices

RESULTS = Path(__file__).parent / "results" / "exports.json"
FRAMES, MORPHS = 300, 30
CHECKED = np.array([0, 150, 299])
TOLERANCE_MM = 0.01
ROUNDS = 3


def take() -> Animation:
    """The default body in motion, with waves up to 2 cm on its skin."""
    model = PhenotypeModel()
    identity = model.prepare()
    motion = make_motion("jumping-jacks", identity, model.template, duration=FRAMES / 60.0)
    motion = replace(
        motion,
        joint_rotations=motion.joint_rotations[:FRAMES],
        root_translation=motion.root_translation[:FRAMES],
    )
    moved = DualQuaternionSkinning(model.template).animate(identity, motion)
    random = np.random.default_rng(0)
    rest = np.asarray(identity.rest_vertices)
    waves = np.sin(rest @ random.normal(scale=12, size=(3, 40)) + random.uniform(0, 6, 40))
    times = np.arange(len(motion.joint_rotations))[:, None] / motion.fps
    swing = np.sin(2 * np.pi * random.uniform(0.5, 6, 40) * times + random.uniform(0, 6, 40))
    sizes = 0.01 * 0.85 ** np.arange(40)
    soft = (swing * sizes) @ waves.T
    vertices = np.asarray(moved.vertices) + soft[..., None].astype(np.float32) * [0.3, 1.0, 0.3]
    return replace(moved, vertices=vertices.astype(np.float32), deformer="dqs with waves")


def best_times(call: Callable[[], object]) -> dict[str, float]:
    """Shortest of a few runs: seconds on the wall, and of processor time on all cores."""
    wall, processor = [], []
    for _ in range(ROUNDS):
        start, busy = time.perf_counter(), time.process_time()
        call()
        wall.append(time.perf_counter() - start)
        processor.append(time.process_time() - busy)
    return {"seconds": round(min(wall), 3), "processor_seconds": round(min(processor), 3)}


def distance_mm(found: np.ndarray, expected: np.ndarray) -> float:
    return 1e3 * float(np.linalg.norm(found - expected, axis=-1).max())


def glb_error(path: Path, character: Character) -> float:
    played = character_vertices(read_glb_character(path), CHECKED)
    return distance_mm(played, character_vertices(character, CHECKED))


def fbx_error(path: Path, character: Character) -> float | None:
    """Through ufbx, in a process of its own; None where it is not installed."""
    if find_spec("ufbx") is None:
        return None
    script = Path(__file__).parents[1] / "tests" / "clients" / "ufbx_play.py"
    out = path.with_suffix(".npz")
    times = [str(frame / character.fps) for frame in CHECKED]
    subprocess.run([sys.executable, script, path, out, *times], check=True, capture_output=True)
    return distance_mm(0.01 * np.load(out)["vertices"], character_vertices(character, CHECKED))


def usd_error(path: Path, character: Character) -> float:
    from pxr import Usd, UsdGeom, UsdSkel

    stage = Usd.Stage.Open(str(path))
    UsdSkel.BakeSkinning(stage.Traverse())
    mesh = UsdGeom.Mesh(stage.GetPrimAtPath("/character/body"))
    found = np.stack([mesh.GetPointsAttr().Get(int(frame)) for frame in CHECKED])
    return distance_mm(found, character_vertices(character, CHECKED))


def usd_cache_error(path: Path, vertices: np.ndarray) -> float:
    from pxr import Usd, UsdGeom

    stage = Usd.Stage.Open(str(path))  # must outlive its prims
    mesh = UsdGeom.Mesh(stage.GetDefaultPrim())
    found = np.stack([mesh.GetPointsAttr().Get(int(frame)) for frame in CHECKED])
    return distance_mm(found, vertices[CHECKED])


def abc_error(path: Path, vertices: np.ndarray, fps: float) -> float:
    from alembic3d.Abc import IArchive, ISampleSelector, WrapExistingFlag
    from alembic3d.AbcGeom import IPolyMesh

    archive = IArchive(str(path))
    surface = IPolyMesh(
        archive.getTop().getChild(0).getChild(0), WrapExistingFlag.kWrapExisting
    ).getSchema()
    found = [surface.getValue(ISampleSelector(float(frame / fps))) for frame in CHECKED]
    places = np.array([[tuple(point) for point in sample.getPositions()] for sample in found])
    return distance_mm(places, vertices[CHECKED])


def measure(path: Path, write: Callable[[], object], error: Callable[[], float | None]) -> dict:
    """One row: check first, then time."""
    write()
    found = error()
    if found is not None and found > TOLERANCE_MM:
        raise SystemExit(f"{path.name} is {found} mm off; no time is reported")
    return {
        **best_times(write),
        "megabytes": round(path.stat().st_size / 1e6, 2),
        "error_mm": found,
    }


def measure_all(folder: Path) -> dict[str, object]:
    animation = take()
    vertices, mesh = np.asarray(animation.vertices), animation.template.mesh
    fps = animation.motion.fps
    character, report = bake(animation, morphs=MORPHS)
    rows: dict[str, object] = {
        "bake": {
            **best_times(lambda: bake(animation, morphs=MORPHS)),
            "morphs": report.morph_count,
            "mean_error_mm": report.mean_error_mm,
            "max_error_mm": report.max_error_mm,
            "joints_alone_max_error_mm": report.morphless_error_mm,
        }
    }
    glb, fbx = folder / "a.glb", folder / "a.fbx"
    rows["glb"] = measure(
        glb, lambda: write_glb_character(glb, character), lambda: glb_error(glb, character)
    )
    rows["fbx"] = measure(
        fbx, lambda: write_character(fbx, character), lambda: fbx_error(fbx, character)
    )
    pc2 = folder / "a.pc2"
    rows["pc2"] = measure(
        pc2,
        lambda: write_pc2(pc2, vertices),
        lambda: distance_mm(read_pc2(pc2).vertices[CHECKED], vertices[CHECKED]),
    )
    if find_spec("pxr") is not None:
        usd, cache = folder / "a.usdc", folder / "cache.usdc"
        rows["usd"] = measure(
            usd, lambda: write_character(usd, character), lambda: usd_error(usd, character)
        )
        rows["usd cache"] = measure(
            cache,
            lambda: write_cache(cache, mesh, vertices, fps),
            lambda: usd_cache_error(cache, vertices),
        )
    if find_spec("alembic3d") is not None:
        abc = folder / "a.abc"
        rows["abc"] = measure(
            abc,
            lambda: write_cache(abc, mesh, vertices, fps),
            lambda: abc_error(abc, vertices, fps),
        )
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS)
    out = parser.parse_args().out
    with TemporaryDirectory() as folder:
        rows = measure_all(Path(folder))
    for name, row in rows.items():
        print(f"{name:10} {row}")
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    report = {
        "what": f"{FRAMES} frames, 13 380 vertices, {MORPHS} morph targets",
        "commit": commit,
        "date": datetime.now(UTC).date().isoformat(),
        "machine": f"{platform.machine()}, {os.cpu_count()} cores, Python "
        f"{platform.python_version()}, NumPy {np.__version__}",
        "results": rows,
    }
    out.parent.mkdir(parents=True, exist_ok=True)
    out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
