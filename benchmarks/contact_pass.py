"""The contact pass of learned flesh: arms at rest on a belly that moves, with and without it.

    python benchmarks/contact_pass.py --out results/contact_pass.json --sheet contact_pass.png

A heavy man lays both forearms on his belly, as far in as the static skin just touches, and goes up
and down (2 cm, 2.5 times a second); flesh swings twice as far as learned. Depths are measured apart
from what finds contacts: winding numbers and distances, without what overlaps at rest. A frame
counts where any vertex of the skin is deeper than 1 mm; aimed at is less than 1 % of frames. How
still it is: the largest step of a vertex from frame to frame, beside the plain take's, and after
the movement has ended. Times are processor milliseconds a frame, the least of three runs.
"""

import argparse
import json
import math
import os
import time
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

from corporeal.body.animation import Animation
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.evaluation.penetration import PenetrationMeter
from corporeal.formats.png import write_png
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.pipelines.deformers import make_deformer
from corporeal.pipelines.results import attachments_of
from corporeal.scene.camera import Camera, direction_from
from corporeal.scene.casting import Performance, Wardrobe
from corporeal.scene.raster import render
from corporeal.scene.scene import Scene
from corporeal.scene.text import Text, write_text

FPS, AMPLITUDE, HERTZ = 30.0, 0.02, 2.5
PERSON = {"gender": 1.0, "weight": 1.0, "muscle": 0.3}
DEEP = 1e-3
WIDTH, HEIGHT, STRIP, LENS = 300, 270, 22, math.radians(24)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deformers", nargs="*", default=["dmpl", "neural", "dyna"])
    parser.add_argument("--frames", type=int, default=120)
    parser.add_argument("--every", type=int, default=1, help="frames between measured ones")
    parser.add_argument("--exaggeration", type=float, default=2.0)
    parser.add_argument("--out", type=Path, default=Path("contact_pass.json"))
    parser.add_argument("--sheet", type=Path)
    given = parser.parse_args()
    body = PhenotypeModel()
    who = body.prepare(PERSON)
    meter = PenetrationMeter(
        np.asarray(who.rest_vertices, np.float64), np.asarray(body.template.mesh.triangles)
    )
    record: dict[str, Any] = {
        "commit": commit(), "load": os.getloadavg(), "person": PERSON,
        "frames": given.frames, "exaggeration": given.exaggeration, "runs": {},
    }  # fmt: skip
    rows = []
    for name in given.deformers:
        deformer = make_deformer(name, body.template)
        elbow = touching_elbow(deformer, who)
        motion = bouncing(deformer, elbow, given.frames)
        told = {"exaggeration": given.exaggeration}
        plain = deformer.animate(who, motion, told)
        pressed = deformer.animate(who, motion, {**told, "contacts": True})
        record["runs"][name] = {
            "elbow_rad": round(elbow, 4),
            "plain": depths(meter, plain, given.every),
            "contacts": depths(meter, pressed, given.every),
            "cpu_ms_a_frame": cost(deformer, who, motion, plain),
        }
        print(name, json.dumps(record["runs"][name]), flush=True)
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(record, indent=1) + "\n")
        if given.sheet:
            rows += sheet_rows(name, plain, pressed)
    if given.sheet:
        write_png(given.sheet, np.concatenate(rows))


def arms(deformer: Any, elbow: float) -> np.ndarray:
    """Both forearms across the front, radians."""
    skeleton = deformer.template.skeleton
    turns = np.zeros((skeleton.joint_count, 3), np.float32)
    for name, side in (("left", 1), ("right", -1)):
        turns[skeleton.index(f"{name}_shoulder")] = 1.0, -0.7 * side, -0.8 * side
        turns[skeleton.index(f"{name}_elbow")] = 0.0, -elbow * side, 0.0
    return turns


def touching_elbow(deformer: Any, who: Identity) -> float:
    """The angle at which the pass moves the static skin of belly and forearms by 2 mm at most."""
    named, labels = deformer.template.part_names, deformer.template.part_labels
    wanted = [named.index(part) for part in ("belly", "left_forearm", "right_forearm")]
    watched = np.isin(labels, wanted)
    low, high = 0.8, 1.5
    for _ in range(12):
        middle = 0.5 * (low + high)
        pose = Pose(arms(deformer, middle)[None], np.zeros((1, 3), np.float32))
        skin = np.asarray(deformer.shown(who, pose, None))
        moved = np.linalg.norm(deformer.pressed_apart(who, pose, skin)[0, watched], axis=-1).max()
        low, high = (low, middle) if moved > 2e-3 else (middle, high)
    return low


