"""Contact sheets of moving flesh: six people, three motions, some frames beside each other.

    python benchmarks/flesh_films.py --out sheets --jobs 2
    python benchmarks/flesh_films.py --out sheets --people "heavy woman" --motions knees --film

Captured flesh (layers, contacts anywhere) as the scanner records it. A sheet a person and motion; a
sheet that is there is not made again. `--film` also writes an MP4 of all frames. Every sheet's line
on stdout says how many elements are inside out at most, how much of the flesh that is and
how deep skin is in skin.
"""

import argparse
import json
from collections.abc import Sequence
from concurrent.futures import ProcessPoolExecutor
from itertools import product
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from corporeal._typing import NumpyArray, UInt8
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anthropometry.solve import solve_measurements
from corporeal.assets.default_body import load_default_body
from corporeal.body.animation import Animation
from corporeal.capture.flesh import flesh_of
from corporeal.capture.person import Person, Sex
from corporeal.capture.protocols.dyna import DynaProtocol
from corporeal.evaluation.flesh_recorder import FleshRecorders
from corporeal.formats.mp4 import write_mp4
from corporeal.formats.png import write_png
from corporeal.pipelines.results import attachments_of
from corporeal.scene.casting import Performance
from corporeal.scene.film import film_frames
from corporeal.scene.picture import picture
from corporeal.skinning.kinematics import forward_kinematics

PEOPLE: dict[str, tuple[Sex, float, float, float]] = {
    "slim woman": ("female", 1.65, 19.0, 26.0),
    "average woman": ("female", 1.64, 25.0, 40.0),
    "heavy woman": ("female", 1.62, 38.0, 45.0),
    "slim man": ("male", 1.78, 20.0, 26.0),
    "average man": ("male", 1.77, 26.0, 40.0),
    "heavy man": ("male", 1.76, 38.0, 45.0),
}
"""Sex, stature (m), body mass index (kg/m²), years."""
MOTIONS = ("running-on-spot", "jumping-jacks", "shake-hips")
ROW = 6
"""Frames beside each other."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, required=True, help="folder of the sheets")
    parser.add_argument("--people", nargs="*", default=list(PEOPLE), choices=list(PEOPLE))
    parser.add_argument("--motions", nargs="*", default=list(MOTIONS))
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--start", type=float, default=1.0, help="second of the first frame shown")
    parser.add_argument("--frames", type=int, default=12, help="on a sheet")
    parser.add_argument("--every", type=int, default=4, help="frames of 1/60 s between two")
    parser.add_argument("--film", action="store_true", help="also an MP4")
    parser.add_argument("--jobs", type=int, default=1)
    asked = parser.parse_args()
    asked.out.mkdir(parents=True, exist_ok=True)
    wanted = [
        (asked, who, motion)
        for who, motion in product(asked.people, asked.motions)
        if not sheet_path(asked.out, who, motion).exists()
    ]
    if asked.jobs == 1:
        lines = map(made, wanted)
        for line in lines:
            print(line, flush=True)
        return
    with ProcessPoolExecutor(asked.jobs, get_context("spawn")) as pool:
        for line in pool.map(made, wanted):
            print(line, flush=True)


def sheet_path(folder: Path, who: str, motion: str) -> Path:
    """Where a sheet lies."""
    return folder / f"{who.replace(' ', '_')}_{motion}.png"


def made(job: tuple[argparse.Namespace, str, str]) -> str:
    """Simulate one person's motion and draw its sheet; what was measured, as JSON."""
    asked, who, motion = job
    shown, facts = performed(who, motion, asked.seconds)
    first = round(asked.start * 60.0)
    frames = [first + asked.every * number for number in range(asked.frames)]
    write_png(sheet_path(asked.out, who, motion), sheet(shown, frames))
    if asked.film:
        film = sheet_path(asked.out, who, motion).with_suffix(".mp4")
        write_mp4(film, film_frames([shown], 30.0, 480, 540, np.radians(35)), 30.0)
    return json.dumps({"who": who, "motion": motion, **facts})


def performed(who: str, motion: str, seconds: float) -> tuple[Performance, dict[str, float]]:
    """A captured movement, and how sound its flesh was."""
    sex, stature, bmi, age = PEOPLE[who]
    template = load_default_body().template
    body = solve_measurements({"stature": stature, "mass": bmi * stature**2}, sex, age)
    made_of = predict_composition(body.identity, age, sex, template).composition
    person = Person(who, sex, age, body.identity, made_of, body.measurements)
    flesh = flesh_of(person, template, "layered", seed=None)
    recording = DynaProtocol(duration=seconds).direct(person, template, motion, seed=1)
    simulated = flesh.body(True, "global")
    recorder, skins = FleshRecorders(template)(simulated, 6), []
    for frame in flesh.frames(recording, "global"):
        skins.append(simulated.skin(frame.positions).astype(np.float32))
        recorder.add(frame.positions, frame.residual)
    record, moved = recorder.record(), recording.motion
    joints = np.asarray(person.identity.joints, np.float64)
    frames = forward_kinematics(
        np.asarray(moved.joint_rotations, np.float64),
        joints[None],
        template.skeleton.parents,
        np.asarray(moved.root_translation, np.float64),
    )
    played = Animation("layered", template, person.identity, moved, np.stack(skins), frames)
    facts = {
        "inverted": int(record.inverted.max()),
        "inverted_ml": 1e6 * float(np.max(record.inverted_volume)),
        "stretch": float(record.largest_stretch.max()),
        "deepest_mm": 1e3 * float(record.penetration.max()),
    }
    return Performance(played, attachments_of(template, person.identity)), facts


def sheet(shown: Performance, frames: Sequence[int]) -> UInt8[NumpyArray, "H W 3"]:
    """Frames beside and below each other, from ahead and a little from the side."""
    last = shown.frame_count - 1
    cells = [
        picture(
            [shown], width=200, height=300, frame=min(f, last), azimuth=np.radians(35), samples=2
        )
        for f in frames
    ]
    rows = [np.concatenate(cells[n : n + ROW], axis=1) for n in range(0, len(cells), ROW)]
    return np.concatenate([row for row in rows if row.shape == rows[0].shape], axis=0)


if __name__ == "__main__":
    main()
