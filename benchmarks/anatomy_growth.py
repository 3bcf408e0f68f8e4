"""Fat that comes and goes: masses by an independent weighing, stature, where the skin moves.

    python benchmarks/anatomy_growth.py --picture docs/pictures/growth.png

A woman and a man of `anatomy_sections.PEOPLE` gain and lose fat everywhere and in every region. The
change of what the skin encloses, by the divergence theorem, times the density of fat stands beside
the asked mass. Writes `results/anatomy_growth.json`.
"""

import argparse
import json
import math
import os
import platform
import subprocess
from pathlib import Path

import numpy as np
from anatomy_sections import PEOPLE, fitted
from pose_sheet import write_small

from corporeal._typing import Float64, NumpyArray, UInt8
from corporeal.anatomy.building.muscle import vertex_volumes
from corporeal.anatomy.fit.layers import trunk_region
from corporeal.anatomy.growth.fat import grow_fat
from corporeal.anatomy.nesting import check_nesting
from corporeal.anatomy.template import layered_template
from corporeal.anthropometry.solve import solve_measurements
from corporeal.body.layers import Layers
from corporeal.body.tissues import FAT
from corporeal.geometry.volume import enclosed_volume
from corporeal.scene.camera import frame
from corporeal.scene.raster import render
from corporeal.scene.scene import Actor, Scene, Surface
from corporeal.scene.text import Text, write_text

RESULTS = Path(__file__).parent / "results" / "anatomy_growth.json"
WHO = (2, 8)
"""Of the people: a woman and a man of 40 years."""
CHANGES: tuple[tuple[float, str], ...] = (
    (10.0, ""),
    (30.0, ""),
    (-5.0, ""),
    (10.0, "belly"),
    (-1.0, "belly"),
    (3.0, "back"),
    (-0.5, "back"),
    (3.0, "chest"),
    (-0.5, "chest"),
    (4.0, "hips"),
    (-1.0, "hips"),
    (4.0, "thighs"),
    (-1.5, "thighs"),
    (5.0, "legs"),
    (-2.0, "legs"),
    (2.0, "arms"),
    (-0.5, "arms"),
    (1.0, "neck"),
    (-0.1, "neck"),
)
"""Kilograms, and the region; everywhere if empty."""
SHOWN = (-5.0, ""), (10.0, ""), (30.0, ""), (10.0, "belly")
PARTS = ("belly", "back", "left_buttock", "left_thigh", "left_shin", "left_upper_arm")
TONE = (0.62, 0.40, 0.31)


def row(layers: Layers, grown: Layers, sex: str, mass: float, region: str) -> dict[str, object]:
    """One change, weighed."""
    template = layered_template(sex)
    corners, body = layers.triangles, template.body
    before, after = (np.asarray(x.skin, np.float64) for x in (layers, grown))
    more = float(enclosed_volume(after, corners) - enclosed_volume(before, corners))
    way = np.linalg.norm(after - before, axis=1)
    held = [vertex_volumes(template.prisms(), x.skin, x.bone) for x in (layers, grown)]
    change, nesting = held[1] - held[0], check_nesting(grown)
    visceral = [float((x.metadata or {})["visceral_fat"]) for x in (layers, grown)]
    return {
        "sex": sex,
        "region": region or "everywhere",
        "asked_kg": mass,
        "weighed_kg": FAT.density * more,
        "off_share": FAT.density * more / mass - 1.0,
        "stature_mm": 1e3 * float(np.ptp(after[:, 1]) - np.ptp(before[:, 1])),
        "visceral_kg": visceral[1] - visceral[0],
        "trunk_share": float(change @ trunk_region(template) / change.sum()),
        "moved_mm": {name: 1e3 * float(way[body.part(name)].mean()) for name in PARTS},
        "sound": bool(nesting.sound),
    }


def cell(layers: Layers, azimuth: float, size: int, words: str) -> UInt8[NumpyArray, "H W 3"]:
    """One body, with words above it."""
    skin: Float64[NumpyArray, "V 3"] = np.asarray(layers.skin, np.float64)
    surface = Surface.plain(skin, layers.triangles, TONE)
    shown = skin[np.abs(skin[:, 0]) < 0.4]
    camera = frame(shown, 0.5, azimuth=math.radians(azimuth), elevation=0.03, margin=0.06)
    scene = Scene((Actor((surface,)),), camera, ground_height=None)
    pixels = render(scene, size, 2 * size, samples=2, refinement=1)
    return write_text(pixels, [Text(words, size / 2, 12, 13.0, "mm")])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=RESULTS, help="file")
    parser.add_argument("--picture", type=Path, help="PNG to write")
    asked = parser.parse_args()
    rows, lines = [], []
    for index in WHO:
        sex, stature, bmi, age = PEOPLE[index]
        body = solve_measurements({"stature": stature, "mass": bmi * stature**2}, sex, age)
        layers, _ = fitted(body, sex, age)
        grown = {}
        for mass, region in CHANGES:
            regions = (region,) if region else ()
            skin = layered_template(sex).body
            visceral = region in ("", "belly")
            after = grow_fat(layers, skin, mass, regions, sex=sex, age=age, visceral=visceral)
            grown[mass, region] = after
            rows.append(row(layers, after, sex, mass, region))
            print(json.dumps(rows[-1]), flush=True)
        if asked.picture is None:
            continue
        people = [(layers, sex)] + [(grown[k], f"{k[0]:+g} kg {k[1]}".strip()) for k in SHOWN]
        for azimuth in (25.0, 90.0):
            lines.append(np.concatenate([cell(p, azimuth, 200, w) for p, w in people], axis=1))
    if asked.picture is not None:
        write_small(asked.picture, np.concatenate(lines))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    )
    machine = {"processor": platform.machine(), "cores": os.cpu_count()}
    report = {"commit": commit.stdout.strip(), "machine": machine, "changes": rows}
    asked.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
