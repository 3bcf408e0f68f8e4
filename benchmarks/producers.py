"""Motions as their producers build them: how near the body comes to each.

    python benchmarks/producers.py --out benchmarks/results/producers.json

A walk is written in the conventions of every producer of `tests/producers` (whose table names
the public file that each was taken from), read, and retargeted to the average adult. Told are the
largest angle of any limb between body and source over all frames, that of hip and shoulder lines,
by how much the way over the ground differs, and what the reader found.
"""

import argparse
import json
import platform
import subprocess
import sys
import tempfile
import warnings
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.derivatives import world_frames
from corporeal.motions.incoming import motion_for_body

ROOT = Path(__file__).parent.parent
LIMBS = [
    (f"{side}_{start}", f"{side}_{end}")
    for side in ("left", "right")
    for start, end in (("hip", "knee"), ("knee", "ankle"), ("shoulder", "elbow"),
                       ("elbow", "wrist"))
]  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, help="JSON file to write")
    arguments = parser.parse_args()
    sys.path.insert(0, str(ROOT / "tests"))
    import producers

    model = PhenotypeModel()
    rows = []
    for name, rig in producers.RIGS.items():
        rows.append(describe(name, rig.source, producers.walk(rig), producers.write, model))
        row = rows[-1]
        print(
            f"{name:18} limbs {row['limb_deg']:4.1f}°  lines {row['line_deg']:4.1f}°  "
            f"way {row['way_percent']:.2f} %"
        )
    if arguments.out:
        commit = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True)
        report = {
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "commit": commit.stdout.strip(),
            "machine": platform.platform(),
            "command": "python benchmarks/producers.py --out benchmarks/results/producers.json",
            "producers": rows,
        }
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(report, indent=2, ensure_ascii=False) + "\n")


def describe(
    name: str, source: str, take: Any, write: Any, model: PhenotypeModel
) -> dict[str, Any]:
    """One producer's row."""
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        path = write(take, Path(folder) / f"{name}.bvh")
        came = motion_for_body(path, model.template, model.prepare())
    places = world_frames(came.motion)[..., :3, 3]

    def ours(joint: str) -> np.ndarray:
        return places[:, came.motion.skeleton.index(joint)]

    def worst(pairs: list[tuple[str, str]]) -> float:
        return max(degrees(ours(b) - ours(a), take.place(b) - take.place(a)) for a, b in pairs)

    ways = [0.5 * (at("left_hip") + at("right_hip")) for at in (ours, take.place)]
    assert came.retargeted is not None
    went, had = ways[0][-1] - ways[0][0], came.retargeted.scale * (ways[1][-1] - ways[1][0])
    off = np.linalg.norm((went - had)[[0, 2]]) / np.linalg.norm(had[[0, 2]])
    return {
        "producer": name,
        "source": source,
        "limb_deg": round(worst(LIMBS), 2),
        "line_deg": round(worst([(f"right_{j}", f"left_{j}") for j in ("hip", "shoulder")]), 2),
        "way_percent": round(100.0 * float(off), 3),
        "found": list(came.notes),
    }


def degrees(a: np.ndarray, b: np.ndarray) -> float:
    cosine = np.sum(a * b, -1) / np.linalg.norm(a, axis=-1) / np.linalg.norm(b, axis=-1)
    return float(np.rad2deg(np.arccos(np.clip(cosine, -1, 1))).max())


if __name__ == "__main__":
    main()
