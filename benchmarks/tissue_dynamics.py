"""Moving flesh beside published measurements: how far, how often, how soon it comes to rest.

    python benchmarks/tissue_dynamics.py

Captured people (layered flesh, bare) walk, run and jump: their trunks move as those of people do,
in closed form, so that nothing but the flesh is under test; jumping jacks are the authored ones.
Excursions are ranges of the nipple, or of the most mobile tenth of a region, in the frame of the
chest, the pelvis or the limb. Then everybody drops by 4 cm onto straight legs, in steps of 1/480 s,
and what each region does is told as the decaying wave with most energy (matrix pencil). Every row
stands beside a published one with its source and says whether it is in range. Resumable: people who
are in the file are not simulated again (`--again` does). Writes `results/tissue_dynamics.json`.
"""

import argparse
import json
import os
import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import process_time

import numpy as np
from damping import strongest_wave
from measured_commit import commit

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.building.muscle import vertex_volumes
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anatomy.template import layered_template
from corporeal.anthropometry.landmarks import THELION
from corporeal.anthropometry.solve import solve_measurements
from corporeal.assets.default_body import load_default_body
from corporeal.body.motion import Motion
from corporeal.body.template import Template
from corporeal.capture.flesh import PersonFlesh, flesh_of
from corporeal.capture.person import Person, Sex
from corporeal.capture.protocols.protocol import Recording
from corporeal.capture.protocols.standing import a_pose
from corporeal.motions.library import make_motion
from corporeal.skinning.kinematics import forward_kinematics, rest_to_world

RESULTS = Path(__file__).parent / "results" / "tissue_dynamics.json"
PEOPLE: dict[str, tuple[Sex, float, float]] = {
    "woman, BMI 19": ("female", 1.65, 19.0),
    "woman, BMI 22": ("female", 1.65, 22.0),
    "woman, BMI 26": ("female", 1.65, 26.0),
    "woman, BMI 33": ("female", 1.65, 33.0),
    "man, BMI 23": ("male", 1.78, 23.0),
    "man, BMI 33": ("male", 1.78, 33.0),
}
AGE = 26.0
FPS, FINE, SETTLE, SECONDS = 120.0, 480.0, 1.5, 1.5
"""Frames a second of movements and of landings; seconds left out at first, and looked at."""
DROP, DROP_TIME, AFTER = 0.04, 0.12, 1.0
REGIONS = {
    "belly": ("belly", "pelvis"),
    "buttock": ("left_buttock", "pelvis"),
    "thigh": ("left_thigh", "left_hip"),
    "calf": ("left_shin", "left_knee"),
}
"""Part, and the joint in whose frame it is looked at."""


@dataclass(frozen=True)
class Published:
    """One measured range."""

    what: str
    """Key of the row: movement, region, quantity."""
    low: float
    high: float
    source: str


PUBLISHED = (
    Published("walk, breast, resultant_cm", 2.2, 6.2, "4.2 ± 1.0 cm (2 SD), D cup, Scurr 2011"),
    Published("run, breast, resultant_cm", 6.8, 23.6, "15.2 ± 4.2 cm (2 SD), D cup, Scurr 2011"),
    Published("run, breast, vertical_cm", 4.0, 10.0, "about 4 (A), 7 (D), 10 (G), Wood 2012"),
    Published("jump, breast, vertical_cm", 4.0, 12.0, "about 10 of large ones, Mills 2015"),
    Published("hop, belly, vertical_cm", 0.0, 8.0, "5 to 8 of viscera, Minetti 1994"),
    Published("landing, breast, frequency_hz", 2.5, 6.0, "4, one size 80B, Chen 2013"),
    Published("landing, breast, ratio", 0.12, 0.35, "0.215, one size 80B, Chen 2013"),
    Published("landing, belly, frequency_hz", 2.0, 8.0, "4 to 8, Griffin 1990; viscera 2 to 3"),
    Published("landing, thigh, frequency_hz", 10.0, 40.0, "10 to 50, Wakeling and Nigg 2001"),
    Published("landing, calf, frequency_hz", 10.0, 50.0, "10 to 50, Wakeling and Nigg 2001"),
    Published("landing, thigh, amplitude_mm", 5.0, 30.0, "10 to 30, Pain and Challis, memory"),
)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", nargs="*", default=list(PEOPLE), help="some of them, by name")
    parser.add_argument("--again", action="store_true", help="also who is in the file")
    parser.add_argument("--output", type=Path, default=RESULTS)
    given = parser.parse_args()
    known = json.loads(given.output.read_text())["people"] if given.output.exists() else {}
    for name in given.people:
        if name in known and not given.again:
            continue
        started = process_time()
        known[name] = measured(name) | {"processor_s": round(process_time() - started, 1)}
        print(name, json.dumps(known[name]), flush=True)
        report = {
            "commit": commit(),
            "date": datetime.now(UTC).isoformat(timespec="seconds"),
            "machine": f"{platform.machine()}, Python {platform.python_version()}",
            "load_before": os.getloadavg(),
            "unit": "cm, mm, Hz, ratio of critical damping, as named",
            "people": {n: known[n] for n in PEOPLE if n in known},
            "beside_published": beside(known),
        }
        given.output.write_text(json.dumps(report, indent=1, ensure_ascii=False) + "\n")


