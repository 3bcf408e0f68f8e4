"""Pictures of the poses of `collisions.py`: collisions off, local and global, side by side.

    python benchmarks/collisions_pictures.py --out docs/pictures [--only deep-squat]

One PNG a pose, `collisions-<pose>.png`: the default body in static balance, seen from near.
"""

import argparse
import math
from pathlib import Path

import numpy as np
from collisions import POSES, Subject

from corporeal._typing import NumpyArray, UInt8
from corporeal.body.animation import Animation
from corporeal.body.motion import Motion
from corporeal.formats.png import write_png
from corporeal.physics.fast_projective_skinning.controls import COLLISIONS
from corporeal.pipelines.results import attachments_of
from corporeal.scene.camera import Camera, direction_from
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.raster import render
from corporeal.scene.scene import Scene
from corporeal.scene.text import Text, write_text
from corporeal.skinning.kinematics import forward_kinematics

WIDTH, HEIGHT, STRIP = 460, 560, 26
LENS = math.radians(24)

VIEWS: dict[str, tuple[str, float, float, float]] = {
    "hand-to-belly": ("spine1", 0.9, 25.0, 12.0),
    "crossed-legs": ("left_knee", 1.0, 12.0, 18.0),
    "deep-squat": ("left_hip", 1.0, 75.0, 6.0),
    "arms-crossed": ("spine3", 0.9, 15.0, 20.0),
    "elbows-bent": ("left_shoulder", 0.8, 10.0, 55.0),
}
"""Joint that is looked at, metres that are seen, azimuth and elevation in degrees."""


def panel(subject: Subject, mode: str, pose_name: str, parts) -> UInt8[NumpyArray, "H W 3"]:
    """One body under one setting."""
    simulation, pose = subject.simulations[mode], subject.pose(POSES[pose_name])
    state = simulation.start(subject.identity, pose)
    skin, skeleton = simulation.skin(state), subject.body.skeleton
    frames = forward_kinematics(
        pose.joint_rotations, subject.body.joints, skeleton.parents, pose.root_translation
    )
    still = Motion(
        pose_name, 1.0, pose.joint_rotations[None], pose.root_translation[None], skeleton
    )
    template = simulation.template
    moved = Animation(mode, template, subject.identity, still, skin[None], frames[None])
    joint, size, azimuth, elevation = VIEWS[pose_name]
    target = frames[skeleton.index(joint), :3, 3]
    away = size / (2 * math.tan(LENS / 2))
    towards = np.array(direction_from(math.radians(azimuth), math.radians(elevation)))
    eye = target + away * towards
    camera = Camera(tuple(eye), tuple(target), LENS)
    actor = Wardrobe(Performance(moved, parts)).actor(0)
    scene = Scene((actor,), camera, ground_height=float(skin[:, 1].min()))
    shown = render(scene, WIDTH, HEIGHT, samples=3, refinement=1)
    strip = np.full((STRIP, WIDTH, 3), 255, np.uint8)
    label = write_text(strip, [Text(mode, WIDTH / 2, STRIP / 2, 15, "mm")])
    return np.concatenate([label, shown])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True, help="folder for the pictures")
    parser.add_argument("--only", choices=sorted(VIEWS), help="one pose alone")
    asked = parser.parse_args()
    subject = Subject()
    parts = attachments_of(subject.model.template, subject.identity)
    for name in VIEWS if asked.only is None else [asked.only]:
        panels = [panel(subject, mode, name, parts) for mode in COLLISIONS]
        write_png(asked.out / f"collisions-{name}.png", np.concatenate(panels, axis=1))
        print(asked.out / f"collisions-{name}.png", flush=True)


if __name__ == "__main__":
    main()
