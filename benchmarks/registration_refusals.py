"""What is no scan of one person must be refused, with the reason, within 20 s.

Shapes are made here of boxes and ellipsoids, a hand is the default body's own, two people stand
side by side. One row of JSON each: refused or not, why, processor seconds, peak of memory so far.

    python benchmarks/registration_refusals.py
    python benchmarks/registration_refusals.py --only chair dog
"""

import argparse
import json
import resource
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

RESULTS = Path(__file__).parent / "results"
POINTS = 40_000


def box(random: np.random.Generator, count: int, middle, sizes):
    """Points spread over a box."""
    sizes = np.asarray(sizes, float)
    areas = np.array([sizes[1] * sizes[2], sizes[0] * sizes[2], sizes[0] * sizes[1]])
    axis = random.choice(3, count, p=areas / areas.sum())
    points = random.uniform(-0.5, 0.5, (count, 3))
    points[np.arange(count), axis] = random.choice([-0.5, 0.5], count)
    return points * sizes + middle


def ellipsoid(random: np.random.Generator, count: int, middle, radii):
    """Points spread over an ellipsoid."""
    way = random.normal(size=(count, 3))
    return way / np.linalg.norm(way, axis=1, keepdims=True) * radii + middle


def shapes(random: np.random.Generator) -> dict[str, Any]:
    """Clouds by name."""
    from corporeal.assets.default_body import load_default_body

    body = load_default_body()
    template = body.template
    skin = np.asarray(template.mesh.vertices, np.float64)
    hand = np.asarray(template.part_labels) == template.part_names.index("left_hand")
    fist = 100.0 * np.repeat(skin[hand], 6, axis=0)
    n = POINTS // 6
    feet = [(x, 0.35, z) for x in (-0.6, 0.6) for z in (-0.35, 0.35)]
    legs = [
        box(random, n // 2, (x, 0.22, z), (0.04, 0.44, 0.04))
        for x in (-0.2, 0.2)
        for z in (-0.2, 0.2)
    ]
    seat = [
        box(random, n, (0, 0.46, 0), (0.46, 0.05, 0.46)),
        box(random, n, (0, 0.75, -0.21), (0.46, 0.55, 0.04)),
    ]
    paws = [
        ellipsoid(random, n // 2, (x, 0.25, z), (0.05, 0.27, 0.05))
        for x in (-0.12, 0.12)
        for z in (-0.35, 0.35)
    ]
    dog = [
        ellipsoid(random, 2 * n, (0, 0.6, 0), (0.17, 0.18, 0.5)),
        ellipsoid(random, n, (0, 0.85, 0.55), (0.1, 0.11, 0.18)),
        ellipsoid(random, n // 2, (0, 0.7, -0.6), (0.03, 0.03, 0.2)),
    ]
    turn = random.uniform(0, 2 * np.pi, POINTS)
    return {
        "chair": np.concatenate(legs + seat),
        "dog": np.concatenate(paws + dog),
        "cube": box(random, POINTS, (0, 0.8, 0), (1.6, 1.6, 1.6)),
        "ball": ellipsoid(random, POINTS, (0, 0.9, 0), (0.9, 0.9, 0.9)),
        "cylinder": np.stack(
            [0.2 * np.cos(turn), random.uniform(0, 1.75, POINTS), 0.2 * np.sin(turn)], axis=1
        ),
        "sheet": random.uniform(-0.5, 0.5, (POINTS, 3)) * (0.8, 1.7, 0.002),
        "hand": fist + random.normal(0.0, 0.05, fist.shape),
        "two people": np.concatenate([skin, skin + np.array([2.0, 0.0, 0.0])]),
        "table": np.concatenate(
            [box(random, n, foot, (0.06, 0.7, 0.06)) for foot in feet]
            + [box(random, 2 * n, (0, 0.73, 0), (1.4, 0.05, 0.8))]
        ),
        "empty": np.zeros((0, 3)),
        "not numbers": np.full((5000, 3), np.nan),
        "ten points": random.normal(size=(10, 3)),
        "dust": random.uniform(-0.9, 0.9, (POINTS, 3)),
    }  # fmt: skip


def huge_file(folder: Path) -> Path:
    """A PLY of 2 GB: a true head, and zeros that take no room on most disks."""
    path = folder / "huge.ply"
    count = 2_000_000_000 // 12
    head = f"ply\nformat binary_little_endian 1.0\nelement vertex {count}\n"
    head += "".join(f"property float {axis}\n" for axis in "xyz") + "end_header\n"
    with path.open("wb") as file:
        file.write(head.encode())
        file.truncate(len(head) + 12 * count)
    return path


def main() -> None:
    """Try every shape."""
    from corporeal.body.raw_scan import RawScan
    from corporeal.errors import CorporealError
    from corporeal.formats.raw_scans import read_raw_scan
    from corporeal.registration.register import register_scan

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", nargs="*", default=None, help="shapes by name; all by default")
    parser.add_argument("--out", type=Path, default=RESULTS / "registration_refusals.jsonl")
    given, version = parser.parse_args(), commit()
    tried: dict[str, Callable[[Path], RawScan]] = {
        name: lambda _, points=points: RawScan(points)
        for name, points in shapes(np.random.default_rng(4)).items()
    }
    tried["file of 2 GB"] = lambda folder: read_raw_scan(huge_file(folder))
    for name, made in tried.items():
        if given.only is not None and name not in given.only:
            continue
        cpu, wall = time.process_time(), time.perf_counter()
        with tempfile.TemporaryDirectory() as folder:
            try:
                register_scan(made(Path(folder)))
                reason = None
            except CorporealError as error:
                reason = str(error).replace(f"{folder}/", "")
        row = {
            "shape": name,
            "commit": version,
            "refused": reason is not None,
            "reason": reason,
            "cpu_s": round(time.process_time() - cpu, 2),
            "wall_s": round(time.perf_counter() - wall, 2),
            "peak_gb": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20, 2),
        }
        with given.out.open("a") as file:
            file.write(json.dumps(row) + "\n")
        print(json.dumps(row), flush=True)


if __name__ == "__main__":
    main()