def beside(people: dict[str, dict]) -> list[dict[str, object]]:
    """Every published row, with what each person has."""
    rows = []
    for row in PUBLISHED:
        motion, region, quantity = row.what.split(", ")
        found = {
            name: person[motion][region][quantity]
            for name, person in people.items()
            if region in person.get(motion, {})
        }
        rows.append(
            {
                "what": row.what,
                "published": [row.low, row.high],
                "source": row.source,
                "found": found,
                "in_range": {name: row.low <= value <= row.high for name, value in found.items()},
            }
        )
    return rows


def measured(name: str) -> dict[str, object]:
    """All figures of one person."""
    sex, stature, bmi = PEOPLE[name]
    template = load_default_body().template
    body = solve_measurements({"stature": stature, "mass": bmi * stature**2}, sex, AGE)
    made_of = predict_composition(body.identity, AGE, sex, template).composition
    person = Person(name, sex, AGE, body.identity, made_of, body.measurements)
    flesh = flesh_of(person, template, "layered", seed=None)
    found: dict[str, object] = {"breast_ml": breast_volume(flesh)}
    stand = a_pose(person, template)
    for label, motion in {
        "walk": walking(stand, template),
        "run": running(stand, template),
        "hop": hopping(stand, template),
        "jump": make_motion(
            "jumping-jacks", person.identity, template, fps=FPS, duration=SETTLE + SECONDS
        ),
    }.items():
        found[label] = excursions(flesh, template, motion)
    found["landing"] = landing(flesh, template, stand)
    return found


def breast_volume(flesh: PersonFlesh) -> float:
    """Fat and gland of one breast, from the muscle to the skin, ml."""
    layers = flesh.layers
    assert layers is not None
    template = layered_template(flesh.person.sex)
    labels = np.array(template.body.part_names)[template.body.part_labels]
    each = vertex_volumes(template.prisms(), layers.skin, layers.muscle)
    return round(1e6 * float(each[labels == "left_breast"].sum()), 0)


def walking(stand: NumpyArray, template: Template) -> Motion:
    """1.4 m/s: the trunk rises by 4.4 cm 1.9 times a second and sways by 4 cm half as often."""
    time = _times()
    root = np.zeros((len(time), 3))
    root[:, 0] = 0.02 * np.sin(2 * np.pi * 0.95 * time)
    root[:, 1] = -0.022 * np.cos(2 * np.pi * 1.9 * time)
    root[:, 2] = 0.01 * np.sin(2 * np.pi * 1.9 * time)
    return _trunk("walk", stand, root, template, 0.08 * np.sin(2 * np.pi * 0.95 * time))


def running(stand: NumpyArray, template: Template) -> Motion:
    """10 km/h: 2.7 steps a second, two thirds of each on the ground; the trunk turns by 8°."""
    time = _times()
    root = np.zeros((len(time), 3))
    root[:, 1] = bouncing(time, 1 / 2.7, 2 / 3)
    root[:, 0] = 0.008 * np.sin(2 * np.pi * 1.35 * time)
    root[:, 2] = 0.01 * np.sin(2 * np.pi * 2.7 * time)
    return _trunk("run", stand, root, template, 0.14 * np.sin(2 * np.pi * 1.35 * time))


def hopping(stand: NumpyArray, template: Template) -> Motion:
    """On the spot, 2.2 times a second, half of each in the air."""
    time = _times()
    root = np.zeros((len(time), 3))
    root[:, 1] = bouncing(time, 1 / 2.2, 1 / 2)
    return _trunk("hop", stand, root, template, np.zeros(len(time)))


