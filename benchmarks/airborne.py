"""How a captured body falls while both feet are in the air: its segments, its flesh, all of it.

    python benchmarks/airborne.py
    python benchmarks/airborne.py --people "heavy woman" --motions one-leg-jump --seconds 3

Motions are authored so that the centre of mass of de Leva's segments falls freely; the flesh that
hangs on the bones swings besides. Flights are stretches in which that centre falls with 9.81 m/s²;
a parabola is fitted to each centre over each. "All" are the flesh where it is and what it leaves of
the body's mass where the segments are. Writes `results/airborne.json`; people who are in it already
are not simulated again.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from flesh_films import PEOPLE
from measured_commit import commit

from corporeal._typing import Float64, NumpyArray
from corporeal.anatomy.composition.predict import predict_composition
from corporeal.anthropometry.solve import solve_measurements
from corporeal.assets.default_body import load_default_body
from corporeal.capture.flesh import flesh_of
from corporeal.capture.person import Person
from corporeal.capture.protocols.protocol import Recording
from corporeal.motions.balance import centre_of_mass
from corporeal.motions.library import make_motion
from corporeal.skinning.kinematics import forward_kinematics
from corporeal.units import GRAVITY

RESULTS = Path(__file__).parent / "results" / "airborne.json"
MOTIONS = ("jumping-jacks", "one-leg-jump", "running-on-spot")
FPS, SHORTEST = 120.0, 8
"""Frames a second; frames of a flight at least."""


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", nargs="*", default=["slim woman", "heavy man"])
    parser.add_argument("--motions", nargs="*", default=list(MOTIONS))
    parser.add_argument("--seconds", type=float, default=3.0)
    parser.add_argument("--out", type=Path, default=RESULTS)
    asked = parser.parse_args()
    known = json.loads(asked.out.read_text())["rows"] if asked.out.exists() else {}
    for who in asked.people:
        for motion in asked.motions:
            key = f"{who}, {motion}"
            if key not in known:
                known[key] = measured(who, motion, asked.seconds)
                print(key, known[key], flush=True)
                report = {"commit": commit(), "unit": "m/s², downwards", "rows": known}
                asked.out.write_text(json.dumps(report, indent=1) + "\n")


def measured(who: str, name: str, seconds: float) -> dict[str, object]:
    """Mean fall of each centre over all flights, and the range of the flesh's."""
    sex, stature, bmi, age = PEOPLE[who]
    template = load_default_body().template
    mass = bmi * stature**2
    body = solve_measurements({"stature": stature, "mass": mass}, sex, age)
    made_of = predict_composition(body.identity, age, sex, template).composition
    person = Person(who, sex, age, body.identity, made_of, body.measurements)
    flesh = flesh_of(person, template, "layered", seed=None)
    motion = make_motion(name, body.identity, template, seed=1, fps=FPS, duration=seconds)
    joints = forward_kinematics(
        np.asarray(motion.joint_rotations, np.float64),
        np.asarray(body.identity.joints, np.float64)[None],
        template.skeleton.parents,
        np.asarray(motion.root_translation, np.float64),
    )[..., :3, 3]
    segments = centre_of_mass(template.skeleton, joints)[:, 1]
    masses = flesh.body(True, "off").system.masses
    soft = np.array(
        [
            masses @ frame.positions[:, 1] / masses.sum()
            for frame in flesh.frames(Recording(motion, moving=True), "off")
        ]
    )
    share = float(masses.sum()) / mass
    centres = {"segments": segments, "flesh": soft, "all": share * soft + (1 - share) * segments}
    found = {what: [fall(heights[a:b]) for a, b in flights(segments)] for what, heights in
             centres.items()}  # fmt: skip
    return {
        "flights": len(found["all"]),
        "flesh_share": round(share, 3),
        **{what: round(float(np.mean(values)), 3) for what, values in found.items()},
        "all_range": [round(min(found["all"]), 2), round(max(found["all"]), 2)],
    }


def flights(height: Float64[NumpyArray, "N"]) -> list[tuple[int, int]]:
    """Stretches of frames in which a height is a parabola of gravity."""
    falling = np.abs(np.diff(height, 2) * FPS**2 + GRAVITY) < 0.02 * GRAVITY
    edges = np.flatnonzero(np.diff(np.concatenate([[0], falling.astype(int), [0]])))
    return [(a, b + 2) for a, b in edges.reshape(-1, 2).tolist() if b - a >= SHORTEST]


def fall(height: Float64[NumpyArray, "n"]) -> float:
    """Acceleration downwards of the best parabola, m/s²."""
    curve = np.polynomial.Polynomial.fit(np.arange(len(height)) / FPS, height, 2)
    return -2.0 * float(curve.convert().coef[2])


if __name__ == "__main__":
    main()
