"""How far flesh moves in hard landings, by body part; and how still it stands, sags and loops.

    python benchmarks/landings.py

Three women and two men go through two motions at 60 frames a second. Jiggle is the distance of the
skin in motion from the same body in static balance at the same frame, in centimetres: what momentum
alone does.
"""

import argparse
import json
import platform
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from measured_commit import commit

from corporeal._typing import Float, NumpyArray
from corporeal.anthropometry.corpulence import body_at_bmi
from corporeal.body.identity import Identity
from corporeal.body.motion import Motion
from corporeal.body.pose import Pose
from corporeal.body.template import Template
from corporeal.geometry.rotations import matrix_from_axis_angle
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.physics.fast_projective_skinning.deformer import ProjectiveSkinning

RESULTS = Path(__file__).parent / "results" / "landings.json"
PEOPLE = {
    "slim woman, BMI 18.5": (0.0, 18.5, 1.70),
    "average woman, BMI 23": (0.0, 23.0, 1.70),
    "heavy woman, BMI 34": (0.0, 34.0, 1.70),
    "average man, BMI 24": (1.0, 24.0, 1.78),
    "heavy man, BMI 34": (1.0, 34.0, 1.78),
}
MOTIONS = ("one-leg-jump", "jumping-jacks")
PARTS = (
    "chest", "back", "breast", "belly", "hips", "buttock", "thigh", "shin", "upper_arm", "forearm",
    "neck", "hand",
)  # fmt: skip
FPS, DURATION = 60.0, 2.5


def main() -> None:
    argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0]).parse_args()
    model = PhenotypeModel()
    report = {
        "commit": commit(),
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.machine()}, Python {platform.python_version()}",
        "unit": "cm; mm where named so",
        "people": {
            name: person(model, body_at_bmi(model, *numbers)) for name, numbers in PEOPLE.items()
        },
    }
    RESULTS.write_text(json.dumps(report, indent=1) + "\n")
    print(json.dumps(report, indent=1))


def person(model: PhenotypeModel, identity: Identity) -> dict[str, object]:
    """All figures of one body."""
    deformer, template = ProjectiveSkinning(model.template), model.template
    found: dict[str, object] = {
        name: jiggle(deformer, identity, motion)
        for name in MOTIONS
        for motion in [make_motion(name, identity, template, fps=FPS, duration=DURATION)]
    }
    found["standing_off_mm"] = 1e3 * standing(deformer, identity)
    found["lying_sag"] = by_part(template, 100 * lying(deformer, identity))
    found["loop_seam_mm"] = seam(deformer, identity)
    return found


def jiggle(
    deformer: ProjectiveSkinning, identity: Identity, motion: Motion
) -> dict[str, dict[str, float]]:
    """Distance from static balance, and the range of it along one axis, at its largest."""
    moving = np.asarray(deformer.animate(identity, motion).vertices, np.float64)
    static = deformer.animate(identity, motion, {"dynamics": np.array(0.0)}).vertices
    off = 100 * (moving - np.asarray(static, np.float64))
    template = deformer.template
    return {
        "peak": by_part(template, np.linalg.norm(off, axis=-1).max(axis=0)),
        "range": by_part(template, np.ptp(off, axis=0).max(axis=-1)),
    }


def by_part(template: Template, values: Float[NumpyArray, "V"]) -> dict[str, float]:
    """Median over the left part's vertices, and the 95th percentile as `<part>_most`."""
    found = {}
    for part in PARTS:
        name = part if part in template.part_names else f"left_{part}"
        inside = values[template.part(name)]
        found[part] = round(float(np.median(inside)), 2)
        found[f"{part}_most"] = round(float(np.percentile(inside, 95)), 2)
    return found


def standing(deformer: ProjectiveSkinning, identity: Identity) -> float:
    """Metres that the skin leaves the input by in a second of standing."""
    joints = deformer.template.skeleton.joint_count
    still = Motion(
        "still", FPS, np.zeros((61, joints, 3)), np.zeros((61, 3)), deformer.template.skeleton
    )
    skin = np.asarray(deformer.animate(identity, still).vertices)
    return float(np.abs(skin[-1] - skin[0]).max())


def lying(deformer: ProjectiveSkinning, identity: Identity) -> Float[NumpyArray, "V"]:
    """Metres that the skin sags by on its back, held by the bones alone."""
    simulation = deformer.simulation()
    rotations = np.zeros((deformer.template.skeleton.joint_count, 3))
    rotations[0, 0] = -np.pi / 2
    skin = simulation.skin(simulation.start(identity, Pose(rotations, np.zeros(3))))
    turn, root = matrix_from_axis_angle(rotations[0]), np.asarray(identity.joints)[0]
    upright = simulation.skin(simulation.start(identity))
    return np.linalg.norm((skin - root) @ turn - (upright - root), axis=1)


def seam(deformer: ProjectiveSkinning, identity: Identity) -> dict[str, float]:
    """Gaps where a hopping loop of 0.4 s closes: place, mm, and speed, mm a frame at 60 fps.

    The speed's own change there, which two periods played in one clip show in their middle, is
    taken off.
    """
    once, twice = (hop(deformer.template, periods) for periods in (1, 2))
    count = once.frame_count - 1
    middle = np.asarray(deformer.animate(identity, twice, {"loop": np.array(1.0)}).vertices)
    turn = np.diff(middle[count - 1 : count + 2], n=2, axis=0)
    gaps = {}
    for name, loop in (("plain", 0.0), ("looped", 1.0)):
        skin = np.asarray(deformer.animate(identity, once, {"loop": np.array(loop)}).vertices)
        change = np.diff(skin[:2], axis=0) - np.diff(skin[-2:], axis=0)
        gaps[f"{name}_place"] = round(float(1e3 * np.abs(skin[-1] - skin[0]).max()), 4)
        gaps[f"{name}_speed"] = round(float(1e3 * np.abs(change - turn).max()), 4)
    return gaps


def hop(template: Template, periods: int) -> Motion:
    """Up and down 2.5 times a second by 6 cm, with a swinging arm."""
    count, joints = 24 * periods, template.skeleton.joint_count
    phase = 2 * np.pi * np.arange(count + 1) / 24
    root = np.zeros((count + 1, 3))
    root[:, 1] = 0.06 * np.sin(phase)
    rotations = np.zeros((count + 1, joints, 3))
    rotations[:, template.skeleton.index("left_shoulder"), 2] = 0.4 * np.sin(phase)
    return Motion("hop", FPS, rotations, root, template.skeleton)


if __name__ == "__main__":
    main()