def bouncing(
    time: Float64[NumpyArray, "n"], period: float, on_ground: float
) -> Float64[NumpyArray, "n"]:
    """Height of a centre of mass: free fall in the air, half a sine of ground force between."""
    fine = np.linspace(0.0, period, 2001)
    push = np.sin(np.pi * np.clip(fine / (on_ground * period), 0.0, 1.0))
    acceleration = 9.81 * (np.pi / (2 * on_ground) * push - 1.0)
    step = fine[1] - fine[0]
    speed = np.concatenate([[0.0], np.cumsum(0.5 * step * (acceleration[1:] + acceleration[:-1]))])
    speed -= speed[:-1].mean()
    height = np.concatenate([[0.0], np.cumsum(0.5 * step * (speed[1:] + speed[:-1]))])
    return np.interp(time % period, fine, height) - height.mean()


def _times() -> Float64[NumpyArray, "n"]:
    return np.arange(round((SETTLE + SECONDS) * FPS) + 1) / FPS


def _trunk(
    name: str, stand: NumpyArray, root: NumpyArray, template: Template, yaw: NumpyArray
) -> Motion:
    """A body that is carried about, its joints still; it starts gently."""
    share = np.clip(np.arange(len(root)) / (0.5 * FPS), 0.0, 1.0)
    share = share**2 * (3 - 2 * share)
    rotations = np.repeat(stand[None], len(root), axis=0)
    rotations[:, 0, 1] += share * yaw
    return Motion(name, FPS, rotations, share[:, None] * root, template.skeleton)


def excursions(flesh: PersonFlesh, template: Template, motion: Motion) -> dict[str, object]:
    """Ranges of breast, belly, buttock, thigh and calf after the start, cm."""
    skin = flesh.perform(Recording(motion, moving=True), "off").astype(np.float64)
    late = slice(round(SETTLE * FPS) // (1 if motion.name in ("walk", "run", "hop") else 3), None)
    found = {}
    for region, path in seen(flesh, template, motion, skin).items():
        ranges = 100 * np.ptp(path[late], axis=0)
        size = np.linalg.norm(ranges, axis=1)
        ranges = ranges[size >= np.percentile(size, 90)].mean(axis=0)
        found[region] = {
            "vertical_cm": round(float(ranges[1]), 2),
            "sideways_cm": round(float(ranges[0]), 2),
            "forward_cm": round(float(ranges[2]), 2),
            "resultant_cm": round(float(np.linalg.norm(ranges)), 2),
        }
    return found


def seen(
    flesh: PersonFlesh, template: Template, motion: Motion, skin: Float64[NumpyArray, "N V 3"]
) -> dict[str, Float64[NumpyArray, "N r 3"]]:
    """Paths of regions in the frames of their bones, metres."""
    identity, skeleton = flesh.person.identity, template.skeleton
    joints = np.asarray(identity.joints, np.float64)
    rotations = np.asarray(motion.joint_rotations, np.float64)
    root = np.asarray(motion.root_translation, np.float64)
    frames = forward_kinematics(rotations, joints[None], skeleton.parents, root)
    carried = np.asarray(rest_to_world(frames, joints[None]))
    regions = {name: (template.part(part), joint) for name, (part, joint) in REGIONS.items()}
    if flesh.person.sex == "female":
        regions["breast"] = (np.array([int(THELION.members[0])]), "spine3")
    paths = {}
    for name, (rows, joint) in regions.items():
        frame = carried[:, skeleton.index(joint)]
        moved = skin[:, rows] - frame[:, None, :3, 3]
        paths[name] = np.einsum("nvd,nde->nve", moved, frame[:, :3, :3])
    return paths


def landing(flesh: PersonFlesh, template: Template, stand: NumpyArray) -> dict[str, object]:
    """Frequency, damping ratio and amplitude of every region after a dead stop."""
    time = np.arange(round((DROP_TIME + AFTER) * FINE) + 1) / FINE
    root = np.zeros((len(time), 3))
    root[:, 1] = DROP * (1.0 - np.clip(time / DROP_TIME, 0.0, 1.0) ** 2)
    rotations = np.repeat(stand[None], len(time), axis=0)
    motion = Motion("landing", FINE, rotations, root, template.skeleton)
    skin = flesh.perform(Recording(motion, moving=True), "off").astype(np.float64)
    start = round(DROP_TIME * FINE)
    found = {}
    for region, path in seen(flesh, template, motion, skin).items():
        found[region] = strongest_wave(path[start:], 1 / FINE)
    return found


if __name__ == "__main__":
    main()
