"""Elbows and shoulders of one person whose mass changes, with corrective enveloping that follows.

    python benchmarks/enveloping_pictures.py --out docs/pictures/enveloping.png

Columns: the average person and trends of the population at the same stature (Allen 2006, figure 6).
Rows: bent elbow, raised arm; with the person's own corrections, and with none.
"""

import argparse
import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from corporeal.anthropometry.measure import whole_body
from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.body.motion import Motion
from corporeal.formats.enveloping import read_enveloping
from corporeal.formats.png import write_png
from corporeal.models.enveloping.model import EnvelopingSkinning
from corporeal.models.enveloping.trends import edited
from corporeal.pipelines.results import attachments_of
from corporeal.scene.camera import Camera, direction_from
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.raster import render
from corporeal.scene.scene import Scene
from corporeal.scene.text import Text, write_text

WIDTH, HEIGHT, STRIP, LENS = 240, 208, 24, math.radians(24)
MORE = (-15.0, 0.0, 20.0, 45.0)
"""Kilograms that are added to the average person."""
ROWS = {
    "elbow": ("left_elbow", 0.55, 20.0, 35.0, {"left_elbow": (0.0, -2.1, 0.0)}),
    "shoulder": ("left_shoulder", 0.75, 15.0, 10.0, {"left_shoulder": (0.0, 0.0, 1.1)}),
}
"""Joint that is looked at, metres that are seen, azimuth, elevation (degrees), turns (radians)."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--model", type=Path, help="trained model; the one that ships if not given")
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    template = load_default_body().template
    trained = None if given.model is None else read_enveloping(given.model)
    deformer = EnvelopingSkinning(template, trained)
    smpl = load_default_body().smpl_view()

    def measure(vertices: np.ndarray) -> tuple[float, float]:
        return float(np.ptp(vertices[:, 1])), whole_body(vertices, smpl)["mass"]

    start = np.zeros(deformer.model.latent_count)
    mass = measure(np.asarray(deformer.model.dress[0], np.float64))[1]
    people = [edited(deformer.model, start, measure, mass=mass + more) for more in MORE]
    rows = []
    for what, view in ROWS.items():
        for corrections in (1.0, 0.0):
            words = what if corrections else f"{what}, no corrections"
            rows.append(np.concatenate([
                panel(deformer, x, view, corrections, f"{words}, {mass + more:.0f} kg")
                for x, more in zip(people, MORE, strict=True)
            ], axis=1))  # fmt: skip
    write_png(given.out, np.concatenate(rows))
    print(given.out)


def panel(deformer: EnvelopingSkinning, x, view, corrections: float, words: str) -> np.ndarray:
    """One person in one pose."""
    joint, size, azimuth, elevation, turns = view
    skeleton = deformer.template.skeleton
    pose = np.zeros((1, skeleton.joint_count, 3), np.float32)
    for name, turn in turns.items():
        pose[0, skeleton.index(name)] = turn
    still = Motion("still", 1.0, pose, np.zeros((1, 3), np.float32), skeleton)
    made = deformer.prepare(x)
    identity = replace(
        made, rest_vertices=np.asarray(made.rest_vertices, np.float32),
        joints=np.asarray(made.joints, np.float32),
    )  # fmt: skip
    moved: Animation = deformer.animate(identity, still, {"corrections": corrections})
    target = np.asarray(moved.world_from_joint)[0, skeleton.index(joint), :3, 3]
    towards = np.array(direction_from(math.radians(azimuth), math.radians(elevation)))
    camera = Camera(tuple(target + size / (2 * math.tan(LENS / 2)) * towards), tuple(target), LENS)
    parts = attachments_of(deformer.template, identity)
    actor = Wardrobe(Performance(moved, parts)).actor(0)
    ground = float(np.asarray(moved.vertices)[0, :, 1].min())
    shown = render(Scene((actor,), camera, ground_height=ground), WIDTH, HEIGHT, samples=2)
    strip = np.full((STRIP, WIDTH, 3), 255, np.uint8)
    return np.concatenate([write_text(strip, [Text(words, WIDTH / 2, STRIP / 2, 11, "mm")]), shown])


if __name__ == "__main__":
    main()
