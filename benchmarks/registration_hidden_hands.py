"""How much of each hand a virtual scan shows, beside how far off registration put it.

Holes of the virtual scanner cut fingers away, and no point then tells where they are. Rows of
`benchmarks/registration.py people` are drawn again, without registering them; for both hands the
share of vertices that have no point within `NEAR` is told beside the row's error. Another machine's
rounding draws other holes: rows must have been made where this runs. By default they are the six
of the campaign whose left hands were worst there, registered once more.

    python benchmarks/registration_hidden_hands.py
"""

import argparse
import json
from pathlib import Path

import numpy as np
from measured_commit import commit
from registration import KINDS, RESULTS, SEED, drawn_pose, people, virtual_scan

NEAR = 0.006
"""Metres within which a point shows a vertex; points lie 3.5 mm apart."""
HIDDEN = 0.25
"""Share without points from which on a hand counts as partly hidden: more than one finger's."""


def hidden_shares(person: int, seed: int, noise: float) -> dict[str, float]:
    """Share of each hand's vertices that the row's scan has no points of."""
    from scipy.spatial import KDTree

    from corporeal.assets.default_body import load_default_body
    from corporeal.body.identity import Identity
    from corporeal.body.pose import Pose
    from corporeal.models.smpl.shipped import SparseSmplSkinning

    template = load_default_body().template
    random = np.random.default_rng([SEED, seed, person])  # as `registration.one` draws
    skins, joints = people(20)
    heading = random.uniform(-np.pi, np.pi)
    vectors = drawn_pose(KINDS[seed], template.skeleton.names, random, heading)
    identity, pose = Identity(skins[person], joints[person], {}), Pose(vectors, np.zeros(3))
    truth = np.asarray(SparseSmplSkinning(template).vertices(identity, pose), np.float64)
    points, _ = virtual_scan(truth, np.asarray(template.mesh.triangles), random, noise)
    labels = np.array(template.part_names)[np.asarray(template.part_labels)]
    away = KDTree(points).query(truth)[0] > NEAR
    return {side: float(away[labels == f"{side}_hand"].mean()) for side in ("left", "right")}


def main() -> None:
    """Write the shares and errors of all rows, and what they say together."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=Path, default=RESULTS / "registration_hidden_hands.jsonl")
    parser.add_argument("--out", type=Path, default=RESULTS / "registration_hidden_hands.json")
    given = parser.parse_args()
    hands = []
    for row in map(json.loads, given.rows.read_text().splitlines()):
        shares = hidden_shares(row["person"], row["seed"], 1e-3 * row["noise_mm_said"])
        for side, share in shares.items():
            error = row["parts_mm"][f"{side}_hand"]
            told = {"person": row["person"], "pose": row["pose"], "side": side}
            hands.append(told | {"hidden": round(share, 3), "error_mm": error})
    found = {
        "hidden": _errors([hand for hand in hands if hand["hidden"] >= HIDDEN]),
        "shown": _errors([hand for hand in hands if hand["hidden"] < HIDDEN]),
        "left_hidden": sum(h["side"] == "left" and h["hidden"] >= HIDDEN for h in hands),
        "right_hidden": sum(h["side"] == "right" and h["hidden"] >= HIDDEN for h in hands),
        "hands": hands,
        "rows": given.rows.name,
        "command": "python benchmarks/registration_hidden_hands.py",
        "commit": commit(),
    }
    given.out.write_text(json.dumps(found, indent=1) + "\n")
    print(json.dumps({key: found[key] for key in ("hidden", "shown")}, indent=1))


def _errors(hands: list[dict]) -> dict[str, float]:
    errors = [hand["error_mm"] for hand in hands]
    return {
        "count": len(hands),
        "median_mm": round(float(np.median(errors)), 2),
        "most_mm": max(errors),
        "above_3_mm": sum(error > 3.0 for error in errors),
    }


if __name__ == "__main__":
    main()
