"""Muscle surfaces and sections of six people, as a picture.

    python benchmarks/anatomy_sections_picture.py --out docs/pictures/tissue-sections.png

A column a person of `anatomy_sections.PEOPLE`: the muscle surface from ahead and from the side, and
sections at half of the thigh (30 cm across), at the navel and at the nipples (60 cm): fat light,
muscle red (with what it encloses), bone surface white.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from anatomy_sections import PEOPLE, fitted, usual_body
from pose_sheet import write_small

from corporeal._typing import Float64, NumpyArray, UInt8
from corporeal.anatomy.template import layered_template
from corporeal.anthropometry.landmarks import OMPHALION, THELION
from corporeal.body.layers import Layers
from corporeal.evaluation.layer_sections import SECTIONS
from corporeal.geometry.section import plane_section
from corporeal.scene.anatomy_picture import filled_share
from corporeal.scene.camera import Camera, frame
from corporeal.scene.raster import render
from corporeal.scene.scene import Actor, Scene, Surface
from corporeal.scene.text import Text, write_text

CHOSEN = (0, 2, 5, 6, 8, 11)
"""Of the people: slim, average and heavy of both sexes."""
WIDE = 0.3
"""Width of a section's cell, metres."""
AWAY = 5.0
"""Of the eye that sees it, metres."""
MUSCLE = (0.55, 0.22, 0.17)
COLOURS = ((235, 205, 140), (165, 60, 50), (240, 240, 235))
"""Fat, muscle, bone: red, green, blue."""


def surface_cell(layers: Layers, azimuth: float, size: int) -> UInt8[NumpyArray, "H W 3"]:
    """The muscle surface, from the neck to the knees."""
    muscle = np.asarray(layers.muscle, np.float64)
    surface = Surface.plain(muscle, layers.triangles, MUSCLE)
    trunk = np.abs(muscle[:, 0]) < 0.35
    tall = float(np.ptp(muscle[:, 1]))
    shown = muscle[trunk & (muscle[:, 1] > 0.25 * tall) & (muscle[:, 1] < 0.9 * tall)]
    camera = frame(shown, 0.7, azimuth=math.radians(azimuth), elevation=0.05, margin=0.02)
    scene = Scene((Actor((surface,)),), camera, ground_height=None)
    return render(scene, size, round(size / 0.7), samples=2, refinement=1)


def section_cell(
    layers: Layers,
    origin: Float64[NumpyArray, "3"],
    normal: Float64[NumpyArray, "3"],
    wide: float,
    size: int,
) -> UInt8[NumpyArray, "H W 3"]:
    """A section from above, `wide` metres across: what lies inside skin, muscle and bone surface.
    A limb's is the left one's alone, a trunk's without the arms."""
    limb = abs(float(origin[0])) > 0.02
    eye = origin + AWAY * np.array([0.0, np.cos(0.1), np.sin(0.1)])
    camera = Camera(tuple(eye), tuple(origin), 2 * math.atan(wide / 2 / AWAY))
    cell = np.full((size, size, 3), 255.0)
    for surface, colour in zip((layers.skin, layers.muscle, layers.bone), COLOURS, strict=True):
        segments = plane_section(np.asarray(surface, np.float64), layers.triangles, origin, normal)
        across = segments[..., 0].mean(axis=1)
        kept = segments[across > 0] if limb else segments[np.abs(across) < wide / 2]
        share = filled_share(kept, camera, size, size)[..., None]
        cell = (1 - share) * cell + share * np.array(colour)
    return cell.astype(np.uint8)


def column(index: int, size: int) -> UInt8[NumpyArray, "H W 3"]:
    """One person: muscle surface, sections at mid-thigh, navel and nipples."""
    sex, stature, bmi, age = PEOPLE[index]
    body = usual_body(sex, stature, bmi, age)
    layers, _ = fitted(body, sex, age)
    places = np.asarray(body.identity.joints, np.float64)
    joints = dict(zip(layered_template(sex).body.skeleton.names, places, strict=True))
    cells = [surface_cell(layers, azimuth, size) for azimuth in (20.0, 100.0)]
    place = SECTIONS["mid-thigh"]
    start, end = joints[place.start], joints[place.end]
    cells.append(section_cell(layers, 0.5 * (start + end), end - start, WIDE, size))
    skin, spine = np.asarray(layers.skin, np.float64), joints["spine2"]
    for vertex in (OMPHALION, THELION):
        level = np.array([0.0, skin[int(vertex.members[0]), 1], spine[2]])
        cells.append(section_cell(layers, level, np.array([0.0, 1.0, 0.0]), 2 * WIDE, size))
    whole = np.concatenate(cells)
    who = f"{'woman' if sex == 'female' else 'man'}, {age:.0f}, BMI {bmi:.0f}"
    return write_text(whole, [Text(who, size / 2, 12, 13.0, "mm")])


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="PNG to write")
    parser.add_argument("--size", type=int, default=220, help="width of a column, pixels")
    asked = parser.parse_args()
    columns = [column(index, asked.size) for index in CHOSEN]
    write_small(asked.out, np.concatenate(columns, axis=1))


if __name__ == "__main__":
    main()
