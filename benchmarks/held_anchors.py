r"""Do held poses ask the impossible of flesh? Bones and hard anchors of the forty poses.

    python benchmarks/held_anchors.py [--people default "heavy woman"] [--deformers layered]
        [--out results.json]

For every pose of `evaluation.held_poses`: the two limb bones that are deepest in each other
(distance of their middle lines over the sum of their radii), pairs of triangles between hard
anchors that cross and do not at rest, and elements between hard anchors that are inside out
(`evaluation.held_anchors`). Nothing is simulated.
"""

import argparse
import json
from pathlib import Path

import numpy as np
from held_poses import DEFAULT, DEFORMERS, SUBJECTS, Subject
from measured_commit import commit

from corporeal.body.pose import Pose
from corporeal.capture.clearance import capsules_of
from corporeal.evaluation.held_anchors import AnchorHealth, nearest_limbs
from corporeal.evaluation.held_poses import HELD_POSES, joint_rotations
from corporeal.models.phenotype.model import PhenotypeModel

RESULTS = Path(__file__).parent / "results" / "held_anchors.json"


def rows(subject: Subject, poses: list[str]) -> list[dict[str, object]]:
    """A row a pose of one subject."""
    skeleton, identity = subject.model.template.skeleton, subject.identity
    body = subject.simulation.body(identity)
    capsules, health = capsules_of(subject.model.template, identity), AnchorHealth(body)
    found: list[dict[str, object]] = []
    for name in poses:
        rotations = joint_rotations(skeleton, HELD_POSES[name])
        limbs = nearest_limbs(capsules, skeleton, rotations)
        frames = body.frames(Pose(rotations, np.zeros(3)))
        row: dict[str, object] = {
            "person": subject.person,
            "deformer": subject.deformer,
            "pose": name,
            "nearest_bones": limbs.names,
            "apart_mm": round(1e3 * limbs.distance, 1),
            "apart_share": round(limbs.share, 3),
            "crossing_anchor_triangles": health.crossings(frames),
            "inverted_between_anchors": health.inverted(frames),
        }
        print(row, flush=True)
        found.append(row)
    return found


def asked() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--people", nargs="+", choices=SUBJECTS, default=[DEFAULT])
    parser.add_argument("--deformers", nargs="+", choices=list(DEFORMERS), default=["projective"])
    parser.add_argument("--poses", nargs="+", choices=list(HELD_POSES), default=list(HELD_POSES))
    parser.add_argument("--out", type=Path, default=RESULTS, help="JSON to write")
    return parser.parse_args()


def main() -> None:
    wanted, model = asked(), PhenotypeModel()
    found = [
        row
        for person in wanted.people
        for kind in wanted.deformers
        for row in rows(Subject(model, person, kind, "off", untangled=True), wanted.poses)
    ]
    report = {"commit": commit(), "cases": found}
    wanted.out.write_text(json.dumps(report, indent=1) + "\n")


if __name__ == "__main__":
    main()
