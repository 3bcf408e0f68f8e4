"""Controls of learned dynamics, by the models that ship: exaggeration, painted weights, body mass.

    python benchmarks/dynamics_controls.py --out results/dynamics_controls.json

Jumping jacks. Exaggeration λ: the root mean square of what moves skin away from the static one,
over λ and that of λ = 1 (aimed at: within 5 %). Painted weights, 1 on the left half and 0 on the
right: the largest change of a vertex that is painted 0, against the static take. Body mass: the
99th percentile of what moves belly, breasts, hips and thighs, of bodies of the weight slider (their
own shape and flesh), and of one body that is told another body mass index (`--bmi`); those of 21 to
42 kg/m² are what models were trained on.
"""

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
from measured_commit import commit

from corporeal.body.motion import Motion
from corporeal.dynamics.body_mass import body_mass_index
from corporeal.models.phenotype.model import PhenotypeModel
from corporeal.motions.library import make_motion
from corporeal.pipelines.deformers import make_deformer

SOFT = ("belly", "left_breast", "right_breast", "left_thigh", "right_thigh", "hips")
FACTORS = (0.5, 2.0, 3.0)
WEIGHTS = (0.0, 0.25, 0.5, 0.75, 1.0)
TOLD = (16.0, 19.0, 21.0, 25.0, 30.0, 36.0, 42.0, 46.0, 55.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--deformers", nargs="*", default=["dmpl", "dyna", "neural"])
    parser.add_argument("--frames", type=int, default=48)
    parser.add_argument("--out", type=Path, default=Path("dynamics_controls.json"))
    given = parser.parse_args()
    record: dict[str, Any] = {"commit": commit(), "frames": given.frames}
    for name in given.deformers:
        record[name] = measured(name, given.frames)
        print(name, json.dumps(record[name]), flush=True)
        given.out.parent.mkdir(parents=True, exist_ok=True)
        given.out.write_text(json.dumps(record, indent=1) + "\n")


def measured(name: str, frames: int) -> dict[str, Any]:
    """All of one deformer."""
    body = PhenotypeModel()
    deformer: Any = make_deformer(name, body.template)
    labels, parts = body.template.part_labels, body.template.part_names
    soft = np.isin(labels, [parts.index(part) for part in SOFT if part in parts])

    stills: dict[int, np.ndarray] = {}
    people: list[Any] = []  # kept alive, so that their ids stay their own

    def moved(some: Any, who: Any, **controls: Any) -> np.ndarray:
        """What dynamics do to posed skin, metres."""
        motion = make_motion("jumping-jacks", who, body.template)
        motion = Motion(
            motion.name, motion.fps, motion.joint_rotations[:frames],
            motion.root_translation[:frames], motion.skeleton,
        )  # fmt: skip
        if id(who) not in stills:
            found = some.animate(who, motion, {"dynamics": False}).vertices
            stills[id(who)] = np.asarray(found, np.float64)
        return (
            np.asarray(some.animate(who, motion, controls).vertices, np.float64) - stills[id(who)]
        )

    def excursion(some: np.ndarray) -> float:
        return round(1e3 * float(np.percentile(np.linalg.norm(some[:, soft], axis=-1), 99)), 2)

    heavy = body.prepare({"gender": 0.0, "weight": 0.8})
    plain = moved(deformer, heavy)
    size = float(np.sqrt((plain**2).mean()))
    scales = {
        str(factor): round(
            float(np.sqrt((moved(deformer, heavy, exaggeration=factor) ** 2).mean()))
            / (factor * size), 6,
        )
        for factor in FACTORS
    }  # fmt: skip
    left = np.asarray(body.template.mesh.vertices)[:, 0] > 0
    painted: Any = make_deformer(name, body.template, local_weights=left.astype(np.float64))
    half = moved(painted, heavy)
    found: dict[str, Any] = {
        "scale_over_factor": scales,
        "unpainted_largest_mm": round(1e3 * float(np.abs(half[:, ~left]).max()), 6),
        "painted_against_plain_mm": round(1e3 * float(np.abs((half - plain)[:, left]).max()), 4),
        "bodies": [],
    }
    for gender, sex in ((0.0, "women"), (1.0, "men")):
        for weight in WEIGHTS:
            who = body.prepare({"gender": gender, "weight": weight})
            people.append(who)
            index = body_mass_index(who, body.template.mesh.triangles)
            row = {"sex": sex, "bmi": round(index, 1), "mm": excursion(moved(deformer, who))}
            found["bodies"].append(row)
    if name != "neural":
        found["told"] = [
            {"bmi": told, "mm": excursion(moved(deformer, heavy, bmi=told))} for told in TOLD
        ]
    return found


if __name__ == "__main__":
    main()