def bouncing(deformer: Any, elbow: float, frames: int) -> Motion:
    """Up and down for five sixths of the frames, then still."""
    turns = np.repeat(arms(deformer, elbow)[None], frames, axis=0)
    roots = np.zeros((frames, 3), np.float32)
    seconds = np.minimum(np.arange(frames), 5 * frames // 6) / FPS
    roots[:, 1] = AMPLITUDE * np.sin(2 * np.pi * HERTZ * seconds)
    return Motion("bouncing", FPS, turns, roots, deformer.template.skeleton)


def depths(meter: PenetrationMeter, take: Animation, every: int) -> dict[str, Any]:
    """How deep skin is in skin, and how far vertices step."""
    skin = np.asarray(take.vertices, np.float64)
    found = np.array([meter.depths(frame) for frame in skin[::every]])
    steps = np.linalg.norm(np.diff(skin, axis=0), axis=-1).max(axis=1)
    jolts = np.linalg.norm(np.diff(skin, 2, axis=0), axis=-1).max(axis=1)
    return {
        "frames_measured": len(found),
        "frames_deeper_than_1_mm": int((found.max(axis=1) > DEEP).sum()),
        "vertices_deeper_than_1_mm_a_frame": round(float((found > DEEP).sum(axis=1).mean()), 2),
        "deepest_mm": round(1e3 * float(found.max()), 3),
        "largest_step_mm": round(1e3 * float(steps.max()), 2),
        "largest_second_difference_mm": round(1e3 * float(jolts.max()), 2),
        "last_step_mm": round(1e3 * float(steps[-1]), 4),
    }


def cost(deformer: Any, who: Identity, motion: Motion, plain: Animation) -> dict[str, float]:
    """Of the pass by itself in frames with contact."""
    skin = np.asarray(plain.vertices)[:30]
    poses = Pose(motion.joint_rotations[:30], motion.root_translation[:30])
    times = []
    for _ in range(3):
        begun = time.process_time()
        deformer.pressed_apart(who, poses, skin)
        times.append(1e3 * (time.process_time() - begun) / len(skin))
    return {"pass": round(min(times), 3)}


def sheet_rows(name: str, plain: Animation, pressed: Animation) -> list[np.ndarray]:
    """Before and after, in the four frames where the pass does most, from two sides."""
    apart = np.linalg.norm(np.asarray(pressed.vertices) - np.asarray(plain.vertices), axis=-1)
    order = np.argsort(apart.max(axis=1))[::-1]
    chosen = sorted(order[: max(1, len(order) // 3)][:: max(1, len(order) // 12)][:4])
    rows = []
    for azimuth in (15.0, 70.0):
        for words, take in (("before", plain), ("after", pressed)):
            shots = [shot(take, frame, azimuth, f"{name}, {words}, frame {frame}")
                     for frame in chosen]  # fmt: skip
            rows.append(np.concatenate(shots, axis=1))
    return rows


def shot(take: Animation, frame: int, azimuth: float, words: str) -> np.ndarray:
    """One frame of the belly and the arms."""
    root = np.asarray(take.motion.root_translation)[frame]
    target = np.array([0.0, 1.0, 0.1]) + root
    towards = np.array(direction_from(math.radians(azimuth), math.radians(12.0)))
    camera = Camera(tuple(target + 0.7 / (2 * math.tan(LENS / 2)) * towards), tuple(target), LENS)
    skin = np.asarray(take.vertices)
    actor = Wardrobe(Performance(take, attachments_of(take.template, take.identity))).actor(frame)
    scene = Scene((actor,), camera, ground_height=float(skin[frame, :, 1].min()))
    shown = render(scene, WIDTH, HEIGHT, samples=2)
    strip = np.full((STRIP, WIDTH, 3), 255, np.uint8)
    return np.concatenate([write_text(strip, [Text(words, WIDTH / 2, STRIP / 2, 11, "mm")]), shown])


if __name__ == "__main__":
    main()
