"""Scans as strangers bring them: stands, stools, boxes, shells, cut feet, other makers' files.

Every kind is made here as a file from a person of the population (the benchmark's own, whom no
model was made with), posed by the sparse SMPL, and registered without a word more. One row of JSON
each: refused or not, distances from the skin that was scanned, remarks; beside it the picture of
the report.

    python benchmarks/registration_kinds.py --list
    python benchmarks/registration_kinds.py --only plate stool --pictures build/kinds
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit
from registration import RESULTS
from registration_scenes import (
    INNER,
    Made,
    Skin,
    box_near,
    clothed,
    cropped,
    floor_and_box,
    half_feet,
    heavy_nets,
    hollow,
    kneeling,
    one_arm,
    one_camera,
    plate,
    spoiled,
    stool,
)

KINDS: dict[str, Callable[[], tuple[Skin, Made]]] = {
    "plate": plate,
    "stool": stool,
    "floor and box": floor_and_box,
    "box near": box_near,
    "kneeling": kneeling,
    "one arm": one_arm,
    "hollow": hollow,
    "cropped": cropped,
    "half feet": half_feet,
    "heavy": heavy_nets,
    "one camera": one_camera,
    "spoiled": spoiled,
    "clothed": clothed,
}


def write(folder: Path, name: str, made: Made) -> Path:
    """The scan as a file."""
    path = folder / f"{name.replace(' ', '_')}{made.suffix}"
    points = made.scale * np.asarray(made.points)
    if made.suffix == ".ply":
        write_ply(path, points, made.triangles, made.ends)
    elif made.suffix == ".glb":
        write_glb(path, points, made.triangles)
    else:
        from corporeal.body.mesh import Mesh
        from corporeal.formats.registry import write_mesh

        write_mesh(path, Mesh(points, made.triangles))
    return path


def write_ply(path: Path, points, triangles, ends: str) -> None:
    """Binary PLY of either byte order."""
    order = {"<": "little", ">": "big"}[ends]
    head = f"ply\nformat binary_{order}_endian 1.0\nelement vertex {len(points)}\n"
    head += "property float x\nproperty float y\nproperty float z\n"
    body = points.astype(f"{ends}f4").tobytes()
    if triangles is not None:
        head += f"element face {len(triangles)}\nproperty list uchar int vertex_indices\n"
        rows = np.empty(len(triangles), [("n", "u1"), ("i", f"{ends}i4", 3)])
        rows["n"], rows["i"] = 3, triangles
        body += rows.tobytes()
    path.write_bytes(f"{head}end_header\n".encode() + body)


def write_glb(path: Path, points, triangles) -> None:
    """A GLB whose mesh hangs under two nodes, the upper one scaled, the lower one turned."""
    import struct

    turn = np.diag([-1.0, 1.0, -1.0])
    local = (points @ turn / 0.5).astype("<f4")
    indices = np.asarray(triangles, "<u4")
    blob = local.tobytes() + indices.tobytes()
    content = {
        "asset": {"version": "2.0"},
        "scene": 0,
        "scenes": [{"nodes": [0]}],
        "nodes": [
            {"scale": [0.5, 0.5, 0.5], "children": [1]},
            {"rotation": [0.0, 1.0, 0.0, 0.0], "mesh": 0},
        ],
        "meshes": [{"primitives": [{"attributes": {"POSITION": 0}, "indices": 1}]}],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": len(local), "type": "VEC3",
             "min": local.min(axis=0).tolist(), "max": local.max(axis=0).tolist()},
            {"bufferView": 1, "componentType": 5125, "count": indices.size, "type": "SCALAR"},
        ],
        "bufferViews": [
            {"buffer": 0, "byteOffset": 0, "byteLength": local.nbytes},
            {"buffer": 0, "byteOffset": local.nbytes, "byteLength": indices.nbytes},
        ],
        "buffers": [{"byteLength": len(blob)}],
    }  # fmt: skip
    text = json.dumps(content).encode()
    text += b" " * (-len(text) % 4)
    total = 12 + 8 + len(text) + 8 + len(blob)
    path.write_bytes(
        struct.pack("<4sII", b"glTF", 2, total)
        + struct.pack("<I4s", len(text), b"JSON") + text
        + struct.pack("<I4s", len(blob), b"BIN\0") + blob
    )  # fmt: skip


def tried(name: str, pictures: Path | None, folder: Path) -> dict[str, Any]:
    """One kind: a row."""
    from corporeal.errors import CorporealError
    from corporeal.formats.png import write_png
    from corporeal.formats.raw_scans import read_raw_scan
    from corporeal.pipelines.registration_report import registration_picture
    from corporeal.registration.register import register_scan

    truth, made = KINDS[name]()
    path = write(folder, name, made)
    row: dict[str, Any] = {"kind": name, "bytes": path.stat().st_size, "commit": commit()}
    wall, cpu = time.perf_counter(), time.process_time()
    try:
        found = register_scan(read_raw_scan(path))
    except CorporealError as error:
        return row | {"refused": str(error), "cpu_s": round(time.process_time() - cpu, 2)}
    row |= {"cpu_s": round(time.process_time() - cpu, 2)}
    row |= {"wall_s": round(time.perf_counter() - wall, 2)}
    if pictures is not None:
        pictures.mkdir(parents=True, exist_ok=True)
        write_png(pictures / f"{name.replace(' ', '_')}.png", registration_picture(found))
    return row | against(truth, made, found)


def against(truth: Skin, made: Made, found) -> dict[str, Any]:
    """Distances from the skin that was scanned, millimetres."""
    from corporeal.assets.default_body import load_default_body
    from corporeal.registration.coupled_stage import matches

    registered = found.registered
    mine = found.placement.back(registered.vertices) @ made.rotation / made.scale
    template = load_default_body().template
    names = np.array(template.part_names)[np.asarray(template.part_labels)]
    shown = np.ones(len(mine), bool) if made.shown is None else made.shown
    error = 1e3 * np.linalg.norm(mine - truth.vertices, axis=1)
    away = matches(truth.vertices, truth.triangles, mine).feet - mine
    surface = 1e3 * np.linalg.norm(away, axis=1)
    parts = {
        str(n): round(float(error[names == n].mean()), 1)
        for n in np.unique(names)
        if n not in INNER
    }
    outside = ~np.isin(names, INNER) & shown
    return {
        "vertices_mm": round(float(error[outside].mean()), 2),
        "surface_mm": round(float(surface[outside].mean()), 2),
        "worst_part": max(parts, key=lambda n: parts[n]),
        "worst_part_mm": max(parts.values()),
        "median_to_scan_mm": round(1e3 * registered.quality.median, 3),
        "outliers": round(registered.quality.outliers, 4),
        "unsound": registered.quality.unsound,
        "remarks": list(registered.remarks),
        "seconds": {name: round(value, 2) for name, value in registered.seconds},
    }


def main(words: str | None = __doc__, rows: str = "registration_kinds.jsonl") -> None:
    """Try what the command line names."""
    parser = argparse.ArgumentParser(
        description=words, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=None, help="kinds by name; all by default")
    parser.add_argument("--list", action="store_true", help="name the kinds, and end")
    parser.add_argument("--pictures", type=Path, default=None, help="folder for pictures")
    parser.add_argument("--out", type=Path, default=RESULTS / rows)
    given = parser.parse_args()
    if given.list:
        print("\n".join(KINDS))
        return
    with tempfile.TemporaryDirectory() as folder:
        for name in given.only or KINDS:
            row = tried(name, given.pictures, Path(folder))
            with given.out.open("a") as file:
                file.write(json.dumps(row) + "\n")
            print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
